#include "base/poison.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define UNDER_VALGRIND() RUNNING_ON_VALGRIND
#else
#define UNDER_VALGRIND() 0
#define VALGRIND_MAKE_MEM_NOACCESS(at, bytes) ((void)0)
#define VALGRIND_MAKE_MEM_DEFINED(at, bytes) ((void)0)
#endif

/* The program brings them when it was compiled with -fsanitize=address. */
extern void __asan_poison_memory_region(void const volatile *at, size_t bytes) __attribute__((weak));
extern void __asan_unpoison_memory_region(void const volatile *at, size_t bytes) __attribute__((weak));

bool poison_heard(void)
{
    return __asan_poison_memory_region || UNDER_VALGRIND();
}

void poison_forbid(const void *at, size_t bytes)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(at, bytes);
    if (UNDER_VALGRIND())
        VALGRIND_MAKE_MEM_NOACCESS(at, bytes);
}

void poison_allow(const void *at, size_t bytes)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(at, bytes);
    if (UNDER_VALGRIND())
        VALGRIND_MAKE_MEM_DEFINED(at, bytes);
}
