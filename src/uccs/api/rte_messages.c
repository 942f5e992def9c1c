/* Life, identity and locality of uccs_rte.h. Processes exchange all facts about each other once, in uccs_rte_init, and
 * afterwards only read them. */
#include "base/atomic.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/api/inner.h"
#include "uccs/coll/coll.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uccs_rte.h>

/* Data exchange sessions of uccs_rte.h. Each member's values lie one after the other in a blob, and an exchange gathers
 * all blobs. One thread at a time per session. */

/* The head of an entry. The key with its terminating zero follows, then the value, both padded to 8 bytes. */
struct entry {
    uint64_t key_bytes, value_bytes;
};

struct uccs_rte_session {
    uccs_group_t group; /* the session's own group, which keeps its operations apart */
    char *mine, *all;
    size_t used, room, stride;
    uint64_t *lengths; /* of each member's blob in the last exchange */
};

static size_t padded_bytes(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

int uccs_rte_session_create(uccs_group_t group, int tag, uccs_rte_session_t *session)
{
    int size = uccs_group_size(group);
    (void)tag; /* the order of creation tells sessions apart */
    if (!uccs_running() || !session || size < 1)
        return UCCS_ERR_INVALID;
    int *ranks = malloc((size_t)size * sizeof *ranks);
    struct uccs_rte_session *made = calloc(1, sizeof *made);
    uint64_t *lengths = calloc((size_t)size, sizeof *lengths);
    for (int rank = 0; rank < size && ranks; rank++)
        ranks[rank] = rank;
    bool good = ranks && made && lengths && uccs_group_create(group, (size_t)size, ranks, &made->group) == UCCS_OK;
    free(ranks);
    if (!good) {
        free(made);
        free(lengths);
        return UCCS_ERR_NO_MEMORY;
    }
    made->lengths = lengths;
    *session = made;
    return UCCS_OK;
}

static char *extend_blob(struct uccs_rte_session *s, size_t bytes)
{
    if (s->used + bytes > s->room) {
        size_t room = 2 * (s->used + bytes);
        char *larger = realloc(s->mine, room);
        if (!larger)
            return 0;
        s->mine = larger;
        s->room = room;
    }
    s->used += bytes;
    return s->mine + s->used - bytes;
}

int uccs_rte_session_set(uccs_rte_session_t s, const char *key, const struct uccs_rte_iovec *value, uint32_t count)
{
    if (!s || !key || !uccs_oob_valid(value, count))
        return UCCS_ERR_INVALID;
    const struct entry entry = {strlen(key) + 1, uccs_oob_bytes(value, count)};
    size_t bytes = sizeof entry + padded_bytes(entry.key_bytes) + padded_bytes(entry.value_bytes);
    char *to = extend_blob(s, bytes);
    if (!to)
        return UCCS_ERR_NO_MEMORY;
    memset(to, 0, bytes);
    memcpy(to, &entry, sizeof entry);
    memcpy(to + sizeof entry, key, entry.key_bytes);
    uccs_oob_copy(to + sizeof entry + padded_bytes(entry.key_bytes), value, count);
    return UCCS_OK;
}

/* Gathers the lengths first, then the blobs, each in as much room as the longest one needs. */
int uccs_rte_session_exchange(uccs_rte_session_t s)
{
    if (!s)
        return UCCS_ERR_INVALID;
    int size = uccs_group_size(s->group), rank = uccs_group_rank(s->group);
    uint64_t used = s->used;
    if (uccs_allgather(s->group, &used, s->lengths, sizeof used) != UCCS_OK)
        return UCCS_ERR_FAILED;
    s->stride = 8;
    for (int i = 0; i < size; i++)
        s->stride = s->lengths[i] > s->stride ? s->lengths[i] : s->stride;
    char *all = calloc((size_t)size, s->stride);
    if (!all)
        return UCCS_ERR_NO_MEMORY;
    if (s->used)
        memcpy(all + (size_t)rank * s->stride, s->mine, s->used);
    free(s->all);
    s->all = all;
    int status = uccs_allgather(s->group, all + (size_t)rank * s->stride, all, s->stride);
    return status;
}

/* Finds the last value that was set under the key. */
int uccs_rte_session_get(uccs_rte_session_t s, uccs_rte_ec_t peer, const char *key, const void **value, size_t *bytes)
{
    if (!s || !key || !value || !bytes)
        return UCCS_ERR_INVALID;
    uint32_t rank = uccs_rte_ec_index(s->group, peer);
    if (rank == UINT32_MAX)
        return UCCS_ERR_INVALID;
    const char *at = s->all ? s->all + rank * s->stride : 0, *end = at ? at + s->lengths[rank] : 0;
    int status = UCCS_ERR_NOT_FOUND;
    while (at < end) {
        struct entry entry;
        memcpy(&entry, at, sizeof entry);
        const char *name = at + sizeof entry, *data = name + padded_bytes(entry.key_bytes);
        if (strcmp(name, key) == 0) {
            *value = data;
            *bytes = entry.value_bytes;
            status = UCCS_OK;
        }
        at = data + padded_bytes(entry.value_bytes);
    }
    return status;
}

int uccs_rte_session_destroy(uccs_rte_session_t s)
{
    if (!s)
        return UCCS_ERR_INVALID;
    uccs_barrier(s->group);
    uccs_group_release(s->group);
    free(s->mine);
    free(s->all);
    free(s->lengths);
    free(s);
    return UCCS_OK;
}

const struct uccs_rte_dt uccs_rte_int1 = {1}, uccs_rte_int2 = {2}, uccs_rte_int4 = {4}, uccs_rte_int8 = {8};
const struct uccs_rte_dt uccs_rte_uint1 = {1}, uccs_rte_uint2 = {2}, uccs_rte_uint4 = {4}, uccs_rte_uint8 = {8};
const struct uccs_rte_dt uccs_rte_float4 = {4}, uccs_rte_float8 = {8}, uccs_rte_bool = {1};

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static int users;
static struct uccs_locality *places; /* by PE; release by exchange_places, acquire by place_of */

static int exchange_places(void)
{
    struct uccs_locality mine, *all = calloc((size_t)uccs_core.npes, sizeof *all);
    if (!all)
        return UCCS_ERR_NO_MEMORY;
    uccs_locality_find(&mine);
    if (uccs_allgather(UCCS_GROUP_WORLD, &mine, all, sizeof mine) != UCCS_OK) {
        free(all);
        return UCCS_ERR_FAILED;
    }
    atomic_store_release(&places, all);
    return UCCS_OK;
}

int uccs_rte_init(uccs_group_t *world)
{
    int status = UCCS_OK;
    pthread_mutex_lock(&life);
    if (users == 0) {
        status = uccs_init();
        if (status == UCCS_OK && (status = exchange_places()) != UCCS_OK)
            uccs_finalize();
    }
    users += status == UCCS_OK;
    pthread_mutex_unlock(&life);
    if (world && status == UCCS_OK)
        *world = UCCS_GROUP_WORLD;
    return status;
}

int uccs_rte_finalize(void)
{
    int status = UCCS_OK;
    pthread_mutex_lock(&life);
    if (users == 0)
        status = UCCS_ERR_FAILED;
    else if (--users == 0) {
        while (uccs_oob_deliver())
            ;
        status = uccs_finalize();
        free(places);
        places = 0;
    }
    pthread_mutex_unlock(&life);
    return status;
}

void uccs_rte_abort(int status, const char *description, ...)
{
    if (description) {
        va_list arguments;
        va_start(arguments, description);
        log_vline(description, arguments);
        va_end(arguments);
    }
    rte_abort(status);
}

uint32_t uccs_rte_job_id(void)
{
    return rte.node ? (uint32_t)(rte.node->nonce[0] ^ rte.node->nonce[0] >> 32) : 0;
}

uccs_rte_ec_t uccs_rte_my_ec(void)
{
    return uccs_running() ? (uccs_rte_ec_t)(uintptr_t)(uccs_core.me + 1) : UCCS_RTE_EC_NULL;
}

uccs_rte_ec_t uccs_rte_group_index_to_ec(uccs_group_t group, uint32_t index)
{
    int pe = index <= INT32_MAX ? uccs_group_world_rank(group, (int)index) : -1;
    return (uccs_rte_ec_t)(uintptr_t)(pe + 1);
}

int uccs_rte_group_size(uccs_group_t group)
{
    return uccs_group_size(group);
}

int uccs_rte_group_rank(uccs_group_t group)
{
    return uccs_group_rank(group);
}

uint32_t uccs_rte_ec_index(uccs_group_t group, uccs_rte_ec_t ec)
{
    return ec ? (uint32_t)uccs_ranks_find(group, (int)(uintptr_t)ec - 1) : UINT32_MAX;
}

int uccs_rte_cmp_ec(uccs_rte_ec_t a, uccs_rte_ec_t b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static const struct uccs_locality *place_of(uccs_rte_ec_t ec)
{
    const struct uccs_locality *all = atomic_load_acquire(&places); /* release: exchange_places */
    uintptr_t pe = (uintptr_t)ec - 1;
    return all && pe < (uintptr_t)uccs_core.npes ? &all[pe] : 0;
}

uint32_t uccs_rte_ec_node_id(uccs_rte_ec_t ec)
{
    const struct uccs_locality *place = place_of(ec);
    return place ? (uint32_t)place->node : UINT32_MAX;
}

const char *uccs_rte_ec_hostname(uccs_rte_ec_t ec)
{
    const struct uccs_locality *place = place_of(ec);
    return place ? place->host : 0;
}

const char *uccs_rte_ec_node_name(uccs_rte_ec_t ec)
{
    return uccs_rte_ec_hostname(ec);
}

static int shared_level(int mine, int theirs, int bit)
{
    return mine >= 0 && mine == theirs ? bit : 0;
}

int uccs_rte_ec_locality(uccs_rte_ec_t ec)
{
    const struct uccs_locality *mine = place_of(uccs_rte_my_ec()), *theirs = place_of(ec);
    if (!mine || !theirs)
        return UCCS_RTE_PROC_LOCALITY_UNKNOWN;
    if (mine->node != theirs->node)
        return UCCS_RTE_PROC_ON_CLUSTER;
    return UCCS_RTE_PROC_ON_CLUSTER | UCCS_RTE_PROC_ON_NODE |
           shared_level(mine->numa, theirs->numa, UCCS_RTE_PROC_ON_NUMA) |
           shared_level(mine->socket, theirs->socket, UCCS_RTE_PROC_ON_SOCKET) |
           shared_level(mine->cache, theirs->cache, UCCS_RTE_PROC_ON_L3CACHE) |
           shared_level(mine->core, theirs->core, UCCS_RTE_PROC_ON_CORE) |
           shared_level(mine->hwthread, theirs->hwthread, UCCS_RTE_PROC_ON_HWTHREAD);
}

int uccs_rte_ec_machine(uccs_rte_ec_t ec, struct uccs_rte_machine *machine)
{
    const struct uccs_locality *place = place_of(ec);
    if (!machine || !place)
        return UCCS_ERR_INVALID;
    *machine = place->machine;
    return UCCS_OK;
}

int uccs_rte_ec_network(uccs_rte_ec_t ec, struct uccs_rte_network *list, size_t *count)
{
    const struct uccs_locality *place = place_of(ec);
    if (!place || !count || (*count && !list))
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < place->nnetworks && i < *count; i++)
        list[i] = place->networks[i];
    *count = place->nnetworks;
    return UCCS_OK;
}

/* Launchers give their standard input to process 0. */
int uccs_rte_io_query(struct uccs_rte_io *io)
{
    if (!io || !uccs_running())
        return UCCS_ERR_INVALID;
    *io = (struct uccs_rte_io){.launched = rte.launched,
                               .input_here = !rte.launched || uccs_core.me == 0,
                               .output_forwarded = rte.launched};
    return UCCS_OK;
}

void uccs_rte_progress(void)
{
    uccs_progress();
    uccs_oob_deliver();
}

int uccs_rte_barrier(uccs_group_t group)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_wait wait uccs_scoped = {0};
    int status = uccs_barrier_nb(group, &request);
    if (status != UCCS_OK)
        return status == UCCS_ERR_NO_MEMORY ? UCCS_ERR_NO_MEMORY : UCCS_ERR_INVALID;
    while (uccs_test(&request) == UCCS_IN_PROGRESS)
        if (uccs_oob_deliver() == 0)
            uccs_rest(&wait);
    uccs_request_release(&request);
    return UCCS_OK;
}
