/* The life of the links between nodes: what the network is told when it opens, what must work for a job to start, how many files the
 * process may have, who looks at the lanes meanwhile, and the order in which all of it ends. */
#include "carrier.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/poll.h"
#include "uccs/core/progress.h"
#include "uccs/core/reach.h"
#include "uccs/link/news.h"
#include "uccs/object/tell.h"

#include <stdarg.h>
#include <sys/resource.h>

/* --- What open.c and thread.c call, in the order of the calls */

static char calls[64]; /* a letter for each */
static char line[300];
static struct rlimit files, wanted_files;
static bool no_files, no_network, no_names, no_reach, no_thread;
static int (*poller)(void);
static bool (*teller)(const struct uccs_request *request, struct uccs_told *told);
static struct uccs_server *served;

static void note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
}

static const struct transport *test_network(void)
{
    return no_network ? 0 : &carrier_transport;
}

static int test_names(void)
{
    note('n');
    return no_names ? -1 : 0;
}

static int test_getrlimit(int what, struct rlimit *limit)
{
    CHECK(what == RLIMIT_NOFILE);
    *limit = files;
    return no_files ? -1 : 0;
}

static int test_setrlimit(int what, const struct rlimit *limit)
{
    CHECK(what == RLIMIT_NOFILE && limit->rlim_max == files.rlim_max);
    wanted_files = *limit;
    return -1;
}

static int test_reach_open(void)
{
    return no_reach ? -1 : 0;
}

static void test_poll_add(int (*poll)(void), enum uccs_poller_when when)
{
    CHECK(when == UCCS_POLL_ALWAYS && !poller);
    poller = poll;
}

static void test_poll_remove(int (*poll)(void))
{
    CHECK(poll == poller);
    poller = 0;
    note('p');
}

static void test_teller_add(bool (*tell)(const struct uccs_request *request, struct uccs_told *told))
{
    teller = tell;
}

static void test_progress_add(struct uccs_server *server)
{
    served = server;
}

static int test_progress_open(void)
{
    note('t');
    return no_thread ? -1 : 0;
}

static void test_line_look(void)
{
    note('l');
}

static int test_line_descriptor(void)
{
    return 77;
}

static void test_line_rest(void)
{
    note('r');
}

static void test_line_close(void)
{
    note('c');
}

static void test_barrier(void)
{
    for (int i = 0; i < 4; i++)
        CHECK(!link_lanes[i].at); /* no thread polls a lane any more */
    note('b');
}

static void test_reach_close(void (*leave)(void *start, size_t bytes))
{
    CHECK(leave == link_transport->leave && carrier.forgotten == 1 && carrier.withdrawn == 1);
    note('m');
}

static void __attribute__((format(printf, 1, 2))) test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
}

#define link_network_load test_network
#define link_names_publish test_names
#define getrlimit test_getrlimit
#define setrlimit test_setrlimit
#define uccs_reach_open test_reach_open
#define uccs_reach_close test_reach_close
#define uccs_core_poll_add test_poll_add
#define uccs_core_poll_remove test_poll_remove
#define uccs_teller_add test_teller_add
#define uccs_progress_add test_progress_add
#define uccs_progress_open_anyway test_progress_open
#define watch_line_look test_line_look
#define watch_line_descriptor test_line_descriptor
#define watch_line_rest test_line_rest
#define watch_line_close test_line_close
#define rte_job_barrier test_barrier
#define log_line test_log
#define log_alike(pe, ...) test_log(__VA_ARGS__)

#include "uccs/link/open.c"
#include "uccs/link/thread.c"

/* --- The network */

static const struct transport_events *events;
static unsigned onesided;
static const char *no_transport;

static const char *open_network(const struct transport_events *told, int pe, int npes, unsigned wire)
{
    CHECK(pe == 0 && npes == uccs_core.npes);
    events = told;
    onesided = wire;
    return no_transport;
}

static void close_network(void)
{
    note('x');
}

static void *reach_nothing(const void *lent, size_t bytes, size_t *length)
{
    (void)lent, (void)bytes, (void)length;
    return 0;
}

static void begin(const char *wire, const char *sealed)
{
    const char *why;
    carrier_reset();
    link_lane_free(link_service());
    setenv("LATERAL_WIRE", wire, 1);
    setenv("LATERAL_WIRE_AUTH", sealed, 1);
    CHECK(env_load(&why) == 0);
    memset(calls, 0, sizeof calls);
    line[0] = 0;
    poller = 0;
    teller = 0;
    served = 0;
    uccs_far_on = 0;
    link_sealed = link_has_direct = link_maps = false;
    files = (struct rlimit){1024, 4096};
    wanted_files = (struct rlimit){0, 0};
    no_files = no_network = no_names = no_reach = no_thread = false;
    no_transport = 0;
}

/* --- Opening */

static void good(void)
{
    begin("auto", "0");
    uccs_core.spin = 1000;
    CHECK(link_open() == 0 && uccs_far_on == 1 && link_service()->at && uccs_core.spin == 32);
    CHECK(poller && teller && served && served->descriptor == -1 && served->alarm == 77 && strcmp(calls, "n") == 0);
    CHECK(onesided == TRANSPORT_ALONE && link_wire == TRANSPORT_ALONE && link_has_direct && !link_maps && !link_sealed);
    begin("messages", "0");
    uccs_core.spin = 31;
    CHECK(link_open() == 0 && uccs_core.spin == 31 && onesided == 0 && !link_has_direct);
    begin("rdma", "1");
    CHECK(link_open() == 0 && onesided == TRANSPORT_ONESIDED && link_sealed && !link_has_direct);
    begin("rdma", "0");
    carrier_transport.reach = reach_nothing;
    CHECK(link_open() == 0 && link_has_direct && link_maps);
    begin("messages", "0");
    CHECK(link_open() == 0 && !link_has_direct && !link_maps);
    begin("rdma", "0");
    no_reach = true;
    CHECK(link_open() == 0 && link_has_direct && !link_maps);
    begin("rdma", "0");
    carrier_transport.able = 0;
    CHECK(link_open() == 0 && !link_has_direct && !link_maps);
    carrier_transport.able = carrier_able;
    carrier_transport.reach = 0;
}

static void bad(void)
{
    begin("auto", "0");
    no_network = true;
    CHECK(link_open() == -1 && !uccs_far_on && !poller);
    begin("auto", "0");
    no_transport = "no device";
    CHECK(link_open() == -1 && strcmp(line, "the transport stub does not work here: no device") == 0 && !uccs_far_on);
    begin("auto", "0");
    carrier.no_lane = "no memory left";
    CHECK(link_open() == -1 && strcmp(line, "the transport stub does not work here: no memory left") == 0);
    begin("auto", "0");
    no_names = true;
    CHECK(link_open() == -1 && !uccs_far_on && !poller && !line[0]);
    const int npes = uccs_core.npes;
    begin("auto", "0");
    uccs_core.npes = LINK_PES + 1;
    CHECK(link_open() == -1 && strstr(line, "has at most 16777216 PEs"));
    uccs_core.npes = (int)uccs_core.pes;
    begin("auto", "0");
    CHECK(link_open() == 0 && !uccs_far_on && !calls[0]); /* all are on this node */
    link_settle_all();
    link_close();
    CHECK(!calls[0]);
    uccs_core.npes = npes;
}

/* 128 files and 3 for each PE: that many the process may have, if it may at all. */
static void limits(void)
{
    static const struct {
        rlim_t now, most, wanted; /* wanted 0: it stays as it is */
    } rows[] = {{136, 4096, 137},         {137, 4096, 0},           {138, 4096, 0},  {0, 4096, 137},
                {100, 136, 136},          {100, 137, 137},          {100, 138, 137}, {100, 100, 100},
                {RLIM_INFINITY, 4096, 0}, {100, RLIM_INFINITY, 137}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin("auto", "0");
        files = (struct rlimit){rows[i].now, rows[i].most};
        CHECK(link_open() == 0 && wanted_files.rlim_cur == rows[i].wanted);
        begin("auto", "0");
        files = (struct rlimit){rows[i].now, rows[i].most};
        no_files = true;
        CHECK(link_open() == 0 && wanted_files.rlim_cur == 0);
    }
}

/* Every kind that the links handle themselves has its handler. */
static void kinds(void)
{
    static const enum link_kind own[] = {LINK_BATCH, LINK_HELLO, LINK_FLUSH,  LINK_FLUSHED,
                                         LINK_KEYED, LINK_REACH, LINK_REACHED};
    for (int kind = 0; kind < LINK_KINDS; kind++)
        link_handle((enum link_kind)kind, 0);
    begin("auto", "0");
    CHECK(link_open() == 0);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct link_header h = {.kind = (uint8_t)own[i], .from = 1, .lane = own[i] == LINK_HELLO};
        h.answer.asker = 5;
        const char *why = carrier_try(link_service(), &h, "address.", own[i] == LINK_HELLO ? 8 : 0, false);
        CHECK(!why || !strstr(why, "which this PE has not asked for"));
        pthread_mutex_init(&link_service()->lock, 0);
    }
    begin("auto", "0");
    CHECK(uccs_far_open() == 0); /* registers the others again */
    struct link_header h = {.kind = LINK_GET, .from = 1, .segment = FAR_HEAP, .asker = 1};
    CHECK(!carrier_try(link_service(), &h, 0, 0, false));
}

/* --- What the network raises */

static bool ended, end_failed;

static void end(struct link_token *token, bool failed)
{
    CHECK(token);
    ended = true;
    end_failed = failed;
}

static void lose(void *unused)
{
    (void)unused;
    events->broken(link_service(), 2, "it is gone");
}

static void raised(void)
{
    begin("auto", "0");
    CHECK(link_open() == 0 && events->arrived == link_arrived);
    struct link_token token = {end};
    for (int failed = 0; failed < 3; failed++) {
        ended = false;
        events->finished(&token, failed);
        CHECK(ended && end_failed == (failed != 0));
    }
    const char *why = world_try(lose, 0);
    CHECK(why && strcmp(why, "PE 2 is lost: it is gone") == 0 && strcmp(calls, "nl") == 0);
}

/* --- Looks */

static unsigned lanes_seen;

static void see(struct link_lane *lane)
{
    lanes_seen |= 1u << lane->number;
}

/* Every wait looks at the service lane and, in turns, at one that has something to do. */
static void looks(void)
{
    struct uccs_far_lanes on[3] = {{0}};
    begin("auto", "0");
    CHECK(link_open() == 0 && poller() == 0);
    carrier.look = see;
    carrier.progresses = 1;
    lanes_seen = 0;
    CHECK(poller() == 1 && lanes_seen == 1);
    for (int i = 0; i < 3; i++)
        uccs_far_put_nb(&on[i], 1, in_heap(0), "12345678", 8, 0, 0);
    CHECK(on[0].own->number == 3 && on[1].own->number == 2 && on[2].own->number == 1);
    unsigned all = 0;
    for (int i = 0; i < 3; i++) {
        lanes_seen = 0;
        (void)poller();
        CHECK(lanes_seen & 1 && __builtin_popcount(lanes_seen) == 2);
        all |= lanes_seen;
    }
    CHECK(all == 15);
    on[0].own->some = on[2].own->some = 0;
    for (int i = 0; i < 3; i++) {
        lanes_seen = 0;
        carrier.progresses = 2;
        CHECK(poller() == 2 && lanes_seen == 5);
    }
}

static struct link_lane *other;

/* What the progress thread does: all that waits on the service lane, and what a program has left on others. */
static void thread(void)
{
    struct uccs_far_lanes on = {0};
    struct uccs_request all = {.pending = 1};
    begin("auto", "0");
    CHECK(link_open() == 0);
    uccs_progress_on = true;
    link_reminded = 1;
    CHECK(served->serve() == UCCS_SERVED_LATER && link_reminded == 0 && carrier.looks == 0);
    CHECK(served->serve() == UCCS_SERVED_NOTHING && link_asleep == 1 && carrier.arms == 1 && carrier.looks == 1);
    const uint32_t news = link_service()->news;
    carrier.progresses = 3;
    CHECK(served->serve() == UCCS_SERVED_SOME && carrier.looks == 5 && link_service()->news == news + 1);
    uccs_request_handle handle = &all;
    uccs_far_put_nb(0, 1, in_heap(0), "12345678", 8, 0, &handle);
    CHECK(link_reminded == 1 && link_asleep == 0); /* the program may go on at once, so it leaves later */
    CHECK(served->serve() == UCCS_SERVED_LATER && carrier.count == 0);
    CHECK(served->serve() == UCCS_SERVED_NOTHING && carrier.count == 2 && left_is(1, LINK_FLUSH, 1));
    link_asleep = 0;
    uccs_far_put_nb(&on, 1, in_heap(0), "12345678", 8, 0, 0);
    CHECK(link_left == 8 && carrier.count == 3); /* the hello; the put waits */
    other = on.own;
    CHECK(served->serve() == UCCS_SERVED_NOTHING && link_left == 0 && carrier.count == 4 && left_is(3, LINK_PUT, 1));
    other->sending = 1; /* the network still holds one */
    link_left = 8;
    CHECK(served->serve() == UCCS_SERVED_LATER && link_left == 8);
    other->sending = 0;
    pthread_mutex_lock(&other->lock);
    served->tend();
    CHECK(link_left == 8);
    pthread_mutex_unlock(&other->lock);
    served->tend();
    CHECK(link_left == 0);
    pthread_mutex_lock(&link_service()->lock);
    CHECK(served->serve() == UCCS_SERVED_SOON);
    pthread_mutex_unlock(&link_service()->lock);
    const uint64_t polls = served->polls();
    (void)link_poll(link_service());
    CHECK(served->polls() == polls + 1);
    uccs_progress_on = false;
}

/* --- The end */

static int undrained;

static void drain(struct link_lane *lane)
{
    (void)lane;
}

static int drained_later(void *lane)
{
    (void)lane;
    return undrained-- <= 0;
}

static void settle(void *unused)
{
    (void)unused;
    link_settle_all();
}

static void ends(void)
{
    struct uccs_far_lanes on = {0};
    begin("auto", "0");
    carrier_transport.drained = drained_later;
    CHECK(link_open() == 0);
    carrier.able = TRANSPORT_ALONE | TRANSPORT_KNOWN;
    carrier.look = carrier_answer_flush;
    uccs_far_put_nb(0, 1, in_heap(0), "12345678", 8, 0, 0);
    uccs_far_put_nb(0, 1, in_heap(0), "12345678", 8, 0, 0);
    CHECK(carrier_last()->header.kind == LINK_KEY && link_share(world_heap, 64));
    struct link_header h = carrier_answer(carrier_last(), LINK_KEYED);
    carrier_bring(link_service(), &h, "a key", 5);
    uccs_far_put_nb(&on, 1, in_heap(0), "12345678", 8, 0, 0);
    undrained = 3;
    link_settle_all();
    CHECK(strcmp(calls, "nrt") == 0 && undrained < 0 && !link_service()->some && !on.own->some && on.own->at);
    no_thread = true;
    const char *why = world_try(settle, 0);
    CHECK(why && strcmp(why, "cannot serve the other PEs") == 0);
    carrier.look = drain;
    calls[0] = 0;
    memset(calls, 0, sizeof calls);
    link_close();
    CHECK(strcmp(calls, "pbcmx") == 0 && !poller);
    CHECK(!uccs_far_on && !uccs_far_touched && !link_has_direct && !link_maps && link_others == 0);
    for (int i = 0; i < LINK_LANES; i++)
        CHECK(!link_lanes[i].peers && !link_lanes[i].at && !link_lanes[i].idle);
    CHECK(link_lanes_open() == 1 && link_poll(link_service()) == 0);
    carrier_transport.drained = carrier_drained;
    carrier.forgotten = carrier.withdrawn = 0;
}

int main(void)
{
    carrier_open();
    carrier_transport.open = open_network;
    carrier_transport.close = close_network;
    good();
    bad();
    limits();
    raised();
    looks();
    thread();
    ends();
    kinds();
    _exit(0);
}
