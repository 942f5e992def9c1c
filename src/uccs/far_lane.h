/* Inside of the far operations: the lane, its peers, the messages. Everything here under the lane's lock, but for
 * what says otherwise. */
#ifndef UCCS_FAR_LANE_H
#define UCCS_FAR_LANE_H

#include "transport/transport.h"
#include "uccs/far.h"

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
    FAR_FLAG
};

/* Both ends run the same build (the start checks), so this is plain memory. */
struct far_header {
    uint8_t kind; /* enum far_kind */
    uint8_t op;   /* enum uccs_far_amo; of a put enum uccs_far_what */
    uint8_t size; /* of an atomic; of a put the signal's segment */
    uint8_t segment;
    int32_t from;
    uint64_t after; /* not before so many of the sender's have been applied; block size of FAR_GET_BLOCKS */
    uint64_t offset;
    uint64_t token; /* of the asker, for the answer; stride of FAR_PUT_BLOCKS */
    uint64_t a;     /* amo: value; put: counter or signal's offset; get: counter; blocks: block size, stride */
    uint64_t b;     /* amo: cond; put: weight or signal's value; get: bytes */
};
_Static_assert(sizeof(struct far_header) == 48, "no holes");

/* What is handed to the transport as a token begins with this. */
struct far_token {
    void (*done)(struct far_token *token, bool failed);
};

/* A message on its way out, or, with `answered`, what waits for the answer to one. */
struct far_send {
    struct far_token token;
    struct far_header header;
    uint32_t *flag;       /* set to 1 (release) when sent; null: nobody waits */
    void *buffer;         /* freed when sent */
    uccs_counter counter; /* counts here when sent: the target of a counting get */
    struct far_send *next;
};

/* What a get, a fetching atomic or a flush waits for. */
struct far_ask {
    struct far_token token;
    uint32_t *flag; /* set to 1 (release); null: */
    struct uccs_request *request;
    uint64_t *value; /* of an atomic */
    void *dest;
    size_t bytes;
    struct uccs_far_blocks blocks; /* count 0: plain */
    void *packed;
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
    void *rest; /* or */
    void *data;
    size_t bytes;
    struct far_kept *next;
};

struct far_peer {
    int pe;
    void *to; /* the transport's; null until something is sent */
    /* As origin. */
    uint64_t issued, answered; /* operations; those known to be applied */
    uint64_t fenced, epoch;    /* issued at the last fence; which fence that was */
    struct far_flush *flying;  /* the last flush sent, not yet answered */
    struct far_flush *next;    /* requests that wait for a flush to be sent */
    bool touched, hung;        /* on those lists */
    struct far_peer *next_touched, *next_hung;
    /* As target. */
    uint64_t applied;
    struct far_kept *kept;
    bool same_image, asked_image;
};

struct far_lane {
    pthread_mutex_t lock;
    const struct transport *transport;
    struct far_peer **peers; /* by PE; made on first use */
    struct far_peer *touched, *hung;
    uint64_t epoch;   /* fences */
    uint32_t sending; /* messages that the transport still holds */
    uint32_t getting; /* nb gets under way */
    uint32_t polls;   /* grows while the program itself polls; relaxed */
    struct far_send *idle;
};

extern struct far_lane far_lane;

struct far_peer *far_peer(int pe);
struct far_send *far_send_new(void);
void far_send_free(struct far_send *send);
/* Sends; `send` is gone afterwards, or when the transport is done with it. Data stays until then. */
void far_send(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes);

/* far_flush.c */
void far_hang(struct far_peer *peer, struct uccs_request *request);
void far_flushed(struct far_flush *flush);

/* far_serve.c: events of the transport. */
void far_arrived(const struct transport_message *message);

/* far_ask.c */
void far_answered(const struct far_header *header, const struct transport_message *message);

/* far_names.c: what PEs tell each other at the start. */
struct far_record {
    uint32_t size, image_shared;
    unsigned char image_id[24];
    unsigned char address[]; /* what the transport says, `size` bytes */
};
int far_names_publish(void);               /* 0, or -1 after a line */
struct far_record *far_names_find(int pe); /* to be freed by the caller */

/* far_thread.c */
int far_thread_start(void);
void far_thread_start_anyway(void); /* unless there is one */
void far_thread_stop(void);

_Noreturn void far_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
