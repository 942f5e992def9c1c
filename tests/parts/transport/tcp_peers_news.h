/* What news do to a peer, what of it is given back, and what it needs of a connection. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_PEERS_NEWS_H
#define TESTS_PARTS_TRANSPORT_TCP_PEERS_NEWS_H

/* A call goes on, ends well, is left to the other one, or leads nowhere. */
static void news_of_calls(void)
{
    start();
    struct peer *peer = tcp_peer_connect(&lane, 5, &there);
    const enum call_state goes_on[] = {CALL_RINGS, CALL_HEARS, CALL_ASKS};
    CHECK(did("begin;"));
    for (int i = 0; i < 3; i++) {
        then = goes_on[i];
        CHECK(tcp_peer_news(peer, EPOLLIN | EPOLLOUT) == 1 && did("news;") && peer->call && peer->fd == -1);
    }
    then = CALL_OVER;
    CHECK(tcp_peer_news(peer, EPOLLIN) == 1 && did("news;broken 5;") && peer->fd == -1);
    CHECK(strcmp(why, strerror(ECONNREFUSED)) == 0 && !lane.hot);
    then = CALL_LATER;
    CHECK(tcp_peer_news(peer, EPOLLIN) == 1 && did("news;") && !peer->call && peer->fd == -1 && owned_count == 1);
    end("");
    start();
    peer = tcp_peer_connect(&lane, 5, &there);
    CHECK(did("begin;"));
    then = CALL_UP;
    CHECK(tcp_peer_news(peer, EPOLLIN) == 1 && did("news;nodelay 33;mod 33 in;push 33;") && !peer->call);
    CHECK(peer->fd == 33 && lane.hot == peer && owned_count == 1);
    end("close 33;");
}

/* Room pushes; anything else reads, and makes the peer the busy one if something came. */
static void news(void)
{
    start();
    struct peer *peer = add_peer(5, 600, 0);
    pushes = 3, reads = 1;
    CHECK(tcp_peer_news(peer, EPOLLOUT) == 3 && did("push 0;") && !lane.hot);
    CHECK(tcp_peer_news(peer, EPOLLIN) == 1 && did("read 0;") && lane.hot == peer);
    lane.hot = 0;
    CHECK(tcp_peer_news(peer, EPOLLIN | EPOLLOUT) == 4 && did("push 0;read 0;") && lane.hot == peer);
    lane.hot = 0, reads = 0;
    CHECK(tcp_peer_news(peer, EPOLLIN) == 0 && did("read 0;") && !lane.hot);
    CHECK(tcp_peer_news(peer, EPOLLIN | EPOLLOUT) == 3 && did("push 0;read 0;") && !lane.hot);
    pushes = 0;
    CHECK(tcp_peer_news(peer, EPOLLOUT) == 0 && did("push 0;") && !lane.hot);
    reads = 7; /* counts as one */
    CHECK(tcp_peer_news(peer, EPOLLHUP) == 1 && did("read 0;") && tcp_peer_news(peer, EPOLLERR) == 1);
    CHECK(did("read 0;") && tcp_peer_news(peer, 0) == 0 && did(""));
    end("close 0;");
}

/* All memory that belongs to it; data that is not placed yet is the lane's (late.c). */
static void freeing(void)
{
    start();
    struct peer *peer = add_peer(5, 600, 80);
    struct out *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    struct late *late = malloc(sizeof *late);
    *second = (struct out){0};
    *first = (struct out){.next = second};
    *late = (struct late){.placed = true};
    peer->first = first, peer->rest = late, peer->part = malloc(10);
    CHECK(owned_count == 5);
    end("close 80;");
    peer = add_peer(5, 600, -1);
    late = malloc(sizeof *late);
    *late = (struct late){.placed = false};
    peer->rest = late;
    peer->call = malloc(sizeof *peer->call);
    traced[0] = 0;
    lane.peers = 0;
    tcp_peer_free(peer);
    CHECK(did("end 5;") && owned_count == 1 && owned_bytes(late) == sizeof *late);
    free(late);
}

static void watching(void)
{
    struct out waits = {0};
    start();
    struct peer *peer = add_peer(5, 600, -1);
    peer->first = &waits;
    tcp_peer_watch(peer);
    CHECK(did("") && !peer->blocked);
    peer->fd = 0;
    tcp_peer_watch(peer);
    CHECK(did("mod 0 both;") && peer->blocked);
    peer->first = 0;
    tcp_peer_watch(peer);
    CHECK(did("mod 0 in;") && !peer->blocked);
    end("close 0;");
}

static void breaking(void)
{
    start();
    struct peer *peer = add_peer(70005, 600, -1);
    tcp_peer_broken(peer, 0);
    CHECK(did("broken 70005;") && strcmp(why, "the other end has closed the connection") == 0);
    tcp_peer_broken(peer, EPIPE);
    CHECK(did("broken 70005;") && strcmp(why, strerror(EPIPE)) == 0);
    end("");
}

/* No name and an empty one leave the kernel's default. Any number is good for the socket with which a name is tried. */
static void congestion(void)
{
    for (int empty = 0; empty < 2; empty++) {
        refuses = true;
        CHECK(tcp_congestion_known() && tcp_congestion_choose(5) && did(""));
        setenv("LATERAL_TCP_CONGESTION", "", 1);
    }
    setenv("LATERAL_TCP_CONGESTION", "cubic", 1);
    for (new_socket = 0; new_socket < 2; new_socket++) {
        char calls[80];
        snprintf(calls, sizeof calls, "socket;congestion %d cubic;close %d;", new_socket, new_socket);
        refuses = true;
        CHECK(!tcp_congestion_known() && did(calls));
        refuses = false;
        CHECK(tcp_congestion_known() && did(calls));
    }
    new_socket = -1;
    refuses = true;
    CHECK(tcp_congestion_known() && did("socket;"));
    CHECK(!tcp_congestion_choose(6) && did("congestion 6 cubic;"));
    refuses = false;
    CHECK(tcp_congestion_choose(0) && did("congestion 0 cubic;"));
    unsetenv("LATERAL_TCP_CONGESTION");
}

#endif
