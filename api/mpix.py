#!/usr/bin/env python3
"""Writes the Fortran module mpix_rma from include/mpix_rma.h, and the C functions below it: `mpix.py MODULE C`.

Each function has a form with the handles of mpi_f08, whose ierror is optional, and one with the integers of mpi.
"""
import pathlib
import re
import sys

import declared

HEAD = """\
! The functions of mpix_rma.h for Fortran, for programs that use mpi or mpi_f08; mpix_rma(3) says what they do. Generated
! from mpix_rma.h.
!
!   use mpi_f08                      use mpi
!   use mpix_rma                     use mpix_rma
!   type(MPI_Win) :: win             integer :: win
!   call MPIX_Put_notify(..., win)   call MPIX_Put_notify(..., win, ierror)
!
! Handles are those of the module that the program uses: every function has a form for types (MPI_Win, MPI_Request, ...),
! whose ierror is optional, and one for integers. Buffers are of any type and rank; they must be contiguous, and have to
! stay in place as for MPI_Put. Displacements and sizes of memory are integer(kind=MPI_ADDRESS_KIND), counts of
! notifications integer(kind=c_long). A list of operations ends with c_null_char. Link as for C; there is no library besides
! the layer.
module mpix_rma
    use, intrinsic :: iso_c_binding, only: c_long
    use mpi_f08, only: MPI_Win, MPI_Info, MPI_Datatype, MPI_Op, MPI_Request, MPI_ADDRESS_KIND
    implicit none
    private
"""
HANDLES = ("MPI_Win", "MPI_Info", "MPI_Datatype", "MPI_Op", "MPI_Request")


def dummy(c, name, f08):
    """The declaration of one argument, and what it imports."""
    base, pointer = c.replace("const ", "").replace("*", "").strip(), "*" in c
    way = "out" if pointer else "in"
    if base in ("void", "char"):
        intent = ", intent(in)" if c.startswith("const") else ""
        return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"!DIR$ IGNORE_TKR {name}", f"type(*){intent} :: {name}(*)"], None
    if base in HANDLES:
        return [f"{f'type({base})' if f08 else 'integer'}, intent({way}) :: {name}"], base if f08 else None
    if base == "MPI_Aint":
        return [f"integer(kind=MPI_ADDRESS_KIND), intent({way}) :: {name}"], "MPI_ADDRESS_KIND"
    if base == "long":
        return [f"integer(kind=c_long), intent({way}) :: {name}"], "c_long"
    return [f"{'logical' if name == 'flag' else 'integer'}, intent({way}) :: {name}"], None


def procedure(name, parameters, f08):
    names = [parameter for _, parameter in parameters] + ["ierror"]
    told = [dummy(c, parameter, f08) for c, parameter in parameters]
    imports = list(dict.fromkeys(one for _, one in told if one))
    lines = [f"        subroutine {name.lower()}_{'f08' if f08 else 'int'}( &"]
    lines += [f"            {', '.join(names[i:i + 6])}{', &' if i + 6 < len(names) else ') &'}" for i in range(0, len(names), 6)]
    lines += [f"            bind(C, name=\"lmpi{name[4:].lower()}_{'f08' if f08 else 'f'}\")"]
    lines += [f"            import :: {', '.join(imports)}"] if imports else []
    lines += ["            " + line for declaration, _ in told for line in declaration]
    return lines + [f"            integer, {'optional, ' if f08 else ''}intent(out) :: ierror", "        end subroutine"]


def functions(section):
    """(name, parameters) of each function; a parameter is its type in C and its name."""
    for name, prototype, _ in section.functions:
        parameters = [re.fullmatch(r"\s*(.*?[ *])(\w+)\s*", part).groups() for part in prototype[prototype.index("(") + 1:-2].split(",")]
        yield name, [(c.strip(), "datatype" if word == "type" else word) for c, word in parameters]


def module(section):
    lines = [HEAD]
    for item in section.items:
        for code in item.types:
            constant = re.fullmatch(r"#define (MPIX_\w+) (0x([0-9a-f]+)|\d+)", code)
            if constant:
                value = f"int(z'{constant[3]}')" if constant[3] else constant[2]
                lines.append(f"    integer, parameter, public :: {constant[1]} = {value}")
    lines += [""] + [f"    public :: {name}" for name, _, _ in section.functions]
    for name, parameters in functions(section):
        lines += ["", f"    interface {name}", *procedure(name, parameters, False), *procedure(name, parameters, True), "    end interface"]
    return "\n".join(lines + ["end module mpix_rma", ""])


C_HEAD = """\
/* The C side of the Fortran module mpix_rma: handles come as the integers that they are in Fortran, also inside of the types of
 * mpi_f08, which have that one component. Generated from mpix_rma.h. */
#include "mpi/core/real.h"
#include "mpix_rma.h"
"""


def below(name, parameters):
    """The C function of both forms."""
    taken, passed, before, behind = [], [], [], []
    for c, word in parameters:
        base, pointer = c.replace("const ", "").replace("*", "").strip(), "*" in c
        kind = base.replace("MPI_Data", "").capitalize() if base == "MPI_Datatype" else base[4:]
        if base in HANDLES and pointer:
            before.append(f"    {base} made_{word} = {base.upper()}_NULL;")
            behind.append(f"    if (status == MPI_SUCCESS)\n        *{word} = P{base}_c2f(made_{word});")
        elif base == "int" and pointer:
            before.append(f"    int made_{word} = 0;")
            behind.append(f"    *{word} = made_{word};")
        made = pointer and (base in HANDLES or base == "int")
        integer = base in HANDLES or base == "int"
        taken.append(f"{c} {word}" if pointer and not made else f"{'' if pointer else 'const '}{'MPI_Fint' if integer else base} *{word}")
        passed.append(f"&made_{word}" if made else word if pointer else f"PMPI_{kind}_f2c(*{word})" if base in HANDLES else f"*{word}")
    symbol, arguments = f"lmpi{name[4:].lower()}", ", ".join([*taken, "MPI_Fint *ierror"])
    return ["", f"LMPI_EXPORT void {symbol}_f({arguments});",
            f'LMPI_EXPORT extern __typeof__({symbol}_f) {symbol}_f08 __attribute__((alias("{symbol}_f")));',
            f"void {symbol}_f({arguments})", "{", *before, f"    const int status = {name}({', '.join(passed)});", *behind,
            "    if (ierror)", "        *ierror = status;", "}"]


def c_side(section):
    lines = [C_HEAD, "#ifndef MPI_ABI /* Fortran has no part in the binary interface of MPI 5 */"]
    for name, parameters in functions(section):
        lines += below(name, parameters)
    return "\n".join([*lines, "#endif", ""])


if __name__ == "__main__":
    declarations = declared.sections("mpix_rma.h")[""]
    for target, text in zip(sys.argv[1:], (module(declarations), c_side(declarations)), strict=True):
        pathlib.Path(target).write_text(text, encoding="utf-8")
