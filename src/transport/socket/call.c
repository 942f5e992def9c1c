#include "transport/socket/call.h"

#include "transport/socket/door.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 8 /* calls of a PE that has answered none */

/* Returns false when epoll cannot take one more; to change what it has never fails. */
static bool await(const struct call *call, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = call->mark};
    return epoll_ctl(call->events, how, call->fd, &event) == 0;
}

/* Reads more of something of `whole` bytes. Returns 1 when all of it is there, 0 when more is to come, -1 when the other
 * end has hung up. */
static int collect(struct call *call, size_t whole)
{
    ssize_t more = recv(call->fd, (char *)&call->heard + call->got, whole - call->got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (more <= 0)
        return -1;
    call->got += (size_t)more;
    return call->got == whole;
}

void call_end(struct call *call, enum call_state state)
{
    if (call->fd >= 0)
        close(call->fd);
    call->fd = -1;
    call->state = state;
}

/* Calls by the next way that can be tried. */
static void try_ways(struct call *call)
{
    call->state = CALL_OVER;
    while (call->way < call->place.ways) {
        int fd = ways_call(&call->place, call->way++, &call->here);
        if (fd < 0)
            continue;
        call->fd = fd;
        call->state = CALL_RINGS;
        if (await(call, EPOLLOUT, EPOLL_CTL_ADD))
            return;
        call_end(call, CALL_OVER);
    }
}

/* A PE that has been called hangs up when this one was too slow, as it was computing, or when too many others call: this
 * one calls again. */
static void next_way(struct call *call)
{
    if (call->state != CALL_RINGS && ++call->tries < TRIES)
        call->way--;
    call_end(call, CALL_OVER);
    try_ways(call);
}

static void connected(struct call *call)
{
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        next_way(call);
        return;
    }
    call->state = CALL_HEARS;
    call->got = 0;
    (void)await(call, EPOLLIN, EPOLL_CTL_MOD);
}

/* Answers the challenge of the called PE, and challenges it. */
static bool say_hello(struct call *call)
{
    struct proof_hello *hello = &call->hello;
    *hello = (struct proof_hello){.from = call->me, .to = call->pe, .word = call->word};
    if (!proof_make_challenge(&hello->challenge))
        return false;
    proof_sign(call->key, hello, &call->heard.challenge);
    call->wanted = proof_answer(call->key, hello, &call->heard.challenge);
    return send(call->fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello;
}

static void challenged(struct call *call)
{
    int whole = collect(call, sizeof call->heard.challenge);
    if (whole < 0 || (whole && !say_hello(call))) {
        next_way(call);
    } else if (whole) {
        call->state = CALL_ASKS;
        call->got = 0;
    }
}

static void answered(struct call *call)
{
    int whole = collect(call, sizeof call->heard.answer);
    if (whole > 0 && call->heard.answer == call->wanted)
        call->state = CALL_UP;
    else if (whole > 0 && call->heard.answer == DOOR_LATER(call->wanted))
        call_end(call, CALL_LATER);
    else if (whole)
        next_way(call);
}

void call_begin(struct call *call)
{
    call->fd = -1;
    call->way = call->tries = 0;
    try_ways(call);
}

void call_news(struct call *call)
{
    switch (call->state) {
    case CALL_RINGS: connected(call); break;
    case CALL_HEARS: challenged(call); break;
    case CALL_ASKS: answered(call); break;
    case CALL_UP:
    case CALL_LATER:
    case CALL_OVER: break;
    }
}
