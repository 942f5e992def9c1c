/* Completion queues of the public interface, on top of comp/queue.h. Any thread. */
#include "uccs/comp/queue.h"

#include "uccs/am/am.h"

int uccs_queue_create(uccs_queue_t *queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    struct uccs_queue *made = uccs_queue_make();
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *queue = made;
    return UCCS_OK;
}

int uccs_queue_release(uccs_queue_t queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    uccs_queue_abandon(queue);
    return UCCS_OK;
}

int uccs_queue_poll(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    if (!queue || !entries || !count || !*count)
        return UCCS_ERR_INVALID;
    size_t found = uccs_queue_take(queue, entries, *count);
    if (!found) {
        uccs_progress();
        found = uccs_queue_take(queue, entries, *count);
    }
    *count = found;
    return UCCS_OK;
}

int uccs_queue_wait(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    struct uccs_wait wait uccs_scoped = {0};
    size_t found;
    if (!queue || !entries || !count || !*count)
        return UCCS_ERR_INVALID;
    while (!(found = uccs_queue_take(queue, entries, *count))) {
        if (uccs_handlers_running)
            return UCCS_ERR_STATE;
        uccs_am_serve(&wait);
    }
    *count = found;
    return UCCS_OK;
}
