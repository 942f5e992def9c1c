/* The program's own loads and stores: what a compiler's -fsanitize=thread calls, without the library that usually answers.
 * `oshcc --race` compiles so and links this layer. Also copies by memcpy, memmove and memset from the program's code.
 *
 * Atomic accesses are made here, as the compiler leaves them to its library. Compiled without -fsanitize. */
#include "race.h"

#include "base/where.h"

#include <dlfcn.h>

static bool race_from_program(const void *from)
{
    return where_of(from) != 0;
}

static void race_own(const void *at, size_t bytes, unsigned flags, uint32_t call, const void *from)
{
    int pe;
    size_t offset;
    if (!race_on)
        return;
    bool symmetric = race_find(at, &pe, &offset);
    if (!symmetric && !race_pending)
        return;
    struct race_access access = {.way = RACE_MAIN,
                                 .flags = flags,
                                 .event = race_now(),
                                 .call = call,
                                 .from = (const void *)(uintptr_t)where_of(from)};
    if (symmetric)
        race_touch(pe, offset, bytes, &access);
    else
        race_touch_private(at, bytes, &access);
}

#define FROM __builtin_return_address(0)
#define OWN_ACCESS(name, size, what)                            \
    void __tsan_##name##size(void *at)                          \
    {                                                           \
        race_own(at, size, RACE_##what, RACE_OWN_##what, FROM); \
    }
#define OWN_ACCESSES(size)                  \
    OWN_ACCESS(read, size, LOAD)            \
    OWN_ACCESS(write, size, STORE)          \
    OWN_ACCESS(volatile_read, size, LOAD)   \
    OWN_ACCESS(volatile_write, size, STORE) \
    OWN_ACCESS(unaligned_read, size, LOAD)  \
    OWN_ACCESS(unaligned_write, size, STORE)
OWN_ACCESSES(1)
OWN_ACCESSES(2)
OWN_ACCESSES(4)
OWN_ACCESSES(8)
OWN_ACCESSES(16)
#define OWN_RANGE(name, what)                                    \
    void __tsan_##name##_range(void *at, size_t bytes)           \
    {                                                            \
        race_own(at, bytes, RACE_##what, RACE_OWN_##what, FROM); \
    }
OWN_RANGE(read, LOAD)
OWN_RANGE(write, STORE)

void __tsan_init(void)
{
    race_instrumented = true; /* each compiled file calls it before main */
}

/* Nothing of these is needed: places are return addresses, and C++ objects have no order between PEs. */
#define NOTHING(name) \
    void __tsan_##name(void) {}
NOTHING(func_entry)
NOTHING(func_exit)
NOTHING(vptr_update)
NOTHING(vptr_read)
NOTHING(ignore_thread_begin)
NOTHING(ignore_thread_end)

#define FENCE(name)                                \
    void __tsan_atomic_##name##_fence(int order)   \
    {                                              \
        (void)order;                               \
        __atomic_##name##_fence(__ATOMIC_SEQ_CST); \
    }
FENCE(thread)
FENCE(signal)

/* A store lets others go on, a load learns from it. All are made sequentially consistent. */
static void own_atomic(const void *at, size_t bytes, unsigned flags, const void *from)
{
    int pe;
    size_t offset;
    if (!race_on || !race_find(at, &pe, &offset))
        return;
    if (flags & RACE_STORE)
        __atomic_store_n(&race_released(pe, offset)[race_me], race_word(race_step(true), 0, false), __ATOMIC_RELEASE);
    race_own(at, bytes, flags | RACE_ATOMIC, RACE_OWN_ATOMIC, from);
}

static void own_atomic_done(const void *at)
{
    int pe;
    size_t offset;
    if (race_on && race_find(at, &pe, &offset))
        race_learn(race_released(pe, offset), pe);
}

#define WATCHED(flags, access)                                 \
    do {                                                       \
        (void)order;                                           \
        own_atomic((const void *)at, sizeof *at, flags, FROM); \
        access;                                                \
        own_atomic_done((const void *)at);                     \
    } while (0)
#define FETCHING(bits, type, name)                                                       \
    type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order)    \
    {                                                                                    \
        WATCHED(RACE_STORE, value = __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST)); \
        return value;                                                                    \
    }
#define COMPARE_EXCHANGE(expected) \
    __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define COMPARING(bits, type, name)                                                                             \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *expected, type value, int order, \
                                                      int failing)                                              \
    {                                                                                                           \
        int done;                                                                                               \
        (void)failing;                                                                                          \
        WATCHED(RACE_STORE, done = COMPARE_EXCHANGE(expected));                                                 \
        return done;                                                                                            \
    }
#define ATOMIC(bits, type)                                                                                   \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                      \
    {                                                                                                        \
        type value;                                                                                          \
        WATCHED(RACE_LOAD, value = __atomic_load_n(at, __ATOMIC_SEQ_CST));                                   \
        return value;                                                                                        \
    }                                                                                                        \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                               \
    {                                                                                                        \
        WATCHED(RACE_STORE, __atomic_store_n(at, value, __ATOMIC_SEQ_CST));                                  \
    }                                                                                                        \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)                            \
    {                                                                                                        \
        WATCHED(RACE_STORE, value = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST));                       \
        return value;                                                                                        \
    }                                                                                                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, \
                                                    int failing)                                             \
    {                                                                                                        \
        (void)failing;                                                                                       \
        WATCHED(RACE_STORE, COMPARE_EXCHANGE(&expected));                                                    \
        return expected;                                                                                     \
    }                                                                                                        \
    COMPARING(bits, type, strong)                                                                            \
    COMPARING(bits, type, weak)                                                                              \
    FETCHING(bits, type, add)                                                                                \
    FETCHING(bits, type, sub)                                                                                \
    FETCHING(bits, type, and)                                                                                \
    FETCHING(bits, type, or)                                                                                 \
    FETCHING(bits, type, xor)                                                                                \
    FETCHING(bits, type, nand)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* ---- copies ---- */

static void note_copy(void *to, const void *from, size_t bytes, const void *caller)
{
    if (!race_on || !race_from_program(caller))
        return;
    if (from)
        race_own(from, bytes, RACE_LOAD, RACE_OWN_COPY, caller);
    race_own(to, bytes, RACE_STORE, RACE_OWN_COPY, caller);
}

static void *find_libc(void *(**function)(), const char *name)
{
    if (!*function)
        *function = (void *(*)())dlsym(RTLD_NEXT, name);
    return (void *)*function;
}

/* The names under which the program finds them; in this file they are others than libc's. */
void *race_memcpy(void *restrict to, const void *restrict from, size_t bytes) __asm__("memcpy");
void *race_memmove(void *to, const void *from, size_t bytes) __asm__("memmove");
void *race_memset(void *to, int value, size_t bytes) __asm__("memset");

void *race_memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    static void *(*function)();
    note_copy(to, from, bytes, FROM);
    return ((void *(*)(void *, const void *, size_t))find_libc(&function, "memcpy"))(to, from, bytes);
}

void *race_memmove(void *to, const void *from, size_t bytes)
{
    static void *(*function)();
    note_copy(to, from, bytes, FROM);
    return ((void *(*)(void *, const void *, size_t))find_libc(&function, "memmove"))(to, from, bytes);
}

void *race_memset(void *to, int value, size_t bytes)
{
    static void *(*function)();
    note_copy(to, 0, bytes, FROM);
    return ((void *(*)(void *, int, size_t))find_libc(&function, "memset"))(to, value, bytes);
}
