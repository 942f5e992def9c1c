#include "rte/delegate.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/* On the stack of who asks, who waits for `done`. */
struct call {
    struct call *next;
    void (*function)(void *);
    void *argument;
    bool done;
};

/* Everything is under the lock but a call's function, which runs without. */
struct delegate {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    struct call *first, **last;
    bool stopping;
};

/* Null when it is to stop and nothing is left. */
static struct call *next_call(struct delegate *d)
{
    while (!d->first && !d->stopping)
        pthread_cond_wait(&d->asked, &d->lock);
    struct call *call = d->first;
    if (call && !(d->first = call->next))
        d->last = &d->first;
    return call;
}

static void *serve(void *argument)
{
    struct delegate *d = argument;
    struct call *call;
    pthread_mutex_lock(&d->lock);
    while ((call = next_call(d))) {
        pthread_mutex_unlock(&d->lock);
        call->function(call->argument);
        pthread_mutex_lock(&d->lock);
        call->done = true;
        pthread_cond_broadcast(&d->answered);
    }
    pthread_mutex_unlock(&d->lock);
    return 0;
}

static void destroy(struct delegate *d)
{
    pthread_cond_destroy(&d->asked);
    pthread_cond_destroy(&d->answered);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* The program's signals are the program's threads' business. */
struct delegate *delegate_start(void)
{
    struct delegate *d = calloc(1, sizeof *d);
    sigset_t all, before;
    if (!d)
        return 0;
    pthread_mutex_init(&d->lock, 0);
    pthread_cond_init(&d->asked, 0);
    pthread_cond_init(&d->answered, 0);
    d->last = &d->first;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&d->thread, 0, serve, d);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (error) {
        destroy(d);
        return 0;
    }
    return d;
}

void delegate_call(struct delegate *d, void (*function)(void *), void *argument)
{
    struct call call = {.function = function, .argument = argument};
    pthread_mutex_lock(&d->lock);
    *d->last = &call;
    d->last = &call.next;
    pthread_cond_signal(&d->asked);
    while (!call.done)
        pthread_cond_wait(&d->answered, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

void delegate_stop(struct delegate *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->stopping = true;
    pthread_cond_signal(&d->asked);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, 0);
    destroy(d);
}
