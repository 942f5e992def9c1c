#!/usr/bin/env python3
"""Reads off the binaries that are installed how they were hardened.

    hardened.py BINARY...   prints what a binary lacks, and exits 1 when there is something
    hardened.py --self CC   builds binaries that lack one thing each, and must find it
"""
import pathlib
import platform
import re
import subprocess
import sys
import tempfile


def readelf(*words):
    return subprocess.run(["readelf", "-W", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def probes(binary):
    """True when a large frame is touched page by page, which is all that stack-clash protection leaves in the code."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"sub +\$0x1000,%rsp\n.*\bor[lq] +\$0x0,(0x[0-9a-f]+)?\(%rsp\)", code) is not None


def lacks(binary, whole=False):
    """The names of what the binary lacks. whole: it is large enough for calls that FORTIFY changes, and for frames of more
    than a page."""
    header, segments, dynamic, names = (readelf(option, binary) for option in ("-h", "-l", "-d", "--dyn-syms"))
    stack = re.search(r"GNU_STACK.*", segments)
    if not re.search(r"Type:\s+DYN", header):
        yield "position independence"
    if "GNU_RELRO" not in segments:
        yield "relro"
    if "BIND_NOW" not in dynamic and not re.search(r"FLAGS_1.*\bNOW\b", dynamic):
        yield "now"
    if not stack or "E" in stack[0].split()[-2]:
        yield "a stack without code"
    if "TEXTREL" in dynamic:
        yield "constant code"
    if "__stack_chk_fail" not in names:
        yield "stack protector"
    if whole and not re.search(r"__\w+_chk\b", names.replace("__stack_chk_fail", "")):
        yield "FORTIFY"
    if whole and platform.machine() == "x86_64" and not probes(binary):
        yield "stack-clash protection"


ALL = ["-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-fstack-clash-protection", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
       "-Wl,-z,relro,-z,now,-z,noexecstack"]
WITHOUT = {
    "position independence": ["-no-pie", "-fno-pie"],
    "relro": ["-Wl,-z,norelro"],
    "now": ["-Wl,-z,lazy"],
    "a stack without code": ["-Wl,-z,execstack"],
    "stack protector": ["-fno-stack-protector"],
    "FORTIFY": ["-U_FORTIFY_SOURCE"],
    "stack-clash protection": ["-fno-stack-clash-protection"],
}
PROGRAM = """
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) { char text[20000]; strcpy(text, argv[argc - 1]); return puts(text) < 0; }
"""


def check_self(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "a.c"), f"{folder}/a"
        source.write_text(PROGRAM)
        for missing, words in [(None, []), *WITHOUT.items()]:
            subprocess.run([compiler, *ALL, *words, source, "-o", binary], check=True)
            found = list(lacks(binary, True))
            assert found == [missing] * bool(missing), f"without {missing}: found {found}"


def main():
    if sys.argv[1] == "--self":
        check_self(sys.argv[2])
        return 0
    bad = 0
    for binary in sys.argv[1:]:
        name = pathlib.Path(binary).name
        for what in lacks(binary, name.startswith(("oshrun", "liblateral.so"))):
            print(f"{binary}: lacks {what}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
