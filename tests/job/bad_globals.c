/* A call with an address that is not symmetric says what lies there, and what to use: variables of threads, of shared
 * libraries and of the stack, constants, memory of malloc, and globals that are not shared.
 * pes: 2
 * status: 1
 * timeout: 20
 * case: stack
 * args: stack
 * fails: ^lateral: PE 1: shmem_long_p: dest 0x[0-9a-f]+ is not a symmetric address: it is a local variable, on the stack; use .*shmem_malloc
 * case: malloc
 * args: malloc
 * fails: is not a symmetric address: it is private memory, as of malloc .*; use .*shmem_malloc
 * case: nowhere
 * args: nowhere
 * fails: is not a symmetric address: nothing is mapped there; use .*shmem_malloc
 * case: thread_local
 * args: thread_local
 * fails: is not a symmetric address: `of_thread` is thread-local: .*; use .*shmem_malloc
 * case: constant
 * args: constant
 * fails: is not a symmetric address: `fixed` is constant data of the program; use .*shmem_malloc
 * case: library
 * args: library
 * fails: is not a symmetric address: `_IO_2_1_stdout_` is a variable of lib[a-z]+.so[.0-9]*, and those of shared libraries are not shared; .*shmem_malloc
 * case: switched_off
 * args: global
 * env: LATERAL_GLOBALS=0
 * fails: is not a symmetric address \(global variables are private here: LATERAL_GLOBALS is off\): `word` is a variable of the program; use shmem_malloc
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const long fixed[4] = {1, 2, 3, 4};
static _Thread_local long of_thread[4];
static long word;

static long *find(const char *what, long *local)
{
    if (strcmp(what, "stack") == 0)
        return local;
    if (strcmp(what, "nowhere") == 0)
        return NULL;
    if (strcmp(what, "malloc") == 0)
        return malloc(sizeof *local);
    if (strcmp(what, "thread_local") == 0)
        return &of_thread[2];
    if (strcmp(what, "constant") == 0)
        return (long *)(uintptr_t)&fixed[1];
    if (strcmp(what, "library") == 0)
        return (long *)(void *)stdout; /* which points to a variable of the C library */
    return &word;
}

int main(int argc, char **argv)
{
    long local = 0;
    shmem_init();
    if (shmem_my_pe() == 1)
        shmem_long_p(find(argc > 1 ? argv[1] : "", &local), 1, 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
