/* Inside of the far operations: lanes, their peers, the messages. Everything here under the lock of its lane, but for
 * what says otherwise. A thread holds one lane's lock at a time. */
#ifndef UCCS_FAR_LANE_H
#define UCCS_FAR_LANE_H

#include "transport/transport.h"
#include "uccs/far.h"
#include "uccs/watch/fail.h"
#include "uccs/watch/line.h"

#include <pthread.h>

enum far_kind {
    FAR_PUT,
    FAR_PUT_BLOCKS,
    FAR_GET,
    FAR_GET_BLOCKS,
    FAR_AMO,
    FAR_AMO_ANSWER,
    FAR_DATA,
    FAR_FLUSH,
    FAR_FLUSHED,
    FAR_FLAG,
    FAR_PARCEL, /* a put that is not counted */
    FAR_IMPORT,
    FAR_GONE,
    FAR_AM,
    FAR_AM_DONE,
    FAR_HELLO, /* the address of a lane that issues, for answers */
    FAR_BATCH  /* small messages that leave together */
};

#define FAR_LANES 64      /* at most */
#define FAR_PES (1 << 24) /* at most, in a job with several nodes */

/* Both ends run the same build (the start checks), so this is plain memory. */
struct far_header {
    uint8_t kind; /* enum far_kind */
    uint8_t op;   /* enum uccs_atomic; of a put enum uccs_far_what */
    uint8_t size; /* of an atomic; of a put the signal's segment */
    uint8_t segment;
    uint32_t from : 24; /* PE and lane that issued it */
    uint32_t lane : 8;
    uint64_t after; /* not before so many of the sender's have been applied; block size of FAR_GET_BLOCKS */
    uint64_t offset;
    uint64_t token; /* of the asker, for the answer; stride of FAR_PUT_BLOCKS */
    uint64_t a;     /* amo: value; put: counter or signal's offset; get: counter; blocks: block size, stride */
    uint64_t b;     /* amo: cond; put: weight or signal's value; get: bytes */
    uint64_t id;    /* the region (FAR_REGION); of an active message its number (far_am.c) */
};
_Static_assert(sizeof(struct far_header) == 56, "no holes");

/* What is handed to the transport as a token begins with this. */
struct far_token {
    void (*done)(struct far_token *token, bool failed);
};

/* A message on its way out, or, with `answered`, what waits for the answer to one. */
struct far_send {
    struct far_token token;
    struct far_lane *lane;
    struct far_header header;
    uint32_t *flag;           /* set to 1 (release) when sent; null: nobody waits */
    uint32_t *held;           /* one less (release) when sent, or null */
    void *buffer;             /* freed when sent; */
    bool batch;               /* or kept for the next batch */
    uccs_counter counter;     /* counts here when sent: the target of a counting get */
    struct uccs_block *block; /* the payload of an active message lies there */
    struct far_send *next;
};

/* What a get, a fetching atomic or a flush waits for. */
struct far_ask {
    struct far_token token;
    struct far_lane *lane;
    uint32_t *flag; /* set to 1 (release); null: */
    struct uccs_request *request;
    bool failed; /* the region has been released */
    void *dest;
    size_t bytes;
    struct uccs_far_blocks blocks; /* count 0: plain */
    void *packed;                  /* blocks that come by and by */
    uint64_t number;               /* among those of the lane that nobody waits for by a flag */
    int pe;
    struct far_ask *next, *before;
};

/* A request that completes once all asks before this number are settled. */
struct far_watch {
    uint64_t before;
    struct uccs_request *request;
    struct far_watch *next;
};

/* Requests that complete with a flush. */
struct far_flush {
    struct far_peer *peer;
    uint64_t covers; /* issued when it was sent */
    uint32_t count, room;
    struct uccs_request **requests;
};

/* A message that must wait for its predecessors, with its data. */
struct far_kept {
    struct far_header header;
    void *rest; /* the transport's: the data is still there; null: it is here */
    size_t bytes;
    struct far_kept *next, *before;
    _Alignas(8) char data[];
};

/* Small messages to one receiver that have not left yet (far_batch.c). */
struct far_outbox {
    struct far_send *send; /* null: empty */
    size_t bytes, count;
    void *to; /* the transport's */
    int pe;
    struct far_outbox *next; /* on the lane's list, while it is not empty */
};

/* What a lane of another PE has issued to me. Under the lock of the service lane, where it arrives. */
struct far_origin {
    struct far_peer *peer; /* of the service lane */
    void *to;              /* where answers go; of the other's service lane the peer's own */
    struct far_outbox box; /* the same */
    uint64_t applied;
    uint64_t refused;                  /* of those applied: their region had been released */
    struct far_kept *kept, *last_kept; /* those with fewer predecessors first */
};

/* As seen from one of my lanes: the service lane of another PE. */
struct far_peer {
    struct far_lane *lane;
    int pe;
    void *to; /* the transport's; null until something is sent */
    struct far_outbox box;
    uint64_t issued, answered; /* operations; those known to be applied */
    uint64_t refused;          /* of those known to be applied */
    uint64_t fenced, epoch;    /* issued at the last fence; which fence that was */
    struct far_flush *flying;  /* the last flush sent, not yet answered */
    struct far_flush *next;    /* requests that wait for a flush to be sent */
    bool touched, hung;        /* on those lists */
    bool same_image, asked_image;
    struct far_peer *next_touched, *next_hung;
    /* Of the service lane: what comes from there. */
    struct far_origin origin;   /* its service lane */
    struct far_origin **others; /* by lane; null: none has issued yet */
};

struct far_lane {
    cache_aligned pthread_mutex_t lock;
    void *at; /* the transport's; null: not open */
    uint32_t number;
    struct far_peer **peers; /* by PE; made on first use */
    struct far_peer *touched, *hung;
    uint64_t epoch;   /* fences */
    uint32_t sending; /* messages that the transport still holds */
    uint32_t some;    /* 0: all that was issued is answered; a hint, exact for the thread that issued; relaxed */
    uint32_t polls;   /* grows while the program itself polls; relaxed */
    struct far_send *idle;
    /* Asks that nobody waits for by a flag, in the order of their numbers. */
    uint64_t asked;
    struct far_ask *first, *last;
    uint64_t oldest;                        /* number of the first; UINT64_MAX: none; release */
    uint32_t asking;                        /* bytes that the targets hold for them at most; relaxed */
    struct far_watch *watches, *last_watch; /* in the order of their numbers */
    struct far_outbox *boxes;               /* that hold messages */
    uint32_t open;                          /* how many those are */
    void *spare;                            /* room for a batch, or null */
};

extern struct far_lane far_lanes[FAR_LANES];
extern const struct transport *far_transport;

static inline struct far_lane *far_service(void)
{
    return &far_lanes[0];
}

/* far_lane.c */
struct far_peer *far_peer(struct far_lane *lane, int pe);
void far_connect(struct far_peer *peer);
struct far_send *far_send_new(struct far_lane *lane);
void far_send_free(struct far_send *send);
/* Sends; `send` is gone afterwards, or when the transport is done with it. Data stays until then. */
void far_send(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes);
/* The same where nobody waits for it yet: small messages stay here until there is a reason to send (far_batch.c). */
void far_send_later(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes);
/* To the lane that asked, when this poll is over; `send` is of the service lane. */
void far_answer(struct far_origin *origin, struct far_send *send, const void *data, size_t bytes);
const char *far_lane_open(uint32_t number); /* null, or why not */
/* Any thread, without a lock: moves the lane on unless another thread is at it. */
int far_poll(struct far_lane *lane);
/* The same for the progress thread: true when the transport holds nothing of the lane any more; false: look again. */
bool far_lane_clear(struct far_lane *lane);
/* To the transport, now. */
void far_hand_over(void *to, int pe, struct far_send *send, const void *data, size_t bytes);
/* At every look of a thread that waits for something of the lane. */
int far_look(struct far_lane *lane);
int far_look_all(uint64_t lanes); /* of a set */

/* far_pool.c; any thread, without a lock. Sets of lanes have a bit per number. */
void far_pool_open(void);
void far_pool_close(void);
extern uint32_t far_others;                              /* the highest number of an open lane */
struct far_lane *far_lane_of(struct uccs_far_lanes *on); /* on which the calling thread issues */
uint64_t far_lanes_of(struct uccs_far_lanes *on);        /* on which it has issued */
uint64_t far_lanes_open(void);
struct far_lane *far_next(void); /* a lane that has something unanswered, not the service lane; null: none */

/* far.c. Any thread, without a lock, on the service lane: a message of another kind. Its buffer is freed and its block told
 * of when it has left. It counts as an operation or does not. */
void far_message(int pe, const struct far_header *header, const void *data, size_t bytes, void *buffer,
                 struct uccs_block *block, bool counts);
/* Sends what is answered; the answer finds `ask`, and raises its flag, which await waits for, or finishes its request. */
void far_ask(struct far_lane *lane, int pe, const struct far_header *header, struct far_ask *ask);
void far_await(struct far_lane *lane, const uint32_t *flag);
/* The transport holds more than it should. */
bool far_busy(const struct far_lane *lane);

/* far_place.c: the address here; null when the region that the header names has been released. What is beyond ends the job. */
char *far_place(const struct far_header *header, uint64_t offset, size_t bytes);
char *far_place_in(const struct far_header *header, uint32_t segment, uint64_t offset, size_t bytes); /* of no region */
uint64_t far_apply(const struct far_header *header, void *to); /* an atomic; the old value */

/* far_region.c: an event. */
bool far_region_heard(const struct far_header *header);

/* far_am.c: a packet for what is arriving; where its payload goes; it is there. The rest tells senders. */
struct uccs_far_packet;
struct uccs_far_packet *far_am_packet(const struct far_header *header, size_t bytes);
void *far_am_room(struct uccs_far_packet *packet);
void far_am_arrived(struct uccs_far_packet *packet);
void far_am_told(const struct far_header *header);
void far_am_left(struct uccs_block *block);
void far_am_close(void);

/* far_flush.c */
void far_touch(struct far_lane *lane); /* a quiet has something to do */
/* Of a set of lanes; pes null: all. Any thread, without a lock. */
void far_quiet(uint64_t lanes, const int *pes, size_t npes);
void far_hang(struct far_peer *peer, struct uccs_request *request);
/* Every operation that carries a request may be tested from now on: starts flushes where requests hang. */
void far_nudge(struct far_lane *lane);
void far_flushed(struct far_flush *flush, uint64_t refused);

/* far_batch.c */
bool far_batch_fits(size_t bytes);
/* Copies header and data, so `send` is gone afterwards. */
void far_batch_add(struct far_outbox *box, struct far_send *send, const void *data, size_t bytes);
void far_batch_push(struct far_outbox *box, struct far_lane *lane);
void far_batch_push_all(struct far_lane *lane);
void far_batch_arrived(struct far_lane *lane, const struct transport_message *message);

/* far_serve.c: an event of the transport. */
void far_arrived(void *lane, const struct transport_message *message);
void far_origins_free(struct far_peer *peer);

/* far_parcel.c: the memory of a room, its size, the offset in it; null: there is none. */
char *far_room_of(uint64_t *offset, size_t *limit);

/* far_ask.c */
void far_ask_list(struct far_ask *ask); /* one that nobody waits for by a flag */
/* The request gets a count that ends when all asks listed so far are settled. */
void far_ask_watch(struct far_lane *lane, struct uccs_request *request);
void far_answered(const struct far_header *header, const struct transport_message *message);

/* far_names.c: what PEs tell each other at the start. */
struct far_record {
    uint32_t size, image_shared;
    unsigned char image_id[24];
    struct far_line_place line;
    unsigned char address[]; /* what the transport says, `size` bytes */
};
#define FAR_ADDRESS 4096                                                       /* bytes of an address at most */
int far_names_address(const struct far_lane *lane, void *room, size_t *bytes); /* 0, or -1 after a line */
int far_names_publish(void);                                                   /* the same */
struct far_record *far_names_find(int pe); /* to be freed by the caller; any thread */

/* far_thread.c */
int far_thread_start(void);
void far_thread_start_anyway(void); /* unless there is one */
void far_thread_stop(void);
bool far_thread_serves(void); /* there is one */
/* Messages of the lane wait: the thread sends them in a while if nobody else does. */
void far_thread_remind(const struct far_lane *lane);

#endif
