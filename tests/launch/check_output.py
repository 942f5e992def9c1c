#!/usr/bin/env python3
"""Standard input, output and error of a job."""
import collections
import os
import pathlib
import re
import subprocess
import time

import harness
from harness import good, supervisor_of, one_line, run, started, wait_until


def check_lines(lines, pes, count):
    """Every line of every PE arrived whole and in order."""
    seen = collections.Counter()
    for line in lines:
        match = re.fullmatch(r"PE (\d+) line (\d+) (([a-z])\4*)?\.", line)
        assert match, f"torn: {line!r}"
        pe, number, filler = int(match[1]), int(match[2]), match[3] or ""
        assert number == seen[pe], f"PE {pe}: line {number} instead of {seen[pe]}"
        assert len(filler) == (number * 37 + pe * 11) % 900, f"torn: {line!r}"
        seen[pe] += 1
    assert seen == {pe: count for pe in range(pes)}, seen


def test_whole_lines():
    """Lines of many PEs, each written in one piece."""
    check_lines(good("-n", 8, harness.PE, "whole:1500").lines, 8, 1500)


def test_torn_lines():
    """Lines written in several pieces still come out whole."""
    check_lines(good("-n", 6, harness.PE, "torn:700").lines, 6, 700)


def test_held_line():
    """Half a line stays back while its PE sleeps and another PE writes."""
    result = good("-n", 2, harness.PE, "@1", "out:first ", "sleep:400", "out:second\\n", "@0", "sleep:100", "whole:100")
    assert "first second" in result.lines, result
    check_lines([line for line in result.lines if line != "first second"], 1, 100)


def test_last_line():
    """A last line without an end is kept; the next PE starts on a line of its own."""
    assert good("-n", 1, harness.PE, "out:end").out == "end"
    assert good("-n", 2, harness.PE, "@1", "out:end").out == "end"
    assert sorted(good("-n", 3, harness.PE, "out:end").out.split("\n")) == ["end"] * 3


def test_tags():
    """--tag-output puts the PE in front of each line, of one PE too."""
    result = run("-n", 2, "--tag-output", harness.PE, "out:a\\nb\\n\\nc", "err:e\\n")
    assert sorted(result.lines) == sorted(f"[{pe}] {text}" for pe in (0, 1) for text in ("a", "b", "", "c")), result
    assert sorted(result.errors) == ["[0] e", "[1] e"], result
    assert good("-n", 1, "--tag-output", harness.PE, "out:x\\n").out == "[0] x\n"


def test_two_streams():
    """Standard error goes to standard error."""
    result = run("-n", 3, harness.PE, "out:o\\n", "err:e\\n")
    assert result.lines == ["o"] * 3 and result.errors == ["e"] * 3, result


def test_one_file():
    """With 2>&1 a PE's two streams keep their order."""
    words = [f"{stream}:{stream}{i}\\n" for i in range(200) for stream in ("out", "err")]
    done = subprocess.run(harness.command("-n", 2, harness.PE, "@1", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=True, timeout=30, env=harness.CLEAN)
    assert done.stdout.splitlines() == [f"{stream}{i}" for i in range(200) for stream in ("out", "err")]


def rss_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def limit_mb():
    return 400 if harness.sanitized() else 24


def test_long_lines():
    """Lines of megabytes arrive whole when they flow, in bounded memory."""
    size = 3 << 20
    with started("-n", 3, harness.PE, "@0", "whole:2000", "@1", f"long:{size}", "@2", f"long:{size}", "@*", "out:ready\\n",
                 "sleep:60000") as job:
        blocks, ready = [], 0
        while ready < 3:
            blocks.append(job.stdout.readline())
            ready += blocks[-1] == b"ready\n"
        used = rss_mb(supervisor_of(job))
    out = b"".join(blocks)
    lines = [line for line in out.decode().splitlines() if line != "ready"]
    check_lines([line for line in lines if line.startswith("PE")], 1, 2000)
    assert sorted(line for line in lines if not line.startswith("PE")) == ["B" * size, "C" * size]
    assert used < limit_mb(), f"{used} MB"


def test_stuck_long_line():
    """A PE that stops in the middle of a long line does not hold up the others for ever."""
    with started("-n", 2, harness.PE, "@1", f"long:{1 << 20}", "part:300000", "sleep:60000",
                 "@0", "sleep:300", "whole:300", "out:last\\n", "sleep:60000") as job:
        out = b""
        while b"last\n" not in out:
            out += os.read(job.stdout.fileno(), 1 << 20)
        assert job.poll() is None
    lines = out.decode().splitlines()
    check_lines([line for line in lines if line.startswith("PE")], 1, 300)
    assert "B" * (1 << 20) in lines


def test_slow_reader_of_long_line():
    """A slow reader does not make a long line stuck: it is not cut."""
    size = 1 << 20
    with started("-n", 2, harness.PE, "@1", f"long:{size}", "@0", "whole:2000") as job:
        time.sleep(2.5)
        out, _ = job.communicate(timeout=20)
    lines = out.decode().splitlines()
    check_lines([line for line in lines if line.startswith("PE")], 1, 2000)
    assert "B" * size in lines


def test_slow_reader():
    """Nobody reads: PEs wait, memory stays bounded, and the job can still be ended."""
    with started("-n", 4, "--timeout", 1.5, harness.PE, "flood") as job:
        supervisor = supervisor_of(job)
        time.sleep(0.8)
        assert rss_mb(supervisor) < limit_mb(), rss_mb(supervisor)
        assert job.wait(10) == 124
        check = job.stdout.read()
    assert len(check) >= 4096


def test_slow_reader_gets_all():
    """A reader that is slow gets every line."""
    with started("-n", 2, harness.PE, "whole:4000") as job:
        time.sleep(0.5)
        out = b""
        while block := os.read(job.stdout.fileno(), 20000):
            out += block
            time.sleep(0.001)
        assert job.wait(10) == 0
    check_lines(out.decode().splitlines(), 2, 4000)


def test_reader_leaves():
    """oshrun | head: the job ends in silence with the status of SIGPIPE."""
    for pes in (1, 4):
        with started("-n", pes, harness.PE, "flood") as job:
            assert job.stdout.readline().startswith(b"PE ")
            job.stdout.close()
            assert job.wait(10) == 128 + 13
            assert job.stderr.read() == b""


def test_full_device():
    """Output that cannot be written ends the job with a line."""
    with open("/dev/full", "w") as full:
        with started("-n", 2, harness.PE, "flood", stdout=full) as job:
            assert job.wait(10) == 1
            assert re.fullmatch(rb"oshrun: cannot write the PEs' output: No space left on device\n", job.stderr.read())


def test_to_file():
    """Into a file, appending: nothing is overwritten."""
    with harness.temporary() as folder:
        path = pathlib.Path(folder, "log")
        path.write_text("before\n")
        with open(path, "a") as log:
            subprocess.run(harness.command("-n", 4, harness.PE, "whole:200"), stdout=log, check=True, env=harness.CLEAN, timeout=30)
        lines = path.read_text().splitlines()
    assert lines[0] == "before"
    check_lines(lines[1:], 4, 200)


def test_input_to_first():
    """Standard input goes to PE 0; the others find its end at once."""
    text = "".join(f"line {i}\n" for i in range(100000))
    result = good("-n", 3, harness.PE, "read", "@1", "out:one ended\\n", "@2", "out:two ended\\n", text_in=text)
    assert sorted(line for line in result.lines if "ended" in line) == ["one ended", "two ended"]
    assert [line for line in result.lines if "ended" not in line] == text.splitlines()
    assert good("-n", 1, harness.PE, "read", text_in=text).out == text


def test_prompt():
    """PE 0 asks without ending the line: the question is seen before the answer is given."""
    for pes in (1, 2):
        with started("-n", pes, harness.PE, "@0", "out:name? ", "read", stdin=subprocess.PIPE) as job:
            asked = b""
            while not asked.endswith(b"? "):
                asked += os.read(job.stdout.fileno(), 100)
            job.stdin.write(b"me\n")
            job.stdin.close()
            assert asked + job.stdout.read() == b"name? me\n"
            assert job.wait(10) == 0


def test_message_on_own_line():
    """oshrun's own line does not continue a PE's unfinished one."""
    done = subprocess.run(harness.command("-n", 2, harness.PE, "@1", "out:unfinished", "sleep:200", "exit:3", "@0", "sleep:20000"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=20, env=harness.CLEAN,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 3
    assert any(line.startswith("oshrun: PE 1 ") for line in done.stdout.splitlines()), done.stdout
    assert "unfinished" in done.stdout.splitlines(), done.stdout


def test_binary():
    """Bytes of one PE pass unchanged, whatever they are."""
    data = bytes(range(256)) * 5000
    done = subprocess.run(harness.command("-n", 2, harness.PE, "@0", "read"), input=data, stdout=subprocess.PIPE, check=True,
                          timeout=20, env=harness.CLEAN)
    assert done.stdout == data


if __name__ == "__main__":
    harness.main(globals())
