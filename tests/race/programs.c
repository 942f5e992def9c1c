/* Runs the programs of racy.c and fine.c in one job, or those whose names begin with the argument. check.py knows from the
 * lines of a report which program it is about. */
#include "programs.h"

#include <stdlib.h>

long *a, *other;
uint64_t *signals;
int me;

static const struct program {
    void (*run)(void);
    const char *name;
} programs[] = {
#define PROGRAM(name) {name, #name},
#include "programs.def"
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

int main(int argc, char **argv)
{
    other = calloc(64, sizeof *other);
    shmem_init();
    me = shmem_my_pe();
    long *all = shmem_calloc(PROGRAMS * 64, sizeof *all);
    for (int i = 0; i < PROGRAMS; i++) {
        if (argc > 1 && strncmp(argv[1], programs[i].name, strlen(argv[1])) != 0)
            continue;
        a = all + 64 * i;
        signals = (uint64_t *)a + 48;
        shmem_barrier_all();
        programs[i].run();
        shmem_barrier_all();
    }
    shmem_finalize();
    free(other);
    return 0;
}
