#!/usr/bin/env python3
"""The headers compile without a warning in every language that users write, and refuse wrong types.

    languages.py GENERATED [COMPILER ...]    missing compilers are skipped, with a word
"""
import pathlib
import shutil
import subprocess
import sys

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()
C_WARNINGS = ["-Wstrict-prototypes", "-Wmissing-prototypes"]
CXX_WARNINGS = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
C_STANDARDS = ("c99", "c11", "gnu11", "c17", "gnu17", "c2x")
CXX_STANDARDS = ("c++11", "c++14", "c++17", "c++20")
HEADERS = "#include <shmem.h>\n#include <shmemx.h>\n#include <pshmem.h>\n#include <mpp/shmem.h>\n#include <mpp/shmemx.h>\n"

# A few uses that have gone wrong elsewhere: names that are function and generic, contexts, arrays, nesting.
USES = """
long uses(shmem_ctx_t ctx, shmem_team_t team, int *d, const int *s, const long *l, uint64_t *g, double *r, COMPLEX *z);
long uses(shmem_ctx_t ctx, shmem_team_t team, int *d, const int *s, const long *l, uint64_t *g, double *r, COMPLEX *z)
{
    int many[4] = {0, 0, 0, 0};
    shmem_put(d, s, 4, 1);
    shmem_put(ctx, many, s, 4, 1);
    shmem_p(ctx, r, 1.0, 1);
    shmem_p(many, shmem_g(s, 1), 1);
    shmem_atomic_and(ctx, d, 3, 0);
    shmem_atomic_fetch_add_nbi(ctx, &many[1], d, 3, 0);
    shmem_signal_add(g, 1, 0);
    shmem_signal_add(ctx, g, 1, 0);
    shmem_signal_set(ctx, g, 1, 0);
    shmem_put_signal(ctx, d, s, 4, g, 1, SHMEM_SIGNAL_ADD, 1);
    shmem_wait_until(d, SHMEM_CMP_EQ, 1);
    shmem_wait_until_any(d, 4, many, SHMEM_CMP_EQ, 1);
    long status = shmem_sync(team) + shmem_sum_reduce(team, z, z, 2) + shmem_and_reduce(team, g, g, 1);
    static long words[SHMEM_SYNC_SIZE];
    words[0] = SHMEM_SYNC_VALUE;
    shmem_sync(0, 0, 1, words);
    if (ctx == SHMEM_CTX_INVALID || team == SHMEM_TEAM_INVALID || ctx == SHMEM_CTX_DEFAULT || team == SHMEM_TEAM_WORLD)
        status++;
    return status + shmem_g(ctx, l, 0) + shmem_atomic_fetch(ctx, l, 0);
}
"""
WRONG = (("shmem_put", "struct odd { int x; } *d = 0; shmem_put(d, d, 1, 0);"),
         ("shmem_p", "void *d = 0; shmem_p(SHMEM_CTX_DEFAULT, d, 1, 0);"),
         ("shmem_atomic_add", "float *d = 0; shmem_atomic_add(d, 1.0f, 0);"),
         ("shmem_and_reduce", "double *d = 0; shmem_and_reduce(SHMEM_TEAM_WORLD, d, d, 1);"))


# C++ programs may hold their complex numbers in either type.
COMPLEX_USES = """
int sums(shmem_team_t team, TYPE *d, const TYPE *s);
int sums(shmem_team_t team, TYPE *d, const TYPE *s)
{
    shmem_complexd_sum_to_all(d, s, 1, 0, 0, 1, d, nullptr);
    return shmem_complexd_sum_reduce(team, d, s, 1) + shmem_complexd_prod_reduce(team, d, d, 1) +
           shmem_complexd_sum_exscan(team, d, s, 1) + shmem_prod_reduce(team, d, s, 1) + shmem_sum_inscan(team, d, s, 1);
}
"""


def compile_text(compiler, standard, generated, text, cxx, options):
    command = [compiler, f"-std={standard}", "-x", "c++" if cxx else "c", "-fsyntax-only", f"-I{generated}/include", *options, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def clean(compiler, cxx, generated):
    for standard in CXX_STANDARDS if cxx else C_STANDARDS:
        kind = "std::complex<double>" if cxx else "double _Complex"
        text = "#define SHMEM_NO_DEPRECATED_WARNINGS\n" + HEADERS
        text += "" if standard == "c99" else USES.replace("COMPLEX", kind)
        done = compile_text(compiler, standard, generated, text, cxx, WARNINGS + (CXX_WARNINGS if cxx else C_WARNINGS))
        if done.returncode:
            yield f"{compiler} -std={standard}:\n{done.stderr[:2000]}"
        # Including alone must be silent too when deprecated functions warn.
        done = compile_text(compiler, standard, generated, HEADERS, cxx, WARNINGS)
        if done.returncode:
            yield f"{compiler} -std={standard}, deprecation on:\n{done.stderr[:2000]}"


def either_complex(compiler, cxx, generated):
    kinds = ("std::complex<double>", "__extension__ typedef double _Complex cdouble;") if cxx else ()
    for standard, kind in ((s, k) for s in CXX_STANDARDS for k in kinds):
        text = "#define SHMEM_NO_DEPRECATED_WARNINGS\n#include <shmem.h>\n"
        text += kind + COMPLEX_USES.replace("TYPE", "cdouble") if "typedef" in kind else COMPLEX_USES.replace("TYPE", kind)
        done = compile_text(compiler, standard, generated, text, cxx, ["-Wall", "-Wextra", "-Werror"])
        if done.returncode:
            yield f"{compiler} -std={standard}, {kind}:\n{done.stderr[:2000]}"


def refuses(compiler, cxx, generated):
    for name, use in WRONG:
        done = compile_text(compiler, "c++11" if cxx else "c11", generated,
                            f"#include <shmem.h>\nvoid f(void);\nvoid f(void) {{ {use} }}\n", cxx, [])
        if done.returncode == 0:
            yield f"{compiler}: accepts {use}"
        elif not cxx and f"{name}_needs_" not in done.stderr or name not in done.stderr:
            yield f"{compiler}: the error does not name {name}:\n{done.stderr[:1000]}"


def deprecated(compiler, cxx, generated):
    text = "#include <shmem.h>\nint f(void);\nint f(void) { return _my_pe(); }\n"
    silent = compile_text(compiler, "c++11" if cxx else "c11", generated, "#define SHMEM_NO_DEPRECATED_WARNINGS\n" + text, cxx, ["-Werror"])
    loud = compile_text(compiler, "c++11" if cxx else "c11", generated, text, cxx, ["-Werror"])
    if silent.returncode or "deprecated" not in loud.stderr:
        yield f"{compiler}: deprecation warnings cannot be switched"


def main():
    generated, compilers = sys.argv[1], sys.argv[2:] or ["gcc", "clang", "g++", "clang++"]
    wrong, used = [], []
    for compiler in compilers:
        if not shutil.which(compiler):
            print(f"{compiler} is not installed: skipped")
            continue
        cxx = "++" in pathlib.Path(compiler).name
        used.append(compiler)
        for look in (clean, either_complex, refuses, deprecated):
            wrong += look(compiler, cxx, generated)
    print("\n".join(wrong) or f"clean with {', '.join(used)}")
    return 1 if wrong or not used else 0


if __name__ == "__main__":
    sys.exit(main())
