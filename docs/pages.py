#!/usr/bin/env python3
"""Makes the manual pages from docs/man/*.md, with the synopses from the table of operations (api/) and the
environment variables from src/base/env.def.

    pages.py --out DIR --version V    write DIR/man1, man3, man7; names that share a page become aliases of it, by a line ".so"
    pages.py --out DIR --typed        as symbolic links, and all typed names too, such as shmem_int_put: they take no room
    pages.py --out DIR --typed=files  the typed names by a line ".so", too: for archives without symbolic links
    pages.py --list                   the files that --out writes, aliases left out
    pages.py --examples DIR           write the whole programs of all documents, and what they print: DIR/PAGE-K.c, DIR/PAGE-K.out
    pages.py --missing                functions that no page has in its synopsis; exit status 1 when there are any

A source is NAME.SECTION.md. Its first line is "# what NAME is for"; then, line by line:
    ## Heading          - item          ``` around lines that are shown as they are
    ```c, ```, some words, ```, ```     a whole program, run with 4 PEs, and its output with its lines in any order
    @synopsis A B ...   rows of the table, by name or as family/name, family/*; in prototypes TYPE stands for the types of
                        the row, SIZE for the bits of an element
    @environment        all variables
    @header FILE TITLE  a section of include/FILE, or what stands before the first one: prototypes, types, and what its comments say;
                        "Returns:", "Threads:" and "Lifetime:" of its head go in front of the page's example
    = term              a definition; the lines below it, up to an empty one, explain it
and paragraphs. Inside: **bold**, *italic*, `code`.
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "api"))
import declared                                            # noqa: E402
import fortran                                             # noqa: E402
import model                                               # noqa: E402
import table                                               # noqa: E402

WIDTH = 80
FUNCTIONS = {function.name: function for function in model.functions()}
ENV_ROW = re.compile(r'ENV_ROW\((\w+),\s*"(\w+)",\s*("(\w+)"|0),\s*(\w+),\s*"([^"]*)",\s*"([^"]*)"\)')


def escape(text):
    """Plain text to troff; a line must not begin with a control character."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def inline(text):
    text = escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\\fB\1\\fR", text)
    text = re.sub(r"`(.+?)`", r"\\fB\1\\fR", text)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*?)\*(?![\w*])", r"\\fI\1\\fR", text)


def rows_of(words):
    for word in words:
        family, _, name = word.rpartition("/")
        found = [row for row in table.TABLE if (not family or row.family == family) and name in ("*", row.name)]
        if not found:
            raise SystemExit(f"pages.py: no row {word} in the table")
        yield from found


def types_text(rows):
    kinds = {}
    for row in rows:
        if row.types and "typed" in row.forms.split():
            names = ", ".join(kind.name for kind in row.types)
            kinds.setdefault(names, []).append(model.generic_name(row))
    return kinds


def wrapped(prototype, note):
    """A prototype in lines that fit into 80 columns beside the page's margin, with the note in the last."""
    room = WIDTH - 7 - len(note)
    if len(prototype) <= room:
        return [prototype + note]
    lines, rest = [], prototype
    while len(rest) > room:
        cut = rest.rfind(", ", 0, room)
        if cut < 0:
            break
        lines.append(rest[:cut + 1])
        rest = " " * 8 + rest[cut + 2:]
    return lines + [rest + note]


def synopsis(words, shown):
    """shown: the headers that the page has named already."""
    rows = list(rows_of(words))
    headers = [header for header in dict.fromkeys(row.header for row in rows) if header not in shown]
    shown.update(headers)
    lines = [".PP", ".nf"]
    lines += [f".B #include <{header}>" for header in headers] + ([".PP"] if headers else [])
    forms = [function for row in rows for function in model.synopsis_row(row)]
    short = [f for f in forms if f.ctx and "plain" not in f.row.forms]    # named below: they would fill pages
    for function in forms:
        if function not in short:
            row = function.row
            generic = function.name == model.generic_name(row) and "TYPE" in function.prototype()
            note = "  /* C11, C++ */" if generic else "  /* deprecated */" if row.old else ""
            lines += [escape(line) for line in wrapped(function.prototype() + ";", note)]
    lines.append(".fi")
    if short:
        names = [f.name + ("" if f.name.partition("_ctx_")[1] else " (C11, C++)") for f in short]
        lines += [".PP", escape(f"With shmem_ctx_t ctx as first parameter: {', '.join(names)}.")]
    for names, generics in types_text(rows).items():
        which = "" if len(types_text(rows)) == 1 else f" in {', '.join(generics)}"
        lines += [".PP", escape(f"TYPE{which}: {names}.")]
    if any("sized" in row.forms.split() for row in rows):
        lines += [".PP", escape(f"SIZE: {', '.join(map(str, table.SIZES))}.")]
    in_fortran = [form for row in rows for form in fortran.synopsis(row, FUNCTIONS)]
    if in_fortran:
        lines += [".PP", escape("In Fortran (shmem_fortran(7)):"), ".PP", ".nf"]
        lines += [escape(line) for form in dict.fromkeys(in_fortran) for line in wrapped(form, "")] + [".fi"]
    return lines


def environment():
    lines = []
    for _, name, _, alias, kind, standard, text in ENV_ROW.findall((ROOT / "src/base/env.def").read_text()):
        also = f" (older: {alias})" if alias else ""
        unset = f" When unset: {standard}." if standard else ""
        lines += [".TP", f".B {name}", ".br", escape(f"{text[:1].upper()}{text[1:]}{also}.{unset}")]
    return lines


def section_of(line):
    _, name, *title = line.split()
    found = declared.sections(name).get(" ".join(title))
    if not found:
        raise SystemExit(f"pages.py: include/{name} has no section {' '.join(title)!r}: {', '.join(declared.sections(name))}")
    return found


def paragraphs(text):
    """The text of a comment: lines that are set in columns stay as they are."""
    out, block = [], False
    for line in text.split("\n"):
        if line.startswith("  ") != block:
            block = not block
            out += [".PP", ".RS 4", ".nf"] if block else [".fi", ".RE", ".PP"]
        out += [escape(line) if block else inline(line)] if line else [".PP"]
    return out + ([".fi", ".RE", ".PP"] if block else [])


RULES = {"Returns": "Return value and errors", "Threads": "Threads", "Lifetime": "Lifetime"}
RULE = re.compile(rf"^({'|'.join(RULES)}): (.*)\n*", re.MULTILINE)


def rules(file):
    """What the head of a header says about all its functions, as (title, text); a part of uccs.h has that one's."""
    found = [rule for item in declared.sections(file)[""].items for rule in RULE.findall(item.text)]
    if not found and file != "uccs.h":
        return rules("uccs.h")
    if {title for title, _ in found} != set(RULES):
        raise SystemExit(f"pages.py: the head of include/{file} lacks one of {', '.join(RULES)}")
    return [(RULES[title], text[:1].upper() + text[1:]) for title, text in found]


def header(line, shown):
    """A section of a header: its prototypes and types as they stand there, then what each comment says, below the names it is about."""
    section, name = section_of(line), line.split()[1]
    first = not any(word.endswith(".h") for word in shown)
    out = [".SH " + ("SYNOPSIS" if first else escape(section.title.upper()) or "MORE"), ".PP", ".nf"]
    out += [] if name in shown else [f".B #include <{name}>", ".PP"]
    shown.add(name)
    for item in section.items:
        for code in item.types:
            out += [escape(row) for row in code.splitlines()]
    for _, prototype, _ in section.functions:
        out += [escape(row) for row in wrapped(prototype, "")]
    out += [".fi"] + ([".SH DESCRIPTION"] if first else [".PP"]) + paragraphs(section.text)
    for item in section.items:
        names = [function for function, _, _ in item.functions]
        notes = [(function, note) for function, _, note in item.functions if note]
        if item.text and names:
            out += [".TP", "\\fB" + escape(", ".join(names)) + "\\fR", ".br"] + paragraphs(item.text)
        elif item.text:
            out += [".PP"] + paragraphs(RULE.sub("", item.text))
        for function, note in notes:
            out += [".TP", "\\fB" + escape(function) + "\\fR", ".br", inline(note[:1].upper() + note[1:] + ".")]
    return out


# Names of programs that have no row in the table.
ALSO = {"oshcc": ["oshc++", "oshcxx", "oshCC", "oshfort"]}


class Page:
    def __init__(self, path):
        self.name, self.section = path.name.removesuffix(".md").rsplit(".", 1)
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.words = [word for line in self.lines if line.startswith("@synopsis ") for word in line.split()[1:]]

    @property
    def rows(self):
        return list(rows_of(self.words))

    @property
    def declared(self):
        """Functions of the headers' sections that the page shows, and the other names that a header has for functions of MPI's kind."""
        lines = [line for line in self.lines if line.startswith("@header ")]
        names = [name for line in lines for name, _, _ in section_of(line).functions]
        texts = [(ROOT / "include" / file).read_text(encoding="utf-8") for file in dict.fromkeys(line.split()[1] for line in lines)]
        return names + [name for text in texts for name in re.findall(r"^#define (MPI_[A-Z][a-z]\w*)(?:\(.*?\))? MPIX_", text, re.MULTILINE)]

    @property
    def constants(self):
        """What the lines "= NAME, NAME" below the heading Constants define."""
        text = "\n".join(self.lines)
        found = re.search(r"^## Constants\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
        terms = re.findall(r"^= (.*)", found.group(1), re.MULTILINE) if found else []
        return [name for term in terms for name in re.findall(r"SHMEMX?_\w+", term)]

    @property
    def typed(self):
        """Every other name of a function of the page, and its constants."""
        names = [f.name for row in self.rows for f in model.expand_row(row)] + self.constants
        return [name for name in dict.fromkeys(names) if name != self.name]

    @property
    def also(self):
        """Names by which people look a page up: every plain, mem and generic form, without contexts."""
        found = ALSO.get(self.name, []) + self.declared
        for row in self.rows:
            forms = row.forms.split()
            found += [f.name for f in model.expand_row(row) if not f.ctx and not f.type and not f.row.name.endswith("to_all")]
            found += [model.generic_name(row)] if "generic" in forms else []
        return [name for name in dict.fromkeys(found) if name != self.name]

    def troff(self, version):
        purpose = self.lines[0].removeprefix("# ")
        out = [f'.TH {self.name} {self.section} "" "Lateral {version}" "Lateral"', ".nh", ".ad l", ".SH NAME",
               f"{escape(self.name)} \\- {escape(purpose)}"]
        block, shown = False, set()
        for line in self.lines[1:]:
            if line.startswith("```"):
                out += [".fi", ".RE", ".PP"] if block else [".PP", ".RS 4", ".nf"]
                block = not block
            elif block:
                out.append(escape(line))
            else:
                out += (synopsis(line.split()[1:], shown) if line.startswith("@synopsis ") else
                        header(line, shown) if line.startswith("@header ") else self.plain(line))
        return "\n".join(tidy(out)) + "\n"

    def rules(self, line):
        """What holds for all functions of the page's header, as (title, text): it goes in front of the example."""
        files = [word.split()[1] for word in self.lines if word.startswith("@header ")] if line == "## Example" else []
        return rules(files[0]) if files else []

    def plain(self, line):
        if line.startswith("## "):
            found = [row for title, text in self.rules(line) for row in (".SH " + title.upper(), inline(text))]
            return found + [".SH " + escape(line[3:].upper())]
        if line == "@environment":
            return environment()
        if line.startswith("- "):
            return [".IP \\(bu 2", inline(line[2:])]
        if line.startswith("= "):
            return [".TP", "\\fB" + inline(line[2:]) + "\\fR", ".br"]     # a short term, too, has a line of its own
        if not line.strip():
            return [".PP"]
        return [inline(line.strip())]


def tidy(lines):
    """No empty paragraphs: .PP only between two pieces of text."""
    kept = []
    for line in lines:
        if line == ".PP" and kept and (kept[-1] == ".PP" or kept[-1].startswith(".SH")):
            continue
        if line.startswith((".SH", ".TP", ".IP")) and kept and kept[-1] == ".PP":
            kept.pop()
        kept.append(line)
    while kept[-1] == ".PP":
        kept.pop()
    return kept


def pages():
    return [Page(path) for path in sorted((HERE / "man").glob("*.md"))]


def write(out, version, typed):
    wanted = {}
    made = pages()
    for page in made:
        wanted[f"man{page.section}/{page.name}.{page.section}"] = page.troff(version)
    for page in made:
        for name in page.also + (page.typed if typed == "files" else []):
            wanted.setdefault(f"man{page.section}/{name}.{page.section}", f".so man{page.section}/{page.name}.{page.section}\n")
    for name, text in wanted.items():
        path = pathlib.Path(out, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if typed == "links":
        link_aliases(pathlib.Path(out), made)


def link_aliases(out, made):
    for page in made:
        for name in page.also + page.typed:
            path = out / f"man{page.section}" / f"{name}.{page.section}"
            if not path.exists() or path.read_text(encoding="utf-8").endswith(f"/{page.name}.{page.section}\n"):
                path.unlink(missing_ok=True)
                path.symlink_to(f"{page.name}.{page.section}")


def examples_of(path):
    """Whole programs in a document, each with the lines that it prints with 4 PEs."""
    blocks = re.split(r"^```(.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)     # text, mark, block, "", text ...
    marks, texts = blocks[1::4], blocks[2::4]
    return [(code, texts[at + 1]) for at, code in enumerate(texts[:-1]) if marks[at] == "c" and "int main" in code]


def write_examples(out):
    """DIR/NAME-K.c and .out for the programs of manual pages, guides and README.md."""
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    for path in [*HERE.glob("man/*.md"), *HERE.glob("guide/*.md"), ROOT / "README.md"]:
        for number, example in enumerate(examples_of(path)):
            for suffix, text in zip((".c", ".out"), example):
                pathlib.Path(out, f"{path.name.split('.')[0]}-{number}{suffix}").write_text(text, encoding="utf-8")


def missing():
    named = {id(row) for page in pages() for row in page.rows}
    told = {name for page in pages() for name in page.declared}
    return ([f.name for row in table.TABLE if id(row) not in named for f in model.expand_row(row)] +
            [name for path in sorted(declared.INCLUDE.glob("*.h")) for section in declared.sections(path.name).values()
             for name, _, _ in section.functions if name not in told])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--version", default="0.0.0")
    parser.add_argument("--typed", nargs="?", const="links", choices=("links", "files"))
    parser.add_argument("--examples")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--missing", action="store_true")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(f"man{page.section}/{page.name}.{page.section}" for page in pages()))
    if asked.out:
        write(asked.out, asked.version, asked.typed)
    if asked.examples:
        write_examples(asked.examples)
    if asked.missing:
        names = missing()
        print("\n".join(f"no page has {name}" for name in names[:40]) or "every function is in a page")
        return 1 if names else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
