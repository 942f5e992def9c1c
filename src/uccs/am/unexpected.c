/* Messages that wait for a handler; unexpected.h describes them. Any thread. */
#include "uccs/am/unexpected.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/wait_record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct unexpected {
    struct unexpected *next;
    uint64_t ticket;
    struct uccs_late late;
    struct uccs_bounce *copy;
    struct uccs_message message;
};

uint32_t uccs_unexpected_count[PE_SHARED_CONTEXTS][PE_SHARED_RINGS];
static struct queue {
    struct unexpected *first, *last;
} queues[PE_SHARED_CONTEXTS][PE_SHARED_RINGS];           /* by ticket */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* rarely taken: messages are hardly ever unexpected */

/* Under the lock. */
static void count_unexpected(uint32_t context, uint32_t which, uint32_t by)
{
    atomic_store_release(&uccs_unexpected_count[context][which],
                         uccs_unexpected_count[context][which] + by); /* acquire: uccs_unexpected_empty */
    uint32_t *shown = &uccs_pe_shared_mine()->unexpected[context];
    atomic_store_relaxed(shown, *shown + by);
}

/* Under the lock. Threads that take cells of a ring at the same time may add them in another order. */
static void insert_by_ticket(struct queue *queue, struct unexpected *made)
{
    struct unexpected **at = &queue->first;
    if (queue->last && queue->last->ticket < made->ticket)
        at = &queue->last->next;
    while (*at && (*at)->ticket < made->ticket)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
    if (!made->next)
        queue->last = made;
}

lat_cold void uccs_unexpected_add(uint32_t context, uint32_t which, uint64_t ticket, const struct uccs_message *message,
                                  struct uccs_bounce *copy)
{
    struct unexpected *made = malloc(sizeof *made);
    if (!made) {
        log_line("uccs: no memory to keep a message of PE %u for handler %u of context %u", message->source,
                 message->id, context);
        rte_abort(LAT_EXIT);
    }
    *made = (struct unexpected){.ticket = ticket, .copy = copy, .message = *message};
    pthread_mutex_lock(&lock);
    insert_by_ticket(&queues[context][which], made);
    count_unexpected(context, which, 1);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void take_first(uint32_t context, uint32_t which, struct uccs_message *message, struct uccs_bounce **copy)
{
    struct queue *queue = &queues[context][which];
    struct unexpected *found = queue->first;
    queue->first = found->next;
    if (!queue->first)
        queue->last = 0;
    count_unexpected(context, which, -1u);
    *message = found->message;
    *copy = found->copy;
    free(found);
}

bool uccs_unexpected_is_ready(const struct uccs_context *context, uint32_t which)
{
    pthread_mutex_lock(&lock);
    const struct unexpected *found = queues[context->attr.id][which].first;
    const bool known = found && uccs_handler_known(&context->handlers[found->message.id]);
    pthread_mutex_unlock(&lock);
    return known;
}

lat_cold bool uccs_unexpected_take(struct uccs_context *context, uint32_t which, struct uccs_message *message,
                                   struct uccs_bounce **copy)
{
    uint32_t id = context->attr.id;
    pthread_mutex_lock(&lock);
    struct unexpected *found = queues[id][which].first;
    bool known = found && uccs_handler_known(&context->handlers[found->message.id]);
    if (known)
        take_first(id, which, message, copy);
    else if (found && uccs_late_now(&found->late))
        uccs_late_handler(found->message.source, found->message.id % UCCS_AM_HANDLERS, id);
    pthread_mutex_unlock(&lock);
    return known;
}

bool uccs_unexpected_take_any(uint32_t context, uint32_t which, struct uccs_message *message, struct uccs_bounce **copy)
{
    pthread_mutex_lock(&lock);
    bool found = queues[context][which].first;
    if (found)
        take_first(context, which, message, copy);
    pthread_mutex_unlock(&lock);
    return found;
}
