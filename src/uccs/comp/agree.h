/* How the members of a group or team agree on a number that is free at all of them: the slot of a counter, the id of a context, the
 * area of a new team.
 *
 * They agree in rounds. In one they look at a window of numbers, each says which of them are free there, and each takes the first
 * that is free at all. In the next each says how that went. A member may fail to take the number because another thread was
 * faster; then all give it back and try again from another place, which differs from group to group, so that groups that meet in
 * several processes part after a few rounds. Any thread; one at a time for a group. */
#ifndef UCCS_COMP_AGREE_H
#define UCCS_COMP_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UCCS_AGREE_WORDS = 4 };

/* join replaces each of n words, at most UCCS_AGREE_WORDS, by the AND, or the maximum, of all members' words. It returns UCCS_OK or an
 * error, the same at all members. Several groups may agree at once, each on its own number: join then takes the AND over one of them, and the
 * maximum over all, which get a number each or none. */
struct uccs_members {
    int (*join)(void *members, uint64_t *words, size_t n, bool maximum);
    void *members;
    uint32_t salt; /* the same at all members, other for other groups */
};

/* first, which may be null, returns the first window with a free number; list fills in a bit for each free number of a window.
 * take returns 0 when another thread was faster, else a value of the caller's choice. */
struct uccs_numbers {
    uint32_t windows, each; /* each: numbers of a window, at most 64 * UCCS_AGREE_WORDS */
    void *what;             /* for the functions */
    uint32_t (*first)(void);
    void (*list)(void *what, uint32_t window, uint64_t *words);
    uint64_t (*take)(void *what, uint32_t number);
    void (*give_back)(void *what, uint32_t number);
};

/* Collective. On return each member has taken `number`, and `value` is the highest of their values. Returns UCCS_OK, UCCS_ERR_NO_MEMORY
 * when no number is free at all members, or join's error. */
int uccs_agree(const struct uccs_members *members, const struct uccs_numbers *numbers, uint32_t *number,
               uint64_t *value);

#endif
