"""Compares samples and shows them: medians, ratios of rounds, verdicts, and the table on the terminal. Lines of the table are
dictionaries; reports write the same lines in Markdown."""
import statistics


def median(values):
    there = [value for value in values or [] if value is not None]
    return statistics.median(there) if there else None


def ratio(ours, theirs):
    """Returns the quartiles of the ratios round by round, (q1, median, q3), or None."""
    ratios = sorted(a / b for a, b in zip(ours or [], theirs or []) if a is not None and b)
    if not ratios:
        return None
    if len(ratios) == 1:
        return ratios[0], ratios[0], ratios[0]
    q1, middle, q3 = statistics.quantiles(ratios, n=4, method="inclusive")
    return q1, middle, q3


def verdict(spread, limit, at_least):
    """Returns met or missed by the median, with "unsure" if the quartiles lie on both sides."""
    if spread is None:
        return "not measured"
    q1, middle, q3 = spread
    good = (lambda x: x >= limit) if at_least else (lambda x: x <= limit)
    word = "met" if good(middle) else "missed"
    return word if good(q1) == good(q3) else word + ", unsure"


def compare(row, samples, peers):
    """Returns one row of the table, as a dictionary for the JSON file and the report."""
    ours = samples["lateral"].get(row.key)
    floor = samples["lateral"].get(row.floor) if row.floor else None
    line = {"section": row.section, "question": row.question, "key": row.key, "ours": median(ours), "floor": median(floor),
            "to_floor": ratio(ours, floor), "peers": {}, "against": row.against, "limit": row.limit,
            "at_least": row.at_least, "verdict": ""}
    for peer in peers:
        theirs = samples[peer.name].get(row.key)
        line["peers"][peer.name] = {"median": median(theirs), "ratio": ratio(ours, theirs)}
    if row.against == "floor":
        line["verdict"] = verdict(line["to_floor"], row.limit, row.at_least)
    elif row.against == "bound":
        line["verdict"] = verdict(ratio(ours, [1.0] * len(ours)) if ours else None, row.limit, row.at_least)
    elif row.against == "peer" and peers:
        ratios = [line["peers"][p.name]["ratio"] for p in peers if line["peers"][p.name]["ratio"]]
        each = [verdict(spread, row.limit, row.at_least) for spread in ratios] or ["not measured"]
        line["verdict"] = max(each, key=lambda v: ("met", "met, unsure", "not measured", "missed, unsure", "missed").index(v))
    return line


# ------------------------------------------------------------------------------------------------- show

def number(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def spread_text(spread):
    if spread is None:
        return "-"
    digits = 2 if spread[1] < 100 else 0
    return "{1:.{d}f} [{0:.{d}f} {2:.{d}f}]".format(*spread, d=digits)


UNITS = {"bandwidth": "GB/s", "launch": "ms", "rss": "MiB", "stencil": "MFlop/s", "isort": "Mkeys/s",
         "ssca1": "ms", "wavefront": "MFlop/s", "am": "Mmsg/s", "streams": "GB/s", "ucx": "GB/s", "fairness": "ratio",
         "between": "ratio", "least": "callbacks", "most": "callbacks"}


def unit_of(line):
    run, name = line["key"].split("/")
    return UNITS.get(name.split(".")[0]) or UNITS.get(run.split("-")[0].rpartition(".")[2], "ns")


def target_text(line):
    if line["limit"] is None:
        return ""
    return f"{'>=' if line['at_least'] else '<='} {line['limit']:g}" + \
        {"floor": " floor", "peer": " peer", "bound": " " + unit_of(line)}[line["against"]]


def cells(line, peers):
    row = [line["question"], unit_of(line), number(line["ours"])]
    for peer in peers:
        row += [number(line["peers"][peer]["median"]), spread_text(line["peers"][peer]["ratio"])]
    return row + [number(line["floor"]), spread_text(line["to_floor"]), target_text(line), line["verdict"]]


def headings(peers):
    row = ["question", "unit", "lateral"]
    for peer in peers:
        row += [peer, f"lateral/{peer}"]
    return row + ["floor", "lateral/floor", "target", ""]


def write(titles, rows, sections):
    """Prints the rows in columns, with a line before each section. sections[i] is the section of rows[i]."""
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    section = None
    for row, of in zip([titles, *rows], [None, *sections]):
        if of != section:
            section = of
            print(f"\n{section}")
        print(row[0].ljust(widths[0]), *[row[i].rjust(widths[i]) for i in range(1, len(row) - 1)], row[-1], sep="  ")


def show(lines, peers):
    write(headings(peers), [cells(line, peers) for line in lines], [line["section"] for line in lines])


def summary(lines):
    words = [line["verdict"] for line in lines if line["verdict"]]
    counts = {word: words.count(word) for word in dict.fromkeys(words)}
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) or "no targets in this selection"
