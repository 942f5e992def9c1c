"""What a page measures, as data, and what is made of it: medians with quartiles, ratios round by round, verdicts.

A value has a key RUN/NAME: RUN is a start of a program ("barrier-4"), NAME what the program's JSON calls it. A row of the table
names our value, what it is held against, and the bound on their ratio.
"""
import statistics
from collections import namedtuple

# count: PEs or ranks. place: "node" (a core each), "free" (not bound), "hosts", "tcp" and "shm" (this node over such a provider of
# libfabric), "pretended" (a node each, by LATERAL_NODE_SIZE). peers: all, none, or the names of those that run it too. kind: "program"
# prints JSON; "timed" is timed from launch to exit. rounds: at most so many. limit: seconds of silence. quick: also with --quick.
# ours: the names of our ways that run it; None: all.
Run = namedtuple("Run", "key program count args place peers beside kind rounds limit quick ours",
                 defaults=((), "node", True, (), "program", 99, 90, True, None))

# Another program that runs beside, for the machine's or the network's own time. test: "hop", "spawn", "barrier", or a test of ucx_perftest.
# unit: "ns" half a round trip, "GB/s", or "ns each" of a stream.
Beside = namedtuple("Beside", "key test size count unit", defaults=(0, 1, ""))

# reference: another value of our own run. against: "reference" (that value), "peer" (every peer), "best" (the fastest peer of the
# round; its value of the reference, if there is one), the name of a peer, "bound" (a number), or None (held to nothing).
# limit: at most, or at least when `at_least`.
Row = namedtuple("Row", "section question key reference against limit at_least", defaults=(None, None, None, False))

# ways(options, build): the ways to run. derive(run, values): adds values that rows need and no program prints. readme: the tables of
# README.md, by the name of their place: a title, the ways as columns (name, title), and lines (question, keys; a third item: without the
# reference).
# each: the table has a ratio to each peer and to the reference; else one, to what the row is held against.
# peers: how the titles of those begin that should be here; the page names who is not.
Page = namedtuple("Page", "name file title text runs rows figures ways readme derive each peers",
                  defaults=({}, lambda run, values: None, True, ()))

ORDER = ("", "met", "met, unsure", "not measured", "missed, unsure", "missed")


def size_name(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def quartiles(values):
    """Returns (q1, median, q3) of the values that are there, or None."""
    there = sorted(value for value in values or [] if value is not None)
    if len(there) < 2:
        return tuple(there * 3) or None
    return tuple(statistics.quantiles(there, n=4, method="inclusive"))


def ratio(ours, theirs):
    """Returns the quartiles of the ratios round by round, or None."""
    return quartiles([a / b for a, b in zip(ours or [], theirs or []) if a is not None and b])


def best(columns, at_least):
    """Returns the best value of each round."""
    rounds = [[value for value in each if value is not None] for each in zip(*columns)]
    return [(max if at_least else min)(each) if each else None for each in rounds]


def judge(spread, limit, at_least):
    """Returns met or missed by the median, with "unsure" if the quartiles lie on both sides."""
    if spread is None:
        return "not measured"
    good = [value >= limit if at_least else value <= limit for value in spread]
    word = "met" if good[1] else "missed"
    return word if good[0] == good[2] else word + ", unsure"


def others(row, way, plain, samples):
    """Yields (name, values, whether the target is about them) of what `way` is compared with in this row."""
    mine = samples[way]
    if row.against == "best":
        key = row.reference or row.key
        yield "best", best([samples[name][key] for name in plain if samples[name].get(key)], row.at_least), True
    elif row.against == "bound":
        yield "bound", [1.0] * len(mine.get(row.key, [])), True
    elif row.against in plain:
        yield row.against, samples[row.against].get(row.key), True
    elif row.reference:
        yield "reference", mine.get(row.reference), row.against == "reference"
    for name in plain if row.against != "best" else ():
        yield name, samples[name].get(row.key), row.against == "peer"


def compare(row, ours, plain, samples):
    """Returns one row of the table, as a dictionary for the page's file."""
    line, words = {**row._asdict(), "ratios": {}}, []
    for way in ours:
        if not samples[way].get(row.key):
            continue
        for name, values, judged in others(row, way, plain, samples):
            spread = ratio(samples[way][row.key], values)
            line["ratios"][f"{way}/{name}"] = spread
            if judged and row.limit is not None and (spread or row.against != "peer"):
                words.append(judge(spread, row.limit, row.at_least))
    line["verdict"] = max(words or ["not measured" * (row.limit is not None)], key=ORDER.index)
    return line


def number(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def spread_text(spread):
    if spread is None:
        return "-"
    digits = 2 if spread[1] < 100 else 0
    if spread[0] == spread[2]:                             # one round
        return f"{spread[1]:.{digits}f}"
    return "{1:.{d}f} [{0:.{d}f} {2:.{d}f}]".format(*spread, d=digits)


def target_text(row):
    if row["limit"] is None:
        return ""
    of = row["against"]
    return f"{'>=' if row['at_least'] else '<='} {row['limit']:g} {row['unit'] if of == 'bound' else of}"


def summary(lines):
    words = [line["verdict"] for line in lines if line["verdict"]]
    return ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words))) or "no targets in this selection"
