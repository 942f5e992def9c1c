/* Teams: PEs a stride apart that meet, and give each other small data. The face of this folder.
 *
 * A team has a slot in the node's group area; each slot has one row of NODE_GROUP_LINES cache lines for every PE:
 *
 *   lines 0 .. 15    flags of the rounds of the dissemination barrier; each written by one partner
 *   lines 16, 17     of member 0: counter and release word of the counting barrier
 *   lines 18, 19     of the split-phase collectives (src/shmem/coll/nbe.c), written by the row's owner
 *   lines 20 .. 35   small posts, written by the row's owner, read by all
 *   lines 36 .. 295  large posts
 *   lines 296 .. 315 over several nodes: swaps, those of the split-phase collectives, broadcasts, parcels
 *   lines 316 ..     over several nodes: the data that those bring
 *
 * Disjoint teams may hold the same slot, so nothing belongs to a slot as a whole.
 *
 * Invariants: epochs only grow, so a flag means "at least my epoch", and nothing is reset while the team lives. A
 * partner can be at most one barrier ahead, since it needs my flag of the next one. A slot is reused only after every
 * member of the team before has let go of it by a last dissemination (uccs_team_part). Each member clears its own row
 * before the sync of the parent that makes the new team (src/shmem/split.c).
 *
 * A team without a slot (slot < 0) meets on a symmetric array of the program: active sets beyond the number of slots.
 * It cannot post.
 *
 * One thread at a time per team (the standard's rule for teams); any number of teams at once. */
#ifndef UCCS_SYNC_TEAM_H
#define UCCS_SYNC_TEAM_H

#include "rte/node.h"
#include "uccs/core/core.h"
#include "uccs/far/far.h"
#include "uccs/core/wait.h"

#include <stdbool.h>

#define TEAM_ROUNDS 16 /* 2^16 = NODE_MAX_PES */
#define TEAM_ARRIVED 16
#define TEAM_RELEASED 17
#define TEAM_POSTED 18 /* split-phase collectives called, and my shares of them done (src/shmem/coll/nbe.c) */
#define TEAM_COPIED 19
#define TEAM_POSTS 20
#define TEAM_SWAP 296 /* of each node's lead, as are the next ones: a count, then flags in 4 lines */
#define TEAM_SPLIT 301
#define TEAM_RING 306
#define TEAM_CHUNKS 307 /* 8 lines */
#define TEAM_LANDED 315 /* of each member: parcels that have come for it */
#define TEAM_MAIL 316
#define TEAM_RING_DATA 1340
#define TEAM_FLAG_AT_REST (-1L) /* of a team without a slot */

struct uccs_nodes;

struct uccs_team {
    int slot;          /* or -1 */
    int rank;          /* mine */
    int size;          /* members */
    int start, stride; /* member r is PE uccs_core.first + start + r * stride; its node index where it is near */
    uint64_t epoch;    /* syncs done */
    uint64_t exchange; /* number of the last exchange of posts */
    uint64_t settled;  /* every member has finished every exchange up to this number */
    long *flags;       /* without a slot: my TEAM_ROUNDS flags, symmetric, at rest between calls */
    uint64_t posted;   /* split-phase collectives called */
    uint64_t copied;   /* split-phase collectives of which my share is done; under the progress list's lock */
    uint32_t pending;  /* split-phase collectives not complete; release by the thread that completes one, acquire */
    bool far;          /* some members are on other nodes; then also: */
    struct uccs_nodes *nodes;
};

/* How teams meet on this node; AUTO looks at the PEs and the cores. */
enum uccs_sync { UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, UCCS_SYNC_FLAT };
extern enum uccs_sync uccs_sync_how; /* written by init alone, equal on all PEs */

/* The row of member `rank`. */
static inline char *uccs_team_row(const struct uccs_team *team, int rank)
{
    size_t index = (size_t)(team->start + rank * team->stride);
    size_t row = (size_t)team->slot * uccs_core.size + index;
    return uccs_core.groups + row * NODE_GROUP_LINES * CACHE_LINE;
}

/* The line `line` of member `rank`. */
static inline void *uccs_team_line(const struct uccs_team *team, int rank, int line)
{
    return uccs_team_row(team, rank) + (size_t)line * CACHE_LINE;
}

static inline int uccs_team_pe(const struct uccs_team *team, int rank)
{
    return (int)uccs_core.first + team->start + rank * team->stride;
}

static inline bool uccs_team_is_near(const struct uccs_team *team, int rank)
{
    return (uint32_t)(team->start + rank * team->stride) < uccs_core.size;
}

/* Call it after rank, size, start and stride are set: finds out which member is on which node, and makes `nodes` unless
 * it is there. Returns 0, or -1 when there is no memory. */
int uccs_team_span(struct uccs_team *team);
void uccs_team_free(struct uccs_team *team);
/* Sets the slot of the team, equal at all members. */
void uccs_team_settle_in(struct uccs_team *team, int slot);

/* All members have arrived when one leaves. Every member then sees what a member stored before (release of the flag,
 * acquire by the partner, transitively). */
void uccs_team_sync(struct uccs_team *team);

/* The same in the middle of an exchange: says nothing of the posts that are still to be read. */
void uccs_team_meet(struct uccs_team *team);

/* The last sync of a team: when it returns, no other member reads my row any more (each waits at
 * flags in its own row alone). */
void uccs_team_part(struct uccs_team *team);

/* Zeroes the words of my row that say which epoch it is. */
void uccs_team_clear(struct uccs_team *team);

/* An exchange over any team with a slot: every member gives up to POST_LARGE bytes, and then looks at what the others
 * gave. Not for hot paths. */
void uccs_team_exchange(struct uccs_team *team, const void *mine, size_t bytes);
/* The bytes that `rank` gave in the last exchange. */
const void *uccs_team_given(const struct uccs_team *team, int rank, size_t bytes);

/* --- Posts: small data that a member lays open for the others, in lines of its own row ---------------------------
 *
 * An exchange has a number, which grows by one each time and on which all members agree because
 * all make the same calls. A member writes data and number into its place of that exchange; a reader
 * waits until the number is there. So data travels with the flag: one hop.
 *
 *   n = uccs_post_begin(team, bytes);          agree that places can be reused (rarely: a sync)
 *   memcpy(uccs_post_room(team, bytes), data, bytes);  uccs_post_publish(team, bytes);
 *   from = uccs_post_await(team, rank, bytes);
 *
 * Up to POST_SMALL bytes share a line with the number; up to POST_LARGE have a place of their own. Places
 * are rings: exchange n uses the place of exchange n - ring. team->settled says up to which number every
 * member has finished; begin syncs where that does not yet cover the place. A member that has read every
 * member's post of exchange n knows that all have finished n - 1, and says so in settled. So exchanges in
 * which every member reads all posts never sync, and one-way ones sync once per ring.
 *
 * Invariant: settled changes by the same rule at every member, so either all sync or none. Posts are not for teams
 * over several nodes but for their near parts. */

enum {
    POST_SMALL = 56,
    POST_LARGE = 4096,
    POST_SMALL_RING = 16,
    POST_LARGE_RING = 4,
    POST_FIRST_LINE = TEAM_POSTS,
    POST_LARGE_LINES = 1 + POST_LARGE / CACHE_LINE
};

/* The data comes first: it is aligned for every type. */
struct uccs_post {
    cache_aligned char data[POST_SMALL];
    uint64_t number; /* release by the owner, acquire by the readers */
};
_Static_assert(sizeof(struct uccs_post) == CACHE_LINE, "one line");
_Static_assert(POST_FIRST_LINE + POST_SMALL_RING + POST_LARGE_RING * POST_LARGE_LINES <= TEAM_SWAP,
               "a row holds its posts");

static inline struct uccs_post *uccs_post_place(const struct uccs_team *team, int rank, size_t bytes)
{
    uint64_t line = POST_FIRST_LINE;
    if (bytes <= POST_SMALL)
        line += team->exchange % POST_SMALL_RING;
    else
        line += POST_SMALL_RING + team->exchange % POST_LARGE_RING * POST_LARGE_LINES;
    return uccs_team_line(team, rank, (int)line);
}

/* Begins an exchange whose posts hold at most `bytes`, equal at all members; returns its number. */
static inline uint64_t uccs_post_begin(struct uccs_team *team, size_t bytes)
{
    uint64_t ring = bytes <= POST_SMALL ? POST_SMALL_RING : POST_LARGE_RING;
    if (lat_unlikely(team->exchange + 1 > team->settled + ring))
        uccs_team_sync(team);
    return ++team->exchange;
}

/* Where my data of this exchange goes. */
static inline void *uccs_post_room(const struct uccs_team *team, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(team, team->rank, bytes);
    return bytes <= POST_SMALL ? place->data : (char *)(place + 1);
}

static inline void uccs_post_publish(const struct uccs_team *team, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(team, team->rank, bytes);
    atomic_store_release(&place->number, team->exchange); /* acquire: uccs_post_await at the others */
}

/* The data of the post of `rank` in this exchange, which is known to be there. */
static inline const void *uccs_post_data(const struct uccs_team *team, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(team, rank, bytes);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

/* Waits for the post of `rank` in this exchange; returns its data. */
static inline const void *uccs_post_await(const struct uccs_team *team, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(team, rank, bytes);
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(&place->number) < team->exchange)
        uccs_pause(&wait);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

/* --- Teams over several nodes: how their nodes meet and swap small data ------------------------------------------
 *
 * The members on one node are a team of their own, `near`, with all that teams on one node have. Its member 0 is the
 * node's lead: messages for the node go to its process, and land in its row, where all near members
 * see them. So a message needs one process to be running, and no member has to pass on what it brought.
 *
 * A swap: each node gives a block of the same size and gets those of all. Near members write their data into the
 * first place of the lead's box and meet. Then in round r each node sends the 2^r blocks it has to the one 2^r
 * before it (Bruck), so ceil(log2(nodes)) rounds bring all, and with no data it is a barrier. Place i of the box holds
 * the block of the i-th node behind mine.
 *
 *   uccs_swap_begin(&swap, team, block);
 *   ... write to the box ...
 *   uccs_swap_run(&swap);
 *   ... read the box ...
 *
 * Invariants: swaps are numbered. Flags hold the number of the last swap, and boxes and flags of odd and even ones
 * are separate: a member in swap n knows that all have left n - 2, since it has left n - 1, in which all arrived after
 * they had left n - 2. So nothing is reset, no flag is overtaken, and near members may read boxes until the swap after
 * the next.
 *
 * Split-phase meetings have flags of their own (channel 1) and run under the progress list's lock, beside the one
 * thread that may use the team. */

enum {
    NODES_BOX = 32 << 10, /* bytes of all nodes' blocks */
    NODES_RING = 8,       /* places for broadcasts */
    NODES_RING_BYTES = 4096,
    NODES_CHUNKS = 64, /* of a long broadcast */
};

struct uccs_nodes {
    struct uccs_team near;    /* the members on my node: their own counts, in the same rows */
    int first;                /* rank of the lowest of them */
    int count, mine;          /* nodes; which is mine */
    int widest, narrowest;    /* most and fewest members on one */
    uint64_t swaps[2];        /* begun, by channel */
    uint64_t posted, settled; /* broadcasts through the ring; those that all have finished */
    uint64_t landed;          /* parcels counted in my line TEAM_LANDED */
    char *given;              /* the last uccs_team_exchange: of all members */
    struct uccs_lead {
        int rank; /* of the node's first member; the last entry's is the team's size */
        int slot; /* of the team there: sets have different ones */
    } leads[];
};

static inline int uccs_nodes_members(const struct uccs_nodes *nodes, int node)
{
    return nodes->leads[node + 1].rank - nodes->leads[node].rank;
}

/* The node `distance` behind mine, around the circle. */
static inline int uccs_nodes_around(const struct uccs_nodes *nodes, int distance)
{
    int node = nodes->mine + distance;
    return node >= nodes->count ? node - nodes->count : node;
}

int uccs_nodes_of(const struct uccs_nodes *nodes, int rank);
int uccs_nodes_lead_pe(const struct uccs_team *team, int node);

/* A line of a member's row on any node, for parcels. */
struct uccs_far_place uccs_nodes_line(const struct uccs_team *team, int node, int line);

struct uccs_swap {
    struct uccs_team *team;
    uint64_t number;
    size_t block; /* bytes of one node; at most NODES_BOX / nodes */
    uint32_t held;
    int channel, round;
    bool arrived;
};

void uccs_swap_begin(struct uccs_swap *swap, struct uccs_team *team, size_t block);
/* The block of the i-th node behind mine; 0: mine. */
char *uccs_swap_box(const struct uccs_swap *swap, int distance);
void uccs_swap_run(struct uccs_swap *swap);

/* The block of a node, in a swap that is over. */
static inline const char *uccs_swap_block(const struct uccs_swap *swap, int node)
{
    const struct uccs_nodes *nodes = swap->team->nodes;
    return uccs_swap_box(swap, node >= nodes->mine ? node - nodes->mine : node - nodes->mine + nodes->count);
}

_Static_assert(TEAM_MAIL + 2 * NODES_BOX / CACHE_LINE == TEAM_RING_DATA &&
                   TEAM_RING_DATA + NODES_RING * NODES_RING_BYTES / CACHE_LINE <= NODE_GROUP_LINES &&
                   NODES_CHUNKS * sizeof(uint64_t) <= (TEAM_LANDED - TEAM_CHUNKS) * CACHE_LINE,
               "a row holds it all");

/* A swap without data: all arrive before any leaves. */
void uccs_nodes_sync(struct uccs_team *team);

/* A split-phase meeting: begin once, then look; returns true when all have come. Never waits. */
void uccs_nodes_meet_begin(struct uccs_swap *swap, struct uccs_team *team);
bool uccs_nodes_meet(struct uccs_swap *swap);

/* Every member gets `bytes` of every member, at rank * bytes of `all`. */
void uccs_nodes_gather(struct uccs_team *team, void *all, const void *mine, size_t bytes);
/* Brings at most NODES_RING_BYTES of member root to all, by a tree of nodes. It waits for no reader: the ring's rare
 * sync does. */
void uccs_nodes_cast(struct uccs_team *team, void *dest, const void *source, size_t bytes, int root);

/* Waits until the sources of parcels may be reused. */
void uccs_nodes_settle(const uint32_t *held);

#endif
