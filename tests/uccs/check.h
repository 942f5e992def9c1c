/* What every test of uccs.h uses: CHECK, a start and an end over uccs.h alone.
 *
 * A failed CHECK prints rank, file, line and expression and ends the process with status 1; the launcher
 * ends the others. At the end rank 0 says PASS once every process has told it that it checked something.
 * CHECK may be called from any thread. */
#ifndef UCCS_TEST_CHECK_H
#define UCCS_TEST_CHECK_H
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uccs.h>
#include <unistd.h>

#define CHECK(cond) ((cond) ? check_good() : check_bad(__FILE__, __LINE__, #cond))
#define CHECK_EQ(a, b) check_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define OK(call) check_equal((call), UCCS_OK, __FILE__, __LINE__, #call)

static int me, npes, next_pe, prev_pe;
static long check_count;

static inline int check_good(void)
{
    __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);
    return 1;
}

static inline int check_bad(const char *file, int line, const char *what)
{
    fprintf(stderr, "PE %d: %s:%d: CHECK(%s) failed\n", me, file, line, what);
    fflush(NULL);
    _exit(1);
}

static inline int check_equal(long long a, long long b, const char *file, int line, const char *what)
{
    char text[256];
    if (a == b)
        return check_good();
    snprintf(text, sizeof text, "%s: %lld against %lld", what, a, b);
    return check_bad(file, line, text);
}

static inline void check_who(void)
{
    me = uccs_group_rank(UCCS_GROUP_WORLD);
    npes = uccs_group_size(UCCS_GROUP_WORLD);
    next_pe = (me + 1) % npes;
    prev_pe = (me + npes - 1) % npes;
}

static inline void check_start(void)
{
    OK(uccs_init());
    check_who();
}

static inline int check_pass(void)
{
    int64_t mine = check_count > 0, all = 0;
    OK(uccs_allreduce(UCCS_GROUP_WORLD, &mine, &all, 1, UCCS_INT64, UCCS_SUM));
    CHECK_EQ(all, npes);
    if (me == 0) {
        printf("PASS\n");
        fflush(stdout);
    }
    OK(uccs_finalize());
    return 0;
}

static inline uccs_endpoint_t check_endpoint(uccs_context_t context, int rank)
{
    uccs_endpoint_t endpoint;
    OK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, rank, &endpoint));
    return endpoint;
}

/* Everybody's memory at everybody: own first, then all by rank. */
static inline void check_share(uccs_context_t context, uccs_memory_t own, uccs_memory_t *all)
{
    char mine[UCCS_MEMORY_HANDLE_MAX] = {0}, *handles = malloc((size_t)npes * sizeof mine);
    size_t length = sizeof mine;
    OK(uccs_memory_export(own, mine, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, mine, handles, sizeof mine));
    for (int rank = 0; rank < npes; rank++)
        OK(uccs_memory_import(context, handles + (size_t)rank * sizeof mine, length, &all[rank]));
    free(handles);
}

static inline void check_threads(int n, void *(*body)(void *))
{
    pthread_t threads[64];
    for (long id = 0; id < n; id++)
        CHECK(pthread_create(&threads[id], 0, body, (void *)id) == 0);
    for (int id = 0; id < n; id++)
        pthread_join(threads[id], 0);
}

#endif
