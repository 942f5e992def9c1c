/* What the files of mistakes share: memory and numbers of the run, and a row of their tables. */
#ifndef MISTAKES_H
#define MISTAKES_H

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int *dest, *source; /* heap blocks of 4096 bytes, the first two */
extern uint64_t *signal_word;
extern int peer, me, npes;
extern long words[SHMEM_SYNC_SIZE];

struct mistake {
    const char *name;
    void (*make)(void);
    const char *line;
};

extern const struct mistake mistakes_together[]; /* ends with a row without a name */

#endif
