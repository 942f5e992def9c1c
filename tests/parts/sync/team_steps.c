/* Meetings and messages of teams step by step, in one process: in which way a team meets, whom a member tells and for whom it waits, which
 * tables a team over nodes has, and what each message of a swap and of a broadcast says. The others come while this member pauses. */
#include "parts/owned.h"

#include "uccs/core/bell.h"
#include "uccs/core/memory.h"
#include "uccs/core/wait.h"
#include "uccs/core/where.h"
#include "uccs/far/far.h"
#include "uccs/sync/post.h"
#include "uccs/sync/team.h"
#include "uccs/watch/fail.h"

/* --- What these files call */

enum { PES = 4, ROW = NODE_GROUP_LINES * CACHE_LINE, SENT = 16 };

static cache_aligned char area[PES * ROW];
static long flags[PES][TEAM_ROUNDS];
static unsigned loads, pauses, counts_in, posted_far, resolved;
static void (*come)(void); /* what happens while this member pauses; may be null */
static uint32_t *held_by;  /* a message has not left */
static int node_of[PES];
static bool far_on;

static struct sent {
    int pe;
    uint64_t to, flag, value;
    size_t bytes;
    bool parcel, watched;
} sent[SENT];
static unsigned sents;

static void pause_once(void)
{
    CHECK(owned_held == 0);
    pauses++;
    if (held_by)
        *held_by = 0;
    held_by = 0;
    if (come)
        come();
}

/* A wait that does not pause never ends. */
static uint64_t load(uint64_t value)
{
    CHECK(++loads < 10000);
    return value;
}

static void send_flag(int pe, uint64_t offset, uint64_t value, bool watched)
{
    CHECK(sents < SENT);
    sent[sents++] = (struct sent){.pe = pe, .flag = offset, .value = value, .watched = watched};
}

static void send_parcel(int pe, const struct uccs_far_parcel *parcel, uint32_t *held)
{
    CHECK(sents < SENT && parcel->with.what == FAR_SIGNAL_SET);
    CHECK(parcel->to.segment == FAR_ROWS && parcel->with.place.segment == FAR_ROWS);
    sent[sents++] = (struct sent){.pe = pe,
                                  .to = parcel->to.offset,
                                  .flag = parcel->with.place.offset,
                                  .value = parcel->with.value,
                                  .bytes = parcel->bytes,
                                  .parcel = true};
    *held = 1;
    held_by = held;
}

static void *resolve(const long *address, int pe)
{
    CHECK(pe >= 0 && pe < PES);
    resolved++;
    return far_on && node_of[pe] != node_of[0] ? 0 : &flags[pe][address - flags[0]];
}

#undef atomic_load_acquire
#define atomic_load_acquire(word) ((__typeof__(*(word)))load((uint64_t)__atomic_load_n(word, __ATOMIC_ACQUIRE)))
#define uccs_node_of(pe) node_of[pe]
#define uccs_node_most() PES
#define uccs_far_on far_on
#define uccs_far_flag(pe, offset, value, watched) send_flag(pe, offset, value, watched)
#define uccs_far_parcel(pe, parcel, held) send_parcel(pe, parcel, held)
#define uccs_memory_resolve(address, pe) resolve(address, pe)
#define uccs_far_place(address) ((void)(address), (struct uccs_far_place){0})
#define uccs_far_amo_post(...) ((void)posted_far++)
#define uccs_pause(wait) ((void)(wait), pause_once())
#define uccs_bell_workers() ((void)counts_in++)
#define watch_fail owned_fail
#include "uccs/sync/cast.c"
#include "uccs/sync/exchange.c"
#include "uccs/sync/near.c"
#include "uccs/sync/span.c"
#include "uccs/sync/swap.c"
#include "uccs/sync/team.c"

static void begin(void)
{
    memset(area, 0, sizeof area);
    for (int pe = 0; pe < PES; pe++)
        for (int round = 0; round < TEAM_ROUNDS; round++)
            flags[pe][round] = TEAM_FLAG_AT_REST;
    uccs_core = (struct uccs_core){.npes = PES, .pes = PES, .groups = area};
    loads = pauses = counts_in = posted_far = resolved = sents = 0;
    come = 0;
    held_by = 0;
    far_on = false;
    uccs_sync_how = UCCS_SYNC_DISSEMINATE;
}

static uint64_t *line_of(int rank, int line)
{
    return (uint64_t *)(void *)(area + (size_t)rank * ROW + (size_t)line * CACHE_LINE);
}

/* --- Meetings on a node */

static void ways(void)
{
    static const struct {
        enum uccs_sync how, small, large; /* of two members, of three */
        bool crowded, counts;
    } rows[] = {{UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_DISSEMINATE, false, false},
                {UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, true, true},
                {UCCS_SYNC_DISSEMINATE, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_DISSEMINATE, true, false},
                {UCCS_SYNC_COUNT, UCCS_SYNC_COUNT, UCCS_SYNC_COUNT, false, true},
                {UCCS_SYNC_FLAT, UCCS_SYNC_FLAT, UCCS_SYNC_FLAT, true, false}};
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uccs_sync_how = rows[i].how;
        uccs_core.oversubscribed = rows[i].crowded;
        CHECK(uccs_near_counts() == rows[i].counts);
        CHECK(near_way(&(struct uccs_team){.size = 2}) == rows[i].small);
        CHECK(near_way(&(struct uccs_team){.size = 3}) == rows[i].large);
    }
}

#define WIDE (UINT64_C(5) << 32) /* no number that fits 32 bits */
enum { LARGE_EPOCH = 7 };

static void partners_come(void)
{
    for (int round = 0; round < TEAM_ROUNDS; round++)
        if (*line_of(1, round) < LARGE_EPOCH) {
            *line_of(1, round) = LARGE_EPOCH;
            return; /* one by one */
        }
}

/* Member 1 tells those 1 and 2 ahead, and waits for as many. */
static void disseminates(void)
{
    for (int size = 1; size <= PES; size++) {
        struct uccs_team team = {.rank = 1, .size = size, .stride = 1, .epoch = LARGE_EPOCH - 1};
        const int rounds = size == 1 ? 0 : size == 2 ? 1 : 2;
        if (size == 1)
            team.rank = 0;
        begin();
        come = partners_come;
        uccs_near_part(&team);
        CHECK(team.epoch == LARGE_EPOCH && pauses == (unsigned)rounds);
        for (int rank = 0; rank < PES; rank++)
            for (int round = 0; round < TEAM_ROUNDS; round++) {
                const bool told = round < rounds && rank == (1 + (1 << round)) % size;
                CHECK(*line_of(rank, round) == (told || (rank == 1 && round < rounds) ? LARGE_EPOCH : 0));
            }
    }
}

static void one_is_released(void)
{
    CHECK(*line_of(0, TEAM_ARRIVED) == 2 * LARGE_EPOCH + 1);
    *line_of(0, TEAM_RELEASED) = LARGE_EPOCH;
}

static void counts(void)
{
    struct uccs_team team = {.rank = 1, .size = 3, .stride = 1, .epoch = LARGE_EPOCH - 1};
    begin();
    uccs_sync_how = UCCS_SYNC_COUNT;
    *line_of(0, TEAM_ARRIVED) = 2 * LARGE_EPOCH;
    *line_of(0, TEAM_RELEASED) = LARGE_EPOCH - 1;
    come = one_is_released;
    uccs_near_meet(&team);
    CHECK(pauses == 1);
    *line_of(0, TEAM_ARRIVED) = 3 * (LARGE_EPOCH + 1) - 1; /* the last one waits for nobody */
    uccs_near_meet(&team);
    CHECK(pauses == 1 && *line_of(0, TEAM_RELEASED) == LARGE_EPOCH + 1);
}

static void others_store(void)
{
    CHECK(*line_of(1, 0) == LARGE_EPOCH);
    for (int rank = 0; rank < 3; rank++)
        if (*line_of(rank, 0) < LARGE_EPOCH) {
            *line_of(rank, 0) = LARGE_EPOCH;
            return;
        }
}

static void flat(void)
{
    struct uccs_team team = {.rank = 1, .size = 3, .stride = 1, .epoch = LARGE_EPOCH - 1};
    begin();
    uccs_sync_how = UCCS_SYNC_FLAT;
    come = others_store;
    uccs_near_meet(&team);
    CHECK(pauses == 2 && *line_of(3, 0) == 0);
}

static void add_flag(void)
{
    for (int round = 0; round < TEAM_ROUNDS; round++)
        if (flags[0][round] == TEAM_FLAG_AT_REST && round == (int)pauses - 1)
            flags[0][round]++;
}

/* Without a slot members tell each other by the program's flags, on other nodes by messages. */
static void by_flags(void)
{
    for (int size = 1; size <= PES; size++)
        for (int far = 0; far < 2; far++) {
            const struct uccs_team team = {.slot = -1, .size = size, .stride = 1, .flags = flags[0]};
            const int rounds = size == 1 ? 0 : size == 2 ? 1 : 2;
            begin();
            far_on = far;
            for (int pe = 0; pe < PES; pe++)
                node_of[pe] = pe;
            come = add_flag;
            uccs_flags_meet(&team);
            CHECK(resolved == (unsigned)rounds && pauses == (unsigned)rounds &&
                  posted_far == (far ? (unsigned)rounds : 0));
            for (int pe = 0; pe < PES; pe++)
                for (int round = 0; round < TEAM_ROUNDS; round++)
                    CHECK(flags[pe][round] == TEAM_FLAG_AT_REST + (!far && round < rounds && pe == 1 << round));
        }
}

/* --- Exchanges */

/* Exchange numbers are 64 bits wide; each exchange meets once. */
static void exchanges(void)
{
    struct uccs_team team = {.size = 1, .stride = 1, .exchange = WIDE, .settled = WIDE};
    begin();
    uccs_team_exchange(&team, "seven", 6);
    CHECK(team.exchange == WIDE + 1 && team.settled == WIDE);
    CHECK(strcmp(uccs_team_given(&team, 0, 6), "seven") == 0);
    team = (struct uccs_team){.rank = 1, .size = 2, .stride = 1, .epoch = LARGE_EPOCH - 1};
    come = partners_come;
    uccs_team_exchange(&team, "seven", 6);
    CHECK(team.epoch == LARGE_EPOCH && pauses == 1 && team.settled == team.exchange - 1);
}

/* --- Teams over nodes */

static struct uccs_team over(const char *places, int rank)
{
    struct uccs_team team = {.rank = rank, .size = (int)strlen(places), .stride = 1};
    begin();
    far_on = true;
    for (int pe = 0; pe < team.size; pe++)
        node_of[pe] = places[pe] - '0';
    CHECK(uccs_team_span(&team) == 0);
    return team;
}

/* Tables are made where they are needed alone: not on one node, not where ranks lie node by node. */
static void tables(void)
{
    struct uccs_team team = over("000", 0);
    CHECK(!team.nodes && !team.far && owned_count == 0);
    team = over("0001", 0);
    CHECK(team.far && team.nodes && !team.nodes->order && !team.nodes->places && !team.nodes->near.pes);
    struct uccs_nodes *nodes = team.nodes;
    CHECK(uccs_team_span(&team) == 0 && team.nodes == nodes && team.far); /* it has them */
    uccs_team_settle_in(&team, 3);
    CHECK(team.slot == 3 && nodes->near.slot == 3 && nodes->leads[0].slot == 3 && nodes->leads[1].slot == 3);
    CHECK(nodes->leads[2].slot == 0);
    uccs_team_free(&team);
    team = over("0101", 1);
    CHECK(team.nodes->order && team.nodes->places && team.nodes->near.pes && team.nodes->near.size == 2);
    CHECK(team.nodes->near.pes[0] == 1 && team.nodes->near.pes[1] == 3);
    uccs_team_free(&team);
    team = over("0101", 0);
    CHECK(team.nodes->near.pes[0] == 0 && team.nodes->near.pes[1] == 2);
    uccs_team_free(&team); /* nothing has been written behind the tables */
    team = over("0100", 1);
    CHECK(team.nodes->order && !team.nodes->near.pes && team.nodes->near.size == 1);
    uccs_team_free(&team);
    far_on = false;
    team.size = 3;
    CHECK(uccs_team_span(&team) == 0 && !team.nodes && owned_count == 0);
    far_on = true;
    for (int left = 0; left < 3; left++) {
        owned_left = left;
        CHECK(uccs_team_span(&team) == -1 && !team.nodes && !team.far && owned_count == 0);
    }
}

static void exchange_without_memory(void)
{
    struct uccs_team team = over("01", 0);
    owned_left = 0;
    OWNED_FAILS(uccs_team_exchange(&team, "abc", 3), "no memory for 3 bytes of each of 2 PEs");
    team.nodes->given = 0; /* it was freed for the new one */
    uccs_team_free(&team);
    CHECK(owned_count == 0);
}

/* --- Swaps */

static uint64_t *swap_word(int channel, uint64_t number, int round)
{
    return line_of(0, channel + 1) + (number % 2) * TEAM_ROUNDS + round;
}

static void nodes_answer(void)
{
    for (int round = 0; round < 2; round++)
        *swap_word(TEAM_SWAP, 5, round) = 5;
}

static uint64_t flag_at(int channel, uint64_t number, int round)
{
    return (uint64_t)(channel + 1) * CACHE_LINE + ((number % 2) * TEAM_ROUNDS + (uint64_t)round) * sizeof(uint64_t);
}

/* Each round tells the node twice as far before this one, with as many blocks as that one lacks. */
static void swaps(void)
{
    struct uccs_swap swap;
    struct uccs_team team = over("012", 0);
    team.nodes->swaps[0] = 4;
    come = nodes_answer;
    uccs_swap_begin(&swap, &team, 64);
    CHECK(swap.number == 5 && swap.block == 64 && swap.channel == 0);
    uccs_swap_run(&swap);
    CHECK(sents == 2 && sent[0].pe == 2 && sent[1].pe == 1 && sent[0].parcel && sent[1].parcel && !held_by);
    CHECK(sent[0].flag == flag_at(TEAM_SWAP, 5, 0) && sent[1].flag == flag_at(TEAM_SWAP, 5, 1));
    CHECK(sent[0].value == 5 && sent[1].value == 5 && sent[0].bytes == 64 && sent[1].bytes == 64);
    const uint64_t mail = TEAM_MAIL * (uint64_t)CACHE_LINE + NODES_BOX;
    CHECK(sent[0].to == mail + 64 && sent[1].to == mail + 128 && team.nodes->settled == team.nodes->posted);
    uccs_team_free(&team);
}

/* Meetings are flags alone; those of split-phase collectives have lines of their own, and somebody may sleep there. */
static void flags_of_meetings(void)
{
    struct uccs_swap swap;
    struct uccs_team team = over("012", 0);
    uccs_nodes_meet_begin(&swap, &team);
    CHECK(sents == 1 && sent[0].pe == 2 && !sent[0].parcel && !sent[0].watched && counts_in == 1);
    CHECK(sent[0].flag == flag_at(TEAM_SPLIT, 1, 0) && sent[0].value == 1 && *line_of(0, TEAM_SPLIT) == 1);
    CHECK(!uccs_nodes_meet(&swap) && sents == 1);
    *swap_word(TEAM_SPLIT, 1, 0) = 1;
    CHECK(!uccs_nodes_meet(&swap) && sents == 2 && sent[1].flag == flag_at(TEAM_SPLIT, 1, 1) && sent[1].pe == 1);
    *swap_word(TEAM_SPLIT, 1, 1) = 1;
    CHECK(uccs_nodes_meet(&swap) && sents == 2 && pauses == 0);
    team.nodes->swaps[0] = 4;
    come = nodes_answer;
    uccs_nodes_sync(&team);
    CHECK(sents == 4 && sent[2].watched && sent[3].watched && sent[3].flag == flag_at(TEAM_SWAP, 5, 1));
    team.nodes->swaps[0] = UINT32_MAX;
    uccs_swap_begin(&swap, &team, 8);
    CHECK(swap.number == (uint64_t)UINT32_MAX + 1 && team.nodes->swaps[0] == swap.number);
    team.nodes->leads[1].slot = 1 << 20;
    const struct uccs_far_place place = uccs_nodes_line(&team, 1, 3);
    CHECK(place.segment == FAR_ROWS && place.offset == ((UINT64_C(1) << 20) * NODE_GROUP_LINES + 3) * CACHE_LINE);
    uccs_team_free(&team);
}

/* --- Broadcasts and gathers */

static void root_sends(void)
{
    line_of(0, TEAM_RING)[1] = 1;
    memcpy(line_of(0, TEAM_RING_DATA), "data", 4);
}

static void cast_from(const char *places, int rank, int root)
{
    char dest[4] = "";
    struct uccs_team team = over(places, rank);
    come = rank == root ? 0 : root_sends;
    uccs_nodes_cast(&team, dest, "data", 4, root);
    CHECK(!held_by && (rank == root || memcmp(dest, "data", 4) == 0));
    CHECK(line_of(0, TEAM_RING)[1] == 1);
    uccs_team_free(&team);
}

/* The root's node sends to those half the way and a quarter of it behind; a node's lead alone passes on what came. */
static void casts(void)
{
    cast_from("0123", 0, 0);
    CHECK(sents == 2 && sent[0].pe == 2 && sent[1].pe == 1 && sent[0].bytes == 4 && sent[0].value == 1);
    CHECK(sent[0].to == TEAM_RING_DATA * (uint64_t)CACHE_LINE && sent[0].flag == TEAM_RING * (uint64_t)CACHE_LINE + 8);
    CHECK(*line_of(0, TEAM_RING_DATA) == 0); /* nobody on this node reads it there */
    cast_from("012", 0, 0);
    CHECK(sents == 2 && sent[0].pe == 2 && sent[1].pe == 1);
    cast_from("01", 0, 0);
    CHECK(sents == 1 && sent[0].pe == 1);
    cast_from("012", 0, 2);
    CHECK(sents == 0);
    cast_from("0123", 0, 2); /* two behind the root: one is behind this one */
    CHECK(sents == 1 && sent[0].pe == 1);
    cast_from("0012", 0, 1); /* a lead whose neighbour is the root */
    CHECK(sents == 0);
    cast_from("0012", 1, 3); /* no lead */
    CHECK(sents == 0);
    for (int root = 2; root < 4; root++) {
        cast_from("0012", 0, root); /* the last of three */
        CHECK(sents == 0);
    }
    cast_from("0012", 0, 0);
    CHECK(sents == 2 && memcmp(line_of(0, TEAM_RING_DATA), "data", 4) == 0);
}

/* Broadcasts are counted in 64 bits. */
static void late_cast(void)
{
    struct uccs_team team = over("01", 0);
    team.nodes->posted = team.nodes->settled = WIDE - 1;
    uccs_nodes_cast(&team, 0, "data", 4, 0);
    CHECK(sents == 1 && sent[0].value == WIDE && team.nodes->posted == WIDE && team.nodes->settled == WIDE - 1);
    uccs_team_free(&team);
}

static void all_answer(void)
{
    for (uint64_t number = 1; number < 4; number++)
        if (*line_of(0, TEAM_SWAP) <= number)
            *swap_word(TEAM_SWAP, number, 0) = number;
}

/* Data that a swap can bring at once takes one. */
static void gathers(void)
{
    char all[8] = "";
    struct uccs_team team = over("01", 0);
    come = all_answer;
    uccs_nodes_gather(&team, all, "abc", 3);
    CHECK(team.nodes->swaps[0] == 1 && sents == 1 && sent[0].bytes == 3 && memcmp(all, "abc\0\0\0", 6) == 0);
    uccs_team_free(&team);
}

int main(void)
{
    ways();
    disseminates();
    counts();
    flat();
    by_flags();
    exchanges();
    tables();
    exchange_without_memory();
    swaps();
    flags_of_meetings();
    casts();
    late_cast();
    gathers();
    CHECK(owned_count == 0);
    return 0;
}
