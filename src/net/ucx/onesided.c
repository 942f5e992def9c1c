/* One-sided operations over UCX: put, get, atomics and flush on an endpoint, with keys of UCX. Threads and order:
 * transport.h.
 *
 * UCX carries these operations on every network, if need be by messages that the target's library handles while it
 * polls. `ucx_can` tells the two apart by the names of the endpoint's transports. Shared memory counts as emulated: what
 * UCX maps there is memory that it has allocated, which the heap is not. Only xpmem maps any memory. */
#include "net/ucx/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What messages and one-sided operations share: the life's context, and how an operation of UCX ends. */

ucp_context_h ucx_context;
bool ucx_onesided;
const struct transport_events *ucx_events;

static void finished(void *request, ucs_status_t status, void *token)
{
    ucp_request_free(request);
    ucx_events->finished(token, status != UCS_OK);
}

enum transport_status ucx_outcome(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request))
        return TRANSPORT_PENDING;
    return UCS_PTR_STATUS(request) == UCS_OK ? TRANSPORT_DONE : TRANSPORT_FAILED;
}

ucp_request_param_t ucx_ends(void *token)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = finished,
                                 .user_data = token};
}

/* --- What a connection can do */

#if UCP_API_VERSION >= UCP_VERSION(1, 14)
enum { TRANSPORTS = 16, NAMES_THEM = 1 };

/* The network's own puts and gets: InfiniBand and RoCE in reliable modes, Gemini and Aries, xpmem. Those that have all atomics
 * of both widths, too; UCX then chooses the adapter's for all endpoints of a worker, unless UCX_ATOMIC_MODE says
 * otherwise. */
static const struct {
    const char *name;
    unsigned able;
} native[] = {
    {"rc_mlx5", TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE},
    {"dc_mlx5", TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE},
    {"ugni_rdma", TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE},
    {"rc", TRANSPORT_ALONE},
    {"dc", TRANSPORT_ALONE},
    {"xpmem", TRANSPORT_ALONE},
};

static unsigned able_by_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof native / sizeof *native; i++) {
        size_t length = strlen(native[i].name);
        if (strncmp(name, native[i].name, length) == 0 && (!name[length] || name[length] == '_'))
            return native[i].able;
    }
    return 0;
}

static unsigned able_by_names(ucp_ep_h endpoint)
{
    ucp_transport_entry_t entries[TRANSPORTS] = {0};
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                          .transports = {entries, TRANSPORTS, sizeof *entries}};
    if (ucp_ep_query(endpoint, &attr) != UCS_OK)
        return 0;
    unsigned able = 0;
    for (int i = 0; i < TRANSPORTS; i++) /* an older libucp leaves the names null */
        able |= able_by_name(entries[i].transport_name);
    return able;
}
#else
/* This UCX does not name the transports of an endpoint. */
enum { NAMES_THEM = 0 };

static unsigned able_by_names(ucp_ep_h endpoint)
{
    (void)endpoint;
    return 0;
}
#endif

bool ucx_may_use(unsigned wanted)
{
    return wanted & TRANSPORT_ONESIDED || (NAMES_THEM && wanted & TRANSPORT_ALONE);
}

unsigned ucx_can(ucp_ep_h endpoint)
{
    return ucx_onesided ? TRANSPORT_ONESIDED | TRANSPORT_ORDERS | able_by_names(endpoint) : 0;
}

unsigned ucx_able(void *to)
{
    const struct peer *peer = to;
    return peer->able;
}

/* --- Memory and keys */

void *ucx_share(void *start, size_t bytes)
{
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                         .address = start,
                                         .length = bytes};
    ucp_mem_h memory;
    return ucp_mem_map(ucx_context, &params, &memory) == UCS_OK ? memory : 0;
}

int ucx_pack(void *shared, void *room, size_t *bytes)
{
    void *key;
    size_t length;
    if (ucp_rkey_pack(ucx_context, shared, &key, &length) != UCS_OK)
        return -1;
    bool fits = length <= *bytes;
    if (fits)
        memcpy(room, key, length);
    *bytes = length;
    ucp_rkey_buffer_release(key);
    return fits ? 0 : -1;
}

void ucx_withdraw(void *shared)
{
    (void)ucp_mem_unmap(ucx_context, shared);
}

void *ucx_unpack(void *of, const void *key, size_t bytes)
{
    const struct peer *peer = of;
    ucp_rkey_h unpacked;
    (void)bytes;
    return ucp_ep_rkey_unpack(peer->endpoint, key, &unpacked) == UCS_OK ? unpacked : 0;
}

void ucx_forget(void *key)
{
    ucp_rkey_destroy(key);
}

/* --- Operations */

enum transport_status ucx_put(void *to, void *key, uint64_t at, const void *source, size_t bytes, void *token)
{
    const struct peer *peer = to;
    const ucp_request_param_t param = ucx_ends(token);
    return ucx_outcome(ucp_put_nbx(peer->endpoint, source, bytes, at, key, &param));
}

enum transport_status ucx_get(void *to, void *key, uint64_t from, void *dest, size_t bytes, void *token)
{
    const struct peer *peer = to;
    const ucp_request_param_t param = ucx_ends(token);
    return ucx_outcome(ucp_get_nbx(peer->endpoint, dest, bytes, from, key, &param));
}

/* UCX does those that the network lacks by messages, all of them if it lacks one, so they stay atomic to each other. */
unsigned ucx_atomics(void *to, size_t bytes)
{
    const struct peer *peer = to;
    return peer->able && (bytes == 4 || bytes == 8) ? TRANSPORT_ATOMICS_ALL : 0;
}

/* A compare-and-swap takes its new value from the place where it leaves the old one, and the value to compare with from the
 * buffer. */
enum transport_status ucx_atomic(void *to, void *key, uint64_t at, const struct transport_word *word, void *old,
                                 void *token)
{
    static const ucp_atomic_op_t names[] =
        {[TRANSPORT_SWAP] = UCP_ATOMIC_OP_SWAP, [TRANSPORT_CSWAP] = UCP_ATOMIC_OP_CSWAP,
         [TRANSPORT_ADD] = UCP_ATOMIC_OP_ADD,   [TRANSPORT_AND] = UCP_ATOMIC_OP_AND,
         [TRANSPORT_OR] = UCP_ATOMIC_OP_OR,     [TRANSPORT_XOR] = UCP_ATOMIC_OP_XOR};
    const struct peer *peer = to;
    const bool compares = word->what == TRANSPORT_CSWAP;
    ucp_request_param_t param = ucx_ends(token);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | (old ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0);
    param.datatype = ucp_dt_make_contig(word->size);
    param.reply_buffer = old;
    if (compares)
        memcpy(old, &word->operand, word->size);
    const void *buffer = compares ? &word->compare : &word->operand;
    return ucx_outcome(ucp_atomic_op_nbx(peer->endpoint, names[word->what], buffer, 1, at, key, &param));
}

enum transport_status ucx_flush(void *to, void *token)
{
    const struct peer *peer = to;
    const ucp_request_param_t param = ucx_ends(token);
    return ucx_outcome(ucp_ep_flush_nbx(peer->endpoint, &param));
}

void ucx_order(void *of)
{
    const struct worker *worker = of;
    (void)ucp_worker_fence(worker->ucp);
}
