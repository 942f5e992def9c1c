/* Gives peers the keys of this process's memory, for one-sided operations of the transport. An event, under the service
 * lane's lock. See docs/internals/onesided.md. */
#include "uccs/far/inner.h"

static void give_key(struct link_arrival *arrival)
{
    size_t bytes;
    char *start = far_piece_of(&arrival->header, &bytes);
    link_give_key(arrival, start, bytes);
}

const struct link_handler far_on_key = {.landed = give_key};
