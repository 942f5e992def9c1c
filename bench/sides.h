/* Gives even PEs one half of the cores and odd PEs the other, so that what they exchange goes from one half to the other, as
 * between hosts. Without it the kernel may place two PEs on one core, where a stream between them is far faster, or a
 * PE's threads on the core of its target, which then waits for time slices.
 *
 * Include it first. Lateral's launcher alone says which PE this is before init; elsewhere the call does nothing. */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

/* Call it before init, so that the library's threads keep to the same cores. */
static inline void sides_take(void)
{
    const char *pe = getenv("LATERAL_PE");
    cpu_set_t all, mine;
    int number = 0;
    if (!pe || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && number++ % 2 == atoi(pe) % 2)
            CPU_SET(core, &mine);
    if (CPU_COUNT(&mine) > 0)
        (void)sched_setaffinity(0, sizeof mine, &mine);
}

#endif
