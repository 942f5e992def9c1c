#include "mpi/create/create.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/memory/block.h"
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A reason for which no line is printed: the MPI refuses the communicator, so there will be no window. */
#define NO_WINDOW ""

/* Returns whether processes of another MPI_COMM_WORLD are in a group. */
static bool has_foreign(MPI_Group group)
{
    enum { SOME = 256 };
    int size = 0, ranks[SOME], worlds[SOME];
    bool foreign = false;
    PMPI_Group_size(group, &size);
    for (int from = 0; from < size && !foreign; from += SOME) {
        const int n = size - from < SOME ? size - from : SOME;
        for (int i = 0; i < n; i++)
            ranks[i] = from + i;
        PMPI_Group_translate_ranks(group, n, ranks, lmpi_process.world, worlds);
        for (int i = 0; i < n; i++)
            foreign |= worlds[i] == MPI_UNDEFINED;
    }
    return foreign;
}

/* An MPI may compare each rank with all of the world, so the answer stays with the communicator and its duplicates. */
static bool is_foreign(MPI_Comm comm)
{
    static char no, yes;
    void *known = 0;
    int found = 0;
    MPI_Group group;
    PMPI_Comm_get_attr(comm, lmpi_process.foreign_key, &known, &found);
    if (found)
        return known == &yes;
    PMPI_Comm_group(comm, &group);
    const bool foreign = comm != MPI_COMM_WORLD && has_foreign(group);
    lmpi_real.Group_free(&group);
    PMPI_Comm_set_attr(comm, lmpi_process.foreign_key, foreign ? &yes : &no);
    return foreign;
}

/* Whether windows of a communicator can be ours. Returns null, or why not; the same at all ranks. */
static const char *refuse_comm(MPI_Comm comm)
{
    int inter = 0;
    if (!lmpi_process.running)
        return lmpi_process.why_not;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NO_WINDOW;
    return is_foreign(comm) ? "it holds processes of another MPI_COMM_WORLD" : 0;
}

static const char *name_of(int flavor)
{
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE: return "created";
    case MPI_WIN_FLAVOR_ALLOCATE: return "allocated";
    case MPI_WIN_FLAVOR_SHARED: return "shared";
    }
    return "dynamic";
}

/* Prints, under LATERAL_MPI=verbose, who carries a window. */
static void log_carrier(struct lmpi_window *window, int flavor, const char *why_not)
{
    if (!lmpi_verbose() || (window && window->rank) || (!window && !*why_not))
        return;
    if (!window) {
        lmpi_log("a window (%s) is carried by " LMPI_MPI ": %s", name_of(flavor), why_not);
        return;
    }
    int mapped = 0, local = 0, ranged = 0;
    for (int i = 0; i < window->ranks; i++) {
        const struct lmpi_target *target = lmpi_target(window, i);
        mapped += target->near || target->ranged;
        ranged |= target->ranged;
        local += target->local;
    }
    char size[40] = ""; /* a dynamic window has none */
    if (flavor != MPI_WIN_FLAVOR_DYNAMIC)
        snprintf(size, sizeof size, ", %zu bytes here", (size_t)window->bytes);
    lmpi_log("window %d (%s%s) is carried by Lateral: %d of %d ranks by load and store%s%s%s", window->number,
             name_of(flavor), size, mapped, window->ranks, ranged ? " where the node maps their memory" : "",
             mapped < local ? ", others by copies of the kernel" : "",
             local < window->ranks ? ", others by messages" : "");
}

static struct lmpi_window *new_window(const struct lmpi_offer *offer, MPI_Comm comm)
{
    static int numbers;
    struct lmpi_window *window = lmpi_window_new();
    if (!window)
        return 0;
    lmpi_rows_free(window->targets, window->capacity, sizeof(*window->targets));
    *window = (struct lmpi_window){.handle = window->handle, .posts = window->posts, .holder = window};
    PMPI_Comm_size(comm, &window->ranks);
    PMPI_Comm_rank(comm, &window->rank);
    PMPI_Comm_group(comm, &window->group);
    window->target = lmpi_rows_new(window->ranks, sizeof(*window->target));
    window->peer = lmpi_rows_new(window->ranks, sizeof(*window->peer));
    window->near_first = window->near_end = window->rank;
    window->shift = LMPI_SCATTERED;
    window->flavor = offer->flavor;
    window->model = MPI_WIN_UNIFIED;
    window->unit = offer->unit;
    window->bytes = (MPI_Aint)offer->bytes;
    window->base = offer->base;
    window->own = offer->memory;
    window->own_block = offer->block;
    window->of_first = offer->of_first;
    window->start_ranks.group = window->post_ranks.group = MPI_GROUP_NULL;
    window->exposed = -1;
    window->info = MPI_INFO_NULL;
    window->number = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED);
    return window;
}

/* Makes memory for words of this rank, unless the window has it. */
static bool make_words(uccs_memory_t *words, size_t n, struct lmpi_handle *handle)
{
    if (n && !*words && uccs_memory_allocate(lmpi_process.context, n * sizeof(uint64_t), words) != UCCS_OK)
        return false;
    return lmpi_memory_name(*words, handle);
}

/* Makes what this rank brings, and describes it. Returns null, or why it cannot. */
static const char *make_record(const struct lmpi_offer *offer, struct lmpi_window *window, int ids,
                               struct lmpi_record *record)
{
    if (offer->why_not)
        return offer->why_not;
    if (window->handle == MPI_WIN_NULL)
        return "the MPI makes no handle for it";
    if (!window->target || !window->peer)
        return "no memory";
    if (!lmpi_window_reserve(window) || !make_words(&window->posts, (size_t)lmpi_process.ranks, &record->posts) ||
        !make_words(&window->notices, (size_t)ids, &record->notices))
        return "no memory is left for the words by which ranks meet";
    if (!lmpi_memory_name(offer->memory, &record->memory))
        return "its memory cannot be named to others";
    record->unit = (uint32_t)offer->unit;
    record->bytes = offer->bytes;
    record->offset = offer->offset;
    record->base = (uintptr_t)offer->base;
    record->ids = (uint32_t)ids;
    return 0;
}

/* Collective. Returns whether all ranks can, and then gives the window its key, of rank 0, and its shift. Each word is all ones where a rank has
 * nothing to say, since all are combined by `and`. */
static bool agree_on(struct lmpi_window *window, bool good, MPI_Comm comm)
{
    struct vote {
        uint64_t good, key[2], shift, not_shift;
    } mine, all;
    memset(&mine, 255, sizeof mine);
    const bool keyed = window->rank || getrandom(mine.key, sizeof mine.key, 0) == sizeof mine.key;
    mine.good = good && keyed ? UINT64_MAX : 0;
    mine.shift = (uint64_t)(lmpi_process.rank - window->rank);
    mine.not_shift = ~mine.shift;
    if (PMPI_Allreduce(&mine, &all, sizeof mine / sizeof mine.good, MPI_UINT64_T, MPI_BAND, comm) != MPI_SUCCESS)
        return false;
    memcpy(window->key, all.key, sizeof window->key);
    if (all.shift == ~all.not_shift) /* the same at all ranks */
        window->shift = (int)(int64_t)all.shift;
    return all.good;
}

static bool all_agree(MPI_Comm comm, bool good)
{
    int mine = good, all = 0;
    return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

static const char another[] = "another rank cannot";

/* Collective. Returns null, or why the window is not ours. Ranks of a shared window must all be on one node, so each looks at all of them. */
static const char *exchange_offers(struct lmpi_window *window, const struct lmpi_offer *offer, MPI_Comm comm)
{
    struct lmpi_record record = {0};
    const char *why = make_record(offer, window, lmpi_info_ids(offer->info), &record);
    if (!agree_on(window, !why, comm))
        return why ? why : another;
    lmpi_window_publish(window, &record);
    why = lmpi_window_reach(window, window->rank);
    if (window->flavor != MPI_WIN_FLAVOR_SHARED)
        return why ? (lmpi_window_need(window, window->rank), why) : 0;
    for (int i = 0; i < window->ranks && !why; i++)
        why = lmpi_window_reach(window, i);
    return all_agree(comm, !why) ? 0 : why ? why : another;
}

/* Collective. Returns the window, or null with `why_not` in the offer. */
static struct lmpi_window *make_window(struct lmpi_offer *offer)
{
    const MPI_Info info = offer->info;
    const bool ranges = offer->flavor == MPI_WIN_FLAVOR_DYNAMIC && !lmpi_process.one_node; /* their owners know them */
    struct lmpi_window *window = new_window(offer, offer->comm);
    if (!window)
        abort(); /* the other ranks would wait for ever */
    offer->why_not = exchange_offers(window, offer, offer->comm);
    if (offer->why_not) {
        window->own = 0; /* the offer's again */
        window->own_block = 0;
        lmpi_window_free(window);
        return 0;
    }
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &window->info);
    if (ranges && !lmpi_refusals_begin(window))
        abort(); /* a few bytes; the other ranks would wait for ever */
    lmpi_window_set_kind(window, lmpi_info_kind(info, 0));
    window->promised = lmpi_info_promises(info, false);
    lmpi_window_add(window);
    return window;
}

/* Returns the class of what is wrong. Open MPI takes any unit, and MPICH crashes on an intercommunicator; what both find is left to
 * them. */
static int find_wrong(const struct lmpi_offer *offer, bool has_results)
{
    int inter = 0;
    if (!lmpi_process.running || offer->comm == MPI_COMM_NULL ||
        PMPI_Comm_test_inter(offer->comm, &inter) != MPI_SUCCESS)
        return MPI_SUCCESS;
    if (inter)
        return MPI_ERR_COMM;
    if (!has_results)
        return MPI_ERR_ARG;
    return (MPI_Aint)offer->bytes < 0 ? MPI_ERR_SIZE : offer->unit <= 0 ? MPI_ERR_DISP : MPI_SUCCESS;
}

static void give_back(uccs_memory_t memory, struct lmpi_block *block)
{
    if (block)
        lmpi_block_unpin(block);
    else if (memory)
        uccs_memory_release(memory);
}

int lmpi_window_make(struct lmpi_offer *offer, void (*bring)(struct lmpi_offer *offer), bool has_results, MPI_Win *win)
{
    const int wrong = find_wrong(offer, has_results && win);
    if (wrong != MPI_SUCCESS)
        return lmpi_comm_error(offer->comm, wrong, offer->call);
    struct lmpi_window *window = 0;
    offer->why_not = refuse_comm(offer->comm);
    if (!offer->why_not) {
        bring(offer);
        window = make_window(offer);
    }
    log_carrier(window, offer->flavor, offer->why_not);
    if (!window) {
        give_back(offer->memory, offer->block);
        return LMPI_OF_MPI;
    }
    offer->base = window->base;
    *win = window->handle;
    return MPI_SUCCESS;
}

void lmpi_offer_new(struct lmpi_offer *offer, size_t bytes)
{
    offer->block = lmpi_block_new(bytes, lmpi_block_alignment(offer->info));
    if (!offer->block) {
        offer->why_not = "no memory is left; set LATERAL_MEMORY larger";
        return;
    }
    offer->memory = offer->block->memory;
    offer->base = offer->block->address;
    offer->offset += offer->block->offset;
}

void lmpi_window_free(struct lmpi_window *window)
{
    lmpi_pending_end(window, MPI_ERR_WIN);
    lmpi_handles_end(window);
    lmpi_refusals_end(window);
    lmpi_window_forget(window);
    lmpi_window_withdraw(window);
    if (window->notices)
        uccs_memory_release(window->notices);
    give_back(window->own, window->own_block);
    if (window->group != MPI_GROUP_NULL)
        lmpi_real.Group_free(&window->group);
    free(window->start_ranks.rank);
    free(window->post_ranks.rank);
    if (window->info != MPI_INFO_NULL)
        PMPI_Info_free(&window->info);
    lmpi_rows_free(window->target, window->ranks, sizeof(*window->target));
    lmpi_rows_free(window->peer, window->ranks, sizeof(*window->peer));
    lmpi_window_drop(window);
}
