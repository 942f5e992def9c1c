"""Runs tests for mutants.py as process 1 of a pid namespace, a few at a time: whatever a faulty program kills or leaves behind, it
reaches nothing outside, and all of it ends with this process. The first argument names a file with the plan."""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ASSERTS = re.compile(r"not true|CHECK|[Aa]ssert|run\.py: |Error\b|expected|FAIL|wrong|wanted|differs|not within|against|[*]{3} .* detected [*]{3}")
CRASH = re.compile(r"signal (4|7|8|11)\b|SIGSEGV|SIGBUS|Segmentation|dumped")
LATE = re.compile(r"not (true )?within")                    # a wait that was bounded, and what it waited for
ENDS_WELL = re.compile(r"run\.py: exit status \d+, expected 0$|AssertionError: it ended with", re.M)
AFTER = re.compile(r"^(run\.py: .*|AssertionError: it ended with.*|    assert status == 0 .*)$", re.M)        # which a crash explains
WAITS = re.compile(r"^  PE [\d,.-]+ +\S.* \d+\.\d s  \S+\.(c|cc|cpp|h):\d+$", re.M)    # the launcher names a call that waits, and its line
SKIP = 77
LAST_WORDS = 5                                              # seconds for the launcher to tell where the PEs are
LONGER = 2                                                  # times the time for all tests, on a busy machine
NEAR = 2                                                    # lines; a statement may have as many
SLOWEST = 5                                                 # times as slow as alone; tests get no more than so much time more
STEADY = 5                                                  # seconds for which the machine is taken to be as busy as it was


def limit_resources():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pathlib.Path("/proc/self/oom_score_adj").write_text("900")


@functools.cache
def slowness(_):
    """How many times as long as alone a computation takes on this machine at the moment."""
    wall, cpu = time.monotonic(), time.thread_time()
    while time.monotonic() - wall < 0.1:
        pass
    return min(SLOWEST, max(1, (time.monotonic() - wall) / max(0.001, time.thread_time() - cpu)))


def bounded(command, limit):
    """The command with the limit, if it is the launcher itself; tests/run.py gives it its limit otherwise."""
    return [command[0], "--timeout", str(limit), *command[1:]] if command[0].endswith("/oshrun") else command


def run(test):
    """One test to its end or its limit."""
    start = time.monotonic()
    limit = max(3, int(test["limit"] * (1 if test.get("exact") else slowness(start // STEADY))) - 1)
    env = os.environ | test["env"] | {"TEST_LIMIT": str(limit), "CHECK_LIMIT": str(max(1, limit - 1))}
    with tempfile.TemporaryFile() as said:
        job = subprocess.Popen(bounded(test["command"], limit), cwd=test["folder"], env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                               start_new_session=True, preexec_fn=limit_resources)
        try:
            status = job.wait(timeout=limit + LAST_WORDS)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        said.seek(0)
        text = said.read(200000).decode(errors="replace")
    late = status is None or reached(limit, text) or bool(LATE.search(text))
    return {"test": test["name"], "seconds": round(time.monotonic() - start, 2), "verdict": judge(status, text, test.get("place"), limit), "late": late,
            "crash": not late and bool(CRASH.search(text)) and leads_to(test.get("place"), text),
            "limit": limit + 1, "said": text[-1500:]}


def leads_to(place, text):
    """Returns whether the report of a crash names the line of the fault among the innermost three: (file, line)."""
    found = re.search(r"died of signal [^\n]*\n((?: {2,}[^\n]*\n?){1,3})", text)
    lines = re.findall(rf" {re.escape(place[0])}:(\d+)$", found.group(1), re.M) if found and place else ()
    return any(abs(int(line) - place[1]) <= NEAR for line in lines)


def reached(limit, text):
    """Returns whether the launcher has ended the job at the limit that the test was given; some tests give their own."""
    return f"time limit of {limit} s reached" in text


def judge(status, text, place=None, limit=3):
    """The verdict on a test that ended with this status, or did not (None); place: of the fault; limit: in seconds."""
    if status in (0, SKIP):
        return "passed" if status == 0 else "skipped"
    if LATE.search(text):
        return "named"
    if reached(limit, text):
        return "named" if WAITS.search(text) else "stuck"
    if status is None:
        return "time-out"
    crashed = status < 0 or status in (132, 134, 135, 136, 139) or CRASH.search(text)
    if ASSERTS.search(AFTER.sub("", text) if crashed and ENDS_WELL.search(text) else text):
        return "named"
    return "crashed" if not text.strip() or (crashed and not leads_to(place, text)) else "named"


def twice(test):
    """A test that fails runs again, unless it did not end: a fault may be the wrong one to blame."""
    result = run(test)
    return result if result["verdict"] in ("passed", "skipped") or result["late"] else run(test)


def main():
    plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for test in plan["tests"]:
        test["place"] = plan["place"]
    for source, target in plan["mounts"]:
        subprocess.run(["mount", "--bind", source, target], check=True)
    start = time.monotonic()
    until = start + (plan["seconds"] or 1e9) * min(LONGER, slowness(0))
    named, seen = [], []
    with open(plan["results"], "w", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(plan["lanes"]) as pool:
        def one(test):
            limit = min(until, seen[0] + (until - start) / 3) if seen and plan["stop"] else until
            if plan["stop"] and named or time.monotonic() > limit:
                return
            result = twice(test)
            if result["verdict"] == "named":
                named.append(test)
            elif result["verdict"] not in ("passed", "skipped"):
                seen.append(time.monotonic())
            out.write(json.dumps(result) + "\n")
            out.flush()
        for future in [pool.submit(one, test) for test in plan["tests"]]:
            future.result()
    os._exit(0)                                             # takes all that is left along


if __name__ == "__main__":
    main()
