/* Messages over UCX: what it is told when it opens and what is given back when that fails, which of its lines are left out, lanes and
 * peers, messages short and long, what a peer that is connected later keeps waiting, and the end. One-sided operations: ucx_onesided.c. */
#include "ucx_messages_library.h"

#include "transport/lent.h"

#include <sys/wait.h>
#include <unistd.h>

#include "transport/ucx/ucx.c"

#include "transport/ucx/operation.c"

/* --- What stands beside */

static unsigned asked_use; /* what a caller wants to do on one side */
static bool may_use;
static ucp_ep_h asked_can;

bool ucx_may_use(unsigned wanted)
{
    asked_use = wanted;
    return may_use;
}

unsigned ucx_can(ucp_ep_h endpoint)
{
    asked_can = endpoint;
    return TRANSPORT_REACHES;
}

unsigned ucx_able(void *of)
{
    return ((struct peer *)of)->able;
}

#define NEVER(type, name, ...) \
    type name(__VA_ARGS__)     \
    {                          \
        CHECK(!#name);         \
        abort();               \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NEVER(void *, ucx_share, void *start, size_t bytes)
NEVER(int, ucx_pack, void *shared, void *room, size_t *bytes)
NEVER(void, ucx_withdraw, void *shared)
NEVER(void *, ucx_unpack, void *to, const void *key, size_t bytes)
NEVER(void, ucx_forget, void *key)
NEVER(enum transport_status, ucx_put, void *to, void *key, uint64_t at, const void *source, size_t bytes, void *token)
NEVER(enum transport_status, ucx_get, void *to, void *key, uint64_t from, void *dest, size_t bytes, void *token)
NEVER(unsigned, ucx_atomics, void *to, size_t bytes)
NEVER(enum transport_status, ucx_atomic, void *to, void *key, uint64_t at, const struct transport_word *word, void *old,
      void *token)
NEVER(enum transport_status, ucx_flush, void *to, void *token)
NEVER(void, ucx_order, void *of)
NEVER(size_t, transport_lend, int fd, uint64_t at, size_t bytes, void *room)
NEVER(void *, transport_reach, const void *lent, size_t bytes, size_t *length)
NEVER(void, transport_leave, void *start, size_t bytes)
#pragma GCC diagnostic pop

/* --- Events */

static int owner, others;
static struct transport_message came;
static void *came_to, *broke_of;
static unsigned arrivals, breaks;
static int broke_pe;
static char broke_why[32];
static void (*then_broken)(void);

static void has_arrived(void *to, const struct transport_message *message)
{
    arrivals++;
    came_to = to;
    came = *message;
}

static void is_broken(void *of, int pe, const char *why)
{
    breaks++;
    broke_of = of;
    broke_pe = pe;
    snprintf(broke_why, sizeof broke_why, "%s", why);
    if (then_broken)
        then_broken();
}

static const struct transport_events told = {has_arrived, lib_finished, is_broken};

/* --- A life with a lane and a peer, for most tests */

static const struct transport *const ucx = &lateral_transport;
static void *first;  /* lane */
static void *second; /* peer */

static void open_ucx(void)
{
    CHECK(!ucx->open(&told, 3, 5, 0));
}

static void *connects(void *to, int pe, const char *at)
{
    lib_eps_asked = 0;
    return ucx->connect(to, pe, at, strlen(at) + 1);
}

static void begin(void)
{
    lib_forget();
    lib_finishes = arrivals = breaks = 0;
    lib_nsends = 0;
    open_ucx();
    CHECK(!ucx->open_lane(&owner, &first));
    CHECK((second = connects(first, 4, "four")) != 0);
}

static void finish(void)
{
    lib_answer = UCS_OK;
    ucx->close();
    CHECK(!lib_context.open && owned_count == 0 && breaks == 0);
    lib_forget();
}

/* Runs a part in a process of its own. */
static void apart(void (*part)(void))
{
    int status;
    fflush(0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        part();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#include "ucx_messages_life.h"

#include "ucx_messages_lanes.h"

#include "ucx_messages_peers.h"

#include "ucx_messages_late.h"

int main(void)
{
    forget_settings();
    life();
    lanes_of_a_life();
    peers_of_a_lane();
    late_peers();
    return 0;
}
