#!/usr/bin/env python3
"""The include rule: dependencies point down only (docs/ARCHITECTURE.md).

usage: check.py ROOT    reads every #include "..." of ROOT/src and ROOT/launch; prints each
                        violation as file:line and exits 1 when there is one
       check.py --self  plants violations in a copy of its own making and must find each of them
"""
import pathlib
import re
import sys
import tempfile

# folder: the folders that it stands on directly. It may use those, and all that they stand on.
# A file belongs to the longest folder that holds it.
STANDS_ON = {
    "src/base": [],
    "src/rte": ["src/base"],
    "src/net": ["src/net/auth"],
    "src/uccs/core": ["src/rte", "src/net", "src/net/auth"],
    "src/uccs/comp": ["src/uccs/core"],
    "src/uccs/mem": ["src/uccs/comp"],
    "src/uccs/proto": ["src/uccs/mem"],
    "src/uccs/team": ["src/uccs/proto"],
    "src/uccs/am": ["src/uccs/proto"],
    "src/uccs/rma": ["src/uccs/team", "src/uccs/am"],
    "src/uccs/coll": ["src/uccs/team", "src/uccs/am"],
    "src/uccs": ["src/uccs/am"],  # the life of the substrate, which its users begin
    "src/uccs/api": ["src/uccs", "src/uccs/rma", "src/uccs/coll"],
    "src/shmem": ["src/uccs", "src/uccs/rma", "src/uccs/coll"],
    "src/mpi/core": [],  # <uccs.h>, and what ALSO names; so are the others
    "src/mpi/memory": ["src/mpi/core"],
    "src/mpi/datatype": ["src/mpi/core"],
    "src/mpi/window": ["src/mpi/memory"],
    "src/mpi/sync": ["src/mpi/window"],
    "src/mpi/ops": ["src/mpi/window", "src/mpi/datatype"],
    "src/mpi/create": ["src/mpi/ops"],
    "src/mpi/init": ["src/mpi/create"],
    "src/mpi/fortran": ["src/mpi/create"],
    "src/net/auth": ["src/base"],
    "launch": ["src/base", "src/net/auth"],
}
# single headers beyond that: the layout that the launcher shares with the library; the hash and the copy, which a layer compiles for itself
ALSO = {"launch": {"src/rte/node.h"}, "src/mpi/window": {"src/base/siphash.h", "src/base/where.h"}, "src/mpi/create": {"src/base/siphash.h"},
        "src/mpi/ops": {"src/base/copy.h"}, "src/mpi/init": {"src/base/file.h", "src/base/pack.h"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def allowed_from(folder):
    """The folders whose files a file of `folder` may use."""
    found = {folder}
    for below in STANDS_ON[folder]:
        found |= allowed_from(below)
    return found


ALLOWED = {folder: allowed_from(folder) for folder in STANDS_ON}


def folder_of(name):
    """The folder of STANDS_ON that holds the file `name` (relative to the root), or None."""
    parents = [str(parent) for parent in pathlib.PurePosixPath(name).parents]
    return next((parent for parent in parents if parent in STANDS_ON), None)


def target_of(root, file, name):
    """What `#include "name"` in `file` reaches, relative to root; None: a generated or public header."""
    for start in (file.parent, root / "src"):
        target = (start / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return str(target.relative_to(root))
    guess = str(pathlib.PurePosixPath("src") / name)
    return guess if folder_of(guess) else None


def violations(root):
    for file in sorted(path for top in ("src", "launch") for path in (root / top).rglob("*.[ch]")):
        folder = folder_of(file.relative_to(root))
        if not folder:
            yield f"{file.relative_to(root)}: no row of STANDS_ON holds this file"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and target_of(root, file, match.group(1))
            if not target or target in ALSO.get(folder, ()):
                continue
            if folder_of(target) and folder_of(target) not in ALLOWED[folder]:
                yield f'{file.relative_to(root)}:{number}: {folder} may not include "{match.group(1)}"'


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


GOOD = {
    "src/uccs/core/wait.h": '#include "base/atomic.h"\n#include "rte/rte.h"\n#include "net/transport.h"\n',
    "src/uccs/am/am.h": '#include "uccs/core/wait.h"\n',
    "src/uccs/coll/a.c": '#include "inner.h"\n#include "uccs/am/am.h"\n#include "uccs/core/wait.h"\n',
    "src/shmem/init.c": '#include <stdio.h>\n#include "shmem.h"\n#include "uccs/coll/coll.h"\n',
    "launch/oshrun.c": '#include "rte/node.h"\n#include "base/log.h"\n',
}
BAD = {
    "src/base/a.c": '#include "rte/rte.h"\n',
    "src/rte/a.c": '  #  include "net/transport.h"\n',
    "src/net/shm/a.c": '#include "../../uccs/core/wait.h"\n',
    "src/uccs/core/a.c": '\n#include "uccs/comp/request.h"\n',
    "src/uccs/am/a.c": '#include "uccs/team/team.h"\n',
    "src/uccs/team/a.h": '#include "../am/am.h"\n',
    "src/uccs/rma/a.c": '#include "uccs/coll/coll.h"\n',
    "src/uccs/api/a.c": '#include "shmem/init.h"\n',
    "src/uccs/coll/b.c": '#include "uccs/life.h"\n',
    "src/uccs/life.c": '#include "uccs/rma/rma.h"\n',
    "src/shmem/coll/a.h": '#include "uccs/api/inner.h"\n',
    "src/elsewhere/a.c": "\n",
    "launch/a.c": '#include "rte/rte.h"\n',
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in GOOD.items():
            plant(root, name, text)
        assert not list(violations(root)), f"a clean tree must pass: {list(violations(root))}"
        for name, text in BAD.items():
            plant(root, name, text)
        found = {line.split(":")[0] for line in violations(root)}
        assert found == set(BAD), f"missed {set(BAD) - found}, invented {found - set(BAD)}"
    print(f"found all {len(BAD)} planted violations")


def main():
    if sys.argv[1:] == ["--self"]:
        return self_test()
    root = pathlib.Path(sys.argv[1]).resolve()
    assert any((root / "src").rglob("*.c")), "no sources there: wrong folder?"
    found = list(violations(root))
    print("\n".join(found) or "dependencies point down only")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
