#!/usr/bin/env python3
"""The runner of the benchmarks ends programs that hang, with all that they have started, and keeps what they measured before."""
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import limited  # noqa: E402
import rows  # noqa: E402
import runner  # noqa: E402

LIMIT = 0.3
ONE = 'printf \'{"results": {"put": [1.5, "us"]\'; '
# shell command: what the runner must return as values and find wrong. %s: how long a left process would sleep.
CASES = [
    (ONE + "printf ', \"get\": [2, \"us\"]}}'", {"run/put": 1.5, "run/get": 2}, None),
    (ONE + "sleep 0.2; printf ', \"get\": [2, \"us\"]'; sleep 0.2; echo '}}'", {"run/put": 1.5, "run/get": 2}, None),
    (ONE + "sleep %s", {"run/put": 1.5}, "did not end"),
    (ONE + "setsid sleep %s & wait", {"run/put": 1.5}, "did not end"),
    (ONE + "trap '' TERM; while :; do sleep %s; done", {"run/put": 1.5}, "did not end"),
    (ONE + "printf ', \"get\": [2'; sleep %s", {"run/put": 1.5}, "did not end"),
    (ONE + "printf '}}'; sleep %s", {"run/put": 1.5}, "did not end"),
    (ONE + "exit 3", {"run/put": 1.5}, "exit status 3"),
    (ONE, {"run/put": 1.5}, "stopped among its results"),
    (ONE + "setsid sleep 3 & printf '}}'", {"run/put": 1.5}, None), # the left process has the pipe
    ("sleep %s", {}, "did not end"),
    ("true", {}, "no result"),
]


def command(path):
    try:
        return path.read_bytes().split(b"\0")
    except OSError:
        return None


def left(seconds):
    """Does a process sleep for this long? One that was killed may need a moment to go."""
    for _ in range(20):
        if not any(command(path) == [b"sleep", seconds.encode(), b""] for path in Path("/proc").glob("[0-9]*/cmdline")):
            return False
        time.sleep(0.1)
    return True


def ended_with_script(seconds):
    """A runner that is told to end takes its program along."""
    script = f"import limited; limited.end_on_signals(); print(1, flush=True); limited.run(['setsid', '-w', 'sleep', '{seconds}'], {{}}, 60)"
    with subprocess.Popen([sys.executable, "-B", "-c", script], cwd=Path(limited.__file__).parent, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(0.3)
        process.terminate()
        assert process.wait(10) == 143
    assert not left(seconds), "the program of a runner that was told to end is left"


def main():
    limited.PATIENCE = 0.3
    seconds = f"{1000 + time.time() % 1000:.6f}"            # nobody else's
    for script, values, why in CASES:
        start = time.monotonic()
        found = runner.execute(rows.Run("run", "sh", 1, limit=LIMIT), ["sh", "-c", script.replace("%s", seconds)], {})
        took = time.monotonic() - start
        assert found[0] == values, f"{script}: values {found[0]}"
        assert why in found[2] if why else found[2] is None, f"{script}: {found[2]}"
        assert took < LIMIT + limited.PATIENCE + 2, f"{script}: it took {took:.1f} s"
        assert not left(seconds), f"{script}: a process is left"
    ended_with_script(seconds)
    print(f"{len(CASES)} programs came to their end")


main()
