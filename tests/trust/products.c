/* Counts whose bytes are more than memory can hold: each call refuses them with a line, and none moves the few bytes of a
 * product that has wrapped. */
#include "unit/child.h"
#include "unit/errors.h"

#include <shmem.h>
#include <shmemx.h>

#define WRAPS (((size_t)1 << 61) + 4) /* of 8 bytes each: 32 bytes */
#define FAR_APART ((ptrdiff_t)1 << 60)

/* A process of its own starts, makes the call and ends with the line. */
#define REFUSED(name, words, ...)               \
    do {                                        \
        forget_errors();                        \
        CHECK(status_of_child({                 \
                  start();                      \
                  (void)name(__VA_ARGS__);      \
              }) == 1);                         \
        CHECK(says("PE 0: " #name ": " words)); \
    } while (0)
#define BYTES "2305843009213693956 elements of 8 bytes are more than memory can hold"
#define MEM "18446744073709551615 elements of 1 bytes are more than memory can hold"

static long *to, from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static uint64_t *signal_word;

static void start(void)
{
    shmem_init();
    to = shmem_calloc(8, sizeof *to);
    signal_word = shmem_calloc(1, sizeof *signal_word);
    CHECK(to && signal_word);
}

static void puts_and_gets(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    REFUSED(shmem_long_put, BYTES, to, from, WRAPS, 0);
    REFUSED(shmem_long_get, BYTES, from, to, WRAPS, 0);
    REFUSED(shmem_put64_nbi, BYTES, to, from, WRAPS, 0);
    REFUSED(shmem_long_get_nbi, BYTES, from, to, WRAPS, 0);
    REFUSED(shmem_putmem, MEM, to, from, (size_t)-1, 0);
    REFUSED(shmem_long_put_signal, BYTES, to, from, WRAPS, signal_word, 1, SHMEM_SIGNAL_SET, 0);
    REFUSED(shmemx_long_put_nbe, BYTES, to, from, WRAPS, 0, &request);
    REFUSED(shmem_long_put, "35184372088832 elements", to, from, (size_t)1 << 45, 0); /* 2^48 bytes */
}

static void strides(void)
{
    REFUSED(shmem_long_iput, BYTES, to, from, 1, 1, WRAPS, 0);
    REFUSED(shmem_long_iput, "3 blocks at a stride of 1152921504606846976", to, from, FAR_APART, 1, 3, 0);
    REFUSED(shmem_long_iget, "3 blocks at a stride of -2305843009213693952", from, to, 1, 2 * -FAR_APART, 3, 0);
    REFUSED(shmem_ibput64, BYTES, to, from, 1, 1, WRAPS, 2, 0);
}

static void collectives(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    REFUSED(shmem_long_broadcast, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS, 0);
    REFUSED(shmem_long_fcollect, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS);
    REFUSED(shmem_long_sum_reduce, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS);
    REFUSED(shmem_long_sum_inscan, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS);
    REFUSED(shmem_long_alltoalls, BYTES, SHMEM_TEAM_WORLD, to, from, 1, 1, WRAPS);
    REFUSED(shmem_long_alltoalls, "2 blocks at a stride of", SHMEM_TEAM_WORLD, to, from, FAR_APART, 1, 2);
    REFUSED(shmemx_long_sum_reduce_nbe, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS, &request);
    REFUSED(shmemx_long_fcollect_nbe, BYTES, SHMEM_TEAM_WORLD, to, from, WRAPS, &request);
}

int main(void)
{
    open_errors();
    puts_and_gets();
    strides();
    collectives();
    start();
    shmem_long_iput(to, from, FAR_APART, FAR_APART, 1, 0); /* one block reaches nowhere */
    CHECK(to[0] == 1);
    shmem_finalize();
    return 0;
}
