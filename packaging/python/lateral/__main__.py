"""python -m lateral: says where Lateral lies, or runs one of its tools.

usage: python -m lateral info [OPTIONS]       lateral-info: what this installation can do
       python -m lateral paths                every folder, one a line
       python -m lateral path NAME            one folder: prefix bin lib include cmake pkgconfig man
       python -m lateral run -n N [OPTIONS] SCRIPT.py ARGUMENTS     a job of N PEs, each this Python with the script
       python -m lateral oshrun|oshcc|oshc++|oshfort|lateral-mpi ARGUMENTS
"""
import os
import sys

import lateral

PATHS = {"prefix": lateral.prefix, "bin": lateral.bin_dir, "lib": lateral.lib_dir, "include": lateral.include_dir,
         "cmake": lateral.cmake_dir, "pkgconfig": lateral.pkgconfig_dir, "man": lateral.man_dir}
TOOLS = {"info": "lateral-info", "oshrun": "oshrun", "oshcc": "oshcc", "oshc++": "oshc++", "oshfort": "oshfort", "lateral-mpi": "lateral-mpi"}


def run_script(rest):
    """Runs oshrun with this Python before the script, the first word that is a file of Python. PEs share the cores: unless the
    environment says otherwise, libraries below NumPy get one thread each."""
    at = next((i for i, word in enumerate(rest) if word.endswith(".py") and os.path.isfile(word)), None)
    if at is None:
        print("lateral: run: no script; usage: python -m lateral run -n 4 script.py", file=sys.stderr)
        return 2
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    tool = lateral.bin_dir() / "oshrun"
    os.execv(tool, [str(tool), *rest[:at], sys.executable, *rest[at:]])


def main(arguments):
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    if verb == "run":
        return run_script(rest)
    if verb in TOOLS:
        tool = lateral.bin_dir() / TOOLS[verb]
        os.execv(tool, [str(tool), *rest])
    if verb == "paths" and not rest:
        for name, find in PATHS.items():
            print(f"{name:10} {find()}")
        return 0
    if verb == "path" and len(rest) == 1 and rest[0] in PATHS:
        print(PATHS[rest[0]]())
        return 0
    if verb in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    print(f"lateral: {' '.join(arguments)}: unknown; see python -m lateral --help", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
