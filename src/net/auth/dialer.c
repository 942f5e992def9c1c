#include "net/auth/auth.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 8 /* connections to a PE that has closed all of them */

/* Returns false when epoll cannot take one more; to change what it has never fails. */
static bool watch_events(const struct dialer *dialer, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = dialer->mark};
    return epoll_ctl(dialer->events, how, dialer->fd, &event) == 0;
}

/* Reads more of something of `whole` bytes. Returns 1 when all of it is there, 0 when more is to come, -1 when the other
 * end has hung up. */
static int read_part(struct dialer *dialer, size_t whole)
{
    ssize_t more = recv(dialer->fd, (char *)&dialer->heard + dialer->got, whole - dialer->got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (more <= 0)
        return -1;
    dialer->got += (size_t)more;
    return dialer->got == whole;
}

void dialer_stop(struct dialer *dialer, enum dialer_state state)
{
    if (dialer->fd >= 0)
        close(dialer->fd);
    dialer->fd = -1;
    dialer->state = state;
}

/* Returns true for an error that a host reports whose process is gone. */
static bool is_answer(int error)
{
    return error == ECONNREFUSED || error == ECONNRESET || error == EPIPE;
}

/* Connects by the next route that can be tried. */
static void try_routes(struct dialer *dialer)
{
    dialer->state = DIALER_FAILED;
    while (dialer->next < dialer->to.count) {
        dialer->fd = routes_connect(&dialer->to, dialer->next++, &dialer->from);
        dialer->state = DIALER_CONNECTS;
        if (dialer->fd >= 0 && watch_events(dialer, EPOLLOUT, EPOLL_CTL_ADD))
            return;
        dialer->unreachable |= !is_answer(errno);
        dialer_stop(dialer, DIALER_FAILED);
    }
}

/* A listener closes a pending connection when this PE was too slow, since it computed, or when too many others connect: then this
 * PE connects again. */
static void next_route(struct dialer *dialer)
{
    if (dialer->state != DIALER_CONNECTS && ++dialer->tries < TRIES)
        dialer->next--;
    dialer_stop(dialer, DIALER_FAILED);
    try_routes(dialer);
}

static void check_connected(struct dialer *dialer)
{
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(dialer->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        dialer->unreachable |= !is_answer(error);
        next_route(dialer);
        return;
    }
    dialer->state = DIALER_READS_CHALLENGE;
    dialer->got = 0;
    (void)watch_events(dialer, EPOLLIN, EPOLL_CTL_MOD);
}

/* Answers the challenge of the listener, and challenges it. */
static bool say_hello(struct dialer *dialer)
{
    struct handshake_hello *hello = &dialer->hello;
    *hello = (struct handshake_hello){.from = dialer->me, .to = dialer->pe, .word = dialer->word};
    if (!handshake_make_challenge(&hello->challenge))
        return false;
    handshake_sign(dialer->key, hello, &dialer->heard.challenge);
    dialer->wanted = handshake_answer(dialer->key, hello, &dialer->heard.challenge);
    return send(dialer->fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello;
}

static void take_challenge(struct dialer *dialer)
{
    int whole = read_part(dialer, sizeof dialer->heard.challenge);
    if (whole < 0 || (whole && !say_hello(dialer))) {
        next_route(dialer);
    } else if (whole) {
        dialer->state = DIALER_READS_ANSWER;
        dialer->got = 0;
    }
}

static void take_answer(struct dialer *dialer)
{
    int whole = read_part(dialer, sizeof dialer->heard.answer);
    if (whole > 0 && dialer->heard.answer == dialer->wanted)
        dialer->state = DIALER_CONNECTED;
    else if (whole > 0 && dialer->heard.answer == HANDSHAKE_CROSSED(dialer->wanted))
        dialer_stop(dialer, DIALER_CROSSED);
    else if (whole)
        next_route(dialer);
}

void dialer_start(struct dialer *dialer)
{
    dialer->fd = -1;
    dialer->next = dialer->tries = 0;
    dialer->unreachable = false;
    try_routes(dialer);
}

void dialer_event(struct dialer *dialer)
{
    switch (dialer->state) {
    case DIALER_CONNECTS: check_connected(dialer); break;
    case DIALER_READS_CHALLENGE: take_challenge(dialer); break;
    case DIALER_READS_ANSWER: take_answer(dialer); break;
    case DIALER_CONNECTED:
    case DIALER_CROSSED:
    case DIALER_FAILED: break;
    }
}
