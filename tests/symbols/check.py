#!/usr/bin/env python3
"""Holds the table, the headers and the library to the facts of OpenSHMEM 1.6 (facts/).

    check.py table ROOT                      the table's prototypes are the standard's
    check.py headers ROOT GENERATED CC       so are those in the headers, with generics and constants
    check.py library ROOT LIBRARY NM         the library exports them, and nothing that is not ours
    check.py by-hand ROOT GENERATED          functions that the generator does not call are called by hand
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
FACTS = pathlib.Path(__file__).parent / "facts"
OURS = re.compile(r"p?shmemx_|uccs_|lat_check_|LATERAL_|PMIx_Initialized$|_Fork$|GLIBC_")


def fact_lines(name):
    return [line.strip() for line in (FACTS / name).read_text().splitlines() if line.strip() and line[0] != "#"]


def name_of(prototype):
    return re.search(r"(\w+)\(", prototype).group(1)


def facts():
    """{name: prototype}, and the set of deprecated names."""
    types, sets, want, old = {}, {}, {}, set()
    for line in fact_lines("prototypes.txt"):
        first, rest = line.removeprefix("old ").split(" ", 1)
        if first in ("type", "set"):
            name, value = rest.split(" ", 1)
            (types if first == "type" else sets)[name] = value
            continue
        for member in sets[first].split() if first in sets else [""]:
            prototype = rest.replace("TYPENAME", member).replace("TYPE", types.get(member, "")).replace("SIZE", member)
            prototype = (prototype if first in sets else line.removeprefix("old ")).rstrip(";")
            want[name_of(prototype)] = prototype
            old |= {name_of(prototype)} if line.startswith("old ") else set()
    return want, old


def compare(what, want, have):
    """Lines that tell how two mappings or sets differ."""
    wrong = [f"{what}: {name} is missing" for name in sorted(set(want) - set(have))]
    wrong += [f"{what}: {name} is not of the standard" for name in sorted(set(have) - set(want))]
    if isinstance(want, dict):
        wrong += [f"{what}: {have[name]}\n  should be {want[name]}" for name in want if have.get(name, want[name]) != want[name]]
    return wrong


def table(root):
    sys.path.insert(0, str(pathlib.Path(root, "api")))
    import model
    want, old = facts()
    mine = [f for f in model.functions() if f.row.header == "shmem.h"]
    generics = {model.generic_name(f.row) for f in mine if "generic" in f.row.forms}
    return (compare("prototype", want, {f.name: f.prototype() for f in mine})
            + compare("deprecated", old, {f.name for f in mine if f.old})
            + compare("generic", set(fact_lines("generics.txt")), generics))


def preprocess(compiler, generated, header, *options):
    return subprocess.run([compiler, "-std=c11", "-x", "c", f"-I{generated}/include", *options, "-E", "-"],
                          input=f"#include <{header}>\n", capture_output=True, text=True, check=True).stdout


def declared(text, pattern):
    """Prototypes in preprocessed text, spelled as in the facts."""
    text = re.sub(r"__attribute__\(\((?:deprecated|noreturn)\)\) ", "", text)
    lines = [line.strip().rstrip(";") for line in text.splitlines()]
    return {name_of(line): line for line in lines if re.match(r"[a-z].*\);?$", line) and re.fullmatch(pattern, name_of(line))}


def headers(root, generated, compiler):
    want, _ = facts()
    names = "|".join(want)
    text = preprocess(compiler, generated, "shmem.h", "-P")
    wrong = compare("shmem.h", want, declared(text, names))
    profiling = {f"p{name}": line.replace(f"{name}(", f"p{name}(") for name, line in want.items()}
    wrong += compare("pshmem.h", profiling, declared(preprocess(compiler, generated, "pshmem.h", "-P"), "|".join(profiling)))
    macros = set(re.findall(r"#define (\w+)", preprocess(compiler, generated, "shmem.h", "-dM")))
    wrong += [f"shmem.h: no generic {name}" for name in fact_lines("generics.txt") if name not in macros]
    wrong += [f"shmem.h: no constant {name}" for name in fact_lines("constants.txt")
              if name not in macros and not re.search(rf"\b{name};", text)]
    for header in ("shmemx.h", "mpp/shmem.h", "mpp/shmemx.h"):
        wrong += [f"{header} does not give shmem.h"] if "shmem_init(" not in preprocess(compiler, generated, header, "-P") else []
    return wrong


def library(root, path, nm):
    want, _ = facts()
    lines = subprocess.run([nm, "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = {line.split()[-1].split("@")[0]: line.split()[-2] for line in lines}
    handles = {name for name in fact_lines("constants.txt") if name in kinds}
    have = {name for name in kinds if not OURS.match(name)} - handles
    wrong = compare("exported", set(want) | {f"p{name}" for name in want}, have)
    wrong += [f"exported: {name} is not weak: a profiling library could not replace it in a static program"
              for name in want if kinds.get(name, "W") != "W"]
    return wrong


def by_hand(root, generated):
    here = pathlib.Path(__file__).parent
    text = "".join(path.read_text() for path in sorted(here.glob("*.[ch]*")))
    names = pathlib.Path(generated, "tests", "by_hand.txt").read_text().split()
    return [f"no test calls {name}" for name in names if not re.search(rf"\b{name}\(", text)]


def main():
    modes = {"table": table, "headers": headers, "library": library, "by-hand": by_hand}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    wrong = modes[sys.argv[1]](*sys.argv[2:])
    print("\n".join(wrong[:40]) or "as the standard says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
