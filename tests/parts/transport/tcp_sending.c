/* Sending over TCP (out.c), call by call: which messages are copied, what the kernel is given, what waits and in which order it leaves,
 * which failures end a connection. The kernel takes what the test says. Whole streams: trust/stream. */
#include "tcp_sending_kernel.h"

#include "transport/tcp/out.c"

#undef send

enum { PE = 70005 };

static struct lane lane;
static struct peer peer;
static char header[4096], data[40000];

static const char *token(int number)
{
    return &data[number];
}

/* The next message is sent while the queue is emptied. */
static bool sends_more;

static void has_finished(void *of, int failed)
{
    CHECK(failed == 0);
    note("finished %d;", (int)((const char *)of - data));
    if (sends_more) {
        sends_more = false;
        CHECK(tcp_send(&peer, header, 1, data, 1, (void *)(uintptr_t)token(99)) == TRANSPORT_PENDING);
    }
}

static const struct transport_events told = {.finished = has_finished};

static void set_takes(long first, long second, long third)
{
    takes[0] = first, takes[1] = second, takes[2] = third, take_at = 0;
    for (int i = 3; i < 20; i++)
        takes[i] = -EAGAIN;
}

static void start(int fd)
{
    CHECK(did("") && owned_count == 0);
    lane = (struct lane){0};
    peer = (struct peer){.lane = &lane, .pe = PE, .fd = fd};
    peer.last = &peer.first;
    on_wire = 0;
    tcp_events = &told;
    set_takes(FULL, FULL, FULL);
}

static void end(void)
{
    while (peer.first) {
        struct out *out = peer.first;
        peer.first = out->next;
        free(out);
    }
    while (lane.idle) {
        struct out *out = lane.idle;
        lane.idle = out->next;
        free(out);
    }
    traced[0] = 0;
    CHECK(owned_count == 0);
}

static enum transport_status say(size_t header_bytes, size_t bytes, int number)
{
    return tcp_send(&peer, header, header_bytes, bytes ? data : 0, bytes, (void *)(uintptr_t)token(number));
}

/* The wire bears this message at this place, up to `until`. Returns where the next one begins. */
static size_t is_on_wire(size_t at, size_t header_bytes, size_t bytes)
{
    const uint64_t word = (uint64_t)bytes << 16 | header_bytes;
    CHECK(on_wire >= at + 8 + header_bytes + bytes && memcmp(wire + at, &word, 8) == 0);
    CHECK(memcmp(wire + at + 8, header, header_bytes) == 0);
    CHECK(memcmp(wire + at + 8 + header_bytes, data, bytes) == 0);
    return at + 8 + header_bytes + bytes;
}

/* Up to 1 KiB in all are copied together, header, data or both. */
static void whole(void)
{
    static const size_t sizes[][2] = {{0, 0}, {1, 0}, {0, 1}, {5, 3}, {1016, 0}, {0, 1016}, {500, 516}};
    static const size_t longer[][2] = {{1017, 0}, {0, 1017}, {500, 517}, {4096, 40000}};
    for (int fd = 0; fd < 2; fd++) {
        start(fd);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char calls[50];
            snprintf(calls, sizeof calls, "send %d %zu;", fd, 8 + sizes[i][0] + sizes[i][1]);
            on_wire = 0, take_at = 0;
            CHECK(say(sizes[i][0], sizes[i][1], 1) == TRANSPORT_DONE && did(calls));
            CHECK(is_on_wire(0, sizes[i][0], sizes[i][1]) == on_wire);
        }
        for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
            char calls[50];
            snprintf(calls, sizeof calls, "sendmsg %d 3 %zu;", fd, 8 + longer[i][0] + longer[i][1]);
            on_wire = 0, take_at = 0;
            CHECK(say(longer[i][0], longer[i][1], 1) == TRANSPORT_DONE && did(calls));
            CHECK(is_on_wire(0, longer[i][0], longer[i][1]) == on_wire);
        }
        CHECK(!peer.first && lane.queued == 0);
        end();
    }
}

/* The kernel has no room, or is interrupted: the message waits. Another error: it fails, and nothing waits. */
static void errors(void)
{
    static const int later[] = {EAGAIN, EINTR, ENOBUFS};
    static const int lost[] = {EPIPE, ECONNRESET, EPERM, EBADF};
    for (int big = 0; big < 2; big++) {
        const char *calls = big ? "sendmsg 3 3 2013;" : "send 3 13;";
        char watched[50];
        snprintf(watched, sizeof watched, "%swatch 3;", calls);
        for (int i = 0; i < 3; i++) {
            start(3);
            set_takes(-later[i], 0, 0);
            CHECK(say(big ? 2000 : 0, 5, 1) == TRANSPORT_PENDING && did(watched));
            CHECK(peer.first && peer.left == 0 && lane.queued == 1 && peer.blocked);
            end();
        }
        start(3);
        set_takes(0, 0, 0);
        CHECK(say(big ? 2000 : 0, 5, 1) == TRANSPORT_PENDING && did(watched) && peer.left == 0);
        end();
        for (int i = 0; i < 4; i++) {
            start(3);
            set_takes(-lost[i], 0, 0);
            CHECK(say(big ? 2000 : 0, 5, 1) == TRANSPORT_FAILED && did(calls) && !peer.first && lane.queued == 0);
            end();
        }
    }
}

/* Part of a message leaves, by any bytes; the rest goes when there is room. */
static void parts(void)
{
    for (long gone = 1; gone < 31; gone++) {
        start(0);
        set_takes(gone, 1, FULL);
        CHECK(say(10, 13, 7) == TRANSPORT_PENDING && did("send 0 31;watch 0;"));
        CHECK(peer.left == (size_t)gone && lane.queued == 1 && peer.first->token == token(7) && !peer.first->next);
        CHECK(peer.last == &peer.first->next && peer.blocked);
        char calls[100];
        const int ended = gone < 30
                              ? snprintf(calls, sizeof calls, "sendmsg 0 3 %ld;sendmsg 0 3 %ld;", 31 - gone, 30 - gone)
                              : snprintf(calls, sizeof calls, "sendmsg 0 3 1;");
        snprintf(calls + ended, sizeof calls - (size_t)ended, "finished 7;watch 0;");
        CHECK(tcp_push(&peer) == 1 && did(calls));
        CHECK(!peer.first && peer.last == &peer.first && peer.left == 0 && lane.queued == 0 && !peer.blocked);
        CHECK(is_on_wire(0, 10, 13) == on_wire && lane.idle && !lane.idle->next);
        CHECK(tcp_push(&peer) == 0 && did("")); /* nothing is left */
        end();
    }
}

#include "tcp_sending_queue.h"

int main(void)
{
    for (size_t i = 0; i < sizeof header; i++)
        header[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 11 + i / 253 + 1);
    whole();
    errors();
    parts();
    not_connected();
    order();
    several_at_once();
    no_memory();
    more_meanwhile();
    lost();
    return 0;
}
