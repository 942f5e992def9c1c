/* For benchmarks of uccs.h: calls that must succeed, a context, and memory that all PEs import. Include it behind bench.h. */
#ifndef BENCH_UCCS_SHARE_H
#define BENCH_UCCS_SHARE_H
#include <uccs.h>

/* Ends the program after a line unless the status is UCCS_OK. */
static inline void bench_ok(int status)
{
    if (status != UCCS_OK) {
        fprintf(stderr, "bench: PE %d: %s\n", bench.me, uccs_status_text(status));
        exit(1);
    }
}

/* Starts uccs.h. Returns a context. */
static inline uccs_context_t bench_context(void)
{
    uccs_context_t context;
    bench_ok(uccs_init());
    bench_close = uccs_finalize;
    bench_ok(uccs_context_create(NULL, &context));
    return context;
}

/* Collective. Returns the memory of PE `root`, whose own it is. */
static inline uccs_memory_t bench_share(uccs_memory_t own, int root)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0};
    size_t length = sizeof handle;
    uccs_memory_t memory;
    bench_ok(uccs_memory_export(own, handle, &length));
    bench_ok(uccs_broadcast(UCCS_GROUP_WORLD, handle, sizeof handle, root));
    bench_ok(uccs_memory_import(NULL, handle, length, &memory));
    return memory;
}
#endif
