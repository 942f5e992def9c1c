#include "net/auth/dialer.h"

#include "net/auth/listener.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 8 /* calls of a PE that has answered none */

/* Returns false when epoll cannot take one more; to change what it has never fails. */
static bool await(const struct dialer *call, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = call->mark};
    return epoll_ctl(call->events, how, call->fd, &event) == 0;
}

/* Reads more of something of `whole` bytes. Returns 1 when all of it is there, 0 when more is to come, -1 when the other
 * end has hung up. */
static int collect(struct dialer *call, size_t whole)
{
    ssize_t more = recv(call->fd, (char *)&call->heard + call->got, whole - call->got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (more <= 0)
        return -1;
    call->got += (size_t)more;
    return call->got == whole;
}

void dialer_stop(struct dialer *call, enum dialer_state state)
{
    if (call->fd >= 0)
        close(call->fd);
    call->fd = -1;
    call->state = state;
}

/* Calls by the next way that can be tried. */
static void try_ways(struct dialer *call)
{
    call->state = DIALER_FAILED;
    while (call->way < call->place.count) {
        int fd = routes_connect(&call->place, call->way++, &call->here);
        if (fd < 0)
            continue;
        call->fd = fd;
        call->state = DIALER_CONNECTS;
        if (await(call, EPOLLOUT, EPOLL_CTL_ADD))
            return;
        dialer_stop(call, DIALER_FAILED);
    }
}

/* A PE that has been called hangs up when this one was too slow, as it was computing, or when too many others call: this
 * one calls again. */
static void next_way(struct dialer *call)
{
    if (call->state != DIALER_CONNECTS && ++call->tries < TRIES)
        call->way--;
    dialer_stop(call, DIALER_FAILED);
    try_ways(call);
}

static void connected(struct dialer *call)
{
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        next_way(call);
        return;
    }
    call->state = DIALER_READS_CHALLENGE;
    call->got = 0;
    (void)await(call, EPOLLIN, EPOLL_CTL_MOD);
}

/* Answers the challenge of the called PE, and challenges it. */
static bool say_hello(struct dialer *call)
{
    struct handshake_hello *hello = &call->hello;
    *hello = (struct handshake_hello){.from = call->me, .to = call->pe, .word = call->word};
    if (!handshake_make_challenge(&hello->challenge))
        return false;
    handshake_sign(call->key, hello, &call->heard.challenge);
    call->wanted = handshake_answer(call->key, hello, &call->heard.challenge);
    return send(call->fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello;
}

static void challenged(struct dialer *call)
{
    int whole = collect(call, sizeof call->heard.challenge);
    if (whole < 0 || (whole && !say_hello(call))) {
        next_way(call);
    } else if (whole) {
        call->state = DIALER_READS_ANSWER;
        call->got = 0;
    }
}

static void answered(struct dialer *call)
{
    int whole = collect(call, sizeof call->heard.answer);
    if (whole > 0 && call->heard.answer == call->wanted)
        call->state = DIALER_CONNECTED;
    else if (whole > 0 && call->heard.answer == HANDSHAKE_CROSSED(call->wanted))
        dialer_stop(call, DIALER_CROSSED);
    else if (whole)
        next_way(call);
}

void dialer_start(struct dialer *call)
{
    call->fd = -1;
    call->way = call->tries = 0;
    try_ways(call);
}

void dialer_event(struct dialer *call)
{
    switch (call->state) {
    case DIALER_CONNECTS: connected(call); break;
    case DIALER_READS_CHALLENGE: challenged(call); break;
    case DIALER_READS_ANSWER: answered(call); break;
    case DIALER_CONNECTED:
    case DIALER_CROSSED:
    case DIALER_FAILED: break;
    }
}
