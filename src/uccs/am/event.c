/* The descriptor to sleep on (uccs_event_descriptor of uccs.h): the progress thread writes to it.
 *
 * No wake-up is lost. The program stores `armed` and rings the thread's doorbell, so the thread makes a whole round after that: it
 * lets all servers serve, this one last, asks to be woken, and makes another round before it sleeps. What came before the round is found by
 * it, and what comes later rings. While threads of the program poll, the thread leaves the servers to them; then a sleeper may wait for
 * what they find, so it is woken once they are seen to poll twice. */
#include "uccs/am/inner.h"

#include "base/env.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/core/progress_thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static int event = -1;
static uint32_t armed;  /* 1: a thread is about to sleep; release: uccs_event_arm; acqrel: raise_event */
static uint32_t others; /* rounds since then in which other threads polled; relaxed */

/* Takes `armed` back. Returns false when another thread has done so. */
static bool disarm_event(void)
{
    if (!atomic_exchange_acqrel(&armed, 0))
        return false;
    uccs_doorbell_tasks_end();
    return true;
}

/* The progress thread's, behind its other servers. */
static enum uccs_served serve_sleeper(void)
{
    static uint64_t finds; /* seen so far */
    const bool found = finds != uccs_progress_finds;
    finds = uccs_progress_finds;
    if (!atomic_load_acquire(&armed)) /* release: uccs_event_arm */
        return UCCS_SERVED_NOTHING;
    const bool polled = uccs_progress_attended && atomic_fetch_add_relaxed(&others, 1) > 0;
    if ((found || polled || uccs_am_user_waits()) && disarm_event())
        (void)!write(event, &(uint64_t){1}, sizeof(uint64_t));
    return UCCS_SERVED_NOTHING;
}

static uint64_t count_polls(void)
{
    return 0;
}

struct uccs_progress_source uccs_event_source = {.serve = serve_sleeper,
                                                 .polls = count_polls,
                                                 .descriptor = -1,
                                                 .alarm = -1};

static int make_event(void)
{
    if (strcmp(env_text(ENV_PROGRESS), "poll") == 0)
        return UCCS_ERR_STATE;
    const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
        return UCCS_ERR_NO_MEMORY;
    if (uccs_progress_thread_start() != 0) {
        close(made);
        return UCCS_ERR_NO_MEMORY;
    }
    event = made;
    return UCCS_OK;
}

int uccs_event_descriptor(int *descriptor)
{
    int status = UCCS_OK;
    if (!descriptor)
        return UCCS_ERR_INVALID;
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    pthread_mutex_lock(&making);
    if (event < 0)
        status = make_event();
    if (status == UCCS_OK)
        *descriptor = event;
    pthread_mutex_unlock(&making);
    return status;
}

int uccs_event_arm(void)
{
    uint64_t count;
    if (event < 0 || uccs_handlers_running)
        return UCCS_ERR_STATE;
    (void)disarm_event();
    (void)!read(event, &count, sizeof count);
    atomic_store_relaxed(&others, 0);
    uccs_doorbell_tasks_begin(); /* receivers ring when they have handled a message of this process */
    atomic_store_seqcst(&armed, 1);
    if (uccs_am_user_waits()) {
        (void)disarm_event();
        return UCCS_AGAIN;
    }
    uccs_doorbell_ring_mine();
    return UCCS_OK;
}

void uccs_event_close(void)
{
    if (event >= 0)
        close(event);
    event = -1;
    atomic_store_relaxed(&armed, 0);
}
