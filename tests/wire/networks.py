#!/usr/bin/env python3
"""The table of docs/guide/networks.md holds what the simulated network counts.

usage: networks.py PAGE OSHRUN PROGRAM    runs tests/wire/counts.c both ways; prints each row that differs and exits 1
"""
import os
import re
import subprocess
import sys

NETWORK = {"LATERAL_PROGRESS": "poll", "LATERAL_NODE_SIZE": "1", "LATERAL_TRANSPORTS": "sim,order=1:tcp"}


def counted(oshrun, program, way):
    """The lines of the program: {operation: [messages, round trips]}."""
    result = subprocess.run([oshrun, "-n", "2", program], env=os.environ | NETWORK | {"LATERAL_WIRE": way}, check=True,
                            stdout=subprocess.PIPE, text=True, timeout=60)
    rows = (line.split(" | ") for line in result.stdout.splitlines())
    return {row[0]: row[1:] for row in rows}


def table(page):
    with open(page, encoding="utf-8") as file:
        rows = (re.split(r"\s*\|\s*", line.strip().strip("|").strip()) for line in file if line.startswith("| "))
        return {row[0]: row[1:] for row in rows if row[1].isdigit()}


def main():
    page, oshrun, program = sys.argv[1:]
    messages, own = (counted(oshrun, program, way) for way in ("messages", "auto"))
    written, found = table(page), {name: messages[name] + own[name] for name in messages}
    wrong = [f"{name}: written {written.get(name)}, counted {found.get(name)}"
             for name in {**found, **written} if written.get(name) != found.get(name)]
    print("\n".join(wrong))
    sys.exit(1 if wrong or not found else 0)


if __name__ == "__main__":
    main()
