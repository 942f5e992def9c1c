#!/usr/bin/env python3
"""The gaps of the symmetric heap under the address sanitizer and valgrind: a store there is reported with its line.

    gaps.py BIN SOURCE      the folder of oshcc and oshrun, and gap.c
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", timeout=100, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    tools, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    line = next(i for i, text in enumerate(source.read_text().splitlines(), 1) if "argc > 1 ? 3" in text)
    looked = 0
    with tempfile.TemporaryDirectory(prefix="lateral-gaps.") as folder:
        built, _ = run(tools / "oshcc", "-g", "-fsanitize=address", source, "-o", f"{folder}/asan")
        for more in ([], ["freed"]) if built == 0 else ():
            for option in ([],) if re.search("[ :]", str(tools)) else ([], ["--check"]): # nothing can be preloaded from such a path
                status, text = run(tools / "oshrun", "-n", 1, *option, f"{folder}/asan", *more)
                assert status and "use-after-poison" in text and f"gap.c:{line}" in text, (more, option, text)
                looked += 1
        plain, text = run(tools / "oshcc", "-g", source, "-o", f"{folder}/plain")
        assert plain == 0, text
        if shutil.which("valgrind"):
            status, text = run(tools / "oshrun", "-n", 1, "valgrind", "-q", f"{folder}/plain")
            if "valgrind: " not in text:                    # it runs here, and the library was built with its header
                assert f"gap.c:{line}" in text and "Invalid write of size 1" in text, text
                looked += 1
    print(f"{looked} runs, each reported" if looked else "skipped: neither the address sanitizer nor valgrind is here")
    return 0 if looked else 77


if __name__ == "__main__":
    sys.exit(main())
