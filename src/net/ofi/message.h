/* Messages on the wire. message.c sends short ones and those about messages, long.c moves long data, arrive.c takes what comes. */
#ifndef NET_OFI_MESSAGE_H
#define NET_OFI_MESSAGE_H

#include "net/ofi/inner.h"

enum kind { HELLO, SHORT, LONG, CLEAR, CREDIT, NOTHING, PART /* of a SHORT that follows */ };

struct head {
    uint32_t id; /* of the worker that it is for */
    uint32_t pe; /* and the worker that sends */
    uint8_t worker, kind;
    uint16_t header_bytes;
    uint32_t taken;
    uint32_t number; /* of SHORT, PART and LONG, from 0 */
};

struct hello {
    uint32_t id;
    struct ofi_watched watched;
    char name[OFI_NAME + 1]; /* one more than any */
};

struct announcement {
    uint64_t number, bytes;
};

struct clearance {
    uint64_t number, tag;
};

struct message {
    struct ofi_op op;
    void *token;          /* null: nobody waits for it */
    const void *data;     /* of the caller; null: it lies in `own` */
    size_t bytes, length; /* of data; of head and own */
    struct message
        *last; /* of the parts of a message: it has their token, and counts in `left` those that have not ended */
    uint32_t left;
    bool failed;
    struct head head;
    char own[];
};
_Static_assert(offsetof(struct message, own) == offsetof(struct message, head) + sizeof(struct head),
               "they leave as one");

/* Returns a message with a place for `own` bytes behind its head; null without memory. */
struct message *ofi_message_new(struct peer *peer, enum kind kind, size_t header_bytes, size_t own);
/* Numbers a message and starts it. It needs credit for `bytes` bytes. */
void ofi_message_start(struct message *message, size_t bytes);

/* Sends a message that needs no credit. Returns 0; -1 without memory. */
int ofi_send_control(struct peer *peer, enum kind kind, const void *what, size_t bytes);
enum transport_status ofi_send_short(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                     size_t bytes, void *token);
/* Tells the peer the way back. Returns 0, or -1. */
int ofi_say_hello(struct peer *peer);
/* Makes sure that what was sent leaves. Returns true when all of it has. */
bool ofi_confirm(struct worker *worker);

/* long.c. take raises `arrived` for a message that announces long data. send_cleared sends the data that a peer has cleared. */
enum transport_status ofi_send_long(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                    size_t bytes, void *token);
void ofi_take_long(struct peer *peer, const struct head *head, const char *what, size_t bytes);
void ofi_send_cleared(struct peer *peer, const struct clearance *clear);
enum transport_status ofi_receive(void *worker, void *rest, void *into, size_t bytes, void *token);
void ofi_longs_free(struct worker *worker);

/* arrive.c */
int ofi_receives_open(struct worker *worker);
/* Takes what the completion queue says of a buffer of the worker. */
void ofi_take(struct ofi_receive *receive, const char *bytes, size_t length, bool spent);
void ofi_receives_free(struct worker *worker);

#endif
