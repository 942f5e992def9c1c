/* Eight threads of every process use all of uccs.h at once, in an order that a seed gives, for minutes. Both sides
 * count the messages. The test prints the seed, so that a failure can be repeated: args SECONDS [SEED].
 * pes: 3
 * labels: soak
 * timeout: 290
 * case: poll
 * args: 120
 * case: tight
 * args: 60
 * env: LATERAL_WIRE=messages LATERAL_MEMORY=2m LATERAL_PROGRESS=thread
 */
#include "check.h"

#include <stdbool.h>
#include <time.h>

enum { THREADS = 8, TAKE = 1, ASK = 2, ANSWER = 3, STEPS = 200, WORDS = 512, LARGE = 60000 };

static uccs_context_t contexts[2];
static uccs_endpoint_t *endpoints[2];
static uccs_memory_t *mapped, *registered;
static uccs_group_t groups[THREADS];
static uccs_counter_t counter;
static uint64_t sent[3], handled[3]; /* messages of each kind, all threads */
static uint64_t bytes_sent, bytes_handled, counted, added;
static uint64_t *private_words;

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static void add(uint64_t *to, uint64_t value)
{
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const unsigned char *at = payload;
    (void)token, (void)argument;
    if (length)
        CHECK(at[0] == (unsigned char)length && at[length - 1] == (unsigned char)length);
    add(&bytes_handled, length);
    add(&handled[0], 1);
}

static void ask(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)argument;
    add(&handled[1], 1);
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_USER, payload, length));
}

static void answer(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    add(&handled[2], 1);
}

static void send(uint64_t *random, int c, uccs_request_t *request)
{
    static _Thread_local unsigned char payload[LARGE];
    static const size_t most[] = {UCCS_SHORT_MAX, UCCS_MEDIUM_MAX, LARGE};
    uint64_t r = next_random(random);
    int form = (int)((r >> 8) % 3), pe = (int)((r >> 16) % (uint64_t)npes);
    size_t length = (size_t)(r >> 24) % most[form];
    bool count = r & 2;
    struct uccs_op op = {.request = r & 1 ? request : 0, .counter = count ? counter : 0, .weight = 2};
    memset(payload, (int)(unsigned char)length, length);
    int status = form == 0   ? uccs_am_short(contexts[c], endpoints[c][pe], TAKE, UCCS_AM_USER, payload, length, &op)
                 : form == 1 ? uccs_am_medium(contexts[c], endpoints[c][pe], TAKE, UCCS_AM_USER, payload, length, &op)
                             : uccs_am_large(contexts[c], endpoints[c][pe], TAKE, UCCS_AM_USER, payload, length, &op);
    OK(status);
    add(&sent[0], 1);
    add(&bytes_sent, length);
    add(&counted, count ? 2 : 0);
}

static void send_ask(uint64_t *random, int c)
{
    uint64_t r = next_random(random);
    static const char payload[UCCS_MEDIUM_MAX];
    OK(uccs_am_medium(contexts[c], endpoints[c][r % (uint64_t)npes], ASK, UCCS_AM_NETWORK_PROTOCOL, payload,
                      r & 64 ? 16 : 5000, 0));
    add(&sent[1], 1);
}

static void touch_memory(uint64_t *random, int c, uccs_request_t *request)
{
    uint64_t r = next_random(random), value = r, back[4];
    size_t pe = r % (uint64_t)npes, at = (size_t)(r >> 20) % (WORDS - 16) * 8 + 64;
    uccs_memory_t memory = r & 1024 ? mapped[pe] : registered[pe];
    switch (r >> 60) {
    case 0: OK(uccs_put_short_contiguous(contexts[c], endpoints[c][pe], memory, at, &value, 8, 0)); break;
    case 1: OK(uccs_get_short_contiguous(contexts[c], endpoints[c][pe], memory, at, back, 32, 0)); break;
    case 2:
        OK(uccs_get_large_contiguous_nb(contexts[c], endpoints[c][pe], memory, at, back, 32, request));
        OK(uccs_wait(request));
        break;
    default:
        OK(uccs_atomic64(contexts[c], endpoints[c][pe], memory, 0, UCCS_ATOMIC_ADD, 1, 0, 0,
                         &(struct uccs_op){.request = request}));
        add(&added, 1);
    }
}

/* The same at every process: steps are the group's order. */
static void talk(long id, long step)
{
    int64_t in = me + step, out = -1;
    char text[4000];
    OK(uccs_allreduce(groups[id], &in, &out, 1, UCCS_INT64, UCCS_SUM));
    CHECK_EQ(out, (int64_t)npes * (npes - 1) / 2 + npes * step);
    int root = (int)(step % npes);
    memset(text, me == root ? (int)(step % 100) : 127, sizeof text);
    OK(uccs_broadcast(groups[id], text, sizeof text, root));
    CHECK_EQ(text[sizeof text - 1], step % 100);
}

struct job {
    long id;
    uint64_t random;
    long round;
};

static void *body(void *argument)
{
    struct job *job = argument;
    uccs_request_t request = UCCS_REQUEST_NULL, other = UCCS_REQUEST_NULL;
    for (long step = 0; step < STEPS; step++) {
        uint64_t r = next_random(&job->random);
        int c = (int)(r >> 32) & 1;
        switch (r % 8) {
        case 0: send_ask(&job->random, c); break;
        case 1: touch_memory(&job->random, c, &request); break;
        case 2: OK(uccs_flush(contexts[c])); break;
        case 3: uccs_progress(); break;
        case 4: OK(uccs_request_combine(&request, 1, &other)); break;
        default: send(&job->random, c, r & 256 ? &request : &other);
        }
        if (step % 40 == 0)
            talk(job->id, job->round * STEPS + step);
    }
    OK(uccs_wait(&request));
    OK(uccs_wait(&other));
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&other));
    return 0;
}

static uint64_t total(uint64_t mine)
{
    uint64_t sum = 0;
    OK(uccs_allreduce(UCCS_GROUP_WORLD, &mine, &sum, 1, UCCS_UINT64, UCCS_SUM));
    return sum;
}

/* What was sent anywhere has been handled somewhere. */
static void balance(void)
{
    for (int c = 0; c < 2; c++)
        OK(uccs_flush(contexts[c]));
    do
        uccs_progress();
    while (total(handled[2]) < total(sent[1]));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK(total(handled[0]) == total(sent[0]) && total(handled[1]) == total(sent[1]) &&
          total(handled[2]) == total(sent[1]));
    CHECK(total(bytes_handled) == total(bytes_sent));
    int64_t count;
    uint64_t sum = 0, word;
    OK(uccs_counter_read(counter, &count));
    CHECK(total((uint64_t)count) == total(counted));
    for (int pe = 0; pe < npes && me == 0; pe++)
        for (int kind = 0; kind < 2; kind++) {
            OK(uccs_atomic64(contexts[0], endpoints[0][pe], kind ? mapped[pe] : registered[pe], 0, UCCS_ATOMIC_FETCH, 0,
                             0, &word, 0));
            sum += word;
        }
    uint64_t want = total(added);
    CHECK(me != 0 || sum == want);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void set_up(void)
{
    uccs_memory_t own[2];
    int ranks[64];
    for (int c = 0; c < 2; c++) {
        OK(uccs_context_create(&(struct uccs_context_attr){.id = (uint32_t)c,
                                                           .scope = c ? UCCS_SCOPE_THREAD : UCCS_SCOPE_PROCESS},
                               &contexts[c]));
        OK(uccs_am_register(contexts[c], TAKE, UCCS_AM_USER, take, 0));
        OK(uccs_am_register(contexts[c], ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
        OK(uccs_am_register(contexts[c], ANSWER, UCCS_AM_USER, answer, 0));
        endpoints[c] = calloc((size_t)npes, sizeof **endpoints);
        for (int pe = 0; pe < npes; pe++)
            endpoints[c][pe] = check_endpoint(contexts[c], pe);
    }
    private_words = calloc(WORDS, sizeof *private_words);
    OK(uccs_memory_allocate(contexts[0], WORDS * 8, &own[0]));
    OK(uccs_memory_register(contexts[0], private_words, WORDS * 8, &own[1]));
    mapped = calloc((size_t)npes, sizeof *mapped);
    registered = calloc((size_t)npes, sizeof *registered);
    check_share(contexts[0], own[0], mapped);
    check_share(contexts[0], own[1], registered);
    for (int rank = 0; rank < npes; rank++)
        ranks[rank] = rank;
    for (int id = 0; id < THREADS; id++)
        OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)npes, ranks, &groups[id]));
    OK(uccs_counter_open(&counter));
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? atol(argv[1]) : 5, go_on = 1, round = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], 0, 0) : (uint64_t)time(0);
    time_t end = time(0) + seconds;
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    check_start();
    OK(uccs_broadcast(UCCS_GROUP_WORLD, &seed, sizeof seed, 0));
    if (me == 0)
        printf("soak: seed %llu\n", (unsigned long long)seed), fflush(stdout);
    set_up();
    for (; go_on; round++) {
        for (long id = 0; id < THREADS; id++) {
            jobs[id] = (struct job){id, seed + (uint64_t)(round * 64 + id) * 1000003 + (uint64_t)me * 77, round};
            CHECK(pthread_create(&threads[id], 0, body, &jobs[id]) == 0);
        }
        for (int id = 0; id < THREADS; id++)
            pthread_join(threads[id], 0);
        balance();
        go_on = time(0) < end;
        OK(uccs_broadcast(UCCS_GROUP_WORLD, &go_on, sizeof go_on, 0));
    }
    if (me == 0)
        printf("soak: %ld rounds, %llu messages here\n", round, (unsigned long long)handled[0]);
    return check_pass();
}
