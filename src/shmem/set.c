/* The groups of collectives: those of teams, and those of active sets (deprecated), which nobody creates.
 *
 * The first call with a new (start, stride, size, pSync) makes a group that lives as long as the process,
 * so that later calls are as fast as those of teams. Its area of the node's memory comes from a table
 * in the node's memory: the first member that comes by writes the set down, the others find it. A set on one
 * node does not use pSync's contents; members on several nodes exchange their slots there, because every node has
 * its own table. When the table is full a set synchronises on pSync itself: pSync[0 .. 15] are flags, pSync[16 ..
 * 18] hold size and place of a block.
 *
 * Invariants: pSync is SHMEM_SYNC_VALUE again when a call returns, but for a partner that is already in
 * the next one. The node's table only grows, so all members find the same; slots of sets are never
 * reused, so their rows are zero at first. This process's table only grows as well: a group is published
 * by a release store of its bucket (acquire: find_set), makers hold the lock.
 *
 * Any number of threads, each with its own pSync. */
#include "rte/rte.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"
#include "uccs/team/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };
enum { SET_FREE, SET_CLAIMED, SET_VALID };
_Static_assert(TEAM_ROUNDS + 3 <= SHMEM_COLLECT_SYNC_SIZE && TEAM_ROUNDS <= SHMEM_BARRIER_SYNC_SIZE,
               "pSync is long enough");
_Static_assert(SHMEM_SYNC_VALUE == TEAM_FLAG_AT_REST, "the flags of a group without an area");

struct set {
    struct set *next;
    struct uccs_team group;
};

static struct set *buckets[BUCKETS];
static pthread_mutex_t makers = PTHREAD_MUTEX_INITIALIZER;

static struct set **bucket_of(int start, int stride, int size, const long *psync)
{
    uintptr_t key = (uintptr_t)psync / sizeof *psync * 31 + (unsigned)start;
    key = key * 31 + (unsigned)stride;
    key = key * 31 + (unsigned)size;
    return &buckets[(key ^ key >> 16) % BUCKETS];
}

static struct set *find_set(struct set *const *bucket, int start, int stride, int size, const long *psync)
{
    struct set *set = atomic_load_acquire(bucket); /* release: add_set */
    while (set && (set->group.flags != psync || set->group.start + (int)uccs_core.first != start ||
                   set->group.stride != stride || set->group.size != size))
        set = set->next;
    return set;
}

static void add_set(struct set **bucket, struct set *set)
{
    pthread_mutex_lock(&makers);
    set->next = *bucket;
    atomic_store_release(bucket, set); /* acquire: find_set */
    pthread_mutex_unlock(&makers);
}

static bool claim_entry(struct node_set *entry, const struct node_set *wanted)
{
    uint32_t state = SET_FREE;
    if (!atomic_cas_acquire(&entry->state, &state, SET_CLAIMED))
        return false;
    entry->start = wanted->start;
    entry->stride = wanted->stride;
    entry->size = wanted->size;
    memcpy(entry->where, wanted->where, sizeof entry->where);
    atomic_store_release(&entry->state, SET_VALID); /* acquire: is_entry */
    return true;
}

static bool is_entry(struct node_set *entry, const struct node_set *wanted)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&entry->state) == SET_CLAIMED)
        uccs_pause(&wait);
    return entry->start == wanted->start && entry->stride == wanted->stride && entry->size == wanted->size &&
           memcmp(entry->where, wanted->where, sizeof entry->where) == 0;
}

/* The set's area of the node, the same at all members; -1 when there are too many sets. */
static int area_of(const char *call, int start, int stride, int size, const long *psync)
{
    struct node_set wanted = {.start = start, .stride = stride, .size = size};
    size_t offset;
    wanted.where[0] = uccs_memory_find(psync, &offset);
    wanted.where[1] = offset;
    if (wanted.where[0] == UCCS_NOWHERE)
        lat_resolve(call, "pSync", psync, uccs_core.me);
    for (int i = 0; i < NODE_SETS; i++)
        if (claim_entry(&rte.node->sets[i], &wanted) || is_entry(&rte.node->sets[i], &wanted))
            return NODE_TEAM_AREAS + i;
    return -1;
}

/* Every node has its own table, so the members exchange their nodes' slots in pSync, behind the flags. */
static void agree_areas(struct uccs_team *group, int area)
{
    struct uccs_nodes *nodes = group->nodes;
    long *word = &group->flags[TEAM_ROUNDS];
    bool all = true;
    *word = area;
    group->area = -1;
    uccs_team_sync(group);
    for (int node = 0; node < nodes->count; node++) {
        long theirs = area;
        if (node != nodes->mine)
            (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_GET,
                                                      .pe = uccs_nodes_lead_pe(group, node),
                                                      .at = proto_address(word),
                                                      .dest = &theirs,
                                                      .bytes = sizeof theirs});
        nodes->leads[node].area = (int)theirs;
        all &= theirs >= 0;
    }
    uccs_team_sync(group);
    *word = TEAM_FLAG_AT_REST;
    group->area = nodes->near.area = all ? area : -1;
}

static struct set *make_set(const char *call, int start, int stride, int size, long *psync)
{
    struct set *set = calloc(1, sizeof *set);
    if (!set)
        lat_fail(call, "no memory for an active set");
    struct uccs_team *group = &set->group;
    *group = (struct uccs_team){.rank = (uccs_core.me - start) / stride,
                                .size = size,
                                .start = start - (int)uccs_core.first,
                                .stride = stride,
                                .flags = psync};
    if (uccs_team_map_nodes(group) != 0)
        lat_fail(call, "no memory for an active set");
    int area = size > 1 ? area_of(call, start, stride, size, psync) : -1;
    if (group->far)
        agree_areas(group, area);
    else
        group->area = area;
    return set;
}

/* Ends the job when an argument is wrong. Returns whether this PE is in the set. */
static bool require_set(const char *call, int start, int logstride, int size, const long *psync)
{
    lat_require(call);
    int64_t stride = logstride >= 0 && logstride < 31 ? INT64_C(1) << logstride : 0;
    int64_t distance = uccs_core.me - start;
    if (stride == 0)
        lat_fail(call, "logPE_stride %d is out of range", logstride);
    if (size < 1 || start < 0 || start + stride * (size - 1) >= uccs_core.npes)
        lat_fail(call, "PE_start %d, logPE_stride %d, PE_size %d reach beyond the job's PEs 0 to %d", start, logstride,
                 size, uccs_core.npes - 1);
    if (!psync && size > 1)
        lat_fail(call, "pSync is null");
    return distance >= 0 && distance % stride == 0 && distance / stride < size;
}

struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync)
{
    if (!require_set(call, start, logstride, size, psync))
        return 0;
    int stride = 1 << logstride;
    struct set **bucket = bucket_of(start, stride, size, psync);
    struct set *set = find_set(bucket, start, stride, size, psync);
    if (lat_unlikely(!set)) {
        set = make_set(call, start, stride, size, psync);
        add_set(bucket, set);
    }
    return &set->group;
}

struct uccs_team *lat_team_group(const char *call, shmem_team_t handle)
{
    lat_require(call);
    struct shmem_team_impl *team = lat_team_of(handle);
    return team ? &team->group : 0;
}

void lat_require_root(const char *call, const struct uccs_team *group, int root)
{
    if (lat_unlikely(root < 0 || root >= group->size))
        lat_fail(call, "PE_root %d is out of range, the team or active set has PEs 0 to %d", root, group->size - 1);
}
