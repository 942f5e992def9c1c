/* Atomics named by their order, over the compiler's builtins.
 *
 * The name says the order, so a reader sees it at the call. A comment at each use names its partner. They are macros
 * because they are generic in the type. Nothing here assumes x86. */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#include <stdint.h>

#define atomic_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define atomic_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define atomic_load_seqcst(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define atomic_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define atomic_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define atomic_store_seqcst(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

#define atomic_fetch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define atomic_fetch_add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define atomic_fetch_add_acqrel(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)
#define atomic_fetch_add_seqcst(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_sub_acqrel(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define atomic_fetch_sub_seqcst(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_and_acqrel(p, v) __atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)
#define atomic_fetch_or_acqrel(p, v) __atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)
#define atomic_fetch_or_seqcst(p, v) __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_xor_acqrel(p, v) __atomic_fetch_xor((p), (v), __ATOMIC_ACQ_REL)
#define atomic_exchange_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define atomic_exchange_acqrel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define atomic_exchange_seqcst(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/* Strong compare and swap. True when *p was *expected; *p is then v. Otherwise false, and *expected is the value
 * of *p. */
#define atomic_cas_acqrel(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define atomic_cas_acquire(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
#define atomic_cas_relaxed(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#define atomic_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define atomic_fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define atomic_fence_seqcst() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* The thread sanitizer sees the threads of one process only. When an order leaves that process by a release and returns
 * by an acquire, after another process has passed it on, these two macros tell the sanitizer so, one at each end. `p`
 * is any address of this process; both ends use the same. The store that lets the order leave belongs into a function that is
 * atomic_unseen: the sanitizer would hold it for later than the release. Without the sanitizer they do nothing. */
#if defined __SANITIZE_THREAD__
#define ATOMIC_TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define ATOMIC_TSAN 1
#endif
#endif
#ifdef ATOMIC_TSAN
void __tsan_release(void *p);
void __tsan_acquire(void *p);
#define atomic_order_leaves(p) __tsan_release(p)
#define atomic_order_returns(p) __tsan_acquire(p)
#define atomic_unseen __attribute__((noinline, no_sanitize_thread))
enum { ATOMIC_WATCHED = 1 };
#else
#define atomic_order_leaves(p) ((void)(p))
#define atomic_order_returns(p) ((void)(p))
#define atomic_unseen
enum { ATOMIC_WATCHED = 0 };
#endif

#define CACHE_LINE 64
#define cache_aligned _Alignas(CACHE_LINE)

#define lat_likely(x) __builtin_expect(!!(x), 1)
#define lat_unlikely(x) __builtin_expect(!!(x), 0)
#define lat_cold __attribute__((cold, noinline))
/* For hot paths in generated files. Those are so large that compilers stop inlining on their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define lat_hot inline /* inlined everywhere it takes the compiler minutes */
#else
#define lat_hot inline __attribute__((always_inline))
#endif

/* Tells the processor that this is a spin loop. Implies no ordering. */
static inline void atomic_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Waits until this thread's earlier loads are done. For loops in which an early second load would disturb them. A
 * program may not rely on any ordering from it. */
static inline void atomic_settle(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_lfence();
#endif
}

#endif
