/* Lines: how this process learns that another host is gone. See line.c. */
#ifndef UCCS_WATCH_LINE_H
#define UCCS_WATCH_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_LINE_WAYS 4

/* Where a PE can be called; part of what it tells the others (link/names.c). */
struct watch_line_place {
    uint16_t port; /* in the network's order; 0: nowhere */
    uint8_t ways;
    struct watch_line_way {
        uint8_t six; /* IPv6 */
        uint8_t address[16];
    } way[WATCH_LINE_WAYS];
};

/* In init, one thread; without lines, or what they need, the place is nowhere. */
void watch_line_open(struct watch_line_place *mine);

/* This process has begun to talk to that PE. Any thread; does not wait. */
void watch_line_to(int pe, const struct watch_line_place *place);

/* Readable when there is something to look at; -1: never. Constant while open. */
int watch_line_descriptor(void);

/* Any thread; does not wait. Does not return when a host is lost. */
void watch_line_look(void);

/* From now on, others may be done and go. */
void watch_line_rest(void);
void watch_line_close(void);

#endif
