#include "net/auth/auth.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static time_t seconds_now(void)
{
    return (time_t)(clock_nanoseconds() / CLOCK_SECOND);
}

/* Returns false when epoll cannot take one more; to change what it has never fails. */
static bool watch_events(const struct listener *listener, int fd, void *mark, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = mark};
    return epoll_ctl(listener->events, how, fd, &event) == 0;
}

static void start_timer(const struct listener *listener)
{
    const struct itimerspec once = {.it_value.tv_sec = 1};
    timerfd_settime(listener->timer, 0, &once, 0);
}

static void drop_pending(struct listener_pending *pending)
{
    close(pending->fd);
    pending->fd = -1;
}

/* Returns a free entry; when all are taken, closes the oldest connection. */
static struct listener_pending *claim_pending(struct listener *listener)
{
    struct listener_pending *place = listener->pending;
    for (struct listener_pending *pending = place;
         pending < listener->pending + listener->max_pending && place->fd >= 0; pending++)
        if (pending->fd < 0 || pending->since < place->since)
            place = pending;
    if (place->fd >= 0)
        drop_pending(place);
    return place;
}

/* The listener full_seconds for a second when the process has no descriptor left. */
static void pause_accepting(struct listener *listener)
{
    (void)watch_events(listener, listener->fd, &listener->fd, 0, EPOLL_CTL_MOD);
    start_timer(listener);
    if (++listener->full_seconds == LISTENER_FULL_SECONDS && listener->out_of_descriptors)
        listener->out_of_descriptors(listener->owner);
}

static void accept_pending(struct listener *listener)
{
    int fd = accept4(listener->fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        pause_accepting(listener);
    if (fd < 0)
        return;
    listener->full_seconds = 0;
    struct listener_pending *pending = claim_pending(listener);
    *pending = (struct listener_pending){.fd = fd, .since = seconds_now()};
    if (!handshake_make_challenge(&pending->challenge) ||
        send(fd, &pending->challenge, sizeof pending->challenge, MSG_NOSIGNAL) != sizeof pending->challenge ||
        !watch_events(listener, fd, pending, EPOLLIN, EPOLL_CTL_ADD)) {
        drop_pending(pending);
        return;
    }
    start_timer(listener);
}

static void admit_peer(struct listener *listener, struct listener_pending *pending)
{
    const bool wanted = !listener->wants || listener->wants(listener->owner, &pending->hello);
    const uint64_t proof = handshake_answer(listener->key, &pending->hello, &pending->challenge);
    const uint64_t answer = wanted ? proof : HANDSHAKE_CROSSED(proof);
    if (send(pending->fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer || !wanted) {
        drop_pending(pending);
        return;
    }
    const int fd = pending->fd;
    pending->fd = -1;
    listener->accepted(listener->owner, fd, &pending->hello);
}

static void read_hello(struct listener *listener, struct listener_pending *pending)
{
    if (pending->fd < 0)
        return;
    ssize_t more = recv(pending->fd, (char *)&pending->hello + pending->got, sizeof pending->hello - pending->got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (more > 0)
        pending->got += (size_t)more;
    if (more > 0 && pending->got < sizeof pending->hello)
        return;
    if (more > 0 && handshake_verify(listener->key, &pending->hello, &pending->challenge, listener->me, listener->npes))
        admit_peer(listener, pending);
    else
        drop_pending(pending);
}

/* Closes connections that have been pending for too long. */
static void expire_pending(struct listener *listener)
{
    uint64_t rings;
    bool more = false;
    (void)!read(listener->timer, &rings, sizeof rings);
    (void)watch_events(listener, listener->fd, &listener->fd, EPOLLIN, EPOLL_CTL_MOD);
    for (struct listener_pending *pending = listener->pending; pending < listener->pending + listener->max_pending;
         pending++) {
        if (pending->fd >= 0 && seconds_now() - pending->since >= (time_t)listener->seconds)
            drop_pending(pending);
        more |= pending->fd >= 0;
    }
    if (more)
        start_timer(listener);
}

int listener_open(struct listener *listener, struct routes *mine)
{
    listener->pending = calloc(listener->max_pending, sizeof *listener->pending);
    if (!listener->pending)
        return -1;
    for (uint32_t i = 0; i < listener->max_pending; i++)
        listener->pending[i].fd = -1;
    listener->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    listener->fd = listener->timer >= 0 && mine->count ? routes_listen(mine) : -1;
    return listener->fd >= 0 && watch_events(listener, listener->timer, &listener->timer, EPOLLIN, EPOLL_CTL_ADD) &&
                   watch_events(listener, listener->fd, &listener->fd, EPOLLIN, EPOLL_CTL_ADD)
               ? 0
               : -1;
}

bool listener_event(struct listener *listener, const void *mark)
{
    if (mark == &listener->fd)
        accept_pending(listener);
    else if (mark == &listener->timer)
        expire_pending(listener);
    else if ((uintptr_t)mark - (uintptr_t)listener->pending < listener->max_pending * sizeof *listener->pending)
        read_hello(listener, (struct listener_pending *)(uintptr_t)mark);
    else
        return false;
    return true;
}

void listener_close(struct listener *listener)
{
    for (uint32_t i = 0; listener->pending && i < listener->max_pending; i++)
        if (listener->pending[i].fd >= 0)
            drop_pending(&listener->pending[i]);
    free(listener->pending);
    listener->pending = 0;
    if (listener->fd >= 0)
        close(listener->fd);
    if (listener->timer >= 0)
        close(listener->timer);
    listener->fd = listener->timer = -1;
}
