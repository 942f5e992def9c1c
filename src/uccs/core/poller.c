/* The table of the program's pollers.
 *
 * An entry is made once for each pair of function and argument and lives as long as the process, so a thread that still
 * looks at a removed one finds the pair that it stands for. A thread counts itself into an entry before it looks whether
 * the entry is in the table (seqcst on both sides). So after the removal, when nobody is counted in, nobody can call
 * the poller any more. */
#include "uccs/core/poller.h"

#include "uccs/core/due.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <uccs.h>

struct entry {
    int (*poll)(void *);
    void *argument;
    uint32_t inside;    /* threads that are in the poller or look at it; seqcst: call_entry, uccs_poller_remove */
    struct entry *next; /* all entries ever made */
};

static struct entry *table[UCCS_PROGRAM_POLLERS]; /* seqcst: call_entry, uccs_poller_add, uccs_poller_remove */
static struct entry *made;
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

uint32_t uccs_pollers_there;
_Thread_local int uccs_pollers_barred;
static _Thread_local const struct entry *running; /* the poller that this thread is in */

static int call_entry(struct entry **place)
{
    int found = 0;
    struct entry *entry = atomic_load_seqcst(place);
    if (!entry)
        return 0;
    (void)__atomic_fetch_add(&entry->inside, 1, __ATOMIC_SEQ_CST);
    if (atomic_load_seqcst(place) == entry) {
        running = entry;
        found = entry->poll(entry->argument);
        running = 0;
    }
    (void)atomic_fetch_sub_acqrel(&entry->inside, 1); /* acquire: wait_until_left */
    return found;
}

lat_cold int uccs_pollers_slow(void)
{
    int found = 0;
    if (uccs_pollers_barred)
        return 0;
    uccs_pollers_barred++;
    for (int i = 0; i < UCCS_PROGRAM_POLLERS; i++)
        found |= call_entry(&table[i]);
    uccs_pollers_barred--;
    return found;
}

/* Under the writers' lock. Returns null when there is no memory. */
static struct entry *entry_of(int (*poll)(void *), void *argument)
{
    for (struct entry *entry = made; entry; entry = entry->next)
        if (entry->poll == poll && entry->argument == argument)
            return entry;
    struct entry *entry = malloc(sizeof *entry);
    if (entry) {
        *entry = (struct entry){.poll = poll, .argument = argument, .next = made};
        made = entry;
    }
    return entry;
}

/* Under the writers' lock. Returns the entry's place in the table, or a free one for null; null when there is none. */
static struct entry **place_of(const struct entry *entry)
{
    for (int i = 0; i < UCCS_PROGRAM_POLLERS; i++)
        if (atomic_load_relaxed(&table[i]) == entry)
            return &table[i];
    return 0;
}

static void count_pollers(int by)
{
    (void)atomic_fetch_add_relaxed(&uccs_pollers_there, (uint32_t)by);
    (void)atomic_fetch_add_relaxed(&uccs_due_idle, (uint32_t)by);
}

static int add_entry(int (*poll)(void *), void *argument)
{
    struct entry *entry = entry_of(poll, argument), **place = place_of(0);
    if (!entry || !place)
        return UCCS_ERR_NO_MEMORY;
    if (place_of(entry))
        return UCCS_ERR_INVALID;
    atomic_store_seqcst(place, entry);
    count_pollers(1);
    return UCCS_OK;
}

int uccs_poller_add(int (*poll)(void *argument), void *argument)
{
    if (!poll)
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&writers);
    int status = add_entry(poll, argument);
    pthread_mutex_unlock(&writers);
    return status;
}

/* A poller that removes itself waits for the other threads alone. */
static void wait_until_left(const struct entry *entry)
{
    while (atomic_load_seqcst(&entry->inside) > (running == entry)) /* acqrel: call_entry */
        sched_yield();
}

int uccs_poller_remove(int (*poll)(void *argument), void *argument)
{
    pthread_mutex_lock(&writers);
    struct entry *entry = poll ? entry_of(poll, argument) : 0, **place = entry ? place_of(entry) : 0;
    if (place) {
        atomic_store_seqcst(place, 0);
        count_pollers(-1);
    }
    pthread_mutex_unlock(&writers);
    if (!place)
        return UCCS_ERR_INVALID;
    wait_until_left(entry);
    return UCCS_OK;
}
