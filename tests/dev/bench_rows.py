#!/usr/bin/env python3
"""What the benchmarks' tables say of the rounds: medians, ratios round by round, verdicts, README's cells."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import report  # noqa: E402
import rows  # noqa: E402

SAMPLES = {"ours": {"r/a": [1.0, 2.0, 3.0], "r/reference": [1.0, 1.0, 1.0], "r/rate": [9.0, 9.0, 9.0]},
           "slow": {"r/a": [4.0, 4.0, 4.0], "r/b": [8.0, 1.0, 8.0], "r/rate": [10.0, 10.0, 10.0]},
           "fast": {"r/a": [2.0, None, 2.0], "r/b": [2.0, 2.0, 2.0]}}


def verdict(*held, **more):
    return rows.compare(rows.Row("s", "q", *held, **more), ["ours"], ["slow", "fast"], SAMPLES)


def main():
    assert rows.quartiles([None, 3.0]) == (3.0, 3.0, 3.0) and rows.quartiles([]) is None
    assert rows.ratio([2.0, None, 6.0], [1.0, 1.0, 2.0]) == (2.25, 2.5, 2.75)
    line = verdict("r/a", "r/reference", "reference", 2.0)
    assert line["verdict"] == "met, unsure" and line["ratios"]["ours/reference"] == (1.5, 2.0, 2.5) and line["ratios"]["ours/slow"][1] == 0.5
    assert verdict("r/a", None, "peer", 1.0)["verdict"] == "met, unsure"          # fast: 0.5 and 1.5; slow: met; the worse counts
    assert verdict("r/a", None, "best", 0.4)["verdict"] == "missed"               # 1/2, 2/4, 3/2
    assert verdict("r/a", "r/b", "best", 3.0)["ratios"] == {"ours/best": (1.0, 1.5, 1.75)}
    assert verdict("r/rate", None, "slow", 0.95, at_least=True)["verdict"] == "missed"
    assert verdict("r/a", None, "bound", 5.0)["verdict"] == "met" and verdict("r/none", None, "bound", 5.0)["verdict"] == "not measured"
    assert report.scaled([1400.0, 250.0], "ns") == "1,400, 250.0 ns" and report.scaled([1400.0, 2500.0], "ns") == "1.40, 2.50 us"
    assert report.scaled([None], "ns") == ""
    print("verdicts are those of the rounds")


main()
