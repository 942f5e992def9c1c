/* Turns: a program that waits for sets starves none of their members. Any thread. */
#ifndef UCCS_CORE_TURN_H
#define UCCS_CORE_TURN_H

#include <stddef.h>
#include <stdint.h>

/* Returns the position where this thread's search of a set for a finished member begins, which is behind the member
 * that it found last. The position is kept by the set's address, since a program may wait for several sets in turns. */
static inline size_t *uccs_turn_of(const void *set)
{
    static _Thread_local size_t turns[16];
    return &turns[((uintptr_t)set >> 3) * 0x9E3779B97F4A7C15u >> 60];
}

#endif
