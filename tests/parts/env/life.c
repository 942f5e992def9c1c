/* The life of uccs_rte.h: users that come and go, what each failure leaves behind, processes and their handles, waits that deliver
 * messages meanwhile. And sessions whose memory runs out, one allocation after another. */
#include "life_sessions.h"

/* --- Users */

static void comes_and_goes(void)
{
    uccs_group_t world = NULL;
    CHECK(uccs_rte_finalize() == UCCS_RTE_ERROR && called(""));
    CHECK(uccs_rte_my_ec() == UCCS_RTE_EC_NULL && !uccs_rte_ec_hostname((uccs_rte_ec_t)1));
    CHECK(uccs_rte_init(&world) == UCCS_RTE_SUCCESS && called("ig") && world == UCCS_GROUP_WORLD && owned_count == 1);
    CHECK(uccs_rte_init(NULL) == UCCS_RTE_SUCCESS && called("") && owned_count == 1);
    CHECK(uccs_rte_finalize() == UCCS_RTE_SUCCESS && called("") && uccs_users == 1 && owned_count == 1);
    undelivered = 2;
    CHECK(uccs_rte_finalize() == UCCS_RTE_SUCCESS && called("ooof") && owned_count == 0 && held_at_end == 1);
    CHECK(!uccs_rte_ec_hostname((uccs_rte_ec_t)1) && uccs_rte_finalize() == UCCS_RTE_ERROR && called(""));
    finalize_status = UCCS_ERR_STATE;
    CHECK(uccs_rte_init(&world) == UCCS_RTE_SUCCESS && uccs_rte_finalize() == UCCS_RTE_ERROR && called("igof"));
    CHECK(owned_count == 0 && uccs_rte_finalize() == UCCS_RTE_ERROR && called(""));
    finalize_status = UCCS_OK;
}

/* Each failure leaves nothing behind, and the next call tries again. */
static void cannot_come(void)
{
    uccs_group_t world = NULL;
    init_status = UCCS_ERR_NO_MEMORY;
    CHECK(uccs_rte_init(&world) == UCCS_RTE_ERROR && called("i") && !world);
    init_status = UCCS_OK;
    owned_left = 0;
    CHECK(uccs_rte_init(&world) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && called("if") && !world && uccs_users == 0);
    gather_status = UCCS_ERR_NO_MEMORY;
    CHECK(uccs_rte_init(&world) == UCCS_RTE_ERROR && called("igf") && !world && owned_count == 0);
    gather_status = UCCS_OK;
    CHECK(uccs_rte_finalize() == UCCS_RTE_ERROR && called(""));
    CHECK(!uccs_rte_ec_hostname((uccs_rte_ec_t)1));
    CHECK(uccs_rte_init(&world) == UCCS_RTE_SUCCESS && called("ig") && world == UCCS_GROUP_WORLD);
}

/* --- Processes; the library runs */

static void processes(void)
{
    const uccs_group_t world = UCCS_GROUP_WORLD;
    CHECK(uccs_rte_my_ec() == (uccs_rte_ec_t)2);
    for (uintptr_t i = 0; i < 3; i++)
        CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)i) == (uccs_rte_ec_t)(i + 1) &&
              uccs_rte_ec_index(world, (uccs_rte_ec_t)(i + 1)) == 2 - i);
    CHECK(uccs_rte_group_index_to_ec(world, 3) == UCCS_RTE_EC_NULL);
    CHECK(uccs_rte_group_index_to_ec(world, INT32_MAX) == (uccs_rte_ec_t)0x100000);
    CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)INT32_MAX + 1) == UCCS_RTE_EC_NULL);
    CHECK(uccs_rte_group_index_to_ec(world, UINT32_MAX) == UCCS_RTE_EC_NULL);
    CHECK(uccs_rte_ec_index(world, UCCS_RTE_EC_NULL) == UINT32_MAX);
    CHECK(uccs_rte_ec_index(world, (uccs_rte_ec_t)4) == UINT32_MAX);
    CHECK(uccs_rte_ec_index(world, (uccs_rte_ec_t)90001) == 70001);
    CHECK(uccs_rte_group_size(world) == 3 && uccs_rte_group_rank(world) == 1);
    CHECK(strcmp(uccs_rte_ec_hostname((uccs_rte_ec_t)1), "here") == 0 && uccs_rte_ec_hostname((uccs_rte_ec_t)3));
    CHECK(!uccs_rte_ec_hostname((uccs_rte_ec_t)4) && !uccs_rte_ec_hostname(UCCS_RTE_EC_NULL));
    CHECK(!uccs_rte_ec_hostname((uccs_rte_ec_t)UINTPTR_MAX));
    CHECK(!uccs_rte_ec_hostname((uccs_rte_ec_t)(UINT64_C(1) << 32 | 1)));
    CHECK(uccs_rte_ec_node_id((uccs_rte_ec_t)3) == 70000 && uccs_rte_ec_node_id((uccs_rte_ec_t)4) == UINT32_MAX);
}

static void localities(void)
{
    const uccs_rte_ec_t other = (uccs_rte_ec_t)3;
    const int here = UCCS_RTE_PROC_ON_CLUSTER | UCCS_RTE_PROC_ON_NODE;
    places[1].numa = places[1].socket = places[1].cache = places[1].core = places[1].hwthread = -1;
    places[2].numa = places[2].socket = places[2].cache = places[2].core = places[2].hwthread = -1;
    CHECK(uccs_rte_ec_locality(other) == here);
    places[1].numa = places[2].numa = 0;
    places[1].core = 5;
    CHECK(uccs_rte_ec_locality(other) == (here | UCCS_RTE_PROC_ON_NUMA));
    places[2].node = 2;
    CHECK(uccs_rte_ec_locality(other) == UCCS_RTE_PROC_ON_CLUSTER);
    CHECK(uccs_rte_ec_locality((uccs_rte_ec_t)4) == UCCS_RTE_PROC_LOCALITY_UNKNOWN);
    uccs_core.me = 7; /* this process is not known */
    CHECK(uccs_rte_ec_locality(other) == UCCS_RTE_PROC_LOCALITY_UNKNOWN);
    uccs_core.me = 1;
}

static void networks(void)
{
    struct uccs_rte_network list[4];
    for (size_t room = 0; room < 4; room++) {
        size_t count = room;
        memset(list, 1, sizeof list);
        CHECK(uccs_rte_ec_network((uccs_rte_ec_t)1, list, &count) == UCCS_RTE_SUCCESS && count == 2);
        for (size_t i = 0; i < 4; i++)
            CHECK(*(char *)&list[i] == !(i < 2 && i < room));
    }
}

static void input(void)
{
    struct uccs_rte_io io;
    for (int launched = 0; launched < 2; launched++)
        for (uccs_core.me = 0; uccs_core.me < 2; uccs_core.me++) {
            rte.launched = launched;
            CHECK(uccs_rte_io_query(&io) == UCCS_RTE_SUCCESS && io.launched == launched);
            CHECK(io.input_here == (!launched || uccs_core.me == 0) && io.output_forwarded == launched);
        }
    uccs_core.me = 1;
    CHECK(uccs_rte_io_query(NULL) == UCCS_RTE_ERROR_BAD_INPUT);
    const int users_now = uccs_users;
    uccs_users = 0;
    CHECK(uccs_rte_io_query(&io) == UCCS_RTE_ERROR_BAD_INPUT);
    uccs_users = users_now;
}

/* --- Waits */

static void barriers(void)
{
    uccs_rte_progress();
    CHECK(called("po"));
    barrier_status = UCCS_ERR_NO_MEMORY;
    CHECK(uccs_rte_barrier(UCCS_GROUP_WORLD) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && called(""));
    barrier_status = UCCS_ERR_INVALID;
    CHECK(uccs_rte_barrier(UCCS_GROUP_WORLD) == UCCS_RTE_ERROR_BAD_INPUT && called(""));
    barrier_status = UCCS_OK;
    tests_left = 0;
    CHECK(uccs_rte_barrier(UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && called("tr"));
    CHECK(released == (uccs_request_t)&released);
    tests_left = 3;
    undelivered = 2; /* while messages come, it does not wait */
    uccs_core.spin = 0;
    CHECK(uccs_rte_barrier(UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && called("tototoytr"));
}

static void ends_job(void)
{
    if (setjmp(home) == 0)
        uccs_rte_abort(17, "%s of %d", "word", 70000);
    CHECK(aborted == 17 && strcmp(line, "word of 70000") == 0);
    line[0] = 0;
    if (setjmp(home) == 0)
        uccs_rte_abort(18, NULL);
    CHECK(aborted == 18 && !line[0]);
}

static void jobs(void)
{
    static struct node node = {.nonce = {UINT64_C(0x1234567800000000) | 0xF0F0F0F0u, 77}};
    CHECK(uccs_rte_job_id() == 0);
    rte.node = &node;
    CHECK(uccs_rte_job_id() == (0x12345678u ^ 0xF0F0F0F0u));
    rte.node = NULL;
}

int main(void)
{
    comes_and_goes();
    cannot_come();
    processes();
    localities();
    networks();
    input();
    barriers();
    ends_job();
    jobs();
    sessions_without_memory();
    session_fills();
    empty_session();
    CHECK(uccs_rte_finalize() == UCCS_RTE_SUCCESS && owned_count == 0);
    return 0;
}
