#include "rte/wait_record.h"

#include "rte/rte.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct node_wait *records; /* of this PE; null: not mapped */

/* Maps this PE's records. The offset of a mapping is a multiple of the page size. */
static void map_stays(void)
{
    size_t bytes = NODE_WAITS * sizeof *records, page = (size_t)sysconf(_SC_PAGESIZE);
    size_t at = node_waits_at(rte.node->size) + (size_t)rte.node_index * bytes;
    size_t before = at % page;
    char *base = mmap(0, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, (off_t)(at - before));
    if (base != MAP_FAILED)
        records = (struct node_wait *)(base + before);
}

static struct node_wait *claim_record(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!rte.node || !rte_is_pe())
        return 0;
    pthread_once(&once, map_stays);
    for (int i = 0; records && i < NODE_WAITS; i++) {
        uint32_t state = NODE_WAIT_FREE;
        if (atomic_cas_acquire(&records[i].state, &state, NODE_WAIT_CLAIMED)) /* release: rte_wait_record_end */
            return &records[i];
    }
    return 0;
}

static void take_frames(struct node_wait *record)
{
    void *frames[NODE_WAIT_FRAMES];
    int depth = backtrace(frames, NODE_WAIT_FRAMES);
    for (int i = 0; i < depth; i++)
        record->frames[i] = (uintptr_t)frames[i];
    record->depth = (uint32_t)depth;
}

static void write_awaited(struct node_wait *record, const struct node_wait_reason *on, const char *text)
{
    record->on = *on;
    snprintf(record->text, sizeof record->text, "%s", text ? text : "");
}

uint32_t rte_wait_record_begin(const struct node_wait_reason *on, const char *text, uint64_t since, uintptr_t heap,
                               size_t heap_bytes)
{
    struct node_wait *record = claim_record();
    if (!record)
        return 0;
    record->thread = (int32_t)syscall(SYS_gettid);
    record->since = since;
    write_awaited(record, on, text);
    record->heap = heap;
    record->heap_bytes = heap_bytes;
    take_frames(record);
    atomic_store_release(&record->state, NODE_WAIT_VALID); /* acquire: readers, launch/picture.c */
    return (uint32_t)(record - records) + 1;
}

void rte_wait_record_renew(uint32_t record, const struct node_wait_reason *on, const char *text)
{
    struct node_wait *mine = &records[record - 1];
    uint32_t version = atomic_load_relaxed(&mine->version);
    atomic_store_relaxed(&mine->version, version + 1);
    atomic_fence_release(); /* acquire: readers that see some of what follows see the odd version */
    write_awaited(mine, on, text);
    atomic_store_release(&mine->version, version + 2); /* acquire: readers, launch/picture.c */
}

void rte_wait_record_looked(uint32_t record, uint64_t value)
{
    struct node_wait *mine = &records[record - 1];
    atomic_store_relaxed(&mine->value, value);
    atomic_store_relaxed(&mine->looks, mine->looks + 1);
}

void rte_wait_record_end(uint32_t record)
{
    atomic_store_release(&records[record - 1].state, NODE_WAIT_FREE); /* acquire: claim_record */
}
