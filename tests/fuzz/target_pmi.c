/* What a launcher answers by PMI-1. The input is all of its answers, cut into lines by itself; a first byte of 1 puts a
 * good greeting before them. */
#include "fuzz/fuzz.h"

#include "base/env.h"
#include "rte/backend.h"
#include "rte/pmi_talk.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static void feed(const uint8_t *data, size_t size, int end)
{
    static const char hello[] = "cmd=response_to_init rc=0\ncmd=my_kvsname kvsname=kvs\n";
    bool greeting = size && data[0] == 1;
    if (greeting && write(end, hello, sizeof hello - 1) < 0)
        return;
    if (size > greeting)
        (void)!write(end, data + greeting, size - greeting);
    shutdown(end, SHUT_WR);
}

static void use(const struct rte_backend *launcher)
{
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    void *value;
    size_t bytes;
    (void)launcher->put("key", "some value", 10);
    for (int i = 0; i < 3; i++)
        if (launcher->get(1, "key", &value, &bytes) == 0) {
            volatile unsigned char last = bytes ? ((unsigned char *)value)[bytes - 1] : 0;
            (void)last;
            free(value);
        }
    pthread_mutex_lock(&held);
    (void)launcher->fence(1, &held);
    pthread_mutex_unlock(&held);
    launcher->finish();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int opened;
    const char *why;
    char number[16];
    int ends[2];
    struct rte_rank place;
    if (!opened++) {
        (void)env_load(&why);
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "2", 1);
        signal(SIGPIPE, SIG_IGN);
    }
    if (size > 60000 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    memset(&pmi_talk, 0, sizeof pmi_talk); /* each input is another launcher */
    snprintf(number, sizeof number, "%d", ends[1]);
    setenv("PMI_FD", number, 1);
    feed(data, size, ends[0]);
    const struct rte_backend *launcher = rte_pmi_open(&place);
    if (launcher)
        use(launcher);
    if (pmi_talk.fd >= 0)
        close(ends[1]);
    close(ends[0]);
    return 0;
}
