/* Counters and signals of PEs that the short ways do not reach: what is counted where, by which message, what a wrong counter or PE is
 * told, and how waits for counters end. */
#include "halves.h"

#include "paused.h"
#include "base/clock.h"
#include "shmem/calls.h"
#include "shmem/signal.h"
#include "shmem/team.h"
#include "uccs/object/awaited.h"

enum { SLOT = 3, WAS = 9 };
static const uccs_counter live = UINT64_C(1) << UCCS_COUNTER_SLOT_BITS | (SLOT + 1);
static const uccs_counter old = UINT64_C(1) << UCCS_COUNTER_SLOT_BITS | (WAS + 1); /* in its generation 3 now */
static const uccs_counter nameless = NODE_JOB_COUNTERS + NODE_OPEN_COUNTERS + 1;

struct shmem_team_impl lat_team_world, lat_team_shared;
struct shmem_ctx_impl lat_ctx_default;
static struct shmem_ctx_impl ctx;
static uint64_t now; /* nanoseconds */
static struct uccs_counter_members agreed;
static uccs_counter made;                               /* the next one that is made */
static void (*when_swapped)(void), (*when_timed)(void); /* comes between two looks at a count */
static uint64_t given[3][2];                            /* of each member */
static int agrees, awaited;

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *of, int pe)
{
    (void)of;
    lat_fail(call, "wrong context for %d", pe);
}

void lat_barrier_all(void)
{
    note("barrier; ");
}

static void sync_stub(struct uccs_team *team)
{
    CHECK(team == &lat_team_world.group);
    note("sync; ");
}

static void clear_stub(uccs_counter counter)
{
    note("clear %llx; ", (unsigned long long)counter);
}

static void release_stub(uccs_counter counter)
{
    note("release %llx; ", (unsigned long long)counter);
}

static int agree_stub(const struct uccs_counter_members *members, uccs_counter *counter)
{
    agreed = *members;
    *counter = made;
    return agrees;
}

static bool awaited_stub(uccs_counter counter, int64_t at_least, struct uccs_request *request)
{
    CHECK(counter == live && at_least == 7 && request);
    return awaited;
}

static void once(void (**what)(void))
{
    void (*now_is)(void) = *what;
    *what = 0;
    if (now_is)
        now_is();
}

static uint64_t clock_stub(void)
{
    if (when_timed && now > 5000)
        once(&when_timed);
    return now;
}

static bool cas_stub(int64_t *at, int64_t *expected, int64_t value)
{
    once(&when_swapped);
    return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void exchange_stub(struct uccs_team *team, const uint64_t *mine, size_t bytes)
{
    CHECK(team->size == 3 && team->rank == 1 && bytes <= sizeof given[1]);
    memcpy(given[1], mine, bytes);
}

static const void *given_stub(const struct uccs_team *team, int rank, size_t bytes)
{
    CHECK(rank >= 0 && rank < team->size && bytes <= sizeof given[1] && bytes % sizeof(uint64_t) == 0);
    return given[rank];
}

#define uccs_team_sync(team) sync_stub(team)
#define uccs_far_counter_clear(counter) clear_stub(counter)
#define uccs_counter_release(counter) release_stub(counter)
#define uccs_counter_agree(members, counter) agree_stub(members, counter)
#define uccs_awaited_counter(counter, at_least, request) awaited_stub(counter, at_least, request)
#define uccs_quiet() note("quiet; ")
#define uccs_far_quiet_all() note("far quiet; ")
#define uccs_fetched() ((void)misses++)
#define uccs_counter_create() made
#define clock_nanoseconds() clock_stub()
#define uccs_team_exchange(team, mine, bytes) exchange_stub(team, mine, bytes)
#define uccs_team_given(team, rank, bytes) given_stub(team, rank, bytes)
#undef atomic_cas_acqrel
#define atomic_cas_acqrel(p, expected, v) cas_stub((int64_t *)(p), expected, v)
static bool opened_stub(uccs_counter counter)
{
    return counter != live;
}
#define uccs_counter_opened(counter) opened_stub(counter)
#include "shmem/place.c"
#include "shmem/counter.c"
#define put_far rma_put_far
#define get_far rma_get_far
#include "shmem/rma.c"
#include "shmem/signal.c"
#include "shmem/amo.c"

#define CT(counter) ((shmemx_ct_t)(uintptr_t)(counter))

#include "arrivals_signals.h"

static struct uccs_counter_line *lines, *lines_reached; /* of PEs 0 and 1; of PE 3 */

static int64_t count_of(int pe)
{
    return pe == REACHED ? lines_reached[SLOT].count : uccs_counter_at((uint32_t)pe, SLOT)->count;
}

static void set_count(int64_t count)
{
    uccs_counter_mine(live)->count = count;
}

static const char *line_of_handle(const char *call, const char *text, uccs_counter counter)
{
    static char line[200];
    snprintf(line, sizeof line, "%s: ct %p %s", call, (void *)CT(counter), text);
    return line;
}

static void counted_everywhere(void)
{
    for (int pe = 0; pe < NPES; pe++) {
        lat_ct_far("call", &ctx, CT(live), 5, pe);
        NOTED(pe == FAR ? "count on lanes to 2 ct 100004 by 5; " : "");
        CHECK(pe == FAR || pe == REACHED || count_of(pe) == 0); /* the inline way counts those */
        lat_ct_behind("call", LAT_CTX_DEFAULT, CT(live), pe);
        NOTED(pe == FAR ? "fence; count to 2 ct 100004 by 1; " : pe == REACHED ? "fence; " : "");
    }
    CHECK(count_of(0) == 1 && count_of(1) == 1 && count_of(REACHED) == 6);
    CHECK(lines[SLOT].errors == 1); /* a handle that the inline way would have taken comes as an old one */
    lat_ct_add(CT(live), -1, 0);
    lat_ctx_ct_add(&ctx, CT(live), -1, 1);
    CHECK(count_of(0) == 0 && count_of(1) == 0);
    lines_reached[SLOT].count = 0;
}

/* A handle of an earlier generation counts an error there; one that names no slot, and a PE that there is not, end the job. */
static void counted_wrongly(void)
{
    const uint64_t before = uccs_counter_at(1, WAS)->errors;
    lat_ct_far("call", &ctx, CT(old), 5, 1);
    CHECK(uccs_counter_at(1, WAS)->errors == before + 1 && uccs_counter_at(1, WAS)->count == 0);
    lat_ct_far("call", &ctx, CT(old), 5, FAR);
    NOTED("count on lanes to 2 ct 10000a by 5; ");
    lat_ct_far("call", &ctx, CT(old), 5, REACHED); /* the far layer judges it */
    NOTED("count on lanes to 3 ct 10000a by 5; ");
    REFUSED(lat_ct_far("call", &ctx, CT(nameless), 1, 1), line_of_handle("call", "is not a counter", nameless));
    REFUSED(lat_ct_far("call", &ctx, CT(nameless), 1, FAR), line_of_handle("call", "is not a counter", nameless));
    REFUSED(lat_ct_far("call", &ctx, CT(live), 1, -1), "call: pe -1 is out of range, the job has PEs 0 to 3");
    REFUSED(lat_ct_far("call", &ctx, CT(live), 1, NPES), "call: pe 4 is out of range, the job has PEs 0 to 3");
    REFUSED(lat_ct_check("call", CT(nameless)), line_of_handle("call", "is not a counter", nameless));
    lat_ct_check("call", CT(nameless - 1));
    lat_ct_check("call", CT(live));
    lat_state = LAT_AFTER;
    REFUSED(lat_ct_far("call", &ctx, CT(live), 1, 1), "call: called after the last shmem_finalize");
    lat_state = LAT_RUNNING;
    NOTED("");
}

static void added_with_requests(void)
{
    for (int pe = 0; pe < NPES; pe++) {
        shmemx_request_t req = 0;
        lat_ct_add_nbe(CT(live), 4, pe, &req);
        NOTED(pe == FAR ? "nb put to 2 at 1+0 0 of -1 with count 1048580 weight 4 at 0 req; " : "");
        CHECK(req == (pe == FAR ? 0 : UCCS_REQUEST_DIRTY) && (pe == FAR || count_of(pe) == 4));
        lat_ctx_ct_add_nbe(&ctx, CT(live), -4, pe, &req);
        NOTED(pe == FAR ? "nb put on lanes to 2 at 1+0 0 of -1 with count 1048580 weight -4 at 0 req; " : "");
        CHECK(pe == FAR || count_of(pe) == 0);
    }
    shmemx_request_t req = 0;
    REFUSED(lat_ct_add_nbe(CT(nameless), 4, FAR, &req),
            line_of_handle("shmemx_ct_add_nbe", "is not a counter", nameless));
    lat_state = LAT_AFTER;
    REFUSED(lat_ct_add_nbe(CT(live), 4, FAR, &req), "shmemx_ct_add_nbe: called after the last shmem_finalize");
    lat_state = LAT_RUNNING;
}

static void counted_puts(void)
{
    char local[12] = "abcdefghijk";
    for (int pe = 1; pe < NPES; pe++)
        for (int size = 8; size <= 12; size += 4) {
            char *there = memory_of(pe);
            shmemx_request_t req = 0;
            memset(there, 0, 16);
            lat_put_ct_far("call", &ctx, CT(live), heap[0], local, (size_t)size, pe, size == 8, size == 8 ? 0 : &req);
            NOTED(pe != FAR   ? ""
                  : size == 8 ? "put on lanes to 2 at 1+0 8 of 97 with count 1048580 weight 1 at 0; "
                              : "nb put on lanes to 2 at 1+0 12 of 97 with count 1048580 weight 1 at 0 req; ");
            CHECK(pe == FAR || (memcmp(there, local, (size_t)size) == 0 && !there[size] && count_of(pe) == size / 8));
            CHECK(pe == FAR || size == 8 || req == UCCS_REQUEST_DIRTY);
            if (size == 12 && pe != FAR)
                (pe == REACHED ? lines_reached : lines + NODE_COUNTERS)[SLOT].count = 0;
            lines_reached[SLOT].count = size == 8 && pe == REACHED ? 0 : lines_reached[SLOT].count;
            uccs_counter_at(1, SLOT)->count = 0;
        }
    REFUSED(lat_put_ct_far("call", &ctx, CT(nameless), heap[0], local, 8, FAR, true, 0),
            line_of_handle("call", "is not a counter", nameless));
    lines_reached[SLOT].count = 0;
}

static void counted_gets(void)
{
    char local[12];
    for (int pe = 1; pe < NPES; pe++)
        for (int blocking = 0; blocking < 2; blocking++) {
            char *there = memory_of(pe);
            shmemx_request_t req = 0;
            memset(there, 'x', 12);
            memset(local, 0, sizeof local);
            lat_get_ct_far("call", &ctx, CT(live), local, heap[0], 3, pe, blocking, blocking ? 0 : &req);
            NOTED(pe != FAR  ? ""
                  : blocking ? "get on lanes to 2 at 1+0 3 counter 100004; "
                             : "nb req get on lanes to 2 at 1+0 3 counter 100004; ");
            CHECK(local[2] == (pe == FAR ? 'g' : 'x') && !local[3]);
            CHECK(pe == FAR || (count_of(pe) == blocking + 1 && (blocking || req == UCCS_REQUEST_DIRTY)));
        }
    lat_get_ct_far("call", &ctx, CT(live), 0, 0, 0, FAR, true, 0);
    NOTED("get on lanes to 2 at 1+0 0 counter 100004; ");
    REFUSED(lat_get_ct_far("call", &ctx, CT(live), local, elsewhere, 1, FAR, true, 0), ({
                static char line[200];
                snprintf(line, sizeof line, "call: source %p is not a symmetric address", (void *)elsewhere);
                line;
            }));
    REFUSED(lat_get_ct_far("call", &ctx, CT(nameless), local, heap[0], 1, FAR, true, 0),
            line_of_handle("call", "is not a counter", nameless));
    uccs_counter_at(1, SLOT)->count = lines_reached[SLOT].count = 0;
}

static void arrive(void)
{
    uccs_counter_mine(live)->count++;
}

static void tests_and_values(void)
{
    paused_plan(0, 0);
    lat_ct_set(CT(live), 6);
    CHECK(lat_ct_get(CT(live)) == 6 && misses == 1 && (misses = 0) == 0);
    CHECK(lat_ct_test(CT(live), 6) == 1 && lat_ct_test(CT(live), 5) == 1);
    MISSED(0);
    CHECK(lat_ct_test(CT(live), 7) == 0);
    MISSED(1);
    CHECK(lat_ct_fetch_reset(CT(live)) == 6 && count_of(0) == 0);
    uccs_counter_mine(live)->errors = UINT32_MAX;
    CHECK(lat_ct_errors(CT(live)) == UINT32_MAX);
    REFUSED(lat_ct_get(CT(old)), line_of_handle("shmemx_ct_get", "is not a counter, or one that was freed", old));
    REFUSED(lat_ct_free(&(shmemx_ct_t){CT(old)}),
            line_of_handle("shmemx_ct_free", "is not a counter, or one that was freed", old));
}

static void made_and_freed(void)
{
    shmemx_ct_t ct = CT(live);
    lat_ct_free(&ct);
    CHECK(!ct);
    NOTED("barrier; clear 100004; release 100004; barrier; ");
    lat_team_world = (struct shmem_team_impl){.size = 2, .group = {.slot = 12, .size = 2}};
    agrees = UCCS_ERR_NO_MEMORY;
    CHECK(lat_ct_create_team(SHMEM_TEAM_WORLD, &ct) == -1 && !ct);
    CHECK(agreed.salt == 12 && agreed.members == &lat_team_world.group && agreed.join == join);
    agrees = UCCS_OK;
    CHECK(lat_ct_create_team(SHMEM_TEAM_WORLD, &ct) == 0 && ct == CT(live));
    CHECK(lat_ct_free_team(SHMEM_TEAM_WORLD, &ct) == -1 && ct == CT(live)); /* not of a team */
    CHECK(lat_ct_create_team(SHMEM_TEAM_INVALID, &ct) == -1 && !ct);
    shmemx_ct_t other = CT(UINT64_C(1) << UCCS_COUNTER_SLOT_BITS | (SLOT + 5)), kept = other;
    CHECK(lat_ct_free_team(SHMEM_TEAM_INVALID, &other) == -1 && other == kept);
    REFUSED(lat_ct_free(&other), line_of_handle("shmemx_ct_free", "belongs to a team: free it with shmemx_ct_free_team",
                                                (uccs_counter)(uintptr_t)kept));
    NOTED("");
    for (int far = 0; far < 2; far++) {
        uccs_far_on = far;
        other = kept;
        CHECK(lat_ct_free_team(SHMEM_TEAM_WORLD, &other) == 0 && !other);
        NOTED(far ? "quiet; far quiet; sync; clear 100008; release 100008; "
                  : "quiet; sync; clear 100008; release 100008; ");
    }
    uccs_far_on = false;
    shmemx_request_t req = 0;
    awaited = 1;
    lat_ct_wait_nbe(CT(live), 7, &req);
    CHECK(uccs_request_object(req));
    awaited = 0;
    REFUSED(lat_ct_wait_nbe(CT(live), 7, &req), "shmemx_ct_wait_nbe: no memory for a request");
    free(req);
    lat_state = LAT_BEFORE;
    REFUSED(lat_ct_create(&ct), "shmemx_ct_create: called before shmem_init");
    REFUSED(lat_ct_create_team(SHMEM_TEAM_WORLD, &ct), "shmemx_ct_create_team: called before shmem_init");
    REFUSED(lat_ct_wait_any(&kept, (long[]){0}, 0), "shmemx_ct_wait_any: called before shmem_init");
    REFUSED(lat_ct_get(CT(live)), "shmemx_ct_get: called before shmem_init");
    lat_state = LAT_RUNNING;
}

#include "arrivals_counts.h"

int main(void)
{
    halves_start();
    const size_t bytes = (size_t)NODE_COUNTERS * CACHE_LINE;
    lines = aligned_alloc(CACHE_LINE, NEAR * bytes);
    lines_reached = aligned_alloc(CACHE_LINE, bytes);
    CHECK(lines && lines_reached);
    memset(lines, 0, NEAR * bytes);
    memset(lines_reached, 0, bytes);
    uccs_core.counters = (char *)lines;
    reaches[REACHED].counters = (char *)lines_reached;
    uccs_counter_generation[SLOT] = uccs_counter_generation[SLOT + 4] = 1;
    uccs_counter_generation[WAS] = 3;
    ctx = (struct shmem_ctx_impl){.size = NPES, .stride = 1};
    counted_everywhere();
    counted_wrongly();
    added_with_requests();
    counted_puts();
    counted_gets();
    tests_and_values();
    waits();
    waits_with_a_limit();
    made = live;
    made_and_freed();
    members_agree();
    great_counts();
    arrivals_between();
    not_running();
    signals();
    signals_of_adapters();
    signals_by_name();
    free(lines_reached);
    free(lines);
    return 0;
}
