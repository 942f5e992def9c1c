/* Lines: how this process learns that another host is gone. See line.c. */
#ifndef UCCS_WATCH_LINE_H
#define UCCS_WATCH_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define FAR_LINE_WAYS 4

/* Where a PE can be called; part of what it tells the others (far_names.c). */
struct far_line_place {
    uint16_t port; /* in the network's order; 0: nowhere */
    uint8_t ways;
    struct far_line_way {
        uint8_t six; /* IPv6 */
        uint8_t address[16];
    } way[FAR_LINE_WAYS];
};

/* In init, one thread; without lines, or what they need, the place is nowhere. */
void far_line_open(struct far_line_place *mine);

/* This process has begun to talk to that PE. Any thread; does not wait. */
void far_line_to(int pe, const struct far_line_place *place);

/* Readable when there is something to look at; -1: never. Constant while open. */
int far_line_descriptor(void);

/* Any thread; does not wait. Does not return when a host is lost. */
void far_line_look(void);

/* From now on, others may be done and go. */
void far_line_rest(void);
void far_line_close(void);

#endif
