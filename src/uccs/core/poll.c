#include "uccs/core/poll.h"

#include "uccs/core/due.h"

#include <pthread.h>

int (*uccs_poll_table[2][UCCS_POLLERS])(void);
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

/* Adds `by` to the pollers of this kind. While there is an UCCS_POLL_ALWAYS poller, every wait takes the slow path;
 * while there is a poller of any kind, every test that found nothing does. */
static void count_poller(enum uccs_poller_when when, int by)
{
    if (when == UCCS_POLL_IDLE) {
        (void)atomic_fetch_add_relaxed(&uccs_due_idle, (uint32_t)by);
        return;
    }
    (void)atomic_fetch_add_relaxed(&uccs_due_endless, (uint32_t)by);
    (void)atomic_fetch_add_relaxed(&uccs_due, (uint32_t)by);
}

static void replace_poller(enum uccs_poller_when when, int (*old)(void), int (*new)(void))
{
    for (int i = 0; i < UCCS_POLLERS; i++)
        if (uccs_poll_table[when][i] == old) {
            atomic_store_release(&uccs_poll_table[when][i], new); /* acquire: uccs_poll */
            count_poller(when, new ? 1 : -1);
            return;
        }
}

void uccs_core_poll_add(int (*poll)(void), enum uccs_poller_when when)
{
    pthread_mutex_lock(&writers);
    replace_poller(when, 0, poll);
    pthread_mutex_unlock(&writers);
}

void uccs_core_poll_remove(int (*poll)(void))
{
    pthread_mutex_lock(&writers);
    replace_poller(UCCS_POLL_ALWAYS, poll, 0);
    replace_poller(UCCS_POLL_IDLE, poll, 0);
    pthread_mutex_unlock(&writers);
}
