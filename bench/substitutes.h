/* What programs do where OpenSHMEM has no requests and counters (before shmemx.h), or no signals (before 1.5): operations without a handle
 * and a quiet, a flag of one word behind a fence. bench.h includes this. */
#ifndef BENCH_SUBSTITUTES_H
#define BENCH_SUBSTITUTES_H

#if !BENCH_REQUESTS
typedef int shmemx_request_t;
typedef long *bench_flag;      /* symmetric */
#define shmemx_ct_t bench_flag /* Sandia's shmemx.h has counters of this name */
#define shmemx_putmem_nbe(dest, source, n, pe, request) ((void)(request), shmem_putmem_nbi(dest, source, n, pe))
#define shmemx_int_put_nbe(dest, source, n, pe, request) ((void)(request), shmem_int_put_nbi(dest, source, n, pe))
#define shmemx_int_get_nbe(dest, source, n, pe, request) ((void)(request), shmem_int_get_nbi(dest, source, n, pe))
#define shmemx_request_wait(request) ((void)(request), shmem_quiet())
#define shmemx_request_wait_free(request) ((void)(request), shmem_quiet())
#define shmemx_request_wait_all(requests, n, status) ((void)(requests), (void)(n), shmem_quiet())
#define shmemx_request_merge(into, n, requests) ((void)(into), (void)(n), (void)(requests))
#define shmemx_ct_create(ct) (*(ct) = bench_need(shmem_calloc(1, sizeof(long))))
#define shmemx_ct_set(ct, value) (*(volatile long *)(ct) = (long)(value))
#define shmemx_ct_add(ct, weight, pe) shmem_long_atomic_add(ct, weight, pe)
#define shmemx_ct_wait(ct, value) shmem_long_wait_until(ct, SHMEM_CMP_GE, (long)(value))
#define shmemx_putmem_ct(ct, dest, source, n, pe) \
    (shmem_putmem(dest, source, n, pe), shmem_fence(), shmem_long_atomic_inc(ct, pe))
#define shmemx_getmem_ct(ct, dest, source, n, pe) (shmem_getmem(dest, source, n, pe), shmem_long_atomic_inc(ct, pe))
#define shmemx_double_put_ct(ct, dest, source, n, pe) shmemx_putmem_ct(ct, dest, source, (n) * sizeof(double), pe)
#endif

#if !BENCH_15
enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
#define shmem_putmem_signal(dest, source, n, signal, value, op, pe) \
    (shmem_putmem(dest, source, n, pe), shmem_fence(),              \
     (op) == SHMEM_SIGNAL_SET ? shmem_uint64_p(signal, value, pe)   \
                              : shmem_long_atomic_add((long *)(signal), (long)(value), pe))
#define shmem_double_put_signal(dest, source, n, signal, value, op, pe) \
    shmem_putmem_signal(dest, source, (n) * sizeof(double), signal, value, op, pe)
#define shmem_signal_wait_until(signal, cmp, value) shmem_uint64_wait_until(signal, cmp, value)
#endif
#endif
