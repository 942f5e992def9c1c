/* Streams of uccs.h: creation and end, endpoints, flush and fence. am/am.h holds their parts, proto/proto.h what they
 * have issued to other nodes. Any thread. */
#include "uccs/api/inner.h"

#include "uccs/am/am.h"
#include "uccs/coll/coll.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* guards the streams' lists of endpoints */

/* --- Creation and end */

bool uccs_attr_good(enum uccs_scope scope, enum uccs_thread_mode threads)
{
    return (unsigned)scope <= UCCS_SCOPE_THREAD && (unsigned)threads <= UCCS_THREAD_SINGLE;
}

int uccs_stream_create(uccs_context_t world, const struct uccs_stream_attr *attr, uccs_stream_t *stream)
{
    static const struct uccs_stream_attr standard;
    attr = attr ? attr : &standard;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!stream || !uccs_attr_good(attr->scope, attr->threads))
        return UCCS_ERR_INVALID;
    struct uccs_stream *made = malloc(sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *made = (struct uccs_stream){.world = world, .attr = *attr, .shared.notes = 1};
    *stream = made;
    return UCCS_OK;
}

void uccs_stream_finish(struct uccs_stream *stream)
{
    uccs_stream_end(stream);
    for (struct uccs_endpoint *next, *at = stream->endpoints; at; at = next) {
        next = at->next;
        free(at);
    }
}

int uccs_stream_release(uccs_stream_t stream)
{
    if (!stream || (stream->world && stream == &stream->world->stream))
        return UCCS_ERR_INVALID;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    uccs_stream_finish(stream);
    uccs_callbacks_run();
    free(stream);
    return UCCS_OK;
}

uccs_stream_t uccs_context_stream(uccs_context_t context)
{
    return context ? &context->stream : 0;
}

/* --- Endpoints */

/* Returns true when the world may lead to the PE: beyond the group that agreed on its id, the id may be another's. */
static bool is_member(const struct uccs_context *world, int pe)
{
    return !world || !world->group || uccs_ranks_find(world->group, pe) >= 0;
}

int uccs_stream_endpoint(uccs_stream_t stream, uccs_group_t group, int rank, uccs_endpoint_t *endpoint)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    int pe = stream && endpoint ? uccs_group_world_rank(group, rank) : -1;
    if (pe < 0 || !is_member(stream->world, pe))
        return UCCS_ERR_INVALID;
    struct uccs_endpoint *made = malloc(sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *made = (struct uccs_endpoint){.context = stream->world,
                                   .stream = stream,
                                   .ordered = stream->attr.ordered,
                                   .pe = pe,
                                   .index = uccs_index(pe)};
    pthread_mutex_lock(&making);
    made->next = stream->endpoints;
    stream->endpoints = made;
    pthread_mutex_unlock(&making);
    *endpoint = made;
    return UCCS_OK;
}

int uccs_endpoint_release(uccs_endpoint_t endpoint)
{
    if (!endpoint || !endpoint->stream)
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&making);
    struct uccs_endpoint **at = &endpoint->stream->endpoints;
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

int uccs_endpoint_world_rank(uccs_endpoint_t endpoint)
{
    return endpoint ? endpoint->pe : -1;
}

uccs_context_t uccs_endpoint_context(uccs_endpoint_t endpoint)
{
    return endpoint ? endpoint->context : 0;
}

/* --- Flush and fence. On the node, operations copy their sources before they return, and are complete when their stores
 * are visible. */

#define FEW 16

/* Peers of other nodes that endpoints lead to. */
struct peers {
    size_t n;
    int few[FEW], *pes; /* null: all */
};

/* Returns UCCS_OK or an error. The caller calls drop afterwards. */
static int find_peers(struct peers *peers, uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n)
{
    peers->n = 0;
    peers->pes = 0;
    if (!stream || (n && !endpoints))
        return UCCS_ERR_INVALID;
    if (!endpoints)
        return UCCS_OK;
    for (size_t i = 0; i < n; i++)
        if (!endpoints[i])
            return UCCS_ERR_INVALID;
    peers->pes = n <= FEW ? peers->few : malloc(n * sizeof *peers->pes);
    if (!peers->pes)
        return UCCS_ERR_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (endpoints[i]->index >= uccs_core.pes)
            peers->pes[peers->n++] = endpoints[i]->pe;
    return UCCS_OK;
}

static void drop_peers(struct peers *peers)
{
    if (peers->pes != peers->few)
        free(peers->pes);
}

static bool is_settled(const struct uccs_stream *stream, bool messages)
{
    return uccs_deferred_done(stream) && (!messages || uccs_am_settled(stream->world, stream->attr.scope));
}

/* Waits for what peers of this node execute, and for messages. */
static int settle_stream(const struct uccs_stream *stream, bool messages)
{
    struct uccs_wait wait uccs_scoped = {0};
    if (messages)
        wait.on = uccs_reason_function(uccs_am_reason_debtor, stream->world);
    struct uccs_late late = {0};
    while (!is_settled(stream, messages)) {
        if (uccs_handlers_running)
            return UCCS_ERR_STATE;
        if (messages && lat_unlikely(uccs_late_now(&late)) && !uccs_am_settled(stream->world, stream->attr.scope))
            uccs_am_tell_unsettled(stream->world);
        uccs_am_serve(&wait);
    }
    return UCCS_OK;
}

static int flush_peers(struct uccs_stream *stream, const struct peers *peers)
{
    struct proto_worker_set *far = uccs_stream_used(stream);
    bool failed = far && !proto_quiet(far, peers->pes, peers->n);
    uccs_quiet();
    int status = settle_stream(stream, stream->world && !peers->pes);
    if (status != UCCS_OK)
        return status;
    failed |= uccs_deferred_failed(stream);
    if (!peers->pes)
        uccs_stream_rest(stream);
    uccs_bounce_collect();
    uccs_callbacks_run();
    return failed ? UCCS_ERR_FAILED : UCCS_OK;
}

int uccs_stream_flush(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n)
{
    struct peers peers;
    int status = find_peers(&peers, stream, endpoints, n);
    if (status == UCCS_OK)
        status = flush_peers(stream, &peers);
    drop_peers(&peers);
    return status;
}

/* Gets that peers of this node execute bring their data when they are done. */
int uccs_stream_flush_local(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n)
{
    struct peers peers;
    int status = find_peers(&peers, stream, endpoints, n);
    struct proto_worker_set *far = status == UCCS_OK ? uccs_stream_used(stream) : 0;
    if (far)
        proto_wait_local(far, peers.pes, peers.n);
    if (status == UCCS_OK)
        status = settle_stream(stream, false);
    drop_peers(&peers);
    return status;
}

static int start_flush(struct proto_worker_set *far, const struct peers *peers, uccs_request_t *request)
{
    struct uccs_request *object = uccs_request_materialise(request);
    if (!object)
        return UCCS_ERR_NO_MEMORY;
    return proto_flush(far, peers->pes, peers->n, object) ? UCCS_OK : UCCS_ERR_NO_MEMORY;
}

/* What peers of this node execute has no request to hang on, so it is completed here. */
int uccs_stream_flush_nb(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n, uccs_request_t *request)
{
    struct peers peers;
    int status = find_peers(&peers, stream, endpoints, n);
    if (status == UCCS_OK && !request)
        status = UCCS_ERR_INVALID;
    if (status == UCCS_OK)
        status = settle_stream(stream, false);
    struct proto_worker_set *far = status == UCCS_OK ? uccs_stream_used(stream) : 0;
    if (far && !proto_is_idle(far))
        status = start_flush(far, &peers, request);
    if (status == UCCS_OK)
        uccs_request_stored(request);
    drop_peers(&peers);
    return status;
}

/* A fence of all is as cheap as one of some. */
int uccs_stream_fence(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n)
{
    struct peers peers;
    int status = find_peers(&peers, stream, endpoints, n);
    drop_peers(&peers);
    if (status != UCCS_OK)
        return status;
    uccs_deferred_wait(stream);
    uccs_stream_order(stream);
    return UCCS_OK;
}

int uccs_stream_progress(uccs_stream_t stream)
{
    struct proto_worker_set *far = stream ? uccs_stream_used(stream) : 0;
    int found = far && atomic_load_relaxed(&far->used) ? proto_progress(proto_worker_of(far)) : 0;
    return found + uccs_bounce_collect() + uccs_callbacks_run();
}
