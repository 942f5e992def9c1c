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

/* Returns the ranks in MPI_COMM_WORLD of a group's members, or null without memory. The caller frees them. */
static int *find_worlds(MPI_Group group, int size)
{
    int *worlds = malloc(2 * (size_t)size * sizeof *worlds);
    for (int i = 0; i < size && worlds; i++)
        worlds[size + i] = i;
    if (worlds)
        PMPI_Group_translate_ranks(group, size, worlds + size, lmpi_process.world, worlds);
    return worlds;
}

/* Whether windows of a communicator can be ours. Returns null, or why not; the same at all ranks. */
static const char *refuse_comm(MPI_Comm comm)
{
    int inter = 0, size = 0, foreign = 0;
    MPI_Group group;
    if (!lmpi_process.running)
        return lmpi_process.why_not;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NO_WINDOW;
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    int *worlds = find_worlds(group, size);
    for (int i = 0; i < size && worlds; i++)
        foreign |= worlds[i] == MPI_UNDEFINED;
    free(worlds);
    lmpi_real.Group_free(&group);
    return foreign ? "it holds processes of another MPI_COMM_WORLD" : 0;
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
static void log_carrier(const struct lmpi_window *window, int flavor, const char *why_not)
{
    if (!lmpi_verbose() || (window && window->rank) || (!window && !*why_not))
        return;
    if (!window) {
        lmpi_log("a window (%s) is carried by " LMPI_MPI ": %s", name_of(flavor), why_not);
        return;
    }
    int mapped = 0, local = 0, ranged = 0;
    for (int i = 0; i < window->ranks; i++) {
        const struct lmpi_target *target = &window->target[i];
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

/* What a rank tells the others. */
struct record {
    int32_t good, unit;
    uint64_t bytes, offset, base;
    uint32_t control_bytes, memory_bytes;
    uint32_t ids; /* of notifications */
    uint64_t key[2];
    char control[UCCS_MEMORY_HANDLE_MAX], memory[UCCS_MEMORY_HANDLE_MAX];
};

/* Makes this rank's control and describes what it brings. */
static void make_record(struct lmpi_offer *offer, const struct lmpi_window *window, int ids, uccs_memory_t *control,
                        struct record *mine)
{
    size_t length = sizeof mine->control;
    memset(mine, 0, sizeof *mine);
    *control = 0;
    if (window->rank == 0 && getrandom(mine->key, sizeof mine->key, 0) != sizeof mine->key)
        offer->why_not = "the kernel gives no random numbers";
    if (offer->why_not)
        return;
    if (uccs_memory_allocate(lmpi_process.context, lmpi_notify_word(window->ranks, ids), control) != UCCS_OK ||
        uccs_memory_export(*control, mine->control, &length) != UCCS_OK) {
        offer->why_not = "no memory is left for the words by which ranks meet";
        return;
    }
    mine->control_bytes = (uint32_t)length;
    length = sizeof mine->memory;
    if (offer->memory && uccs_memory_export(offer->memory, mine->memory, &length) != UCCS_OK) {
        offer->why_not = "its memory cannot be named to others";
        return;
    }
    mine->memory_bytes = offer->memory ? (uint32_t)length : 0;
    mine->unit = offer->unit;
    mine->bytes = offer->bytes;
    mine->offset = offer->offset;
    mine->base = (uintptr_t)offer->base;
    mine->ids = (uint32_t)ids;
    mine->good = 1;
}

static char *address_of(uccs_memory_t memory)
{
    struct uccs_memory_attr attr;
    return memory && uccs_memory_query(memory, &attr) == UCCS_OK ? attr.address : 0;
}

static bool is_dynamic(uccs_memory_t memory)
{
    struct uccs_memory_attr attr;
    return memory && uccs_memory_query(memory, &attr) == UCCS_OK && attr.length == 0;
}

/* Reaches the words of a rank. Returns null, or why it cannot. */
static const char *reach_peer(struct lmpi_window *window, int rank, int world, const struct record *record)
{
    struct lmpi_peer *peer = &window->peer[rank];
    peer->world = world;
    peer->ids = record->ids;
    peer->endpoint = lmpi_endpoint(world);
    if (!peer->endpoint)
        return "no memory";
    if (rank != window->rank &&
        uccs_memory_import(lmpi_process.context, record->control, record->control_bytes, &peer->memory) != UCCS_OK)
        return "the words of a rank cannot be reached";
    peer->control = (struct lmpi_control *)address_of(peer->memory);
    return 0;
}

/* Reaches the bytes of a rank. The memory of `holder` holds them, from where the holder's begin; its own row comes first. */
static const char *reach_memory(struct lmpi_window *window, int rank, int holder, const struct record *record)
{
    struct lmpi_target *target = &window->target[rank];
    target->endpoint = window->peer[holder].endpoint;
    target->bytes = record->bytes;
    target->unit = (uint32_t)record->unit;
    target->offset = record->offset + (holder != rank ? window->target[holder].offset : 0);
    target->base = (char *)(uintptr_t)record->base;
    if (holder != rank)
        target->memory = window->target[holder].memory;
    else if (rank == window->rank)
        target->memory = window->own;
    else if (record->memory_bytes &&
             uccs_memory_import(lmpi_process.context, record->memory, record->memory_bytes, &target->memory) != UCCS_OK)
        return "the memory of a rank cannot be reached";
    char *near = address_of(target->memory);
    target->local = window->peer[holder].control != 0;
    window->has_remote |= !target->local;
    target->ranged = target->local && is_dynamic(target->memory);
    if (window->flavor == MPI_WIN_FLAVOR_SHARED && !near)
        return "not all ranks are on one node";
    target->near = near ? near + target->offset : 0;
    if (rank == window->rank && window->flavor != MPI_WIN_FLAVOR_SHARED)
        target->near = window->base;
    else if (rank == window->rank)
        window->base = target->near;
    if (target->near && target->memory)
        target->direct = (uint8_t)uccs_accumulate_intrinsic(target->endpoint, target->memory, UCCS_INT64, UCCS_SUM);
    return 0;
}

static struct lmpi_window *new_window(const struct lmpi_offer *offer, MPI_Comm comm)
{
    static int numbers;
    struct lmpi_window *window = lmpi_window_new();
    if (!window)
        return 0;
    free(window->targets);
    *window = (struct lmpi_window){.handle = window->handle};
    PMPI_Comm_size(comm, &window->ranks);
    PMPI_Comm_rank(comm, &window->rank);
    PMPI_Comm_group(comm, &window->group);
    window->target = aligned_alloc(64, (size_t)window->ranks * sizeof *window->target);
    window->peer = calloc((size_t)window->ranks, sizeof *window->peer);
    if (window->target)
        memset(window->target, 0, (size_t)window->ranks * sizeof *window->target);
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

/* Returns null, or why this rank cannot; all ranks come here when all have good records. */
static const char *reach_all(struct lmpi_window *window, const struct record *records, uccs_memory_t control,
                             bool of_first)
{
    int *worlds = find_worlds(window->group, window->ranks);
    const char *why = worlds && window->target && window->peer ? 0 : "no memory";
    if (!why)
        window->peer[window->rank].memory = control;
    for (int i = 0; i < window->ranks && !why; i++)
        why = reach_peer(window, i, worlds[i], &records[i]);
    for (int i = 0; i < window->ranks && !why; i++)
        why = reach_memory(window, i, of_first ? 0 : i, &records[i]);
    if (!why && window->has_remote && uccs_lock_admit_guests(control, LMPI_WORD(lock)) != UCCS_OK)
        why = "its lock has no guests"; /* of MPI_Win_lock_all; the ranks meet once more before they lock */
    free(worlds);
    return why;
}

static bool all_agree(MPI_Comm comm, bool good)
{
    int mine = good, all = 0;
    return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

static const char *exchange_offers(struct lmpi_window *window, struct lmpi_offer *offer, MPI_Comm comm, int ids)
{
    uccs_memory_t control = 0;
    struct record mine, *records = malloc((size_t)window->ranks * sizeof *records);
    if (!records)
        abort(); /* the other ranks would wait for ever */
    make_record(offer, window, ids, &control, &mine);
    bool good = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, records, sizeof mine, MPI_BYTE, comm) == MPI_SUCCESS;
    for (int i = 0; i < window->ranks; i++)
        good &= records[i].good;
    const char *why = offer->why_not ? offer->why_not
                      : good         ? reach_all(window, records, control, offer->of_first)
                                     : "another rank cannot";
    memcpy(window->key, records[0].key, sizeof window->key);
    free(records);
    if (!good) {
        if (control)
            uccs_memory_release(control);
        return why;
    }
    if (!why && window->handle == MPI_WIN_NULL)
        why = "the MPI makes no handle for it";
    return all_agree(comm, !why) ? 0 : why ? why : "another rank cannot";
}

/* Dynamic memory of another node is there, whose owner alone knows its ranges. */
static bool reaches_ranges(const struct lmpi_window *window)
{
    bool found = false;
    for (int i = 0; i < window->ranks && !found; i++)
        found = !window->target[i].local && is_dynamic(window->target[i].memory);
    return found;
}

/* Collective. Returns the window, or null with `why_not` in the offer. */
static struct lmpi_window *make_window(struct lmpi_offer *offer)
{
    const MPI_Info info = offer->info;
    struct lmpi_window *window = new_window(offer, offer->comm);
    if (!window)
        abort(); /* the other ranks would wait for ever */
    offer->why_not = exchange_offers(window, offer, offer->comm, lmpi_info_ids(info));
    if (offer->why_not) {
        window->own = 0; /* the offer's again */
        window->own_block = 0;
        lmpi_window_free(window);
        return 0;
    }
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &window->info);
    if (reaches_ranges(window) && !lmpi_refusals_begin(window))
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
    for (int i = 0; i < window->ranks && window->target && window->peer; i++) {
        if (window->peer[i].memory)
            uccs_memory_release(window->peer[i].memory);
        if (i != window->rank && window->target[i].memory && (i == 0 || !window->of_first))
            uccs_memory_release(window->target[i].memory);
    }
    give_back(window->own, window->own_block);
    if (window->group != MPI_GROUP_NULL)
        lmpi_real.Group_free(&window->group);
    free(window->start_ranks.rank);
    free(window->post_ranks.rank);
    if (window->info != MPI_INFO_NULL)
        PMPI_Info_free(&window->info);
    free(window->target);
    free(window->peer);
    lmpi_window_drop(window);
}
