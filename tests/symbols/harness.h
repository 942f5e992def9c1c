/*
 * The generated calls (api/calls.py) use: two symmetric areas, a byte pattern that encodes the sender
 * and the place of each byte, and a counter of failures. C and C++; one thread.
 *
 * Every call is one round: ready() clears dest and fills source with this PE's pattern, the call
 * acts on `peer`, settle() or landed() ends the round. All PEs make the same calls in the same
 * order, so this PE's dest is written by `origin` alone. Rounds alternate between the symmetric
 * heap and global variables.
 */
#ifndef TESTS_SYMBOLS_HARNESS_H
#define TESTS_SYMBOLS_HARNESS_H

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { AREA = 4096, WORK = 64 };

static __attribute__((aligned(64))) unsigned char global_dest[AREA];
static __attribute__((aligned(64))) unsigned char global_source[AREA];
static __attribute__((aligned(64))) unsigned char
    work[WORK * 16 > SHMEM_REDUCE_MIN_WRKDATA_SIZE * 16 ? WORK * 16 : SHMEM_REDUCE_MIN_WRKDATA_SIZE * 16];
static uint64_t signal_word;
static long sync_words[SHMEM_SYNC_SIZE];

static unsigned char *heap_dest, *heap_source;
static unsigned char *dest, *source;
static int me, npes, peer, origin;
static unsigned long rounds, failures;
static shmem_ctx_t ctx;
static shmemx_request_t request; /* of the call under test */
static shmemx_ct_t counter;

static inline void expect(const char *call, int holds, const char *what)
{
    if (holds)
        return;
    if (++failures <= 20)
        fprintf(stderr, "PE %d: %s: %s\n", me, call, what);
}

/* Byte `i` of what PE `pe` sends; never 0, so that a byte nobody wrote shows. */
static inline unsigned char pattern(int pe, size_t i)
{
    return (unsigned char)(1 + ((size_t)pe * 101 + i * 7) % 251);
}

static inline void ready(void)
{
    int heap = ++rounds % 2 == 0;
    dest = heap ? heap_dest : global_dest;
    source = heap ? heap_source : global_source;
    memset(dest, 0, AREA);
    signal_word = 5;
    for (size_t i = 0; i < AREA; i++)
        source[i] = pattern(me, i);
    shmem_barrier_all();
}

static inline void settle(void)
{
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

/* True when dest[at .. at+bytes) is what `pe` has in source[from ..]. */
static inline int holds(size_t at, size_t bytes, int pe, size_t from)
{
    for (size_t i = 0; i < bytes; i++)
        if (dest[at + i] != pattern(pe, from + i))
            return 0;
    return 1;
}

static inline int clear(size_t at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (dest[at + i] != 0)
            return 0;
    return 1;
}

/* dest must hold `blocks` blocks of `length` elements of `pe`, strides in elements, and nothing else. */
static inline void landed(const char *call, int pe, size_t size, size_t blocks, size_t length, size_t dst, size_t sst)
{
    static unsigned char want[AREA];
    memset(want, 0, AREA);
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < length * size; i++)
            want[b * dst * size + i] = pattern(pe, b * sst * size + i);
    expect(call, memcmp(want, dest, AREA) == 0, "wrong bytes arrived, or bytes beside them");
}

/* A handle in each of the states in which an operation may find it. */
static inline void track(void)
{
    static unsigned long tracked;
    static const long options[2] = {SHMEMX_REQUEST_PRIVATE, SHMEMX_REQUEST_SHARED};
    request = SHMEMX_REQUEST_NULL;
    if (++tracked % 3)
        expect("shmemx_request_create", shmemx_request_create(options[tracked % 3 - 1], &request) == 0, "failed");
}

static inline void finish(const char *call)
{
    expect(call, request != SHMEMX_REQUEST_NULL, "left the handle null");
    shmemx_request_wait(&request);
    expect(call, shmemx_request_test(&request) == 1, "not complete after a wait");
    expect(call, shmemx_request_pending(request) == 0, "something is pending after a wait");
    shmemx_request_free(&request);
    expect(call, request == SHMEMX_REQUEST_NULL, "the freed handle is not null");
}

static inline void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    peer = (me + 1) % npes;
    origin = (me + npes - 1) % npes;
    heap_dest = (unsigned char *)shmem_align(64, AREA);
    heap_source = (unsigned char *)shmem_align(64, AREA);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_words[i] = SHMEM_SYNC_VALUE;
    expect("shmem_ctx_create", shmem_ctx_create(0, &ctx) == 0, "no context");
    dest = heap_dest;
    source = heap_source;
    shmemx_ct_create(&counter);
    (void)work;
    (void)holds;
    (void)clear;
    (void)landed;
}

/* Answers the exit status of the program. */
static inline int end(unsigned long calls)
{
    shmem_barrier_all();
    if (me == 0)
        printf("%lu calls\n", calls);
    shmem_ctx_destroy(ctx);
    shmemx_ct_free(&counter);
    shmem_finalize();
    if (failures > 20)
        fprintf(stderr, "PE %d: %lu failures in all\n", me, failures);
    return failures != 0;
}

#endif
