/* The simulated adapter; see inner.h. Each operation takes two steps, and either may be held back for some calls of
 * progress: a put first reads its source, which is free then, and later writes to the target; a get reads; an atomic
 * changes its word; a flush waits until the operations before it are done. */
#include "net/testing/sim/inner.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* Memory of the simulated network and its keys; see inner.h.
 *
 * A key names memory of a process and a word there that tells what peers may do with the memory. The adapter reads the
 * word before it copies. Behind the word it counts the puts to memory that was shared for that. Invariant: entries are never used again, so that the word of an old key tells of no other
 * memory.
 *
 * An adapter does one atomic, and one count, after the other. Its lock is one on a file of the process, so the lock of a process that dies is
 * free again; each key opens the file anew, since one opening of the file has one lock. */

struct sim_key {
    pid_t pid;
    int lock;       /* the adapter's file: the owner's descriptor in a packed key, else this process's */
    uint64_t entry; /* its address */
    uint64_t start, bytes;
};

enum access { WITHDRAWN, OPEN, COUNTS /* peers may put, and the adapter counts that */ };

struct entry {
    uint64_t access; /* enum access; relaxed */
    uint64_t count;  /* of puts; written by adapters of peers behind the data, which sim_counted acquires */
    uint64_t start, bytes;
};

static uint32_t entries;  /* that this process has made */
static uint64_t counters; /* that are in use */
static int adapter = -1;  /* the file of this process's adapter */

void sim_adapter_open(void)
{
    entries = 0;
    counters = 0;
    if (adapter < 0)
        adapter = memfd_create("adapter", MFD_CLOEXEC);
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* where Yama guards processes */
#endif
}

static void *share_memory(void *start, size_t bytes, enum access access)
{
    struct entry *entry = entries < sim_plan.shares ? malloc(sizeof *entry) : 0;
    if (!entry)
        return 0;
    entries++;
    *entry = (struct entry){.access = access, .start = (uint64_t)(uintptr_t)start, .bytes = bytes};
    return entry;
}

void *sim_share(void *start, size_t bytes)
{
    return share_memory(start, bytes, OPEN);
}

void *sim_share_counting(void *start, size_t bytes)
{
    void *shared = counters < sim_plan.counters ? share_memory(start, bytes, COUNTS) : 0;
    counters += shared != 0;
    return shared;
}

uint64_t sim_counted(void *shared)
{
    return __atomic_load_n(&((struct entry *)shared)->count, __ATOMIC_ACQUIRE);
}

int sim_pack(void *shared, void *room, size_t *bytes)
{
    const struct entry *entry = shared;
    const struct sim_key key = {getpid(), adapter, (uint64_t)(uintptr_t)entry, entry->start, entry->bytes};
    const bool fits = sizeof key <= *bytes;
    if (fits)
        memcpy(room, &key, sizeof key);
    *bytes = sizeof key;
    return fits ? 0 : -1;
}

/* The entry stays, since peers may still read its word. */
void sim_withdraw(void *shared)
{
    struct entry *entry = shared;
    counters -= entry->access == COUNTS;
    __atomic_store_n(&entry->access, WITHDRAWN, __ATOMIC_RELAXED);
}

void *sim_unpack(void *peer, const void *packed, size_t bytes)
{
    struct sim_key *key = malloc(sizeof *key);
    char path[64];
    if (!key || bytes != sizeof *key || (sim_plan.bound && ((const struct sim_peer *)peer)->number)) {
        free(key);
        return 0;
    }
    memcpy(key, packed, bytes);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", key->pid, key->lock);
    key->lock = open(path, O_RDWR | O_CLOEXEC);
    return key;
}

void sim_forget(void *of)
{
    struct sim_key *key = of;
    if (key->lock >= 0)
        close(key->lock);
    free(key);
}

/* --- Accesses. They return false when the memory is not shared any more. */

static bool copy_bytes(const struct sim_key *key, uint64_t there, void *here, size_t bytes, bool write)
{
    const struct iovec local = {here, bytes}, remote = {(void *)(uintptr_t)there, bytes};
    ssize_t done = write ? process_vm_writev(key->pid, &local, 1, &remote, 1, 0)
                         : process_vm_readv(key->pid, &local, 1, &remote, 1, 0);
    return done == (ssize_t)bytes;
}

/* Returns enum access. */
static uint64_t access_to(const struct sim_key *key, uint64_t there, size_t bytes)
{
    uint64_t access = WITHDRAWN;
    if (there < key->start || there + bytes > key->start + key->bytes ||
        !copy_bytes(key, key->entry + offsetof(struct entry, access), &access, sizeof access, false) ||
        access == WITHDRAWN)
        sim_count(&lateral_sim_counts.refused);
    return access;
}

static bool count_put(const struct sim_key *key)
{
    const uint64_t at = key->entry + offsetof(struct entry, count);
    uint64_t count = 0;
    if (flock(key->lock, LOCK_EX) != 0)
        return false;
    const bool had = copy_bytes(key, at, &count, sizeof count, false);
    count++;
    const bool done = had && copy_bytes(key, at, &count, sizeof count, true);
    flock(key->lock, LOCK_UN);
    return done;
}

static bool sim_read(const struct sim_key *key, uint64_t there, void *here, size_t bytes)
{
    return access_to(key, there, bytes) == OPEN && copy_bytes(key, there, here, bytes, false);
}

static bool sim_write(const struct sim_key *key, uint64_t there, const void *here, size_t bytes)
{
    const uint64_t access = access_to(key, there, bytes);
    return access != WITHDRAWN && copy_bytes(key, there, (void *)(uintptr_t)here, bytes, true) &&
           (access == OPEN || count_put(key));
}

/* --- Atomics */

static uint64_t first_bytes(const void *of, size_t size)
{
    uint32_t word32;
    uint64_t word64;
    if (size == sizeof word32)
        return memcpy(&word32, of, size), word32;
    return memcpy(&word64, of, size), word64;
}

static uint64_t changed_word(const struct transport_word *word, uint64_t old)
{
    const uint64_t operand = first_bytes(&word->operand, word->size);
    switch (word->what) {
    case TRANSPORT_SWAP: return operand;
    case TRANSPORT_CSWAP: return old == first_bytes(&word->compare, word->size) ? operand : old;
    case TRANSPORT_ADD: return old + operand;
    case TRANSPORT_AND: return old & operand;
    case TRANSPORT_OR: return old | operand;
    default: return old ^ operand;
    }
}

static bool change_word(const struct sim_key *key, uint64_t there, const struct transport_word *word, uint64_t *old)
{
    uint64_t value;
    if (!sim_read(key, there, old, word->size))
        return false;
    if (wrapper.hold)
        sched_yield(); /* a processor finds time to change the word in between */
    value = changed_word(word, first_bytes(old, word->size));
    const uint32_t value32 = (uint32_t)value;
    return copy_bytes(key, there, word->size == sizeof value32 ? (void *)&value32 : (void *)&value, word->size, true);
}

static bool sim_change(const struct sim_key *key, uint64_t there, const struct transport_word *word, void *into)
{
    uint64_t old = 0;
    if (there % word->size || flock(key->lock, LOCK_EX) != 0)
        return false;
    const bool done = change_word(key, there, word, &old);
    flock(key->lock, LOCK_UN);
    if (into && done)
        memcpy(into, &old, word->size);
    return done;
}

enum { MOVES = 16 }; /* operations that move on in a call of progress, at most */

enum what { PUT, GET, ATOMIC, FLUSH };

struct sim_operation {
    enum what what;
    struct sim_peer *peer;
    uint64_t due, fence;
    void *token; /* null: the origin has been told */
    const struct sim_key *key;
    uint64_t there;
    const void *source; /* of a put that has not been read */
    void *dest;         /* of a get; of an atomic: may be null */
    const struct transport_word *word;
    size_t bytes;
    bool failed; /* of a flush: a put or an atomic before it has */
    struct sim_operation *next;
    char data[]; /* of a put */
};

unsigned sim_able(void *peer)
{
    (void)peer;
    return TRANSPORT_KNOWN | TRANSPORT_ONESIDED | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE |
           (sim_plan.order ? TRANSPORT_ORDERS : 0) | (sim_plan.counters ? TRANSPORT_COUNTS : 0);
}

unsigned sim_atomics(void *peer, size_t bytes)
{
    (void)peer;
    return (bytes == 4 || bytes == 8) && sim_plan.words & bytes ? TRANSPORT_ATOMICS_ALL : 0;
}

/* --- Operations under way */

static struct sim_worker *worker_of(const struct sim_peer *peer)
{
    return (struct sim_worker *)peer->wrapped.worker;
}

static struct sim_operation *begin_operation(struct sim_peer *peer, const struct sim_operation *what, size_t room)
{
    struct sim_operation *operation = malloc(sizeof *operation + room);
    struct sim_worker *worker = worker_of(peer);
    if (!operation)
        abort();
    *operation = *what;
    operation->peer = peer;
    operation->fence = worker->fence;
    operation->due = wrapper_draw_due(&worker->wrapped);
    *worker->last = operation;
    worker->last = &operation->next;
    wrapper_wake(&worker->wrapped);
    return operation;
}

static void remove_operation(struct sim_worker *worker, struct sim_operation *operation)
{
    struct sim_operation **at = &worker->first;
    while (*at != operation)
        at = &(*at)->next;
    *at = operation->next;
    if (worker->last == &operation->next)
        worker->last = at;
}

/* The flushes that cover a put or an atomic which has failed fail; if none is under way, the next one will. */
static void tell_flushes(const struct sim_operation *put)
{
    put->peer->failed = true;
    for (struct sim_operation *later = put->next; later; later = later->next)
        if (later->what == FLUSH && later->peer == put->peer) {
            later->failed = true;
            put->peer->failed = false;
        }
}

static bool take_failed(struct sim_peer *peer)
{
    const bool failed = peer->failed;
    peer->failed = false;
    return failed;
}

static void end_operation(struct sim_operation *operation, bool failed)
{
    struct sim_worker *worker = worker_of(operation->peer);
    void *token = operation->token;
    if (failed && (operation->what == PUT || (operation->what == ATOMIC && !operation->dest)))
        tell_flushes(operation);
    remove_operation(worker, operation);
    free(operation);
    if (token)
        wrapper.events->finished(token, failed);
}

/* Reads the source; its owner may change it from now on. */
static void read_source(struct sim_operation *put)
{
    void *token = put->token;
    memcpy(put->data, put->source, put->bytes);
    put->source = 0;
    put->token = 0;
    put->due = wrapper_draw_due(put->peer->wrapped.worker);
    if (token)
        wrapper.events->finished(token, 0);
}

static void move_operation(struct sim_operation *operation)
{
    const struct sim_key *key = operation->key;
    switch (operation->what) {
    case PUT:
        if (operation->source)
            read_source(operation);
        else
            end_operation(operation, !sim_write(key, operation->there, operation->data, operation->bytes));
        break;
    case GET: end_operation(operation, !sim_read(key, operation->there, operation->dest, operation->bytes)); break;
    case ATOMIC: end_operation(operation, !sim_change(key, operation->there, operation->word, operation->dest)); break;
    case FLUSH: end_operation(operation, operation->failed); break;
    }
}

/* Returns true when the operation waits for an earlier one to the same peer: a flush for all, a put behind a fence for those
 * before it. */
static bool must_wait(const struct sim_operation *operation)
{
    const struct sim_worker *worker = worker_of(operation->peer);
    for (const struct sim_operation *before = worker->first; before != operation; before = before->next)
        if (before->peer == operation->peer && (operation->what == FLUSH || before->fence < operation->fence))
            return true;
    return false;
}

static bool move_one(struct sim_worker *worker)
{
    uint64_t count = 0;
    for (struct sim_operation *operation = worker->first; operation && count++ < sim_plan.most;
         operation = operation->next)
        if (operation->due <= worker->wrapped.step && !must_wait(operation)) {
            move_operation(operation); /* an event may begin others, so the search starts again */
            return true;
        }
    return false;
}

int sim_adapter_move(struct sim_worker *worker)
{
    int count = 0;
    worker->wrapped.step++;
    while (count < MOVES && move_one(worker))
        count++;
    return count;
}

/* --- Slots. With nothing to hold back, operations are done when they return. */

enum transport_status sim_put(void *to, void *key, uint64_t there, const void *source, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.puts);
    if (!wrapper.hold && !worker_of(peer)->first)
        return sim_write(key, there, source, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation put =
        {.what = PUT, .token = token, .key = key, .there = there, .source = source, .bytes = bytes};
    struct sim_operation *made = begin_operation(peer, &put, bytes);
    if (wrapper_random(peer->wrapped.worker) % 2)
        return TRANSPORT_PENDING;
    made->token = 0;
    read_source(made);
    return TRANSPORT_DONE;
}

enum transport_status sim_get(void *to, void *key, uint64_t there, void *dest, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.gets);
    if (!wrapper.hold)
        return sim_read(key, there, dest, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation get =
        {.what = GET, .token = token, .key = key, .there = there, .dest = dest, .bytes = bytes};
    begin_operation(peer, &get, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_atomic(void *to, void *key, uint64_t there, const struct transport_word *word, void *old,
                                 void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.atomics);
    if (old)
        sim_count(&lateral_sim_counts.fetches);
    if (!wrapper.hold && !worker_of(peer)->first)
        return sim_change(key, there, word, old) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation atomic =
        {.what = ATOMIC, .token = token, .key = key, .there = there, .dest = old, .word = word};
    begin_operation(peer, &atomic, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_flush(void *to, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.flushes);
    if (!worker_of(peer)->first)
        return take_failed(peer) ? TRANSPORT_FAILED : TRANSPORT_DONE;
    begin_operation(peer, &(struct sim_operation){.what = FLUSH, .token = token}, 0)->failed = take_failed(peer);
    return TRANSPORT_PENDING;
}

void sim_order(void *of)
{
    struct sim_worker *worker = of;
    worker->fence++;
}
