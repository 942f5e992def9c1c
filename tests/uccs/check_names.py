#!/usr/bin/env python3
"""Every function that the headers uccs*.h declare is exported by the library and called by a test.

    check_names.py ROOT LIBRARY NM
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT, LIBRARY, NM = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
DECLARATION = re.compile(r"^(?!typedef|#|\s|\*).*?\b(uccs_\w+)\(", re.MULTILINE)


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / header).read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(DECLARATION.findall(text))


def main():
    names = set().union(*(declared(path.name) for path in (ROOT / "include").glob("uccs*.h")))
    listing = subprocess.run([NM, "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line}
    tests = "".join(path.read_text(encoding="utf-8") for folder in ("uccs", "mt", "job")
                    for path in (ROOT / "tests" / folder).glob("*.[ch]"))
    called = set(re.findall(r"\b(uccs_\w+)\(", tests))
    data = {name for name in exported if re.match(r"uccs_rte_(u?int\d|float\d|bool)$", name)}
    wrong = [f"{name}: declared, not exported" for name in sorted(names - exported)]
    wrong += [f"{name}: called by no test" for name in sorted(names - called)]
    wrong += [f"{name}: exported, in no header" for name in sorted(exported - names - data) if name.startswith("uccs_")]
    if len(names) < 100:
        wrong.append(f"only {len(names)} declarations were found in the headers")
    print("\n".join(wrong) or f"{len(names)} functions are exported and called")
    return bool(wrong)


sys.exit(main())
