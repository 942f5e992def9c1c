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

# folder: what its files may include besides themselves
BELOW = {
    "src/base": {"base"},
    "src/rte": {"base", "rte"},
    "src/transport": {"base", "transport"},
    "src/uccs": {"base", "rte", "transport", "uccs"},
    "src/shmem": {"base", "rte", "transport", "uccs", "shmem"},
    "src/mpi": {"base", "rte", "transport", "uccs", "mpi"},
    "launch": {"base", "launch"},
}
# single headers beyond that: the layout that the launcher shares with the library
ALSO = {"launch": {"rte/node.h"}}
LAYERS = {folder.rpartition("/")[2] for folder in BELOW}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def layer_of(root, file, name):
    """The layer that `#include "name"` in file reaches; None: a generated or public header."""
    beside = (file.parent / name).resolve()
    for folder in (root / "src", root):
        if beside.is_file() and beside.is_relative_to(folder.resolve()):
            parts = beside.relative_to(folder.resolve()).parts
            return parts[0] if len(parts) > 1 and parts[0] in LAYERS else None
    first = pathlib.PurePosixPath(name).parts[0]
    return first if first in LAYERS else None


def violations(root):
    for folder, allowed in BELOW.items():
        for file in sorted((root / folder).rglob("*.[ch]")):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or match.group(1) in ALSO.get(folder, ()):
                    continue
                layer = layer_of(root, file, match.group(1))
                if layer and layer not in allowed:
                    yield f'{file.relative_to(root)}:{number}: {folder} may not include "{match.group(1)}"'


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        plant(root, "src/uccs/put.h", '#include "base/atomic.h"\n#include "rte/rte.h"\n#include "transport/transport.h"\n')
        plant(root, "src/shmem/init.c", '#include <stdio.h>\n#include "shmem.h"\n#include "uccs/put.h"\n')
        plant(root, "launch/oshrun.c", '#include "rte/node.h"\n#include "base/log.h"\n')
        assert not list(violations(root)), "a clean tree must pass"
        bad = {
            "src/base/a.c": '#include "rte/rte.h"\n',
            "src/rte/a.c": '  #  include "transport/transport.h"\n',
            "src/transport/shm/a.c": '#include "../../uccs/put.h"\n',
            "src/uccs/a.c": '\n#include "shmem/init.h"\n',
            "src/shmem/coll/a.h": '#include "mpi/win.h"\n',
            "launch/a.c": '#include "rte/rte.h"\n',
        }
        for name, text in bad.items():
            plant(root, name, text)
        found = {line.split(":")[0] for line in violations(root)}
        assert found == set(bad), f"missed {set(bad) - found}, invented {found - set(bad)}"
    print(f"found all {len(bad)} planted violations")


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
