#!/usr/bin/env python3
"""--stats and --trace: numbers of a program that moves and waits as known."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness
from harness import needs, one_line, run, temporary

SANITIZED = False                   # its programs want their sanitizer loaded first

MOVED = 10 * 400 + 8 + 8 + 8        # puts; an atomic, a g and a put with signal
OPERATIONS = 10 + 3


def counted(pes, *options, **more):
    program = harness.BUILD / "tests" / "test_job_counted"
    assert program.exists(), "tests/job is built with these tests"
    return run("-n", pes, *options, program, **more)


def test_table():
    """Operations and bytes of each PE are right, the longest wait is at the barrier's line, and the matrix is the ring."""
    result = counted(4, "--stats")
    assert result.status == 0 and not result.out and result.errors[0] == "what 4 PEs did", result
    rows = [line.split() for line in result.errors[2:6]]
    for pe, row in enumerate(rows):
        assert row[:2] == [str(pe), str(OPERATIONS)] and row[2:4] == ["3.9", "KiB"], (row, result)
        assert float(row[5]) > 0.1 or pe == 0, f"PE {pe} has waited for PE 0: {result}"
    longest = [line for line in result.errors if "shmem_barrier_all" in line]
    assert len(longest) == 1 and re.search(r"^ +[0-9.]+ +4 +PE [1-3]: (0\.[1-9]|[1-9])[0-9.]* s  shmem_barrier_all  counted\.c:\d+$", longest[0]), result
    assert re.search(r"shmem_signal_wait_until  counted\.c:\d+$", result.err, re.M), result
    at = result.errors.index("bytes from (row) to (column)")
    for pe in range(4):
        cells = re.split(r"\s{2,}", result.errors[at + 2 + pe].strip())[1:]
        assert cells[(pe + 1) % 4] not in (".", "8 B") and (cells[0] == "8 B" or pe in (0, 3)) and cells.count(".") >= 1, (cells, result)


WAITS = ("malloc", "long_broadcast", "long_test", "barrier_all", "set_lock", "long_atomic_fetch")
SLEPT = 0.05        # seconds; a quarter of what the other PE sleeps in each of them


def check_waits(result, waits):
    """The PE that waits at each of these lines spends its time there, and the parts of its time are its time."""
    rows = [line.split() for line in result.errors[2:4]]
    for row in rows:
        seconds, waiting, moving, computing = (float(row[i]) for i in (4, 5, 7, 8))
        assert abs(waiting + moving + computing - seconds) < 0.1 * seconds, result
    assert float(rows[1][5]) > 6 * SLEPT, result
    for name in waits:
        line = [line for line in result.errors if re.search(rf"  shmem_{name}  waiting\.c:\d+$", line)]
        assert len(line) == 1 and float(line[0].split()[0]) >= SLEPT, (name, result)


def test_waiting():
    """Every call that waits for another PE shows its time, on a node and over nodes: blocking gets and atomics, test loops, allocation, locks."""
    program = harness.BUILD / "tests" / "test_job_waiting"
    check_waits(run("-n", 2, "--stats", program), WAITS[:-1])      # a fetch on the node waits for nobody
    far = run("-n", 2, "--stats", program, env={"LATERAL_NODE_SIZE": "1"})
    check_waits(far, WAITS)
    gets = [line for line in far.errors if "shmem_long_g  waiting.c:" in line]
    assert len(gets) == 1 and gets[0].split()[1] == "20000", far


def test_check():
    """--check beside --stats: both at work, and the places of mistakes are the program's."""
    result = counted(2, "--check", "--stats")
    assert result.status == 0 and result.errors[0] == "what 2 PEs did" and re.search(r"shmem_barrier_all  counted\.c:\d+$", result.err, re.M), result
    with temporary() as folder:
        pathlib.Path(folder, "twice.c").write_text(LOCKS_TWICE, encoding="ascii")
        subprocess.run([harness.BUILD / "bin" / "oshcc", "-g", f"{folder}/twice.c", "-o", f"{folder}/twice"], check=True)
        result = run("-n", 1, "--check", "--stats", f"{folder}/twice")
    assert result.status == 1 and re.search(r"shmem_set_lock: lock: \S+ \(lock\) was set before by this thread at twice\.c:6,", result.err), result


LOCKS_TWICE = """#include <shmem.h>
static long lock;
int main(void)
{
    shmem_init();
    shmem_set_lock(&lock);
    shmem_set_lock(&lock);
    return 0;
}
"""


def test_variables():
    """LATERAL_STATS and LATERAL_CHECK do as the options under any launcher: a program alone, and oshrun without the options."""
    program = harness.BUILD / "tests" / "test_job_counted"
    for launcher in ([harness.BUILD / "bin" / "oshrun", "-n", "1"], []):
        with temporary() as folder:
            done = subprocess.run([*launcher, program], capture_output=True, text=True, check=False, timeout=50, cwd=folder,
                                  env=os.environ | {"LATERAL_STATS": "1", "LATERAL_TRACE": "t.json", "LATERAL_CHECK": "1"})
            names = {event["name"] for event in json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]}
        assert done.returncode == 0 and "what 1 PE did" in done.stderr and "shmem_barrier_all" in names, done
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=50, env=os.environ | {"LATERAL_STATS": "1", "LATERAL_CHECK": "race"})
    assert "LATERAL_STATS and LATERAL_TRACE have no effect beside LATERAL_CHECK=race" in done.stderr and "what 1 PE" not in done.stderr, done
    for mpirun in ("mpirun.openmpi", "mpiexec.hydra"):
        if shutil.which(mpirun):
            more = ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in mpirun else []
            done = subprocess.run([mpirun, *more, "-n", "2", program], capture_output=True, text=True, check=False, timeout=50,
                                  env=os.environ | {"LATERAL_STATS": "1"})
            assert done.returncode == 0 and done.stderr.count("what 2 PEs did") == 1, done


def test_uccs():
    """The same of a program of uccs.h; calls that fail move nothing, and what the library calls itself does not count."""
    program = harness.BUILD / "tests" / "test_uccs_counted"
    assert program.exists(), "tests/uccs is built with these tests"
    with temporary() as folder:
        result = run("-n", 4, "--stats", "--trace", f"{folder}/t.json", program)
        events = json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]
    assert result.status == 0 and result.out == "PASS\n" and result.errors[0] == "what 4 PEs did", result
    rows = [line.split() for line in result.errors[2:6]]
    for pe, row in enumerate(rows):
        assert row[:4] == [str(pe), "12", "3.9", "KiB"] and (float(row[5]) > 0.1 or pe == 0), (row, result)
        moves = [event for event in events if event["ph"] == "X" and event["pid"] == pe and event["cat"] == "move"]
        assert [event["name"] for event in moves] == ["uccs_put"] * 10 + ["uccs_atomic", "uccs_get_blocks"], moves
        assert sum(event["args"]["bytes"] for event in moves) == 4016 and {event["args"]["pe"] for event in moves} == {(pe + 1) % 4}, moves
    assert re.search(r"^ +[0-9.]+ +4 +PE [1-3]: (0\.[1-9]|[1-9])[0-9.]* s  uccs_barrier  counted\.c:\d+$", result.err, re.M), result
    assert re.search(r"^ +2 +\. +\. +\. +3\.9 KiB$", result.err, re.M), result
    assert {event["name"] for event in events if event.get("cat") == "wait"} >= {"uccs_wait", "uccs_stream_flush", "uccs_barrier", "uccs_allgather"}, events


def test_uccs_nodes():
    """Over nodes, where the numbers come to PE 0 as messages; a handler that calls uccs_finalize ends nothing."""
    result = run("-n", 2, "--stats", harness.BUILD / "tests" / "test_uccs_counted", env={"LATERAL_NODE_SIZE": "1", "UCX_TLS": "tcp,self"})
    assert result.status == 0 and [line.split()[:4] for line in result.errors[2:4]] == [[str(pe), "12", "3.9", "KiB"] for pe in (0, 1)], result
    result = run("-n", 2, "--stats", harness.BUILD / "tests" / "test_uccs_am")
    assert result.status == 0 and result.out == "PASS\n" and result.err.count("what 2 PEs did") == 1, result


def test_many():
    """Of more PEs than a matrix is readable for, the pairs that moved most."""
    result = counted(18, "--stats")
    assert result.status == 0 and "the pairs that moved most" in result.err and "bytes from" not in result.err, result
    assert re.search(r"^  PE 17 to PE 0: 3\.9 KiB$", result.err, re.M), result
    assert len([line for line in result.errors if re.match("  PE .* to PE ", line)]) == 10, result


IN_COMMAS = """#include <locale.h>
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    setlocale(LC_ALL, "");
    shmem_init();
    shmem_barrier_all();
    shmem_finalize();
    printf("%.1f\\n", 1.5);
    return 0;
}
"""


def test_language():
    """Numbers of a program that has chosen a language with a decimal comma: the table and the timeline have points, the program its commas."""
    needs("localedef")
    with temporary() as folder:
        pathlib.Path(folder, "commas.c").write_text(IN_COMMAS, encoding="ascii")
        subprocess.run([harness.BUILD / "bin" / "oshcc", f"{folder}/commas.c", "-o", f"{folder}/commas"], check=True)
        if subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], check=False, capture_output=True).returncode:
            raise harness.Skip("localedef knows no de_DE (Debian: locales)")
        result = run("-n", 2, "--stats", "--trace", f"{folder}/t.json", f"{folder}/commas", env={"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"})
        events = json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]
    assert result.status == 0 and result.lines == ["1,5", "1,5"], result
    assert not re.search(r"\d,\d", result.err) and re.search(r"\d\.\d", result.err), result
    assert {event["name"] for event in events} >= {"shmem_barrier_all"}, events


def test_trace():
    """The timeline: every call of every PE with its times, threads apart; no table unless it is asked for."""
    with temporary() as folder:
        result = counted(4, "--trace", "t.json", "--wdir", "/", cwd=folder)
        assert result.status == 0 and not result.err, result
        events = json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [e["args"]["name"] for e in events if e["ph"] == "M"] == [f"PE {pe}" for pe in range(4)], events
    calls = [e for e in events if e["ph"] == "X"]
    for pe in range(4):
        mine = [e for e in calls if e["pid"] == pe]
        moves = [e for e in mine if e["cat"] == "move"]
        assert len(moves) == OPERATIONS and sum(e["args"]["bytes"] for e in moves) == MOVED, mine
        assert {e["args"]["pe"] for e in moves} <= {(pe + 1) % 4, 0}, moves
        assert len({e["tid"] for e in mine}) == 2 and all(e["dur"] >= 0 for e in mine), mine
        barrier = [e for e in mine if e["name"] == "shmem_barrier_all"]
        assert len(barrier) == 1 and (barrier[0]["dur"] > 200000 or pe == 0), barrier
    arrows = {pe: ([e for e in events if e["ph"] == "s" and e["id"] == f["id"]][0]) for pe in range(4) for f in events
              if f["ph"] == "f" and f["pid"] == pe}
    assert {pe: arrow["pid"] for pe, arrow in arrows.items()} == {pe: (pe - 1) % 4 for pe in range(4)}, arrows
    for pe, arrow in arrows.items():
        stores = [e for e in calls if e["pid"] == arrow["pid"] and e["ts"] == arrow["ts"]]
        assert [e["name"] for e in stores] == ["shmem_putmem_signal"] and stores[0]["args"]["pe"] == pe, stores
    barriers = [e for e in calls if e["name"] == "shmem_barrier_all"]
    assert max(e["ts"] for e in barriers) <= min(e["ts"] + e["dur"] for e in barriers), "nobody leaves before all have come: one clock"


def test_clocks():
    """Nodes whose clocks differ by hours have one clock in the timeline."""
    unshare = [needs("unshare"), "--time", "--monotonic", "10000", "--fork"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        raise harness.Skip("this user may not set a clock")
    with temporary() as folder:
        chosen = f'if [ $LATERAL_PE = 1 ]; then exec {" ".join(unshare)} "$0"; else exec "$0"; fi'
        result = run("-n", 2, "--trace", f"{folder}/t.json", "sh", "-c", chosen, harness.BUILD / "tests" / "test_job_counted",
                     env={"LATERAL_NODE_SIZE": "1", "UCX_TLS": "tcp,self"})
        assert result.status == 0, result
        events = json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]
    barriers = [e for e in events if e["name"] == "shmem_barrier_all"]
    error = 100000          # microseconds, of clocks that are 10,000 s apart
    assert len(barriers) == 2 and max(e["ts"] for e in barriers) <= min(e["ts"] + e["dur"] for e in barriers) + error, \
        f"nobody leaves before all have come: {barriers}"


REPORT = pathlib.Path(__file__).resolve().parents[2] / "tools/report.py"
# What a user does and sees, for a page of lateral-report: it ends as the page's title.
USER = """<script>
const seen = [], view = () => bars.getAttribute("viewBox").split(" ").map(Number), box = bars.getBoundingClientRect();
const at = (x, more) => ({ bubbles: true, clientX: box.left + x * box.width, clientY: box.top + 3, pointerId: 1, ...more });
const shown = () => rows.filter(row => row.style.display !== "none").length, note = () => seen.push(view()[0] / span, view()[2] / span);
bars.dispatchEvent(new WheelEvent("wheel", at(.25, { deltaY: -1, cancelable: true }))); note();
for (const [what, x] of [["pointerdown", .5], ["pointermove", .4], ["pointerup", .4]])
    try { bars.dispatchEvent(new PointerEvent(what, at(x))); } catch (none) { }
note();
bars.dispatchEvent(new PointerEvent("pointermove", at(.9))); note();
document.getElementById("in").onclick(); document.getElementById("all").onclick(); note();
seen.push(shown()); labels[0].onclick(); seen.push(shown()); labels[0].onclick(); seen.push(shown());
document.title = JSON.stringify([seen, getComputedStyle(document.body).backgroundColor, document.documentElement.scrollWidth - innerWidth]);
</script>"""


def in_browser(page, *options):
    """What a browser makes of the page."""
    tool = next((name for name in ("chromium", "google-chrome") if shutil.which(name)), None)
    if not tool:
        raise harness.Skip("neither chromium nor google-chrome is installed")
    with temporary() as folder:
        return subprocess.run([tool, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", *options, "--dump-dom",
                               pathlib.Path(page).as_uri()], capture_output=True, text=True, timeout=50, check=False).stdout


def used(page, light, *options):
    """A user zooms and moves the page's timeline, unfolds the first PEs and folds them again; nothing but the timeline's view moves."""
    pathlib.Path(page).write_text(pathlib.Path(page).read_text(encoding="utf-8").replace("</body>", USER + "</body>"), encoding="utf-8")
    shown = in_browser(page, *options)
    seen, back, wide = json.loads(re.search(r"<title>(\[\[.*?)</title>", shown)[1])
    wanted = [.05, .8, .13, .8, .13, .8, 0, 1, 63, 63 + 15, 63]
    assert all(abs(one - other) < 1e-3 for one, other in zip(seen, wanted, strict=True)), (seen, wanted)
    assert back == ("rgb(255, 255, 255)" if light else "rgb(22, 24, 28)") and wide <= 0, (back, wide)


def test_report():
    """lateral-report: a page without anything from elsewhere, with all PEs, sums and bars."""
    with temporary() as folder:
        counted(4, "--trace", f"{folder}/t.json")
        subprocess.run([REPORT, "-o", f"{folder}/r.html", f"{folder}/t.json"], check=True)
        text = pathlib.Path(folder, "r.html").read_text(encoding="utf-8")
        assert not re.search(r"(src|href)=|@import|url\(", text), "the page wants something from elsewhere"
        for wanted in ("<td class=text>PE 3</td><td>13</td><td>3.9 KiB</td>", "<td class=text>shmem_barrier_all</td><td>4</td>",
                       "<title>PE 2 to PE 3: 3.9 KiB</title>", "<title>PE 2 to PE 1: nothing</title>"):
            assert wanted in text, (wanted, text[:3000])
        assert text.count('class="move"') == 4 * OPERATIONS, "a bar for each operation"
        assert re.search(r"<td class=text>shmem_barrier_all</td>.*?<td class=text>counted\.c:\d+</td></tr>", text), "lines of the program"
        assert re.search(rf"<h1>test_job_counted</h1>\s*<p>{re.escape(str(harness.BUILD))}/tests/test_job_counted; \d{{4}}-\d\d-\d\d .*?; {os.uname().nodename}; 4 PEs", text), text[:4000]
        assert len(json.loads(re.search(r"const arrows = (\[.*?\]), span", text)[1])) == 4 and "prefers-color-scheme: dark" in text
        pathlib.Path(folder, "odd").write_text("{}")
        for name, why in (("odd", "not a timeline of oshrun --trace"), ("none", "No such file")):
            done = subprocess.run([REPORT, f"{folder}/{name}"], capture_output=True, text=True, check=False, cwd=folder)
            assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1, done


def thousand(folder):
    """The page of a thousand PEs on ten hosts, which have put in turn."""
    events = [{"ph": "M", "pid": pe, "name": "process_name", "args": {"name": f"PE {pe}", "host": f"node{pe // 100}"}} for pe in range(1000)]
    events += [{"ph": "X", "pid": pe, "tid": 7, "ts": 10.0 * pe, "dur": 5.0, "name": "shmem_putmem", "cat": "move",
                "args": {"place": 0, "at": 0, "pe": (pe + 1) % 1000, "bytes": 8, "room": 8}} for pe in range(1000)]
    pathlib.Path(folder, "t").write_text(json.dumps({"traceEvents": events}), encoding="ascii")
    subprocess.run([REPORT, "-o", f"{folder}/r.html", f"{folder}/t"], check=True)
    return pathlib.Path(folder, "r.html")


def test_folded():
    """A thousand PEs: groups of neighbours in the tables and the matrix, and one row of each in the timeline."""
    with temporary() as folder:
        text = thousand(folder).read_text(encoding="utf-8")
    assert "10 hosts (node0, node1, node2, node3, and more); 1000 PEs" in text and "PE 0-15 to PE 0-15: 120 B" in text and "PE 0-15 to PE 16-31: 8 B" in text
    assert text.count("<td class=text>PE ") == 63 and text.count("data-first>") == 63 and text.count("<g data-row") == 1000
    assert text.count("class=folded") == 63, "each group unfolds"


def test_otf2():
    """Without the Python package a line tells how to get it; tests/install/otf2.py writes an archive and reads it."""
    with temporary() as folder:
        pathlib.Path(folder, "t.json").write_text('{"traceEvents": []}')
        done = subprocess.run([sys.executable, "-I", "-S", REPORT, "--otf2", f"{folder}/a", f"{folder}/t.json"], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 1 and "pip install otf2" in done.stderr and len(done.stderr.splitlines()) == 1, done
        assert not pathlib.Path(folder, "a").exists()


def test_browser():
    """A browser shows all that is drawn on the page of lateral-report."""
    with temporary() as folder:
        counted(2, "--trace", f"{folder}/t.json")
        subprocess.run([REPORT, "-o", f"{folder}/r.html", f"{folder}/t.json"], check=True)
        text = pathlib.Path(folder, "r.html").read_text(encoding="utf-8")
        shown = in_browser(f"{folder}/r.html")
        assert shown.count("<rect") == text.count("<rect") > 2 * OPERATIONS and "Timeline</h2>" in shown, shown[:500]
        width = float(re.search(r'id="bars".*? viewBox="0 0 ([0-9.e+-]+) ', shown)[1])
        assert len(re.findall(r'<line class="head" x1="\d', shown)) == 2 and re.search(r'<span style="left: [0-9.]+%;?">[0-9.e+-]+ ms</span>', shown), "arrows and a scale"
        used(thousand(folder), True)


def test_browser_at_night():
    """The same in the dark, on a narrow screen."""
    with temporary() as folder:
        used(thousand(folder), False, "--blink-settings=preferredColorScheme=0", "--window-size=500,900")


def test_mistakes():
    """Not with --check=race; a file that cannot be written is named; a job without the library is as before."""
    one_line(run("--check=race", "--stats", "true"), r"--check=race and --stats cannot be used together", 2)
    one_line(run("--check=race", "--trace", "a", "true"), r"--check=race and --trace cannot be used together", 2)
    one_line(run("--trace", "", "true"), r"expected the name of a file", 2)
    one_line(run("--trace", "/no/such/folder/t", "true"), r"--trace /no/such/folder/t: No such file or directory", 2)
    one_line(run("--trace", "/usr", "true"), r"--trace /usr: Is a directory", 2)
    with temporary() as folder:
        assert run("--trace", f"{folder}/t", "true").status == 0 and not os.listdir(folder)
    result = counted(2, "--stats", "env", "LATERAL_TRACE=/no/such/folder/t")
    assert result.status == 0 and result.err.count("no timeline: /no/such/folder/t: No such file or directory") == 2, result
    result = run("-n", 2, "--stats", "echo", "x")
    assert result.status == 0 and result.lines == ["x", "x"], result
    one_line(run("-n", 2, "--stats", harness.BUILD / "tests" / "test_conform_start_pes"), "PE 0 ends without a finalize", 0)


if __name__ == "__main__":
    harness.main(globals())
