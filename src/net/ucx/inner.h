/* Inside of the UCX transport: workers, peers, and how an operation of UCX ends. See ucx.c. */
#ifndef NET_UCX_INNER_H
#define NET_UCX_INNER_H

#include "net/transport.h"

#include <stdbool.h>
#include <ucp/api/ucp.h>

struct worker {
    ucp_worker_h ucp;
    void *owner;
    struct peer *peers; /* all, for close */
    void *draining;     /* the worker's flush under way */
    bool inside;        /* in the worker's progress */
    struct peer *late;  /* that are connected when it ends */
    struct worker *next;
};

/* A message to a peer that is not connected yet. */
struct waiting {
    const void *header, *data;
    size_t header_bytes, bytes;
    void *token;
    struct waiting *next;
};

struct peer {
    ucp_ep_h endpoint; /* null while it is late; then: */
    void *address;
    struct waiting *first, **last;
    struct peer *next_late;
    struct worker *worker;
    int pe;
    unsigned able; /* set of enum transport_able, once connected */
    struct peer *next;
};

extern ucp_context_h ucx_context;
extern const struct transport_events *ucx_events;
extern bool ucx_onesided; /* this life may use one-sided operations */

enum transport_status ucx_outcome(ucs_status_ptr_t request);
/* The parameters of an operation whose end raises `finished` with this token. */
ucp_request_param_t ucx_ends(void *token);

/* onesided.c: the slots of transport.h. ucx_may_use returns false when no connection can do one of `wanted`. ucx_can returns what a new
 * connection can do; the others are called on connections that can do something. */
bool ucx_may_use(unsigned wanted);
unsigned ucx_can(ucp_ep_h endpoint);
unsigned ucx_able(void *peer);
void *ucx_share(void *start, size_t bytes);
int ucx_pack(void *shared, void *room, size_t *bytes);
void ucx_withdraw(void *shared);
void *ucx_unpack(void *peer, const void *key, size_t bytes);
void ucx_forget(void *key);
enum transport_status ucx_put(void *peer, void *key, uint64_t to, const void *source, size_t bytes, void *token);
enum transport_status ucx_get(void *peer, void *key, uint64_t from, void *dest, size_t bytes, void *token);
unsigned ucx_atomics(void *peer, size_t bytes);
enum transport_status ucx_atomic(void *peer, void *key, uint64_t at, const struct transport_word *word, void *old,
                                 void *token);
enum transport_status ucx_flush(void *peer, void *token);
void ucx_order(void *worker);

#endif
