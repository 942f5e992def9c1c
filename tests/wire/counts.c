/* Counts what operations cost over the simulated network: messages that the target's processor handles, and round trips of
 * messages and of the network. networks.py compares the lines with the table of docs/guide/networks.md.
 * pes: 2
 * env: LATERAL_PROGRESS=poll LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim,order=1:ucx UCX_TLS=tcp,self
 * prints: ^quiet alone \| 0 \| 0$
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "../conform/check.h"
#include "network.h"

#include <shmemx.h>
#include <stdbool.h>

enum { LONG = 1 << 20 };

static const volatile struct network_counts *counts;
static char *data, *source;
static long word, words[64], done, *remote;
static uint64_t *remote_signal;
static uint64_t bell;
static shmemx_ct_t ct;

static void nothing(void) {}

static void put_short(void)
{
    shmem_putmem(data, source, 8, 1);
}

static void put_long(void)
{
    shmem_putmem(data, source, LONG, 1);
}

static void put_many(void)
{
    for (int i = 0; i < 64; i++)
        shmem_long_put_nbi(&words[i], &words[i], 1, 1);
}

static void put_fence_put(void)
{
    shmem_putmem(data, source, LONG, 1);
    shmem_fence();
    shmem_long_p(&word, 1, 1);
}

static void get_short(void)
{
    shmem_getmem(source, data, 8, 1);
}

static void get_long(void)
{
    shmem_getmem(source, data, LONG, 1);
}

static void signal_short(void)
{
    shmem_putmem_signal(data, source, 8, &bell, 1, SHMEM_SIGNAL_ADD, 1);
}

static void signal_long(void)
{
    shmem_putmem_signal(data, source, LONG, &bell, 1, SHMEM_SIGNAL_ADD, 1);
}

static void count_short(void)
{
    shmemx_putmem_ct(ct, data, source, 8, 1);
}

static void count_long(void)
{
    shmemx_putmem_ct(ct, data, source, LONG, 1);
}

static void count_get_short(void)
{
    shmemx_getmem_ct(ct, source, data, 8, 1);
}

static void count_get_long(void)
{
    shmemx_getmem_ct(ct, source, data, LONG, 1);
}

static void strided(void)
{
    shmem_long_iput(words, words, 2, 2, 32, 1);
}

static void add(void)
{
    shmem_long_atomic_add(&word, 1, 1);
}

static void fetch_add(void)
{
    (void)shmem_long_atomic_fetch_add(&word, 1, 1);
}

static void add_remote(void)
{
    shmem_long_atomic_add(remote, 1, 1);
}

static void fetch_add_remote(void)
{
    (void)shmem_long_atomic_fetch_add(remote, 1, 1);
}

static void swap_remote(void)
{
    (void)shmem_long_atomic_compare_swap(remote, 0, 1, 1);
}

static void signal_remote(void)
{
    shmem_putmem_signal(data, source, 8, remote_signal, 1, SHMEM_SIGNAL_ADD, 1);
}

static const struct {
    const char *name;
    void (*run)(void);
} rows[] = {
    {"put of 8 bytes", put_short},
    {"put of 1 MiB", put_long},
    {"64 puts of 8 bytes without waiting", put_many},
    {"put of 1 MiB, fence, put of 8 bytes", put_fence_put},
    {"get of 8 bytes", get_short},
    {"get of 1 MiB", get_long},
    {"put of 8 bytes with signal", signal_short},
    {"put of 1 MiB with signal", signal_long},
    {"counting put of 8 bytes", count_short},
    {"counting put of 1 MiB", count_long},
    {"counting get of 8 bytes", count_get_short},
    {"counting get of 1 MiB", count_get_long},
    {"strided put of 32 elements", strided},
    {"atomic add", add},
    {"atomic fetch and add", fetch_add},
    {"atomic add, memory for remote atomics", add_remote},
    {"atomic fetch and add, memory for remote atomics", fetch_add_remote},
    {"compare and swap, memory for remote atomics", swap_remote},
    {"put of 8 bytes with signal in such memory", signal_remote},
    {"quiet alone", nothing},
};

static struct network_counts now(void)
{
    shmem_quiet();
    return *counts;
}

/* Counts each operation behind one of its kind. */
static void count_all(bool print)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)now();
        rows[i].run();
        const struct network_counts before = now();
        rows[i].run();
        const struct network_counts after = now();
        const uint64_t trips = after.handled - before.handled + after.gets - before.gets + after.flushes -
                               before.flushes + after.fetches - before.fetches;
        if (print)
            printf("%s | %lu | %lu\n", rows[i].name, (unsigned long)(after.sent - before.sent), (unsigned long)trips);
    }
}

int main(void)
{
    check_start();
    data = shmem_malloc(LONG);
    source = shmem_malloc(LONG);
    remote = shmem_malloc_with_hints(sizeof *remote, SHMEM_MALLOC_ATOMICS_REMOTE);
    remote_signal = shmem_malloc_with_hints(sizeof *remote_signal, SHMEM_MALLOC_ATOMICS_REMOTE);
    *remote_signal = *remote = 0;
    shmemx_ct_create(&ct);
    counts = network_counts();
    CHECK(counts != NULL);
    shmem_barrier_all();
    if (me == 0) {
        count_all(false); /* connects and fetches the keys */
        count_all(false);
        count_all(true);
        shmem_long_p(&done, 1, 1);
    } else {
        shmem_long_wait_until(&done, SHMEM_CMP_EQ, 1);
    }
    shmem_barrier_all();
    shmemx_ct_free(&ct);
    shmem_finalize();
    return 0;
}
