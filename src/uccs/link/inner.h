/* Inside of the links: lanes, their peers, what leaves and what arrives. Everything here under the lock of its lane, but
 * for what says otherwise.
 *
 * The files in their order, lower ones first: lane, bell, arrive, batch, names, send, flush, ask, issue, poll, quiet,
 * pool, order, thread, open. */
#ifndef UCCS_LINK_INNER_H
#define UCCS_LINK_INNER_H

#include "transport/transport.h"
#include "uccs/core/core.h"
#include "uccs/link/link.h"
#include "uccs/watch/fail.h"
#include "uccs/watch/line.h"

#include <pthread.h>

#define LINK_LANES 64      /* at most */
#define LINK_PES (1 << 24) /* at most, in a job with several nodes */

/* What is handed to the transport as a token begins with this. */
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
    bool batch; /* the buffer is kept for the next batch */
    struct link_send *next;
};

/* A request that completes once all asks before this number are settled. */
struct link_watch {
    uint64_t before;
    struct uccs_request *request;
    struct link_watch *next;
};

/* Requests that complete with a flush. */
struct link_flush {
    struct link_peer *peer;
    uint64_t covers; /* issued when it was sent */
    uint32_t count, room;
    struct uccs_request **requests;
};

/* A message that must wait for its predecessors, with its data. */
struct link_kept {
    struct link_arrival arrival;
    void *rest; /* the transport's: the data is still there; null: it is here */
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
};

/* What a lane of another PE has issued to me. Under the lock of the service lane, where it arrives. */
struct link_origin {
    struct link_peer *peer; /* of the service lane */
    void *to;               /* where answers go; of the other's service lane the peer's own */
    struct link_outbox box; /* the same */
    uint64_t applied;
    uint64_t refused;                   /* of those applied: their region had been released */
    struct link_kept *kept, *last_kept; /* those with fewer predecessors first */
};

/* As seen from one of my lanes: the service lane of another PE. */
struct link_peer {
    struct link_lane *lane;
    int pe;
    void *to; /* the transport's; null until something is sent */
    struct link_outbox box;
    uint64_t issued, answered; /* operations; those known to be applied */
    uint64_t refused;          /* of those known to be applied */
    uint64_t fenced, epoch;    /* issued at the last fence; which fence that was */
    struct link_flush *flying; /* the last flush sent, not yet answered */
    struct link_flush *next;   /* requests that wait for a flush to be sent */
    bool touched, hung;        /* on those lists */
    bool same_image, asked_image;
    struct link_peer *next_touched, *next_hung;
    /* Of the service lane: what comes from there. */
    struct link_origin origin;   /* its service lane */
    struct link_origin **others; /* by lane; null: none has issued yet */
};

struct link_lane {
    cache_aligned pthread_mutex_t lock;
    void *at; /* the transport's; null: not open */
    uint32_t number;
    struct link_peer **peers; /* by PE; made on first use */
    struct link_peer *touched, *hung;
    uint64_t epoch;   /* fences */
    uint32_t sending; /* messages that the transport still holds */
    uint32_t some;    /* 0: all that was issued is answered; a hint, exact for the thread that issued; relaxed */
    uint32_t polls;   /* grows while the program itself polls; relaxed */
    struct link_send *idle;
    /* Asks that nobody waits for by a flag, in the order of their numbers. */
    uint64_t asked;
    struct link_ask *first, *last;
    uint64_t oldest;                         /* number of the first; UINT64_MAX: none; release */
    uint32_t asking;                         /* bytes that the targets hold for them at most; relaxed */
    struct link_watch *watches, *last_watch; /* in the order of their numbers */
    struct link_outbox *boxes;               /* that hold messages */
    uint32_t open;                           /* how many those are */
    void *spare;                             /* room for a batch, or null */
};

extern struct link_lane link_lanes[LINK_LANES];
extern const struct transport *link_transport;

/* lane.c */
struct link_peer *link_peer_of(struct link_lane *lane, int pe);
struct link_send *link_send_new(struct link_lane *lane);
/* The message has left: what it carried may be used again. */
void link_send_free(struct link_send *send);
/* Gives the message to the transport, now. */
void link_hand_over(void *to, int pe, struct link_send *send, const void *data, size_t bytes);
/* Makes the lane that peers' messages can find. Returns null, or why not. */
const char *link_lane_open(uint32_t number);
void link_lane_free(struct link_lane *lane);

/* bell.c; any thread. What the progress thread shall send if nobody else does. */
extern uint64_t
    link_left; /* a bit per lane but the service lane: messages wait there; sequentially consistent, as is: */
extern uint32_t link_asleep;   /* the thread sleeps on the transport's descriptor */
extern int link_bell;          /* an eventfd; -1: there is no thread */
bool link_thread_serves(void); /* there is one */
/* Messages of the lane wait: the thread sends them in a while if nobody else does. */
void link_thread_remind(const struct link_lane *lane);

/* arrive.c: an event of the transport. */
void link_arrived(void *lane, const struct transport_message *message);

/* batch.c */
bool link_batch_fits(size_t bytes);
/* Copies header and data, so `send` is gone afterwards. */
void link_batch_add(struct link_outbox *box, struct link_send *send, const void *data, size_t bytes);
void link_batch_push(struct link_outbox *box, struct link_lane *lane);
void link_batch_push_all(struct link_lane *lane);
extern const struct link_handler link_on_batch;

/* names.c: what PEs tell each other at the start. */
struct link_record {
    uint32_t size, image_shared;
    unsigned char image_id[24];
    struct watch_line_place line;
    unsigned char address[]; /* what the transport says, `size` bytes */
};
#define LINK_ADDRESS 4096                                                        /* bytes of an address at most */
int link_names_address(const struct link_lane *lane, void *room, size_t *bytes); /* 0, or -1 after a line */
int link_names_publish(void);                                                    /* the same */
struct link_record *link_names_find(int pe); /* to be freed by the caller; any thread */

/* send.c: `send` is gone afterwards, or when the transport is done with it. */
void link_send_now(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes);
/* The same where nobody waits for it yet: small messages stay here until there is a reason to send (batch.c). */
void link_send_later(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes);
extern const struct link_handler link_on_hello;

/* flush.c */
void link_touch(struct link_lane *lane); /* a quiet has something to do */
void link_untouch(struct link_lane *lane);
void link_hang(struct link_peer *peer, struct uccs_request *request);
/* Hangs `all` on a flush of a peer that has something unanswered. */
void link_flush_peer(struct link_peer *peer, struct uccs_request *all);
/* Every operation that carries a request may be tested from now on: starts flushes where requests hang. */
void link_nudge(struct link_lane *lane);
extern const struct link_handler link_on_flush, link_on_flushed;

/* ask.c: the request gets a count that ends when all asks listed so far are settled. */
void link_ask_watch(struct link_lane *lane, struct uccs_request *request);
/* Lists an ask that nobody waits for by a flag. */
void link_ask_list(struct link_ask *ask);

/* poll.c; any thread, without a lock. */
/* Moves the lane on unless another thread is at it. */
int link_poll(struct link_lane *lane);
/* The same for the progress thread: true when the transport holds nothing of the lane any more; false: look again. */
bool link_poll_clear(struct link_lane *lane);
int link_look_all(uint64_t lanes); /* of a set: a bit per number */

/* quiet.c; any thread, without a lock. Of a set of lanes; pes null: all. */
void link_quiet(uint64_t lanes, const int *pes, size_t npes);
void link_flush_touched(struct link_lane *lane, struct uccs_request *all); /* under the lock */

/* pool.c; any thread, without a lock. Sets of lanes have a bit per number. */
void link_pool_open(void);
void link_pool_close(void);
void link_pool_leave(uint64_t lanes);              /* a context does not use them any more */
extern uint32_t link_others;                       /* the highest number of an open lane */
uint64_t link_lanes_of(struct uccs_far_lanes *on); /* on which it has issued */
uint64_t link_lanes_open(void);
struct link_lane *link_next_busy(void); /* a lane that has something unanswered, not the service lane; null: none */

/* thread.c */
int link_thread_start(void);
void link_thread_start_anyway(void); /* unless there is one */
void link_thread_stop(void);

#endif
