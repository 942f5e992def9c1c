/* The conformance tests share: CHECK, a start and an end. PE 0 prints PASS only after every PE has told it that it made at least one
 * check. */
#ifndef CONFORM_CHECK_H
#define CONFORM_CHECK_H
#include <shmem.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../checked.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated names are part of the standard */
#elif defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

#ifndef CHECK_MOST_PES
#define CHECK_MOST_PES 16 /* arrays with a place for each PE have room for so many */
#endif
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static long check_reports; /* symmetric: PEs that reported to PE 0 */

/* Who am I; for programs that call an initialisation routine of their own. */
static inline void check_who(void)
{
    within_start();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next_pe = (me + 1) % npes;
    prev_pe = (me + npes - 1) % npes;
    CHECK(npes <= CHECK_MOST_PES);
}

static inline void check_start(void)
{
    within_start();
    within_begins(__FILE__, __LINE__, "shmem_init()");
    shmem_init();
    check_who();
}

/* Collective. All PEs checked something and none failed. */
static inline void check_all_passed(void)
{
    CHECK(check_count > 0);
    shmem_long_atomic_inc(&check_reports, 0);
    shmem_barrier_all();
    if (me != 0)
        return;
    CHECK_EQ(check_reports, npes);
    printf("PASS\n");
    fflush(stdout);
}

/* The usual end of main. */
static inline int check_pass(void)
{
    check_all_passed();
    shmem_finalize();
    return 0;
}

/* The same size on every PE, so every PE may call it at once. */
static inline void *check_alloc(size_t size)
{
    void *at = shmem_malloc(size);
    CHECK(at != NULL);
    return at;
}

#endif
