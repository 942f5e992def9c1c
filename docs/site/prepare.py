#!/usr/bin/env python3
"""Lays out the sources of the site: every document of the tree where it lies, so that links between documents hold; the manual
pages, made from the same files as those for man; the headers of uccs.h; and a list of all names.

usage: prepare.py OUT
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import pages                                               # noqa: E402

LINKS = re.compile(r"\]\(([^)\s:#]+)")
REFERENCE = re.compile(r"(?<![\w`/])([a-z_0-9]+(?:-[a-z]+)?)\(([137])\)")
HEADERS = ("uccs.h", "uccs_am.h", "uccs_accumulate.h", "uccs_lock.h", "uccs_waiting.h", "uccs_coll.h", "uccs_classic.h", "uccs_rte.h", "mpix_rma.h")
GUIDES = {"Start here": ("docs/guide/tutorial", "docs/guide/install", "docs/guide/coming-from"),
          "Guides": ("docs/guide/cluster", "docs/guide/nodes", "docs/guide/networks", "docs/guide/mpi", "docs/guide/hybrids", "docs/guide/python",
                     "docs/guide/python-tutorial",
                     "docs/guide/runtimes", "docs/guide/debugging", "docs/guide/tuning", "docs/guide/security", "docs/guide/startup", "examples/README"),
          "Reference": ("man/index", "man/names", "headers", "docs/results/README", "docs/results/hosts", "docs/results/threads",
                        "docs/results/mpi", "docs/results/mpix", "docs/results/ofi", "docs/results/scale", "docs/results/apps",
                        "docs/results/looking", "CHANGELOG"),
          "Developers": ("docs/ARCHITECTURE", "CONTRIBUTING", "api/README", "launch/README", "docs/internals/uccs",
                         "docs/internals/nodes", "docs/internals/onesided", "docs/internals/progress", "docs/internals/race",
                         "docs/internals/start", "docs/internals/mpi")}


def copy_documents(out):
    """Copies each document, and each file that a document names by a link."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True,
                            check=False)
    names = listed.stdout.split() if listed.returncode == 0 else [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")]
    for name in (name for name in names if not name.startswith(("docs/man/", "build/", "packaging/"))):
        source = ROOT / name
        if not source.exists():
            continue
        copy(source, out / name)
        for target in LINKS.findall(source.read_text(encoding="utf-8")):
            linked = (source.parent / target).resolve()
            if linked.is_file() and linked.suffix != ".md" and ROOT in linked.parents:
                copy(linked, out / linked.relative_to(ROOT))


def copy(source, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, to)


def from_troff(text):
    return re.sub(r"\\fB|\\fR|\\fI|^\.B ", "", text).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def synopsis(words, shown):
    """The synopsis of the manual page: its blocks as code, and its sentences as text."""
    made, inside = [], False
    for line in pages.synopsis(words, shown):
        if line in (".nf", ".fi"):
            inside = line == ".nf"
            made += ["", "```c"] if inside else ["```", ""]
        else:
            text = "" if line == ".PP" else from_troff(line)
            made.append(text if inside else markup(text))
    return made


def header(section, name):
    """A section of a header, as pages.header has it."""
    yield from (["", f"## {section.title}", ""] if section.title else [""])
    yield from ("```c", f"#include <{name}>", *[code for item in section.items for code in item.types],
                *[prototype for _, prototype, _ in section.functions], "```", "", *paragraphs(section.text))
    for item in section.items:
        if item.text:
            yield from ("", "**" + ", ".join(f"`{function}`" for function, _, _ in item.functions) + "**", "") if item.functions else [""]
            yield from paragraphs(pages.RULE.sub("", item.text))
        for function, _, note in item.functions:
            yield from ("", f"`{function}`", f": {markup(note)}", "") if note else ()


def paragraphs(text):
    """Lines that are set in columns become a block."""
    block = False
    for line in text.split("\n"):
        if line.startswith("  ") != block:
            block = not block
            yield from ["", "```text"] if block else ["```", ""]
        yield line if block else markup(line)
    if block:
        yield "```"


def environment():
    lines = [from_troff(line) for line in pages.environment() if line not in (".TP", ".br")]
    return [line for name, text in zip(lines[::2], lines[1::2]) for line in (f"`{name}`", f": {markup(text)}", "")]


def markup(text):
    """Text of a manual page as Markdown: no HTML by accident, and references are links."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else link(part.replace("<", "\\<")) for part in parts)


def link(text):
    def one(found):
        page = PAGE_OF.get(found.group(1))
        return f"[{found.group(0)}]({page}.md)" if page else found.group(0)
    return REFERENCE.sub(one, text)


def body(page):
    shown, block, term = set(), False, False
    for line in page.lines[1:]:
        if line.startswith("```"):
            block = not block
            yield from (["", line] if block else [line, ""])
        elif block:
            yield line
        elif line.startswith("@synopsis "):
            yield from synopsis(line.split()[1:], shown)
        elif line.startswith("@header "):
            yield from header(pages.section_of(line), line.split()[1])
        elif line == "@environment":
            yield from environment()
        elif line.startswith("## "):
            for title, text in page.rules(line):
                yield from ("", f"## {title}", "", markup(text))
            yield from ("", line, "")
            term = False
        elif line.startswith("= "):
            yield from ("", markup(line[2:]))
            term = True
        elif term and line.strip():
            yield ": " + markup(line.strip())
            term = False
        else:
            yield markup(line)
            term = False


def manual_page(page):
    purpose = markup(page.lines[0].removeprefix("# "))
    lines = [f"# {page.name}({page.section})", "", purpose[:1].upper() + purpose[1:] + ".", *body(page)]
    names = list(dict.fromkeys(page.also + page.typed))
    if names:
        lines += ["", "## Names", "", "```{eval-rst}", *[f".. index:: ! {name}" for name in names], "```", "",
                  "This page describes:", "", ", ".join(f"`{name}`" for name in names)]
    return "\n".join(lines) + "\n"


def manual(out):
    made = pages.pages()
    for page in made:
        PAGE_OF.update({name: f"{page.name}.{page.section}" for name in [*page.also, *page.typed]})
    for page in made:
        PAGE_OF[page.name] = f"{page.name}.{page.section}"
    (out / "man").mkdir(parents=True, exist_ok=True)
    for page in made:
        (out / "man" / f"{page.name}.{page.section}.md").write_text(manual_page(page), encoding="utf-8")
    titles = {"1": "Programs", "3": "Functions", "7": "Overviews"}
    lines = ["# Manual pages", ""]
    for section, title in titles.items():
        chosen = [page for page in made if page.section == section]
        lines += [f"## {title}", "", *[f"- [{page.name}({section})]({page.name}.{section}.md): {page.lines[0][2:]}" for page in chosen], ""]
    lines += ["```{toctree}", ":hidden:", "", *[f"{page.name}.{page.section}" for page in made], "```"]
    (out / "man" / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["---", "nosearch: true", "---", "# Every name", "", "Functions by every name, constants and programs, and the page that describes each.", ""]
    lines += [f"- [{name}]({PAGE_OF[name]}.md)" for name in sorted(PAGE_OF)]
    (out / "man" / "names.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def headers(out):
    lines = ["# uccs.h and other headers", "", "The headers are their own reference: each function says what it does, from which threads, "
             "and which errors it returns. [uccs(7)](man/uccs.7.md) is the overview.", ""]
    for name in HEADERS:
        copy(ROOT / "include" / name, out / "include" / name)
        lines += [f"## {name}", "", f"```{{literalinclude}} include/{name}", ":language: c", "```", ""]
    (out / "headers.md").write_text("\n".join(lines), encoding="utf-8")


def index(out):
    lines = ["# Lateral", "", "One-sided communication: all of OpenSHMEM 1.6, requests, counting puts, split-phase collectives, the one-sided "
             "functions of MPI programs, and UCCS, the substrate below them.", "",
             "[Ten minutes](docs/guide/tutorial.md) for a first program; [what it is, how fast, and its limits](README.md).", "",
             "![Lateral against its peers and the machine itself](docs/results/peers.png)", ""]
    for caption, names in GUIDES.items():
        lines += ["```{toctree}", f":caption: {caption}", ":maxdepth: 1", "", *names, "```", ""]
    lines += ["```{toctree}", ":hidden:", "", "README", "```"]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


PAGE_OF = {}


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    copy_documents(out)
    copy(ROOT / "docs/site/conf.py", out / "conf.py")
    copy(ROOT / "CMakeLists.txt", out / "CMakeLists.txt")
    manual(out)
    headers(out)
    index(out)


if __name__ == "__main__":
    main()
