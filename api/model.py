"""Expands rows of the table into functions: one Function for each C symbol."""

import re
from dataclasses import dataclass

import extensions  # noqa: F401  (adds its rows to the table)
import table

CTX_PARAM = ("shmem_ctx_t ", "ctx")


@dataclass(frozen=True)
class Function:
    name: str           # public C name
    result: str
    params: tuple       # of (C type as written before the name, name); ("...", "") is variadic
    row: table.Row
    type: table.Type    # None in plain, sized and mem forms
    bytes: int          # of an element in sized and mem forms, else 0
    ctx: bool

    @property
    def old(self):
        return self.row.old or (self.type is not None and self.type.name in self.row.quiet)

    @property
    def attributed(self):
        """True when the function has the deprecation attribute; false where a generic of current names names it."""
        return self.row.old and not self.row.quiet

    @property
    def names(self):
        return [name for _, name in self.params if name]

    def has(self, name):
        return name in self.names

    def prototype(self, prefix="", spell=lambda text: text):
        params = ", ".join(spell(kind) + name for kind, name in self.params) or "void"
        result = spell(self.result)
        space = "" if result.endswith("*") else " "
        return f"{result}{space}{prefix}{self.name}({params})"

    @property
    def generic_name(self):
        return generic_name(self.row)


def prefix_of(row):
    return "shmemx_" if row.header == "shmemx.h" else "shmem_"


def generic_name(row):
    return prefix_of(row) + row.name.replace("#", "")


def parse_params(text, element):
    params = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if part == "...":
            params.append(("...", ""))
            continue
        kind, name = re.fullmatch(r"(.*?[ *])(\w+)", part).groups()
        params.append((re.sub(r"\bT\b", element, kind), name))
    return tuple(params)


def _make(row, name, element, kind=None, size=0, ctx=False):
    params = parse_params(row.params, element)
    if ctx:
        params = (CTX_PARAM,) + params
    result = re.sub(r"\bT\b", element, row.result)
    return Function(name, result, params, row, kind, size, ctx)


def expand_row(row):
    forms = row.forms.split()
    start = prefix_of(row)
    for ctx in (False, True) if "ctx" in forms else (False,):
        head = start + ("ctx_" if ctx else "")
        if "plain" in forms:
            yield _make(row, row.public or head + row.name, "void", ctx=ctx)
        if "typed" in forms:
            for kind in row.types:
                yield _make(row, f"{head}{kind.name}_{row.name.replace('#', '')}", kind.c, kind, 0, ctx)
        if "sized" in forms:
            for bits in table.SIZES:
                yield _make(row, head + row.name.replace("#", str(bits)), "void", None, bits // 8, ctx)
        if "mem" in forms:
            yield _make(row, head + row.name.replace("#", "mem"), "void", None, 1, ctx)


def synopsis_row(row):
    """Yields the forms of a row with TYPE and SIZE in place of the repetitions, for readers."""
    forms = row.forms.split()
    start = prefix_of(row)
    for ctx in (False, True) if "ctx" in forms else (False,):
        head = start + ("ctx_" if ctx else "")
        if "generic" in forms and "typed" in forms:
            yield _make(row, generic_name(row), "TYPE", ctx=ctx)
        if "typed" in forms:
            yield _make(row, f"{head}TYPE_{row.name.replace('#', '')}", "TYPE", ctx=ctx)
        if "sized" in forms:
            yield _make(row, head + row.name.replace("#", "SIZE"), "void", ctx=ctx)
        if "mem" in forms:
            yield _make(row, head + row.name.replace("#", "mem"), "void", ctx=ctx)
        if "plain" in forms:
            yield _make(row, row.public or head + row.name, "void", ctx=ctx)


def functions():
    found = [function for row in table.TABLE for function in expand_row(row)]
    names = [function.name for function in found]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if twice:
        raise SystemExit(f"api/table.py: named twice: {', '.join(sorted(twice))}")
    return found


@dataclass(frozen=True)
class Generic:
    """A C11 generic: typed functions by the first pointer's type, with and without a context."""
    name: str
    row: table.Row
    position: int       # of the argument whose type decides, without a context
    const: bool         # that argument may point to const
    plain: tuple        # of (distinct C type, Function)
    ctx: tuple


def distinct(some):
    seen = {}
    for function in some:
        seen.setdefault(function.type.distinct, function)
    return tuple(seen.items())


def generics():
    found = []
    for row in table.TABLE:
        if "generic" not in row.forms.split() or "typed" not in row.forms.split():
            continue
        typed = [function for function in expand_row(row) if function.type]
        params = row.params.split(", ")
        position = next(i for i, text in enumerate(params) if re.search(r"\bT \*", text))
        found.append(Generic(generic_name(row), row, position, params[position].startswith("const"),
                             distinct([f for f in typed if not f.ctx]), distinct([f for f in typed if f.ctx])))
    return found
