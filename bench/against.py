"""Compares this build with an older one of Lateral: `./dev bench --against BUILD`.

Every round runs each program once with the old library and once with the new one, in changing order. A line shows both
medians and the median of the rounds' ratios with its quartiles. The mark "worse" means that the new build is more than
5 % worse in at least three of four rounds. "unsure" means that the median is more than 5 % worse but the better quartile
is not. There are many rounds and programs run with --quick, because the ratios of many short rounds say more than those
of few long ones.
"""
import time

import machine
import node
import runner
import table

OLD, NEW, ROUNDS, WORSE = "old", "lateral", 9, 1.05


def judge(spread, at_least):
    """Returns the mark of a line. spread: quartiles of new / old, as table.ratio returns them."""
    if spread is None:
        return "not measured"
    best, middle, _ = [1 / x for x in reversed(spread)] if at_least else spread
    return "" if middle <= WORSE else "worse" if best > WORSE else "unsure"


def line_of(row, samples):
    old, new = samples[OLD].get(row.key), samples[NEW].get(row.key)
    ratio = table.ratio(new, old)
    return {"section": row.section, "question": row.question, "key": row.key, "old": table.median(old), "new": table.median(new),
            "ratio": ratio, "verdict": judge(ratio, row.at_least)}


def cells(line):
    return [line["question"].partition(", against")[0], table.unit_of(line), table.number(line["old"]), table.number(line["new"]),
            table.spread_text(line["ratio"]), line["verdict"]]


def show(lines):
    table.write(["question", "unit", "old", "new", "new/old", ""], [cells(line) for line in lines],
                [line["section"] for line in lines])


def measure(options):
    out, runs = options.out.resolve() / "against", node.choose_runs(options)
    new = machine.lateral(runner.find_build(options))
    old = machine.lateral(options.against.resolve())._replace(name=OLD, title="Lateral, old")
    if not old.oshcc.exists():
        raise SystemExit(f"run.py: no Lateral is built in {options.against}")
    session = node.Session(options, [new, old], out, floors=False)
    session.build(runs)
    session.measure(runs)
    rows = {row.key: row for row in reversed(node.wanted_rows(runs)) if not row.key.startswith("floor/")}
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": {**machine.describe(), "busy": table.median(session.busy)},
            "rounds": options.rounds, "lines": [line_of(row, session.samples) for row in reversed(list(rows.values()))],
            "failed": [[name, run, why] for (name, run), why in session.failed.items()], "samples": session.samples}


def main(options):
    document = measure(options)
    path = node.save(document, options.out.resolve(), "against")
    show(document["lines"])
    marks = [line["verdict"] for line in document["lines"]]
    print(f"\n{document['rounds']} rounds, others kept the processors {document['machine']['busy']:.0%} busy; {marks.count('worse')} of "
          f"{len(marks)} lines worse, {marks.count('unsure')} unsure; saved {path.name}")
    return 1 if document["failed"] or "worse" in marks else 0
