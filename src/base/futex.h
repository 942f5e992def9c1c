/* Sleeping on a word of memory. Any thread. */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `seen`, and no longer than until `end` on the monotonic clock; null: no limit. Returns 0 when somebody has
 * woken this thread, else an error: EAGAIN when the word was another, EINTR, ETIMEDOUT. Processes may share the word. */
static inline int futex_sleep(const uint32_t *word, uint32_t seen, const struct timespec *end)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, end, 0, FUTEX_BITSET_MATCH_ANY) == 0 ? 0 : errno;
}

/* Like futex_sleep, for threads of one process; the longest time is in nanoseconds, below a second. */
static inline int futex_sleep_here(const uint32_t *word, uint32_t seen, long nanoseconds)
{
    const struct timespec time = {.tv_nsec = nanoseconds};
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &time, 0, 0) == 0 ? 0 : errno;
}

/* Wakes `most` of those who sleep on the word. Returns how many it has woken. */
static inline int futex_wake(const uint32_t *word, int most)
{
    return (int)syscall(SYS_futex, word, FUTEX_WAKE, most, 0, 0, 0);
}
static inline int futex_wake_here(const uint32_t *word, int most)
{
    return (int)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, 0, 0, 0);
}

#endif
