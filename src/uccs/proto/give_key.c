/* Gives peers the keys of this process's memory, for one-sided operations of the transport. An event, under the service
 * worker's lock. See docs/internals/onesided.md. */
#include "uccs/proto/target.h"

static void give_key(struct proto_arrival *arrival)
{
    size_t bytes;
    char *start = proto_target_piece(&arrival->header, &bytes);
    proto_give_key(arrival, start, bytes);
}

const struct proto_handler proto_on_key = {.landed = give_key};
