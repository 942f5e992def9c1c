"""Small faults that can be put into a C file, one at a time (mutants.py puts them in and runs the tests).

A fault has a kind, a place and the text that replaces the text there:

    compare   < <= > >= == !=: the bound moves by one, or the sense turns; not in a < b ? a : b, which stays the same
    logic     && becomes ||, || becomes &&, a condition loses its !
    one       + 1 and - 1 go, + becomes -, a loop begins at 1
    drop      a call whose result nobody takes does not happen
    width     a cast or a local variable of 64 bits has 32, one of 32 has 16; lengths (size_t) keep theirs, for only one of
              4 GB would show it
    order     a full fence goes (others change nothing on a processor that orders loads and stores itself)

Left out: what only releases memory, prints or tells a tool, because a program cannot see that; preprocessor lines,
which hold on one compiler or another.
"""
import dataclasses
import re

SILENT = re.compile(r"(free|(?:set|maps|waiters|hosts)_free|say|say_more|log_\w+|perror|fprintf|printf|fflush|atomic_order_\w+|atomic_fence_(?:acquire|release)|va_end|cpu_relax|madvise|"
                    r"static_assert|_Static_assert|\w*prefetch\w*|memory_prefetch|return|sizeof|if|while|for|switch)\Z")
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
NARROW = {"uint64_t": "uint32_t", "int64_t": "int32_t", "uint32_t": "uint16_t", "int32_t": "int16_t",
          "uintptr_t": "uint32_t", "long": "int"}
WIDE = "|".join(NARROW)
TERM = r"[^\s=;?:&|(),][^=;?:&|,]*?"
CHOICE = re.compile(rf"(?:(?<== )|(?<=\()|(?<=return )|(?<=, ))({TERM}) (<=?|>=?) ({TERM})\s\? ({TERM})\s: ({TERM})(?=[;,)])")      # may be the lesser of two
BEFORE = re.compile(r"([;:{})]|\belse|\bdo)\s*\Z")                          # a statement
HIDDEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'|^[ \t]*#(?:[^\n\\]|\\[^\n]|\\\n)*", re.S | re.M)


@dataclasses.dataclass(frozen=True)
class Fault:
    path: str
    start: int
    end: int
    new: str
    kind: str
    line: int
    old_line: str
    new_line: str

    def apply(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def key(self):
        """Names the fault as long as its line stays as it is, wherever the line lies in its file."""
        return self.path, self.old_line, self.new_line

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}\n    - {self.old_line}\n    + {self.new_line}"


def hide(text):
    """The text with comments, strings and preprocessor lines as blanks; every other character keeps its place."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def compares(code):
    least = {match.start(2) for match in CHOICE.finditer(code) if match[1] != match[3] and {match[1], match[3]} == {match[4], match[5]}}
    for match in re.finditer(r"(?<= )(<=|>=|<|>|==|!=)(?= )", code):
        if match.start() in least:
            continue
        yield *match.span(), COMPARED[match.group()], "compare"


def logic(code):
    for match in re.finditer(r"(?<=[ \n])(&&|\|\|)(?=[ \n])", code):
        yield *match.span(), "||" if match.group() == "&&" else "&&", "logic"
    for match in re.finditer(r"\b(?:if|while) \((!)(?=[\w(])", code):
        yield *match.span(1), "", "logic"


def ones(code):
    for match in re.finditer(r"(?<=[\w)\]]) [+-] 1u?\b(?![.\w])", code):
        yield *match.span(), "", "one"
    for match in re.finditer(r"(?<=[\w)\]] )(\+)(?= (?!1u?\b)[\w(])", code):
        yield *match.span(), "-", "one"
    for match in re.finditer(r"\bfor \([^;]*= (0)(?=; \w+ <)", code):
        yield *match.span(1), "1", "one"


def balanced(text):
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return at == len(text) - 1
    return False


def drops(code):
    for match in re.finditer(r"^ +((?:\w+(?:->|\.))*(\w+)(\(.*\)));$", code, re.M):
        name = match.group(2)
        if SILENT.match(name) or not balanced(match.group(3)) or not BEFORE.search(code[:match.start()]):
            continue
        yield *match.span(1), "(void)0", "order" if "fence_seqcst" in name else "drop"


def widths(code):
    for match in re.finditer(rf"\(({WIDE})\)(?=[\w(*&])", code):
        yield *match.span(1), NARROW[match.group(1)], "width"
    for match in re.finditer(rf"^ +(?:const )?({WIDE}) \w+ = ", code, re.M):
        yield *match.span(1), NARROW[match.group(1)], "width"


def faults_of(path, text):
    """Every fault of a file, in the order of their places."""
    code, found = hide(text), []
    for kind in (compares, logic, ones, drops, widths):
        for start, end, new, name in kind(code):
            first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            old = text[first:last]
            found.append(Fault(path, start, end, new, name, text.count("\n", 0, start) + 1, old.strip(),
                               (text[first:start] + new + text[end:last]).strip()))
    return sorted(found, key=lambda fault: (fault.start, fault.kind))
