#include "uccs/context.h"

#include "rte/rte.h"
#include "uccs/am.h"
#include "uccs/life.h"
#include "uccs/flush.h"
#include "uccs/progress.h"

#include <pthread.h>
#include <stdlib.h>

static struct uccs_context *contexts[OWN_CONTEXTS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static int inits;

const char *uccs_status_text(int status)
{
    switch (status) {
    case UCCS_OK: return "complete";
    case UCCS_IN_PROGRESS: return "in progress";
    case UCCS_ERR_INVALID: return "an argument is wrong";
    case UCCS_ERR_NO_MEMORY: return "out of memory or slots";
    case UCCS_ERR_BOUNDS: return "the range does not lie in the memory";
    case UCCS_ERR_UNREACHABLE: return "no transport leads there";
    case UCCS_ERR_STALE: return "the memory or counter has been released";
    case UCCS_ERR_FORGED: return "not a memory handle of this job";
    case UCCS_ERR_TOO_LARGE: return "the payload is too large for this form";
    case UCCS_ERR_STATE: return "not possible here: before uccs_init, or outside of a handler";
    }
    return "unknown status";
}

int uccs_init(void)
{
    if (uccs_life_begin() != 0)
        return UCCS_ERR_NO_MEMORY;
    pthread_mutex_lock(&making);
    inits++;
    pthread_mutex_unlock(&making);
    return UCCS_OK;
}

int uccs_finalize(void)
{
    pthread_mutex_lock(&making);
    bool mine = inits > 0;
    inits -= mine;
    pthread_mutex_unlock(&making);
    if (!mine)
        return UCCS_ERR_STATE;
    uccs_work_finish();
    uccs_life_end(0);
    return UCCS_OK;
}

struct uccs_context *uccs_context_at(uint32_t id)
{
    return atomic_load_acquire(&contexts[id]); /* release: publish */
}

/* Rings of an earlier context of this id keep what they hold: messages that came meanwhile. */
static void open_rings(uint32_t id)
{
    uint32_t mine = (uint32_t)uccs_core.me - uccs_core.first;
    uint32_t *open = &uccs_own_mine()->open[id];
    if (atomic_load_relaxed(open))
        return;
    for (uint32_t which = 0; which < OWN_RINGS; which++)
        ring_format(uccs_own_ring(mine, id, which), OWN_RING_CELLS, sizeof(struct uccs_message));
    atomic_store_release(open, 1); /* acquire: senders, in am.c */
}

int uccs_context_create(const struct uccs_context_attr *attr, uccs_context_t *context)
{
    static const struct uccs_context_attr standard;
    attr = attr ? attr : &standard;
    if (!uccs_core.size)
        return UCCS_ERR_STATE;
    if (!context || attr->id >= UCCS_CONTEXTS || attr->scope > UCCS_SCOPE_THREAD || attr->threads > UCCS_THREAD_SINGLE)
        return UCCS_ERR_INVALID;
    struct uccs_context *made = calloc(1, sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    made->attr = *attr;
    pthread_mutex_lock(&making);
    bool taken = contexts[attr->id] != 0;
    if (!taken) {
        open_rings(attr->id);
        atomic_store_release(&contexts[attr->id], made); /* acquire: uccs_context_at */
        uccs_am_start();
    }
    pthread_mutex_unlock(&making);
    if (taken) {
        free(made);
        return UCCS_ERR_INVALID;
    }
    *context = made;
    return UCCS_OK;
}

int uccs_context_destroy(uccs_context_t context)
{
    if (!context || uccs_context_at(context->attr.id) != context)
        return UCCS_ERR_INVALID;
    uccs_flush(context);
    pthread_mutex_lock(&making);
    atomic_store_seqcst(&contexts[context->attr.id], 0);
    uccs_am_stop();
    pthread_mutex_unlock(&making);
    uccs_am_wait_for_pollers();
    while (context->endpoints)
        uccs_endpoint_release(context->endpoints);
    free(context);
    return UCCS_OK;
}

int uccs_endpoint_create(uccs_context_t context, uccs_group_t group, int rank, uccs_endpoint_t *endpoint)
{
    int pe = context && endpoint ? uccs_group_world_rank(group, rank) : -1;
    if (pe < 0)
        return UCCS_ERR_INVALID;
    uint32_t index = (uint32_t)pe - uccs_core.first;
    if (index >= uccs_core.size)
        return UCCS_ERR_UNREACHABLE;
    struct uccs_endpoint *made = malloc(sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *made = (struct uccs_endpoint){.context = context, .pe = pe, .index = index};
    pthread_mutex_lock(&making);
    made->next = context->endpoints;
    context->endpoints = made;
    pthread_mutex_unlock(&making);
    *endpoint = made;
    return UCCS_OK;
}

int uccs_endpoint_release(uccs_endpoint_t endpoint)
{
    if (!endpoint)
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&making);
    struct uccs_endpoint **at = &endpoint->context->endpoints;
    while (*at && *at != endpoint)
        at = &(*at)->next;
    bool found = *at == endpoint;
    if (found)
        *at = endpoint->next;
    pthread_mutex_unlock(&making);
    if (found)
        free(endpoint);
    return found ? UCCS_OK : UCCS_ERR_INVALID;
}

int uccs_resource_query(uccs_context_t context, struct uccs_resource *list, size_t *count)
{
    static const struct uccs_resource here[] = {
        {"shm", "memory", UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_AM | UCCS_CAP_ONE_SIDED | UCCS_CAP_MAPPED,
         UCCS_CLASS_MEMORY, UCCS_CLASS_MEMORY},
        {"cma", "kernel", UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_ONE_SIDED, UCCS_CLASS_KERNEL_COPY,
         UCCS_CLASS_KERNEL_COPY},
    };
    const size_t have = sizeof here / sizeof *here;
    if (!context || !count || (*count && !list))
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < have && i < *count; i++)
        list[i] = here[i];
    *count = have;
    return UCCS_OK;
}
