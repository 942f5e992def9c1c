/* Messages and one-sided operations over libfabric (FI_EP_RDM): Slingshot, EFA, Omni-Path, TCP and others.
 *
 *   provider.c  the provider and its domain
 *   peer.c      peers, and the operations that wait for them
 *   message.c   short messages leave; message.h has the wire format
 *   long.c      long data
 *   arrive.c    messages arrive: buffers, credit, order
 *   memory.c    registered memory
 *   onesided.c  keys, put, get, atomics, flush
 *   watch.c     TCP connections that tell when a peer is gone
 *   ofi.c       workers, progress, the slots of transport.h
 *
 * A worker is an endpoint with an address vector and a completion queue of its own. It reaches a peer, a worker of another PE,
 * by the address that the peer has published; its first message (HELLO) tells the peer the way back.
 *
 * An operation that the provider does not take (-FI_EAGAIN) waits in a queue of its peer, and all later ones behind it; progress
 * posts it. Nothing spins. Messages need credit, so that no receiver runs dry: at most CREDIT bytes are under way to a peer
 * that it has not taken.
 *
 * Threads: transport.h. Everything of a worker is under its lock. The domain is shared; libfabric locks it. */
#ifndef NET_OFI_INNER_H
#define NET_OFI_INNER_H

#include "net/auth/auth.h"
#include "net/transport.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>

#define OFI_HEADER ((size_t)4 << 10)     /* bytes of a header at most */
#define OFI_CREDIT ((uint32_t)256 << 10) /* bytes of messages that a peer has not taken, at most */
#define OFI_NAME ((size_t)512)           /* bytes of an endpoint's name at most */

enum { OFI_CLOSING = -1, OFI_RECEIVES = 4, OFI_RECEIVE_BYTES = 256 << 10 };

struct ofi_op;

/* What libfabric has under way. The provider writes to the context, and progress finds the operation by it. */
struct ofi_op {
    struct fi_context2 context;
    /* Posts the operation. Returns what libfabric has. */
    ssize_t (*post)(struct ofi_op *op);
    /* Ends the operation and frees it. `error` is of libfabric, positive; 0: none; OFI_CLOSING: raise no event. */
    void (*end)(struct ofi_op *op, int error);
    struct peer *peer;
    struct ofi_local *local; /* registered memory that it uses; null: none */
    uint32_t credit;         /* that it needs before it is posted */
    bool posted;
    struct ofi_op *next;          /* in a queue */
    struct ofi_op *newer, *older; /* in the worker's list */
};

struct ofi_queue {
    struct ofi_op *first, **last;
};

/* A buffer for many messages. Its operation has no peer. */
struct ofi_receive {
    struct ofi_op op;
    struct worker *worker;
    char *bytes;
    size_t came, end; /* bytes of messages, and where the last of these ends */
    bool spent;       /* the provider has given it back */
};

/* What others need to watch a worker. */
struct ofi_watched {
    uint64_t key[2];
    struct routes routes; /* port 0: it cannot be watched */
};

struct worker {
    void *owner;
    uint32_t id; /* random: who sends must know it */
    uint8_t number;
    struct fid_ep *endpoint;
    struct fid_av *addresses;
    struct fid_cq *completions;
    int files, timer, wait; /* epoll of all descriptors; `wait` is the queue's, -1: it has none */
    uint32_t polls;         /* since epoll was asked */
    struct peer **peers;    /* by PE; the peers of a PE are a list */
    struct peer *waiting;   /* peers with operations that have not been posted */
    struct ofi_op *under_way;
    uint32_t posted; /* operations that libfabric has; bounded, since adapters run out of what they need for each */
    uint64_t orders; /* calls of order */
    uint64_t serial; /* of tags and of long messages; never used again */
    struct ofi_long *longs; /* that nobody has fetched */
    struct ofi_late *lates; /* that this worker has not fetched */
    struct ofi_receive receives[OFI_RECEIVES];
    char *buffers; /* for receives, then cells; registered where the provider asks for that */
    struct fid_mr *region;
    void *desc;                                   /* of region, else null */
    struct ofi_local *cell_array, *cells, *spare; /* cells, spare: not in use */
    struct ofi_watched watched;
    struct listener listener;
    struct ofi_line *lines;
    uint32_t line_count, lost_lines; /* lost: ended, and nobody has been told */
    struct worker *next;
};

struct peer {
    struct worker *worker;
    int pe;
    uint8_t number; /* of the worker at the other end */
    uint32_t id;    /* of that worker */
    fi_addr_t to;
    bool broken, waits;      /* waits: it is in the worker's list */
    bool unconfirmed;        /* messages may still be in this process */
    bool tells;              /* a CREDIT is under way to it */
    uint32_t credit;         /* bytes that may be sent */
    uint32_t taken;          /* bytes that have come from the peer, and that it has not been told of */
    uint32_t sent, got;      /* numbers of messages: of the next one to it, and from it */
    struct ofi_early *early; /* came before their predecessors, by number */
    char *parts;             /* that have come of a message; null: none */
    size_t part_bytes;
    struct ofi_queue control, data; /* not posted; data waits for control, and for credit */
    struct ofi_epoch *epochs;       /* onesided.c: puts that a flush covers, oldest first */
    bool put_failed;                /* and no flush has told */
    uint32_t puts;                  /* since the last flush */
    bool had_many;                  /* before that, several */
    bool untold;                    /* the last put does not tell when it is in place */
    uint64_t untold_key, untold_at; /* its key and place */
    uint64_t orders;                /* of the worker, when the last put was posted */
    struct peer *next, *next_waiting;
};

/* provider.c. open and refuse return a reason (static storage) with a remedy, open null when the domain is open. */
extern const struct transport_events *ofi_events;
extern struct fi_info *ofi_info;
extern struct fid_fabric *ofi_fabric;
extern struct fid_domain *ofi_domain;
extern struct worker *ofi_workers; /* the newest first; the last one is worker 0 */
extern int ofi_me, ofi_npes;
const char *ofi_provider_open(bool onesided);

/* Returns whether writes to one peer land in the order of issue without a fence. */
bool ofi_orders_writes(void);

bool ofi_is_rxd(void); /* messages go through libfabric's rxd, with the faults of 1.17 */
bool ofi_counts(void); /* the provider may have counters for regions */
const char *ofi_provider_refuse(const char *what, int status);
void ofi_provider_close(void);

/* peer.c. broken raises `broken`, once a peer. add returns null when the address is none, or without memory. */
void ofi_peer_broken(struct peer *peer, const char *why);
struct peer *ofi_peer_find(const struct worker *worker, int pe, uint8_t number);
struct peer *ofi_peer_add(struct worker *worker, int pe, uint8_t number, uint32_t id, const void *name);
/* Posts the operation, or puts it into the queue: of the peer's control or data. Returns true when libfabric has it; false: it
 * waits, or has ended already. */
bool ofi_start(struct ofi_op *op, bool control);
/* True when an operation on the peer would be posted at once. */
bool ofi_peer_ready(const struct peer *peer, uint32_t credit);
/* Posts what waits for the peer, as far as the provider takes it. Returns how many. */
int ofi_peer_push(struct peer *peer);
int ofi_push_all(struct worker *worker);
/* The operation is over. */
void ofi_finish(struct ofi_op *op, int error);
/* Frees the operations under way and the peers, once the endpoint is closed. */
void ofi_peers_free(struct worker *worker);

/* memory.c. register registers by a key that nobody has had, bind_region binds to the worker where regions need one. A provider for which
 * ofi_local is set gets registered memory alone: `use` puts in place of the caller's memory what an operation hands over, when it is
 * posted, and `cell` takes a cell alone (null: none is free), of which cell_returns copies a part to the caller at the end.
 * local_end gives back what the operation has. Those that return an int return 0 or an error of libfabric. */
extern bool ofi_local;
bool ofi_has_mode(uint64_t mode); /* of those of FI_MR_ that the provider asks for */
void ofi_memory_open(void);
int ofi_register(void *start, size_t bytes, uint64_t access, uint64_t flags, struct fid_mr **region);
int ofi_bind_region(struct fid_mr *region, const struct worker *worker, bool enables);
int ofi_buffers_open(struct worker *worker);
void ofi_buffers_free(struct worker *worker);
int ofi_use(struct ofi_op *op, void **start, size_t bytes, uint64_t access, void **desc);
char *ofi_cell(struct ofi_op *op, void **desc);
void ofi_cell_returns(struct ofi_op *op, const char *at, void *into, size_t bytes);
void ofi_local_end(struct ofi_op *op, bool good);

/* onesided.c: slots of transport.h */
void ofi_find_able(unsigned wanted); /* asks the provider what `able` returns, once the domain is open */
unsigned ofi_able(void *peer);
void *ofi_share(void *start, size_t bytes);
void *ofi_share_counting(void *start, size_t bytes);
uint64_t ofi_counted(void *shared);
int ofi_pack(void *shared, void *buffer, size_t *bytes);
void ofi_withdraw(void *shared);
void *ofi_unpack(void *peer, const void *key, size_t bytes);
void ofi_forget(void *key);
enum transport_status ofi_put(void *peer, void *key, uint64_t to, const void *source, size_t bytes, void *token);
enum transport_status ofi_get(void *peer, void *key, uint64_t from, void *dest, size_t bytes, void *token);
unsigned ofi_atomics(void *peer, size_t bytes);
enum transport_status ofi_atomic(void *peer, void *key, uint64_t at, const struct transport_word *word, void *old,
                                 void *token);
enum transport_status ofi_flush(void *peer, void *token);
void ofi_order(void *worker);
void ofi_shares_close(void);

/* watch.c. peer starts to watch a peer that this worker connects to; look takes what epoll tells, and returns 0 when that was nothing;
 * tell raises `broken` for the peers whose line has ended, once nothing of them can be under way. */
void ofi_watch_open(struct worker *worker);
void ofi_watch_peer(const struct peer *peer, const struct ofi_watched *there);
int ofi_watch_look(struct worker *worker);
void ofi_watch_tell(struct worker *worker);
void ofi_watch_close(struct worker *worker);

#endif
