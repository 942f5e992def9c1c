/* The other parts of the TCP transport, its door and the kernel, as lanes see them. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_LANES_PARTS_H
#define TESTS_PARTS_TRANSPORT_TCP_LANES_PARTS_H

#include "transport/tcp/inner.h"

#include "parts/owned.h"

#include "traced.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

const struct transport_events *tcp_events;
int tcp_me, tcp_npes;

static int ways;                    /* that the host has; -1: the user's interface is not there */
static bool no_congestion, no_port; /* what fails */
static int random_fails = -1;       /* so many calls succeed, the next one fails */
static int new_epoll, doors;        /* doors: that have been opened and not closed */
static int reads;                   /* what reading returns */
static int peer_news, door_marks;   /* what the news of a peer count; bits of news that are the door's */
static struct epoll_event news_now[20];
static int news_count;
static uint64_t last_random;

bool ways_find(struct socket_place *mine)
{
    CHECK(mine->ways == 0 && mine->port == 0);
    mine->ways = ways > 0 ? (uint8_t)ways : 0;
    for (int i = 0; i < ways; i++)
        mine->way[i] = (struct socket_way){.six = 1, .address = {(unsigned char)(10 + i)}};
    return ways >= 0;
}

bool tcp_congestion_known(void)
{
    return !no_congestion;
}

static ssize_t fake_random(void *room, size_t bytes, unsigned flags)
{
    CHECK(flags == GRND_NONBLOCK && bytes % 8 == 0);
    for (size_t at = 0; at < bytes; at += 8) {
        last_random += 0x100000001;
        memcpy((char *)room + at, &last_random, 8);
    }
    return random_fails-- == 0 ? (ssize_t)bytes - 1 : (ssize_t)bytes;
}

static int fake_epoll(int flags)
{
    CHECK(flags == EPOLL_CLOEXEC);
    return new_epoll;
}

static int fake_close(int fd)
{
    note("close %d;", fd);
    return 0;
}

static const struct door *opened;

int door_open(struct door *door, struct socket_place *mine)
{
    opened = door;
    CHECK(mine->ways == (ways > 0 ? ways : 1) && mine->port == 0);
    mine->port = 0x1234;
    doors++;
    return no_port ? -1 : 0;
}

void door_close(struct door *door)
{
    CHECK(door->fd == -1 && door->timer == -1);
    note("door;");
}

bool door_news(struct door *door, const void *mark)
{
    CHECK(door == &((struct lane *)door->owner)->door);
    note("door? %d;", (int)(uintptr_t)mark);
    return door_marks >> (uintptr_t)mark & 1;
}

int tcp_peer_news(struct peer *peer, uint32_t what)
{
    note("news %d %u;", (int)(uintptr_t)peer, what);
    return peer_news;
}

static struct lane *connecting;
static int connected_pe;
static struct tcp_address connected_at;

struct peer *tcp_peer_connect(struct lane *lane, int pe, const struct tcp_address *address)
{
    connecting = lane, connected_pe = pe, connected_at = *address;
    note("connect;");
    return (struct peer *)&connecting;
}

bool tcp_peer_wants(void *lane, const struct proof_hello *hello)
{
    return lane && hello;
}

void tcp_peer_let_in(void *lane, int fd, const struct proof_hello *hello)
{
    CHECK(lane && fd >= 0 && hello);
}

void tcp_peer_free(struct peer *peer)
{
    note("peer %d;", peer->pe);
    free(peer);
}

void tcp_late_close(struct lane *lane)
{
    CHECK(!lane->peers && !lane->idle);
    note("late;");
}

enum transport_status tcp_send(void *peer, const void *header, size_t header_bytes, const void *data, size_t bytes,
                               void *token)
{
    CHECK(!peer && !header && !header_bytes && !data && !bytes && !token); /* never called */
    return TRANSPORT_FAILED;
}

enum transport_status tcp_receive(void *lane, void *rest, void *into, size_t bytes, void *token)
{
    CHECK(!lane && !rest && !into && !bytes && !token); /* never called */
    return TRANSPORT_FAILED;
}

int tcp_read(struct peer *peer)
{
    note("read %d;", peer->pe);
    return reads;
}

static int fake_wait(int events, struct epoll_event *event, int most, int timeout)
{
    CHECK(events == new_epoll && most == 16 && timeout == 0);
    note("wait;");
    const int count = news_count < most ? news_count : most;
    if (count > 0)
        memcpy(event, news_now, (size_t)count * sizeof *event);
    return count;
}

static int owners[2];
static char why[200];

static void is_broken(void *owner, int pe, const char *text)
{
    CHECK(owner == &owners[1] && pe == tcp_me);
    snprintf(why, sizeof why, "%s", text);
}

static const struct transport_events told = {.broken = is_broken};

#define getrandom fake_random
#define epoll_create1 fake_epoll
#define epoll_wait fake_wait
#define close(fd) fake_close(fd)

#endif
