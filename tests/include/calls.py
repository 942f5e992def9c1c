#!/usr/bin/env python3
"""The include rule once more, on object files: calls can hide behind a header of a lower folder.

usage: calls.py NM OBJECT...    no object may need a symbol that is defined in a folder which its own does not stand on
                                (check.py), and no objects of a library, of launch/ or of tools/race may need each other in a circle;
                                prints each violation and exits 1 when there is one
       calls.py --self          plants violations among symbols of its own making and must find each of them
"""
import pathlib
import posixpath
import subprocess
import sys

from check import ALLOWED, ALSO, folder_of

# where the objects of these targets come from
TARGETS = {"lateral_objects.dir": "src", "oshrun.dir": "launch", "lateral_mpi_openmpi.dir": "src/mpi",
           "lateral_mpi_mpich.dir": "src/mpi", "lateral_mpi_abi.dir": "src/mpi", "lateral_race.dir": "tools/race"}

STANDS_IN = {"memcpy", "memmove", "memset"}    # of libc, whom tools/race stands in front of: any of its files calls them


def source_of(objfile):
    """.../lateral_objects.dir/uccs/am/send.c.o -> src/uccs/am/send.c; generated code belongs to src/shmem, that of MPI to src/mpi/fortran."""
    parts = pathlib.PurePath(objfile).parts
    at = next(i for i, part in enumerate(parts) if part in TARGETS)
    inside = parts[at + 1:]
    if "generated" in inside:
        inside = ("shmem" if TARGETS[parts[at]] == "src" else "fortran", inside[-1])
    outside = [".." if part == "__" else part for part in inside]       # a source of another folder
    return posixpath.normpath(posixpath.join(TARGETS[parts[at]], *outside)).removesuffix(".o")


def symbols(nm, objfiles):
    """{object: (the names that it defines for others, those that it needs)}."""
    out = subprocess.run([nm, "-A", "-P", "-g", *objfiles], check=True, capture_output=True, text=True).stdout
    found = {objfile: (set(), set()) for objfile in objfiles}
    for line in out.splitlines():
        objfile, row = line.split(": ", 1)
        name, kind = row.split()[:2]
        found[objfile][kind in "Uwv"].add(name)
    return found


def arrows(tables):
    """{file: {other file: names}} of what each file needs of others. tables: {file: (defined, needed)}."""
    home = {name: file for file, (defined, _) in tables.items() for name in defined}
    found = {file: {} for file in tables}
    for file, (defined, needed) in tables.items():
        for name in needed - defined:
            if name in home:
                found[file].setdefault(home[name], set()).add(name)
    return found


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for other in graph[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def circles(graph):
    """Sets of files that all need each other, directly or through others."""
    reached = {file: reach(graph, file) for file in graph}
    return {frozenset(other for other in reached[file] if file in reached[other])
            for file in graph if file in reached[file]}


def ties(graph, members):
    """What ties a circle, one line for each arrow."""
    for file in sorted(members):
        for other in sorted(members & graph[file].keys()):
            yield f"  {file} -> {other}: {', '.join(sorted(graph[file][other]))}"


def violations(tables):
    graph = arrows(tables)
    for file in sorted(graph):
        for other, names in sorted(graph[file].items()):
            if folder_of(other) not in ALLOWED[folder_of(file)] and other.removesuffix("c") + "h" not in ALSO.get(folder_of(file), ()):
                yield f"{file}: {folder_of(file)} may not need {', '.join(sorted(names))} of {other}"
    yield from circles_of(graph)


def circles_of(graph):
    for members in sorted(circles(graph), key=sorted):
        yield "\n".join([f"{len(members)} files need each other in a circle:", *ties(graph, members)])


def tool_violations(tables):
    """The files of a tool have no folders; they may not need each other in a circle."""
    yield from circles_of(arrows({file: (defined, needed - STANDS_IN) for file, (defined, needed) in tables.items()}))


GOOD = {
    "src/base/log.c": ({"log_line"}, {"write"}),
    "src/uccs/core/wait.c": ({"wait"}, {"log_line"}),
    "src/uccs/am/send.c": ({"send"}, {"poll", "wait"}),
    "src/uccs/am/receive.c": ({"poll"}, {"wait", "log_line"}),
    "src/uccs/team/team.c": ({"meet"}, {"wait"}),
    "src/shmem/init.c": ({"init"}, {"meet", "send"}),
}
# what is added to a file of GOOD, and the violation that must be told
BAD = [
    ("src/base/log.c", "wait", "src/base may not need wait of src/uccs/core/wait.c"),
    ("src/uccs/core/wait.c", "poll", "src/uccs/core may not need poll of src/uccs/am/receive.c"),
    ("src/uccs/team/team.c", "send", "src/uccs/team may not need send of src/uccs/am/send.c"),
    ("src/uccs/am/receive.c", "init", "src/uccs/am may not need init of src/shmem/init.c"),
    ("src/base/log.c", "wait", "2 files need each other in a circle:"),
]


def self_test():
    assert source_of("b/lateral_objects.dir/uccs/am/send.c.o") == "src/uccs/am/send.c"
    assert source_of("b/lateral_objects.dir/__/generated/thunks_rma.c.o") == "src/shmem/thunks_rma.c"
    assert source_of("b/lateral_mpi_mpich.dir/ops/rma.c.o") == "src/mpi/ops/rma.c"
    assert source_of("b/lateral_mpi_mpich.dir/__/base/siphash.c.o") == "src/base/siphash.c"
    assert not list(violations(GOOD)), f"clean tables must pass: {list(violations(GOOD))}"
    for file, name, told in BAD:
        defined, needed = GOOD[file]
        found = list(violations({**GOOD, file: (defined, needed | {name})}))
        assert any(told in line for line in found), f"{file} needs {name}: found {found}, not: {told}"
    tool = {"tools/race/low.c": ({"low", "memcpy"}, set()), "tools/race/high.c": ({"high"}, {"low", "memcpy"})}
    assert not list(tool_violations(tool))
    tool["tools/race/low.c"][1].add("high")
    assert "2 files need each other in a circle:" in next(tool_violations(tool))
    print(f"found all {len(BAD) + 1} planted violations")


def main():
    if sys.argv[1:] == ["--self"]:
        return self_test()
    nm, *objects = sys.argv[1:]
    assert objects, "no objects there"
    tables = {source_of(objfile): names for objfile, names in symbols(nm, objects).items()}
    found = []
    for top in ("src", "launch"):   # two programs, whose names have nothing to do with each other
        found += violations({file: table for file, table in tables.items() if file.startswith(top + "/")})
    found += tool_violations({file: table for file, table in tables.items() if file.startswith("tools/")})
    print("\n".join(found) or "no object needs a symbol of a folder above, and there is no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
