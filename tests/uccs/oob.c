/* Out-of-band messages in other orders than they were sent in, and data exchange with keys and values of many lengths:
 * what matches what, what stays, and which arguments are refused.
 * pes: 1 3
 * case: plenty
 * case: little
 * env: LATERAL_MEMORY=64m
 */
#include "check.h"

#include <stdbool.h>
#include <uccs_rte.h>

#define BAD(call) CHECK_EQ(call, UCCS_RTE_ERROR_BAD_INPUT)

static uccs_group_t world, twin;
static uccs_rte_ec_t next, prev;

static void send_number(int number, int tag, uccs_group_t group)
{
    OK(uccs_rte_send(&(struct uccs_rte_iovec){&number, &uccs_rte_int4, 1}, 1, next, tag, group));
}

static int receive_number(uccs_rte_ec_t source, int tag, uccs_group_t group)
{
    int number = -1;
    OK(uccs_rte_recv(&(struct uccs_rte_iovec){&number, &uccs_rte_int4, 1}, 1, source, tag, group));
    return number;
}

/* Tag, source and group match; the order of sending holds among those that match. */
static void test_order(void)
{
    send_number(1, 5, world);
    send_number(2, 6, world);
    send_number(3, 5, world);
    send_number(4, 5, twin);
    send_number(5, 6, twin);
    CHECK_EQ(receive_number(prev, 6, twin), 5);
    CHECK_EQ(receive_number(prev, 6, world), 2);
    CHECK_EQ(receive_number(UCCS_RTE_ANYSOURCE, 5, world), 1);
    CHECK_EQ(receive_number(prev, 5, twin), 4);
    CHECK_EQ(receive_number(prev, 5, world), 3);
    OK(uccs_rte_barrier(world));
}

static int heard[4], values[4];

static void hear(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument)
{
    const int which = (int)((int *)argument - heard);
    CHECK(status == UCCS_RTE_SUCCESS && peer == prev && bytes == sizeof *values && (tag == 8 || tag == 9));
    memcpy(&values[which], data, sizeof *values);
    heard[which]++;
}

static void hear_long(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument)
{
    (void)data, (void)bytes;
    CHECK(status == UCCS_RTE_SUCCESS && peer == prev && tag == 12);
    ++*(int **)argument;
}

static void hear_all(int n)
{
    while (heard[0] + heard[1] + heard[2] + heard[3] < n)
        uccs_rte_progress();
}

/* Receives take messages in the order of their posting; one stays for the next ones only if it says so. */
static void test_posted(void)
{
    memset(heard, 0, sizeof heard);
    OK(uccs_rte_recv_nbcb(prev, 8, 0, world, hear, &heard[0]));
    OK(uccs_rte_recv_nbcb(UCCS_RTE_ANYSOURCE, 8, 0, world, hear, &heard[1]));
    OK(uccs_rte_recv_nbcb(prev, 9, 0, world, hear, &heard[2]));
    OK(uccs_rte_recv_nbcb(prev, 8, UCCS_RTE_RECV_PERSISTENT, world, hear, &heard[3]));
    for (int i = 0; i < 5; i++)
        send_number(100 + i, 8, world);
    hear_all(5);
    CHECK(heard[0] == 1 && heard[1] == 1 && heard[2] == 0 && heard[3] == 3);
    CHECK(values[0] == 100 && values[1] == 101 && values[3] == 104);
    CHECK_EQ(uccs_rte_cancel(UCCS_RTE_ANYSOURCE, 8), UCCS_RTE_ERROR_NOT_FOUND);
    CHECK_EQ(uccs_rte_cancel(prev, 7), UCCS_RTE_ERROR_NOT_FOUND);
    OK(uccs_rte_cancel(prev, 8));
    CHECK_EQ(uccs_rte_cancel(prev, 8), UCCS_RTE_ERROR_NOT_FOUND);
    OK(uccs_rte_barrier(world)); /* all have cancelled */
    send_number(7, 8, world);    /* nobody waits for it any more, until it is asked for */
    send_number(200, 9, world);
    hear_all(6);
    CHECK(heard[2] == 1 && values[2] == 200 && heard[3] == 3);
    CHECK_EQ(receive_number(prev, 8, world), 7);
    for (int i = 0; i < 3; i++) /* all of that source and tag go at once */
        OK(uccs_rte_recv_nbcb(prev, i == 1 ? 9 : 8, 0, world, hear, &heard[i]));
    OK(uccs_rte_cancel(prev, 8));
    CHECK_EQ(uccs_rte_cancel(prev, 8), UCCS_RTE_ERROR_NOT_FOUND);
    OK(uccs_rte_recv_nbcb(prev, 8, 0, world, hear, &heard[3])); /* the list is whole behind the cancelled ones */
    OK(uccs_rte_barrier(world));
    send_number(9, 9, world);
    send_number(10, 8, world);
    hear_all(8);
    CHECK(heard[0] == 1 && heard[1] == 2 && heard[2] == 1 && heard[3] == 4 && values[1] == 9 && values[3] == 10);
    OK(uccs_rte_barrier(world));
}

/* A message that has been received takes no memory any more: many long ones go one behind the other, by either way of
 * receiving. */
static void test_many(void)
{
    enum { LONG = 1 << 20, MANY = 160 };
    static char sent[LONG], got[LONG];
    static int seen[MANY];
    int *at = seen;
    for (int i = 0; i < MANY; i++) {
        memset(sent, i, sizeof sent);
        OK(uccs_rte_send(&(struct uccs_rte_iovec){sent, &uccs_rte_int1, LONG}, 1, next, 11, world));
        OK(uccs_rte_recv(&(struct uccs_rte_iovec){got, &uccs_rte_int1, LONG}, 1, prev, 11, world));
        CHECK(got[0] == (char)i && got[LONG - 1] == (char)i);
    }
    OK(uccs_rte_recv_nbcb(prev, 12, UCCS_RTE_RECV_PERSISTENT, world, hear_long, &at));
    for (int i = 0; i < MANY; i++) {
        OK(uccs_rte_send(&(struct uccs_rte_iovec){sent, &uccs_rte_int1, LONG}, 1, next, 12, world));
        while (at == seen + i)
            uccs_rte_progress();
    }
    OK(uccs_rte_cancel(prev, 12));
    OK(uccs_rte_barrier(world));
}

/* Values one behind the other, more of them than 16 bits count. */
static void test_unpack(void)
{
    enum { MANY = 40000 };
    int16_t *many = malloc(MANY * sizeof *many), *back = calloc(MANY, sizeof *back);
    int64_t last = 0;
    char first = 0, *packed = malloc(1 + MANY * sizeof *many + sizeof last);
    uint32_t offset = 0;
    for (int i = 0; i < MANY; i++)
        many[i] = (int16_t)i;
    packed[0] = 'f';
    memcpy(packed + 1, many, MANY * sizeof *many);
    memcpy(packed + 1 + MANY * sizeof *many, &(int64_t){77}, sizeof last);
    OK(uccs_rte_unpack(&(struct uccs_rte_iovec){&first, &uccs_rte_int1, 1}, packed, &offset));
    OK(uccs_rte_unpack(&(struct uccs_rte_iovec){back, &uccs_rte_uint2, MANY}, packed, &offset));
    CHECK_EQ(offset, 1 + MANY * sizeof *many);
    OK(uccs_rte_unpack(&(struct uccs_rte_iovec){0, &uccs_rte_int8, 0}, packed, &offset));
    OK(uccs_rte_unpack(&(struct uccs_rte_iovec){&last, &uccs_rte_int8, 1}, packed, &offset));
    CHECK(first == 'f' && memcmp(many, back, MANY * sizeof *many) == 0 && last == 77);
    BAD(uccs_rte_unpack(0, packed, &offset));
    BAD(uccs_rte_unpack(&(struct uccs_rte_iovec){&last, &uccs_rte_int8, 1}, 0, &offset));
    BAD(uccs_rte_unpack(&(struct uccs_rte_iovec){&last, &uccs_rte_int8, 1}, packed, 0));
    BAD(uccs_rte_unpack(&(struct uccs_rte_iovec){&last, 0, 1}, packed, &offset));
    BAD(uccs_rte_unpack(&(struct uccs_rte_iovec){0, &uccs_rte_int8, 1}, packed, &offset));
    struct uccs_rte_iovec parts[] = {{many, &uccs_rte_int2, MANY},
                                     {&first, &uccs_rte_int1, 1},
                                     {0, &uccs_rte_float8, 0}};
    OK(uccs_rte_send(parts, 3, next, 3, world));
    memset(back, 0, MANY * sizeof *back);
    first = 0;
    parts[0].iov_base = back;
    OK(uccs_rte_recv(parts, 3, prev, 3, world));
    CHECK(first == 'f' && memcmp(many, back, MANY * sizeof *many) == 0);
    free(many);
    free(back);
    free(packed);
}

static void test_arguments(void)
{
    int number = 0, none = 0;
    const struct uccs_rte_iovec good = {&number, &uccs_rte_int4, 1};
    const struct uccs_rte_iovec wrong[] = {{&number, &uccs_rte_int4, 1}, {&number, 0, 1}},
                                empty[] = {{0, &uccs_rte_int4, 1}};
    const uccs_rte_ec_t nobody = (uccs_rte_ec_t)(uintptr_t)(npes + 1);
    struct uccs_rte_machine machine;
    struct uccs_rte_network network[1];
    size_t count = 1;
    BAD(uccs_rte_send(0, 1, next, 1, world));
    BAD(uccs_rte_send(wrong, 2, next, 1, world));
    BAD(uccs_rte_send(empty, 1, next, 1, world));
    BAD(uccs_rte_send(&good, 1, UCCS_RTE_EC_NULL, 1, world));
    BAD(uccs_rte_send(&good, 1, UCCS_RTE_ANYSOURCE, 1, world));
    BAD(uccs_rte_send(&good, 1, nobody, 1, world));
    BAD(uccs_rte_send(&good, 1, next, 1, UCCS_GROUP_NULL));
    BAD(uccs_rte_send_nbcb(&good, 1, next, 1, world, 0, 0));
    BAD(uccs_rte_send_nbcb(wrong, 2, next, 1, world, hear, &none));
    BAD(uccs_rte_recv(0, 1, prev, 1, world));
    BAD(uccs_rte_recv(wrong, 2, prev, 1, world));
    BAD(uccs_rte_recv(empty, 1, prev, 1, world));
    BAD(uccs_rte_recv(&good, 1, nobody, 1, world));
    BAD(uccs_rte_recv_nbcb(prev, 1, 0, world, 0, 0));
    BAD(uccs_rte_recv_nbcb(prev, 1, 2, world, hear, &none));
    BAD(uccs_rte_recv_nbcb(nobody, 1, 0, world, hear, &none));
    BAD(uccs_rte_recv_nbcb(prev, 1, 0, UCCS_GROUP_NULL, hear, &none));
    CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)npes) == UCCS_RTE_EC_NULL);
    CHECK(uccs_rte_group_index_to_ec(world, UINT32_MAX) == UCCS_RTE_EC_NULL);
    CHECK(uccs_rte_group_index_to_ec(world, (uint32_t)npes - 1) != UCCS_RTE_EC_NULL);
    CHECK_EQ(uccs_rte_ec_index(world, UCCS_RTE_EC_NULL), UINT32_MAX);
    CHECK_EQ(uccs_rte_ec_index(world, nobody), UINT32_MAX);
    CHECK_EQ(uccs_rte_ec_index(world, uccs_rte_my_ec()), me);
    CHECK_EQ(uccs_rte_ec_node_id(nobody), UINT32_MAX);
    CHECK_EQ(uccs_rte_ec_node_id(UCCS_RTE_EC_NULL), UINT32_MAX);
    CHECK(!uccs_rte_ec_hostname(nobody) && uccs_rte_ec_hostname(next));
    CHECK_EQ(uccs_rte_ec_locality(nobody), UCCS_RTE_PROC_LOCALITY_UNKNOWN);
    CHECK((uccs_rte_ec_locality(uccs_rte_my_ec()) & 3) == (UCCS_RTE_PROC_ON_CLUSTER | UCCS_RTE_PROC_ON_NODE));
    CHECK_EQ(uccs_rte_cmp_ec(next, next), 0);
    if (npes > 1)
        CHECK(uccs_rte_cmp_ec(next, prev) == -uccs_rte_cmp_ec(prev, next) && uccs_rte_cmp_ec(next, prev) != 0);
    BAD(uccs_rte_ec_machine(nobody, &machine));
    BAD(uccs_rte_ec_machine(next, 0));
    BAD(uccs_rte_machine_query(0));
    BAD(uccs_rte_ec_network(nobody, network, &count));
    BAD(uccs_rte_ec_network(next, network, 0));
    BAD(uccs_rte_ec_network(next, 0, &count));
    BAD(uccs_rte_network_query(network, 0));
    BAD(uccs_rte_network_query(0, &count));
    BAD(uccs_rte_io_query(0));
}

/* A value of the pe under a key: the key has `length` letters, and the value 3 * length bytes. */
static void name_of(char *key, int length)
{
    memset(key, 'k', (size_t)length);
    key[length] = 0;
}

static unsigned char byte_of(int pe, int length, int i, int round)
{
    return (unsigned char)(pe * 50 + length * 3 + i + round * 101);
}

static void set_value(uccs_rte_session_t session, int length, int round)
{
    char key[64];
    unsigned char value[256];
    name_of(key, length);
    for (int i = 0; i < 3 * length; i++)
        value[i] = byte_of(me, length, i, round);
    const struct uccs_rte_iovec parts[] = {{value, &uccs_rte_uint1, (uint32_t)length},
                                           {value + length, &uccs_rte_uint2, (uint32_t)length}};
    OK(uccs_rte_session_set(session, key, parts, 2));
}

static void check_value(uccs_rte_session_t session, int pe, int length, int round)
{
    char key[64];
    const void *value = 0;
    size_t bytes = 0;
    name_of(key, length);
    OK(uccs_rte_session_get(session, uccs_rte_group_index_to_ec(world, (uint32_t)pe), key, &value, &bytes));
    CHECK_EQ(bytes, 3 * length);
    for (int i = 0; i < 3 * length; i++)
        CHECK_EQ(((const unsigned char *)value)[i], byte_of(pe, length, i, round));
}

static void test_session(void)
{
    enum { KEYS = 20 };
    uccs_rte_session_t session = 0;
    const void *value;
    size_t bytes;
    BAD(uccs_rte_session_create(UCCS_GROUP_NULL, 0, &session));
    BAD(uccs_rte_session_create(world, 0, 0));
    OK(uccs_rte_session_create(world, 0, &session));
    OK(uccs_rte_session_exchange(session)); /* of nothing */
    CHECK_EQ(uccs_rte_session_get(session, next, "k", &value, &bytes), UCCS_RTE_ERROR_NOT_FOUND);
    for (int length = 1; length <= KEYS - 5 * (me % 3); length++) /* others have fewer */
        set_value(session, length, 0);
    OK(uccs_rte_session_exchange(session));
    for (int pe = 0; pe < npes; pe++)
        for (int length = 1; length <= KEYS; length++)
            if (length <= KEYS - 5 * (pe % 3))
                check_value(session, pe, length, 0);
    char longest[64];
    name_of(longest, KEYS);
    if (npes > 1)
        CHECK_EQ(uccs_rte_session_get(session, uccs_rte_group_index_to_ec(world, 1), longest, &value, &bytes),
                 UCCS_RTE_ERROR_NOT_FOUND);
    set_value(session, 2, 1); /* the last one counts, once it is exchanged */
    check_value(session, me, 2, 0);
    OK(uccs_rte_session_exchange(session));
    for (int pe = 0; pe < npes; pe++) {
        check_value(session, pe, 1, 0);
        check_value(session, pe, 2, 1);
        check_value(session, pe, 3, 0);
    }
    BAD(uccs_rte_session_set(0, "a", 0, 0));
    BAD(uccs_rte_session_set(session, 0, 0, 0));
    BAD(uccs_rte_session_set(session, "a", 0, 1));
    BAD(uccs_rte_session_set(session, "a", &(struct uccs_rte_iovec){0, &uccs_rte_int1, 1}, 1));
    BAD(uccs_rte_session_set(session, "a", &(struct uccs_rte_iovec){&bytes, 0, 1}, 1));
    BAD(uccs_rte_session_get(0, next, "k", &value, &bytes));
    BAD(uccs_rte_session_get(session, next, 0, &value, &bytes));
    BAD(uccs_rte_session_get(session, next, "k", 0, &bytes));
    BAD(uccs_rte_session_get(session, next, "k", &value, 0));
    BAD(uccs_rte_session_get(session, UCCS_RTE_EC_NULL, "k", &value, &bytes));
    BAD(uccs_rte_session_exchange(0));
    BAD(uccs_rte_session_destroy(0));
    OK(uccs_rte_session_destroy(session));
}

int main(void)
{
    int ranks[64];
    CHECK(uccs_rte_my_ec() == UCCS_RTE_EC_NULL);
    CHECK_EQ(uccs_rte_finalize(), UCCS_RTE_ERROR);
    check_start();
    CHECK_EQ(uccs_rte_ec_node_id(uccs_rte_my_ec()), UINT32_MAX); /* nothing is known of anybody yet */
    OK(uccs_rte_init(&world));
    OK(uccs_rte_init(0));
    CHECK(world == UCCS_GROUP_WORLD);
    for (int rank = 0; rank < npes; rank++)
        ranks[rank] = rank;
    OK(uccs_group_create(world, (size_t)npes, ranks, &twin));
    next = uccs_rte_group_index_to_ec(world, (uint32_t)next_pe);
    prev = uccs_rte_group_index_to_ec(world, (uint32_t)prev_pe);
    test_order();
    test_posted();
    test_many();
    test_unpack();
    test_arguments();
    test_session();
    OK(uccs_group_release(twin));
    OK(uccs_rte_finalize());
    CHECK(uccs_rte_ec_node_id(uccs_rte_my_ec()) != UINT32_MAX); /* one of two users is left */
    OK(uccs_rte_finalize());
    CHECK_EQ(uccs_rte_finalize(), UCCS_RTE_ERROR);
    return check_pass();
}
