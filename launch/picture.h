/* Where the PEs of a job are: PEs that do the same at the same place are one group, and so are those of equal stacks, where stacks are
 * wanted.
 *
 * A picture is read from a node's memory, goes as text from node to node, and is merged: picture_read sees the PEs of one node,
 * picture_write and picture_add_line carry its groups, and the picture of the whole job is what report.c prints. PEs bear their
 * numbers in the job. A picture has at most PICTURE_GROUPS groups, and as many stacks; further PEs share the last one. One thread. */
#ifndef LAUNCH_PICTURE_H
#define LAUNCH_PICTURE_H

#include "location.h"
#include "segment.h"
#include "set.h"

#define PICTURE_GROUPS 256
#define PICTURE_LINE (1u << 15) /* bytes of a line, at most */

struct group {
    struct set pes;
    struct node_wait_reason on; /* about NOTHING: `call` says it all */
    bool itself;                /* one PE that waits for itself */
    bool running;               /* in no wait, so they may still act */
    double seconds;             /* of the longest wait; below 0: not known */
    char call[80];              /* the call that waits, or what the PEs do otherwise */
    char object[160];           /* of the call; may be empty */
    char where[LOCATION_TEXT];  /* source line */
};

/* PEs of the same text: frames, a line each, or why they have none, behind an exclamation mark. */
struct stack {
    struct set pes;
    char *text;
};

struct picture {
    struct set known; /* PEs of which the picture tells */
    struct group *group;
    size_t count;
    struct stack *stack;
    size_t stacks;
};

/* Makes an empty picture of a job of `total` PEs. */
struct picture picture_make(uint32_t total);
void picture_free(struct picture *picture);

/* Adds the PEs of a node, with their stacks if these are wanted. */
void picture_read(struct picture *picture, const struct view *view, bool stacks);

/* Adds PEs that do what `what` says, at no known place, and may still act. */
void picture_add_other(struct picture *picture, const struct set *pes, const char *what);

/* Returns lines for each group and each stack; the caller frees them. */
char *picture_write(const struct picture *picture);

/* Adds the group or the stack of such a line, which is changed. Returns false when it is none. */
bool picture_add_line(struct picture *picture, char *line);

#endif
