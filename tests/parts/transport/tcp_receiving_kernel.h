/* A connection that brings what the test has put there, in pieces of the test's length; and who hears of it. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_RECEIVING_KERNEL_H
#define TESTS_PARTS_TRANSPORT_TCP_RECEIVING_KERNEL_H

#include "transport/tcp/inner.h"

#include "parts/owned.h"

#include "traced.h"

#include <errno.h>
#include <sys/socket.h>

enum { PE = 70005, LONG = 1 << 20 };

const struct transport_events *tcp_events;
int tcp_me, tcp_npes;

static struct lane lane;
static struct peer peer;
static char wire[3 * LONG];     /* what is on its way */
static size_t put, taken, most; /* bytes of it; those that the reader has; that one read brings at most */
static int error;               /* of the next read that brings nothing; 0: the other end has closed the connection */

static char byte_of(size_t at)
{
    return (char)(at * 7 + at / 251 + at / 65521);
}

static void put_bytes(const void *bytes, size_t count)
{
    CHECK(put + count <= sizeof wire);
    memcpy(wire + put, bytes, count);
    put += count;
}

/* A message whose data are byte_of(0), byte_of(1), ...; its header's are the same from 100 on. */
static void put_message(size_t header_bytes, size_t bytes)
{
    const uint64_t word = (uint64_t)bytes << 16 | header_bytes;
    put_bytes(&word, sizeof word);
    for (size_t i = 0; i < header_bytes; i++)
        put_bytes(&(char){byte_of(100 + i)}, 1);
    for (size_t i = 0; i < bytes; i++)
        put_bytes(&(char){byte_of(i)}, 1);
}

static size_t last_room;

static ssize_t fake_recv(int fd, void *to, size_t room, int flags)
{
    CHECK(fd == peer.fd && flags == MSG_DONTWAIT && room > 0);
    last_room = room;
    const size_t there = put - taken;
    size_t count = there < room ? there : room;
    count = count < most ? count : most;
    errno = count ? EPIPE : error;
    if (!count)
        return error ? -1 : 0;
    memcpy(to, wire + taken, count);
    taken += count;
    return (ssize_t)count;
}

void tcp_peer_broken(struct peer *of, int why)
{
    CHECK(of == &peer);
    note("broken %d;", why);
}

/* --- Who hears */

static char *place; /* where long data goes; null: it is placed later */
static void *rest;  /* the last one */
static int token;
static bool no_memory; /* from the next arrival on */

static bool good(const char *bytes, size_t count, size_t from)
{
    size_t at = 0;
    while (at < count && bytes[at] == byte_of(from + at))
        at++;
    return at == count;
}

static void has_arrived(void *owner, const struct transport_message *message)
{
    CHECK(owner == &lane && good(message->header, message->header_bytes, 100));
    CHECK((message->rest != 0) == (message->bytes > TRANSPORT_SHORT));
    CHECK(message->rest ? !message->data : good(message->data, message->bytes, 0));
    note("%zu/%zu;", message->header_bytes, message->bytes);
    rest = message->rest ? message->rest : rest;
    if (no_memory)
        owned_left = 0;
    if (message->rest && place)
        CHECK(tcp_receive(&lane, rest, place, message->bytes, &token) == TRANSPORT_PENDING);
}

static void has_finished(void *of, int failed)
{
    CHECK(of == &token && failed == 0 && !peer.rest);
    note("finished;");
}

static const struct transport_events told = {.arrived = has_arrived, .finished = has_finished};

#define recv fake_recv

#endif
