#!/usr/bin/env python3
"""A layer stands on <uccs.h> alone: its objects need nothing else of the substrate.

usage: alone.py NM HEADER LAYER-OBJECT... -- SUBSTRATE-OBJECT...
                         no object of the layer may need a symbol of the substrate that HEADER, or a header beside it that it
                         includes, does not declare; prints each violation and exits 1 when there is one
       alone.py --self   plants violations among symbols of its own making and must find each of them
"""
import pathlib
import re
import sys
import tempfile

from calls import symbols

INCLUDE = re.compile(r"^#include <([^>]+)>", re.MULTILINE)
DECLARATION = re.compile(r"^(?!typedef|#|\s|\*).*?\b(\w+)\(", re.MULTILINE)


def declared(header, seen=()):
    """The functions that a header and those beside it that it includes declare."""
    text = header.read_text(encoding="utf-8")
    seen = {*seen, header}
    beside = [header.parent / name for name in INCLUDE.findall(text)]
    own = set(DECLARATION.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))
    return own.union(*(declared(each, seen) for each in beside if each.is_file() and each not in seen))


def violations(layer, substrate, names):
    """layer, substrate: {object: (defined, needed)}; names: those that the header declares."""
    made = set().union(*(defined for defined, _ in layer.values()))
    home = {name: file for file, (defined, _) in substrate.items() for name in defined}
    for file, (_, needed) in sorted(layer.items()):
        for name in sorted((needed - made) & home.keys() - names):
            yield f"{file} may not need {name} of {home[name]}: the header does not declare it"


SUBSTRATE = {"rma/put.c.o": ({"uccs_put", "uccs_rma_check"}, set()), "api/rte_locality.c.o": ({"uccs_rte_place"}, {"uccs_put"}),
             "shmem/put.c.o": ({"shmem_putmem"}, {"uccs_put"})}
LAYER = {"rma.c.o": ({"MPI_Put"}, {"uccs_put", "memcpy", "lmpi_window"}), "window.c.o": ({"lmpi_window"}, {"uccs_test"})}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder) / "uccs.h"
        header.write_text("/* int uccs_rma_check(void); */\n#include <stddef.h>\n#include <uccs_more.h>\nint uccs_put(int (*of)(void));\n",
                          encoding="utf-8")
        header.with_name("uccs_more.h").write_text("size_t uccs_test(void);\n", encoding="utf-8")
        header.with_name("uccs_rte.h").write_text("int uccs_rte_place(void);\n", encoding="utf-8")
        names = declared(header)
    assert names == {"uccs_put", "uccs_test"}, f"read {names}"
    assert not list(violations(LAYER, SUBSTRATE, names)), "a clean layer must pass"
    planted = ("uccs_rma_check", "uccs_rte_place", "shmem_putmem")
    for name in planted:
        found = list(violations({**LAYER, "bad.c.o": (set(), {name})}, SUBSTRATE, names))
        assert len(found) == 1 and f"bad.c.o may not need {name}" in found[0], f"{name}: {found}"
    assert not list(violations({**LAYER, "own.c.o": ({"uccs_rma_check"}, {"uccs_rma_check"})}, SUBSTRATE, names))
    print(f"found all {len(planted)} planted violations")


def main():
    if sys.argv[1:] == ["--self"]:
        return self_test()
    nm, header, *objects = sys.argv[1:]
    at = objects.index("--")
    layer, substrate = symbols(nm, objects[:at]), symbols(nm, objects[at + 1:])
    names = declared(pathlib.Path(header))
    used = set().union(*(needed for _, needed in layer.values())) & names
    assert len(used) > 20 and len(substrate) > 50, f"the layer uses {len(used)} functions of {len(substrate)} objects: wrong files?"
    found = list(violations(layer, substrate, names))
    print("\n".join(found) or f"the layer needs {len(used)} functions of {pathlib.Path(header).name} and nothing else of the substrate")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
