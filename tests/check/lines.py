#!/usr/bin/env python3
"""Lines about mistakes name the line of the program that has made the call; with --check also what it has asked for, and threads
that may not call.

    lines.py OSHRUN OSHCC [static]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static long word;
static uint64_t signal_word;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static void *waits(void *unused)
{
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    return unused;
}
static void *counts(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&one);
        shmem_long_atomic_inc(&word, 0); /* thread */
        pthread_mutex_unlock(&one);
    }
    return unused;
}
static void together(void *(*what)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    if (what == waits) {
        usleep(200000);
        shmem_long_p(&word, 1, shmem_my_pe()); /* overlapping */
    } else {
        counts(NULL);
    }
    pthread_join(thread, NULL);
}
int main(int argc, char **argv)
{
    const char *what = argv[1];
    int provided, level = argc > 2 ? argv[2][0] - '0' : 0;
    long here = 0;
    if (argc > 2)
        shmem_init_thread(level, &provided);
    else
        shmem_init();
    if (!strcmp(what, "put_pe"))
        shmem_long_put(&word, &here, 1, 77); /* put_pe */
    if (!strcmp(what, "p_address"))
        shmem_long_p(&here, 1, 0); /* p_address */
    if (!strcmp(what, "g_pe"))
        here = shmem_long_g(&word, -1); /* g_pe */
    if (!strcmp(what, "get_nbi_address"))
        shmem_long_get_nbi(&word, &here, 1, 0); /* get_nbi_address */
    if (!strcmp(what, "iput_pe"))
        shmem_long_iput(&word, &here, 1, 1, 1, 9); /* iput_pe */
    if (!strcmp(what, "atomic_pe"))
        shmem_long_atomic_add(&word, 1, 3); /* atomic_pe */
    if (!strcmp(what, "fetch_address"))
        here = shmem_long_atomic_fetch_inc(&here, 0); /* fetch_address */
    if (!strcmp(what, "signal_pe"))
        shmem_long_put_signal(&word, &here, 1, &signal_word, 1, SHMEM_SIGNAL_SET, 8); /* signal_pe */
    if (!strcmp(what, "signal_operation"))
        shmem_long_put_signal(&word, &here, 1, &signal_word, 1, 99, 0); /* signal_operation */
    if (!strcmp(what, "free"))
        shmem_free(&here); /* free */
    if (!strcmp(what, "clear"))
        shmem_clear_lock(&word); /* clear */
    if (!strcmp(what, "root"))
        shmem_long_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, 5); /* root */
    if (!strcmp(what, "counter"))
        shmemx_ct_wait((shmemx_ct_t)&here, 1); /* counter */
    if (!strcmp(what, "malloc"))
        printf("%p\n", shmem_malloc((size_t)64 << 30));
    if (!strcmp(what, "malloc_with_hints"))
        printf("%p\n", shmem_malloc_with_hints((size_t)64 << 30, 0));
    if (!strcmp(what, "align"))
        printf("%p\n", shmem_align(64, (size_t)64 << 30));
    if (!strcmp(what, "calloc"))
        printf("%p\n", shmem_calloc(8, (size_t)8 << 30));
    if (!strcmp(what, "thread"))
        together(counts);
    if (!strcmp(what, "overlapping"))
        together(waits);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
"""
CALLS = {"put_pe": "shmem_long_put: pe 77", "p_address": "shmem_long_p: dest 0x", "g_pe": "shmem_long_g: pe -1", "get_nbi_address": "shmem_long_get_nbi: source 0x",
         "iput_pe": "shmem_long_iput: pe 9", "atomic_pe": "shmem_long_atomic_add: pe 3", "fetch_address": "shmem_long_atomic_fetch_inc: dest 0x",
         "signal_pe": "shmem_long_put_signal: pe 8", "free": "shmem_free: ptr 0x", "clear": "shmem_clear_lock: lock 0x",
         "root": "shmem_long_broadcast: PE_root 5", "counter": "shmemx_ct_wait: ct 0x"}

# Mistakes at line 5, in programs whose calls go through an overload or a procedure of the module.
OTHERS = {"oshc++": ("cpp", ["-O0"], "#include <shmem.h>\nint main()\n{\n    shmem_init();\n    shmem_put((long *)8, (long *)8, 1, 77);\n}\n"),
          "oshfort": ("f90", [], "program wrong\n  use shmem\n  integer, save :: there\n  call shmem_init()\n  call shmem_put(there, there, 1_8, 77)\nend program\n")}


def other_languages(oshcc, folder, run):
    for compiler, (ending, flags, text) in OTHERS.items():
        source, program, way = pathlib.Path(folder, f"wrong.{ending}"), f"{folder}/wrong_{ending}", pathlib.Path(oshcc).with_name(compiler)
        source.write_text(text)
        if subprocess.run([way, "-g", *flags, source, "-o", program], check=False, capture_output=True).returncode and compiler == "oshfort":
            continue                    # no Fortran compiler, or a build without the module
        assert f": pe 77 is out of range, the job has PEs 0 to 1; called at wrong.{ending}:5\n" in run(program)[1], run(program)


def main():
    oshrun, oshcc, *static = sys.argv[1:]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LATERAL_CHECK")}
    of = {match[1]: number for number, line in enumerate(PROGRAM.splitlines(), 1) for match in [re.search(r"/\* (\w+) \*/$", line)] if match}
    with tempfile.TemporaryDirectory(prefix="lateral-lines.") as folder:
        source, program = pathlib.Path(folder, "wrong.c"), f"{folder}/wrong"
        source.write_text(PROGRAM)
        subprocess.run([oshcc, *(["-static"] if static else []), "-g", "-O1", "-pthread", source, "-o", program], check=True)

        def run(*words):
            done = subprocess.run([oshrun, "-n", "2", *words], capture_output=True, text=True, timeout=60, check=False, env=clean)
            return done.returncode, done.stderr

        def names(what, text, *words, status=1):
            code, said = run(*words)
            assert code == status and re.search(rf"^lateral: PE \d: {text}.*; called at wrong\.c:{of[what]}$", said, re.MULTILINE), (words, code, said)

        for what, text in CALLS.items():
            names(what, text, program, what)
        if static or re.search("[ :]", oshrun): # nothing can be preloaded from such a path
            return
        other_languages(oshcc, folder, run)
        names("signal_operation", "shmem_long_put_signal: sig_op: 99", "--check", program, "signal_operation")
        names("put_pe", "shmem_long_put: pe: 77", "--check", program, "put_pe")
        for call in ("malloc", "malloc_with_hints", "align", "calloc"):
            code, said = run("--check", program, call)
            assert code == 0 and said.splitlines()[0].startswith(f"lateral: PE 0: shmem_{call}: {64 << 30} bytes: ") and len(said.splitlines()) == 1, said
        another = "shmem_long_atomic_inc: thread: called by another thread than the one that initialized"
        names("thread", another, "--check", program, "thread")
        names("thread", another, "--check", program, "thread", "1")
        for level in "23":
            assert run("--check", program, "thread", level) == (0, ""), level
        names("overlapping", "shmem_my_pe: thread: called while another thread is in a call", "--check", program, "overlapping", "2")
        assert run("--check", program, "overlapping", "3") == (0, "")
    print("as expected")


if __name__ == "__main__":
    main()
