/* The network that tests take to be slow, disorderly and unreliable: short messages keep their order, each message arrives once and
 * whole, and what it spoils or lets fail is what LATERAL_FAULT says, at that PE and that call. */
#include "transport/around.c"

#include "unit/check.h"

#define next_random fault_random
#define transport_load_behind test_behind
static const char *test_behind(const char *outer, const struct transport **inner);

#include "transport/fault/plan.c"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>

/* What it says of itself goes here. */
static char said[200];

static int __attribute__((format(printf, 2, 3))) say(int fd, const char *format, ...)
{
    va_list arguments;
    CHECK(fd == STDERR_FILENO);
    va_start(arguments, format);
    const int bytes = vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return bytes;
}
#define dprintf say

#include "transport/fault/fault.c"

enum { MESSAGES = 300, ME = 3 };

/* --- The transport behind it */

static unsigned sent[MESSAGES], sends, receives;
static enum transport_status inner_status;
static void *inner_token;
static const struct transport_events *inner_events;
static bool inner_drained = true;

static const char *inner_open(const struct transport_events *told, int pe, int npes, unsigned onesided)
{
    CHECK(pe == ME && npes == 5 && onesided == 0);
    inner_events = told;
    return 0;
}

static const char *inner_open_lane(void *owner, void **lane)
{
    *lane = owner;
    return 0;
}

static int inner_address(void *lane, void *room, size_t *bytes)
{
    (void)lane, (void)room, (void)bytes;
    return 0;
}

static void *inner_connect(void *lane, int pe, const void *at, size_t bytes)
{
    (void)at, (void)bytes;
    return pe == 4 ? lane : 0;
}

static char byte_of(size_t number, size_t at)
{
    return (char)(number * 31 + at * 7);
}

static enum transport_status inner_send(void *peer, const void *header, size_t header_bytes, const void *data,
                                        size_t bytes, void *token)
{
    unsigned number;
    CHECK(peer && header_bytes == 16 && sends < MESSAGES);
    memcpy(&number, header, sizeof number);
    for (size_t i = 4; i < 16; i++)
        CHECK(((const char *)header)[i] == (char)i);
    for (size_t i = 0; i < bytes; i++)
        CHECK(((const char *)data)[i] == byte_of(number, i));
    sent[sends++] = number;
    inner_token = token;
    return inner_status;
}

static enum transport_status inner_receive(void *lane, void *rest, void *into, size_t bytes, void *token)
{
    CHECK(lane && rest == &sends && into == &receives && bytes == 77);
    receives++;
    inner_token = token;
    return inner_status;
}

static int inner_progress(void *lane)
{
    (void)lane;
    return 0;
}

static int inner_one(void *lane)
{
    (void)lane;
    return 1;
}

static int inner_descriptor(void *lane)
{
    (void)lane;
    return -1;
}

static int inner_is_drained(void *lane)
{
    (void)lane;
    return inner_drained;
}

static void inner_close(void) {}

static const struct transport behind = {.name = "behind",
                                        .open = inner_open,
                                        .open_lane = inner_open_lane,
                                        .address = inner_address,
                                        .connect = inner_connect,
                                        .send = inner_send,
                                        .receive = inner_receive,
                                        .progress = inner_progress,
                                        .descriptor = inner_descriptor,
                                        .arm = inner_one,
                                        .drained = inner_is_drained,
                                        .close = inner_close};

static const char *test_behind(const char *outer, const struct transport **found)
{
    CHECK(strcmp(outer, "fault") == 0);
    *found = &behind;
    return 0;
}

/* --- Events */

static unsigned ends, failures, breaks, arrivals;
static struct transport_message came[2];
static char came_header[2][64], came_data[2][64];
static bool done[MESSAGES];
static char headers[MESSAGES][16], *bodies[MESSAGES];

static void is_finished(void *token, int failed)
{
    ends++;
    failures += failed != 0;
    if ((bool *)token >= done && (bool *)token < done + MESSAGES) {
        const size_t number = (size_t)((bool *)token - done);
        CHECK(!done[number]);
        done[number] = true;
        memset(headers[number], 'x', 16);
    }
}

static void is_broken(void *owner, int pe, const char *why)
{
    CHECK(owner == &ends && pe == 4 && why[0]);
    breaks++;
}

static void has_arrived(void *owner, const struct transport_message *message)
{
    CHECK(owner == &ends && arrivals < 2);
    came[arrivals] = *message;
    memcpy(came_header[arrivals], message->header, message->header_bytes);
    if (message->data)
        memcpy(came_data[arrivals], message->data, message->bytes);
    arrivals++;
}

static const struct transport_events told = {has_arrived, is_finished, is_broken};
static void *lane, *peer;

static const char *begin(const char *settings)
{
    setenv("LATERAL_FAULT", settings, 1);
    ends = failures = breaks = sends = receives = 0;
    inner_status = TRANSPORT_DONE;
    memset(done, 0, sizeof done);
    const char *why = lateral_transport.open(&told, ME, 5, 7);
    if (why)
        return why;
    CHECK(!lateral_transport.open_lane(&ends, &lane));
    peer = lateral_transport.connect(lane, 4, "here", 4);
    return 0;
}

static int move_on(void)
{
    return lateral_transport.progress(lane);
}

static enum transport_status send_one(unsigned number, size_t bytes)
{
    memcpy(headers[number], &number, sizeof number);
    for (size_t i = 4; i < 16; i++)
        headers[number][i] = (char)i;
    for (size_t i = 0; i < bytes; i++)
        bodies[number][i] = byte_of(number, i);
    const enum transport_status status =
        lateral_transport.send(peer, headers[number], 16, bytes ? bodies[number] : 0, bytes, &done[number]);
    if (status == TRANSPORT_DONE)
        memset(headers[number], 'x', 16);
    return status;
}

/* --- Settings */

static void settings(void)
{
    static const char *const names[] = {"none", "open", "address", "connect", "send", "receive", "finish", "break"};
    struct fault_plan read;
    CHECK(!fault_plan_read(0, &read) && read.seed == 1 && read.hold == 50 && read.steps == 20 && read.pe == -1);
    CHECK(read.at == 1 && read.fails == 0 && read.mutate == 0);
    CHECK(!fault_plan_read("seed=9,hold=8,steps=7,pe=6,at=5,mutate=4", &read));
    CHECK(read.seed == 9 && read.hold == 8 && read.steps == 7 && read.pe == 6 && read.at == 5 && read.mutate == 4);
    CHECK(!fault_plan_read("seed=5000000000,hold=70001,steps=70002,pe=70003,at=5000000004,mutate=70005", &read));
    CHECK(read.seed == UINT64_C(5000000000) && read.hold == 70001 && read.steps == 70002 && read.pe == 70003);
    CHECK(read.at == UINT64_C(5000000004) && read.mutate == 70005);
    for (unsigned i = 0; i < 8; i++) {
        char text[32];
        snprintf(text, sizeof text, "fail=%s", names[i]);
        CHECK(!fault_plan_read(text, &read) && read.fails == i);
    }
    CHECK(strstr(fault_plan_read("fail=often", &read), "fail= takes open"));
    CHECK(strstr(fault_plan_read("at=", &read), "a number is missing"));
    CHECK(strstr(fault_plan_read("at=1x", &read), "a number is missing"));
    CHECK(strstr(fault_plan_read("that=1", &read), "takes seed"));
}

/* --- Delays and order */

static bool readable(void)
{
    struct pollfd file = {.fd = lateral_transport.descriptor(lane), .events = POLLIN};
    return poll(&file, 1, 0) == 1;
}

/* Nothing held back: a call of progress moves 16 things. */
static void steps(void)
{
    CHECK(!begin("hold=0"));
    CHECK(lateral_transport.arm(lane) == 1 && !readable() && lateral_transport.drained(lane));
    for (unsigned i = 0; i < 40; i++)
        CHECK(send_one(i, 600) == TRANSPORT_PENDING);
    CHECK(sends == 0 && readable() && lateral_transport.arm(lane) == 0 && !inner_token);
    CHECK(move_on() == 16 && sends == 16 && ends == 0);
    CHECK(!lateral_transport.drained(lane));
    int all = 32;
    for (int count; (count = move_on());)
        all += count;
    CHECK(all == 80 && sends == 40 && ends == 40 && failures == 0 && lateral_transport.arm(lane) == 1);
    CHECK(lateral_transport.drained(lane) && !readable());
    inner_drained = false;
    CHECK(!lateral_transport.drained(lane));
    inner_drained = true;
    inner_status = TRANSPORT_PENDING;
    CHECK(lateral_transport.receive(lane, &sends, &receives, 77, &done[1]) == TRANSPORT_PENDING && receives == 0);
    done[1] = false;
    CHECK(move_on() == 1 && receives == 1 && !done[1]);
    inner_events->finished(inner_token, 1);
    CHECK(!done[1] && move_on() == 1 && done[1] && failures == 1);
    inner_status = TRANSPORT_FAILED;
    CHECK(send_one(0, 600) == TRANSPORT_PENDING);
    done[0] = false;
    while (move_on())
        ;
    CHECK(done[0] && failures == 2);
    lateral_transport.close();
}

static void order(void)
{
    static const size_t sizes[] = {0, 8, 512, 513, 4096, TRANSPORT_SHORT, TRANSPORT_SHORT + 1};
    CHECK(!begin("seed=5,hold=60,steps=9"));
    unsigned at_once = 0, overtaken = 0, latest = 0;
    for (unsigned i = 0; i < MESSAGES; i++) {
        const enum transport_status status = send_one(i, sizes[i % 7]);
        CHECK(status == TRANSPORT_PENDING || (status == TRANSPORT_DONE && sizes[i % 7] <= 512));
        at_once += status == TRANSPORT_DONE;
        (void)move_on();
    }
    for (int i = 0; i < 3000; i++)
        (void)move_on();
    CHECK(sends == MESSAGES && ends == MESSAGES - at_once && at_once > 0 && at_once < MESSAGES / 2);
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (sizes[sent[i] % 7] <= TRANSPORT_SHORT)
            CHECK(sent[i] >= latest), latest = sent[i];
        else
            overtaken += sent[i] < latest;
    }
    CHECK(overtaken > 0);
    lateral_transport.close();
}

/* --- What fails: the call of that number, of that kind, at that PE */

static void fails_once(void)
{
    CHECK(strcmp(begin("hold=0,fail=open"), "the test wants it so") == 0);
    CHECK(!begin("hold=0,fail=open,pe=2"));
    lateral_transport.close();
    CHECK(strcmp(begin("hold=0,fail=open,pe=3"), "the test wants it so") == 0);
    CHECK(!begin("hold=0,fail=address,at=2"));
    CHECK(lateral_transport.address(lane, 0, 0) == 0 && lateral_transport.address(lane, 0, 0) == -1);
    CHECK(lateral_transport.address(lane, 0, 0) == 0 && send_one(0, 8) != TRANSPORT_FAILED);
    while (move_on())
        ;
    lateral_transport.close();
    CHECK(!begin("hold=0,fail=connect") && !peer && lateral_transport.connect(lane, 4, "here", 4));
    CHECK(!lateral_transport.connect(lane, 2, "here", 4));
    lateral_transport.close();
    CHECK(!begin("hold=0,fail=send,at=2,pe=3"));
    CHECK(send_one(0, 600) == TRANSPORT_PENDING && send_one(1, 600) == TRANSPORT_FAILED);
    CHECK(strcmp(said, "fault: PE 3: LATERAL_FAULT=hold=0,fail=send,at=2,pe=3\n") == 0);
    CHECK(send_one(2, 600) == TRANSPORT_PENDING && move_on() == 4 && sends == 2 && sent[1] == 2);
    lateral_transport.close();
    CHECK(!begin("hold=0,fail=receive"));
    CHECK(lateral_transport.receive(lane, &sends, &receives, 77, &done[1]) == TRANSPORT_FAILED);
    CHECK(lateral_transport.receive(lane, &sends, &receives, 77, &done[1]) == TRANSPORT_PENDING);
    while (move_on())
        ;
    lateral_transport.close();
    CHECK(!begin("hold=0,fail=finish,at=2"));
    for (unsigned i = 0; i < 3; i++)
        CHECK(send_one(i, 600) == TRANSPORT_PENDING);
    while (move_on())
        ;
    CHECK(sends == 2 && ends == 3 && failures == 1 && breaks == 1);
    lateral_transport.close();
    CHECK(!begin("hold=0,fail=break,at=2"));
    CHECK(send_one(0, 600) == TRANSPORT_PENDING && move_on() && !breaks && send_one(1, 600) == TRANSPORT_PENDING);
    CHECK(lateral_transport.arm(lane) == 0 && move_on() && breaks == 1);
    while (move_on())
        ;
    CHECK(breaks == 1);
    inner_events->broken(lane, 4, "lost");
    CHECK(breaks == 2);
    lateral_transport.close();
}

/* --- What is spoiled */

static unsigned bits_apart(const char *one, const char *other, size_t bytes)
{
    unsigned bits = 0;
    for (size_t i = 0; i < bytes; i++)
        bits += (unsigned)__builtin_popcount((unsigned char)(one[i] ^ other[i]));
    return bits;
}

static unsigned bytes_apart(const char *one, const char *other, size_t bytes)
{
    unsigned apart = 0;
    for (size_t i = 0; i < bytes; i++)
        apart += one[i] != other[i];
    return apart;
}

static unsigned flipped_header, flipped_data, cut, repeated, forged;
static unsigned most_forged; /* bytes of one message */

/* Which of them it is; anything else is a fault of the network. */
static void judge(const char *header, size_t header_bytes, const char *data, size_t bytes)
{
    const unsigned in_header = bits_apart(came_header[0], header, came[0].header_bytes);
    const unsigned in_data = data ? bits_apart(came_data[0], data, came[0].bytes) : 0;
    const bool whole = came[0].header_bytes == header_bytes && came[0].bytes == bytes;
    if (arrivals == 2) {
        CHECK(data && whole && !in_header && !in_data && came[1].bytes == bytes && came[1].data == data);
        repeated++;
    } else if (!whole) {
        CHECK(!in_header && !in_data && came[0].bytes <= bytes && came[0].header_bytes <= header_bytes);
        CHECK((data && bytes) == (came[0].header_bytes == header_bytes));
        cut++;
    } else if (in_header + in_data == 1) {
        flipped_header += in_header;
        flipped_data += in_data;
    } else if (in_header) {
        CHECK(!in_data && !bits_apart(came_header[0], header, 8));
        const unsigned bytes_forged = bytes_apart(came_header[0], header, header_bytes);
        if (bytes_forged > most_forged)
            most_forged = bytes_forged;
        forged++;
    } else {
        CHECK(!data && !in_data); /* one that is still at its sender does not come twice */
    }
}

static void spoil(void)
{
    static char header[40], data[5] = "data";
    static int rest;
    CHECK(!begin("mutate=10000,seed=3"));
    for (unsigned i = 0; i < 3000; i++) {
        const bool later = i % 3 == 0, empty = i % 3 == 1;
        const struct transport_message message = {.header = header,
                                                  .header_bytes = sizeof header,
                                                  .data = later ? 0 : data,
                                                  .bytes = empty ? 0 : sizeof data,
                                                  .rest = later ? &rest : 0};
        for (size_t k = 0; k < sizeof header; k++)
            header[k] = (char)(k + i);
        arrivals = 0;
        inner_events->arrived(lane, &message);
        CHECK(arrivals >= 1 && came[0].rest == message.rest && !came[0].data == !message.data);
        CHECK(strstr(said, "fault: PE 3: a message is "));
        judge(header, sizeof header, message.data, message.bytes);
    }
    CHECK(flipped_header > 400 && flipped_data > 20 && cut > 300 && repeated > 200 && forged > 300);
    CHECK(most_forged == 16);
    lateral_transport.close();
    for (int pe = 2; pe <= ME; pe++) {
        static const char *const at[] = {"mutate=10000,pe=2", "mutate=10000,pe=3"};
        unsigned changed = 0;
        CHECK(!begin(at[pe - 2]));
        for (int i = 0; i < 20; i++) {
            const struct transport_message message = {.header = header, .header_bytes = sizeof header};
            arrivals = 0;
            inner_events->arrived(lane, &message);
            changed += came[0].header != header;
        }
        CHECK(changed == (pe == ME ? 20 : 0));
        lateral_transport.close();
    }
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(void)
{
    for (unsigned i = 0; i < MESSAGES; i++)
        CHECK((bodies[i] = malloc(TRANSPORT_SHORT + 1)));
    const int before = open_files();
    settings();
    steps();
    order();
    fails_once();
    CHECK(open_files() == before); /* all lanes are closed */
    spoil();
    for (unsigned i = 0; i < MESSAGES; i++)
        free(bodies[i]);
    return 0;
}
