#include "net/auth/listener.h"

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
static bool await(const struct listener *door, int fd, void *mark, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = mark};
    return epoll_ctl(door->events, how, fd, &event) == 0;
}

static void set_timer(const struct listener *door)
{
    const struct itimerspec once = {.it_value.tv_sec = 1};
    timerfd_settime(door->timer, 0, &once, 0);
}

static void show_out(struct listener_pending *guest)
{
    close(guest->fd);
    guest->fd = -1;
}

/* Returns a place for a guest; where there is none, the guest that came first leaves. */
static struct listener_pending *free_place(struct listener *door)
{
    struct listener_pending *place = door->guests;
    for (struct listener_pending *guest = place; guest < door->guests + door->places && place->fd >= 0; guest++)
        if (guest->fd < 0 || guest->since < place->since)
            place = guest;
    if (place->fd >= 0)
        show_out(place);
    return place;
}

/* The door rests for a second when the process has no descriptor left. */
static void rest(struct listener *door)
{
    (void)await(door, door->fd, &door->fd, 0, EPOLL_CTL_MOD);
    set_timer(door);
    if (++door->rests == LISTENER_FULL_SECONDS && door->full)
        door->full(door->owner);
}

static void let_guest_in(struct listener *door)
{
    int fd = accept4(door->fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        rest(door);
    if (fd < 0)
        return;
    door->rests = 0;
    struct listener_pending *guest = free_place(door);
    *guest = (struct listener_pending){.fd = fd, .since = seconds_now()};
    if (!handshake_make_challenge(&guest->challenge) ||
        send(fd, &guest->challenge, sizeof guest->challenge, MSG_NOSIGNAL) != sizeof guest->challenge ||
        !await(door, fd, guest, EPOLLIN, EPOLL_CTL_ADD)) {
        show_out(guest);
        return;
    }
    set_timer(door);
}

static void welcome(struct listener *door, struct listener_pending *guest)
{
    const bool wanted = !door->wants || door->wants(door->owner, &guest->hello);
    const uint64_t proof = handshake_answer(door->key, &guest->hello, &guest->challenge);
    const uint64_t answer = wanted ? proof : HANDSHAKE_CROSSED(proof);
    if (send(guest->fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer || !wanted) {
        show_out(guest);
        return;
    }
    const int fd = guest->fd;
    guest->fd = -1;
    door->let_in(door->owner, fd, &guest->hello);
}

static void hear_guest(struct listener *door, struct listener_pending *guest)
{
    if (guest->fd < 0)
        return;
    ssize_t more = recv(guest->fd, (char *)&guest->hello + guest->got, sizeof guest->hello - guest->got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (more > 0)
        guest->got += (size_t)more;
    if (more > 0 && guest->got < sizeof guest->hello)
        return;
    if (more > 0 && handshake_verify(door->key, &guest->hello, &guest->challenge, door->me, door->npes))
        welcome(door, guest);
    else
        show_out(guest);
}

/* Shows those out who have taken too long. */
static void look_round(struct listener *door)
{
    uint64_t rings;
    bool more = false;
    (void)!read(door->timer, &rings, sizeof rings);
    (void)await(door, door->fd, &door->fd, EPOLLIN, EPOLL_CTL_MOD);
    for (struct listener_pending *guest = door->guests; guest < door->guests + door->places; guest++) {
        if (guest->fd >= 0 && seconds_now() - guest->since >= (time_t)door->seconds)
            show_out(guest);
        more |= guest->fd >= 0;
    }
    if (more)
        set_timer(door);
}

int listener_open(struct listener *door, struct routes *mine)
{
    door->guests = calloc(door->places, sizeof *door->guests);
    if (!door->guests)
        return -1;
    for (uint32_t i = 0; i < door->places; i++)
        door->guests[i].fd = -1;
    door->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    door->fd = door->timer >= 0 && mine->count ? routes_listen(mine) : -1;
    return door->fd >= 0 && await(door, door->timer, &door->timer, EPOLLIN, EPOLL_CTL_ADD) &&
                   await(door, door->fd, &door->fd, EPOLLIN, EPOLL_CTL_ADD)
               ? 0
               : -1;
}

bool listener_event(struct listener *door, const void *mark)
{
    if (mark == &door->fd)
        let_guest_in(door);
    else if (mark == &door->timer)
        look_round(door);
    else if ((uintptr_t)mark - (uintptr_t)door->guests < door->places * sizeof *door->guests)
        hear_guest(door, (struct listener_pending *)(uintptr_t)mark);
    else
        return false;
    return true;
}

void listener_close(struct listener *door)
{
    for (uint32_t i = 0; door->guests && i < door->places; i++)
        if (door->guests[i].fd >= 0)
            show_out(&door->guests[i]);
    free(door->guests);
    door->guests = 0;
    if (door->fd >= 0)
        close(door->fd);
    if (door->timer >= 0)
        close(door->timer);
    door->fd = door->timer = -1;
}
