/* Life, identity and locality of uccs_rte.h. Processes exchange all facts about each other once, in uccs_rte_init, and
 * afterwards only read them. */
#include "uccs/api/inner.h"

#include "base/atomic.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/coll/coll.h"

#include <pthread.h>
#include <stdlib.h>

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
