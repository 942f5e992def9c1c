/* How a process finds what the other ranks of a window have told.
 *
 * Each rank has a table of controls, and before them a tag for each: that of the window there, or 0. A tag is a hash of the window's key, so
 * only its ranks know it beforehand. A rank fills a control and stores its tag last (release); others look for the tag (acquire). They look
 * again until it is there: its owner has agreed to the window and waits for nobody before it stores the tag. The owner takes the tag away
 * behind the barrier of MPI_Win_free, when no rank of the window looks any more and all have left its lock.
 *
 * Nobody waits for another rank's program under the lock, which that rank's program may wait for in turn: a thread finds out without it what a rank
 * has told, and fills the row under it, unless another thread was faster. `reached` and `bytes` of a target are stored last (release). */
#include "base/siphash.h"
#include "mpi/core/process.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <pthread.h>
#include <string.h>

#define SLOTS \
    2048 /* windows of a rank at a time: the table stays below the size for which the substrate asks for huge pages */
#define RUN 64 /* tags that one look at another node brings */

struct table {
    uint64_t tag[SLOTS];
    struct lmpi_control control[SLOTS];
};
_Static_assert(sizeof(struct table) < (size_t)4 << 20, "its pages are touched one by one");

static uccs_memory_t own, *imported; /* by rank of the world; under lock */
static struct table *table;
static uint32_t taken; /* slots, under lock */
static bool (*find_table)(int world, struct lmpi_handle *handle);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *address_of(uccs_memory_t memory)
{
    struct uccs_memory_attr attr;
    return memory && uccs_memory_query(memory, &attr) == UCCS_OK ? attr.address : 0;
}

bool lmpi_memory_name(uccs_memory_t memory, struct lmpi_handle *handle)
{
    size_t length = sizeof handle->handle;
    if (memory && uccs_memory_export(memory, handle->handle, &length) != UCCS_OK)
        return false;
    handle->length = memory ? (uint32_t)length : 0;
    return true;
}

bool lmpi_tables_begin(struct lmpi_handle *handle, bool (*find)(int world, struct lmpi_handle *handle))
{
    find_table = find;
    imported = lmpi_rows_new(lmpi_process.ranks, sizeof(*imported));
    if (!imported || uccs_memory_allocate(lmpi_process.context, sizeof(struct table), &own) != UCCS_OK)
        return false;
    imported[lmpi_process.rank] = own;
    table = address_of(own);
    return lmpi_memory_name(own, handle);
}

void lmpi_tables_end(void)
{
    for (int i = 0; i < lmpi_process.ranks && imported; i++)
        if (imported[i])
            uccs_memory_release(imported[i]);
    lmpi_rows_free(imported, lmpi_process.ranks, sizeof(*imported));
    imported = 0;
}

/* ---- this rank's table ---- */

static uint64_t tag_of(const struct lmpi_window *window)
{
    static const uint64_t label = UINT64_C(0x7461626c65); /* nothing else is hashed that is one such word */
    return siphash(window->key, &label, sizeof label) | 1;
}

/* Returns where to look for a tag first: the start of a run. */
static uint32_t home_of(uint64_t tag)
{
    return (uint32_t)(tag >> 32) % SLOTS & ~(uint32_t)(RUN - 1);
}

bool lmpi_window_reserve(struct lmpi_window *window)
{
    pthread_mutex_lock(&lock);
    const bool room = taken < SLOTS;
    taken += room;
    pthread_mutex_unlock(&lock);
    window->reserved = room;
    return room;
}

void lmpi_window_publish(struct lmpi_window *window, const struct lmpi_record *record)
{
    const uint64_t tag = tag_of(window);
    pthread_mutex_lock(&lock);
    uint32_t slot = home_of(tag);
    while (table->tag[slot])
        slot = (slot + 1) % SLOTS;
    table->control[slot].record = *record;
    const size_t at = offsetof(struct table, control[slot]) + LMPI_WORD(lock);
    if (!lmpi_process.one_node && uccs_lock_admit_guests(own, at) != UCCS_OK) /* of MPI_Win_lock_all */
        lmpi_unreachable("the lock", lmpi_process.rank, UCCS_ERR_INVALID);
    __atomic_store_n(&table->tag[slot], tag, __ATOMIC_RELEASE); /* acquire: find_tag; messages */
    window->slot = slot + 1;
    pthread_mutex_unlock(&lock);
}

void lmpi_window_withdraw(struct lmpi_window *window)
{
    struct lmpi_peer *own_peer = &window->peer[window->rank];
    if (window->slot && own_peer->control) /* others leave it by messages, which nobody waits for */
        lmpi_lock_enter(own_peer, UCCS_LOCK_EXCLUSIVE);
    pthread_mutex_lock(&lock);
    taken -= window->reserved;
    if (window->slot) {
        memset(&table->control[window->slot - 1], 0, sizeof *table->control);
        __atomic_store_n(&table->tag[window->slot - 1], 0, __ATOMIC_RELEASE); /* no partner: nobody looks for it */
    }
    pthread_mutex_unlock(&lock);
    window->reserved = false;
    window->slot = 0;
}

/* ---- the others' ---- */

int lmpi_window_world(const struct lmpi_window *window, int rank)
{
    int world = MPI_UNDEFINED;
    if (window->shift != LMPI_SCATTERED)
        return rank + window->shift;
    PMPI_Group_translate_ranks(window->group, 1, &rank, lmpi_process.world, &world);
    return world == MPI_UNDEFINED ? -1 : world;
}

/* Looks through n tags from the start of a run. Returns the number of the tag among them, or -1. */
static int find_tag(const uint64_t *tags, uint32_t n, uint64_t tag)
{
    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&tags[i], __ATOMIC_ACQUIRE) == tag) /* release: lmpi_window_publish */
            return (int)i;
    return -1;
}

/* Returns the slot of a tag in a rank's table, -1: not there yet, or -2: the rank cannot be reached. */
static int look_for(const struct lmpi_peer *peer, const struct table *near, uint64_t tag, bool whole)
{
    uint64_t tags[SLOTS];
    const uint32_t from = whole ? 0 : home_of(tag), n = whole ? SLOTS : RUN;
    if (!near && uccs_get(peer->endpoint, peer->memory, from * sizeof *tags, tags, n * sizeof *tags, 0) != UCCS_OK)
        return -2;
    const int found = find_tag(near ? near->tag + from : tags, n, tag);
    return found < 0 ? -1 : (int)from + found;
}

/* Waits until the window is in the table of a rank. Returns its slot there, or -1. */
static int find_slot(const struct lmpi_peer *peer, const struct table *near, uint64_t tag)
{
    int slot = -1;
    lmpi_calling++;
    for (bool again = false; slot == -1; again = true) {
        if (again)
            uccs_progress();
        slot = look_for(peer, near, tag, again);
    }
    lmpi_calling--;
    return slot < 0 ? -1 : slot;
}

/* Returns the table of a rank of the world, or null. */
static uccs_memory_t import_table(int world)
{
    struct lmpi_handle handle;
    pthread_mutex_lock(&lock);
    if (!imported[world] && find_table(world, &handle))
        uccs_memory_import(lmpi_process.context, handle.handle, handle.length, &imported[world]);
    uccs_memory_t found = imported[world];
    pthread_mutex_unlock(&lock);
    return found;
}

static bool read_record(const struct lmpi_peer *peer, struct lmpi_record *record)
{
    if (peer->control)
        *record = peer->control->record;
    return peer->control ||
           uccs_get(peer->endpoint, peer->memory, peer->at + LMPI_WORD(record), record, sizeof *record, 0) == UCCS_OK;
}

/* Finds out what a rank has told, without the lock. */
static const char *ask_rank(const struct lmpi_window *window, int rank, struct lmpi_peer *peer,
                            struct lmpi_record *record)
{
    peer->world = lmpi_window_world(window, rank);
    if (peer->world < 0 || !(peer->endpoint = lmpi_endpoint(peer->world)))
        return "no memory";
    if (!(peer->memory = import_table(peer->world)))
        return "the words of a rank cannot be reached";
    struct table *near = address_of(peer->memory);
    const int slot = rank == window->rank ? (int)window->slot - 1 : find_slot(peer, near, tag_of(window));
    if (slot < 0)
        return "the words of a rank cannot be read";
    peer->at = offsetof(struct table, control[slot]);
    peer->control = near ? &near->control[slot] : 0;
    if (!read_record(peer, record))
        return "what a rank has told cannot be read";
    peer->ids = record->ids;
    return 0;
}

static uccs_memory_t import_memory(const struct lmpi_handle *handle)
{
    uccs_memory_t memory = 0;
    if (handle->length)
        uccs_memory_import(lmpi_process.context, handle->handle, handle->length, &memory);
    return memory;
}

static uccs_endpoint_t endpoint_along(const struct lmpi_window *window, int world)
{
    return lmpi_endpoint_along(lmpi_process.one_node ? 0 : window->kind, world);
}

/* Fills the row of a target but `bytes`; one that failed has no endpoint. The memory of `holder` holds its bytes, from where the
 * holder's begin. */
static const char *reach_memory(struct lmpi_window *window, int rank, int holder, const struct lmpi_record *record)
{
    struct lmpi_target *target = &window->target[rank], *held = &window->target[holder];
    target->unit = record->unit;
    target->offset = record->offset + (holder != rank ? held->offset : 0);
    target->base = (char *)(uintptr_t)record->base;
    target->memory = holder != rank         ? held->memory
                     : rank == window->rank ? window->own
                                            : import_memory(&record->memory);
    if (holder == rank && record->memory.length && !target->memory)
        return "the memory of a rank cannot be reached";
    char *near = address_of(target->memory);
    if (window->flavor == MPI_WIN_FLAVOR_SHARED && !near)
        return "not all ranks are on one node";
    if (!(target->endpoint = endpoint_along(window, window->peer[holder].world)))
        return "no memory";
    target->local = window->peer[holder].control != 0;
    window->has_remote |= !target->local;
    target->ranged = target->local && window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    target->near = near ? near + target->offset : 0;
    if (rank == window->rank && window->flavor != MPI_WIN_FLAVOR_SHARED)
        target->near = window->base;
    else if (rank == window->rank)
        window->base = target->near;
    if (target->near && target->memory)
        target->direct = (uint8_t)uccs_accumulate_intrinsic(target->endpoint, target->memory, UCCS_INT64, UCCS_SUM);
    return 0;
}

/* Under the lock. */
static void list_target(struct lmpi_window *window, int rank)
{
    struct lmpi_target *target = &window->target[rank];
    if (target->listed)
        return;
    target->listed = true;
    target->next = window->holder->listed;
    __atomic_store_n(&window->holder->listed, (uint32_t)rank + 1, __ATOMIC_RELEASE); /* acquire: lmpi_listed */
}

void lmpi_target_list(struct lmpi_window *window, int rank)
{
    pthread_mutex_lock(&lock);
    list_target(window, rank);
    pthread_mutex_unlock(&lock);
}

static void show_target(struct lmpi_window *window, int rank, size_t bytes)
{
    struct lmpi_target *target = &window->target[rank];
    __atomic_store_n(&target->bytes, bytes, __ATOMIC_RELEASE); /* acquire: lmpi_plain_target */
    __atomic_store_n(&target->reached, 1, __ATOMIC_RELEASE);   /* acquire: lmpi_target */
}

/* Two threads with the first operation both enter, and the second leaves again: an entry waits, so it is made without the lock. */
void lmpi_lock_late(struct lmpi_window *window, int rank)
{
    struct lmpi_target *target = &window->target[rank];
    const bool enters = !(window->open & LMPI_OPEN_UNCHECKED);
    if (enters)
        lmpi_lock_enter(&window->peer[rank], UCCS_LOCK_GUEST);
    pthread_mutex_lock(&lock);
    const bool late = target->open & LMPI_OPEN_LATE;
    __atomic_store_n(&target->open, target->open | LMPI_OPEN_LATE, __ATOMIC_RELEASE); /* acquire: lmpi_mark_far */
    pthread_mutex_unlock(&lock);
    if (enters && late)
        lmpi_lock_leave(&window->peer[rank], UCCS_LOCK_GUEST);
}

/* Under the lock. Fills the rows of a rank but what tells that they are. */
static const char *fill_rank(struct lmpi_window *window, int rank, int holder, const struct lmpi_peer *told,
                             const struct lmpi_record *record)
{
    struct lmpi_peer *peer = &window->peer[rank];
    list_target(window, rank);
    peer->world = told->world;
    peer->memory = told->memory;
    peer->at = told->at;
    peer->ids = told->ids;
    peer->endpoint = told->endpoint;
    if (told->control && rank < window->near_first)
        window->near_first = rank;
    if (told->control && rank >= window->near_end)
        window->near_end = rank + 1;
    __atomic_store_n(&peer->control, told->control, __ATOMIC_RELEASE); /* acquire: MPI_Win_lock */
    return reach_memory(window, rank, holder, record);
}

/* A window with words of its own. The first thread fills the rows, and locks a rank of this node that comes late before operations find it. */
static const char *reach_rank(struct lmpi_window *window, int rank)
{
    const int holder = window->of_first ? 0 : rank;
    const struct lmpi_target *target = &window->target[rank];
    struct lmpi_peer told = {0};
    struct lmpi_record record;
    const char *why = 0;
    if (__atomic_load_n(&target->reached, __ATOMIC_ACQUIRE)) /* release: show_target */
        return 0;
    if ((holder != rank && (why = reach_rank(window, holder))) || (why = ask_rank(window, rank, &told, &record)))
        return why;
    pthread_mutex_lock(&lock);
    const bool first = !target->endpoint;
    if (first)
        why = fill_rank(window, rank, holder, &told, &record);
    pthread_mutex_unlock(&lock);
    if (why)
        return why;
    if (first && window->open & LMPI_OPEN_LOCK_ALL && told.control)
        lmpi_lock_late(window, rank);
    if (first)
        show_target(window, rank, record.bytes);
    while (!__atomic_load_n(&target->reached, __ATOMIC_ACQUIRE)) /* release: show_target */
        uccs_progress();
    return 0;
}

/* Under the lock. The target of a duplicate is the parent's, along its own endpoint. */
static const char *reach_child(struct lmpi_window *child, int rank)
{
    const struct lmpi_target *source = &child->parent->target[rank];
    struct lmpi_target *target = &child->target[rank];
    const int holder = child->of_first ? 0 : rank;
    uccs_endpoint_t endpoint = endpoint_along(child, child->parent->peer[holder].world);
    if (!endpoint)
        return "no memory";
    if (target->reached)
        return 0;
    target->near = source->near;
    target->unit = source->unit;
    target->direct = source->direct;
    target->ranged = source->ranged;
    target->memory = source->memory;
    target->offset = source->offset;
    target->endpoint = endpoint;
    target->base = source->base;
    target->local = source->local;
    target->open = source->open;
    child->has_remote |= !source->local;
    list_target(child, rank);
    show_target(child, rank, source->bytes);
    return 0;
}

const char *lmpi_window_reach(struct lmpi_window *window, int rank)
{
    if (window->of_memhandle) /* it has its one target from the start */
        return 0;
    const char *why = reach_rank(lmpi_window_first(window), rank);
    if (why || window->target == lmpi_window_first(window)->target)
        return why;
    pthread_mutex_lock(&lock);
    why = reach_child(window, rank);
    pthread_mutex_unlock(&lock);
    return why;
}

void lmpi_window_need(struct lmpi_window *window, int rank)
{
    const char *why = lmpi_window_reach(window, rank);
    if (why) {
        lmpi_log("%s", why);
        lmpi_unreachable("the window", lmpi_window_world(window, rank), UCCS_ERR_FAILED);
    }
}

/* Reaches words of a rank at first use, by the handle in its record. */
static const struct lmpi_words *reach_words(struct lmpi_window *window, int rank, struct lmpi_words *words, bool posts)
{
    struct lmpi_record record;
    if (__builtin_expect(__atomic_load_n(&words->memory, __ATOMIC_ACQUIRE) != 0, 1)) /* release: below */
        return words;
    pthread_mutex_lock(&lock);
    uccs_memory_t memory = words->memory;
    if (!memory && rank == window->rank)
        memory = posts ? window->posts : window->notices;
    else if (!memory && read_record(&window->peer[rank], &record))
        memory = import_memory(posts ? &record.posts : &record.notices);
    words->near = address_of(memory);
    __atomic_store_n(&words->memory, memory, __ATOMIC_RELEASE); /* acquire: above */
    pthread_mutex_unlock(&lock);
    if (!memory)
        lmpi_unreachable("a word", window->peer[rank].world, UCCS_ERR_FAILED);
    return words;
}

const struct lmpi_words *lmpi_posts_of(struct lmpi_window *window, int rank)
{
    return reach_words(window, rank, &lmpi_peer(window, rank)->posts, true);
}

const struct lmpi_words *lmpi_notices_of(struct lmpi_window *window, int rank)
{
    return reach_words(window, rank, &lmpi_peer(window, rank)->notices, false);
}

/* Posts that have come are as many as those that were waited for, so theirs are the words that are not zero. */
void lmpi_window_forget(struct lmpi_window *window)
{
    uint64_t *posts = address_of(window->posts);
    for (int i = lmpi_listed(window); i >= 0; i = lmpi_listed_after(window, i)) {
        struct lmpi_peer *peer = &window->peer[i];
        uccs_memory_t gone[] = {peer->posts.memory, peer->notices.memory,
                                i == 0 || !window->of_first ? window->target[i].memory : 0};
        if (peer->posts_taken)
            posts[i] = 0;
        for (int j = 0; j < 3 && i != window->rank; j++)
            if (gone[j])
                uccs_memory_release(gone[j]);
    }
}
