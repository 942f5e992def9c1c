/* The floor library (libbenchfloor.so); see floor.h. Updates are acquire-release, as
 * those of OpenSHMEM that are compared with them. */
#include "floor.h"

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

long floor_compare_swap(long *to, long expected, long value)
{
    __atomic_compare_exchange_n(to, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
}
