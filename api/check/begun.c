/* Split-phase collectives that this PE has begun, for a comparison that must not wait: a PE may begin one long before the
 * others, so nothing can be exchanged there. Each team has a log, which the next call that all of its members make together
 * compares and empties (step.c).
 *
 * Any thread; one at a time for each team, as the calls themselves. */
#include "step.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What a team's members have begun since they last compared. */
struct log {
    shmem_team_t team;
    struct log *next;
    uint64_t count, hash;
    struct step first[BEGUN_KEPT];
};

static struct log *logs; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the log of a team, a new one when `make` is set, or null. */
static struct log *log_of(shmem_team_t team, bool make)
{
    pthread_mutex_lock(&lock);
    struct log *found = logs;
    while (found && found->team != team)
        found = found->next;
    if (!found && make) {
        found = step_room(1, sizeof *found);
        found->team = team;
        found->next = logs;
        logs = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void check_begun_step(const char *call, const char *key, shmem_team_t team, const void *from, const char *format, ...)
{
    struct step step;
    va_list arguments;
    if (team == SHMEM_TEAM_INVALID || pshmem_team_n_pes(team) < 2)
        return;
    struct log *log = log_of(team, true);
    va_start(arguments, format);
    step_fill(&step, call, key, from, format, arguments);
    va_end(arguments);
    if (log->count < BEGUN_KEPT)
        log->first[log->count] = step;
    log->count++;
    for (const char *c = step.key; *c; c++)
        log->hash = (log->hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3); /* FNV-1a */
}

void begun_sum(shmem_team_t team, uint64_t *count, uint64_t *hash)
{
    const struct log *log = log_of(team, false);
    *count = log ? log->count : 0;
    *hash = log ? log->hash : 0;
}

void begun_get(shmem_team_t team, uint64_t number, struct step *step)
{
    const struct log *log = log_of(team, false);
    if (log && number < log->count && number < BEGUN_KEPT)
        *step = log->first[number];
    else
        *step = (struct step){.key = "-", .text = "no further one"};
}

void begun_forget(shmem_team_t team)
{
    pthread_mutex_lock(&lock);
    for (struct log **at = &logs; *at;) {
        struct log *one = *at;
        if (one->team == team) {
            *at = one->next;
            free(one);
        } else {
            at = &one->next;
        }
    }
    pthread_mutex_unlock(&lock);
}
