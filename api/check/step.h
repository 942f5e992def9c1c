/* Calls that the members of a team make together: what step.c compares and begun.c remembers. */
#ifndef CHECK_STEP_H
#define CHECK_STEP_H

#include "rules.h"

#include <stdarg.h>

#define BEGUN_KEPT 64 /* split-phase collectives of a team that can be named; the sum holds the others */

struct step {
    uint64_t place;
    uint64_t begun, hash; /* number and sum of the split-phase collectives before it */
    char key[112];        /* equal for calls that may meet: operation, type, arguments that must be the same */
    char text[112];
};

void step_fill(struct step *step, const char *call, const char *key, const void *from, const char *format,
               va_list arguments);
void *step_room(int size, size_t bytes); /* returns zeroed memory, or ends the job */

void begun_sum(shmem_team_t team, uint64_t *count, uint64_t *hash);
void begun_get(shmem_team_t team, uint64_t number, struct step *step); /* behind the last one: a step that says so */
void begun_forget(shmem_team_t team);

#endif
