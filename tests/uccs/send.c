/* Messages of any length with every option: requests, local completion, functions, queues, counters, nowait; handlers
 * that send on, keep payloads, and receive into places they choose.
 * pes: 1 2 4
 * case: copied
 * case: pulled
 * env: LATERAL_WIRE=messages
 * case: little_room
 * env: LATERAL_MEMORY=256k
 */
#include "check.h"

enum { TAKE = 1, PASS_ON, KEEP, FILL, PLACE };
enum { LARGEST = 1 << 20, WAITERS = 3, OPERATIONS = 60, HOPS = 25 };

static uccs_context_t context;
static uccs_endpoint_t next;
static long taken, bytes, passed, placed, dropped;
static char payload[LARGEST], places[4][LARGEST];
static uccs_payload_t kept[3];
static long nkept;

static long get(long *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(long *word, long value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
}

static void until(long *word, long value)
{
    while (get(word) < value)
        uccs_progress();
    CHECK_EQ(get(word), value);
}

static void meet(void)
{
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static int is_pattern(const void *data, size_t length)
{
    return memcmp(data, payload, length) == 0; /* the same at all */
}

static void take(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    CHECK_EQ(uccs_am_source(token), prev_pe);
    CHECK(is_pattern(data, length));
    add(&bytes, (long)length);
    add(&taken, 1);
}

/* --- Options */

static long called[2];

static void complete(void *argument, int status)
{
    OK(status);
    add(argument, 1);
}

static void test_options(void)
{
    static const size_t lengths[] = {0, 1, 128, 129, UCCS_MEDIUM_MAX, UCCS_MEDIUM_MAX + 1, 100000, LARGEST};
    enum { N = sizeof lengths / sizeof *lengths };
    uccs_request_t request = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    struct uccs_signal signal = {0};
    struct uccs_entry entries[2 * N];
    uccs_counter_t counter;
    uccs_queue_t queue;
    int64_t value;
    long sum = 0;
    OK(uccs_queue_create(&queue));
    OK(uccs_counter_open(&counter));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (size_t i = 0; i < N; i++) {
        struct uccs_op op = {.request = &request,
                             .counter = counter,
                             .weight = 2,
                             .ordered = 1,
                             .local = &local,
                             .complete = complete,
                             .argument = &called[0],
                             .queue = queue,
                             .tag = &payload[i]};
        OK(uccs_send(next, TAKE, UCCS_AM_USER, payload, lengths[i], &op));
        OK(uccs_wait(&local)); /* copied, or read */
        op.nonblocking = 1;
        OK(uccs_send(next, TAKE, UCCS_AM_USER, payload, lengths[i], &op));
        sum += 2 * (long)lengths[i];
    }
    OK(uccs_wait(&request));
    for (size_t i = 0, count; i < 2 * N; i += count) {
        count = 2 * N - i;
        OK(uccs_queue_wait(queue, entries + i, &count));
        CHECK(count > 0);
    }
    for (size_t i = 0, found = 0; i < N; i++, CHECK_EQ(found, 2), found = 0)
        for (size_t k = 0; k < 2 * N; k++)
            found += entries[k].tag == &payload[i] && entries[k].status == UCCS_OK;
    until(&called[0], 2 * N);
    OK(uccs_wait(&local));
    until(&taken, 2 * N);
    CHECK_EQ(get(&bytes), sum);
    OK(uccs_counter_wait(counter, 4 * N));
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 4 * N);
    CHECK_EQ(uccs_send(next, TAKE, UCCS_AM_USER, 0, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send(0, TAKE, UCCS_AM_USER, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send(next, TAKE, UCCS_AM_USER, 0, 0, &(struct uccs_op){.signal = &signal}), UCCS_ERR_INVALID);
    OK(uccs_counter_shut(counter));
    CHECK_EQ(uccs_send(next, TAKE, UCCS_AM_USER, 0, 0, &(struct uccs_op){.counter = counter}), UCCS_ERR_STALE);
    OK(uccs_queue_release(queue));
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&local));
    meet();
}

/* --- A queue with many waiters */

static uccs_queue_t shared;
static long found[OPERATIONS];

static void *wait_for_some(void *unused)
{
    long got = 0;
    for (size_t count; got < OPERATIONS / WAITERS; got += (long)count) {
        struct uccs_entry entries[3];
        count = OPERATIONS / WAITERS - got < 3 ? (size_t)(OPERATIONS / WAITERS - got) : 3;
        OK(uccs_queue_wait(shared, entries, &count));
        for (size_t i = 0; i < count; i++)
            add(entries[i].tag, 1);
    }
    return unused;
}

static void *send_some(void *unused)
{
    for (int i = 0; i < OPERATIONS; i++) {
        struct uccs_op op = {.queue = shared, .tag = &found[i]};
        OK(uccs_send(next, TAKE, UCCS_AM_USER, payload, i % 2 ? 10 : 1000, &op));
    }
    return unused;
}

static void *wait_or_send(void *id)
{
    return id ? wait_for_some(0) : send_some(0);
}

static void test_queue(void)
{
    OK(uccs_queue_create(&shared));
    check_threads(WAITERS + 1, wait_or_send);
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_EQ(found[i], 1);
    OK(uccs_queue_release(shared));
    meet();
}

/* --- nowait, and handlers that send on */

/* Fills the ring, then makes progress until there is room; no message is lost. */
static void test_nowait(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_op op = {.nowait = 1, .request = &request, .complete = complete, .argument = &called[1]};
    long before = get(&taken), sent = 0, again = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (; !again; again += uccs_send(next, FILL, UCCS_AM_USER, payload, 8, &op) == UCCS_AGAIN)
        sent++;
    sent--;
    CHECK(sent > 100);
    CHECK_EQ(called[1], 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* all are full; nobody has a handler */
    OK(uccs_am_register(context, FILL, UCCS_AM_USER, take, 0));
    for (long more = 0; more < 100; uccs_progress())
        more += uccs_send(next, FILL, UCCS_AM_USER, payload, 200, &op) == UCCS_OK;
    OK(uccs_wait(&request));
    until(&called[1], sent + 100);
    OK(uccs_request_release(&request));
    meet();
    CHECK(get(&taken) - before > 200);
}

/* A token goes round; one is under way at a time, so there is room. */
static void pass_on(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    int hops;
    (void)token, (void)length, (void)argument;
    memcpy(&hops, data, sizeof hops);
    add(&passed, 1);
    hops--;
    CHECK_EQ(uccs_send(next, PASS_ON, UCCS_AM_USER, &hops, sizeof hops, 0), UCCS_ERR_STATE);
    CHECK_EQ(uccs_send_place(next, PLACE, UCCS_AM_USER, 0, 0, payload, LARGEST, &(struct uccs_op){.nowait = 1}),
             UCCS_ERR_STATE); /* it would wait until the payload is read */
    if (hops)
        OK(uccs_send(next, PASS_ON, UCCS_AM_USER, &hops, sizeof hops, &(struct uccs_op){.nowait = 1}));
}

static void test_ring(void)
{
    const int hops = HOPS * npes;
    if (me == 0)
        OK(uccs_send(next, PASS_ON, UCCS_AM_USER, &hops, sizeof hops, 0));
    until(&passed, HOPS);
    meet();
}

/* --- Kept payloads */

static void keep(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    uccs_payload_t again;
    (void)data, (void)argument;
    OK(uccs_am_keep(token, &kept[nkept]));
    CHECK_EQ(uccs_am_keep(token, &again), UCCS_ERR_STATE);
    CHECK_EQ(kept[nkept]->length, length);
    add(&nkept, 1);
}

static void *end_kept(void *id)
{
    CHECK(is_pattern(kept[(long)id]->data, kept[(long)id]->length));
    uccs_payload_done(kept[(long)id]);
    return 0;
}

static void test_keep(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request, .nonblocking = 1};
    CHECK_EQ(uccs_am_keep(0, &kept[0]), UCCS_ERR_INVALID);
    uccs_payload_done(0);
    OK(uccs_send(next, KEEP, UCCS_AM_USER, payload, 50, 0));
    OK(uccs_send(next, KEEP, UCCS_AM_USER, payload, 5000, &op));
    OK(uccs_send(next, KEEP, UCCS_AM_USER, payload, 500000, &op));
    until(&nkept, 3);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    check_threads(3, end_kept);
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
    meet();
}

/* --- Places */

struct what {
    int where, refuse; /* where: -1: nowhere */
};

static void in_place(void *argument, int status)
{
    OK(status);
    add(argument ? &placed : &dropped, 1);
}

static int place(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **where,
                 uccs_completion *done, void **argument, void *registered)
{
    struct what what;
    uccs_payload_t payload_of_nothing;
    CHECK(registered == places && header_length >= sizeof what && length <= LARGEST);
    CHECK_EQ(uccs_am_source(token), prev_pe);
    CHECK_EQ(uccs_am_keep(token, &payload_of_nothing), UCCS_ERR_STATE);
    memcpy(&what, header, sizeof what);
    *where = what.where < 0 ? 0 : places[what.where];
    *done = in_place;
    *argument = *where;
    return what.refuse;
}

static void send_to_place(struct what what, size_t length, int nonblocking)
{
    struct uccs_op op = {.nonblocking = nonblocking, .complete = complete, .argument = &called[0]};
    long before = get(&called[0]), placed_before = get(&placed) + get(&dropped);
    char header[1000] = {0};
    uccs_request_t request = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    op.request = &request;
    op.local = &local;
    if (what.refuse)
        op.complete = 0;
    memcpy(header, &what, sizeof what);
    memset(places[0], 0, length);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_send_place(next, PLACE, UCCS_AM_USER, header, length % 2 ? sizeof header : sizeof what, payload, length,
                       &op));
    CHECK_EQ(uccs_wait(&request), what.refuse ? UCCS_ERR_FAILED : UCCS_OK);
    (void)uccs_wait(&local);
    if (!what.refuse) {
        until(&called[0], before + 1);
        while (get(&placed) + get(&dropped) < placed_before + 1)
            uccs_progress();
    }
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&local));
    meet();
    if (what.where >= 0 && !what.refuse)
        CHECK(is_pattern(places[what.where], length));
}

static void test_places(void)
{
    static const size_t lengths[] = {0, 1, UCCS_MEDIUM_MAX, LARGEST - 1, LARGEST};
    long in_places = 0;
    uccs_counter_t counter;
    OK(uccs_am_register_place(context, PLACE, UCCS_AM_USER, place, places));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
            send_to_place((struct what){0, 0}, lengths[i], nonblocking);
            send_to_place((struct what){-1, 0}, lengths[i], nonblocking);
            in_places++;
        }
    CHECK_EQ(get(&placed), in_places);
    CHECK_EQ(get(&dropped), in_places);
    send_to_place((struct what){0, 1}, LARGEST, 0);
    CHECK_EQ(get(&placed) + get(&dropped), 2 * in_places);
    OK(uccs_counter_open(&counter)); /* both ways at once, the counter tells that the data is there */
    memset(places, 0, sizeof places);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < 4; i++) {
        struct uccs_op op = {.nonblocking = 1, .counter = counter};
        OK(uccs_send_place(next, PLACE, UCCS_AM_USER, &(struct what){i, 0}, sizeof(struct what), payload, LARGEST,
                           &op));
    }
    OK(uccs_counter_wait(counter, 4));
    for (int i = 0; i < 4; i++)
        CHECK(is_pattern(places[i], LARGEST));
    meet();
    OK(uccs_counter_shut(counter));
    CHECK_EQ(uccs_send_place(next, PLACE, UCCS_AM_USER, payload, UCCS_MEDIUM_MAX, 0, 0, 0), UCCS_ERR_TOO_LARGE);
    CHECK_EQ(uccs_send_place(next, PLACE, UCCS_AM_USER, 0, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register_place(context, PLACE, UCCS_AM_USER, 0, 0), UCCS_ERR_INVALID);
}

int main(void)
{
    check_start();
    for (size_t i = 0; i < LARGEST; i++)
        payload[i] = (char)(i * 7 + i / 1000);
    OK(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &context));
    OK(uccs_am_register(context, TAKE, UCCS_AM_USER, take, 0));
    OK(uccs_am_register(context, PASS_ON, UCCS_AM_USER, pass_on, 0));
    OK(uccs_am_register(context, KEEP, UCCS_AM_USER, keep, 0));
    next = check_endpoint(context, next_pe);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    test_options();
    test_queue();
    test_nowait();
    test_ring();
    test_keep();
    test_places();
    OK(uccs_context_destroy(context));
    return check_pass();
}
