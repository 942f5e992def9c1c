"""Reads a public header of include/ for manual pages: its sections, and in them comments with the declarations that they are about.

A section begins with a comment "--- Title: text" or "--- Title"; what stands before the first one is the section "". A comment at
the begin of a line belongs to the declarations behind it, up to an empty line or the next such comment. One at the end of a
line belongs to that line.
"""
import functools
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
FUNCTION = re.compile(r"\b((?:uccs|MPIX)_\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*;?$", re.DOTALL)
ATTRIBUTE = re.compile(r"\s*__attribute__\(\(.*?\)\)(?=;)", re.DOTALL)


class Item:
    """A comment and what it is about: declarations, each with the comment at its line's end."""

    def __init__(self, text=""):
        self.text, self.code = text, []

    @property
    def functions(self):
        """(name, prototype, comment) of the functions among its declarations."""
        found = []
        for code, note in self.code:
            code = ATTRIBUTE.sub("", code)
            match = FUNCTION.search(code)
            if match and not code.startswith(("typedef", "struct", "enum", "#")):
                found.append((match.group(1), re.sub(r"^(static inline|UCCS_CLASSIC) ", "", code), note))
        return found

    @property
    def types(self):
        """Its other declarations: types, macros."""
        return [code for code, _ in self.code if not FUNCTION.search(ATTRIBUTE.sub("", code)) or code.startswith(("typedef", "struct", "enum", "#"))]


class Section:
    def __init__(self, title, text):
        self.title, self.text, self.items = title, text, [Item()]

    @property
    def functions(self):
        return [pair for item in self.items for pair in item.functions]


def plain(comment):
    """The text of a comment in one line for each paragraph; a list that is set in columns keeps its lines."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().splitlines()]
    out = []
    for line in lines:
        shown = line.startswith("  ")
        if not line:
            out.append("")
        elif shown or not out or out[-1] == "" or out[-1].startswith("  "):
            out.append(line)
        else:
            out[-1] += " " + line
    return "\n".join(out).strip("\n")


def defines(code):
    """True for a function with a body."""
    return "(" in code.partition("{")[0] and "{" in code and not code.startswith(("typedef", "struct", "enum", "#"))


def declarations(text):
    """Yields ("comment", text), ("end", text) for a comment at the end of a line, ("empty", ""), ("code", declaration)."""
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^#(?!define)(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    at, code, depth = 0, "", 0
    while at < len(text):
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            if code.strip() and (depth or code.strip()[-1] not in ";}"):
                code += text[at:end]                          # inside of a declaration
            elif text.rfind("\n", 0, at) == at - 1 or not text[text.rfind("\n", 0, at) + 1:at].strip():
                yield "comment", text[at + 2:end - 2]
            else:
                yield "end", text[at + 2:end - 2]
            at = end
            continue
        if text.startswith("\n\n", at) and not depth:
            if code.strip():
                yield "code", code.strip()
            code = ""
            yield "empty", ""
            at += 1
            continue
        char = text[at]
        code += char
        depth += (char == "{") - (char == "}")
        line = code.strip()
        if not depth and (char == ";" or (char == "}" and defines(line)) or
                          (char == "\n" and line.startswith("#define") and not line.endswith("\\"))):
            yield "code", line
            code = ""
        at += 1


@functools.cache
def sections(name):
    """The sections of a header, by title."""
    text = (INCLUDE / name).read_text(encoding="utf-8")
    found = {"": Section("", "")}
    section = found[""]
    for kind, what in declarations(text):
        begin = re.match(r"\s*---\s*(.*?)\s*(?:-{3,}\s*)?$", plain(what), re.DOTALL) if kind == "comment" else None
        if begin:
            title, _, said = begin.group(1).partition(":") if ":" in begin.group(1).split("\n")[0][:60] else (
                re.split(r"[.,] ", begin.group(1) + " ")[0], "", begin.group(1))
            title = title.strip().rstrip(".")
            section = found.setdefault(title, Section(title, said.strip()[:1].upper() + said.strip()[1:] if said.strip() != title else ""))
        elif kind == "comment":
            section.items.append(Item(plain(what)))
        elif kind == "empty":
            section.items.append(Item())
        elif kind == "end" and section.items[-1].code:
            section.items[-1].code[-1] = (section.items[-1].code[-1][0], plain(what))
        elif kind == "code":
            if re.match(r"#define \w+_H$", what):
                continue
            if defines(what):
                what = what[:what.index("{")].strip() + ";"
            section.items[-1].code.append((re.sub(r"\s*\n\s*", " ", what) if "{" not in what else what, ""))
    return found
