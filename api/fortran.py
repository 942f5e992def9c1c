"""Writes shmem.f90, the Fortran 2018 module `shmem`: generic names by type, kind and rank over the C functions.

A row with types becomes one generic of procedures, one for each Fortran type that the row takes, with and without a context.
What only moves bytes (put, get, broadcast) takes every interoperable type, logical and character too, and calls the C form that
knows sizes. Buffers have any rank: an assumed-rank dummy takes scalars, arrays and elements alike. The C functions see addresses.
"""

import re
import textwrap

import model
import table
from fortran_kinds import KINDS, WHOLE

HEAD = """\
! OpenSHMEM 1.6 for Fortran 2018: man 7 shmem_fortran. Generated from api/table.py; edit the table, not this file.
!
!   use shmem
!   call shmem_put(dest, source, nelems, pe)     or     call shmem_put(dest, source, pe=pe)
!
! PEs count from 0, elements from 1: shmem_wait_until_any returns 0 where C returns SIZE_MAX. Where C returns a status, the last
! argument ierror is optional; without it a failure ends the job. nelems may be left out: then it is the size of the array.
"""


# C scalars by value. Those but int are counts, values of 8 bytes and masks: a caller gives an integer of any kind.
SCALARS = {"int": "c_int", "long": "c_long", "size_t": "c_size_t", "ptrdiff_t": "c_ptrdiff_t", "uint64_t": "c_int64_t"}
HANDLES = ("shmem_team_t", "shmem_ctx_t", "shmemx_request_t", "shmemx_ct_t")
CONFIGS = ("shmem_team_config_t", "shmem_ctx_session_config_t")
LOGICAL = re.compile(r"^(pe_accessible|addr_accessible|test|test_all|test_all_vector|request_test.*|ct_test)$")
NUMBER = re.compile(r"^(my_pe|n_pes|team_my_pe|team_n_pes|team_translate_pe|test_lock|ct_wait_timeout)$")
OMITTED = {"pcontrol", "info_get_name"}                     # variadic in C; written by hand below


def wrap(line):
    """Returns a statement on lines of at most 128 columns."""
    pieces = textwrap.wrap(line.strip(), 118, break_long_words=False, break_on_hyphens=False)
    indent = line[:len(line) - len(line.lstrip())]
    return " &\n".join(indent + ("    " if at else "") + piece for at, piece in enumerate(pieces))


class Module:
    """Collects the parts of the module: C interfaces, generics, procedures."""

    def __init__(self):
        self.imports, self.generics, self.procedures, self.forms = {}, {}, [], {}

    def interface(self, function):
        """Declares a C function under c_NAME, once; returns that name."""
        name = "c_" + function.name
        if name not in self.imports:
            lines, names = [], []
            for kind, dummy in function.params:
                dummy = dummy + "_" if dummy in ("c_int",) else dummy
                names.append(dummy)
                lines.append(f"            {c_declaration(kind)} :: {dummy}")
            result = "" if function.result.strip() == "void" else c_declaration(function.result).replace(", value", "") + " "
            word = "function" if result else "subroutine"
            self.imports[name] = "\n".join(
                [wrap(f"        {result}{word} {name}({', '.join(names)}) bind(c, name=\"{function.name}\")"),
                 "            import"] + lines + [f"        end {word}"])
        return name

    def procedure(self, generic, name, result, dummies, locals_, body):
        self.generics.setdefault(generic, []).append(name)
        self.forms.setdefault(generic, (result, dummies))
        names = ", ".join(dummy.split("(")[0] for _, dummy in dummies)
        word = "function" if result else "subroutine"
        tail = " result(value_)" if result else ""
        lines = [wrap(f"    {word} {name}({names}){tail}")]
        lines += [f"        {kind} :: {dummy}" for kind, dummy in dummies]
        lines += [f"        {result} :: value_"] if result else []
        lines += [f"        {kind} :: {dummy}" for kind, dummy in locals_]
        lines += [wrap("        " + line) for line in body] + [f"    end {word}"]
        self.procedures.append("\n".join(lines))


def c_declaration(kind):
    kind = kind.strip()
    base = kind.replace("const ", "").strip()
    if base.endswith("*"):
        return "type(c_ptr), value"
    if base in HANDLES:
        return f"type({base}), value"
    for one in KINDS:
        if one.typed and table.TYPES[one.typed].c == base and base not in SCALARS:
            return one.declared + ", value"
    return {"double": "real(c_double), value"}.get(base) or f"integer({SCALARS[base]}), value"


def kinds_of(row):
    names = set(row.types.names)
    return [kind for kind in KINDS if kind.typed in names]


def moves(row):
    """True for operations that only move bytes: they have forms by size or by bytes."""
    return "#" in row.name or row.name in ("p", "g")


def c_function(row, functions, kind, ctx):
    """Returns the C function that serves a row for a kind, and how many of its units an element has ('' is one)."""
    wanted = [f for f in functions if f.ctx == ctx]
    by = {f.name: f for f in wanted}
    start = model.prefix_of(row) + ("ctx_" if ctx else "")
    if kind.typed and f"{start}{kind.typed}_{row.name.replace('#', '')}" in by:
        return by[f"{start}{kind.typed}_{row.name.replace('#', '')}"], ""
    if kind.sized and start + row.name.replace("#", str(kind.sized)) in by:
        return by[start + row.name.replace("#", str(kind.sized))], ""
    if row.name.startswith("alltoalls"):                    # strides count elements: no form by bytes
        same = next((k for k in KINDS if k.sized == kind.sized and k.suffix in WHOLE), None)
        name = same and f"{start}{same.typed}_{row.name.replace('#', '')}"
        return by.get(name), ""
    return by.get(start + row.name.replace("#", "mem")), kind.bytes


class Call:
    """One procedure in the making: dummies, locals, what is passed to C, and what follows the call."""

    def __init__(self, row, function, kind, unit, public):
        self.row, self.function, self.kind, self.unit, self.public = row, function, kind, unit, public
        self.dummies, self.locals, self.before, self.passed, self.after = [], [], [], [], []
        self.buffers = [name for c, name in function.params if self.is_buffer(c, name)]
        for c, name in function.params:
            self.parameter(c.strip(), name)

    def is_buffer(self, c, name):
        return c.strip().endswith("*") and name not in ("status", "indices", "sig_addr", "req", "reqs", "into", "lock", "cts", "values",
                                                        "provided", "initialized", "major", "minor", "new_team", "target_pes",
                                                        "xaxis_team", "yaxis_team", "ctx", "team", "ct", "config",
                                                        "xaxis_config", "yaxis_config")

    def parameter(self, c, name):
        base = c.replace("const ", "").replace("*", "").strip()
        pointer = c.endswith("*")
        if pointer and name == "status":
            self.dummies.append(("integer(c_int), intent(in), optional, target", "status(*)"))
            self.locals.append(("type(c_ptr)", "status_"))
            self.before += ["status_ = c_null_ptr", "if (present(status)) status_ = c_loc(status)"]
            self.passed.append("status_")
        elif pointer and name == "indices":
            self.dummies.append(("integer, intent(inout)", "indices(*)"))
            self.locals.append(("integer(c_size_t), allocatable, target", "indices_(:)"))
            count = "nelems_" if "nelems" in self.function.names else self.whole("nreqs")
            self.before.append(f"allocate(indices_({count}))")
            self.passed.append("c_loc(indices_)")
            self.after.append("indices(1:value_) = int(indices_(1:value_)) + 1")
        elif pointer and base in HANDLES:
            many = name in ("reqs", "cts")
            self.dummies.append((f"type({base}), intent(inout), target", name + ("(*)" if many else "")))
            self.passed.append(f"c_loc({name})")
        elif pointer and base in CONFIGS:
            way = "in" if c.startswith("const") else "out"
            self.dummies.append((f"type({base}), intent({way}), optional, target", name))
            self.locals.append(("type(c_ptr)", name + "_"))
            self.before += [f"{name}_ = c_null_ptr", f"if (present({name})) {name}_ = c_loc({name})"]
            self.passed.append(name + "_")
        elif pointer and name in ("provided", "initialized", "major", "minor"):
            self.dummies.append(("integer(c_int), intent(out), target", name))
            self.passed.append(f"c_loc({name})")
        elif pointer and name in ("sig_addr", "lock"):
            self.dummies.append((f"integer({SCALARS[base]}), intent(inout), target", name))
            self.passed.append(f"c_loc({name})")
        elif pointer and name == "ptr":                     # of shmem_malloc
            self.dummies.append(("type(c_ptr), intent(in)", name))
            self.passed.append(name)
        elif pointer and name in ("target_pes", "values"):
            self.dummies.append((f"integer({SCALARS[base]}), intent(in), target", name + "(*)"))
            self.passed.append(f"c_loc({name})")
        elif pointer:
            declared = self.kind.declared if self.kind else "type(*)"
            way = "in" if c.startswith("const") else "inout"
            later = ", asynchronous" if re.search(r"_nb[ie]$", self.row.name) and name != "dest_" else ""
            self.dummies.append((f"{declared}, intent({way}), target{later}", f"{name}(..)"))
            self.passed.append(f"at(\"{self.public}\", \"{name}\", {name})")
        elif base in HANDLES:
            self.dummies.append((f"type({base}), intent(in)", name))
            self.passed.append(name)
        elif name in ("nelems", "nreduce") and self.kind:
            self.count(name)
        elif self.kind and self.kind.typed and base == table.TYPES[self.kind.typed].c and name in ("value", "cond", "cmp_value"):
            self.dummies.append((f"{self.kind.declared}, intent(in)", name))
            self.passed.append(name)
        elif base == "double":
            self.dummies.append(("real(c_double), intent(in)", name))
            self.passed.append(name)
        elif base == "int":
            self.dummies.append(("integer, intent(in)", name))
            self.passed.append(f"int({name}, c_int)")
        else:
            self.dummies.append(("class(*), intent(in)", name))
            self.passed.append(self.whole(name))

    def whole(self, name):
        return f"whole(\"{self.public}\", \"{name}\", {name})"

    def count(self, name):
        """nelems: optional; without it, all of the array that is read, or that is written where nothing is read."""
        whole = "dest" if self.row.name.startswith("get") else next(
            one for one in ("source", "ivars", "dest") if one in self.function.names)
        share = " / c_shmem_team_n_pes(team)" if self.row.name.startswith("alltoall") else ""
        self.dummies.append(("class(*), intent(in), optional", name))
        self.locals.append(("integer(c_size_t)", name + "_"))
        self.before += [f"{name}_ = size({whole}, kind=c_size_t){share}", f"if (present({name})) {name}_ = {self.whole(name)}"]
        self.passed.append(name + "_" + (f" * {self.unit.format(whole)}" if self.unit else ""))


def add(module, row, function, kind=None, unit="", generic=None):
    """Adds the procedure of one row, kind and form."""
    generic = generic or function.name
    call = Call(row, function, kind, unit, generic)
    name = f"{function.name if not kind else generic}{'_ctx' if kind and function.ctx else ''}_{kind.suffix if kind else 'f'}"
    c = module.interface(function)
    invoked = f"{c}({', '.join(call.passed)})"
    result, body = function.result.strip(), []
    if result == "void":
        back, body = "", [f"call {invoked}"]
    elif result == "int" and LOGICAL.match(row.name):
        back, body = "logical", [f"value_ = {invoked} /= 0"]
    elif result == "int" and not NUMBER.match(row.name):
        back = ""
        call.dummies.append(("integer, intent(out), optional", "ierror"))
        call.locals.append(("integer(c_int)", "status_of_call"))
        body = [f"status_of_call = {invoked}", f"call settle(\"{generic}\", status_of_call, ierror)"]
    elif result == "size_t" and row.name != "request_pending" and not row.name.endswith(("_some", "_some_vector")):
        back, body = "integer", [f"value_ = position({invoked})"]
    elif result == "size_t":
        back, body = "integer", [f"value_ = int({invoked})"]
    elif result == "void *":
        back, body = "type(c_ptr)", [f"value_ = {invoked}"]
    else:
        back = c_declaration(function.result).replace(", value", "")
        body = [f"value_ = {invoked}"]
    module.procedure(generic, name, back, call.dummies, call.locals, call.before + body + call.after)


def one_element(module, row, kind, ctx, by_name):
    """p and g of types that have no typed form: a put or get of one element."""
    size = str(kind.sized) if kind.sized else "mem"
    function = by_name[f"shmem_{'ctx_' if ctx else ''}{'put' if row.name == 'p' else 'get'}{size}"]
    c = module.interface(function)
    lead = [("type(shmem_ctx_t), intent(in)", "ctx")] if ctx else []
    given = "ctx, " if ctx else ""
    count = "1_c_size_t" if kind.sized else kind.bytes
    name = f"shmem_{row.name}{'_ctx' if ctx else ''}_{kind.suffix}"
    if row.name == "p":
        module.procedure("shmem_p", name, "", lead + [(f"{kind.declared}, intent(inout), target", "dest(..)"),
                                                      (f"{kind.declared}, intent(in), target", "value"), ("integer, intent(in)", "pe")],
                         [], [f"call {c}({given}at(\"shmem_p\", \"dest\", dest), at(\"shmem_p\", \"value\", value), "
                              f"{count.format('value')}, int(pe, c_int))"])
    else:
        back = kind.declared.replace("len=*", "len=len(source)")
        module.procedure("shmem_g", name, back + ", target",
                         lead + [(f"{kind.declared}, intent(in), target", "source(..)"), ("integer, intent(in)", "pe")],
                         [], [f"call {c}({given}at(\"shmem_g\", \"value\", value_), at(\"shmem_g\", \"source\", source), "
                              f"{count.format('source')}, int(pe, c_int))"])


def typed_row(module, row, by_name):
    functions = list(model.expand_row(row))
    generic = model.generic_name(row)
    kinds = KINDS if moves(row) else kinds_of(row)
    for ctx in (False, True) if "ctx" in row.forms.split() else (False,):
        for kind in kinds:
            if row.name in ("p", "g") and kind.typed not in row.types.names:
                one_element(module, row, kind, ctx, by_name)
                continue
            function, unit = c_function(row, functions, kind, ctx)
            if function is None:
                continue
            add(module, row, function, kind, unit, generic)


def plain_row(module, row):
    for function in model.expand_row(row):
        generic = function.name.replace("shmem_ctx_", "shmem_") if "generic" in row.forms else function.name
        add(module, row, function, generic=generic)
        if generic != function.name:
            module.generics.setdefault(function.name, []).append(module.generics[generic][-1])


def bytes_rows(module, row):
    """The forms by bytes take whatever type, derived ones too."""
    for function in model.expand_row(row):
        if function.bytes == 1 and function.type is None and function.name.replace("ctx_", "").endswith(
                row.name.replace("#", "mem")):
            add(module, row, function)


ALLOCATE = """\
    subroutine shmem_allocate_{suffix}{wide}(array, shape)
        {declared}, pointer, intent(inout) :: array(..)
        {integer}, intent(in){optional} :: shape(:)
        type(c_ptr) :: memory
        integer(c_size_t) :: count
        count = 1
        {present}count = product(int(shape, c_size_t))
        memory = c_shmem_malloc(max(1_c_size_t, count) * {bytes})
        select rank (array)
        rank (0)
            nullify(array)
            if (c_associated(memory)) call c_f_pointer(memory, array)
{ranks}
        end select
    end subroutine
"""
RANK = """\
        rank ({0})
            nullify(array)
            if (c_associated(memory)) call c_f_pointer(memory, array, shape)"""
DEALLOCATE = """\
    subroutine shmem_deallocate_{suffix}(array)
        {declared}, pointer, intent(inout) :: array(..)
        call c_shmem_free(at("shmem_deallocate", "array", array))
        select rank (array)
{ranks}
        end select
    end subroutine
"""


def allocation(module):
    for kind in KINDS[:-1]:
        for wide, integer in (("", "integer"), ("_w", "integer(c_int64_t)")):
            module.generics.setdefault("shmem_allocate", []).append(f"shmem_allocate_{kind.suffix}{wide}")
            module.procedures.append(ALLOCATE.format(
                suffix=kind.suffix, wide=wide, optional="" if wide else ", optional",
                present="" if wide else "if (present(shape)) ", declared=kind.declared, integer=integer, bytes=kind.bytes,
                ranks="\n".join(RANK.format(rank) for rank in range(1, 8))).rstrip())
        module.generics.setdefault("shmem_deallocate", []).append("shmem_deallocate_" + kind.suffix)
        module.procedures.append(DEALLOCATE.format(suffix=kind.suffix, declared=kind.declared, ranks="\n".join(
            f"        rank ({rank})\n            nullify(array)" for rank in range(0, 8))).rstrip())


def constants():
    lines = []
    for comment, pairs in table.CONSTANTS:
        if comment.startswith("Deprecated"):
            continue
        for name, value in pairs:
            name = re.sub("^SHMEM_SIGNAL_", "SHMEM_SIGNAL_OP_", name)    # shmem_signal_add is a procedure, in any letters
            shifted = re.fullmatch(r"\(1L << (\d)\)", value)
            lines.append(f"    integer, parameter, public :: {name} = {2 ** int(shifted[1]) if shifted else value}")
    return "\n".join(lines)


TYPES = "".join(f"""\
    type, bind(c), public :: {name}
        private
        integer(c_intptr_t) :: handle = 0
    end type
""" for name in HANDLES) + """\
    type, bind(c), public :: shmem_team_config_t
        integer(c_int) :: num_contexts = 0
    end type
    type, bind(c), public :: shmem_ctx_session_config_t
        integer(c_size_t) :: total_ops = 0
    end type
    type(shmem_ctx_t), parameter, public :: SHMEM_CTX_INVALID = shmem_ctx_t(0)
    type(shmem_ctx_t), parameter, public :: SHMEM_CTX_DEFAULT = shmem_ctx_t(1)
    type(shmem_team_t), parameter, public :: SHMEM_TEAM_INVALID = shmem_team_t(0)
    type(shmem_team_t), parameter, public :: SHMEM_TEAM_WORLD = shmem_team_t(1)
    type(shmem_team_t), parameter, public :: SHMEM_TEAM_SHARED = shmem_team_t(2)
    type(shmemx_request_t), parameter, public :: SHMEMX_REQUEST_NULL = shmemx_request_t(0)
    integer, parameter, public :: SHMEMX_REQUEST_SHARED = 1, SHMEMX_REQUEST_PRIVATE = 2

    interface operator(==)
        procedure same_team, same_ctx, same_request
    end interface
    interface operator(/=)
        procedure other_team, other_ctx, other_request
    end interface
    public :: operator(==), operator(/=)
    public :: shmem_info_get_name
"""


def comparisons():
    return "\n".join(f"""\
    elemental logical function same_{what}(a, b)
        type({name}), intent(in) :: a, b
        same_{what} = a%handle == b%handle
    end function
    elemental logical function other_{what}(a, b)
        type({name}), intent(in) :: a, b
        other_{what} = a%handle /= b%handle
    end function""" for what, name in (("team", "shmem_team_t"), ("ctx", "shmem_ctx_t"), ("request", "shmemx_request_t")))


HELPERS = """\
    ! The address of what a caller gave. A section with gaps has no one address, and a copy of it would not be symmetric.
    function at(call_, what, x) result(address)
        character(len=*), intent(in) :: call_, what
        type(*), target :: x(..)
        type(c_ptr) :: address
        if (.not. is_contiguous(x)) call fatal(call_ // ": " // what // &
            " has gaps between its elements; use shmem_iput or shmem_iget, or a copy")
        address = c_loc(x)
    end function
    ! A count, a value of 8 bytes or a mask, of whatever kind of integer.
    function whole(call_, what, n) result(value_)
        character(len=*), intent(in) :: call_, what
        class(*), intent(in) :: n
        integer(c_int64_t) :: value_
        value_ = 0
        select type (n)
        type is (integer(c_int32_t))
            value_ = n
        type is (integer(c_int64_t))
            value_ = n
        type is (integer(c_int16_t))
            value_ = n
        type is (integer(c_int8_t))
            value_ = n
        class default
            call fatal(call_ // ": " // what // " is no integer")
        end select
    end function
    ! Where C counts elements from 0 and has SIZE_MAX for none, Fortran counts from 1 and has 0.
    integer function position(index)
        integer(c_size_t), intent(in) :: index
        position = int(index + 1)
    end function
    subroutine settle(what, status, ierror)
        character(len=*), intent(in) :: what
        integer(c_int), intent(in) :: status
        integer, intent(out), optional :: ierror
        if (present(ierror)) then
            ierror = status
        else if (status /= 0) then
            call fatal(what // " failed; the argument ierror lets a program see that")
        end if
    end subroutine
    subroutine fatal(line)
        character(len=*), intent(in) :: line
        write (error_unit, "(a,i0,a)") "lateral: PE ", c_shmem_my_pe(), ": " // line
        flush (error_unit)
        call c_shmem_global_exit(1_c_int)
    end subroutine
    subroutine shmem_info_get_name(name)
        character(len=*), intent(out) :: name
        character(kind=c_char), target :: text(SHMEM_MAX_NAME_LEN)
        integer :: i
        call c_shmem_info_get_name(c_loc(text))
        name = ""
        do i = 1, min(len(name), SHMEM_MAX_NAME_LEN)
            if (text(i) == c_null_char) exit
            name(i:i) = text(i)
        end do
    end subroutine"""


def add_row(module, row, by_name):
    if row.old or row.name in OMITTED:
        return
    if row.types:
        typed_row(module, row, by_name)
        bytes_rows(module, row)
    else:
        plain_row(module, row)


def synopsis(row, by_name):
    """Yields a line for each name that a row has in Fortran, for readers: arguments that may be left out stand in brackets."""
    module = Module()
    add_row(module, row, by_name)
    for name, (result, dummies) in module.forms.items():
        text = "[ctx, ]" if row.types and "ctx" in row.forms.split() and "ctx_" not in name else ""
        for number, (kind, dummy) in enumerate(dummies):
            between, dummy = ", " if number else "", dummy.split("(")[0]
            text += f"[{between}{dummy}]" if "optional" in kind else between + dummy
        yield f"{'value = ' if result else 'call '}{name}({text})"


def write(out, functions):
    module = Module()
    by_name = {function.name: function for function in functions}
    for row in table.TABLE:
        add_row(module, row, by_name)
    for name in ("shmem_info_get_name", "shmem_malloc", "shmem_free", "shmem_my_pe", "shmem_global_exit", "shmem_team_n_pes"):
        module.interface(by_name[name])
    allocation(module)
    text = [HEAD + "module shmem\n    use, intrinsic :: iso_c_binding\n    use, intrinsic :: iso_fortran_env, only: error_unit\n"
            "    implicit none\n    private\n", constants(), "", TYPES]
    for generic, members in module.generics.items():
        text.append(f"    interface {generic}\n" + wrap("        procedure " + ", ".join(members)) +
                    f"\n    end interface\n    public :: {generic}")
    text.append("    interface")
    text += module.imports.values()
    text += ["    end interface", "contains", HELPERS, comparisons()] + module.procedures + ["end module", ""]
    out.write("include/shmem.f90", "\n".join(text))
