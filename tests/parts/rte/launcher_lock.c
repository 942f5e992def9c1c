/* The values that PEs tell each other, step by step: each call of the launcher happens under the one lock, which is free afterwards; a
 * job of one node calls none; records of waits hold whole numbers, and are odd while they are written anew. The launcher is made up. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

static uint64_t made_up_thread;
static int fences_full;

#include "base/atomic.h"
#include "rte/rte.h"
#include "rte/stay.h"

#include <sys/syscall.h>
#include <unistd.h>

static int walk_made_up(void **frames, int most);
static void write_begins(void);
#define backtrace walk_made_up
#define syscall(number) ((long)made_up_thread)
#undef atomic_fence_release
#define atomic_fence_release() write_begins()
#include "rte/stay.c"
#undef syscall
#undef atomic_fence_release
#undef atomic_fence_seqcst
#define atomic_fence_seqcst() (fences_full++)
#include "rte/exchange.c"

#include "unit/check.h"

static struct node node;
static int called, answer, told_pe, told_seconds;
static const void *told_value;
static size_t told_bytes;
static int meets; /* in the node's barrier */

void rte_node_barrier(void)
{
    meets++;
}

bool rte_node_barrier_within(int seconds)
{
    told_seconds = seconds;
    meets++;
    return answer == 0;
}

_Noreturn void rte_abort(int status)
{
    CHECK(status != 0 && !"the job does not end here");
    _exit(99);
}

static void is_locked(void)
{
    CHECK(pthread_mutex_trylock(&lock) != 0);
    called++;
}

static bool is_free(void)
{
    return pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0;
}

static int launcher_puts(const char *key, const void *value, size_t bytes)
{
    is_locked();
    CHECK(strncmp(key, "key", 3) == 0);
    told_value = value, told_bytes = bytes;
    return answer;
}

static int launcher_gets(int pe, const char *key, void **value, size_t *bytes)
{
    is_locked();
    CHECK(strcmp(key, "key") == 0);
    told_pe = pe;
    *value = &node, *bytes = 77;
    return answer;
}

static int launcher_fences(int seconds, pthread_mutex_t *held)
{
    is_locked();
    CHECK(held == &lock && fences_full % 2 == 1);
    told_seconds = seconds;
    return answer;
}

static const struct rte_backend made_up = {.put = launcher_puts, .get = launcher_gets, .fence = launcher_fences};

static int call_locked(void *argument)
{
    is_locked();
    CHECK(argument == &node);
    return answer;
}

/* A job of so many nodes, of which this one has PE 0 alone. */
static void begin(int nodes)
{
    static _Alignas(8) struct card card;
    memset(&card, 0, sizeof card);
    rte = (struct rte){.npes = nodes, .node_size = 1, .nodes = nodes, .node = &node, .fd = -1};
    node.size = 1;
    cards = &card;
    rte_backend = &made_up;
    called = answer = meets = fences_full = 0;
    told_value = 0;
}

/* ---- the lock ---- */

static void one_node(void)
{
    begin(1);
    CHECK(rte_put("key", "1", 1) == 0 && rte_commit_fence() == 0 && meets == 1);
    CHECK(rte_job_barrier_within(7) && told_seconds == 7 && meets == 2);
    answer = 1;
    CHECK(!rte_job_barrier_within(8) && told_seconds == 8 && !called && !fences_full);
}

static void two_nodes(void)
{
    void *value = 0;
    size_t bytes = 0;
    begin(2);
    CHECK(rte_put("key", "1", 1) == 0 && called == 1 && told_bytes == 1 && *(const char *)told_value == '1' &&
          is_free());
    answer = -1;
    CHECK(rte_put("key2", "1", 1) == -1 && called == 2 && is_free());
    CHECK(rte_get(1, "key", &value, &bytes) == -1 && called == 3 && told_pe == 1 && is_free());
    answer = 0;
    CHECK(rte_get(1, "key", &value, &bytes) == 0 && value == &node && bytes == 77 && called == 4 && is_free());
    answer = 5;
    CHECK(rte_backend_locked(call_locked, &node) == 5 && called == 5 && is_free());
    answer = 0;
    CHECK(rte_commit_fence() == 0 && told_seconds == 0 && called == 6 && fences_full == 2 && is_free() && !meets);
    answer = 1;
    CHECK(!rte_job_barrier_within(9) && told_seconds == 9 && called == 7 && fences_full == 4 && is_free());
    answer = -1;
    CHECK(rte_commit_fence() == -1 && called == 8 && is_free());
}

/* A card is told as far as its last record, which may be empty. */
static void cards_end(void)
{
    static _Alignas(8) struct card card;
    char long_key[RTE_KEY_BYTES + 1];
    size_t bytes = 99;
    begin(1);
    CHECK(!find(&card, "", &bytes) && write_card(&card, "", "", 0) == 0 && card.used == sizeof(struct record));
    CHECK(find(&card, "", &bytes) && bytes == 0);
    memset(long_key, 'k', RTE_KEY_BYTES);
    long_key[RTE_KEY_BYTES] = 0;
    CHECK(write_card(&card, long_key, "1", 1) == 0 && find(&card, long_key, &bytes) && bytes == 1);
}

/* ---- records of waits ---- */

static const uint64_t frame = UINT64_C(0x7f1234567890);
static uint32_t version_then;
static struct node_stay *written;

static int walk_made_up(void **frames, int most)
{
    CHECK(most == NODE_STAY_FRAMES);
    frames[0] = (void *)(uintptr_t)frame;
    frames[1] = (void *)(uintptr_t)(frame + 1);
    return 2;
}

static void write_begins(void)
{
    version_then = written->version;
    CHECK(!written->on.size); /* nothing has been written yet */
}

static void records(void)
{
    const struct node_awaited on = {.size = 3};
    begin(1);
    rte_is_this_process();
    node.size = 1;
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(rte.fd >= 0 && ftruncate(rte.fd, (off_t)node_fixed_size(1)) == 0);
    made_up_thread = 70001;
    CHECK(rte_stay_begin(&on, "text", 1, 2, 3) == 1 && stays[0].thread == 70001);
    CHECK(stays[0].frames[0] == frame && stays[0].frames[1] == frame + 1 && stays[0].depth == 2 && !stays[0].frames[2]);
    written = &stays[0];
    written->version = 1u << 17;
    written->on.size = 0;
    rte_stay_renew(1, &on, "anew");
    CHECK(version_then == (1u << 17) + 1 && written->version == (1u << 17) + 2 && written->on.size == 3);
    CHECK(close(rte.fd) == 0);
}

int main(void)
{
    one_node();
    two_nodes();
    cards_end();
    records();
    rte_backend = 0;
    return 0;
}
