/* Requests: test and wait for one, all, any, some; merging; wrong arguments; status texts; groups and resources.
 * pes: 1 2
 */
#include "check.h"

enum { N = 12, ECHO = 1 };

static uccs_context_t context;
static uccs_endpoint_t next;
static long handled;

static void echo(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length, (void)argument;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void send(uccs_request_t *request)
{
    OK(uccs_am_short(context, next, ECHO, UCCS_AM_USER, "x", 1, &(struct uccs_op){.request = request}));
}

static void send_all(uccs_request_t *requests)
{
    for (int i = 0; i < N; i++)
        send(&requests[i]);
}

static void test_many(void)
{
    uccs_request_t requests[N] = {0};
    size_t index, count, indices[N], seen = 0;
    int found[N] = {0}, status;
    send_all(requests);
    OK(uccs_wait_all(requests, N));
    OK(uccs_test_all(requests, N));
    send_all(requests);
    OK(uccs_wait_any(requests, N, &index));
    CHECK(index < N);
    while ((status = uccs_test_any(requests, N, &index)) == UCCS_IN_PROGRESS)
        ;
    CHECK(status == UCCS_OK && index < N);
    OK(uccs_wait_all(requests, N));
    send_all(requests);
    while (seen < N) { /* each one once: those found are given back */
        OK(uccs_wait_some(requests, N, &count, indices));
        CHECK(count > 0 && count <= N);
        for (size_t i = 0; i < count; i++)
            if (!found[indices[i]]++) {
                seen++;
                send(&requests[indices[i]]); /* busy again: the others get their turn */
            }
        do
            status = uccs_test_some(requests, N, &count, indices);
        while (status == UCCS_IN_PROGRESS);
        OK(status);
    }
    OK(uccs_wait_all(requests, N));
    for (int i = 0; i < N; i++)
        OK(uccs_request_release(&requests[i]));
    index = 0;
    OK(uccs_wait_any(requests, 0, &index));
    CHECK(index == SIZE_MAX);
    OK(uccs_test_any(requests, 0, &index));
    OK(uccs_test_some(requests, 0, &count, indices));
    OK(uccs_wait_some(requests, 0, &count, indices));
    CHECK_EQ(count, 0);
    OK(uccs_test_all(0, 0));
    OK(uccs_wait_all(0, 0));
}

/* Merged ones complete together; releasing what is pending loses nothing. */
static void test_merge(void)
{
    uccs_request_t requests[N] = {0}, into = UCCS_REQUEST_NULL;
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* nothing of test_many is under way any more, */
    long before = __atomic_load_n(&handled, __ATOMIC_RELAXED);
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* and nothing of this one before all have looked */
    OK(uccs_request_create(&into));
    send_all(requests);
    OK(uccs_request_combine(&into, N, requests));
    for (int i = 0; i < N; i++)
        CHECK(requests[i] == UCCS_REQUEST_NULL);
    send(&into);
    OK(uccs_wait(&into));
    OK(uccs_test(&into));
    send(&into);
    OK(uccs_request_release(&into));
    CHECK(into == UCCS_REQUEST_NULL);
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < before + N + 2)
        uccs_progress();
    CHECK_EQ(handled, before + N + 2);
}

/* A handle and its copy are one request, and count once. */
static void test_merge_copies(void)
{
    enum { TIMES = 50 };
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* test_merge has counted */
    for (int i = 0; i < TIMES; i++) {
        uccs_request_t copies[3] = {0}, into = UCCS_REQUEST_NULL, other = UCCS_REQUEST_NULL;
        send(&other);
        OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &copies[0]));
        copies[1] = copies[2] = copies[0];
        if (i % 2)
            OK(uccs_request_create(&into));
        OK(uccs_request_combine(&into, 3, copies));
        CHECK(!copies[0] && !copies[1] && !copies[2]);
        OK(uccs_request_combine(&into, 1, &other));
        OK(uccs_wait(&into));
        OK(uccs_test(&into));
        OK(uccs_request_release(&into));
    }
}

/* What lies behind the handles that are merged stays as it is. */
static void test_merge_few(void)
{
    uccs_request_t handles[2] = {0}, into = UCCS_REQUEST_NULL;
    OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &handles[1]));
    const uccs_request_t behind = handles[1];
    OK(uccs_request_combine(&into, 1, handles));
    CHECK(into == UCCS_REQUEST_NULL && handles[1] == behind);
    OK(uccs_wait(&handles[1]));
    OK(uccs_request_release(&handles[1]));
}

static void test_arguments(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    size_t n;
    CHECK_EQ(uccs_test(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_test_all(0, 1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_all(0, 1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_test_any(&request, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_any(0, 1, &n), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_test_some(&request, 1, &n, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_some(&request, 1, 0, &n), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_request_create(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_request_release(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_request_combine(0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_flush(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_fence(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_flush_local(0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_open(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_context_destroy(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_endpoint_release(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_endpoint_create(context, UCCS_GROUP_WORLD, npes, &next), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_endpoint_create(context, UCCS_GROUP_NULL, 0, &next), UCCS_ERR_INVALID);
    OK(uccs_fence(context));
}

static void test_groups(void)
{
    int ranks[3] = {0, 0, npes};
    uccs_group_t group;
    char byte = 0;
    CHECK_EQ(uccs_group_create(UCCS_GROUP_WORLD, 2, ranks, &group), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_group_create(UCCS_GROUP_WORLD, 1, &ranks[2], &group), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_group_create(UCCS_GROUP_NULL, 1, ranks, &group), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_group_release(UCCS_GROUP_WORLD), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_group_rank(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_size(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_WORLD, -1), -1);
    CHECK_EQ(uccs_barrier(UCCS_GROUP_NULL), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_barrier_nb(UCCS_GROUP_WORLD, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_broadcast(UCCS_GROUP_WORLD, &byte, 1, npes), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_alltoall(UCCS_GROUP_WORLD, &byte, &byte, 1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_allgather(UCCS_GROUP_WORLD, 0, &byte, 1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_allreduce(UCCS_GROUP_WORLD, &byte, &byte, 1, (enum uccs_type)99, UCCS_SUM), UCCS_ERR_INVALID);
}

/* One of the names that LATERAL_TRANSPORTS takes. */
static int is_network(const char *name)
{
    const char *asked = getenv("LATERAL_TRANSPORTS");
    return asked && strcmp(asked, "auto") != 0 ? strstr(asked, name) != 0
                                               : strcmp(name, "tcp") == 0 || strcmp(name, "ucx") == 0;
}

static void test_resources(void)
{
    struct uccs_resource list[8];
    size_t count = 0;
    OK(uccs_resource_query(context, 0, &count));
    CHECK_EQ(count, check_near(0) && check_near(npes - 1) ? 2 : 3);
    size_t one = 1;
    memset(list, 0, sizeof list);
    OK(uccs_resource_query(context, list, &one));
    CHECK(one == count && strcmp(list[0].transport, "shm") == 0 && list[1].transport[0] == 0);
    CHECK(list[0].capabilities & UCCS_CAP_MAPPED && list[0].capabilities & UCCS_CAP_AM);
    OK(uccs_resource_query(context, list, &count));
    CHECK(count < 3 || (is_network(list[2].transport) && list[2].bandwidth == UCCS_CLASS_SOCKET &&
                        list[2].capabilities == (UCCS_CAP_PUT | UCCS_CAP_GET | UCCS_CAP_ATOMIC | UCCS_CAP_AM)));
    CHECK_EQ(uccs_resource_query(context, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_resource_query(0, list, &count), UCCS_ERR_INVALID);
}

int main(void)
{
    uccs_context_t early;
    CHECK_EQ(uccs_context_create(0, &early), UCCS_ERR_STATE);
    CHECK_EQ(uccs_barrier(UCCS_GROUP_WORLD), UCCS_ERR_STATE);
    CHECK_EQ(uccs_finalize(), UCCS_ERR_STATE);
    CHECK_EQ(uccs_progress(), 0);
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ECHO, UCCS_AM_USER, echo, 0));
    next = check_endpoint(context, next_pe);
    test_many();
    test_merge();
    test_merge_copies();
    test_merge_few();
    test_arguments();
    test_groups();
    test_resources();
    for (int status = -9; status <= 2; status++)
        CHECK(strlen(uccs_status_text(status)) > 3);
    OK(uccs_context_destroy(context));
    return check_pass();
}
