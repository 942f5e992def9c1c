/* uccs_init, uccs_finalize, and the library's own context.
 *
 * In uccs_finalize all PEs meet, so all messages have been sent. Each PE handles the messages that have arrived, whose
 * handlers may send replies. All meet again and handle the replies. Each PE drops messages without a handler, logs a
 * line, and returns a status other than 0. Then nothing is under way, and contexts that the program has left are
 * released. */
#include "uccs/api/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/coll/coll.h"
#include "uccs/proto/initiator.h"
#include "uccs/life.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct uccs_context inner = {
    .attr = {.id = PE_SHARED_LIBRARY_CONTEXT},
    .handlers = {[UCCS_INNER_TAGGED] = {.handler = uccs_tagged_arrived},
                 [UCCS_INNER_REMOTE] = {.handler = uccs_remote_arrived},
                 [UCCS_INNER_OOB] = {.handler = uccs_oob_arrived}},
};

int uccs_embed(const struct uccs_environment *environment)
{
    if (environment &&
        (environment->size < sizeof *environment || environment->rank < 0 || environment->rank >= environment->ranks ||
         !environment->put || !environment->fence || !environment->get || !environment->abort))
        return UCCS_ERR_INVALID;
    const int status = uccs_life_embed(environment);
    return status == 0 ? UCCS_OK : status == -2 ? UCCS_ERR_INVALID : UCCS_ERR_STATE;
}

int uccs_init(void)
{
    int status = UCCS_OK;
    pthread_mutex_lock(&lock);
    if (uccs_users == 0) {
        status = uccs_life_begin();
        status = status == 0 ? UCCS_OK : status == -2 ? UCCS_ERR_FAILED : UCCS_ERR_NO_MEMORY;
        if (status == UCCS_OK && !uccs_oob_open()) {
            log_line("uccs: no memory");
            rte_abort(LAT_EXIT); /* otherwise the other PEs would wait */
        }
        if (status == UCCS_OK) {
            uccs_ranks_open();
            uccs_am_publish(&inner);
            uccs_am_start();
        }
    }
    if (status == UCCS_OK)
        atomic_store_release(&uccs_users, uccs_users + 1); /* acquire: uccs_running */
    pthread_mutex_unlock(&lock);
    return status;
}

/* Meets all PEs. On return all messages that any PE has sent so far have arrived. */
static void meet_with_all(void)
{
    proto_quiet_all();
    uccs_quiet();
    uccs_coll_meet(true);
}

/* Logs a line for the dropped messages. */
static void tell_lost(const struct uccs_am_lost *lost)
{
    log_line(
        "uccs: uccs_finalize drops %zu messages that were not handled; the first one came from PE %u for handler %u of "
        "context %u, which is not registered here",
        lost->count, lost->source, lost->id, lost->context);
}

static int stop_life(void)
{
    uccs_wait_tasks_finished();
    meet_with_all();
    for (int round = 0; round < 2; round++) {
        uccs_am_drain();
        meet_with_all();
    }
    uccs_am_drain();
    const struct uccs_am_lost lost = uccs_am_drop();
    if (lost.count)
        tell_lost(&lost);
    meet_with_all(); /* requests of messages that others have dropped are complete */
    while (uccs_bounce_collect() > 0)
        ;
    uccs_wait_tasks_finished(); /* functions that follow those requests */
    uccs_contexts_close();
    atomic_store_release(&uccs_users, 0);
    uccs_am_stop();
    uccs_am_retire(&inner);
    uccs_oob_close();
    uccs_tagged_close();
    uccs_life_end(0);
    return lost.count ? UCCS_ERR_FAILED : UCCS_OK;
}

int uccs_finalize(void)
{
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    pthread_mutex_lock(&lock);
    int before = uccs_users, status = before > 0 ? UCCS_OK : UCCS_ERR_STATE;
    if (before == 1)
        status = stop_life();
    else if (before > 1)
        atomic_store_release(&uccs_users, before - 1);
    pthread_mutex_unlock(&lock);
    return status;
}
