/* What the TCP module publishes of this host: the ways that it has found, or loopback where there is none. And how lanes of one process
 * connect to each other and to themselves: by one connection, whoever calls, which is gone when they are closed. */
#include "../../src/transport/tcp/tcp.c"

#include "unit/check.h"

#include <fcntl.h>
#include <string.h>

static int found; /* ways; -1: the chosen interface is not there */

bool __wrap_ways_find(struct socket_place *mine);
bool __wrap_ways_find(struct socket_place *mine)
{
    mine->ways = found > 0 ? (uint8_t)found : 0;
    for (int i = 0; i < found; i++)
        mine->way[i].address[0] = (unsigned char)(10 + i);
    return found >= 0;
}

static unsigned arrivals, ends, failures, breaks;
static void *arrived_at;
static char text[64];

static void has_arrived(void *owner, const struct transport_message *message)
{
    CHECK(message->header_bytes == 4 && memcmp(message->header, "head", 4) == 0 && !message->rest);
    CHECK(message->bytes < sizeof text);
    memcpy(text, message->data, message->bytes);
    text[message->bytes] = 0;
    arrived_at = owner;
    arrivals++;
}

static void has_finished(void *token, int failed)
{
    CHECK(token == text);
    ends++;
    failures += failed != 0;
}

static void is_broken(void *owner, int pe, const char *why)
{
    CHECK(owner && pe == tcp_me && why[0]);
    breaks++;
}

static const struct transport_events told = {has_arrived, has_finished, is_broken};

static const char *open_with(int ways)
{
    found = ways;
    return tcp_open(&told, 1, 2, 0);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* --- Two lanes of a process whose number takes more than 16 bits */

enum { ME = 70001, PES = 70010 };
static int owners[2];
static void *lane[2];
static struct tcp_address address[2];

static void open_lanes(void)
{
    found = 0;
    CHECK(!tcp_open(&told, ME, PES, 0));
    for (int i = 0; i < 2; i++) {
        size_t bytes = sizeof address[i];
        CHECK(!tcp_open_lane(&owners[i], &lane[i]) && tcp_address(lane[i], &address[i], &bytes) == 0);
        CHECK(bytes == sizeof address[i] && address[i].place.port && address[i].place.ways == 1 && address[i].id);
        bytes--;
        CHECK(tcp_address(lane[i], text, &bytes) == -1 && bytes == sizeof address[i]);
        CHECK(((struct lane *)lane[i])->door.places == 32 + PES && ((struct lane *)lane[i])->door.seconds == 20);
    }
    CHECK(address[0].id != address[1].id);
    arrivals = ends = failures = breaks = 0;
}

static void *connect_to(int from, int to)
{
    return tcp_connect(lane[from], ME, &address[to], sizeof address[to]);
}

static int look_at_lanes(void)
{
    int found_some = 0;
    for (int i = 0; i < 2; i++)
        found_some |= tcp_progress(lane[i]);
    return found_some;
}

/* Sends a word, and looks until it is there. */
static void say(void *to, int at, const char *word)
{
    const unsigned before = arrivals;
    const enum transport_status status = tcp_send(to, "head", 4, word, strlen(word), text);
    CHECK(status == TRANSPORT_DONE || status == TRANSPORT_PENDING);
    const unsigned ended = ends;
    for (int i = 0; arrivals == before && i < 10000000; i++)
        (void)look_at_lanes();
    CHECK(arrivals == before + 1 && strcmp(text, word) == 0 && arrived_at == &owners[at]);
    for (int i = 0; i < 64; i++)
        (void)look_at_lanes();
    CHECK(ends == ended + (status == TRANSPORT_PENDING) && !failures && tcp_drained(lane[0]) && tcp_drained(lane[1]));
}

static size_t peers_of(int i)
{
    size_t count = 0;
    for (const struct peer *peer = ((struct lane *)lane[i])->peers; peer; peer = peer->next)
        count++;
    return count;
}

static void one_calls(void)
{
    open_lanes();
    void *there = connect_to(0, 1);
    CHECK(there && connect_to(0, 1) == there && peers_of(0) == 1 && peers_of(1) == 0);
    say(there, 1, "to the other");
    CHECK(peers_of(1) == 1);
    void *back = connect_to(1, 0); /* by the same connection */
    CHECK(back && back == ((struct lane *)lane[1])->peers && peers_of(1) == 1);
    say(back, 0, "and back");
    say(there, 1, "again");
    tcp_close();
}

static void both_call(void)
{
    for (int first = 0; first < 2; first++) {
        open_lanes();
        void *to[2];
        to[first] = connect_to(first, 1 - first);
        to[1 - first] = connect_to(1 - first, first);
        CHECK(to[0] && to[1] && peers_of(0) == 1 && peers_of(1) == 1);
        say(to[0], 1, "one");
        say(to[1], 0, "two");
        say(to[0], 1, "three");
        CHECK(peers_of(0) == 1 && peers_of(1) == 1 && !((struct peer *)to[0])->call && !((struct peer *)to[1])->call);
        tcp_close();
    }
}

static void to_itself(void)
{
    open_lanes();
    void *self = connect_to(0, 0);
    CHECK(self && peers_of(0) == 2 && connect_to(0, 0) && peers_of(0) == 2);
    say(self, 0, "to myself");
    tcp_close();
}

/* Addresses that lead nowhere. */
static void nowhere(void)
{
    open_lanes();
    CHECK(!tcp_connect(lane[0], ME, &address[1], sizeof address[1] - 1));
    struct tcp_address many = address[1];
    many.place.ways = SOCKET_WAYS + 1;
    CHECK(!tcp_connect(lane[0], ME, &many, sizeof many));
    many.place.ways = 0;
    CHECK(!tcp_connect(lane[0], ME, &many, sizeof many));
    struct tcp_address wrong = address[1];
    wrong.key[1]++; /* nobody there knows it */
    wrong.id++;
    CHECK(tcp_connect(lane[0], ME, &wrong, sizeof wrong));
    for (int i = 0; !breaks && i < 10000000; i++)
        (void)look_at_lanes();
    CHECK(breaks == 1);
    callers_wait(lane[0]);
    CHECK(breaks == 2);
    tcp_close();
}

int main(void)
{
    static const unsigned char loopback[] = {127, 0, 0, 1};
    CHECK(!open_with(0) && here.ways == 1 && !here.way[0].six && memcmp(here.way[0].address, loopback, 4) == 0);
    CHECK(!open_with(1) && here.ways == 1 && here.way[0].address[0] == 10);
    CHECK(!open_with(2) && here.ways == 2 && here.way[0].address[0] == 10 && here.way[1].address[0] == 11);
    CHECK(tcp_me == 1 && tcp_npes == 2);
    const char *why = open_with(-1);
    CHECK(why && strstr(why, "LATERAL_INTERFACE names no network interface"));
    const int before = open_files();
    one_calls();
    both_call();
    to_itself();
    nowhere();
    CHECK(open_files() == before && !lanes);
    return 0;
}
