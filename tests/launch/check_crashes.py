#!/usr/bin/env python3
"""What oshrun tells of PEs that crash: signal, address, functions and source lines, equal ones once."""
import pathlib
import re
import signal

import harness
from harness import run

SANITIZED = False       # a sanitizer takes crashes over


def crash(how, *options, **more):
    program = harness.BUILD / "tests" / "test_job_death_where"
    assert program.exists(), "tests/job is built with these tests"
    return run("-n", 3, *options, program, how, **more)


def check(how, number, what, *frames, alike=True):
    """One line of what happened, then a line for each frame; PE 1 or 2 may be stopped before it dies. Not alike: they may die at
    different places."""
    result = crash(how)
    assert result.status == 128 + number, result
    lines = result.errors
    at = next((i for i, line in enumerate(lines) if re.fullmatch(rf"  PE (1|2|1,2) died of signal {number} \(.*\): {what}", line)), None)
    assert at is not None, result
    for i, frame in enumerate(frames):
        assert re.fullmatch(f"    {frame}", lines[at + 1 + i]), (frame, result)
    assert len([line for line in lines if "died of" in line]) in ([1] if alike else [1, 2]), result


def line_of(text):
    """The line of the program that holds the text first."""
    lines = (pathlib.Path(__file__).resolve().parents[1] / "job/death_where.c").read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


def test_store():
    """A store through a null pointer, of two PEs alike. A caller's line is that of the call, not of what follows it."""
    check("store", signal.SIGSEGV, "nothing is mapped at address 0x0", rf"store_nowhere +death_where\.c:{line_of('*nowhere = 1;')}",
          rf"die +death_where\.c:{line_of('    store_nowhere();')}", rf"main +death_where\.c:{line_of('die(argv[1]);')}")


def test_nodes():
    """The same of PEs on pretended nodes, and nothing of UCX, unless the user asks for it."""
    far = {"LATERAL_NODE_SIZE": "1", "UCX_TLS": "tcp,self"}
    result = crash("store", env=far)
    assert result.status and re.search(r"^  PE (1|2|1,2) died of signal 11 \(.*\): nothing is mapped at address 0x0$", result.err, re.M), result
    assert "backtrace" not in result.err and re.search(r"^    store_nowhere +death_where\.c:\d+$", result.err, re.M), result
    if not (harness.BUILD / "lib/liblateral-ucx.so").exists():
        return
    over_ucx = far | {"LATERAL_TRANSPORTS": "ucx"}
    assert "backtrace" not in crash("store", env=over_ucx).err
    assert "backtrace" in crash("store", env=over_ucx | {"UCX_HANDLE_ERRORS": "bt"}).err


def test_kinds():
    """Other faults and abort: what it was, and where."""
    check("readonly", signal.SIGSEGV, "no right to this access at (address 0x[0-9a-f]+|several addresses)", r"\S+ +death_where\.c:\d+")
    check("divide", signal.SIGFPE, "integer divided by zero", r"\S+ +death_where\.c:\d+")
    check("stack", signal.SIGSEGV, "nothing is mapped at (address 0x[0-9a-f]+|several addresses)", r"fill_stack +death_where\.c:\d+", alike=False)
    check("call", signal.SIGSEGV, "nothing is mapped at address 0x0", "0x0", r"\S+ +death_where\.c:\d+")
    result = crash("abort")
    assert result.status == 128 + signal.SIGABRT and "(Aborted): abort was called" in result.err, result
    assert re.search(r"^    main +death_where\.c:\d+$", result.err, re.M), result
    calls = rf"^    die +death_where\.c:{line_of('        abort();')}$" # nothing of this function follows the call
    assert re.search(calls, result.err, re.M), result


def test_inside():
    """A mistake that the library trips over: the caller's line is there."""
    result = crash("library")
    assert result.status and re.search(r"death_where\.c:\d+|shmem_putmem", result.err), result


def test_not_ours():
    """A handler of the program's own is left alone; the crash of a child of a PE is none of a PE; -q prints nothing."""
    result = crash("own")
    assert result.status == 3 and "own handler" in result.out and "died of" not in result.err, result
    result = crash("child")
    assert result.status == 0 and not result.err, result
    result = crash("store", "-q")
    assert result.status == 128 + signal.SIGSEGV and not result.err, result


def test_no_tool():
    """Without a tool that knows source lines the functions are named."""
    result = crash("store", env={"PATH": "/nowhere"})
    assert re.search(r"^    store_nowhere \+ 0x[0-9a-f]+ \(test_job_death_where\)$", result.err, re.M), result


if __name__ == "__main__":
    harness.main(globals())
