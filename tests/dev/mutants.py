#!/usr/bin/env python3
"""The faults of ./dev mutants: which a piece of code yields, that hidden text yields none, that each key is found again; the
verdicts on tests; that one build holds many faults; and that tests/mutants/survivors.txt speaks of faults that exist."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/dev"))
import mutants                                                              # noqa: E402
import mutants_cage                                                         # noqa: E402
import mutate                                                               # noqa: E402
import schemata                                                             # noqa: E402

CODE = r'''#if A < B
/* if (a < b) drop(); */
static const char *words = "a < b && c + 1";
int f(int a, int b)
{
    uint64_t wide = (size_t)a * 2;
    for (int i = 0; i < a; i++)
        look(i + b);
    if (!a || b >= 3)
        free(words);
    atomic_fence_seqcst();
    say("%d", a - 1);
    return wide == (uint64_t)b - 1;
    int least = a < b ? a : b, sign = a < b ? b : 0;
    const int no_statement =
        look(a);
}
'''
EXPECTED = {
    (6, "width", "uint32_t wide = (size_t)a * 2;"),
    (7, "compare", "for (int i = 0; i <= a; i++)"), (7, "one", "for (int i = 1; i < a; i++)"),
    (8, "one", "look(i - b);"), (8, "drop", "(void)0;"),
    (9, "logic", "if (a || b >= 3)"), (9, "logic", "if (!a && b >= 3)"), (9, "compare", "if (!a || b > 3)"),
    (11, "order", "(void)0;"), (12, "one", 'say("%d", a);'),
    (13, "compare", "return wide != (uint64_t)b - 1;"), (13, "width", "return wide == (uint32_t)b - 1;"),
    (13, "one", "return wide == (uint64_t)b;"),
    (14, "compare", "int least = a < b ? a : b, sign = a <= b ? b : 0;"),
}


def check_faults():
    faults = mutate.faults_of("src/x.c", CODE)
    found = {(fault.line, fault.kind, fault.new_line) for fault in faults}
    assert found == EXPECTED, f"missing {EXPECTED - found}, too many {found - EXPECTED}"
    moved = {fault.key() for fault in mutate.faults_of("src/x.c", "\n\n" + CODE)}
    assert moved == {fault.key() for fault in faults}
    for fault in faults:
        changed = fault.apply(CODE).splitlines()
        differ = [number for number, (old, new) in enumerate(zip(CODE.splitlines(), changed), 1) if old != new]
        assert differ == [fault.line] and changed[fault.line - 1].strip() == fault.new_line, (fault, differ)


def check_verdicts():
    for status, text, verdict in ((0, "", "passed"), (77, "skipped: no", "skipped"), (None, "+ run", "time-out"), (1, "x.c:3: not true: a", "named"),
                                  (124, "oshrun: time limit of 3 s reached (--timeout)", "stuck"),
                                  (124, "oshrun: time limit of 3 s reached (--timeout)\n  PE 0,1  shmem_barrier_all (2 of 3 have come)  2.9 s  x.c:3\n  PE 2    is in no wait that lasts", "named"),
                                  (124, "oshrun: time limit of 3 s reached (--timeout)\n  PE 0-2  is in no wait that lasts           x.c:3", "stuck"),
                                  (124, "x.c:3: not true within 2 s: f() returns\noshrun: time limit of 3 s reached (--timeout)", "named"), (-11, "", "crashed"),
                                  (139, "oshrun: PE 1 was killed by signal 11 (Segmentation fault)", "crashed"),
                                  (134, "x.c:3: not true: a\nAborted", "named"), (1, "lateral: PE 1: shmem_put: dest is not", "named"), (1, " ", "crashed"),
                                  (1, "oshrun: time limit of 1.5 s reached (--timeout)\noshrun: killed by signal 11\nrun.py: exit status 139, expected 124", "named"),
                                  (1, "oshrun: PE 1 was killed by signal 11 (Segmentation fault)\nrun.py: exit status 139, expected 0\nrun.py: no match for /^PASS$/", "crashed"),
                                  (1, "oshrun: PE 1 was killed by signal 11 (Segmentation fault)\nrun.py: no match for /store_nowhere/", "named")):
        assert mutants_cage.judge(status, text) == verdict, (status, text, mutants_cage.judge(status, text))
    crash = "PE 0 was killed by signal 11\n  PE 0 died of signal 11 (Segmentation fault): nothing is mapped\n    f    x.c:7\n    main y.c:3\n"
    for place, verdict in ((("x.c", 8), "named"), (("x.c", 12), "crashed"), (("z.c", 7), "crashed"), (None, "crashed")):
        assert mutants_cage.judge(139, crash, place) == verdict, place


PROGRAM = r'''#include <stdio.h>
int table[2 - 1];
static int below(int a, int b)
{
    if (a < b)
        goto yes;
    return 0;
yes:
    return __LINE__;
}

int main(void)
{
    char *text = sizeof(int) + (char *)table;
    printf("%d %d\n", below(1, 1), below(0, 1));
    return text - (char *)table == sizeof(int) ? 0 : 1;
}
'''


def check_schemata():
    """One build holds all faults but those that do not compile or lie outside of a function; a file says which of them is on."""
    faults = dict(enumerate(mutate.faults_of("x.c", PROGRAM), 1))
    place = {(fault.line, fault.kind): number for number, fault in faults.items()}
    with tempfile.TemporaryDirectory() as folder:
        header, on, file, program = (pathlib.Path(folder, name) for name in ("on.h", "on", "x.c", "x"))
        header.write_text(schemata.HEADER % on)
        source = schemata.Source("x.c", PROGRAM, faults)
        assert source.faults.keys() == faults.keys() - {place[2, "one"]}, source.faults
        file.write_text(source.checkable(header))
        words = subprocess.run(["cc", "-w", "-fsyntax-only", file], capture_output=True, text=True, check=False).stderr
        refused = source.refused(header, str(file), words)
        assert refused == {place[14, "one"]}, (refused, words)              # int - pointer
        source.drop(refused)
        file.write_text(source.written(header))
        subprocess.run(["cc", "-w", file, "-o", program], check=True)
        for number, said in ((0, "0 9"), (place[5, "compare"], "9 9"), (place[16, "compare"], "0 9")):
            on.write_text(str(number))
            ran = subprocess.run([program], capture_output=True, text=True, check=False)
            assert ran.stdout.strip() == said and ran.returncode == (number == place[16, "compare"]), (number, ran)


def check_list():
    """What is written of survivors can be read. A line of code that has changed since is a word for whoever reads this, no fault."""
    told = mutants.read_list()
    keys = {fault.key() for fault in mutants.all_faults(["src", "launch"])}
    assert told
    for lost in sorted(set(told) - keys):
        print("no fault any more:", *lost, sep="\n    ")


def check_rooms():
    rooms = {path.parent.name for path in (ROOT / "tests").glob("*/CMakeLists.txt")}
    named = {room for rooms_of in mutants.ROOMS.values() for room in rooms_of.split()}
    assert named <= rooms, named - rooms


check_faults()
check_verdicts()
check_schemata()
check_list()
check_rooms()
print("as it should")
