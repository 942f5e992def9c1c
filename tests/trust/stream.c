/* Messages through a TCP connection that takes and brings bytes as it likes: of all sizes around the bounds of buffers, in
 * pieces of any length, with long data that is placed at once, later, or when all is there. Each arrives once, in order and
 * whole, and its memory is the sender's until the transport says so. */
#include "../../src/transport/tcp/in.c"
#include "../../src/transport/tcp/late.c"
#include "../../src/transport/tcp/out.c"

#include "unit/check.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { MESSAGES = 400, AT_PLACE = 3 };

struct message {
    char *header, *data; /* of the sender; overwritten once it has left */
    size_t header_bytes, bytes;
    bool left, arrived, whole;
    char *place; /* of the receiver */
    void *rest;
};

int tcp_me, tcp_npes = 2;
static struct message all[MESSAGES];
static size_t next_arrival, whole, finished_sends;
static struct lane lane; /* of the receiver */
static int ends, error_of_end;
static uint64_t seed = 1;

void tcp_peer_broken(struct peer *peer, int error)
{
    CHECK(peer->pe == 1);
    ends++;
    error_of_end = error;
    peer->fd = -1;
}

void tcp_peer_watch(struct peer *peer)
{
    const bool wants = peer->first && peer->fd >= 0;
    CHECK(peer->fd < 0 || peer->blocked != wants); /* it is asked for a change alone */
    peer->blocked = wants;
}

static char byte_of(size_t number, size_t at)
{
    return (char)(number * 31 + at * 7 + at / 251);
}

static void check_bytes(const char *bytes, size_t count, size_t number)
{
    size_t same = 0;
    while (same < count && bytes[same] == byte_of(number, same))
        same++;
    CHECK(same == count);
}

static void make(size_t number, size_t header_bytes, size_t bytes)
{
    struct message *message = &all[number];
    *message = (struct message){.header_bytes = header_bytes, .bytes = bytes};
    message->header = malloc(header_bytes + 1);
    message->data = malloc(bytes + 1);
    for (size_t i = 0; i < header_bytes; i++)
        message->header[i] = byte_of(number + 1, i);
    for (size_t i = 0; i < bytes; i++)
        message->data[i] = byte_of(number, i);
}

static void leave(struct message *message)
{
    CHECK(!message->left);
    message->left = true;
    memset(message->header, 'x', message->header_bytes);
    memset(message->data, 'x', message->bytes);
    finished_sends++;
}

static void is_whole(struct message *message)
{
    CHECK(message->arrived && !message->whole);
    message->whole = true;
    check_bytes(message->place, message->bytes, (size_t)(message - all));
    CHECK(message->place[message->bytes] == 'e');
    whole++;
}

/* Tokens of receives lie one byte behind those of sends. */
static void finished(void *token, int failed)
{
    const uintptr_t at = (uintptr_t)token - (uintptr_t)all;
    struct message *message = &all[at / sizeof *all];
    CHECK(!failed);
    if (at % sizeof *all)
        is_whole(message);
    else
        leave(message);
}

static void place(struct message *message)
{
    void *rest = message->rest;
    message->place = malloc(message->bytes + 1);
    message->place[message->bytes] = 'e';
    message->rest = 0;
    if (tcp_receive(&lane, rest, message->place, message->bytes, (char *)message + 1) == TRANSPORT_DONE)
        is_whole(message);
}

static void arrived(void *owner, const struct transport_message *told)
{
    struct message *message = &all[next_arrival];
    CHECK(owner == &lane && next_arrival < MESSAGES);
    CHECK(told->header_bytes == message->header_bytes && told->bytes == message->bytes);
    check_bytes(told->header, told->header_bytes, next_arrival + 1);
    message->arrived = true;
    message->rest = told->rest;
    CHECK((told->rest != 0) == (told->bytes > TRANSPORT_SHORT));
    if (!told->rest) {
        check_bytes(told->data, told->bytes, next_arrival);
        message->whole = true;
        whole++;
    } else if (next_arrival % AT_PLACE == 0) {
        place(message);
    }
    next_arrival++;
}

static const struct transport_events events = {.arrived = arrived, .finished = finished};
const struct transport_events *tcp_events = &events;

/* Moves up to so many bytes from one connection to the other, which its reader empties meanwhile. */
static void relay(int from, int to, size_t most, struct peer *reader)
{
    static char bytes[TCP_BUFFER * 2];
    const ssize_t got = recv(from, bytes, most < sizeof bytes ? most : sizeof bytes, MSG_DONTWAIT);
    for (ssize_t at = 0; at < got;) {
        const ssize_t sent = send(to, bytes + at, (size_t)(got - at), MSG_DONTWAIT);
        CHECK(sent > 0 || errno == EAGAIN);
        at += sent > 0 ? sent : 0;
        while (tcp_read(reader))
            ;
    }
}

static size_t some_size(void)
{
    static const size_t sizes[] = {0,
                                   1,
                                   7,
                                   960,
                                   968,
                                   969,
                                   1024,
                                   4096,
                                   TRANSPORT_SHORT - 1,
                                   TRANSPORT_SHORT,
                                   TRANSPORT_SHORT + 1,
                                   TCP_BUFFER - 56,
                                   TCP_BUFFER,
                                   TCP_BUFFER + 1,
                                   300000};
    const uint64_t random = next_random(&seed);
    return random % 3 ? sizes[random / 3 % 8] : sizes[random / 3 % (sizeof sizes / sizeof *sizes)];
}

static void test_all(size_t largest_step)
{
    static const size_t headers[] = {48, 0, 1, 48, TCP_HEADER};
    int front[2], back[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, front) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, back) == 0);
    struct lane from = {.owner = 0};
    lane = (struct lane){.owner = &lane, .buffer = malloc(TCP_BUFFER)};
    struct peer sender = {.lane = &from, .pe = 1, .fd = -1}, receiver = {.lane = &lane, .pe = 1, .fd = back[1]};
    sender.last = &sender.first;
    next_arrival = whole = finished_sends = 0;
    size_t sent = 0, late = 0, pushed = 0, at_once = 0;
    while (whole < MESSAGES) {
        for (size_t burst = next_random(&seed) % 24; burst && sent < MESSAGES; burst--, sent++) {
            make(sent, headers[next_random(&seed) % 5], some_size());
            struct message *message = &all[sent];
            const enum transport_status status =
                tcp_send(&sender, message->header, message->header_bytes, message->data, message->bytes, message);
            CHECK(status == TRANSPORT_DONE || status == TRANSPORT_PENDING);
            CHECK(sent > 10 || status == TRANSPORT_PENDING); /* not connected yet */
            if (status == TRANSPORT_DONE)
                leave(message);
            at_once += status == TRANSPORT_DONE;
        }
        if (sender.fd < 0 && sent > 10) {
            sender.fd = dup2(front[0], STDIN_FILENO); /* a connection, too, where a program has closed its input */
            CHECK(sender.fd == 0);
        }
        pushed += (size_t)tcp_push(&sender);
        CHECK(from.queued == sent - finished_sends && (sender.first != 0) == (from.queued != 0));
        CHECK(pushed + at_once == finished_sends);
        for (int i = 0; i < 20; i++)
            relay(front[1], back[0], 1 + next_random(&seed) % largest_step, &receiver);
        for (; late < next_arrival && (next_random(&seed) % 4 || next_arrival == MESSAGES); late++)
            if (all[late].rest)
                place(&all[late]);
    }
    CHECK(sent == MESSAGES && finished_sends == MESSAGES && next_arrival == MESSAGES && !ends);
    CHECK(!from.queued && !sender.first && !sender.blocked && !receiver.part && !receiver.rest && !lane.late);
    for (size_t i = 0; i < MESSAGES; i++) {
        CHECK(all[i].left && all[i].whole);
        free(all[i].header);
        free(all[i].data);
        free(all[i].place);
    }
    for (struct out *out; (out = from.idle); free(out))
        from.idle = out->next;
    for (int i = 0; i < 2; i++) {
        close(front[i]);
        close(back[i]);
    }
    free(lane.buffer);
    free(lane.spare);
}

/* A header longer than any ends the connection; so does a reader that has gone. */
static void test_ends(void)
{
    for (size_t bytes = TCP_HEADER; bytes <= TCP_HEADER + 1; bytes++) {
        int pair[2];
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        lane = (struct lane){.owner = &lane, .buffer = malloc(TCP_BUFFER)};
        struct peer receiver = {.lane = &lane, .pe = 1, .fd = pair[1]};
        const uint64_t word = TCP_WORD(0, bytes);
        CHECK(write(pair[0], &word, sizeof word) == sizeof word);
        ends = 0;
        (void)tcp_read(&receiver);
        CHECK(ends == (bytes > TCP_HEADER) && (!ends || error_of_end == EBADMSG));
        close(pair[0]);
        close(pair[1]);
        free(receiver.part);
        free(lane.buffer);
        free(lane.spare);
    }
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct lane from = {.owner = 0};
    struct peer sender = {.lane = &from, .pe = 1, .fd = -1};
    sender.last = &sender.first;
    CHECK(tcp_send(&sender, "h", 1, "d", 1, all) == TRANSPORT_PENDING);
    sender.fd = pair[0];
    close(pair[1]);
    ends = 0;
    CHECK(tcp_push(&sender) == 0 && ends == 1 && error_of_end == EPIPE && !sender.blocked);
    free(sender.first);
    sender.first = 0;
    sender.fd = pair[0];
    CHECK(tcp_send(&sender, "h", 1, "d", 1, all) == TRANSPORT_FAILED);
    close(pair[0]);
    ends = 0;
}

/* Data that nobody has placed goes with its lane. */
static void test_close(void)
{
    lane = (struct lane){0};
    for (int i = 0; i < 3; i++) {
        struct late *late = tcp_late_begin(&lane, 100);
        CHECK(late && tcp_late_keep(late) && late->to == late->own && lane.late == late);
    }
    tcp_late_close(&lane);
    CHECK(!lane.late);
}

int main(void)
{
    static const size_t steps[] = {TCP_BUFFER * 2, 40000, 5000, 300};
    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        test_all(steps[i]);
    test_ends();
    test_close();
    return 0;
}
