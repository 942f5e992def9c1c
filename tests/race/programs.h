/* What the small programs share. Each has 64 zeroed longs of its own, `a`, and is kept apart from the others by barriers. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <string.h>

extern long *a, *other;   /* `other`: private memory */
extern uint64_t *signals; /* the last 16 of `a` */
extern int me;

#define FLAG (&a[40])
#define EQ SHMEM_CMP_EQ
#define GE SHMEM_CMP_GE

#define PROGRAM(name) void name(void);
#include "programs.def"
#undef PROGRAM

static inline void use(long value)
{
    other[0] += value;
}

#endif
