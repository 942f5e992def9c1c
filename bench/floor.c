/* The floor library (libbenchfloor.so); see floor.h. The orders are those of the OpenSHMEM operations that are compared
 * with it: acquire-release for updates, release for set, acquire for fetch. */
#include "floor.h"

void floor_nothing(void) {}
void floor_store(long *to, long value)
{
    *(volatile long *)to = value;
}
long floor_load(const long *from)
{
    return *(const volatile long *)from;
}
void floor_copy(long *to, const long *from)
{
    *(volatile long *)to = *(const volatile long *)from;
}
void floor_add(long *to, long value)
{
    (void)__atomic_add_fetch(to, value, __ATOMIC_ACQ_REL);
}
long floor_fetch_add(long *to, long value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);
}
long floor_swap(long *to, long value)
{
    return __atomic_exchange_n(to, value, __ATOMIC_ACQ_REL);
}
void floor_set(long *to, long value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
long floor_fetch(const long *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

long floor_compare_swap(long *to, long expected, long value)
{
    __atomic_compare_exchange_n(to, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
}
