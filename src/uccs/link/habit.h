/* How the program goes on after a blocking put; see habit.c. Under the lane's lock. */
#ifndef UCCS_LINK_HABIT_H
#define UCCS_LINK_HABIT_H

#include <stdbool.h>
#include <stdint.h>

struct link_lane;
struct link_message;

struct link_habit {
    uint64_t since;        /* the end of the last one */
    uint32_t good, misses; /* puts in a row that were soon followed by a call; puts that were kept in vain */
    bool open, kept;       /* nothing has followed the last one yet; it was kept */
};

/* Notes a call of the program on the lane. */
void link_habit_called(struct link_lane *lane);
/* Returns true when a put may wait for the next call. */
bool link_habit_keeps(const struct link_lane *lane, const struct link_message *message);
/* Notes a put; `kept`: it waits. */
void link_habit_put(struct link_lane *lane, const struct link_message *message, bool kept);

#endif
