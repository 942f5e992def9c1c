/* Teams in one process: the slots that splits agree on, what members say in each round, teams that are listed, destroyed or left over,
 * numbers of members, and what fences and quiets do for the default context, for others and for several PEs. */
#include "refused.h"

#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/team.h"
#include "uccs/core/fence.h"
#include "uccs/core/wait.h"
#include "uccs/far/far.h"

#include <limits.h>

enum { NPES = 6 };

struct shmem_ctx_impl lat_ctx_default;
static char noted[400];
static bool no_memory, no_span, faster; /* another thread takes what this one has offered */
static int spans_freed, parted, cleared, drops, pauses, exchanges, busy_rounds;
static struct lat_slots offers[NPES]; /* what the members offer */
static uint32_t votes[NPES];
static struct lat_slots offered; /* what this one has said last */
static uint32_t voted;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    const size_t at = strlen(noted);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted + at, sizeof noted - at, format, arguments);
    va_end(arguments);
}

#define NOTED(text) CHECK(strcmp(noted, text) == 0 && !(noted[0] = 0))

static void exchange_stub(const struct uccs_team *team, const void *mine, size_t bytes)
{
    CHECK(team && (bytes == sizeof offered || bytes == sizeof voted) && refused_locked == 0);
    exchanges++;
    if (bytes == sizeof offered)
        memcpy(&offered, mine, bytes);
    else
        memcpy(&voted, mine, bytes);
}

/* Round 1 brings slots, round 2 votes; the first `busy_rounds` votes of the last member find a slot taken. */
static const void *given_stub(const struct uccs_team *team, int rank, size_t bytes)
{
    CHECK(rank >= 0 && rank < team->size);
    if (bytes == sizeof *offers && rank == team->rank && !faster) {
        static struct lat_slots own;
        for (int i = 0; i < 4; i++)
            own.bits[i] = offers[rank].bits[i] & offered.bits[i];
        return &own;
    }
    if (bytes == sizeof *offers)
        return &offers[rank];
    static uint32_t mine;
    mine = rank == team->rank ? voted : rank == team->size - 1 && busy_rounds > 0 ? (busy_rounds--, 1u) : votes[rank];
    return &mine;
}

static void freed_stub(struct uccs_team *team)
{
    spans_freed++;
    free(team->pes);
    team->pes = 0;
}

static void pause_stub(void)
{
    pauses++;
    lat_team_world.group.pending = 0;
}

static void *malloc_stub(size_t bytes)
{
    return no_memory ? 0 : malloc(bytes);
}

static void *calloc_stub(size_t count, size_t bytes)
{
    return no_memory ? 0 : calloc(count, bytes);
}

static struct shmem_team_impl *draining; /* its split-phase collectives end while a wait pauses */

static void drain_stub(void)
{
    pause_stub();
    if (draining && pauses == 3)
        draining->group.pending = 0;
}

#define uccs_team_exchange(team, mine, bytes) exchange_stub(team, mine, bytes)
#define uccs_team_given(team, rank, bytes) given_stub(team, rank, bytes)
#define uccs_team_settle_in(team, at) ((void)((team)->slot = (at)))
#define uccs_team_clear(team) ((void)(team), (void)cleared++)
#define uccs_team_span(team) ((void)(team), no_span ? -1 : 0)
#define uccs_team_free(team) freed_stub(team)
#define uccs_team_part(team) ((void)(team), (void)parted++)
#define uccs_team_sync(team) note("sync %d; ", (team)->slot)
#define uccs_quiet_all() note("quiet all; ")
#define uccs_fence_all() note("fence all; ")
#define uccs_quiet() note("quiet; ")
#define uccs_fence_stores() note("fence; ")
#define uccs_far_quiet(on) note("far quiet%s; ", (on) ? " of lanes" : "")
#define uccs_far_fence(on) note("far fence%s; ", (on) ? " of lanes" : "")
#define uccs_far_quiet_pes(on, pes, n) note("%d from %d%s; ", (int)(n), (pes)[0], (on) ? " of lanes" : "")
#define uccs_pause(wait) ((void)(wait), drain_stub())
#define malloc(bytes) malloc_stub(bytes)
#define calloc(count, bytes) calloc_stub(count, bytes)
#include "shmem/split.c"
#include "shmem/sync.c"
#include "shmem/team.c"
#undef malloc
#undef calloc

void lat_ctx_drop_all(struct shmem_ctx_impl **list)
{
    drops++;
    *list = 0;
}

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *of, int pe)
{
    (void)of;
    lat_fail(call, "no PE %d", pe);
}

void *lat_ptr(const void *dest, int pe)
{
    return (char *)(uintptr_t)dest + pe;
}

static void offer(int rank, int a, int b, int c)
{
    memset(&offers[rank], 0, sizeof *offers);
    for (int i = 0; i < 3; i++) {
        const int slot = i == 0 ? a : i == 1 ? b : c;
        offers[rank].bits[slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

static void opened(void)
{
    static const int in_turn[] = {0, 2, 4}, uneven[] = {0, 2, 3};
    uccs_core = (struct uccs_core){.npes = NPES, .pes = 3, .me = 4, .index = 1, .first = 3};
    no_span = true;
    REFUSED(lat_team_open(), "shmem_init: no memory for a team of 6 PEs");
    no_span = false;
    lat_team_open();
    CHECK(lat_team_world.rank == 4 && lat_team_world.size == 6 && !lat_team_world.start && lat_team_world.stride == 1);
    CHECK(lat_team_world.group.slot == 0 && lat_team_world.group.start == -3 && lat_team_world.group.stride == 1);
    CHECK(lat_team_shared.rank == 1 && lat_team_shared.size == 3 && lat_team_shared.start == 3);
    CHECK(lat_team_shared.group.slot == 1 && !lat_team_shared.group.start && !lat_team_shared.group.pes);
    CHECK(lat_team_handle(&lat_team_world) == SHMEM_TEAM_WORLD &&
          lat_team_handle(&lat_team_shared) == SHMEM_TEAM_SHARED);
    lat_team_world.group.exchange = 77; /* counts outlive a finalize */
    uccs_core.numbers = in_turn;
    lat_team_open();
    CHECK(lat_team_shared.stride == 2 && !lat_team_shared.group.pes && lat_team_world.group.exchange == 77);
    uccs_core.numbers = uneven;
    no_memory = true;
    REFUSED(lat_team_open(), "shmem_init: no memory for a team of 3 PEs");
    no_memory = false;
    lat_team_open();
    const int *pes = lat_team_shared.group.pes;
    CHECK(pes && pes != uneven && memcmp(pes, uneven, sizeof uneven) == 0);
    lat_team_open();
    CHECK(lat_team_shared.group.pes == pes);
    for (int pe = -2; pe < 8; pe++)
        CHECK(member_of(&lat_team_shared, pe) == (pe == 0 ? 0 : pe == 2 ? 1 : pe == 3 ? 2 : -1));
}

static void slots(void)
{
    struct shmem_team_impl one, other;
    struct lat_slots all = lat_team_free_slots();
    CHECK(all.bits[0] == ~UINT64_C(3) && !~all.bits[1] && !~all.bits[2] && !~all.bits[3]);
    CHECK(lat_team_take(NODE_TEAM_SLOTS - 1, &one) && !lat_team_take(NODE_TEAM_SLOTS - 1, &other));
    CHECK(lat_team_take(2, &other) && !lat_team_take(2, &one) && !lat_team_take(0, &one));
    all = lat_team_free_slots();
    CHECK(all.bits[0] == ~UINT64_C(7) && all.bits[3] == ~UINT64_C(0) >> 1);
    lat_team_give(NODE_TEAM_SLOTS - 1);
    lat_team_give(2);
    CHECK(lat_team_take(2, &one));
    lat_team_give(2);
    all = lat_team_free_slots();
    CHECK(all.bits[0] == ~UINT64_C(3) && !~all.bits[3] && refused_locked == 0);
}

static struct shmem_team_impl *held(int slot)
{
    return slot < 0 ? 0 : holders[slot];
}

static int only_slot(void)
{
    int found = -1;
    for (int slot = SLOT_FIRST; slot < NODE_TEAM_SLOTS; slot++)
        if (holders[slot]) {
            CHECK(found < 0);
            found = slot;
        }
    return found;
}

/* The first slot that is free at all new members, counted from a place that the parent decides. */
static void agreed(void)
{
    static const struct {
        int parent, slot;
    } cases[] = {{0, 9},   {1, 58},  {2, 58},  {3, 130},
                 {4, 130}, {5, 255}, {8, 255}, {9, 9}}; /* from 29 * parent, around */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shmem_team_t team;
        const shmem_team_config_t config = {.num_contexts = 5};
        lat_team_world.group.slot = cases[i].parent;
        for (int rank = 0; rank < NPES; rank++) {
            offer(rank, 9, 58, 130);
            offers[rank].bits[3] |= UINT64_C(1) << 63 | (rank < 3 ? 0 : 1u);
        }
        offer(0, 3, 4, 5); /* not a member */
        exchanges = cleared = 0;
        CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 5, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0 && team);
        CHECK(team->group.slot == cases[i].slot && only_slot() == cases[i].slot && held(cases[i].slot) == team);
        CHECK(exchanges == 2 && cleared == 1 && voted == VOTE_TAKEN && team->config.num_contexts == 5);
        CHECK(team->rank == 3 && team->size == 5 && team->start == 1 && team->stride == 1 && team->group.start == -2);
        CHECK(offered.bits[0] == ~UINT64_C(3));
        struct shmem_team_impl *destroyed = team;
        parted = spans_freed = pauses = drops = 0;
        draining = destroyed;
        destroyed->group.pending = 1;
        lat_team_destroy(team);
        NOTED("quiet all; ");
        CHECK(parted == 1 && spans_freed == 1 && drops == 1 && pauses == 3 && only_slot() < 0);
        draining = 0;
    }
    lat_team_world.group.slot = 0;
}

/* A PE outside of the new team offers nothing; where no slot is free, or some member says so, nobody gets a team. */
static void refused_splits(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 4, 0, 0, &team) == 0 && team == SHMEM_TEAM_INVALID);
    CHECK(!offered.bits[0] && !offered.bits[3] && voted == VOTE_TAKEN && only_slot() < 0);
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 10 + rank, 20 + rank, 30 + rank);
    exchanges = 0;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == -1 && team == SHMEM_TEAM_INVALID);
    CHECK(exchanges == 2 && voted == VOTE_NONE && only_slot() < 0);
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 40, 40);
    votes[5] = VOTE_NONE;
    exchanges = 0;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == -1 && exchanges == 2 && only_slot() < 0);
    votes[5] = VOTE_TAKEN;
    votes[0] = VOTE_NONE;
    spans_freed = 0;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == -1 && only_slot() < 0 && spans_freed == 1);
    votes[0] = VOTE_TAKEN;
    busy_rounds = 3;
    exchanges = 0;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == 0 && exchanges == 8 && only_slot() == 40);
    struct shmem_team_impl *before = team;
    exchanges = 0;
    faster = true;
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == -1 && exchanges == 2000);
    faster = false;
    CHECK(voted == VOTE_BUSY && held(40) == before);
    lat_team_destroy(before);
    no_memory = true;
    memset(&offers[4], 0, sizeof *offers); /* as it says itself */
    CHECK(lat_team_split_strided(SHMEM_TEAM_WORLD, 3, 1, 2, 0, 0, &team) == -1 && !team && voted == VOTE_NONE);
    CHECK(!offered.bits[0] && only_slot() < 0);
    no_memory = false;
    noted[0] = 0;
}

#include "teams_shapes.h"

/* Six members in rows of four: this one, member 4, begins the second row, which has two. */
static void grids(void)
{
    shmem_team_t x, y;
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 41, 42);
    votes[5] = VOTE_TAKEN;
    CHECK(lat_team_split_2d(SHMEM_TEAM_WORLD, 4, 0, 0, &x, 0, 0, &y) == 0);
    CHECK(x->size == 2 && x->rank == 0 && x->start == 4 && x->stride == 1 && x->group.slot == 40);
    CHECK(y->size == 2 && y->rank == 1 && y->start == 0 && y->stride == 4);
    CHECK(lat_team_translate_pe(x, 1, SHMEM_TEAM_WORLD) == 5 && lat_team_translate_pe(SHMEM_TEAM_WORLD, 4, y) == 1);
    CHECK(lat_team_translate_pe(SHMEM_TEAM_WORLD, 5, y) == -1 && lat_team_translate_pe(x, 0, y) == 1);
    CHECK(lat_team_translate_pe(x, 2, SHMEM_TEAM_WORLD) == -1 && lat_team_translate_pe(x, -1, SHMEM_TEAM_WORLD) == -1);
    CHECK(lat_team_translate_pe(0, 0, SHMEM_TEAM_WORLD) == -1 && lat_team_translate_pe(x, 0, 0) == -1);
    CHECK(lat_team_translate_pe(SHMEM_TEAM_WORLD, 0, y) == 0 && lat_team_translate_pe(SHMEM_TEAM_WORLD, 8, y) == -1);
    CHECK(lat_team_ptr(y, noted, 0) == noted && lat_team_ptr(y, noted, 1) == noted + 4);
    CHECK(!lat_team_ptr(y, noted, 2) && !lat_team_ptr(y, noted, -1));
    CHECK(lat_team_my_pe(y) == 1 && lat_team_n_pes(y) == 2 && lat_team_my_pe(0) == -1 && lat_team_n_pes(0) == -1);
    for (int pe = -8; pe < 16; pe++)
        CHECK(member_of(y, pe) == (pe == 0 ? 0 : pe == 4 ? 1 : -1));
    shmem_team_config_t config = {.num_contexts = 9};
    CHECK(lat_team_get_config(y, 0, &config) == 0 && config.num_contexts == 9);
    CHECK(lat_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts == 0);
    drops = spans_freed = 0;
    lat_team_close(); /* two predefined ones, and what the program left */
    CHECK(drops == 4 && spans_freed == 2 && only_slot() < 0);
    CHECK(lat_team_split_2d(SHMEM_TEAM_WORLD, 0, 0, 0, &x, 0, 0, &y) == -1 && !x && !y);
    CHECK(lat_team_split_2d(SHMEM_TEAM_INVALID, 1, 0, 0, &x, 0, 0, &y) == -1 && !x && !y);
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 40, 40); /* the second split finds none */
    spans_freed = 0;
    CHECK(lat_team_split_2d(SHMEM_TEAM_WORLD, 4, 0, 0, &x, 0, 0, &y) == -1 && !x && !y && only_slot() < 0);
    CHECK(spans_freed == 2);
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 41, 42);
    static const int shapes_of[][4] = {{1, 1, 6, 4}, {2, 2, 3, 2}, {3, 3, 2, 1}, {6, 6, 1, 0}, {7, 6, 1, 0}};
    for (int i = 0; i < 5; i++) { /* members in a row and in a column, my place in that */
        CHECK(lat_team_split_2d(SHMEM_TEAM_WORLD, shapes_of[i][0], 0, 0, &x, 0, 0, &y) == 0);
        CHECK(x->size == shapes_of[i][1] && y->size == shapes_of[i][2] && y->rank == shapes_of[i][3]);
        lat_team_destroy(x);
        lat_team_destroy(y);
    }
    noted[0] = 0;
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 40, 40);
    CHECK(lat_team_split_2d(SHMEM_TEAM_WORLD, 9, 0, 0, &x, 0, 0, &y) == -1);
}

static void predefined(void)
{
    REFUSED(lat_team_destroy(SHMEM_TEAM_WORLD),
            "shmem_team_destroy: SHMEM_TEAM_WORLD is predefined and lives until shmem_finalize");
    REFUSED(lat_team_destroy(SHMEM_TEAM_SHARED),
            "shmem_team_destroy: SHMEM_TEAM_SHARED is predefined and lives until shmem_finalize");
    parted = 0;
    lat_team_destroy(SHMEM_TEAM_INVALID);
    CHECK(parted == 0);
    NOTED("");
}

int main(void)
{
    lat_state = LAT_RUNNING;
    opened();
    slots();
    agreed();
    refused_splits();
    shapes();
    lists();
    grids();
    predefined();
    orders();
    free(lat_team_shared.group.pes);
    return 0;
}
