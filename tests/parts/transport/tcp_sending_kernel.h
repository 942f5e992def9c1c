/* A kernel that takes as many bytes as it is told to, and what sending asks of a connection. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_SENDING_KERNEL_H
#define TESTS_PARTS_TRANSPORT_TCP_SENDING_KERNEL_H

#include "transport/tcp/inner.h"

#include "parts/owned.h"

#include "traced.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { FULL = 1 << 20 };

const struct transport_events *tcp_events;
int tcp_me, tcp_npes;

static char wire[FULL]; /* what the kernel has taken */
static size_t on_wire;
static long takes[20]; /* bytes that each call takes at most; negative: it fails, with -errno */
static int take_at;

static long next_taken(size_t all)
{
    const long most = takes[take_at++];
    errno = most < 0 ? (int)-most : EPIPE; /* of an earlier call */
    return most < 0 ? -1 : most < (long)all ? most : (long)all;
}

static ssize_t fake_send(int fd, const void *bytes, size_t length, int flags)
{
    CHECK(flags == (MSG_NOSIGNAL | MSG_DONTWAIT) && on_wire + length <= FULL);
    const long taken = next_taken(length);
    note("send %d %zu;", fd, length);
    if (taken > 0)
        memcpy(wire + on_wire, bytes, (size_t)taken);
    on_wire += taken > 0 ? (size_t)taken : 0;
    return taken;
}

static ssize_t fake_sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t all = 0;
    CHECK(flags == (MSG_NOSIGNAL | MSG_DONTWAIT) && !message->msg_name && !message->msg_control);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        all += message->msg_iov[i].iov_len;
    note("sendmsg %d %zu %zu;", fd, (size_t)message->msg_iovlen, all);
    const long taken = next_taken(all);
    size_t left = taken > 0 ? (size_t)taken : 0;
    for (size_t i = 0; left; i++) {
        const struct iovec *piece = &message->msg_iov[i];
        const size_t part = left < piece->iov_len ? left : piece->iov_len;
        CHECK(on_wire + part <= FULL);
        if (part)
            memcpy(wire + on_wire, piece->iov_base, part);
        on_wire += part;
        left -= part;
    }
    return taken;
}

void tcp_peer_watch(struct peer *peer)
{
    note("watch %d;", peer->fd);
    peer->blocked = peer->fd >= 0 && peer->first;
}

void tcp_peer_broken(struct peer *peer, int error)
{
    note("broken %d %d;", peer->pe, error);
}

#define send fake_send
#define sendmsg fake_sendmsg

#endif
