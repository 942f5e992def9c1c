#include "relay.h"

#include "channel.h"

#include <stdio.h>

#define REQUESTS 16 /* that wait for answers; a further one takes the place of the oldest */

static struct {
    struct channel *by; /* null: gone */
    int id;             /* as it has numbered the request; the node above knows the place in this table */
} requests[REQUESTS];
static unsigned count;

void relay_ask(struct channel *above, struct channel *by, int id, int status, const char *title)
{
    const unsigned number = count % REQUESTS;
    if (above && above->up) {
        count++;
        requests[number].by = by;
        requests[number].id = id;
        channel_send(above, "ask %u %d %s\n", number, status, title);
    } else if (by->peer < 0)
        channel_close(by);
    else
        channel_send(by, "told %d %d\n", id, status);
}

void relay_answer(const char *line)
{
    unsigned number;
    int status, used = 0;
    if (sscanf(line, "text %u:%n", &number, &used) == 1 && used && number < REQUESTS)
        channel_send(requests[number].by, "text %d:%s\n", requests[number].id, line + used);
    else if (sscanf(line, "told %u %d", &number, &status) == 2 && number < REQUESTS)
        channel_send(requests[number].by, "told %d %d\n", requests[number].id, status);
}

void relay_forget(const struct channel *by)
{
    for (unsigned i = 0; i < REQUESTS; i++)
        if (requests[i].by == by)
            requests[i].by = NULL;
}
