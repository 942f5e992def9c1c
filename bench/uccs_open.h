/* Opens uccs.h for a program here: a context, and an endpoint to a PE. Include it behind bench.h. */
#ifndef BENCH_UCCS_OPEN_H
#define BENCH_UCCS_OPEN_H
#include <uccs.h>

/* Ends the program after a line unless the status is UCCS_OK. */
static inline void bench_ok(int status)
{
    if (status != UCCS_OK) {
        fprintf(stderr, "bench: PE %d: %s\n", bench.me, uccs_status_text(status));
        exit(1);
    }
}

/* Returns the context. */
static inline uccs_context_t bench_context(int pe, uccs_endpoint_t *endpoint)
{
    uccs_context_t context;
    bench_ok(uccs_init());
    bench_close = uccs_finalize;
    bench_ok(uccs_context_create(NULL, &context));
    bench_ok(uccs_endpoint_create(context, UCCS_GROUP_WORLD, pe, endpoint));
    return context;
}
#endif
