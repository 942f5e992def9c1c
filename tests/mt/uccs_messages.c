/* Messages with options on many threads: senders with nowait, functions and queues, places and kept payloads, full rings
 * both ways.
 * pes: 2
 * timeout: 60
 */
#include "../uccs/check.h"

enum { NOTE = 1, RELAY, RELAYED, KEEP, PLACE };
enum { THREADS = 4, ROUNDS = 150, PIECE = 40000 };

static uccs_context_t context;
static uccs_endpoint_t next;
static uccs_queue_t queue;
static long noted, relayed, refused, kept, placed, called, entered;
static char payload[PIECE], places[THREADS][PIECE];
static struct {
    pthread_mutex_t lock;
    uccs_payload_t list[THREADS * ROUNDS];
    int n;
} shelf = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long get(long *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(long *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
}

static void note(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token;
    CHECK(memcmp(data, payload, length) == 0);
    add(argument);
}

/* Sends back what comes, unless there is no room. */
static void relay(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)argument;
    int status = uccs_send(next, RELAYED, UCCS_AM_USER, data, length, &(struct uccs_op){.nowait = 1});
    CHECK(status == UCCS_OK || status == UCCS_AGAIN);
    if (status == UCCS_AGAIN)
        add(&refused);
}

static void keep(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    uccs_payload_t mine;
    (void)data, (void)length, (void)argument;
    OK(uccs_am_keep(token, &mine));
    pthread_mutex_lock(&shelf.lock);
    shelf.list[shelf.n++] = mine;
    pthread_mutex_unlock(&shelf.lock);
}

static void in_place(void *argument, int status)
{
    OK(status);
    CHECK(memcmp(argument, payload, PIECE) == 0);
    add(&placed);
}

/* One payload of each thread is under way at a time, so its place is free. */
static int choose(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **place,
                  uccs_completion *done, void **argument, void *registered)
{
    long who;
    (void)token, (void)registered;
    CHECK(header_length == sizeof who && length == PIECE);
    memcpy(&who, header, sizeof who);
    *place = *argument = places[who];
    *done = in_place;
    return UCCS_OK;
}

static void called_back(void *argument, int status)
{
    OK(status);
    add(argument);
}

/* Puts one payload off the shelf back, whoever kept it. */
static void end_one(void)
{
    uccs_payload_t one = 0;
    pthread_mutex_lock(&shelf.lock);
    if (shelf.n)
        one = shelf.list[--shelf.n];
    pthread_mutex_unlock(&shelf.lock);
    if (!one)
        return;
    CHECK(memcmp(one->data, payload, one->length) == 0);
    uccs_payload_done(one);
    add(&kept);
}

/* Never waits in a send: makes progress itself, and ends what was kept. */
static void insist(int id, size_t length)
{
    struct uccs_op op = {.nowait = 1, .complete = called_back, .argument = &called, .queue = queue};
    while (uccs_send(next, id, UCCS_AM_USER, payload, length, &op) == UCCS_AGAIN) {
        uccs_progress();
        end_one();
    }
}

static void place(long who)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_op op = {.nonblocking = 1, .request = &request};
    OK(uccs_send_place(next, PLACE, UCCS_AM_USER, &who, sizeof who, payload, PIECE, &op));
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
}

static void take_entries(void)
{
    struct uccs_entry entries[7];
    size_t count = 7;
    OK(uccs_queue_poll(queue, entries, &count));
    for (size_t i = 0; i < count; i++, add(&entered))
        OK(entries[i].status);
}

static void *work(void *id)
{
    for (int i = 0; i < ROUNDS; i++) {
        insist(NOTE, i % 2 ? 60 : 600);
        insist(RELAY, i % 3 ? 100 : 1000);
        insist(KEEP, i % 2 ? 50 : 5000);
        if (i % 16 == 0)
            place((long)id);
        end_one();
        take_entries();
    }
    const long all = THREADS * ROUNDS;
    while (get(&called) < 3 * all || get(&entered) < 3 * all || get(&kept) < all) {
        end_one();
        take_entries();
        uccs_progress();
    }
    return 0;
}

int main(void)
{
    check_start();
    for (size_t i = 0; i < PIECE; i++)
        payload[i] = (char)(i * 5 + i / 100);
    OK(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &context));
    OK(uccs_am_register(context, NOTE, UCCS_AM_USER, note, &noted));
    OK(uccs_am_register(context, RELAY, UCCS_AM_USER, relay, 0));
    OK(uccs_am_register(context, RELAYED, UCCS_AM_USER, note, &relayed));
    OK(uccs_am_register(context, KEEP, UCCS_AM_USER, keep, 0));
    OK(uccs_am_register_place(context, PLACE, UCCS_AM_USER, choose, 0));
    OK(uccs_queue_create(&queue));
    next = check_endpoint(context, next_pe);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    check_threads(THREADS, work);
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_flush(context));
    long sums[2] = {get(&relayed), get(&refused)}, all[2];
    OK(uccs_allreduce(UCCS_GROUP_WORLD, sums, all, 2, UCCS_INT64, UCCS_SUM));
    CHECK_EQ(all[0] + all[1], (long)npes * THREADS * ROUNDS);
    CHECK_EQ(noted, THREADS * ROUNDS);
    CHECK_EQ(kept, THREADS * ROUNDS);
    CHECK_EQ(placed, THREADS * ((ROUNDS + 15) / 16));
    OK(uccs_queue_release(queue));
    OK(uccs_context_destroy(context));
    return check_pass();
}
