/* Messages that came before their handler was registered; see inner.h. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE 5 /* seconds until a line names the missing handler */

struct parked {
    struct parked *next;
    uint64_t ticket;
    time_t since; /* 0: has been told of */
    struct uccs_message message;
};

uint32_t uccs_parked[OWN_CONTEXTS][OWN_RINGS];
static struct parked *first[OWN_CONTEXTS][OWN_RINGS];    /* by ticket */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of a state that hardly ever is */

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1;
}

lat_cold void uccs_park(uint32_t context, uint32_t which, uint64_t ticket, const struct uccs_message *message)
{
    struct parked *made = malloc(sizeof *made);
    if (!made) {
        log_line("uccs: no memory to keep a message of PE %u for handler %u of context %u", message->source,
                 message->id, context);
        rte_abort(LAT_EXIT);
    }
    *made = (struct parked){.ticket = ticket, .since = now(), .message = *message};
    pthread_mutex_lock(&lock);
    struct parked **at = &first[context][which];
    while (*at && (*at)->ticket < ticket)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
    atomic_store_release(&uccs_parked[context][which], uccs_parked[context][which] + 1); /* acquire: uccs_park_empty */
    pthread_mutex_unlock(&lock);
}

/* Logs one line per message, as a program may register late on purpose. */
static void tell(struct parked *parked, uint32_t context)
{
    if (!parked->since || now() < parked->since + PATIENCE)
        return;
    parked->since = 0;
    log_line(
        "uccs: a message of PE %u waits for handler %u of context %u, which is not registered here, and those behind "
        "it wait too; register it",
        parked->message.source, parked->message.id, context);
}

lat_cold bool uccs_park_take(struct uccs_context *context, uint32_t which, struct uccs_message *message)
{
    uint32_t id = context->attr.id;
    pthread_mutex_lock(&lock);
    struct parked *found = first[id][which];
    if (found && !uccs_handler_known(&context->handlers[found->message.id])) {
        tell(found, id);
        found = 0;
    }
    if (found) {
        first[id][which] = found->next;
        atomic_store_release(&uccs_parked[id][which], uccs_parked[id][which] - 1); /* acquire: uccs_park_empty */
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        return false;
    *message = found->message;
    free(found);
    return true;
}

void uccs_park_close(void)
{
    for (uint32_t id = 0; id < OWN_CONTEXTS; id++)
        for (uint32_t which = 0; which < OWN_RINGS; which++) {
            struct parked *next;
            for (struct parked *at = first[id][which]; at; at = next) {
                next = at->next;
                free(at);
            }
            first[id][which] = 0;
            uccs_parked[id][which] = 0;
        }
}
