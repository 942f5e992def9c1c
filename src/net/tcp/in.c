/* Receives. What is read goes to the worker's buffer, and messages are taken from there. The beginning of a message whose end has not
 * come stays in a buffer of its connection. Long data goes to its place, past the first piece of it.
 *
 * Invariants: between two reads, a connection is in the midst of long data (`rest`), or holds the beginning of a message
 * (`part`), or neither. */
#include "net/tcp/inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct late *late_begin(struct worker *worker, size_t bytes);
static bool late_keep(struct late *late);
static void late_end(struct late *late);

/* Ends long data that is complete. */
static void end_rest(struct peer *peer)
{
    struct late *late = peer->rest;
    if (late->got < late->bytes)
        return;
    peer->rest = 0;
    late_end(late);
}

/* Raises `arrived` for a message with long data, of which `there` bytes from `data` on have been read. Returns how many of them it has
 * taken. */
static size_t begin_rest(struct peer *peer, const void *header, size_t header_bytes, size_t bytes, const char *data,
                         size_t there)
{
    struct late *late = late_begin(peer->worker, bytes);
    if (!late) {
        tcp_peer_broken(peer, ENOMEM);
        return there;
    }
    peer->rest = late;
    const struct transport_message message = {.header = header,
                                              .header_bytes = header_bytes,
                                              .bytes = bytes,
                                              .rest = late};
    tcp_events->arrived(peer->worker->owner, &message);
    if (!late->placed && !late_keep(late)) {
        tcp_peer_broken(peer, ENOMEM);
        return there;
    }
    const size_t taken = there < bytes ? there : bytes;
    memcpy(late->to, data, taken);
    late->got = taken;
    end_rest(peer);
    return taken;
}

/* Takes one message from the bytes. Returns how many it has taken; 0: its end has not come. */
static size_t take_message(struct peer *peer, const char *at, size_t there)
{
    uint64_t word;
    if (there < sizeof word)
        return 0;
    memcpy(&word, at, sizeof word);
    const size_t header_bytes = word & 0xFFFF, bytes = word >> 16, head = sizeof word + header_bytes;
    if (lat_unlikely(header_bytes > TCP_HEADER)) {
        tcp_peer_broken(peer, EBADMSG);
        return 0;
    }
    if (there < head)
        return 0;
    if (lat_unlikely(bytes > TRANSPORT_SHORT))
        return head + begin_rest(peer, at + sizeof word, header_bytes, bytes, at + head, there - head);
    if (there < head + bytes)
        return 0;
    const struct transport_message message = {.header = at + sizeof word,
                                              .header_bytes = header_bytes,
                                              .data = at + head,
                                              .bytes = bytes};
    tcp_events->arrived(peer->worker->owner, &message);
    return head + bytes;
}

/* Keeps the bytes for the next read, in a buffer of the connection's own. The worker keeps one such buffer when none needs it. */
static void keep_part(struct peer *peer, const char *bytes, size_t count)
{
    struct worker *worker = peer->worker;
    if (!peer->part) {
        peer->part = worker->spare ? worker->spare : malloc(TCP_BUFFER);
        worker->spare = 0;
    }
    if (!peer->part) {
        tcp_peer_broken(peer, ENOMEM);
        return;
    }
    memmove(peer->part, bytes, count);
    peer->held = count;
}

static void drop_part(struct peer *peer)
{
    struct worker *worker = peer->worker;
    if (worker->spare)
        free(peer->part);
    else
        worker->spare = peer->part;
    peer->part = 0;
}

static void take_messages(struct peer *peer, const char *at, size_t there)
{
    while (there) { /* long data that goes on has taken all of it */
        const size_t taken = take_message(peer, at, there);
        if (!taken)
            break;
        at += taken;
        there -= taken;
    }
    if (lat_unlikely(there != 0))
        keep_part(peer, at, there);
    else if (lat_unlikely(peer->part != 0))
        drop_part(peer);
}

/* Reads into [to, to + room). Returns the bytes, or 0 when there are none; a connection that has ended is broken. */
static size_t read_some(struct peer *peer, char *to, size_t room)
{
    ssize_t got = recv(peer->fd, to, room, MSG_DONTWAIT);
    if (lat_likely(got > 0))
        return (size_t)got;
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        tcp_peer_broken(peer, got == 0 ? 0 : errno);
    return 0;
}

int tcp_read(struct peer *peer)
{
    struct late *late = peer->rest;
    if (lat_unlikely(late != 0)) {
        const size_t got = read_some(peer, late->to + late->got, late->bytes - late->got);
        late->got += got;
        end_rest(peer);
        return got != 0;
    }
    char *buffer = peer->part ? peer->part : peer->worker->buffer;
    const size_t held = peer->part ? peer->held : 0;
    const size_t got = read_some(peer, buffer + held, TCP_BUFFER - held);
    if (got)
        take_messages(peer, buffer, held + got);
    return got != 0;
}

/* --- Long data. Its receiver names its place when the header arrives, as a rule. When it does so later, since the message waits for its
 * predecessors, the data goes to a buffer meanwhile, so that what comes behind it can be read. */

/* Returns a record of long data; null without memory. */
static struct late *late_begin(struct worker *worker, size_t bytes)
{
    struct late *late = malloc(sizeof *late);
    if (late)
        *late = (struct late){.worker = worker, .bytes = bytes};
    return late;
}

static void unlist_late(const struct late *late)
{
    struct late **at = &late->worker->late;
    while (*at != late)
        at = &(*at)->next;
    *at = late->next;
}

/* The data is in the buffer, as far as it has come. */
static void take_late(struct late *late, void *into)
{
    memcpy(into, late->own, late->got);
    free(late->own);
    late->own = 0;
    unlist_late(late);
}

enum transport_status tcp_receive(void *worker, void *rest, void *into, size_t bytes, void *token)
{
    struct late *late = rest;
    (void)worker, (void)bytes; /* of the message */
    if (late->own)
        take_late(late, into);
    late->to = into;
    late->token = token;
    late->placed = true;
    if (late->got < late->bytes)
        return TRANSPORT_PENDING;
    free(late);
    return TRANSPORT_DONE;
}

/* Gives long data a buffer, since nobody has named its place. Returns false without memory. */
static bool late_keep(struct late *late)
{
    late->to = late->own = malloc(late->bytes);
    late->next = late->worker->late;
    late->worker->late = late;
    return late->own != 0;
}

/* All of the data is there. */
static void late_end(struct late *late)
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
