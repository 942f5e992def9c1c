#!/usr/bin/env python3
"""A PE gets its number, the node's memory, environment, folder, processors and limits."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

import harness
from harness import good, needs, one_line, run, temporary


def headers(*words, **more):
    """The header as each PE sees it, by PE."""
    lines = good(*words, harness.PE, "header", **more).lines
    seen = [dict(item.split("=") for item in line.split()) for line in lines]
    return sorted(seen, key=lambda fields: int(fields["pe"]))


def test_header():
    """Every PE finds its number and the same header; the nonce is new in each job."""
    allowed = len(os.sched_getaffinity(0))
    for pes in (1, 2, 5):
        seen = headers("-n", pes)
        assert [fields["pe"] for fields in seen] == [str(pe) for pe in range(pes)]
        assert len({fields["nonce"] for fields in seen}) == 1
        for fields in seen:
            assert (fields["size"], fields["total"], fields["first"]) == (str(pes), str(pes), "0"), fields
            assert fields["cores"] == str(allowed) and fields["over"] == str(int(pes > allowed)), fields
    assert headers("-n", 1)[0]["nonce"] != headers("-n", 1)[0]["nonce"]


def test_oversubscribed():
    """More PEs than processors that may be used: the header says so."""
    first = min(os.sched_getaffinity(0))
    narrow = {"preexec_fn": lambda: os.sched_setaffinity(0, {first})}
    for pes, over in ((1, "0"), (2, "1")):
        assert {(fields["cores"], fields["over"]) for fields in headers("-n", pes, **narrow)} == {("1", over)}


def test_sealed():
    """The node's memory cannot be made smaller under the others."""
    assert good("-n", 2, harness.PE, "seal").lines == ["shrunk 0", "shrunk 0"]


def test_files():
    """A PE inherits 0, 1, 2 and the node's memory, and what the shell passed on; nothing else."""
    reading, writing = os.pipe()
    for words in (["-n", 3], ["-n", 1], ["-n", 2, "--tag-output"]):
        for lines in (good(*words, harness.PE, "@0", "files").lines, good(*words, harness.PE, "files", pass_fds=[reading]).lines):
            found = [line.split("] ")[-1] for line in lines]
            jobs = {line for line in found if line.startswith("job")}
            plain = {line for line in found if line.startswith("fd")}
            assert len(jobs) == 1 and plain <= {"fd 0", "fd 1", "fd 2", f"fd {reading}"}, found
    assert f"fd {reading}" in good("-n", 1, harness.PE, "files", pass_fds=[reading]).lines
    os.close(reading)
    os.close(writing)


def test_closed_standard_files():
    """Started without standard files, oshrun and its pipes do not take their numbers."""
    script = f'exec 0<&- 1>&- 2>&-; exec "{harness.OSHRUN}" -n 2 "{harness.PE}" out:x err:y read exit:0'
    done = subprocess.run(["sh", "-c", script], check=False, timeout=20, env=harness.CLEAN)
    assert done.returncode == 0, done


def test_environment():
    """-x sets and passes on; a name that is not set gets a word; PEs inherit the rest."""
    assert good("-n", 2, "-x", "ONE=1", "-x", "TWO=a=b", harness.PE, "env:ONE", "env:TWO", env={"ONE": "old"}).lines.count("ONE=1") == 2
    assert good("-n", 1, "-x", "TWO=a=b", harness.PE, "env:TWO").lines == ["TWO=a=b"]
    assert good("-n", 1, "-x", "ONE=", harness.PE, "env:ONE", env={"ONE": "old"}).lines == ["ONE="]
    assert good("-n", 1, "-x", "ONE", harness.PE, "env:ONE", "env:HERE", env={"ONE": "1", "HERE": "2"}).lines == ["ONE=1", "HERE=2"]
    result = run("-n", 1, "-x", "NOT_SET", harness.PE, "env:NOT_SET")
    one_line(result, "-x NOT_SET: not set", 0)
    assert result.lines == ["NOT_SET=(none)"]


def test_many_programs():
    """With ":" the PEs are numbered through; -n, -x and --wdir are each program's own."""
    seen = headers("-n", 2, harness.PE, "header", ":", "-n", 1, harness.PE, "header", ":", "-n", 2)
    assert [fields["app"] for fields in seen] == ["0", "0", "1", "2", "2"], seen
    result = good("-n", 1, "-x", "A=1", "--wdir", "/", harness.PE, "env:A", "cwd", ":", "-n", 1, harness.PE, "@1", "env:A", "cwd", cwd="/usr")
    assert sorted(result.lines) == sorted(["A=1", "/", "A=(none)", "/usr"]), result


def test_folder():
    """--wdir: PEs start there, and a relative program is looked up there."""
    with temporary() as folder:
        os.symlink(harness.PE, f"{folder}/mine")
        assert good("-n", 2, "--wdir", folder, "./mine", "cwd", cwd="/").lines == [os.path.realpath(folder)] * 2
        assert good("-n", 1, "-wdir", folder, "mine", "cwd", env={"PATH": ":/usr/bin"}).lines == [os.path.realpath(folder)]
        assert good("-n", 1, "mine", "cwd", cwd=folder, env={"PATH": "/usr/bin:"}).status == 0


def test_binding():
    """--bind-to core: PEs take the allowed cores in turn; none: all processors."""
    allowed = sorted(os.sched_getaffinity(0))

    def sets(*words, **more):
        result = good("-n", 2 * len(allowed), *words, "--tag-output", harness.PE, "cpus", **more)
        tagged = sorted((int(line.split("]")[0][1:]), line.split()[-1]) for line in result.lines)
        return [cpus for _, cpus in tagged]

    free, bound = set(sets()), sets("--bind-to", "core")
    assert len(free) == 1 and free == set(sets("--bind-to", "none"))
    cores = len(set(bound))
    assert bound == (bound[:cores] * len(bound))[:len(bound)], bound
    assert cores == 1 or not set(bound) & free, bound
    narrow = sets("--bind-to", "core", preexec_fn=lambda: os.sched_setaffinity(0, {allowed[-1]}))
    assert set(narrow) == {str(allowed[-1])}, narrow


def test_signals_untouched():
    """PEs start with the signal mask and the ignored signals that oshrun was started with."""
    def masks(**more):
        return {line.split()[1] for line in good("-n", 2, harness.PE, "mask", **more).lines}

    assert masks() == {"0" * 16}
    blocked = masks(preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1}))
    assert blocked == {f"{1 << (signal.SIGUSR1 - 1):016x}"}
    show = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    result = good("-n", 1, sys.executable, "-c", show, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert result.lines == ["True"]


def test_file_limit():
    """The limit of open files is raised for oshrun, not for PEs; a hard limit too low is named."""
    def soft():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    lines = good("-n", 200, harness.PE, "limit", preexec_fn=soft).lines
    assert lines == ["limit 64"] * 200, set(lines)
    few = good("-n", 4, harness.PE, "limit", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))).lines
    assert few == ["limit 24"] * 4, few
    one_line(run("-n", 200, harness.PE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))),
             r"200 PEs need \d+ open files, the limit is 256: raise it", 1)


def test_script():
    """A script without an interpreter line runs as in a shell; with a missing interpreter it is named."""
    with temporary() as folder:
        script = pathlib.Path(folder, "script")
        script.write_text('echo "$0 $1 $#"\n')
        script.chmod(0o755)
        assert good("-n", 2, script, "a b", "c").lines == [f"{script} a b 2"] * 2
        script.write_text("#!/no/such/interpreter\n")
        one_line(run("-n", 2, script), "cannot execute .*script: its interpreter is missing", 127)


def test_nested():
    """oshrun inside a PE starts a job of its own."""
    lines = good("-n", 2, harness.OSHRUN, "-n", 3, harness.PE, "header").lines
    assert len(lines) == 6 and {line.split()[1] for line in lines} == {"size=3"}, lines
    assert len({line.split()[-1] for line in lines}) == 2


def test_check_layer():
    """--check or LATERAL_CHECK=1 preloads the layer that lies beside oshrun, before others."""
    with temporary() as folder:
        prefix = pathlib.Path(folder, "tree")
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib").mkdir()
        oshrun = prefix / "bin" / "oshrun"
        shutil.copy(harness.OSHRUN, oshrun)

        def check(*words, env=None):
            return subprocess.run([oshrun, "-n", "1", *words, harness.PE, "env:LD_PRELOAD", "env:LATERAL_CHECK", "header"],
                                  capture_output=True, text=True, check=False, env=harness.CLEAN | (env or {}))

        missing = check("--check")
        assert missing.returncode == 1 and re.search("no liblateral-check.so in ", missing.stderr), missing
        shutil.copy(harness.PRELOAD, prefix / "lib" / "liblateral-check.so")
        for done in (check("--check"), check(env={"LATERAL_CHECK": "1"})):
            lines = done.stdout.splitlines()
            assert re.match(r"LD_PRELOAD=.*/lib/liblateral-check\.so$", lines[0]) and lines[1] == "LATERAL_CHECK=1", done
            assert " check=1 " in lines[2] and not done.stderr, done
        both = check("--check", env={"LD_PRELOAD": str(harness.PRELOAD)} if not harness.sanitized() else {})
        assert "liblateral-check.so" in both.stdout.splitlines()[0], both
        assert harness.sanitized() or f"liblateral-check.so:{harness.PRELOAD}" in both.stdout, both
        mine = check("--check", "-x", "LD_PRELOAD=", "-x", "ASAN_OPTIONS=a=1")
        assert mine.stdout.splitlines()[0].endswith("/lib/liblateral-check.so"), mine
        check_with_sanitizer(folder, oshrun)
        assert {"LATERAL_CHECK=1"} <= set(mine.stdout.splitlines()) and not mine.stderr, mine
        for off in (check(), check(env={"LATERAL_CHECK": "0"})):
            assert off.stdout.startswith("LD_PRELOAD=(none)") and " check=0 " in off.stdout, off
        prefix.rename(pathlib.Path(folder, "a tree"))
        oshrun = pathlib.Path(folder, "a tree", "bin", "oshrun")
        refused = check("--check")
        assert refused.returncode == 1 and re.fullmatch("oshrun: --check: .*a blank or a colon is in its path.*\n", refused.stderr), refused


def check_with_sanitizer(folder, oshrun):
    """A program with the address sanitizer takes the layer too."""
    source = pathlib.Path(folder, "empty.c")
    source.write_text("int main(void) { return 0; }\n")
    if shutil.which("cc") and subprocess.run(["cc", "-fsanitize=address", source, "-o", f"{folder}/empty"], check=False,
                                             capture_output=True).returncode == 0:
        done = subprocess.run([oshrun, "-n", "2", "--check", f"{folder}/empty"], capture_output=True, text=True, check=False,
                              env=harness.CLEAN)
        assert done.returncode == 0, done


def test_thousand():
    """1,024 PEs start, initialise, finalise and finish, and every line arrives."""
    result = good("-n", 1024, harness.PE, "init", "out:here\\n", "final", timeout=50)
    assert result.lines == ["here"] * 1024


def test_valgrind():
    """PEs under valgrind."""
    needs("valgrind")
    assert good("-n", 2, "valgrind", "-q", harness.PE, "init", "out:fine\\n", "final").lines == ["fine", "fine"]


def test_gdb():
    """A PE under the debugger has its memory, its output and its exit status."""
    needs("gdb")
    result = run("-n", 1, "gdb", "-q", "-batch", "-ex", "run", "--args", harness.PE, "init", "header", "final", "exit:3")
    assert result.status == 0 and "size=1" in result.out and "exited with code 03" in result.out, result
    two = run("-n", 2, "gdb", "-q", "-batch", "-ex", "run", "-ex", "info inferiors", "--args", harness.PE, "header", "final")
    assert two.status == 0 and two.out.count("size=2") == 2 and two.out.count("exited normally") == 2, two


def test_file_limit():
    """A limit of a file's size that the node's memory passes: one line, and no process dies of SIGXFSZ."""
    one_line(run("-n", 2, harness.PE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))),
             r"cannot make the shared memory of 2 PEs: File too large \(limit of a file's size, ulimit -f\)", 1)


if __name__ == "__main__":
    harness.main(globals())
