"""Tells the bench runner about the machine: processor, caches, what else runs on it, and the tree that is measured."""
import os
import platform
import re
import subprocess
import time
from pathlib import Path


def text_of(command, env=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30, env=env)
        return done.stdout + done.stderr
    except (OSError, subprocess.TimeoutExpired):
        return ""


def cores():
    return len(os.sched_getaffinity(0))


def busy(seconds=0.3):
    """Returns the share of all processors' time, 0 to 1, that others use while this process sleeps."""
    def times():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, idle, wait, *rest = map(int, file.readline().split()[1:])
        return user + nice + system + sum(rest), user + nice + system + idle + wait + sum(rest)
    try:
        used, total = times()
        time.sleep(seconds)
        used_then, total_then = times()
        return (used_then - used) / max(1, total_then - total)
    except (OSError, ValueError):
        return 0.0


def common_cache():
    """Returns the innermost cache that the first two cores have in common ("L3"), or None."""
    here = sorted(os.sched_getaffinity(0))[:2]
    for folder in sorted(Path(f"/sys/devices/system/cpu/cpu{here[0]}/cache").glob("index*")):
        try:
            shared, level = ((folder / name).read_text(encoding="ascii").strip() for name in ("shared_cpu_list", "level"))
        except OSError:
            continue
        of = {core for part in shared.split(",") for core in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
        if set(here) <= of:
            return f"L{level}"
    return None


def tree(root, build):
    """Returns what the figures are of: the last commit that has changed what is measured, or the version of an installation."""
    measured = ["--", "src", "include", "launch", "tools", "bench", "examples"]
    commit = text_of(["git", "-C", str(root), "log", "-1", "--format=%h", "--abbrev=10", *measured]).strip()
    if re.fullmatch("[0-9a-f]+", commit) and root in build.parents:
        changed = text_of(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no", *measured])
        return commit + (" with changes" if changed.strip() else "")
    return (text_of([str(build / "bin" / "oshrun"), "--version"]).splitlines() or ["unknown"])[0]


def describe():
    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        found = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
        model = found.group(1) if found else model
        virtual = bool(re.search(r"^flags.*\bhypervisor\b", info, re.MULTILINE))
    except OSError:
        virtual = False
    return {"processor": model, "cores": cores(), "virtual": virtual, "kernel": platform.release().split("-")[0], "cache": common_cache(),
            "compiler": (text_of(["cc", "--version"]).splitlines() or ["unknown"])[0], "ucx": ucx()}


def ucx():
    found = re.search(r"ersion:?\s*([\d.]+)", text_of(["ucx_info", "-v"]))
    return found.group(1) if found else None
