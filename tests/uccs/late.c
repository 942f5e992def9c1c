/* Waits that last: a line at the receiver names the handler that is missing, one at the sender whose flush waits names
 * the receiver, and one at the sender who finds no room does too. All go on once the handlers are there.
 * pes: 2
 * timeout: 30
 * labels: more
 * cores: 1
 */
#include "check.h"

#include <time.h>

enum { HANDLER = 1, FLOOD = 1500, LINE_SECONDS = 20 };

static uccs_context_t flushed, flooded;
static uccs_endpoint_t flushed_other, flooded_other;
static FILE *lines;
static long handled;
static double told; /* when there was a line */

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static int has_line(const char *wanted)
{
    char text[4000];
    ssize_t length = pread(fileno(lines), text, sizeof text - 1, 0);
    text[length < 0 ? 0 : length] = 0;
    return strstr(text, wanted) != 0;
}

static void *flood(void *unused)
{
    for (int i = 0; i < FLOOD; i++)
        OK(uccs_am_short(flooded, flooded_other, HANDLER, UCCS_AM_USER, 0, 0, 0));
    return unused;
}

static void send_too_early(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, flood, 0) == 0);
    OK(uccs_am_short(flushed, flushed_other, HANDLER, UCCS_AM_USER, 0, 0, 0));
    OK(uccs_flush(flushed));
    pthread_join(thread, 0);
    CHECK(has_line("waits until its messages in context 0 have been handled; PE 1 has not"));
    CHECK(has_line("a message of class user to PE 1 waits"));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Registers only when both processes have had time to complain, and nobody has before five seconds have passed. */
static void register_late(void)
{
    for (int i = 0; !has_line("of PE 0 waits for handler 1 of context"); i++) {
        CHECK(i < LINE_SECONDS * 1000);
        uccs_progress();
        usleep(1000);
    }
    told = seconds();
    for (int i = 0; i < 1500; i++) {
        uccs_progress();
        usleep(1000);
    }
    OK(uccs_am_register(flushed, HANDLER, UCCS_AM_USER, handle, 0));
    OK(uccs_am_register(flooded, HANDLER, UCCS_AM_USER, handle, 0));
    while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < FLOOD + 1)
        uccs_progress();
}

int main(void)
{
    const double begin = seconds();
    check_start();
    OK(uccs_context_create(0, &flushed));
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 1}, &flooded));
    flushed_other = check_endpoint(flushed, next_pe);
    flooded_other = check_endpoint(flooded, next_pe);
    lines = tmpfile();
    int before = dup(STDERR_FILENO);
    CHECK(lines && before >= 0 && dup2(fileno(lines), STDERR_FILENO) >= 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0)
        send_too_early();
    else
        register_late();
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    CHECK(me == 0 || told - begin >= 1);
    fclose(lines);
    return check_pass();
}
