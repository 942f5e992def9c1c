/* The tests of the MPI layer share: CHECK, a start and an end. They are programs of plain MPI; the layer is preloaded.
 *
 * A failed CHECK prints rank, file, line and expression and ends the job. At the end rank 0 prints PASS. */
#ifndef MPI_TEST_CHECK_H
#define MPI_TEST_CHECK_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../within.h"

#define CHECK(cond) ((cond) ? within_ends(__FILE__, __LINE__) : check_bad(__FILE__, __LINE__, #cond, 0, 0))
#define CHECK_EQ(a, b)                      \
    (within_begins(__FILE__, __LINE__, #a), \
     check_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b))
#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static int me, ranks, next_rank, prev_rank;

static inline void check_bad(const char *file, int line, const char *what, long long a, long long b)
{
    fprintf(stderr, "rank %d: %s:%d: CHECK(%s) failed: %lld against %lld\n", me, file, line, what, a, b);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void check_equal(long long a, long long b, const char *file, int line, const char *what)
{
    within_ends(file, line);
    if (a != b)
        check_bad(file, line, what, a, b);
}

static inline int error_class(int code)
{
    int class = code;
    MPI_Error_class(code, &class);
    return class;
}

/* A crash is told with the check behind which it came; the MPI would take it over, and does not tell of that. */
static inline void check_crashed(int number)
{
    within_tell(within_mine);
    signal(number, SIG_DFL);
}

static inline void check_crashes(void)
{
    signal(SIGSEGV, check_crashed);
    signal(SIGFPE, check_crashed);
    signal(SIGABRT, check_crashed);
}

static inline void check_start(int level)
{
    int provided;
    within_start();
    check_crashes();
    OK(MPI_Init_thread(0, 0, level, &provided));
    check_crashes(); /* an MPI may have handlers of its own now */
    CHECK(provided >= level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next_rank = (me + 1) % ranks;
    prev_rank = (me + ranks - 1) % ranks;
}

static inline int check_pass(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("PASS\n");
    fflush(stdout);
    return MPI_Finalize();
}

#endif
