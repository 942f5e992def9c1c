/* Tests of calls that end the job share: REFUSED, which says that a call ended it with this one line. They include this first, then the
 * headers, and then the source files whose functions they call: the library's own log_line and rte_abort stay out of them. */
#ifndef TESTS_TRUST_REFUSED_H
#define TESTS_TRUST_REFUSED_H

#include "base/log.h"
#include "rte/rte.h"
#include "shmem/state.h"

#include "unit/check.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

static jmp_buf refused_at;
static char refused_line[600];
static int refused_pauses,
    refused_ending; /* how often a call after the end has slept; how often the job still seems to end */

static inline bool refused_still_ends(void)
{
    return refused_ending > 0;
}

static inline void refused_pause(void)
{
    refused_pauses++;
    refused_ending--;
    lat_leaving = 0;
}

static bool refused_may_end;

static inline _Noreturn void refused_end(int status)
{
    if (!refused_may_end)
        fprintf(stderr, "%s\n", refused_line);
    CHECK(refused_may_end);
    refused_may_end = false;
    longjmp(refused_at, status);
}

/* One lock at a time, and whoever takes it gives it back. */
static int refused_locked;

static inline void refused_lock(void)
{
    CHECK(refused_locked == 0);
    refused_locked++;
}

static inline void refused_unlock(void)
{
    CHECK(refused_locked == 1);
    refused_locked--;
}

#define pthread_mutex_lock(mutex) ((void)(mutex), refused_lock())
#define pthread_mutex_unlock(mutex) ((void)(mutex), refused_unlock())
#define log_line(...) (void)snprintf(refused_line, sizeof refused_line, __VA_ARGS__)
#define rte_abort(status) refused_end(status)
#define rte_ending() refused_still_ends()
#define pause() refused_pause()
#include "shmem/state.c"

/* `line` is what the job's end says: call and text. */
#define REFUSED(expression, line)                                                                             \
    do {                                                                                                      \
        refused_line[0] = 0;                                                                                  \
        refused_may_end = true;                                                                               \
        const int refused_status = setjmp(refused_at);                                                        \
        if (refused_status == 0)                                                                              \
            (void)(expression);                                                                               \
        refused_may_end = false;                                                                              \
        if (refused_status != LAT_EXIT || strncmp(refused_line, line, strlen(line))) {                        \
            fprintf(stderr, "%s:%d: not true: %s is refused with \"%s\", but %s\"%s\"\n", __FILE__, __LINE__, \
                    #expression, line, refused_status ? "" : "returns, ", refused_line);                      \
            abort();                                                                                          \
        }                                                                                                     \
    } while (0)

#endif
