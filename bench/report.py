#!/usr/bin/env python3
"""Shows a page on the terminal, and writes it: docs/results/NAME.md, its figures (JSON) and pictures, and the tables of README.md.

    report.py             writes pages and README's tables anew from the figures under docs/results
    report.py --check     fails where one of them differs from these figures
"""
import json
import re
import sys
from pathlib import Path

import figures
import rows

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
BEHIND = 8                                                 # rows that README.md names
HEAD = """# {title}

Written by `./dev bench {option}--report` on {when} UTC. Tree: {tree}.

{processor}, {cores} cores{virtual}{hop}. Kernel {kernel}, {compiler}{ucx}.
{rounds}{seconds}, all in turns{quick}: {ways}{absent}. Values are medians over the rounds; a ratio is the median of the ratios of the rounds, with its
quartiles in brackets where there was more than one. {noise}

{text}
"""


def figures_file(page):
    return "results.json" if page.file == "README.md" else page.file.replace(".md", ".json")


def in_words(rounds):
    return "1 round" if rounds == "1" else f"{rounds} rounds"


def titles(document):
    heads = ["question", "unit"]
    for way in document["ways"]:
        heads.append(way)
        if document["each"] and way not in document["ours"]:
            heads.append(f"{document['ours'][0]}/{way}")
        elif not document["each"] and way in document["ours"]:
            heads.append("ratio")
    return heads + (["reference", f"{document['ours'][0]}/reference"] if document["each"] else []) + ["target", ""]


def median_of(document, way, key):
    value = document["values"].get(way, {}).get(key)
    return value[1] if value else None


def cells(document, line):
    row, ratios = [line["question"], line["unit"]], line["ratios"]
    ours = document["ours"][0]
    for way in document["ways"]:
        row.append(rows.number(median_of(document, way, line["key"])))
        if document["each"] and way not in document["ours"]:
            row.append(rows.spread_text(ratios.get(f"{ours}/{way}")))
        elif not document["each"] and way in document["ours"]:
            own = [spread for name, spread in ratios.items() if name.startswith(f"{way}/") and not name.endswith("/bound")]
            row.append(rows.spread_text(own[0]) if own else "")
    if document["each"]:
        row += [rows.number(median_of(document, ours, line["reference"])), rows.spread_text(ratios.get(f"{ours}/reference"))]
    return row + [rows.target_text(line), line["verdict"]]


def write_columns(heads, table, sections):
    """Prints rows in columns, with a line before each section. sections[i] is the section of table[i]."""
    widths, section = [max(len(row[i]) for row in [heads, *table]) for i in range(len(heads))], None
    for row, of in zip([heads, *table], [None, *sections]):
        if of != section:
            section = of
            print(f"\n{section}")
        print(row[0].ljust(widths[0]), *[row[i].rjust(widths[i]) for i in range(1, len(row) - 1)], row[-1], sep="  ")


def show(document):
    lines = document["lines"]
    write_columns(titles(document), [cells(document, line) for line in lines], [line["section"] for line in lines])
    print(f"\nmedians of {in_words(document['rounds'])}; ratios: median [quartiles] over rounds; {rows.summary(lines)}")
    if document["machine"]["busy"] > 0.1:
        print(f"run.py: others kept the processors {document['machine']['busy']:.0%} busy meanwhile: these figures are unreliable", file=sys.stderr)


def markdown(heads, table):
    escaped = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in [heads, *table]]
    return "\n".join([f"| {escaped[0]} |", "|---" + "|---:" * (len(heads) - 2) + "|---|", *[f"| {row} |" for row in escaped[1:]]])


def page_text(page, document, pictures):
    about = document["machine"]
    hop = "; a cache line goes from one to the other in {1:.0f} ns [{0:.0f} {2:.0f}]".format(*about["hop"]) if about.get("hop") else ""
    hop += f" (common cache: {about['cache']})" if about.get("cache") else ""
    named = ", ".join(f"{title} (`{name}`)" for name, title in document["ways"].items())
    noise = "The machine had nothing else to do." if about["busy"] <= 0.1 else \
        f"Others kept the processors {about['busy']:.0%} busy meanwhile, so take the figures as a first impression."
    parts = [HEAD.format(title=page.title, option="" if page.name == "node" else f"--{page.name} ", when=document["when"], tree=document["tree"],
                         processor=about["processor"], cores=about["cores"], virtual=" of a virtual machine" if about["virtual"] else "", hop=hop,
                         kernel=about["kernel"], compiler=about["compiler"], ucx=f", UCX {about['ucx']}" if about.get("ucx") else "",
                         quick=" (--quick)" if document["quick"] else "", rounds=in_words(document["rounds"]), ways=named, noise=noise, text=page.text,
                         seconds=f" in {document['seconds'] / 60:.0f} minutes" if document.get("seconds") else "",
                         absent="; not measured, because not here: " + ", ".join(document["absent"]) if document.get("absent") else "")]
    drawn = {figure.file: figure for figure in page.figures}
    parts += [f"![{title}]({name})\n\n*{title}: {figures.caption(document, drawn[name])}*\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        table = [cells(document, line) for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + markdown(titles(document), table) + "\n")
    if document["failed"]:
        parts.append("Not run to the end:\n\n" + "\n".join(f"- {document['ways'].get(way, way)}: {key}: {why}" for way, key, why in document["failed"]) + "\n")
    return "\n".join([*parts, f"Targets: {rows.summary(document['lines'])}.\n"])


# ---------------------------------------------------------------------------------------------- README.md

def scaled(values, unit):
    """Returns the text of some values of one unit, in the unit that suits the smallest."""
    there = [value for value in values if value is not None]
    if not there:
        return ""
    unit, factor = ("us", 1e-3) if unit == "ns" and min(there) >= 1000 else (unit, 1)
    if unit == "us" and min(there) * factor >= 10000:
        unit, factor = "ms", factor * 1e-3
    texts = ["-" if value is None else rows.number(value * factor) for value in values]
    return f"{', '.join(texts)} {unit}"


def readme_table(document, what, columns, lines):
    held = [(name, title or document["ways"][name]) for name, title in columns if name == "reference" or name in document["ways"]]
    by_key = {line["key"]: line for line in reversed(document["lines"])}
    table = [f"| {what}, medians of {in_words(document['rounds'])} | " + " | ".join(title for _, title in held) + " |",
             "|---" + "|---:" * len(held) + "|"]
    for question, keys, *more in lines:
        there = [by_key[key] for key in keys if key in by_key]
        texts = []
        for name, _ in held:
            values = [median_of(document, document["ours"][0], line["reference"]) if name == "reference" else median_of(document, name, line["key"])
                      for line in there]
            texts.append(scaled(values, there[0]["unit"]) if there and not (name == "reference" and more) else "")
        if any(texts):
            table.append(f"| {question} | " + " | ".join(texts) + " |")
    return "\n".join(table)


def behind_text(page, document):
    """Returns a sentence that names the rows in which a peer is ahead by more than 5 %, the worst ones first."""
    plain, of_rows = {"best", *(way for way in document["ways"] if way.partition(".")[0] not in document["ours"])} - set(document["ours"]), {}
    for line in reversed(document["lines"]):
        ratios = [spread[1] for name, spread in line["ratios"].items() if spread and spread[1] and name.partition("/")[2] in plain]
        if ratios:
            of_rows[line["key"]] = (max(1 / ratio if line["at_least"] else ratio for ratio in ratios), re.split("; |, against |, to ", line["question"])[0])
    worse = sorted((row for row in of_rows.values() if row[0] > 1.05), reverse=True)
    named = ", ".join(f"{question} ({ratio:.2f})" for ratio, question in worse[:BEHIND])
    whom = "The fastest MPI is ahead of the slowest layer" if len(document["ours"]) > 1 else "A peer is ahead"
    return (f"{whom} by more than 5 % in {len(worse)} of {len(of_rows)} rows of [the page](docs/results/{page.file})"
            + (f"{', most in these' if len(worse) > BEHIND else ''}: {named}." if worse else "."))


def readme_text(page, document, text):
    """Returns README.md with the page's tables in their places, which a comment before and after marks."""
    for name, parts in page.readme.items():
        begin, end = f"<!-- bench: {name} -->\n", f"\n<!-- bench: end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"report.py: README.md has no place for the table '{name}': {begin.strip()} and {end.strip()}")
        front, _, rest = text.partition(begin)
        text = front + begin + readme_table(document, *parts) + "\n\n" + behind_text(page, document) + end + rest.partition(end)[2]
    return text


# ---------------------------------------------------------------------------------------------------- write

def short(value):
    """Returns the value with numbers of five digits: more is noise."""
    if isinstance(value, dict):
        return {key: short(of) for key, of in value.items()}
    return [short(of) for of in value] if isinstance(value, (list, tuple)) else float(f"{value:.5g}") if isinstance(value, float) else value


def write(page, document, folder=RESULTS):
    folder.mkdir(parents=True, exist_ok=True)
    document = short(document)
    document["pictures"] = figures.draw(document, page.figures, folder)
    (folder / figures_file(page)).write_text(json.dumps(document, separators=(",", ":")).replace('},{"section"', '},\n{"section"') + "\n", encoding="utf-8")
    (folder / page.file).write_text(page_text(page, document, document["pictures"]), encoding="utf-8")
    if page.readme:
        readme = ROOT / "README.md"
        readme.write_text(readme_text(page, document, readme.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"report.py: wrote {page.file}, {figures_file(page)} and {len(document['pictures'])} pictures in {folder.name}/")


def main():
    import pages
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    wrong, check = [], sys.argv[1:] == ["--check"]
    for page in pages.ALL.values():
        document = json.loads((RESULTS / figures_file(page)).read_text(encoding="utf-8"))
        if not check:
            write(page, document)
            continue
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        if (RESULTS / page.file).read_text(encoding="utf-8") != page_text(page, document, document["pictures"]):
            wrong.append(f"docs/results/{page.file}")
        if readme_text(page, document, readme) != readme:
            wrong.append(f"README.md, table {' and '.join(page.readme)}")
    for name in wrong:
        print(f"report.py: {name} differs from docs/results/*.json; bench/report.py writes it anew", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
