/* Collectives in two phases on one node, step by step: this is member 1 of three. What a start stores, of whom it needs what before it
 * copies and before it is complete, whom it wakes; which are brief and who does them for all; what a wait for one is told. */
#include "refused.h"

#include "shmem/coll/nbe.h"
#include "shmem/coll/nbe_nodes.h"
#include "shmem/place.h"
#include "uccs/core/bell.h"
#include "uccs/core/work.h"
#include "uccs/object/request.h"

enum { PES = 4, FIRST = 10, FROM = 1, SIZE = 3, ME = 1, BYTES = 1 << 16 };

struct shmem_team_impl lat_team_world, lat_team_shared;
static _Alignas(64) char memory[PES][BYTES];
static char outside[2][64]; /* a source and a dest that uccs_near does not know */
static struct uccs_team *const group = &lat_team_world.group;
static struct uccs_request request;
static struct operation *op; /* the last one that has been started */
static bool no_memory, no_request, counts, over_nodes;
static int mallocs, frees, bells, fences, ends, shares;

static void *last; /* allocation */

static void *malloc_stub(size_t bytes)
{
    mallocs++;
    return last = no_memory ? 0 : malloc(bytes);
}

static void release(void *at)
{
    free(at);
}

static void free_stub(void *at)
{
    CHECK(at == op);
    frees++;
    op = 0;
    free(at);
}

static struct uccs_request *materialise_stub(shmemx_request_t *handle)
{
    return no_request ? 0 : (*handle = &request);
}

static void finish_stub(struct uccs_request *of, bool error)
{
    CHECK(of == &request && !error && request.pending == 1 && request.sources == 1);
    CHECK(group->pending == 1); /* whoever destroys the team waits until this is over */
    CHECK(frees == ends + 1);
    request.pending = request.sources = 0;
    ends++;
}

static uint64_t *line_of(int rank, int line)
{
    return uccs_team_line(group, rank, line);
}

static void add_stub(struct uccs_work *work)
{
    op = (struct operation *)(void *)work;
    CHECK(*line_of(ME, TEAM_POSTED) == op->number); /* thus it can be found */
    CHECK(group->pending == 1 && request.pending == 1 && request.sources == 1);
}

static bool counts_stub(const struct uccs_request *outer, const struct uccs_request *inner)
{
    CHECK(outer == (const struct uccs_request *)memory && inner == &request);
    return counts;
}

bool lat_nbe_go_on_nodes(struct operation *of)
{
    CHECK(of == op);
    return over_nodes;
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    const bool to = strcmp(argument, "dest") == 0;
    CHECK(strcmp(call, "call") == 0 && (to || strcmp(argument, "source") == 0) && addr == outside[to]);
    return memory[pe - FIRST] + (to ? 8192 : 64);
}

#undef atomic_fence_seqcst
#define atomic_fence_seqcst() (void)fences++
#define malloc(bytes) malloc_stub(bytes)
#define free(at) free_stub(at)
#define uccs_request_materialise(handle) materialise_stub(handle)
#define uccs_request_finish_use(of, error) finish_stub(of, error)
#define uccs_request_counts(outer, inner) counts_stub(outer, inner)
#define uccs_work_add(work) add_stub(work)
#define uccs_bell_workers_slow() (void)bells++
#include "shmem/coll/nbe.c"

static char *source, *dest; /* mine */

static void threads(bool of_lead, bool of_others)
{
    for (uint32_t index = 0; index < PES; index++)
        uccs_own_of(index)->threaded = index == FROM ? of_lead : of_others;
}

/* The others' lines are this much ahead of the next operation to be started. */
static void others(int line, int64_t first, int64_t last)
{
    *line_of(0, line) = group->posted + 1 + (uint64_t)first;
    *line_of(2, line) = group->posted + 1 + (uint64_t)last;
}

/* The same for the operation under way. */
static void others_now(int line, int64_t first, int64_t last)
{
    *line_of(0, line) = op->number + (uint64_t)first;
    *line_of(2, line) = op->number + (uint64_t)last;
}

static void plan(void)
{
    mallocs = frees = bells = fences = ends = shares = 0;
    others(TEAM_POSTED, -1, -1);
    others(TEAM_COPIED, -1, -1);
    uccs_own_of(0)->workers = 0;
    CHECK(group->pending == 0);
}

static bool advances(void)
{
    return op->work.advance(&op->work);
}

static void is_over(void)
{
    const uint64_t number = group->posted;
    CHECK(advances());
    CHECK(frees == 1 && ends == 1 && group->pending == 0 && group->copied == number);
}

static shmemx_request_t handle;

static void sync_started(void)
{
    CHECK(lat_team_sync_nbe(SHMEM_TEAM_WORLD, &handle) == 0 && handle == &request);
}

static void fcollect_started(size_t bytes)
{
    CHECK(lat_fcollect_nbe("call", SHMEM_TEAM_WORLD, dest, source, bytes, &handle) == 0);
}

static void broadcast_started(int root)
{
    CHECK(lat_broadcast_nbe("call", SHMEM_TEAM_WORLD, dest, source, 8, root, &handle) == 0);
}

/* All of them, each member alone late; "at least" this operation. */
static void a_sync(void)
{
    for (int late = 0; late < 4; late++) {
        plan();
        const uint64_t number = group->posted + 1;
        sync_started();
        CHECK(op->number == number && group->posted == number && mallocs == 1 && !op->brief && op->turn == 0);
        others_now(TEAM_POSTED, late & 1 ? -1 : 1, late & 2 ? -1 : 0);
        if (late) {
            CHECK(!advances() && !advances() && *line_of(ME, TEAM_COPIED) == number - 1 && !op->shared);
            others_now(TEAM_POSTED, late & 1 ? 0 : 1, 0);
        }
        is_over();
        CHECK(*line_of(ME, TEAM_COPIED) == number);
        CHECK(bells == 0 && fences == 0);
    }
}

/* Each copies in the order of their starts, and is complete once all others have, too. */
static void an_fcollect(void)
{
    plan();
    fcollect_started(8);
    others_now(TEAM_POSTED, 0, -1);
    CHECK(!advances() && !op->work.labour);
    others_now(TEAM_POSTED, 0, 0);
    group->copied--; /* the one before has not copied yet */
    CHECK(!advances() && !op->work.labour);
    group->copied++;
    CHECK(!advances() && op->work.labour && !op->copied && !op->shared);
    for (int rank = 0; rank < SIZE; rank++)
        memset(memory[FROM + rank] + (source - memory[FROM + ME]), 'a' + rank, 8);
    memset(dest, '.', 32);
    op->work.labour(&op->work);
    op->work.labour = 0;
    CHECK(memcmp(dest, "aaaaaaaabbbbbbbbcccccccc....", 28) == 0 && op->copied && !op->shared);
    CHECK(*line_of(ME, TEAM_COPIED) == op->number - 1);
    others_now(TEAM_POSTED, -1, -1); /* it does not ask again */
    others_now(TEAM_COPIED, -1, 0);
    CHECK(!advances() && op->shared && *line_of(ME, TEAM_COPIED) == op->number && group->copied == op->number);
    CHECK(!op->work.labour);
    others_now(TEAM_COPIED, 0, -1);
    CHECK(!advances());
    *line_of(ME, TEAM_COPIED) = 0; /* it is not stored twice */
    others_now(TEAM_COPIED, 0, 0);
    *line_of(ME, TEAM_COPIED) = op->number;
    is_over();
    plan();
    fcollect_started(0); /* nothing to copy */
    CHECK(!op->share);
    others_now(TEAM_POSTED, 0, 0);
    is_over();
}

static void a_broadcast_of(int root)
{
    plan();
    broadcast_started(root);
    for (int rank = 0; rank < SIZE; rank++)
        *line_of(rank, TEAM_POSTED) = op->number - (rank == root); /* all but the root */
    CHECK(!advances() && !op->work.labour);
    for (int rank = 0; rank < SIZE; rank++)
        *line_of(rank, TEAM_POSTED) = op->number - (rank != root); /* the root alone: it suffices */
    CHECK(!advances() && op->work.labour);
    memset(memory[FROM + root] + (source - memory[FROM + ME]), 'r' + root, 8);
    memset(dest, '.', 9);
    op->work.labour(&op->work);
    CHECK(dest[0] == 'r' + root && dest[7] == 'r' + root && dest[8] == '.');
    if (root == ME) { /* its source is read until all have copied */
        CHECK(!advances());
        others_now(TEAM_COPIED, 0, 0);
    }
    is_over();
    *line_of(ME, TEAM_POSTED) = group->posted;
}

#include "phases_brief.h"

int main(void)
{
    uccs_core = (struct uccs_core){.npes = 100,
                                   .me = FIRST + FROM + ME,
                                   .index = FROM + ME,
                                   .first = FIRST,
                                   .pes = PES,
                                   .size = PES,
                                   .heap_start = (uintptr_t)memory[FROM + ME],
                                   .heap_peers = (uintptr_t)memory[0],
                                   .heap_stride = BYTES,
                                   .heap_bytes = BYTES};
    uccs_core.groups = aligned_alloc(CACHE_LINE, (size_t)PES * NODE_GROUP_LINES * CACHE_LINE);
    uccs_core.own = aligned_alloc(CACHE_LINE, (size_t)PES * NODE_OWN_BYTES);
    CHECK(uccs_core.groups && uccs_core.own);
    for (int rank = 0; rank < PES; rank++)
        memset(uccs_core.groups + (size_t)rank * NODE_GROUP_LINES * CACHE_LINE, 0, (TEAM_COPIED + 1) * CACHE_LINE);
    for (uint32_t index = 0; index < PES; index++)
        memset(uccs_own_of(index), 0, sizeof(struct uccs_own));
    lat_team_world = (struct shmem_team_impl){.rank = ME,
                                              .size = SIZE,
                                              .group = {.rank = ME, .size = SIZE, .start = FROM, .stride = 1}};
    source = memory[FROM + ME] + 64;
    dest = source + BYTES / 4;
    mistakes();
    lat_state = LAT_RUNNING;
    a_sync();
    an_fcollect();
    for (int root = 0; root < SIZE; root++)
        a_broadcast_of(root);
    wakes();
    which_are_brief();
    brief_ones();
    a_brief_copy_elsewhere();
    tells();
    all_arguments();
    over_several_nodes();
    release(uccs_core.own);
    release(uccs_core.groups);
    return 0;
}
