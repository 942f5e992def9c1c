/* Inside of this folder: workers, their peers, messages that leave and messages that arrive. Callers hold the lock of the
 * worker, unless a comment says otherwise.
 *
 * An operation passes initiator, pool, issue, hold_back, send, coalesce or worker on its way out; arrive, target, segment at its
 * target; arrive, pending on its way back. flush, quiet and issue_log tell of completion; direct, key and hold_back serve what
 * the network does by itself. */
#ifndef UCCS_PROTO_INNER_H
#define UCCS_PROTO_INNER_H

#include "net/transport.h"
#include "uccs/core/core.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/keepalive.h"
#include "uccs/mem/region.h"

#include <pthread.h>

#define PROTO_WORKERS 64    /* at most */
#define PROTO_PES (1 << 24) /* at most, in a job with several nodes */

/* A request that completes once `left` pending requests, those with lower numbers, are settled. */
struct proto_wake {
    uint64_t before;
    uint32_t left;
    struct uccs_request *request;
    struct proto_wake *next;
};

/* Pending requests without a flag that are under way to a peer: all of a worker, or those of a log. */
struct proto_asks {
    uint32_t count;
    struct proto_wake *wakes;
};

/* A number of operations to a peer: messages that the target applies; puts, and atomics, that the network does by itself. */
struct proto_point {
    uint64_t messages, puts;
};

static inline bool proto_point_reaches(struct proto_point at, struct proto_point wanted)
{
    return at.messages >= wanted.messages && at.puts >= wanted.puts;
}

/* Requests that complete with a flush. */
struct proto_peer_flush {
    struct proto_peer *peer;
    struct proto_point covers; /* operations issued when it was sent */
    uint32_t parts;            /* answers that are still to come: of the target, of the transport */
    bool lost;                 /* puts have failed */
    uint32_t count, room;
    struct proto_hanging {
        struct uccs_request *request;
        struct proto_log_peer *log_peer; /* the request fails when this has refused operations; may be null */
        uint16_t number;                 /* or when the target tells this number; 0: there is none */
        bool refused;                    /* it has been told */
    } * requests;
    struct proto_peer_flush *next; /* while it is idle */
};

/* A message that must wait for its predecessors, with its data. */
struct proto_delayed {
    struct proto_arrival arrival;
    void *rest; /* the transport's handle of data that it still holds; null: the data is here */
    struct proto_delayed *next, *before;
    _Alignas(8) char data[];
};

/* Small messages to one receiver that have not left yet (coalesce.c). */
struct proto_coalescer {
    struct proto_send *send; /* null: empty */
    size_t bytes, count;
    void *to; /* the transport's */
    int pe;
    struct proto_coalescer *next; /* on the worker's list, while it is not empty */
    bool kept;                    /* off that list: it leaves with the peer's next flush, or when it is full */
};

/* The messages that a worker of another PE has issued to this one. Under the lock of the service worker, where they
 * arrive. */
struct proto_origin {
    struct proto_peer *peer; /* the PE's peer on the service worker */
    void *to;                /* answers go to it; unused for the PE's service worker, which uses the peer's own */
    struct proto_coalescer coalescer; /* of answers to it */
    uint64_t applied;
    uint64_t refused;                       /* applied operations whose region had been released */
    struct proto_nacks *nacks;              /* those that no answer to a flush has told; null: there were none */
    struct proto_delayed *kept, *last_kept; /* messages with fewer predecessors first */
};

/* What a party has issued to one peer, by the worker's lock. A peer state is on the log's list of active ones while it has
 * operations that are not known to be applied, pending requests under way, data that the transport still reads, or refused operations of which
 * no flush has told. It stays where it is until the log ends, so pending requests and messages point to it. */
struct proto_log_peer {
    struct proto_peer *peer;
    struct proto_point issued; /* operations that all parties had issued to the peer at the party's last one */
    struct proto_asks asks;
    uint32_t reading, holding; /* asks that read long data; messages whose data is not copied */
    bool active;
    bool refused; /* the target has refused operations without a request, and no flush has told */
    struct proto_log_peer *next, *next_active; /* of the log: all, and the active ones */
};

/* The service worker of another PE, as seen from one worker of this process. */
struct proto_peer {
    struct proto_log_peer all; /* of the worker's own log: of all parties. `holding` and `refused` stay 0 */
    struct proto_worker *worker;
    int pe;
    void *to; /* the transport's connection; null until something is sent */
    struct proto_coalescer coalescer;
    struct proto_point answered;     /* operations known to be applied */
    uint64_t fenced;                 /* messages issued at the last fence or flush */
    struct proto_point behind;       /* operations issued at the last fence */
    uint64_t epoch;                  /* number of that fence */
    struct proto_peer_flush *flying; /* the last flush sent, not yet answered */
    struct proto_peer_flush *next;   /* requests that wait until a flush is sent */
    bool gathers;                    /* `next` is to be sent when `flying` is answered */
    uint64_t told;                   /* when the last operation that tells something came */
    uint64_t tell_left;              /* when the last one left at once */
    uint64_t tell_rung;              /* when the last stream of them rang */
    uint32_t polls;                  /* of the worker, at the time `told` */
    uint8_t tells;                   /* such operations in quick succession, up to a stream (issue.c) */
    bool alone; /* a thread has waited for a flush of one operation alone: the next message brings its flush */
    struct proto_direct *direct; /* one-sided operations of the transport; null: messages alone */
    bool hung;                   /* on the worker's list of that name */
    bool same_image, asked_image;
    struct proto_peer *next_hung;
    /* Messages from that PE; used on the service worker only. */
    struct proto_origin origin;   /* its service worker */
    struct proto_origin **others; /* its other workers, by number; null: none has issued yet */
};

/* Up to this size data and word in one message cost less than an operation of the network, its flush or its wait, and a message, as long as
 * the message leaves at once. Longer data would wait for the target, which fetches it. Where the network keeps messages behind puts, from
 * TRANSPORT_BULK bytes on the two cost less. */
#define PROTO_TELLS_FROM (TRANSPORT_SHORT + 1)

/* The key of a piece of the peer's memory, on a connection. */
struct proto_key {
    struct proto_peer *peer;
    struct uccs_import *use; /* of a region; else null */
    struct wire_memory at;   /* the piece */
    uint64_t counter;        /* that its puts count at; 0: at none */
    uint8_t segment;
    enum { PROTO_KEY_ASKED, PROTO_KEY_NONE, PROTO_KEY_READY } state;
    void *key;      /* the transport's */
    uint64_t start; /* address of the piece in the peer's process */
    struct proto_key *next;
};

/* A put to a region that may not be in place. */
struct proto_claim {
    struct uccs_import *use;
    uint64_t number; /* among the puts to the peer */
    struct proto_claim *next;
};

enum { PROTO_KEY_CHAINS = 16 };

/* What one-sided operations of the transport to a peer need; made by the first one. */
struct proto_direct {
    bool orders;                              /* the transport can keep puts and atomics in order */
    bool short_puts;                          /* else puts of less than TRANSPORT_BULK bytes are messages */
    bool counts;                              /* the network counts puts */
    bool keeps_behind;                        /* and keeps messages behind puts */
    bool failed;                              /* a put has failed, and no flush has told */
    struct proto_key *keys[PROTO_KEY_CHAINS]; /* by piece */
    uint64_t landing;                         /* puts that flushes under way cover */
    struct proto_send *held, *last_held;      /* in the order of issuing */
    struct proto_claim *claims;
};

struct proto_worker {
    cache_aligned pthread_mutex_t lock;
    void *at; /* the transport's worker; null: not open */
    uint32_t number;
    struct proto_issue_log log; /* of all parties: every peer */
    struct proto_peer *hung;
    uint32_t flushes; /* under way */
    uint64_t epoch;   /* number of fences */
    uint64_t ordered; /* the fence from which on the transport keeps puts in order */
    uint32_t sending; /* messages that the transport still holds */
    uint32_t some;    /* 0: all operations are answered; a hint, exact for the thread that issued; relaxed */
    uint32_t lands;   /* 1: puts are to be flushed; relaxed */
    uint32_t polls;   /* grows while the program itself polls; relaxed */
    struct uccs_eventcount events; /* something has come in, or a flush has ended */
    struct proto_send *idle;
    struct proto_peer_flush *idle_flush;
    struct proto_handles handles;       /* of what this worker has asked */
    uint64_t asked;                     /* number of the next pending request without a flag */
    uint32_t under_way;                 /* number of those */
    uint32_t asking;                    /* bytes that the targets hold for them at most; relaxed */
    struct proto_issue_log *logs;       /* of parties that note */
    uint16_t numbered, requested;       /* the last numbers of a log and of a request */
    struct proto_coalescer *coalescing; /* coalescers that hold messages */
    uint32_t open;                      /* number of these coalescers */
    void *spare;                        /* buffer for a batch, or null */
};

/* A number of a refused operation in a message, whose data need not be aligned. */
typedef uint16_t __attribute__((aligned(1), may_alias)) proto_nack_number;

extern struct proto_worker proto_workers[PROTO_WORKERS];
extern const struct transport *proto_transport;

/* worker.c */
struct proto_peer *proto_peer_make(struct proto_worker *worker, int pe); /* null without memory */
struct proto_peer *proto_peer_of(struct proto_worker *worker, int pe);   /* never null */
static inline struct proto_peer *proto_peer_try(struct proto_worker *worker, int pe)
{
    const struct proto_log_peer *all = worker->log.peers[pe];
    return lat_likely(all != 0) ? all->peer : proto_peer_make(worker, pe);
}
/* These take memory for later, so that what follows under the same hold of the lock lacks none: for messages, a batch, a note of the
 * log, a request of a flush. They return false without memory. */
bool proto_send_reserve_slow(struct proto_worker *worker);
static inline bool proto_send_reserve(
    struct proto_worker *worker) /* a put, a word or flush behind it, a batch are three */
{
    const struct proto_send *first = worker->idle;
    return lat_likely(first && first->next && first->next->next) || proto_send_reserve_slow(worker);
}
bool proto_coalesce_reserve_slow(struct proto_worker *worker);
static inline bool proto_coalesce_reserve(struct proto_worker *worker)
{
    return lat_likely(worker->spare != 0) || proto_coalesce_reserve_slow(worker);
}
bool proto_log_reserve(struct proto_issue_log *log, struct proto_peer *peer);
bool proto_hang_reserve(struct proto_peer *peer);
void proto_send_done(struct proto_sent_token *token, bool failed);
/* Takes a message from the pool. Without memory it ends the job. */
static inline struct proto_send *proto_send_new(struct proto_worker *worker, struct proto_peer *peer,
                                                enum proto_wire_kind kind)
{
    if (lat_unlikely(!worker->idle && !proto_send_reserve_slow(worker)))
        uccs_fail("no memory for a message");
    struct proto_send *send = worker->idle;
    worker->idle = send->next;
    *send = (struct proto_send){.token.done = proto_send_done,
                                .worker = worker,
                                .peer = peer,
                                .header.kind = (uint8_t)kind,
                                .header.from = (uint32_t)uccs_core.me,
                                .header.worker = worker->number};
    return send;
}
/* Ends a message that has left: frees its buffer, sets its flag, calls `left`. */
void proto_send_free(struct proto_send *send);
/* Gives the message to the transport at once, on the coalescer's connection. Returns true when it has left; false: the transport
 * still holds it. */
bool proto_hand_over(struct proto_coalescer *coalescer, struct proto_send *send);
/* Adds to the worker's `sending`, which threads that want to issue read without the lock. */
void proto_count_sending(struct proto_worker *worker, int change);
/* Opens the worker with this number. Returns null, or the reason why it cannot. */
const char *proto_worker_open(uint32_t number);
void proto_worker_free(struct proto_worker *worker);

/* progress.c; any thread. proto_workers_left has a bit for each worker, except the service worker, whose waiting messages the progress
 * thread shall send if nobody else does. proto_workers_left, proto_asleep and proto_settled are sequentially consistent. */
extern uint64_t proto_workers_left;
extern uint32_t proto_settled;  /* 1: bits of proto_workers_left stay */
extern uint32_t proto_asleep;   /* 1: the thread sleeps, or is about to, and nothing waits on the service worker */
extern uint32_t proto_reminded; /* 1: it has been woken for messages of this process; seqcst */
/* Tells the progress thread that messages of the worker wait; it sends them in a while if nobody else does. */
void proto_thread_remind(const struct proto_worker *worker);

/* The set of enum transport_able of which a connection must have one for one-sided operations; 0: none is used. Constant while
 * workers are open. */
extern unsigned proto_wire;

/* validate.c. Ends the job with a line unless the message is one that wire.def describes, from a PE of another node. */
void proto_wire_check(const struct wire_header *header, size_t bytes);
/* Returns the kind that answers a kind, as wire.def says. */
enum proto_wire_kind proto_wire_answer(enum proto_wire_kind asked);
const char *proto_wire_kind_name(enum proto_wire_kind kind);

/* arrive.c. Returns the numbers that the target has noted, and forgets them; the caller frees them. Null: there are none. */
uint16_t *proto_nacks_take(struct proto_origin *origin, size_t *bytes);

/* arrive.c. The transport calls it for each message, and proto_on_batch for each message of a batch. */
void proto_arrived(void *worker, const struct transport_message *message);

/* coalesce.c. fits returns true when a message of this size may be batched. */
bool proto_coalesce_fits(size_t bytes);
/* Returns true when a message of this size, in whole words, may be batched with its flush: to copy it costs less than a message. */
bool proto_coalesce_fits_flush(size_t bytes);
/* Copies header and data to the coalescer and frees `send`. */
void proto_coalesce_add(struct proto_coalescer *coalescer, struct proto_send *send);
void proto_coalesce_push(struct proto_coalescer *coalescer, struct proto_worker *worker);
void proto_coalesce_push_all(struct proto_worker *worker);
/* Keeps the coalescer from leaving with a poll, or lets it leave again. */
void proto_coalesce_keep(struct proto_coalescer *coalescer, struct proto_worker *worker, bool keep);
extern const struct proto_handler proto_on_batch;

/* What each PE publishes at the start. */
struct proto_record {
    uint32_t size, image_shared;
    char transport[16];
    unsigned char image_id[24];
    struct routes line;
    unsigned char address[]; /* the transport's address, `size` bytes */
};

/* send.c. Publishes this PE's record, before a fence; returns 0, or -1 after a line. In init, on one thread. */
int proto_names_publish(void);

/* Sends a message at once. `send` is freed on return, or when the transport is done with it. */
void proto_send_now(struct proto_send *send);
/* Sends a message that may leave later: a small one stays here until there is a reason to send (coalesce.c). add adds a small
 * one for which the reason is at hand. */
void proto_send_later(struct proto_send *send);
void proto_send_add(struct proto_send *send);
/* Answers the worker that sent an arrival, by a message of the service worker; a small answer leaves when this poll is over. */
void proto_answer(struct proto_origin *origin, struct proto_send *answer);
static inline struct proto_send *proto_answer_new(enum proto_wire_kind kind)
{
    return proto_send_new(proto_service_worker(), 0, kind);
}
/* Connects to the peer unless that has been done. */
void proto_connect(struct proto_peer *peer);
extern const struct proto_handler proto_on_hello;

/* hold_back.c. Keeps a message until the puts that it waits for are in place, then sends it. */
void proto_hold_back(struct proto_send *send);
/* Asks the transport to tell when the puts issued so far are in place, or have failed; then calls `done`, unless it is
 * null. */
void proto_land(struct proto_peer *peer, void (*done)(struct proto_peer_flush *flush, bool failed),
                struct proto_peer_flush *flush);
/* Makes later operations to the peer aware of the worker's last fence. */
void proto_take_fence_slow(struct proto_peer *peer);
static inline void proto_take_fence(struct proto_peer *peer)
{
    if (lat_unlikely(peer->epoch != peer->worker->epoch))
        proto_take_fence_slow(peer);
}

/* Ends a claim once `number` puts to the peer are in place. */
void proto_claim_until(struct proto_peer *peer, struct uccs_import *use, uint64_t number);
/* Does so for all puts of the worker, when the worker has been asked to (`lands`). */
void proto_land_wanted(struct proto_worker *worker);

/* Puts a peer state on the log's list of active ones. */
static inline void proto_log_activate(struct proto_issue_log *log, struct proto_log_peer *log_peer)
{
    if (log_peer->active)
        return;
    log_peer->active = true;
    log_peer->next_active = log->active;
    log->active = log_peer;
}

/* worker.c. Notes that the peer has operations to flush. Pollers read the cache lines of the worker's words, so a value that is there
 * already is not stored. */
void proto_touch_worker(struct proto_worker *worker);
static inline void proto_touch(struct proto_peer *peer)
{
    struct proto_worker *worker = peer->worker;
    proto_log_activate(&worker->log, &peer->all);
    if (lat_unlikely(!atomic_load_relaxed(&worker->some)))
        proto_touch_worker(worker);
}

/* flush.c. Clears the note that there is something to do on the worker, unless there is: unanswered operations, or requests whose flush
 * has not ended. */
void proto_untouch(struct proto_worker *worker);
/* Hangs a request on the peer's next flush. Returns the number of its operations to the peer; they begin again after 32768,
 * and requests of one number on one flush share nacks. */
uint16_t proto_hang(struct proto_peer *peer, struct uccs_request *request);
/* Hangs `all` on a flush of a peer that covers what a party has issued to it, which is not all answered. */
void proto_flush_peer(struct proto_log_peer *log_peer, struct uccs_request *all, bool waits);
/* Starts flushes where requests hang, since the program may test every request from now on. */
void proto_nudge(struct proto_worker *worker);
/* Starts a flush of the peer behind a message, unless one is under way. */
void proto_flush_ahead(struct proto_peer *peer);
extern const struct proto_handler proto_on_flush, proto_on_flushed;

/* pending.c. Notes a pending request without a flag. */
void proto_pending_list(const struct proto_send *send, struct proto_pending *ask);

/* key.c. Returns the key of a piece of the peer's memory. Returns null when there is none (yet); the first call asks the
 * peer for it. `offset` is rounded down to the start of the piece. find also returns keys that have not come, or that will not. close withdraws all memory that peers have keys of; free
 * forgets the keys of a peer. */
const struct proto_key *proto_key_of(struct proto_peer *peer, const struct wire_header *header, uint64_t offset,
                                     uint64_t counter);
const struct proto_key *proto_key_find(struct proto_peer *peer, const struct wire_header *header, uint64_t offset,
                                       uint64_t counter);
void proto_key_close(void);
void proto_key_free(struct proto_peer *peer);
/* Ends the transport's access to released memory. Any thread. */
void proto_key_withdraw(uint64_t region);
extern const struct proto_handler proto_on_key, proto_on_keyed;

/* import.c */
extern const struct proto_handler proto_on_import, proto_on_gone;

/* direct.c. One-sided operations of the transport. proto_direct_can returns true when the transport can do the message's operation now; then put
 * or get must start it. The caller has counted a put; `source` says what is to be done once its source is free. */
bool proto_direct_can(struct proto_send *send);
void proto_direct_put(struct proto_send *send);
void proto_direct_get(struct proto_send *send, struct proto_pending *ask);
void proto_direct_free(struct proto_peer *peer);

/* issue_log.c. begin lists the log of a party at its worker, and takes the worker's lock itself; so does end, which frees all peer states. */
void proto_log_begin(struct proto_issue_log *log, struct proto_worker *worker);
void proto_log_end(struct proto_issue_log *log, struct proto_worker *worker);
/* Returns null when nothing went to the PE yet. */
static inline struct proto_log_peer *proto_log_peer_find(const struct proto_issue_log *log, int pe)
{
    return log->peers ? log->peers[pe] : 0;
}
bool proto_log_peer_applied(const struct proto_log_peer *log_peer);
/* issued notes a message that leaves, asks notes a pending request, settled notes its end: requests that waited for it alone complete. */
void proto_log_issued(struct proto_send *send);
void proto_log_asks(struct proto_issue_log *log, struct proto_peer *peer, struct proto_pending *ask);
void proto_log_peer_settled(struct proto_log_peer *log_peer, const struct proto_pending *ask);
/* Adds one to the request's count until the pending requests under way are settled. Returns false without memory. */
bool proto_asks_watch(struct proto_log_peer *log_peer, struct uccs_request *request);
/* nacked notes that the target has refused operations of the worker's logs with these numbers. take_nacked returns
 * whether it has, and forgets it. */
void proto_log_nacked(struct proto_worker *worker, int pe, const proto_nack_number *logs, size_t count);
bool proto_log_peer_take_nacked(struct proto_log_peer *log_peer);
/* Takes peer states with nothing under way off the log's list. */
void proto_log_tidy(struct proto_issue_log *log);

/* progress.c; any thread, without a lock. */
/* Moves the worker on unless another thread holds it. Returns non-zero when something came in or has left, else 0. */
int proto_poll(struct proto_worker *worker);
/* Moves a set of workers on, a bit per number, and the service worker. Returns non-zero when something came in or has left, else 0. */
int proto_progress_all(uint64_t workers);

/* progress.c; any thread, without a lock. The same as uccs_rest, for a waiter that has looked at workers and found nothing. */
void proto_rest(uint64_t workers, struct uccs_wait *wait);
/* quiet.c; any thread, without a lock. The same as proto_quiet, on some of the set's workers alone, or on any with a null set. */
bool proto_quiet_workers(struct proto_worker_set *on, uint64_t workers, const int *pes, size_t npes);

/* pool.c; any thread, without a lock. */
void proto_pool_open(void);
void proto_pool_close(void);
extern uint32_t proto_others;      /* the highest number of an open worker */
uint64_t proto_workers_open(void); /* returns the open workers */
/* Returns a worker, but not the service worker, that has unanswered operations; null: there is none. */
struct proto_worker *proto_next_busy(void);

/* progress.c. Gives the progress thread its work on the workers, before it starts. */
void proto_thread_prepare(void);

/* --- At the target: events, under the service worker's lock */

extern const struct proto_handler proto_on_data;

/* Returns how many bytes of a change's operand are the message's data: all, or none, when the header holds it. */
static inline size_t proto_operand_data(size_t operand)
{
    return operand > PROTO_OPERAND ? operand : 0;
}

/* segment.c. Returns the local address of the header's memory; null when its region has been released. Ends the job when
 * the bytes are outside of the segment. */
char *proto_target_address(const struct wire_header *header, uint64_t offset, size_t bytes);
/* Returns the address of a word of 4 or 8 bytes there, or null as proto_target_address does. Ends the job when the word is not
 * aligned. */
void *proto_target_word(const struct wire_header *header, uint64_t offset, size_t bytes);

/* The piece of memory (PROTO_PIECE) at the header's place: returns its start, and stores its size, which is 0 when the place
 * has no memory that may be shared. */
char *proto_target_piece(const struct wire_header *header, size_t *bytes);

/* target.c. Begins the answer to a request that brings bytes; `from` null: it has failed. */
struct proto_send *proto_answer_data(uint64_t handle, const void *from, size_t bytes);
extern const struct proto_handler proto_on_put, proto_on_put_blocks, proto_on_internal_put, proto_on_get,
    proto_on_get_blocks, proto_on_change, proto_on_pieces;

/* lock.c. open lets waits look for the turns of waiters; close forgets the waiters at the end of a life. */
void proto_lock_open(void);
void proto_lock_close(void);
extern const struct proto_handler proto_on_lock, proto_on_unlock, proto_on_locked;

#endif
