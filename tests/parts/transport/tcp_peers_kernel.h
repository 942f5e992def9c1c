/* The kernel, the calls, and the rest of the transport as peers see them. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_PEERS_KERNEL_H
#define TESTS_PARTS_TRANSPORT_TCP_PEERS_KERNEL_H

#include "transport/tcp/inner.h"

#include "parts/owned.h"

#include "traced.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 90 };

static struct lane lane = {.events = EVENTS, .id = 500, .here = {.port = 9, .ways = 2}};
static int owner, new_socket, ctl_fails; /* ctl_fails: so many calls succeed */
static int pair_of[2];                   /* -1: there is none */
static bool refuses;                     /* the congestion control */
static enum call_state begins;           /* the state of a call that has begun */
static enum call_state then;             /* and after the next news */
static int pushes, reads;                /* what pushing and reading return */

void call_begin(struct call *call)
{
    note("begin;");
    call->fd = 33;
    call->state = begins;
}

void call_news(struct call *call)
{
    note("news;");
    call->state = then;
}

void call_end(struct call *call, enum call_state state)
{
    note("end %d;", state);
    call->state = state;
}

int tcp_push(struct peer *peer)
{
    note("push %d;", peer->fd);
    return pushes;
}

int tcp_read(struct peer *peer)
{
    note("read %d;", peer->fd);
    return reads;
}

static int fake_ctl(int events, int how, int fd, struct epoll_event *event)
{
    CHECK(events == EVENTS && (how == EPOLL_CTL_ADD || how == EPOLL_CTL_MOD));
    const struct peer *peer = event->data.ptr;
    CHECK(peer && peer->lane == &lane);
    CHECK(event->events == EPOLLIN || event->events == (EPOLLIN | EPOLLOUT));
    note("%s %d %s;", how == EPOLL_CTL_ADD ? "add" : "mod", fd, event->events == EPOLLIN ? "in" : "both");
    return ctl_fails-- == 0 ? -1 : 0;
}

static int fake_setsockopt(int fd, int level, int what, const void *value, socklen_t bytes)
{
    CHECK(level == IPPROTO_TCP && (what == TCP_NODELAY || what == TCP_CONGESTION));
    if (what == TCP_NODELAY) {
        CHECK(bytes == sizeof(int) && *(const int *)value == 1);
        note("nodelay %d;", fd);
        return 0;
    }
    note("congestion %d %.*s;", fd, (int)bytes, (const char *)value);
    return refuses ? -1 : 0;
}

static int fake_socketpair(int family, int type, int protocol, int ends[2])
{
    CHECK(family == AF_UNIX && type == (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC) && protocol == 0);
    note("pair;");
    memcpy(ends, pair_of, sizeof pair_of);
    return pair_of[0] < 0 ? -1 : 0;
}

static int fake_socket(int family, int type, int protocol)
{
    CHECK(family == AF_INET && type == (SOCK_STREAM | SOCK_CLOEXEC) && protocol == 0);
    note("socket;");
    return new_socket;
}

static int fake_close(int fd)
{
    note("close %d;", fd);
    return 0;
}

static char why[100];

static void is_broken(void *of, int pe, const char *text)
{
    CHECK(of == &owner);
    snprintf(why, sizeof why, "%s", text);
    note("broken %d;", pe);
}

static const struct transport_events told = {.broken = is_broken};

#define epoll_ctl fake_ctl
#define setsockopt fake_setsockopt
#define socketpair fake_socketpair
#define socket fake_socket
#define close fake_close

#endif
