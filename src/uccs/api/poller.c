/* The program's functions, which waits and tests call. Their sources are never freed: a thread that has found one in the table looks
 * at it also after its end. */
#include "uccs/core/wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <uccs.h>

struct poller {
    struct uccs_progress_source source;
    bool added;
    struct poller *next;
};
static struct poller *pollers; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. Returns null when the program has never added the pair. */
static struct poller *find_poller(int (*poll)(void *), void *argument)
{
    struct poller *poller = pollers;
    while (poller && (poller->source.poll != poll || poller->source.argument != argument))
        poller = poller->next;
    return poller;
}

/* Under the lock. Returns null without memory. */
static struct poller *make_poller(int (*poll)(void *), void *argument)
{
    struct poller *poller = malloc(sizeof *poller);
    if (!poller)
        return 0;
    *poller =
        (struct poller){.source = {.poll = poll, .argument = argument, .when = UCCS_PROGRESS_PROGRAM}, .next = pollers};
    pollers = poller;
    return poller;
}

/* Under the lock. */
static int add_poller(int (*poll)(void *), void *argument)
{
    struct poller *poller = find_poller(poll, argument);
    if (poller && poller->added)
        return UCCS_ERR_INVALID;
    if (!poller)
        poller = make_poller(poll, argument);
    if (!poller || !uccs_progress_add(&poller->source))
        return UCCS_ERR_NO_MEMORY;
    poller->added = true;
    return UCCS_OK;
}

int uccs_poller_add(int (*poll)(void *argument), void *argument)
{
    if (!poll)
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&lock);
    const int status = add_poller(poll, argument);
    pthread_mutex_unlock(&lock);
    return status;
}

/* A function that removes itself waits for the other threads alone. */
int uccs_poller_remove(int (*poll)(void *argument), void *argument)
{
    pthread_mutex_lock(&lock);
    struct poller *poller = find_poller(poll, argument);
    const bool was_there = poller && poller->added;
    if (was_there) {
        poller->added = false;
        uccs_progress_remove(&poller->source);
    }
    pthread_mutex_unlock(&lock);
    if (!was_there)
        return UCCS_ERR_INVALID;
    struct uccs_wait wait uccs_scoped = {0};
    while (uccs_progress_is_in_use(&poller->source))
        uccs_rest(&wait);
    return UCCS_OK;
}
