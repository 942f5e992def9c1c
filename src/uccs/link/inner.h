/* Inside of the links: lanes, their peers, messages that leave and messages that arrive. Callers hold the lock of the
 * lane, unless a comment says otherwise.
 *
 * The files in their order, lower ones first: token, valid, refuse, mark, lane, tell, bell, arrive, batch, names,
 * send, use, behind, flush, ask, key, direct, issue, atomic, poll, wait, quiet, pool, gone, order, track, thread, open. */
#ifndef UCCS_LINK_INNER_H
#define UCCS_LINK_INNER_H

#include "net/transport.h"
#include "uccs/core/core.h"
#include "uccs/core/eventcount.h"
#include "uccs/link/link.h"
#include "uccs/core/fail.h"
#include "uccs/core/keepalive.h"

#include <pthread.h>

#define LINK_LANES 64      /* at most */
#define LINK_PES (1 << 24) /* at most, in a job with several nodes */

/* Every token that the transport gets begins with this. */
struct link_token {
    void (*done)(struct link_token *token, bool failed);
};

/* A message on its way out. */
struct link_send {
    struct link_token token;
    struct link_lane *lane;
    struct link_header header;
    uint32_t *flag; /* as in struct link_message */
    void *buffer;
    void (*left)(void *cookie);
    void *cookie;
    struct uccs_request *local;
    struct link_mark *mark; /* it counts this message while the data is not copied; may be null */
    bool batch;             /* the lane keeps the buffer for the next batch */
    struct link_send *next;
};

/* A request that completes once all asks before this number are settled. */
struct link_watch {
    uint64_t before;
    struct uccs_request *request;
    struct link_watch *next;
};

/* A number of operations to a peer: messages that the target applies; puts, and atomics, that the network does by itself. */
struct link_point {
    uint64_t messages, puts;
};

static inline bool link_reaches(struct link_point at, struct link_point wanted)
{
    return at.messages >= wanted.messages && at.puts >= wanted.puts;
}

/* Requests that complete with a flush. */
struct link_flush {
    struct link_peer *peer;
    struct link_point covers; /* operations issued when it was sent */
    uint32_t parts;           /* answers that are still to come: of the target, of the transport */
    bool refused, lost;       /* the target has refused messages; puts have failed */
    uint32_t count, room;
    struct link_hanging {
        struct uccs_request *request;
        struct link_mark *mark; /* the request fails when this has refused operations */
        uint16_t number;        /* or when the target tells this number; neither: when any operation was refused */
        bool refused;           /* it has been told */
    } * requests;
    struct link_flush *next; /* while it is idle */
};

/* A message that must wait for its predecessors, with its data. */
struct link_kept {
    struct link_arrival arrival;
    void *rest; /* the transport's handle of data that it still holds; null: the data is here */
    struct link_kept *next, *before;
    _Alignas(8) char data[];
};

/* Small messages to one receiver that have not left yet (batch.c). */
struct link_outbox {
    struct link_send *send; /* null: empty */
    size_t bytes, count;
    void *to; /* the transport's */
    int pe;
    struct link_outbox *next; /* on the lane's list, while it is not empty */
    bool kept;                /* off that list: it leaves with the peer's next flush, or when it is full */
};

/* The messages that a lane of another PE has issued to this one. Under the lock of the service lane, where they
 * arrive. */
struct link_origin {
    struct link_peer *peer; /* the PE's peer on the service lane */
    void *to;               /* answers go to it; unused for the PE's service lane, which uses the peer's own */
    struct link_outbox box; /* the same */
    uint64_t applied;
    uint64_t refused;                   /* applied operations whose region had been released */
    struct link_refusals *refusals;     /* those that no answer to a flush has told; null: there were none */
    struct link_kept *kept, *last_kept; /* messages with fewer predecessors first */
};

/* The service lane of another PE, as seen from one lane of this process. */
struct link_peer {
    struct link_lane *lane;
    int pe;
    void *to; /* the transport's connection; null until something is sent */
    struct link_outbox box;
    struct link_point issued, answered; /* operations issued; operations known to be applied */
    uint64_t refused;                   /* messages known to be refused */
    uint64_t fenced;                    /* messages issued at the last fence or flush */
    struct link_point behind;           /* operations issued at the last fence */
    uint64_t epoch;                     /* number of that fence */
    struct link_flush *flying;          /* the last flush sent, not yet answered */
    struct link_flush *next;            /* requests that wait until a flush is sent */
    bool gathers;                       /* `next` is to be sent when `flying` is answered */
    struct link_direct *direct;         /* one-sided operations of the transport; null: messages alone */
    bool touched, hung;                 /* true: on the lane's list of that name */
    bool same_image, asked_image;
    struct link_peer *next_touched, *next_hung;
    /* Messages from that PE; used on the service lane only. */
    struct link_origin origin;   /* its service lane */
    struct link_origin **others; /* its other lanes, by number; null: none has issued yet */
};

/* The key of a piece of the peer's memory, on a connection. */
struct link_key {
    struct link_peer *peer;
    struct link_use *use;  /* of a region; else null */
    struct link_memory at; /* the piece */
    uint8_t segment;
    enum { LINK_KEY_ASKED, LINK_KEY_NONE, LINK_KEY_READY } state;
    void *key;      /* the transport's */
    uint64_t start; /* address of the piece in the peer's process */
    struct link_key *next;
};

/* A message that stays here until puts to its peer are in place. */
struct link_held {
    struct link_send *send;
    const void *data;
    size_t bytes;
    bool later;
    uint64_t puts;
    struct link_held *next;
};

/* A put to a region that may not be in place. */
struct link_claim {
    struct link_use *use;
    uint64_t number; /* among the puts to the peer */
    struct link_claim *next;
};

enum { LINK_KEY_CHAINS = 16 };

/* What one-sided operations of the transport to a peer need; made by the first one. */
struct link_direct {
    bool orders;                            /* the transport can keep puts and atomics in order */
    bool failed;                            /* a put has failed, and no flush has told */
    struct link_key *keys[LINK_KEY_CHAINS]; /* by piece */
    uint64_t landing;                       /* puts that flushes under way cover */
    struct link_held *held, *last_held;     /* in the order of issuing */
    struct link_claim *claims;
};

struct link_lane {
    cache_aligned pthread_mutex_t lock;
    void *at; /* the transport's lane; null: not open */
    uint32_t number;
    struct link_peer **peers; /* by PE; made on first use */
    struct link_peer *touched, *hung;
    uint64_t epoch;   /* number of fences */
    uint64_t ordered; /* the fence from which on the transport keeps puts in order */
    uint32_t sending; /* messages that the transport still holds */
    uint32_t some;    /* 0: all operations are answered; a hint, exact for the thread that issued; relaxed */
    uint32_t lands;   /* 1: puts are to be flushed; relaxed */
    uint32_t polls;   /* grows while the program itself polls; relaxed */
    struct uccs_eventcount events; /* something has come in, or a flush has ended */
    struct link_send *idle;
    struct link_flush *idle_flush;
    struct link_tokens tokens; /* of what this lane has asked */
    /* Asks without a flag, in the order of their numbers. */
    uint64_t asked;
    struct link_ask *first, *last;
    uint64_t oldest;                         /* number of the first ask; UINT64_MAX: no ask is listed; release */
    uint32_t asking;                         /* bytes that the targets hold for the asks at most; relaxed */
    struct link_watch *watches, *last_watch; /* in the order of their numbers */
    struct link_track *tracks;               /* that issue on the lane */
    uint16_t numbered, requested;            /* the last numbers of a track and of a request */
    struct link_outbox *boxes;               /* outboxes that hold messages */
    uint32_t open;                           /* number of these outboxes */
    void *spare;                             /* buffer for a batch, or null */
};

/* Tracks (link.h). Invariants, under the lane's lock: a mark is on the track's list of active marks while it has
 * operations that are not known to be applied, asks under way, or data that the transport still reads. Marks stay where
 * they are until their track is closed, so asks and messages point to them. A mark with refused operations stays active until
 * a flush has told. */
struct link_wake {
    uint64_t before; /* asks with lower numbers are waited for */
    uint32_t left;   /* number of these that are under way */
    struct uccs_request *request;
    struct link_wake *next;
};

/* What a track has issued to one peer. */
struct link_mark {
    struct link_track *track;
    struct link_peer *peer;
    struct link_point number;          /* the peer's count of issued operations at the track's last one */
    uint32_t asking, reading, holding; /* asks; those that read long data; messages whose data is not copied */
    bool active;
    bool refused; /* the target has refused operations without a request, and no flush has told */
    struct link_wake *wakes;
    struct link_mark *next, *next_active;
};

struct link_track {
    struct uccs_far_lanes lanes;
    struct link_mark **heads, *active; /* chains by PE */
    uint32_t room, count;
    uint16_t number;         /* below LINK_REQUEST; the lane's begin again: then tracks of one number share refusals */
    struct link_track *next; /* of the lane */
};

extern struct link_lane link_lanes[LINK_LANES];
extern const struct transport *link_transport;

/* lane.c */
struct link_peer *link_peer_of(struct link_lane *lane, int pe);
struct link_peer *link_peer_try(struct link_lane *lane, int pe); /* the same; returns null without memory */
/* These take memory for later, so that what follows under the same hold of the lock lacks none: for messages, a batch, a note of the
 * track, a request of a flush. They return false without memory. */
bool link_send_reserve(struct link_lane *lane);
bool link_batch_reserve(struct link_lane *lane);
bool link_mark_reserve(struct link_track *track, struct link_peer *peer);
bool link_hang_reserve(struct link_peer *peer);
struct link_send *link_send_new(struct link_lane *lane);
/* Ends a message that has left: frees its buffer, sets its flag, calls `left`. */
void link_send_free(struct link_send *send);
/* Gives the message to the transport at once, on the box's connection. Returns true when it has left; false: the transport
 * still holds it. */
bool link_hand_over(struct link_outbox *box, struct link_send *send, const void *data, size_t bytes);
/* Adds to the lane's `sending`, which threads that want to issue read without the lock. */
void link_count_sending(struct link_lane *lane, int change);
/* Opens the lane with this number. Returns null, or the reason why it cannot. */
const char *link_lane_open(uint32_t number);
void link_lane_free(struct link_lane *lane);

/* bell.c; any thread. link_left has a bit for each lane, except the service lane, whose waiting messages the progress
 * thread shall send if nobody else does. link_left and link_asleep are sequentially consistent. */
extern uint64_t link_left;
extern uint32_t link_asleep;   /* 1: the thread sleeps, or is about to, and nothing waits on the service lane */
extern uint32_t link_reminded; /* 1: it has been woken for messages of this process; seqcst */
/* Tells the progress thread that messages of the lane wait; it sends them in a while if nobody else does. */
void link_thread_remind(const struct link_lane *lane);

/* The set of enum transport_able of which a connection must have one for one-sided operations; 0: none is used. Constant while
 * links are open. */
extern unsigned link_wire;

/* valid.c. Ends the job with a line unless the message is one that wire.def describes, from a PE of another node. */
void link_check(const struct link_header *header, size_t bytes);
/* Returns the kind that answers a kind, as wire.def says. */
enum link_kind link_answer_kind(enum link_kind asked);
const char *link_kind_name(enum link_kind kind);

/* refuse.c. Returns the numbers that the target has noted, and forgets them; the caller frees them. Null: there are none. */
uint16_t *link_refusals_take(struct link_origin *origin, size_t *bytes);

/* arrive.c. The transport calls it for each message, and link_on_batch for each message of a batch. */
void link_arrived(void *lane, const struct transport_message *message);

/* batch.c. fits returns true when a message of this size may be batched. */
bool link_batch_fits(size_t bytes);
/* Copies header and data to the outbox and frees `send`. */
void link_batch_add(struct link_outbox *box, struct link_send *send, const void *data, size_t bytes);
void link_batch_push(struct link_outbox *box, struct link_lane *lane);
void link_batch_push_all(struct link_lane *lane);
/* Keeps the box from leaving with a poll, or lets it leave again. */
void link_batch_keep(struct link_outbox *box, struct link_lane *lane, bool keep);
extern const struct link_handler link_on_batch;

/* network.c. Returns the transport, or null after a line. */
const struct transport *link_network_load(void);

/* names.c. Each PE publishes this record at the start. */
struct link_record {
    uint32_t size, image_shared;
    char transport[16];
    unsigned char image_id[24];
    struct routes line;
    unsigned char address[]; /* the transport's address, `size` bytes */
};
int link_names_address(const struct link_lane *lane, void *room, size_t *bytes); /* returns 0, or -1 after a line */
int link_names_publish(void);                                                    /* the same */
struct link_record *link_names_find(int pe); /* returns the record, which the caller frees; any thread */

/* send.c. Sends a message at once. `send` is freed on return, or when the transport is done with it. */
void link_send_now(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes);
/* The same for a message that nobody waits for yet: a small message stays here until there is a reason to send
 * (batch.c). */
void link_send_later(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes);
/* Connects to the peer unless that has been done. */
void link_connect(struct link_peer *peer);
extern const struct link_handler link_on_hello;

/* behind.c. Sends a message, at once or later, but not before so many puts to the peer are in place. */
void link_send_behind(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes, bool later,
                      uint64_t puts);
/* Asks the transport to tell when the puts issued so far are in place, or have failed; then calls `done`, unless it is
 * null. */
void link_land(struct link_peer *peer, void (*done)(struct link_flush *flush, bool failed), struct link_flush *flush);
/* Makes later operations to the peer aware of the lane's last fence. */
void link_take_fence(struct link_peer *peer);

/* Ends a claim once so many puts to the peer are in place. */
void link_claim_until(struct link_peer *peer, struct link_use *use, uint64_t number);
/* Does so for all puts of the lane, when the lane has been asked to (`lands`). */
void link_land_wanted(struct link_lane *lane);

/* use.c; any thread, without a lock. open and close count keys. claim returns false when the region has been released; end
 * ends a claim. forbid notes the release and returns true while there are claims. over returns true when the region is
 * released and has no claims. */
struct link_use *link_use_open(int pe, uint64_t region);
void link_use_close(struct link_use *use);
bool link_use_claim(struct link_use *use);
void link_use_end(struct link_use *use);
bool link_use_forbid(int pe, uint64_t region);
bool link_use_over(const struct link_use *use);

/* flush.c. touch notes that a quiet has something to do on the lane. untouch clears the note unless that still
 * holds. */
void link_touch(struct link_lane *lane);
void link_untouch(struct link_lane *lane);
/* Hangs a request on the peer's next flush. Returns the number of its operations to the peer; they begin again after 32768,
 * and requests of one number on one flush share refusals. */
uint16_t link_hang(struct link_peer *peer, struct uccs_request *request);
/* Hangs `all` on a flush of a peer that covers its operations up to `number`, which are not all answered. Without a mark
 * it fails when any operation on the peer was refused. */
void link_flush_peer(struct link_peer *peer, struct link_point number, struct uccs_request *all, struct link_mark *mark,
                     bool waits);
/* Starts flushes where requests hang, since the program may test every request from now on. */
void link_nudge(struct link_lane *lane);
extern const struct link_handler link_on_flush, link_on_flushed;

/* ask.c. Adds one to the request's count until all asks listed so far are settled. */
void link_ask_watch(struct link_lane *lane, struct uccs_request *request);
/* Lists an ask without a flag. */
void link_ask_list(struct link_ask *ask);

/* key.c. Returns the key of a piece of the peer's memory. Returns null when there is none (yet); the first call asks the
 * peer for it. `offset` is rounded down to the start of the piece. find also returns keys that have not come, or that will not. close withdraws all memory that peers have keys of; free
 * forgets the keys of a peer. */
const struct link_key *link_key_of(struct link_peer *peer, const struct link_header *header, uint64_t offset);
const struct link_key *link_key_find(struct link_peer *peer, const struct link_header *header, uint64_t offset);
void link_key_close(void);
void link_key_free(struct link_peer *peer);
extern const struct link_handler link_on_keyed;

/* direct.c. One-sided operations of the transport. link_direct_can returns true when the transport can do the message's operation now; then put
 * or get must start it. The caller has counted a put; `source` says what is to be done once its source is free. */
bool link_direct_can(struct link_peer *peer, const struct link_message *message);
/* The same for an atomic, in steps. of: makes the peer's part; returns false while it is not known what the connection can do, and
 * ends the job when it cannot be used. may: the order of fences lets a put or an atomic go now. */
bool link_direct_of(struct link_peer *peer);
bool link_direct_may(struct link_peer *peer);
/* Starts an atomic, which the caller has counted as a put, with an ask or with a source. */
void link_direct_atomic(struct link_peer *peer, const struct link_message *message, const struct transport_word *word,
                        struct link_send *source, struct link_ask *ask);
void link_direct_put(struct link_peer *peer, const struct link_message *message, struct link_send *source);
void link_direct_get(struct link_peer *peer, const struct link_message *message, struct link_ask *ask);
void link_direct_free(struct link_peer *peer);

/* issue.c. touch notes that the peer has operations to flush. source holds what is to be done once the source of a put is
 * free. list notes an ask without a flag. */
void link_issue_touch(struct link_peer *peer);
struct link_send *link_issue_source(struct link_peer *peer, const struct link_message *message);
void link_issue_list(struct link_peer *peer, struct link_track *track, struct link_ask *ask);

/* mark.c. find returns null when nothing went to the PE yet. applied returns true when nothing of the mark is to be
 * flushed. tidy takes marks with nothing under way off the list. issued notes a message that leaves, asks an ask; left and settled note their ends. */
struct link_mark *link_mark_find(struct link_track *track, int pe);
bool link_mark_applied(const struct link_mark *mark);
void link_track_tidy(struct link_track *track);
void link_track_issued(struct link_track *track, struct link_peer *peer, struct link_send *send);
void link_mark_left(struct link_mark *mark);
void link_track_asks(struct link_track *track, struct link_peer *peer, struct link_ask *ask);
void link_mark_settled(const struct link_ask *ask);
/* refused notes that the target has refused operations of the lane's tracks with these numbers. take_refused returns
 * whether it has, and forgets it. */
void link_mark_refused(struct link_lane *lane, int pe, const uint16_t *tracks, size_t count);
bool link_mark_take_refused(struct link_mark *mark);

/* poll.c; any thread, without a lock. */
/* Moves the lane on unless another thread holds it. Returns non-zero when something came in or has left, else 0. */
int link_poll(struct link_lane *lane);
/* Moves the lane on for the progress thread. Returns true when the transport holds none of its messages any more;
 * false: the thread must look again. */
bool link_poll_clear(struct link_lane *lane);
/* Moves a set of lanes on, a bit per number, and the service lane. Returns non-zero when something came in or has left, else 0. */
int link_look_all(uint64_t lanes);

/* wait.c; any thread, without a lock. The same as uccs_rest, for a waiter that has looked at lanes and found nothing. */
void link_rest(uint64_t lanes, struct uccs_wait *wait);
/* Waits for events of a lane, as one step of a wait: looks at the lane, unless another thread leads, and rests. */
void link_follow(struct uccs_follower *me, struct link_lane *lane, struct uccs_wait *wait);

/* quiet.c; any thread, without a lock. Completes the operations on a set of lanes to these PEs; `pes` null: to all
 * PEs. */
void link_quiet(uint64_t lanes, const int *pes, size_t npes);
/* Under the lane's lock. Takes peers with no unanswered operation off the touched list; hangs `all`, unless it is null,
 * on flushes of the others. */
void link_flush_touched(struct link_lane *lane, struct uccs_request *all, bool waits);

/* pool.c; any thread, without a lock. Sets of lanes have a bit per number. */
void link_pool_open(void);
void link_pool_close(void);
void link_pool_leave(uint64_t lanes);              /* notes that a context does not use these lanes any more */
extern uint32_t link_others;                       /* the highest number of an open lane */
uint64_t link_lanes_of(struct uccs_far_lanes *on); /* returns the lanes on which the context has issued */
uint64_t link_lanes_open(void);                    /* returns the open lanes */
/* Returns a lane, but not the service lane, that has unanswered operations; null: there is none. */
struct link_lane *link_next_busy(void);

/* thread.c. Gives the progress thread its work on the links, before it starts. */
void link_thread_prepare(void);

#endif
