/* Peers of the TCP transport (peer.c) with what they need of a connection (connection.c) and of the kernel (congestion.c): who is found,
 * who is called, whose call counts, what news do, and what is given back. */
#include "tcp_peers_kernel.h"

#include "transport/tcp/congestion.c"
#include "transport/tcp/connection.c"
#include "transport/tcp/peer.c"

static const struct tcp_address there = {{.port = 7, .ways = 3}, 600, {21, 22}};
static const struct tcp_address mine = {{.port = 7, .ways = 3}, 500, {21, 22}};

static void start(void)
{
    CHECK(!lane.peers && !lane.hot && owned_count == 0 && did(""));
    ctl_fails = -1, begins = then = CALL_RINGS, pushes = reads = 0;
    lane.owner = &owner;
    tcp_events = &told, tcp_me = 4, tcp_npes = 10;
}

static void end(const char *calls)
{
    traced[0] = 0;
    while (lane.peers) {
        struct peer *peer = lane.peers;
        lane.peers = peer->next;
        tcp_peer_free(peer);
    }
    lane.hot = 0;
    CHECK(did(calls) && owned_count == 0);
}

static struct peer *add_peer(int pe, uint64_t id, int fd)
{
    struct peer *peer = add(&lane, pe, id);
    CHECK(peer && lane.peers == peer && peer->lane == &lane && peer->pe == pe && peer->id == id && peer->fd == -1);
    CHECK(!peer->first && peer->last == &peer->first && !peer->call && !peer->part && !peer->rest && !peer->blocked);
    peer->fd = fd;
    return peer;
}

static void calling(void)
{
    start();
    tcp_me = 70004; /* takes more than 16 bits */
    struct peer *peer = tcp_peer_connect(&lane, 5, &there);
    CHECK(peer && did("begin;") && lane.peers == peer && !peer->next && peer->pe == 5 && peer->id == 600);
    const struct call *call = peer->call;
    CHECK(call && call->events == EVENTS && call->mark == peer && call->key[0] == 21 && call->key[1] == 22);
    CHECK(call->me == 70004 && call->pe == 5 && call->word == 500 && peer->fd == -1);
    CHECK(call->place.port == 7 && call->place.ways == 3 && call->here.port == 9 && call->here.ways == 2);
    CHECK(tcp_peer_connect(&lane, 5, &there) == peer && did("") && owned_count == 2);
    struct peer *other = tcp_peer_connect(&lane, 6, &there); /* another PE */
    CHECK(other && other != peer && did("begin;") && tcp_peer_connect(&lane, 5, &there) == peer);
    CHECK(tcp_peer_connect(&lane, 6, &there) == other && did(""));
    struct peer *third = tcp_peer_connect(&lane, 5, &mine); /* another lane of this one; not this lane either */
    CHECK(third && third != peer && third != other && did("begin;"));
    struct peer *fourth = tcp_peer_connect(&lane, 70004, &there); /* another lane of this PE */
    CHECK(fourth && did("begin;") && fourth->call->pe == 70004);
    begins = CALL_OVER;
    CHECK(!tcp_peer_connect(&lane, 7, &there) && did("begin;"));
    end("end 5;end 5;end 5;end 5;end 5;");
    for (int fails = 0; fails < 2; fails++) {
        start();
        owned_left = fails;
        CHECK(!tcp_peer_connect(&lane, 5, &there) && did("") && !lane.peers && owned_count == 0);
    }
    owned_left = -1;
}

static void calls_itself(void)
{
    start();
    pair_of[0] = 0, pair_of[1] = 61;
    struct peer *one = tcp_peer_connect(&lane, 4, &mine);
    CHECK(one && did("pair;add 0 in;add 61 in;") && one->fd == 0 && one->pe == 4 && one->id == 500 && !one->call);
    CHECK(lane.peers->fd == 61 && lane.peers->pe == 4 && lane.peers->id == 500 && lane.peers->next == one);
    end("close 61;close 0;");
    start();
    pair_of[0] = -1;
    CHECK(!tcp_peer_connect(&lane, 4, &mine) && did("pair;") && !lane.peers);
    pair_of[0] = 60;
    for (int fails = 0; fails < 2; fails++) {
        ctl_fails = fails;
        CHECK(!tcp_peer_connect(&lane, 4, &mine));
        CHECK(did(fails ? "pair;add 60 in;add 61 in;close 61;" : "pair;add 60 in;close 60;add 61 in;"));
        CHECK(lane.peers && lane.peers->next && !lane.peers->next->next);
        CHECK(lane.peers->fd == (fails ? -1 : 61) && lane.peers->next->fd == (fails ? 60 : -1));
        end(fails ? "close 60;" : "close 61;");
        start();
        owned_left = fails;
        CHECK(!tcp_peer_connect(&lane, 4, &mine));
        CHECK(did(fails ? "pair;add 60 in;close 61;" : "pair;close 60;add 61 in;"));
        CHECK(lane.peers && !lane.peers->next && lane.peers->fd == (fails ? 60 : 61));
        end(fails ? "close 60;" : "close 61;");
        start();
    }
}

static bool wants(int from, uint64_t word)
{
    const struct proof_hello hello = {.from = (uint32_t)from, .word = word};
    const bool wanted = tcp_peer_wants(&lane, &hello);
    CHECK(did(""));
    return wanted;
}

/* A call is wanted of who has no connection; of two that call at once, the lower PE's, or the lower lane's of one PE. */
static void whose_call_counts(void)
{
    start();
    CHECK(wants(3, 600) && wants(5, 600) && wants(4, 500));
    struct peer *peer = add_peer(3, 600, -1);
    struct call *call = peer->call = malloc(sizeof *call);
    CHECK(wants(3, 600) && wants(3, 601) && wants(5, 600));
    peer->pe = 5;
    CHECK(!wants(5, 600) && wants(5, 601) && wants(3, 600));
    peer->call = 0; /* it is to be called by them */
    CHECK(wants(5, 600));
    for (int connected = 0; connected < 2; connected++) {
        peer->fd = connected;
        CHECK(!wants(5, 600));
        peer->pe = 3;
        CHECK(!wants(3, 600));
        peer->pe = 5;
    }
    peer->fd = -1, peer->pe = 4, peer->call = call;
    peer->id = 499;
    CHECK(wants(4, 499));
    peer->id = 500;
    CHECK(!wants(4, 500));
    peer->id = 501;
    CHECK(!wants(4, 501));
    end("end 5;");
}

static void let_in(int fd, int from, uint64_t word)
{
    const struct proof_hello hello = {.from = (uint32_t)from, .word = word};
    tcp_peer_let_in(&lane, fd, &hello);
}

static void being_called(void)
{
    start();
    let_in(0, 3, 700);
    CHECK(did("nodelay 0;mod 0 in;push 0;") && lane.peers && lane.peers->pe == 3 && lane.peers->id == 700);
    CHECK(lane.peers->fd == 0 && lane.hot == lane.peers && !lane.peers->next);
    struct peer *called = tcp_peer_connect(&lane, 2, &there);
    setenv("LATERAL_TCP_CONGESTION", "reno", 1);
    struct out waits = {0};
    called->first = &waits;
    CHECK(did("begin;"));
    let_in(71, 2, 600); /* its own call is given up, and what waits goes */
    CHECK(did("end 4;nodelay 71;congestion 71 reno;mod 71 both;push 71;") && !called->call && called->fd == 71);
    CHECK(lane.hot == called && called->blocked && lane.peers == called && owned_count == 2);
    called->first = 0;
    unsetenv("LATERAL_TCP_CONGESTION");
    struct peer *later = add_peer(1, 600, -1);
    let_in(72, 1, 600);
    CHECK(did("nodelay 72;mod 72 in;push 72;") && later->fd == 72 && lane.hot == later && !later->blocked);
    owned_left = 0;
    let_in(73, 8, 600);
    CHECK(did("close 73;") && lane.peers == later && lane.hot == later);
    end("close 72;close 71;close 0;");
}

#include "tcp_peers_news.h"

int main(void)
{
    unsetenv("LATERAL_TCP_CONGESTION");
    calling();
    calls_itself();
    whose_call_counts();
    being_called();
    news_of_calls();
    news();
    freeing();
    watching();
    breaking();
    congestion();
    return 0;
}
