/* The network that delays and spoils, step by step: when what it holds back moves on and in which order, which bits and bytes of a message
 * it spoils, when a sleeper wakes up, and what a run with a seed repeats. What it promises on the whole: faulty.c. */
#include "../owned.h"

#include "transport/around.h"
#include "transport/fault/fault.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

static void *malloc_or_null(size_t bytes) /* as the standard permits */
{
    return bytes ? owned_malloc(bytes) : 0;
}

#define dprintf say
#define next_random fault_random
#define abort() owned_fail("no memory")
#undef malloc
#define malloc malloc_or_null

#include "transport/fault/fault.c"
#undef abort
#undef next_random

/* --- The transport behind it, and its settings */

static struct fault_plan wanted;
static const char *wrong; /* with them */
static const char *no_lane;
static const struct transport_events *inner_events;
static int pipes[2]; /* the first is the descriptor behind it */
static unsigned loads, opens, closes, looks;
static int inner_count;
static bool no_peer, inner_armed = true, inner_drained = true;
static enum transport_status inner_answer;
static const struct transport *behind;

enum { SENT = 64 };
static struct sent {
    const void *header, *data;
    size_t header_bytes, bytes;
    void *token, *peer;
    char copy[8]; /* of the header */
} all_sent[SENT];
static unsigned nsent;
static struct {
    void *rest, *into, *token;
    size_t bytes;
    unsigned count;
} fetched;

const char *fault_plan_read(const char *text, struct fault_plan *read)
{
    CHECK(strcmp(text, "the settings") == 0);
    *read = wanted;
    return wrong;
}

const char *transport_load_behind(const char *outer, const struct transport **found)
{
    CHECK(strcmp(outer, "fault") == 0);
    loads++;
    *found = behind;
    return 0;
}

static const char *inner_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    CHECK(pe == me && npes == 5 && onesided == 0);
    inner_events = to;
    opens++;
    return 0;
}

static const char *inner_open_lane(void *owner, void **made)
{
    *made = owner;
    return no_lane;
}

static int inner_address(void *of, void *room, size_t *bytes)
{
    CHECK(of == lanes && room == said && *bytes == 9);
    return 6;
}

static void *inner_connect(void *from, int pe, const void *at, size_t bytes)
{
    CHECK(from == lanes && pe == 4 && strcmp(at, "here") == 0 && bytes == 5);
    return no_peer ? 0 : from;
}

static enum transport_status inner_send(void *to, const void *header, size_t header_bytes, const void *data,
                                        size_t bytes, void *token)
{
    CHECK(nsent < SENT && header_bytes <= 8);
    all_sent[nsent] = (struct sent){header, data, header_bytes, bytes, token, to, ""};
    memcpy(all_sent[nsent++].copy, header, header_bytes);
    return inner_answer;
}

static enum transport_status inner_receive(void *on, void *rest, void *dest, size_t bytes, void *token)
{
    CHECK(on == lanes);
    fetched.rest = rest;
    fetched.into = dest;
    fetched.bytes = bytes;
    fetched.token = token;
    fetched.count++;
    return inner_answer;
}

static int inner_progress(void *of)
{
    CHECK(of == lanes);
    looks++;
    return inner_count;
}

static int inner_descriptor(void *of)
{
    CHECK(of != 0);
    return pipes[0];
}

static int inner_arm(void *of)
{
    CHECK(of == lanes);
    return inner_armed;
}

static int inner_is_drained(void *of)
{
    CHECK(of == lanes);
    return inner_drained;
}

static void inner_close(void)
{
    closes++;
}

/* --- Events */

static unsigned ends, breaks, arrivals;
static void *ended, *owner_told;
static int end_failed;
static void (*then)(void);
static struct transport_message came[2];
static char came_header[2][64], came_data[2][64];

static void is_finished(void *token, int failed)
{
    void (*const now)(void) = then;
    ends++;
    ended = token;
    end_failed = failed;
    then = 0;
    if (now)
        now();
}

static void is_broken(void *of, int pe, const char *why)
{
    CHECK(pe == 4 && strcmp(why, "the test wants it so") == 0);
    owner_told = of;
    breaks++;
}

static void has_arrived(void *of, const struct transport_message *message)
{
    CHECK(arrivals < 2);
    owner_told = of;
    came[arrivals] = *message;
    memcpy(came_header[arrivals], message->header, message->header_bytes);
    if (message->data)
        memcpy(came_data[arrivals], message->data, message->bytes);
    arrivals++;
}

static const struct transport_events told = {has_arrived, is_finished, is_broken};

/* --- A life with one lane and one peer */

static const struct transport *const fault = &lateral_transport;
static void *lane_made;
static struct lane *mine;
static struct peer *peer;
static int owner;

static void begin(struct fault_plan settings, int pe)
{
    static const struct transport made = {.name = "behind",
                                          .open = inner_open,
                                          .open_lane = inner_open_lane,
                                          .address = inner_address,
                                          .connect = inner_connect,
                                          .send = inner_send,
                                          .receive = inner_receive,
                                          .progress = inner_progress,
                                          .descriptor = inner_descriptor,
                                          .arm = inner_arm,
                                          .drained = inner_is_drained,
                                          .close = inner_close};
    behind = &made;
    wanted = settings;
    inner_answer = TRANSPORT_DONE;
    ends = breaks = arrivals = looks = nsent = fetched.count = 0;
    CHECK(!fault->open(&told, pe, 5, 7) && !fault->open_lane(&owner, &lane_made));
    mine = lane_made;
    peer = fault->connect(mine, 4, "here", 5);
    CHECK(peer != 0);
}

static void finish(void)
{
    CHECK(!mine->first && !peer->first);
    closes = 0;
    fault->close();
    CHECK(closes == 1 && owned_count == 0);
}

static bool only_end(const void *token, bool failed)
{
    const bool one = ends == 1 && ended == token && (end_failed != 0) == failed;
    ends = 0;
    return one;
}

static bool readable(void)
{
    struct pollfd file = {.fd = fault->descriptor(mine), .events = POLLIN};
    return poll(&file, 1, 0) == 1;
}

/* What the generator draws next suits. The function may draw from its copy. */
static void draw_until(bool (*suits)(uint64_t *state))
{
    for (uint64_t state = mine->random; !suits(&state); state = mine->random)
        (void)next_random(&mine->random);
}

#include "fault_steps_held.h"

#include "fault_steps_lanes.h"

#include "fault_steps_spoiled.h"

int main(void)
{
    setenv("LATERAL_FAULT", "the settings", 1);
    CHECK(pipe(pipes) == 0);
    opens_or_not();
    fails_in_the_end();
    lives();
    held();
    spoiled();
    close(pipes[0]);
    close(pipes[1]);
    return 0;
}
