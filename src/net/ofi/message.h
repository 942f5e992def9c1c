/* Messages on the wire, and what message.c and long.c share. */
#ifndef NET_OFI_MESSAGE_H
#define NET_OFI_MESSAGE_H

#include "net/ofi/inner.h"

enum kind { HELLO, SHORT, LONG, CLEAR, CREDIT, NOTHING };

struct head {
    uint32_t id; /* of the worker that it is for */
    uint32_t pe; /* and the worker that sends */
    uint8_t worker, kind;
    uint16_t header_bytes;
    uint32_t taken;
    uint32_t number; /* of SHORT and LONG, from 0 */
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
    struct head head;
    char own[];
};
_Static_assert(offsetof(struct message, own) == offsetof(struct message, head) + sizeof(struct head),
               "they leave as one");

/* Returns a message with a place for so many bytes behind its head; null without memory. */
struct message *ofi_message_new(struct peer *peer, enum kind kind, size_t header_bytes, size_t own);
/* Numbers a message and starts it. It needs credit for so many bytes. */
void ofi_message_start(struct message *message, size_t bytes);

/* long.c. take raises `arrived` for a message that announces long data. send_cleared sends the data that a peer has cleared. */
enum transport_status ofi_send_long(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                    size_t bytes, void *token);
void ofi_take_long(struct peer *peer, const struct head *head, const char *what, size_t bytes);
void ofi_send_cleared(struct peer *peer, const struct clearance *clear);
void ofi_longs_free(struct worker *worker);

#endif
