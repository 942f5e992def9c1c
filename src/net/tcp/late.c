/* Long data. The receiver names its place when the header arrives, as a rule. When it does so later, since the message waits for
 * its predecessors, the data goes to a buffer meanwhile, so that what comes behind it can be read. */
#include "net/tcp/inner.h"

#include <stdlib.h>
#include <string.h>

struct late *tcp_late_begin(struct worker *worker, size_t bytes)
{
    struct late *late = malloc(sizeof *late);
    if (late)
        *late = (struct late){.worker = worker, .bytes = bytes};
    return late;
}

static void unlist(const struct late *late)
{
    struct late **at = &late->worker->late;
    while (*at != late)
        at = &(*at)->next;
    *at = late->next;
}

/* The data is in the buffer, as far as it has come. */
static void take_out(struct late *late, void *into)
{
    memcpy(into, late->own, late->got);
    free(late->own);
    late->own = 0;
    unlist(late);
}

enum transport_status tcp_receive(void *worker, void *rest, void *into, size_t bytes, void *token)
{
    struct late *late = rest;
    (void)worker, (void)bytes; /* of the message */
    if (late->own)
        take_out(late, into);
    late->to = into;
    late->token = token;
    late->placed = true;
    if (late->got < late->bytes)
        return TRANSPORT_PENDING;
    free(late);
    return TRANSPORT_DONE;
}

bool tcp_late_keep(struct late *late)
{
    late->to = late->own = malloc(late->bytes);
    late->next = late->worker->late;
    late->worker->late = late;
    return late->own != 0;
}

void tcp_late_end(struct late *late)
{
    if (!late->placed)
        return; /* receive takes it */
    void *token = late->token;
    free(late);
    tcp_events->finished(token, 0);
}

void tcp_late_close(struct worker *worker)
{
    while (worker->late) {
        struct late *late = worker->late;
        worker->late = late->next;
        free(late->own);
        free(late);
    }
}
