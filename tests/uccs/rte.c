/* The runtime environment of uccs_rte.h: identity, places, machine, out-of-band messages, sessions; from eight threads.
 * pes: 1 2 4
 */
#include "check.h"

#include <uccs_rte.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 100 };

static uccs_group_t world;
static uccs_rte_ec_t next, prev;
static long called, told;

/* A process tells of the networks of its machine, as many as fit, in their order, but loopback last. */
static void test_networks(const struct uccs_rte_network *told, size_t count)
{
    struct uccs_rte_network all[64];
    size_t there = 64, at = 0;
    OK(uccs_rte_network_query(all, &there));
    CHECK_EQ(count, there < UCCS_RTE_EC_NETWORKS ? there : UCCS_RTE_EC_NETWORKS);
    for (int loopback = 0; loopback < 2; loopback++)
        for (size_t i = 0; i < there && at < count; i++)
            if ((all[i].loopback != 0) == loopback)
                CHECK(memcmp(&told[at++], &all[i], sizeof *all) == 0);
    CHECK_EQ(at, count);
}

/* What I know of the next one is what it says of itself. */
static void test_machines(const struct uccs_rte_machine *mine)
{
    struct uccs_rte_machine theirs, told, *all = calloc((size_t)npes, sizeof *all);
    struct uccs_rte_network network[UCCS_RTE_EC_NETWORKS], *networks = calloc((size_t)npes, sizeof *networks);
    size_t count = UCCS_RTE_EC_NETWORKS;
    CHECK(all && networks);
    OK(uccs_rte_ec_machine(uccs_rte_my_ec(), &told));
    CHECK(memcmp(&told, mine, sizeof told) == 0);
    OK(uccs_allgather(world, mine, all, sizeof *mine));
    OK(uccs_rte_ec_machine(next, &theirs));
    CHECK(memcmp(&theirs, &all[next_pe], sizeof theirs) == 0 && strcmp(theirs.architecture, mine->architecture) == 0);
    OK(uccs_rte_ec_network(uccs_rte_my_ec(), network, &count));
    CHECK(count >= 1 && count <= UCCS_RTE_EC_NETWORKS && network[0].address[0]);
    test_networks(network, count);
    OK(uccs_allgather(world, network, networks, sizeof *network));
    OK(uccs_rte_ec_network(next, network, &count));
    CHECK(memcmp(network, &networks[next_pe], sizeof *network) == 0);
    CHECK_EQ(uccs_rte_ec_machine(UCCS_RTE_EC_NULL, &theirs), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_ec_machine(next, 0), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_ec_network(UCCS_RTE_EC_NULL, network, &count), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_ec_network(next, 0, &(size_t){1}), UCCS_RTE_ERROR_BAD_INPUT);
    free(all);
    free(networks);
}

static void test_identity(void)
{
    struct uccs_rte_machine machine;
    struct uccs_rte_network list[64];
    struct uccs_rte_io io;
    size_t count = 64;
    CHECK_EQ(uccs_rte_group_size(world), npes);
    CHECK_EQ(uccs_rte_group_rank(world), me);
    CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)me) == uccs_rte_my_ec());
    CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)npes) == UCCS_RTE_EC_NULL);
    CHECK_EQ(uccs_rte_ec_index(world, next), next_pe);
    CHECK_EQ(uccs_rte_ec_index(world, UCCS_RTE_EC_NULL), UINT32_MAX);
    CHECK((uccs_rte_cmp_ec(next, prev) == 0) == (next_pe == prev_pe));
    CHECK_EQ(uccs_rte_ec_node_id(next), check_first(next_pe));
    CHECK(strlen(uccs_rte_ec_hostname(next)) > 0 && strlen(uccs_rte_ec_node_name(prev)) > 0);
    CHECK(!check_near(next_pe) || strcmp(uccs_rte_ec_hostname(next), uccs_rte_ec_hostname(uccs_rte_my_ec())) == 0);
    CHECK(!uccs_rte_ec_hostname(UCCS_RTE_EC_NULL));
    CHECK(uccs_rte_ec_locality(next) & UCCS_RTE_PROC_ON_CLUSTER);
    CHECK(((uccs_rte_ec_locality(next) & UCCS_RTE_PROC_ON_NODE) != 0) == check_near(next_pe));
    CHECK_EQ(uccs_rte_ec_locality(UCCS_RTE_EC_NULL), UCCS_RTE_PROC_LOCALITY_UNKNOWN);
    uint32_t id = uccs_rte_job_id(), low = 0, high = 0;
    OK(uccs_allreduce(world, &id, &low, 1, UCCS_UINT32, UCCS_MIN));
    OK(uccs_allreduce(world, &id, &high, 1, UCCS_UINT32, UCCS_MAX));
    CHECK(low == high);
    OK(uccs_rte_machine_query(&machine));
    CHECK(machine.pointer_bits == 64 && machine.usable >= 1 && machine.hwthreads >= machine.usable);
    if (access("/sys/devices/system/cpu/cpu0/topology/core_id", R_OK) == 0)
        CHECK(machine.sockets >= 1 && machine.cores >= machine.sockets && machine.cores <= machine.hwthreads);
    CHECK(machine.architecture[0] && machine.endianness == UCCS_RTE_LITTLE_ENDIAN);
    OK(uccs_rte_network_query(list, &count));
    OK(uccs_rte_network_query(0, &(size_t){0}));
    CHECK_EQ(uccs_rte_network_query(0, &(size_t){1}), UCCS_RTE_ERROR_BAD_INPUT);
    test_machines(&machine);
    OK(uccs_rte_io_query(&io));
    CHECK(io.launched && io.output_forwarded && io.input_here == (me == 0));
}

/* Each thread has its tag: pairs of values and a text to the next, and back. */
static void *talk(void *argument)
{
    long id = (long)argument;
    for (long round = 0; round < ROUNDS; round++) {
        int64_t out[2] = {round, id}, in[2] = {-1, -1};
        char text[3000], back[3000];
        memset(text, (int)('a' + id), sizeof text);
        struct uccs_rte_iovec send[] = {{out, &uccs_rte_int8, 2}, {text, &uccs_rte_int1, sizeof text}};
        struct uccs_rte_iovec receive[] = {{in, &uccs_rte_int8, 2}, {back, &uccs_rte_int1, sizeof back}};
        OK(uccs_rte_send(send, 2, next, (int)id, world));
        OK(uccs_rte_recv(receive, 2, round % 2 ? prev : UCCS_RTE_ANYSOURCE, (int)id, world));
        CHECK(in[0] == round && in[1] == id && memcmp(text, back, sizeof text) == 0);
    }
    return 0;
}

static void heard(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument)
{
    int value;
    uint32_t offset = 0;
    CHECK(status == UCCS_RTE_SUCCESS && peer == prev && tag == 77 && argument == &called && bytes == sizeof value);
    OK(uccs_rte_unpack(&(struct uccs_rte_iovec){&value, &uccs_rte_int4, 1}, data, &offset));
    CHECK(offset == 4 && value == 100 + called % 3);
    called++;
}

static void was_sent(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument)
{
    (void)data, (void)bytes;
    CHECK(status == UCCS_RTE_SUCCESS && peer == next && tag == 77 && argument == &told);
    told++;
}

static void test_callbacks(void)
{
    OK(uccs_rte_recv_nbcb(prev, 77, UCCS_RTE_RECV_PERSISTENT, world, heard, &called));
    for (int i = 0; i < 6; i++) {
        int value = 100 + i % 3;
        OK(uccs_rte_send_nbcb(&(struct uccs_rte_iovec){&value, &uccs_rte_int4, 1}, 1, next, 77, world, was_sent,
                              &told));
    }
    while (called < 6 || told < 6)
        uccs_rte_progress();
    CHECK(called == 6 && told == 6);
    OK(uccs_rte_cancel(prev, 77));
    CHECK_EQ(uccs_rte_cancel(prev, 77), UCCS_RTE_ERROR_NOT_FOUND);
    CHECK_EQ(uccs_rte_send(0, 0, UCCS_RTE_EC_NULL, 1, world), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_send(0, 1, next, 1, world), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_send(0, 0, UCCS_RTE_ANYSOURCE, 1, world), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_recv(0, 0, next, 1, UCCS_GROUP_NULL), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_recv_nbcb(prev, 1, 0, world, 0, 0), UCCS_RTE_ERROR_BAD_INPUT);
    int short_one = 1;
    OK(uccs_rte_send(&(struct uccs_rte_iovec){&short_one, &uccs_rte_int4, 1}, 1, next, 5, world));
    CHECK_EQ(uccs_rte_recv(0, 0, prev, 5, world), UCCS_RTE_ERROR); /* of another length */
    OK(uccs_rte_barrier(world));
}

static void test_session(void)
{
    uccs_rte_session_t session, second;
    const void *value;
    size_t bytes;
    OK(uccs_rte_session_create(world, 1, &session));
    OK(uccs_rte_session_create(world, 1, &second));
    CHECK_EQ(uccs_rte_session_get(session, next, "name", &value, &bytes), UCCS_RTE_ERROR_NOT_FOUND);
    int32_t numbers[20];
    for (int i = 0; i < 20; i++)
        numbers[i] = me * 100 + i;
    OK(uccs_rte_session_set(session, "old", &(struct uccs_rte_iovec){numbers, &uccs_rte_int4, 1}, 1));
    OK(uccs_rte_session_set(session, "numbers", &(struct uccs_rte_iovec){numbers, &uccs_rte_int4, (uint32_t)me + 1},
                            1));
    OK(uccs_rte_session_set(session, "empty", 0, 0));
    OK(uccs_rte_session_exchange(second));
    OK(uccs_rte_session_exchange(session));
    for (int pe = 0; pe < npes; pe++) {
        uccs_rte_ec_t peer = uccs_rte_group_index_to_ec(world, (uint32_t)pe);
        OK(uccs_rte_session_get(session, peer, "numbers", &value, &bytes));
        CHECK(bytes == 4 * ((size_t)pe + 1) && ((const int32_t *)value)[pe] == pe * 101);
        OK(uccs_rte_session_get(session, peer, "empty", &value, &bytes));
        CHECK(bytes == 0);
        CHECK_EQ(uccs_rte_session_get(second, peer, "numbers", &value, &bytes), UCCS_RTE_ERROR_NOT_FOUND);
    }
    CHECK_EQ(uccs_rte_session_get(session, UCCS_RTE_EC_NULL, "numbers", &value, &bytes), UCCS_RTE_ERROR_BAD_INPUT);
    CHECK_EQ(uccs_rte_session_set(session, 0, 0, 0), UCCS_RTE_ERROR_BAD_INPUT);
    OK(uccs_rte_session_destroy(second));
    OK(uccs_rte_session_destroy(session));
}

int main(void)
{
    CHECK_EQ(uccs_rte_finalize(), UCCS_RTE_ERROR);
    OK(uccs_rte_init(&world));
    check_who();
    next = uccs_rte_group_index_to_ec(world, (uint32_t)next_pe);
    prev = uccs_rte_group_index_to_ec(world, (uint32_t)prev_pe);
    test_identity();
    test_callbacks();
    check_threads(THREADS, talk);
    test_session();
    OK(uccs_init());
    OK(uccs_rte_finalize());
    return check_pass();
}
