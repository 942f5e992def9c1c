/* Teams over nodes: who is where, meetings that nobody leaves too early, exchanges, broadcasts and gathers that are cut into pieces. The
 * network is made up (team_nodes_job.h); each PE is a process. */
#include <stdlib.h>

#include "team_nodes_job.h"

#include "uccs/sync/cast.c"
#include "uccs/sync/exchange.c"
#include "uccs/sync/near.c"
#include "uccs/sync/span.c"
#include "uccs/sync/swap.c"
#include "uccs/sync/team.c"
#undef malloc
#undef calloc

static struct uccs_team team;

/* The team of all PEs, in slot 0. */
static void open_world(void)
{
    team = (struct uccs_team){.rank = me, .size = npes, .start = -(int)uccs_core.first, .stride = 1};
    CHECK(uccs_team_span(&team) == 0 && team.far == (nodes > 1) && (team.nodes != 0) == team.far);
    uccs_team_settle_in(&team, 0);
}

static void close_world(void)
{
    uccs_team_free(&team);
    CHECK(!team.nodes && !team.far && !team.pes);
}

/* ---- who is where ---- */

static void check_places(void)
{
    const struct uccs_nodes *all = team.nodes;
    int place = 0, widest = 0, narrowest = MOST;
    CHECK(all->count == nodes && all->mine == node_of[me] && all->leads[nodes].place == npes);
    for (int node = 0; node < nodes; node++) {
        CHECK(all->leads[node].place == place && uccs_nodes_members(all, node) == pes_of[node] &&
              all->leads[node].slot == 0);
        for (int pe = 0; pe < npes; pe++)
            if (node_of[pe] == node) {
                CHECK(uccs_nodes_rank(all, place) == pe && uccs_nodes_place(all, pe) == place);
                CHECK(uccs_nodes_of(all, pe) == node);
                CHECK(index_of[pe] > 0 || uccs_nodes_lead_pe(&team, node) == pe);
                place++;
            }
        widest = pes_of[node] > widest ? pes_of[node] : widest;
        narrowest = pes_of[node] < narrowest ? pes_of[node] : narrowest;
        CHECK(uccs_nodes_around(all, node) == (all->mine + node) % nodes);
    }
    CHECK(all->widest == widest && all->narrowest == narrowest && all->first == all->leads[all->mine].place);
    CHECK(all->near.rank == index_of[me] && all->near.size == pes_of[node_of[me]] && all->near.slot == 0);
    for (int i = 0; i < all->near.size; i++)
        CHECK(uccs_team_pe(&all->near, i) == uccs_nodes_rank(all, all->first + i));
}

/* Without memory for any of its tables there is no team over nodes. */
static void lacks_memory(void)
{
    struct uccs_team other = {.rank = me, .size = npes, .start = -(int)uccs_core.first, .stride = 1};
    int most = 1;
    for (;; most++) {
        failures = most;
        if (uccs_team_span(&other) == 0)
            break;
        CHECK(!other.nodes && !other.pes && !other.far);
    }
    CHECK(most > 3 && failures > 0 && other.far);
    failures = 0;
    uccs_team_free(&other);
}

/* ---- meetings ---- */

static void meets_by_flags(struct uccs_team *all)
{
    const int slot = all->slot;
    const bool far = all->far;
    all->slot = -1;
    all->far = false;
    all->flags = shared->flags[me];
    uccs_team_meet(all);
    all->slot = slot;
    all->far = far;
}

static void meets_in_phases(struct uccs_team *all)
{
    struct uccs_swap swap;
    if (!all->far) {
        uccs_team_meet(all);
        return;
    }
    uccs_nodes_meet_begin(&swap, all);
    while (!uccs_nodes_meet(&swap))
        usleep(20);
}

static void meets_to_exchange(struct uccs_team *all)
{
    uccs_team_exchange(all, &me, sizeof me);
    for (int rank = 0; rank < npes; rank++)
        CHECK(memcmp(uccs_team_given(all, rank, sizeof me), &rank, sizeof rank) == 0);
}

static void all_meetings(void)
{
    static void (*const meetings[])(struct uccs_team *) = {uccs_team_sync, meets_by_flags, meets_in_phases,
                                                           meets_to_exchange, uccs_team_part};
    for (int way = 0; way < 4; way++)
        for (int late = 0; late<npes; late += npes> 1 ? npes - 1 : 1)
            for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
                uccs_sync_how =
                    i + 1 < sizeof meetings / sizeof *meetings ? (enum uccs_sync)way : UCCS_SYNC_DISSEMINATE;
                uccs_core.oversubscribed = late == 0;
                all_come();
                uccs_team_clear(&team); /* another way counts otherwise */
                team.epoch = team.exchange = team.settled = 0;
                if (team.far)
                    team.nodes->near.epoch = team.nodes->swaps[0] = team.nodes->swaps[1] = 0;
                all_come();
                meets(&team, meetings[i], late);
            }
    uccs_core.oversubscribed = 0;
    uccs_sync_how = UCCS_SYNC_DISSEMINATE;
    for (int round = 0; round < TEAM_ROUNDS; round++)
        CHECK(shared->flags[me][round] == TEAM_FLAG_AT_REST);
}

/* ---- data ---- */

static unsigned char byte_of(int rank, size_t at, int round)
{
    return (unsigned char)(rank * 31 + (int)(at * 7) + round + 1);
}

static void exchanges(size_t bytes, int round)
{
    unsigned char *mine = malloc(bytes);
    CHECK(mine);
    for (size_t at = 0; at < bytes; at++)
        mine[at] = byte_of(me, at, round);
    uccs_team_exchange(&team, mine, bytes);
    for (int rank = 0; rank < npes; rank++) {
        const unsigned char *given = uccs_team_given(&team, rank, bytes);
        for (size_t at = 0; at < bytes; at++)
            CHECK(given[at] == byte_of(rank, at, round));
    }
    free(mine);
}

static void all_exchanges(void)
{
    static const size_t sizes[] = {1, 8, 55, 56, 57, 64, 4095, 4096};
    for (int round = 0; round < 24; round++)
        exchanges(sizes[round % 8], round);
    for (size_t bytes = 20000; team.far && bytes <= 200000; bytes += 60000) /* a swap brings less at once */
        exchanges(bytes, 1);
}

/* Pieces of members alone, as where nodes are wide. */
static void cut_gather(void)
{
    enum { BYTES = 10 };
    char mine[BYTES], all[MOST * BYTES];
    struct cut cut = {.all = all, .bytes = BYTES, .at = 3, .piece = 4, .window = 2};
    memset(all, 0, sizeof all);
    for (int at = 0; at < BYTES; at++)
        mine[at] = (char)byte_of(me, (size_t)at, 0);
    for (; cut.from < team.nodes->widest; cut.from += cut.window) {
        all_come();
        const uint32_t before = atomic_load_acquire(&shared->parcels);
        all_come();
        while (me == 2 && atomic_load_acquire(&shared->parcels) == before) /* what other nodes send is there before */
            usleep(20);
        gather_cut(&team, &cut, mine);
    }
    cut.from = 0;
    cut.window = team.nodes->widest;
    cut.at = 0;
    cut.piece = 3;
    gather_cut(&team, &cut, mine);
    for (int rank = 0; rank < npes; rank++)
        for (int at = 0; at < BYTES; at++)
            CHECK(all[rank * BYTES + at] == (at < 7 ? (char)byte_of(rank, (size_t)at, 0) : 0));
}

static void casts(int root, size_t bytes, int round)
{
    unsigned char source[NODES_RING_BYTES] = {0}, dest[NODES_RING_BYTES] = {0};
    for (size_t at = 0; at < bytes; at++)
        source[at] = me == root ? byte_of(root, at, round) : 0;
    uccs_nodes_cast(&team, dest, source, bytes, root);
    for (size_t at = 0; at < bytes && me != root; at++)
        CHECK(dest[at] == byte_of(root, at, round));
    CHECK(me == root || bytes == sizeof dest || dest[bytes] == 0);
}

/* The ring's flags and its room are used up in turn; only then all meet. */
static void all_casts(void)
{
    for (int round = 0; round < 3 * NODES_RING; round++)
        casts(round % npes, (size_t)(1 + round * 37 % NODES_RING_BYTES), round);
    uccs_nodes_sync(&team);
    CHECK(team.nodes->settled == team.nodes->posted);
    uint64_t swaps = team.nodes->swaps[0];
    for (int i = 0; i < NODES_RING_ROOM / NODES_RING_BYTES; i++)
        casts(0, NODES_RING_BYTES, i);
    CHECK(team.nodes->swaps[0] == swaps);
    casts(npes - 1, 1, 0);
    CHECK(team.nodes->swaps[0] == swaps + 1);
    for (int i = 1; i < NODES_RING; i++)
        casts(npes - 1, 1, i);
    CHECK(team.nodes->swaps[0] == swaps + 1);
    casts(0, 1, 0);
    CHECK(team.nodes->swaps[0] == swaps + 2);
}

/* ---- posts ---- */

/* One-way posts meet once for each turn of the ring. */
static void posts(size_t bytes, uint64_t ring)
{
    uccs_team_sync(&team);
    const uint64_t epoch = team.epoch;
    for (uint64_t i = 0; i < ring; i++) {
        const uint64_t number = uccs_post_begin(&team, bytes);
        CHECK(number == team.exchange && team.epoch == epoch);
        unsigned char *room = uccs_post_room(&team, bytes);
        room[0] = byte_of(me, 0, (int)i);
        room[bytes - 1] = byte_of(me, bytes - 1, (int)i);
        uccs_post_publish(&team, bytes);
        const unsigned char *next = uccs_post_await(&team, (me + 1) % npes, bytes);
        CHECK(next[bytes - 1] == byte_of((me + 1) % npes, bytes - 1, (int)i) &&
              next == uccs_post_data(&team, (me + 1) % npes, bytes));
    }
    uccs_post_begin(&team, bytes);
    CHECK(team.epoch == (npes > 1 ? epoch + 1 : epoch) && team.settled == team.exchange - 1);
    all_come();
}

/* ---- a row ---- */

static bool zero_line(int line)
{
    static const char none[CACHE_LINE];
    return memcmp(uccs_team_line(&team, team.rank, line), none, sizeof none) == 0;
}

static void cleared(void)
{
    enum { LARGE = POST_FIRST_LINE + POST_SMALL_RING };
    all_come();
    memset(uccs_team_row(&team, team.rank), 0xee, ROW);
    uccs_team_clear(&team);
    for (int line = 0; line < NODE_GROUP_LINES; line++) {
        const struct uccs_post *post = uccs_team_line(&team, team.rank, line);
        const bool small = line >= POST_FIRST_LINE && line < LARGE;
        const bool large = line >= LARGE && line < TEAM_SWAP && (line - LARGE) % POST_LARGE_LINES == 0;
        CHECK(zero_line(line) == (line < TEAM_POSTS || (line >= TEAM_SWAP && line < TEAM_MAIL)));
        if (line >= TEAM_POSTS && (line < TEAM_SWAP || line >= TEAM_MAIL))
            CHECK((post->number == 0) == (small || large) && post->data[0] == (char)0xee);
    }
    all_come();
}

static void lives(void)
{
    open_world();
    if (team.far) {
        check_places();
        lacks_memory();
    }
    all_exchanges();
    if (team.far) {
        cut_gather();
        all_casts();
    } else {
        posts(POST_SMALL, POST_SMALL_RING);
        posts(POST_SMALL + 1, POST_LARGE_RING);
    }
    all_meetings();
    cleared();
    close_world();
}

/* More nodes than a swap has bytes for. */
static void too_many_nodes(void)
{
    struct uccs_nodes most = {.count = NODES_BOX + 1, .widest = 1};
    struct uccs_team large = {.size = NODES_BOX + 1, .far = true, .nodes = &most};
    char byte = 0;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        uccs_nodes_gather(&large, &byte, &byte, 1);
        _exit(91);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 90);
}

int main(void)
{
    static const char *const jobs[] = {"0", "000", "01", "00011", "01012", "0120", "01234"};
    open_areas();
    too_many_nodes();
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        job(jobs[i], lives);
    return 0;
}
