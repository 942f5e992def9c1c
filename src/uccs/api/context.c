/* Contexts, endpoints and resources of uccs.h. Any thread. One thread at a time creates or destroys the context of an
 * id. */
#include "uccs/am/am.h"

#include "uccs/coll/coll.h"
#include "uccs/api/inner.h"
#include "uccs/proto/initiator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 64 /* in which members try to agree on an id */

/* `making` guards the lists. A thread that retires a context does not hold it while it waits for the threads in the context,
 * because their handlers may need it. These calls are rare. */
static struct uccs_context *contexts[PE_SHARED_CONTEXTS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

const char *uccs_status_text(int status)
{
    switch (status) {
    case UCCS_OK: return "complete";
    case UCCS_IN_PROGRESS: return "in progress";
    case UCCS_AGAIN: return "no room now";
    case UCCS_ERR_INVALID: return "an argument is wrong";
    case UCCS_ERR_NO_MEMORY: return "out of memory or slots";
    case UCCS_ERR_BOUNDS: return "the range does not lie in the memory";
    case UCCS_ERR_UNREACHABLE: return "no transport leads there";
    case UCCS_ERR_STALE: return "the memory or counter has been released";
    case UCCS_ERR_FORGED: return "not a memory handle of this job";
    case UCCS_ERR_TOO_LARGE: return "the payload is too large for this form";
    case UCCS_ERR_FAILED: return "an operation failed: its memory had been released, or its message was never handled";
    case UCCS_ERR_STATE: return "not possible here: before uccs_init, or outside of a handler";
    case UCCS_ERR_NOT_FOUND: return "there is no such entry";
    }
    return "unknown status";
}

/* Returns a context that has no id yet; null: no memory. */
static struct uccs_context *make_context(const struct uccs_context_attr *attr)
{
    struct uccs_context *made = calloc(1, sizeof *made);
    if (!made)
        return 0;
    made->attr = *attr;
    made->stream = (struct uccs_stream){.world = made, .attr = {attr->scope, attr->ordered, attr->threads}};
    return made;
}

/* Returns a bit for each id that is free here. */
static uint64_t free_ids_here(void)
{
    uint64_t free_ids = 0;
    pthread_mutex_lock(&making);
    for (uint32_t id = 0; id < UCCS_CONTEXTS; id++)
        free_ids |= (uint64_t)!contexts[id] << id;
    pthread_mutex_unlock(&making);
    return free_ids;
}

/* Takes the id attr.id. Returns false when another context has it. */
static bool take_id(struct uccs_context *made)
{
    pthread_mutex_lock(&making);
    bool taken = contexts[made->attr.id] != 0;
    if (!taken)
        contexts[made->attr.id] = made;
    pthread_mutex_unlock(&making);
    return !taken;
}

/* Nobody has used the context. */
static void give_id_back(struct uccs_context *made)
{
    pthread_mutex_lock(&making);
    contexts[made->attr.id] = 0;
    pthread_mutex_unlock(&making);
}

int uccs_context_create(const struct uccs_context_attr *attr, uccs_context_t *context)
{
    static const struct uccs_context_attr standard;
    attr = attr ? attr : &standard;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!context || attr->id >= UCCS_CONTEXTS || !uccs_attr_good(attr->scope, attr->threads))
        return UCCS_ERR_INVALID;
    struct uccs_context *made = make_context(attr);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    if (!take_id(made)) {
        free(made);
        return UCCS_ERR_INVALID;
    }
    uccs_am_publish(made);
    *context = made;
    return UCCS_OK;
}

/* Retires a context. Its id is free again once no thread is in the context any more. */
static void retire_context(struct uccs_context *context)
{
    uccs_am_retire(context);
    pthread_mutex_lock(&making);
    contexts[context->attr.id] = 0;
    pthread_mutex_unlock(&making);
    uccs_stream_finish(&context->stream);
    if (context->group)
        uccs_ranks_drop(context->group);
    free(context);
}

static bool is_known(const struct uccs_context *context)
{
    bool found = false;
    pthread_mutex_lock(&making);
    for (uint32_t id = 0; id < UCCS_CONTEXTS && context; id++)
        found |= contexts[id] == context;
    pthread_mutex_unlock(&making);
    return found;
}

int uccs_context_destroy(uccs_context_t context)
{
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!is_known(context))
        return UCCS_ERR_INVALID;
    context->stream.attr.scope = UCCS_SCOPE_PROCESS; /* wait for the messages of all threads */
    uccs_stream_flush(&context->stream, 0, 0);
    while (uccs_progress() > 0) /* handle all messages that have arrived and have a handler */
        ;
    retire_context(context);
    return UCCS_OK;
}

void uccs_contexts_close(void)
{
    for (uint32_t id = 0; id < UCCS_CONTEXTS; id++)
        if (contexts[id])
            retire_context(contexts[id]);
}

int uccs_resource_query(uccs_context_t context, struct uccs_resource *list, size_t *count)
{
    static const struct uccs_resource here[] = {
        {"shm", "memory",
         UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_AM | UCCS_CAP_ONE_SIDED | UCCS_CAP_MAPPED,
         UCCS_CLASS_MEMORY, UCCS_CLASS_MEMORY},
        {"cma", "kernel", UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_ONE_SIDED, UCCS_CLASS_KERNEL_COPY,
         UCCS_CLASS_KERNEL_COPY},
        /* The target's processor executes operations. UCX may have more than sockets, but it does not promise more. */
        {"", "network", UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_AM, UCCS_CLASS_SOCKET,
         UCCS_CLASS_SOCKET},
    };
    const size_t have = sizeof here / sizeof *here - !proto_active;
    if (!context || !count || (*count && !list))
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < have && i < *count; i++) {
        list[i] = here[i];
        if (!*list[i].transport)
            snprintf(list[i].transport, sizeof list[i].transport, "%s", proto_network());
    }
    *count = have;
    return UCCS_OK;
}

/* --- Contexts whose id the members of a group agree on
 *
 * In a round the members learn which ids are free at all of them and choose one; each takes it, unless another thread
 * was faster, and they learn whether all have it. If not, they leave it and begin again. Each group begins its choice at
 * another id, so groups that meet in several processes part after a few rounds. */

/* Returns the choice of all members: the first free id below `start`, going round. */
static uint32_t choose_id(uint64_t ids, uint64_t start)
{
    uint32_t id = (uint32_t)(start % UCCS_CONTEXTS);
    while (!(ids >> id & 1))
        id = id ? id - 1 : UCCS_CONTEXTS - 1;
    return id;
}

static int and_of_all(uccs_group_t group, uint64_t mine, uint64_t *all)
{
    return uccs_allreduce(group, &mine, all, 1, UCCS_UINT64, UCCS_AND);
}

/* Takes an id at all members, or at none. `made` is null where there was no memory. Returns UCCS_OK, UCCS_AGAIN, or an
 * error. */
static int try_round(uccs_group_t group, struct uccs_context *made, uint64_t start)
{
    uint64_t ids = 0, all = 0;
    int status = and_of_all(group, made ? free_ids_here() : 0, &ids);
    if (status != UCCS_OK || !ids)
        return status != UCCS_OK ? status : UCCS_ERR_NO_MEMORY;
    made->attr.id = choose_id(ids, start);
    bool taken = take_id(made);
    status = and_of_all(group, taken, &all);
    if (status == UCCS_OK && all)
        return UCCS_OK;
    if (taken)
        give_id_back(made);
    return status != UCCS_OK ? status : UCCS_AGAIN;
}

static int agree_on_id(uccs_group_t group, struct uccs_context *made)
{
    uint64_t start = UCCS_CONTEXTS - 1 + UCCS_CONTEXTS * (uccs_group_of(group)->number & 0xff);
    int status = UCCS_AGAIN;
    for (uint64_t round = 0; round < ROUNDS && status == UCCS_AGAIN; round++)
        status = try_round(group, made, round ? start + round * (uccs_group_of(group)->number | 1) : start);
    return status == UCCS_AGAIN ? UCCS_ERR_NO_MEMORY : status;
}

int uccs_context_create_in(uccs_group_t group, const struct uccs_context_attr *attr, uccs_context_t *context)
{
    static const struct uccs_context_attr standard;
    attr = attr ? attr : &standard;
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!group || !context || !uccs_attr_good(attr->scope, attr->threads))
        return UCCS_ERR_INVALID;
    struct uccs_context *made = make_context(attr);
    int status = agree_on_id(group, made);
    if (status != UCCS_OK) {
        free(made);
        return status;
    }
    made->group = uccs_group_of(group);
    uccs_ranks_hold(made->group);
    uccs_am_publish(made);
    *context = made;
    return UCCS_OK;
}
