/* Long copies. On AMD's processors the C library copies more than a cache's worth by vector instructions. The one instruction that
 * copies strings is faster there, where the processor says that it is fast also for short strings, as a Zen 5 does: 1 MiB at 64 GB/s
 * instead of 54, 16 MiB at 27 to 37 instead of 18 to 30 (medians of 11, at ten alignments; below 512 KiB there is no difference). On
 * Intel's processors the C library uses it itself. */
#include "base/copy.h"

#include "base/atomic.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(ATOMIC_TSAN) /* sanitizers see memcpy alone */
#include <cpuid.h>
#include <stdbool.h>

enum { UNKNOWN, NO, YES };

static bool repeats_fast(void)
{
    const unsigned short_strings = 1 << 4; /* of edx */
    unsigned a, b, c, d;
    return __builtin_cpu_is("amd") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & short_strings;
}

void copy_long(void *to, const void *from, size_t bytes)
{
    static int repeats; /* relaxed: every thread finds the same */
    int known = atomic_load_relaxed(&repeats);
    if (known == UNKNOWN) {
        known = repeats_fast() ? YES : NO;
        atomic_store_relaxed(&repeats, known);
    }
    if (known == YES)
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    else
        memcpy(to, from, bytes);
}
#else
void copy_long(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
