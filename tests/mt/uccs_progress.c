/* With a progress thread, a process that computes still serves: it answers messages, and its split-phase operations go
 * on and end, while it is outside of the library until it sees the effect in its memory. Nothing is timed: without the
 * service a process would compute until the limit. Also: lives in a row, a fork, messages that have no handler yet.
 * pes: 2 8
 * env: LATERAL_PROGRESS=thread
 * timeout: 120
 */
#include "../uccs/check.h"

#include <sys/wait.h>
#include <time.h>

enum { ASK = 1, ANSWER = 2, LATE = 3, ROUNDS = 30, LIVES = 4, LIMIT = 60, MANY = 20000, CONTEXT = 3, LAST = 1000 };

static uccs_context_t context;
static uccs_endpoint_t to[64];
static uccs_memory_t own, words[64];
static long *word; /* mine in words; the first PE writes it */
static long answers, late;
static long sums[MANY], ones[MANY];

/* Reads what the library stores meanwhile, as a program may not, except to see that it does. */
__attribute__((noinline, no_sanitize("thread"))) static long look(const long *at)
{
    return *(const volatile long *)at;
}

/* Computes, outside of the library, until the word has reached the value. */
static void compute_until(const long *at, long value)
{
    time_t end = time(0) + LIMIT;
    volatile double x = 1;
    while (look(at) < value) {
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001;
        CHECK(time(0) < end);
    }
}

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_NETWORK_PROTOCOL, data, length));
}

static void tell_all(long value)
{
    for (int pe = 1; pe < npes; pe++)
        OK(uccs_put_short_contiguous(context, to[pe], words[pe], 0, &value, sizeof value, 0));
    OK(uccs_flush(context));
}

/* All others compute until the first PE has had an answer of each of them. */
static void test_messages(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        if (me != 0) {
            compute_until(word, round);
            continue;
        }
        for (int pe = 1; pe < npes; pe++)
            OK(uccs_am_medium(context, to[pe], ASK, UCCS_AM_NETWORK_PROTOCOL, ones, round % 2 ? 8 : 5000, 0));
        while (look(&answers) < round * (npes - 1))
            uccs_progress();
        tell_all(round);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* Nobody calls the library between the start of a sum and its end. */
static void test_sums(void)
{
    static const size_t sizes[] = {1, 1000, MANY};
    for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        size_t n = sizes[i % 3];
        memset(sums, 0, sizeof sums);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        OK(uccs_allreduce_nb(UCCS_GROUP_WORLD, ones, sums, n, UCCS_INT64, UCCS_SUM, &request));
        compute_until(&sums[n - 1], npes);
        OK(uccs_wait(&request));
        OK(uccs_request_release(&request));
        for (size_t k = 0; k < n; k++)
            CHECK(sums[k] == npes);
    }
}

/* The first PE's barrier ends while the others, which have begun it, compute until it has told them so. */
static void test_barriers(void)
{
    for (long round = 1; round <= 5; round++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &request));
        if (me == 0) {
            OK(uccs_wait(&request));
            tell_all(ROUNDS + round);
        } else {
            compute_until(word, ROUNDS + round);
        }
        OK(uccs_wait(&request));
        OK(uccs_request_release(&request));
    }
}

/* A message waits for its context and its handler; when they come, the thread runs it. */
static void test_late(void)
{
    uccs_context_t other;
    const struct uccs_context_attr attr = {.id = CONTEXT};
    if (me == 0) {
        OK(uccs_context_create(&attr, &other));
        OK(uccs_am_register(other, LATE, UCCS_AM_NETWORK_PROTOCOL, count_message, &late));
        uccs_endpoint_t last;
        OK(uccs_endpoint_create(other, UCCS_GROUP_WORLD, npes - 1, &last));
        OK(uccs_am_short(other, last, LATE, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
        tell_all(LAST);
        OK(uccs_flush(other));
        OK(uccs_context_destroy(other));
    } else {
        compute_until(word, LAST);
    }
    if (me == npes - 1) {
        OK(uccs_context_create(&attr, &other));
        OK(uccs_am_register(other, LATE, UCCS_AM_NETWORK_PROTOCOL, count_message, &late));
        compute_until(&late, 1);
        OK(uccs_context_destroy(other));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* A child is no process of the job; the parent is served and serves as before. */
static void test_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

static void open_all(void)
{
    struct uccs_memory_attr attr;
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_NETWORK_PROTOCOL, count_message, &answers));
    OK(uccs_memory_allocate(context, sizeof *word, &own));
    OK(uccs_memory_query(own, &attr));
    word = attr.address;
    check_share(context, own, words);
    for (int pe = 0; pe < npes; pe++)
        to[pe] = check_endpoint(context, pe);
    __atomic_store_n(&answers, 0, __ATOMIC_RELAXED); /* the order comes from the other process, which tsan cannot see */
}

/* The objects are the program's; the library frees none at the end of a life. */
static void release_memory(void)
{
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(words[pe]));
    OK(uccs_memory_release(own));
}

int main(void)
{
    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    for (int life = 0; life < LIVES; life++) {
        check_start();
        open_all();
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        if (life < LIVES - 1) {
            release_memory();
            OK(uccs_finalize());
            continue;
        }
        test_messages();
        test_sums();
        test_barriers();
        test_fork();
        test_late();
        release_memory();
        return check_pass();
    }
}
