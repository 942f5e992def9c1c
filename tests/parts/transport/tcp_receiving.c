/* Receiving over TCP (in.c) with long data whose place comes at once or later (late.c), read by read: what arrives of which bytes, where
 * the beginning of a message is kept, whose buffers come and go, and which ends of a connection are told. Whole streams: trust/stream. */
#include "tcp_receiving_kernel.h"

#include "transport/tcp/in.c"
#include "transport/tcp/late.c"

static void start(void)
{
    CHECK(did("") && owned_count == 0);
    lane = (struct lane){.owner = &lane, .buffer = malloc(TCP_BUFFER)};
    peer = (struct peer){.lane = &lane, .pe = PE, .fd = 0};
    put = taken = 0;
    most = sizeof wire;
    error = EAGAIN;
    place = rest = 0;
    no_memory = false;
    tcp_events = &told;
}

static void end(void)
{
    free(peer.part);
    free(lane.spare);
    free(lane.buffer);
    owned_left = -1;
    CHECK(did("") && owned_count == 0 && !lane.late);
}

static void short_ones(void)
{
    start();
    CHECK(tcp_read(&peer) == 0 && did("") && last_room == TCP_BUFFER);
    put_message(0, 0);
    CHECK(tcp_read(&peer) == 1 && did("0/0;"));
    put_message(1, 0), put_message(0, 1), put_message(4096, 5);
    CHECK(tcp_read(&peer) == 1 && did("1/0;0/1;4096/5;"));
    put_message(3, TRANSPORT_SHORT), put_message(4096, TRANSPORT_SHORT);
    CHECK(tcp_read(&peer) == 1 && did("3/32768;4096/32768;") && !peer.part && owned_count == 1);
    end();
}

/* Each first part of a message is kept by the connection, and its rest read behind it. */
static void in_two_reads(void)
{
    for (most = 1; most < 31; most++) {
        const size_t first = most;
        start();
        put_message(10, 13);
        most = first;
        CHECK(tcp_read(&peer) == 1 && did("") && peer.part && peer.held == first && owned_count == 2);
        CHECK(memcmp(peer.part, wire, first) == 0);
        CHECK(tcp_read(&peer) == 1 && last_room == TCP_BUFFER - first);
        if (first < 16) {
            CHECK(did("") && peer.held == 2 * first);
            most = 31;
            CHECK(tcp_read(&peer) == 1);
        }
        CHECK(did("10/13;") && !peer.part && lane.spare && owned_count == 2);
        most = first;
        end();
    }
}

/* Behind whole messages the beginning of the next one stays; the lane keeps one buffer that nobody needs. */
static void buffers(void)
{
    start();
    put_message(2, 3);
    const size_t whole = put;
    put_message(5, 6);
    most = whole + 9;
    CHECK(tcp_read(&peer) == 1 && did("2/3;") && peer.held == 9 && owned_bytes(peer.part) == TCP_BUFFER);
    char *part = peer.part;
    CHECK(tcp_read(&peer) == 1 && did("5/6;") && lane.spare == part && !peer.part);
    put_message(1, 1), put_message(2, 2);
    most = 5;
    CHECK(tcp_read(&peer) == 1 && did("") && peer.part == part && !lane.spare && owned_count == 2);
    most = 10;
    CHECK(tcp_read(&peer) == 1 && did("1/1;") && peer.part == part &&
          peer.held == 5); /* from the middle to the front */
    CHECK(memcmp(part, wire + taken - 5, 5) == 0);
    lane.spare = malloc(TCP_BUFFER);
    char *other = lane.spare;
    CHECK(tcp_read(&peer) == 1 && did("2/2;") && !peer.part && lane.spare == other && owned_count == 2);
    free(lane.spare);
    lane.spare = 0;
    put_message(1, 1);
    most = 5;
    owned_left = 0;
    CHECK(tcp_read(&peer) == 1 && did("broken 12;") && !peer.part);
    end();
}

/* A header that is too long is none, and nothing behind it is read. */
static void bad_headers(void)
{
    static const uint64_t words[] = {4097, 0xffff, (uint64_t)1 << 40 | 4097};
    for (int i = 0; i < 3; i++) {
        start();
        put_bytes(&words[i], sizeof words[i]);
        CHECK(tcp_read(&peer) == 1 && did("broken 74;"));
        end();
    }
}

static void ends(void)
{
    static const int none[] = {EAGAIN, EINTR};
    start();
    for (int i = 0; i < 2; i++) {
        error = none[i];
        CHECK(tcp_read(&peer) == 0 && did(""));
    }
    error = ECONNRESET;
    CHECK(tcp_read(&peer) == 0 && did("broken 104;"));
    error = 0;
    CHECK(tcp_read(&peer) == 0 && did("broken 0;"));
    put_message(10, 13);
    most = 20;
    CHECK(tcp_read(&peer) == 1 && did("") && peer.held == 20);
    put = taken;
    CHECK(tcp_read(&peer) == 0 && did("broken 0;") && peer.held == 20 && peer.part);
    end();
}

#include "tcp_receiving_long.h"

int main(void)
{
    short_ones();
    in_two_reads();
    buffers();
    bad_headers();
    ends();
    placed_at_once();
    placed_later();
    long_without_memory();
    several_late();
    return 0;
}
