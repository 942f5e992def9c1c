/* Memory of the simulated network and its keys; see inner.h.
 *
 * A key names memory of a process and a word there that tells what peers may do with the memory. The adapter reads the
 * word before it copies. Behind the word it counts the puts to memory that was shared for that. Invariant: entries are never used again, so that the word of an old key tells of no other
 * memory.
 *
 * An adapter does one atomic, and one count, after the other. Its lock is one on a file of the process, so the lock of a process that dies is
 * free again; each key opens the file anew, since one opening of the file has one lock. */
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

bool sim_read(const struct sim_key *key, uint64_t there, void *here, size_t bytes)
{
    return access_to(key, there, bytes) == OPEN && copy_bytes(key, there, here, bytes, false);
}

bool sim_write(const struct sim_key *key, uint64_t there, const void *here, size_t bytes)
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

bool sim_change(const struct sim_key *key, uint64_t there, const struct transport_word *word, void *into)
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
