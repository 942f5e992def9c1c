/* Contexts, endpoints and resources of uccs.h. Any thread. One thread at a time creates or destroys the context of an
 * id. */
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/api/inner.h"
#include "uccs/coll/coll.h"
#include "uccs/life.h"
#include "uccs/proto/initiator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    made->stream =
        (struct uccs_stream){.world = made, .attr = {attr->scope, attr->ordered, attr->threads}, .shared.notes = 1};
    return made;
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

/* Releases, at the end of a life, the contexts that the program has left. None of their operations is under way. */
static void uccs_contexts_close(void)
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

/* --- Contexts whose id the members of a group agree on. Number n is the id UCCS_CONTEXTS - 1 - n, since programs choose low ids */

static int join_group(void *group, uint64_t *words, size_t n, bool maximum)
{
    return uccs_allreduce(group, words, words, n, UCCS_UINT64, maximum ? UCCS_MAX : UCCS_AND);
}

struct uccs_members uccs_group_members(uccs_group_t group)
{
    return (struct uccs_members){.join = join_group, .members = group, .salt = (uint32_t)uccs_group_of(group)->number};
}

/* Where there was no memory for the context, `made` is null and no id is free. */
static void list_ids(void *made, uint32_t window, uint64_t *words)
{
    (void)window;
    memset(words, 0, UCCS_AGREE_WORDS * sizeof *words);
    pthread_mutex_lock(&making);
    for (uint32_t id = 0; id < UCCS_CONTEXTS && made; id++)
        words[0] |= (uint64_t)!contexts[id] << (UCCS_CONTEXTS - 1 - id);
    pthread_mutex_unlock(&making);
}

static uint64_t take_number(void *made, uint32_t number)
{
    ((struct uccs_context *)made)->attr.id = UCCS_CONTEXTS - 1 - number;
    return take_id(made);
}

/* Nobody has used the context. */
static void give_number_back(void *unused, uint32_t number)
{
    (void)unused;
    pthread_mutex_lock(&making);
    contexts[UCCS_CONTEXTS - 1 - number] = 0;
    pthread_mutex_unlock(&making);
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
    const struct uccs_numbers ids = {.windows = 1,
                                     .each = UCCS_CONTEXTS,
                                     .what = made,
                                     .list = list_ids,
                                     .take = take_number,
                                     .give_back = give_number_back};
    const struct uccs_members members = uccs_group_members(group);
    uint32_t number;
    uint64_t value;
    int status = uccs_agree(&members, &ids, &number, &value);
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

/* uccs_init, uccs_finalize, and the library's own context.
 *
 * In uccs_finalize all PEs meet, so all messages have been sent. Each PE handles the messages that have arrived, whose
 * handlers may send replies. All meet again and handle the replies. Each PE drops messages without a handler, logs a
 * line, and returns a status other than 0. Then nothing is under way, and contexts that the program has left are
 * released. */

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
    if (uccs_users == 0 || !rte_is_pe()) {
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
    if (uccs_handlers_running || !rte_is_pe())
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
