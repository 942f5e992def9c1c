/* A slow receiver on another node holds its senders back, with bounded memory on both sides. Meanwhile replies, other
 * classes and groups go on, and the order of each sender holds.
 * pes: 3
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 * timeout: 120
 * labels: more
 * skip: tsan asan-ubsan
 */
#include "../uccs/check.h"

#include <time.h>

enum { FLOOD = 1, ASK = 2, ANSWER = 3, MANY = 12000, BYTES = 8000, MEGABYTE = 1 << 20 };

static uccs_context_t context;
static long handled, wrong, answers, last[8];

static long get(const long *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void flood(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    long number;
    int from = uccs_am_source(token);
    (void)argument;
    memcpy(&number, payload, sizeof number);
    wrong += length != BYTES || number != ++last[from];
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}

static void ask(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_NETWORK_PROTOCOL, payload, length));
}

/* The most memory that this process has had, in bytes. */
static long peak(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* 96 MB from each, while the receiver is away most of the time; it fetches what it may, by its own thread. */
static void send_flood(uccs_endpoint_t first)
{
    static char payload[BYTES];
    for (long i = 1; i <= MANY; i++) {
        memcpy(payload, &i, sizeof i);
        OK(uccs_am_medium(context, first, FLOOD, UCCS_AM_USER, payload, BYTES, 0));
        if (i % 100 == 0)
            OK(uccs_am_short(context, first, ASK, UCCS_AM_NETWORK_PROTOCOL, &i, sizeof i, 0));
    }
    OK(uccs_flush(context));
    while (get(&answers) < MANY / 100)
        uccs_progress();
}

static void take_flood(void)
{
    long all = (long)MANY * (npes - 1);
    while (get(&handled) < all) {
        if (handled < all / 4)
            nanosleep(&(struct timespec){0, 10000000}, 0);
        uccs_progress();
    }
    CHECK_EQ(get(&handled), all);
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, FLOOD, UCCS_AM_USER, flood, 0));
    OK(uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_NETWORK_PROTOCOL, count_message, &answers));
    uccs_endpoint_t first = check_endpoint(context, 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    long before = peak();
    if (me == 0)
        take_flood();
    else
        send_flood(first);
    /* A sixth of what one of them has sent; of a network within the node some are pages that the processes share. */
    CHECK(before > 0 && peak() - before < 16L * MEGABYTE);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(context));
    return check_pass();
}
