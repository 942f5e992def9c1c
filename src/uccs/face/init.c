/* uccs_init, uccs_finalize, and the library's own context.
 *
 * Finalize: all PEs meet, so all messages have been sent. Each handles those that have arrived, which may send replies.
 * All meet again and handle the replies. Then nothing is under way, and contexts that the program has left are
 * released. */
#include "uccs/face/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/coll/coll.h"
#include "uccs/far/far.h"
#include "uccs/life.h"
#include "uccs/rma/rma.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct uccs_context inner = {
    .attr = {.id = OWN_INNER},
    .handlers = {[UCCS_INNER_LETTER] = {.handler = uccs_letter_arrived},
                 [UCCS_INNER_REMOTE] = {.handler = uccs_remote_arrived},
                 [UCCS_INNER_OOB] = {.handler = uccs_oob_arrived}},
};

int uccs_init(void)
{
    int status = UCCS_OK;
    pthread_mutex_lock(&lock);
    if (uccs_users == 0) {
        status = uccs_life_begin() == 0 ? UCCS_OK : UCCS_ERR_NO_MEMORY;
        if (status == UCCS_OK && !uccs_oob_open()) {
            log_line("uccs: no memory");
            rte_abort(LAT_EXIT); /* the others would wait */
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

/* On return all messages that any PE has sent so far have arrived. */
static void meet_with_all(void)
{
    uccs_quiet_all();
    uccs_coll_meet(true);
}

static void stop(void)
{
    uccs_work_finish();
    meet_with_all();
    for (int round = 0; round < 2; round++) {
        uccs_am_drain();
        meet_with_all();
    }
    uccs_am_drain();
    uccs_contexts_close();
    atomic_store_release(&uccs_users, 0);
    uccs_am_stop();
    uccs_am_retire(&inner);
    uccs_oob_close();
    uccs_letter_close();
    uccs_park_close();
    uccs_stage_collect();
    uccs_life_end(0);
}

int uccs_finalize(void)
{
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    pthread_mutex_lock(&lock);
    int before = uccs_users;
    if (before == 1)
        stop();
    else if (before > 1)
        atomic_store_release(&uccs_users, before - 1);
    pthread_mutex_unlock(&lock);
    return before > 0 ? UCCS_OK : UCCS_ERR_STATE;
}
