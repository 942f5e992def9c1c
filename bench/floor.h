/* One-line accesses in another shared library: the floor for calls into a library. Any thread; the memory is the
 * caller's. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H
void floor_store(long *to, long value);
long floor_load(const long *from);
void floor_copy(long *to, const long *from);
void floor_add(long *to, long value);
long floor_fetch_add(long *to, long value);
long floor_compare_swap(long *to, long expected, long value);
#endif
