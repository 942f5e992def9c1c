#!/usr/bin/env python3
"""Global variables are symmetric however a program is linked, whatever is linked into it, and however it is started; and a
program that does not call the library is as it was."""
import contextlib
import pathlib
import re
import shutil
import subprocess

import harness
from harness import temporary

SANITIZED = False   # the programs here bring their own

PROGRAM = r"""
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef EXTRA
#define EXTRA
#endif
extern char **environ;              /* copied into the program where it has a fixed place */
static long inbox[300], initialised = 42;
static long *const first = &inbox[0];
static long *taken;
static _Thread_local long of_thread = 7;
static char large[1 << 30];
static const char *const words[] = {"a", "b"};
__attribute__((constructor)) static void construct(void) { taken = &inbox[1]; initialised++; }
static void require(int good, const char *what)
{
    if (!good) { fprintf(stderr, "wrong: %s\n", what); exit(1); }
}
EXTRA
int main(int argc, char **argv)
{
    long before = 0;
    int provided;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : before) num_threads(3)
    for (long i = 0; i < 100; i++) before += i;
    require(before == 4950, "the region before init");
#endif
    fprintf(stdout, "%s", before < 0 ? "?" : "");
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    require(initialised == 43 && taken == &inbox[1] && first == inbox && words[1][0] == 'b', "what was there before");
    require(environ && getenv("PATH") && argc && argv[0], "the environment");
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_p(&inbox[me], 100 + me, pe);
        shmem_char_p(&large[(1 << 30) - 1 - me], (char)(me + 1), pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        require(inbox[pe] == 100 + pe && large[(1 << 30) - 1 - pe] == (char)(pe + 1), "what came");
    require(of_thread == 7 && large[1 << 29] == 0, "what stays private, or zero");
    shmem_barrier_all();
    if (me == 0)
        printf("ok %d\n", npes);
    shmem_finalize();
    return 0;
}
"""


def tool(*names):
    for name in names:
        if not shutil.which(name):
            raise harness.Skip(f"no {name}")


def build(folder, *words, program="p", compiler="oshcc", source=PROGRAM, env=None):
    """A program of these words; Skip when they cannot be had here."""
    path = pathlib.Path(folder, program + (".cc" if compiler == "oshc++" else ".c"))
    path.write_text(source)
    done = subprocess.run([harness.BUILD / "bin" / compiler, path, "-o", path.with_suffix(""), *words], capture_output=True,
                          text=True, check=False, env=harness.CLEAN | (env or {}), cwd=folder)
    if done.returncode and any(word in done.stderr for word in ("cannot find", "unrecognized option", "invalid linker name",
                                                                  "unable to find library", "library not found", "No such file")):
        raise harness.Skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return path.with_suffix("")


def works(program, pes=2, env=None, before=()):
    result = harness.run("-n", pes, *before, program, env=env)
    assert result.status == 0 and result.lines == [f"ok {pes}"], result


def each(*rows, **more):
    """One build after the other; those that cannot be had are left out, with a word, unless all are."""
    done = []
    with temporary() as folder:
        for words in rows:
            with contextlib.suppress(harness.Skip):
                works(build(folder, *words.split(), **more))
                done.append(words)
    left = [words for words in rows if words not in done]
    if left:
        print("not here:", ", ".join(left))
    if not done:
        raise harness.Skip(f"none of {rows}")


def test_links():
    """Position-independent or not, with and without RELRO, immediate binding and separate code, without a build-id."""
    each("-O2", "-no-pie -fno-pie", "-pie -fPIE -Wl,-z,norelro", "-no-pie -fno-pie -Wl,-z,norelro", "-pie -fPIE -Wl,-z,now",
         "-Wl,-z,lazy", "-Wl,-z,separate-code", "-Wl,-z,noseparate-code", "-no-pie -fno-pie -Wl,-z,noseparate-code",
         "-Wl,--build-id=none", "-O2 -flto")


def test_models():
    """The medium code model, whose large variables have a segment of their own."""
    each("-mcmodel=medium -no-pie -fno-pie", "-mcmodel=medium -pie -fPIE")


def test_static():
    """liblateral.a: a static program, at a fixed place or not, and one with shared libraries beside it."""
    library = harness.BUILD / "lib" / "liblateral.a"
    each("-static", "-static-pie", "-static -Wl,-z,norelro", "-static -O2 -flto")
    with temporary() as folder:
        path = pathlib.Path(folder, "p.c")
        path.write_text(PROGRAM)
        include = subprocess.run([harness.BUILD / "bin" / "oshcc", "--showme:compile"], capture_output=True, text=True, check=True).stdout
        subprocess.run(f"cc {include.strip()} p.c -o p {library} -pthread -ldl", shell=True, check=True, cwd=folder)
        works(path.with_suffix(""))


def linker(name, program):
    tool(program)
    each(*(f"-fuse-ld={name} {words}" for words in ("-pie -fPIE", "-no-pie -fno-pie", "-no-pie -fno-pie -Wl,-z,norelro", "-Wl,-z,now")))


def test_gold():
    """The linker gold."""
    linker("gold", "ld.gold")


def test_lld():
    """The linker lld, which makes two writable segments."""
    linker("lld", "ld.lld")


def test_mold():
    """The linker mold."""
    linker("mold", "ld.mold")


def test_address_sanitizer():
    """A program under the address sanitizer and that of undefined behaviour."""
    each("-fsanitize=address,undefined -g", "-fsanitize=undefined -g", "-fsanitize=address -no-pie -fno-pie")


def test_thread_sanitizer():
    """A program under the thread sanitizer."""
    each("-fsanitize=thread -g")


def test_patchelf():
    """patchelf with a longer run-time path, which gives a program another writable segment."""
    tool("patchelf")
    for words in (["-no-pie", "-fno-pie"], ["-pie", "-fPIE"], ["-no-pie", "-fno-pie", "-Wl,-z,norelro"]):
        with temporary() as folder:
            program = build(folder, *words)
            path = subprocess.run(["patchelf", "--print-rpath", program], capture_output=True, text=True, check=True).stdout.strip()
            for length in (200, 9000):
                subprocess.run(["patchelf", "--set-rpath", f"{path}:/{'a' * length}", program], check=True)
                works(program)


def test_openmp():
    """A parallel region before init."""
    each("-fopenmp", "-fopenmp -no-pie -fno-pie")


def test_openblas():
    """OpenBLAS, whose constructor starts threads."""
    source = PROGRAM.replace("EXTRA\nint main", "double cblas_dasum(int, const double *, int);\nint main").replace(
        "    shmem_init_thread", "    require(cblas_dasum(2, (double[]){1, -2}, 1) == 3, \"a sum\");\n    shmem_init_thread", 1)
    with temporary() as folder:
        works(build(folder, "-lopenblas", source=source), env={"OPENBLAS_NUM_THREADS": "3"})


def test_jemalloc():
    """jemalloc with its thread in the background, linked or preloaded."""
    with temporary() as folder:
        program = build(folder, "-Wl,--no-as-needed", "-ljemalloc")
        works(program, env={"MALLOC_CONF": "background_thread:true"})
        library = next(line.split("=>")[1].split()[0] for line in
                       subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines() if "jemalloc" in line)
        works(build(folder, program="q"), env={"MALLOC_CONF": "background_thread:true"}, before=("env", f"LD_PRELOAD={library}"))


def test_library_with_threads():
    """A library whose constructor starts a thread that stores to the program's variable all the time, before or behind
    ours on the line, or preloaded."""
    other = r"""
#include <pthread.h>
extern volatile long counted[1000] __attribute__((weak));
volatile int lost_a_store;
static void *count(void *unused)
{
    for (long round = 0;; round++)
        for (int i = 0; i < 1000; i++) {
            if (counted[i] != round)
                lost_a_store = 1;
            counted[i] = round + 1;
        }
    return unused;
}
__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (counted)
        pthread_create(&thread, 0, count, 0);
}
"""
    source = PROGRAM.replace("EXTRA\nint main", "volatile long counted[1000];\nextern volatile int lost_a_store __attribute__((weak));\nint main").replace(
        "    shmem_barrier_all();\n    if", "    for (int i = 0; i < 5000 && !counted[0]; i++)\n        usleep(1000);\n    require(counted[0] && !(&lost_a_store && lost_a_store), \"a store of the thread\");\n    shmem_barrier_all();\n    if")
    with temporary() as folder:
        pathlib.Path(folder, "other.c").write_text(other)
        subprocess.run(["cc", "-shared", "-fPIC", "other.c", "-o", "libother.so", "-pthread"], check=True, cwd=folder)
        link = ["-Wl,--no-as-needed", "-L.", "-lother", "-lm", f"-Wl,-rpath,{folder}", "-rdynamic"]
        works(build(folder, *link, source=source))
        works(build(folder, *link, "-no-pie", "-fno-pie", source=source))
        works(build(folder, f"-L{harness.BUILD}/lib", "-Wl,--no-as-needed", "-llateral", *link, source=source))
        works(build(folder, "-rdynamic", source=source), before=("env", f"LD_PRELOAD={folder}/libother.so"))


def test_programs_of_unlike_size():
    """Two programs in one job, and a small one that runs first in the place of each PE: each shares its globals."""
    small = PROGRAM.replace("large[1 << 30]", "large[1 << 16]").replace("(1 << 30)", "(1 << 16)").replace("1 << 29", "1 << 15")
    body = "    for (int pe = 0; pe < npes; pe++) {\n"
    own = "    for (int pe = me / 2 * 2; pe < me / 2 * 2 + 2; pe++) {\n"
    assert body in PROGRAM
    def halves(text):
        return text.replace(body, own).replace("    for (int pe = 0; pe < npes; pe++)\n        require", own.replace(" {", "") + "        require")
    with temporary() as folder:
        one, two = build(folder, program="one", source=halves(small)), build(folder, program="two", source=halves(PROGRAM))
        for line in ((one, two), (two, one)):
            for _ in range(5):
                result = harness.run("-n", 2, line[0], ":", "-n", 2, line[1])
                assert result.status == 0 and result.lines == ["ok 4"], result
        idle = build(folder, program="idle", source="int main(void) { return 0; }\n")
        whole = build(folder, program="whole")
        result = harness.run("-n", 3, "sh", "-c", f"{idle}; {idle} & exec {whole}")
        assert result.status == 0 and result.lines == ["ok 3"], result


def test_what_is_not_shared():
    """A global as address at a PE that runs another program, that does not share its own, or in a program whose memory could
    not move: one line names the cause, what lies there, and the remedy."""
    source = """
#include <shmem.h>
#include <stdlib.h>
long word;
NAME
int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_long_p(&word, 1, 1);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
"""
    with temporary() as folder:
        one, two = (build(folder, program=name, source=source.replace("NAME", f"int number(void) {{ return {i}; }}"))
                    for i, name in enumerate(("one", "two")))
        start = r"^lateral: PE 0: shmem_long_p: dest 0x[0-9a-f]+ (\(word\) )?is "
        result = harness.run("-n", 1, one, ":", "-n", 1, two)
        assert re.search(start + "a global variable, but PE 1 runs another program; use shmem_malloc", result.errors[0]), result
        result = harness.run("-n", 1, one, ":", "-n", 1, "env", "LATERAL_GLOBALS=0", one)
        assert re.search(start + "a global variable, but those of PE 1 are private; use shmem_malloc", result.errors[0]), result
        library = build(folder, "-shared", "-fPIC", program="libwhole", source=source.replace("main(void)", "whole(void)").replace("NAME", ""))
        library.rename(f"{library}.so")
        caller = pathlib.Path(folder, "caller.c")
        caller.write_text("int whole(void);\nint main(void) { return whole(); }\n")
        subprocess.run(["cc", caller, "-o", caller.with_suffix(""), f"-L{folder}", "-lwhole", "-Wl,--as-needed", f"-Wl,-rpath,{folder}",
                        f"-Wl,-rpath-link,{harness.BUILD}/lib"], check=True, cwd=folder)
        result = harness.run("-n", 2, caller.with_suffix(""))
        assert re.search(start + "not a symmetric address: `word` is a variable of libwhole.so, .* or use shmem_malloc", result.errors[0]), result


def test_launchers():
    """Other launchers, where each PE has a file of its own."""
    done = 0
    with temporary() as folder:
        program = build(folder, "-fopenmp")
        for words in (["mpiexec.hydra"], ["mpirun", "--allow-run-as-root", "--oversubscribe"]):
            if shutil.which(words[0]):
                result = subprocess.run([*words, "-n", "3", program], capture_output=True, text=True, check=False, env=harness.CLEAN)
                if "ok 3" not in result.stdout and "PMIx" in result.stderr:
                    continue
                assert result.returncode == 0 and result.stdout == "ok 3\n", result
                done += 1
    if not done:
        raise harness.Skip("no mpirun and no mpiexec.hydra")


def test_alone():
    """Without a launcher: a job of one PE. A program that does not call the library, with and without a launcher: its children have
    their own variables, and it holds no more descriptors than before when no launcher started it."""
    source = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long word = 5;
int main(int argc, char **argv)
{
    int status;
    const int next = dup(2);
    close(next);
    if (argc > 1 && next != 3)
        return 1;
    for (int way = 0; way < 3; way++) {
        const pid_t pid = way == 1 && argc > 1 ? _Fork() : way == 2 ? vfork() : fork();
        if (pid == 0) {
            if (way != 2)
                word = 6;
            _exit(way != 2 && word != 6);
        }
        if (waitpid(pid, &status, 0) != pid || status || word != 5)
            return 2;
    }
    if (argc > 1) {
        closefrom(3);
        return fork() && wait(&status) < 0;
    }
    return 0;
}
"""
    with temporary() as folder:
        whole, quiet = build(folder, program="whole"), build(folder, program="quiet", source=source)
        done = subprocess.run([whole], capture_output=True, text=True, check=False, env=harness.CLEAN)
        assert done.returncode == 0 and done.stdout == "ok 1\n", done
        done = subprocess.run([quiet, "alone"], capture_output=True, text=True, check=False, env=harness.CLEAN)
        assert done.returncode == 0 and not done.stderr, done
        result = harness.run("-n", 2, quiet)
        assert result.status == 0 and not result.err, result


if __name__ == "__main__":
    harness.main(globals())
