/* For tests that include a file of src/: the memory that the file takes and the locks that it holds are watched, and memory
 * can run out. Include it before that file. One thread.
 *
 * Memory starts with noise, and nothing writes before or behind it. A lock is not taken twice, nor given back by who does not hold it.
 * A fault of the job, which ends it, is caught where the test wants one. */
#ifndef TESTS_TRUST_OWNED_H
#define TESTS_TRUST_OWNED_H

#include "unit/check.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { OWNED_MOST = 4096, OWNED_GUARD = 128, OWNED_NOISE = 0xA5 };

static struct owned {
    unsigned char *start;
    size_t bytes;
} owned_all[OWNED_MOST];
static size_t owned_count;  /* pieces of memory that are not free */
static int owned_left = -1; /* so many allocations succeed, the next one fails; negative: all succeed */
static pthread_mutex_t *owned_locks[8];
static size_t owned_held; /* locks */

static inline void *owned_get(size_t align, size_t bytes)
{
    if (owned_left == 0) {
        owned_left = -1;
        return 0;
    }
    owned_left -= owned_left > 0;
    CHECK(owned_count < OWNED_MOST && bytes < (size_t)1 << 40 && bytes % align == 0);
    unsigned char *start = aligned_alloc(64, (bytes + 2 * OWNED_GUARD + 63) & ~(size_t)63);
    CHECK(start != 0);
    memset(start, OWNED_NOISE, bytes + 2 * OWNED_GUARD);
    start += OWNED_GUARD;
    owned_all[owned_count++] = (struct owned){start, bytes};
    return start;
}

static inline void *owned_malloc(size_t bytes)
{
    return owned_get(1, bytes);
}

static inline void *owned_calloc(size_t n, size_t bytes)
{
    void *start = owned_get(1, n * bytes);
    return start ? memset(start, 0, n * bytes) : 0;
}

static inline const struct owned *owned_at(const void *start)
{
    size_t at = 0;
    while (at < owned_count && owned_all[at].start != start)
        at++;
    CHECK(at < owned_count); /* it is not free */
    return &owned_all[at];
}

static inline size_t owned_bytes(const void *start)
{
    return owned_at(start)->bytes;
}

/* Nothing has been written before or behind it. */
static inline void owned_good(const void *start)
{
    const struct owned *piece = owned_at(start);
    for (size_t i = 0; i < OWNED_GUARD; i++)
        CHECK(piece->start[piece->bytes + i] == OWNED_NOISE && piece->start[(long)i - OWNED_GUARD] == OWNED_NOISE);
}

static inline void owned_free(void *start)
{
    if (!start)
        return;
    owned_good(start);
    owned_all[owned_at(start) - owned_all] = owned_all[owned_count - 1];
    owned_count--;
    free((unsigned char *)start - OWNED_GUARD);
}

static inline size_t owned_place(const pthread_mutex_t *lock)
{
    size_t at = 0;
    while (at < owned_held && owned_locks[at] != lock)
        at++;
    return at;
}

static inline int owned_lock(pthread_mutex_t *lock)
{
    CHECK(owned_place(lock) == owned_held && owned_held < 8); /* not held */
    owned_locks[owned_held++] = lock;
    return pthread_mutex_lock(lock);
}

static inline int owned_unlock(pthread_mutex_t *lock)
{
    const size_t at = owned_place(lock);
    CHECK(at < owned_held); /* held */
    owned_locks[at] = owned_locks[--owned_held];
    return pthread_mutex_unlock(lock);
}

/* --- Ends */

static jmp_buf owned_failed;
static bool owned_fails;      /* the job may end here */
static char owned_words[400]; /* of the line with which it ends */

/* For watch_fail and its like. */
static inline _Noreturn void owned_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(owned_words, sizeof owned_words, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s", owned_fails ? "" : owned_words, owned_fails ? "" : "\n");
    CHECK(owned_fails);
    owned_fails = false;
    longjmp(owned_failed, 1);
}

/* Runs a statement that ends the job with these words. Locks that are held then are so no more. */
#define OWNED_FAILS(statement, words)           \
    do {                                        \
        owned_words[0] = 0;                     \
        owned_fails = true;                     \
        if (setjmp(owned_failed) == 0) {        \
            statement;                          \
        }                                       \
        CHECK(strstr(owned_words, words) != 0); \
        while (owned_held > 0)                  \
            owned_unlock(owned_locks[0]);       \
    } while (0)

#define malloc(bytes) owned_malloc(bytes)
#define calloc(n, bytes) owned_calloc(n, bytes)
#define aligned_alloc(align, bytes) owned_get(align, bytes)
#define free(start) owned_free(start)
#define pthread_mutex_lock(lock) owned_lock(lock)
#define pthread_mutex_unlock(lock) owned_unlock(lock)

#endif
