/* What processes of the same user say to the host of a meeting: a row of hellos, cut as the input says. The launcher is made up; its
 * fence is when the others come. */
#include "fuzz/fuzz.h"

#include "rte/backend.h"
#include "rte/node_bootstrap.h"
#include "rte/rte.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PES = 8, GUESTS_MOST = 24, FILES_MOST = 64 };

static struct fuzz *input;
static int guests[GUESTS_MOST], count;
static struct sockaddr_un name; /* of the host's socket */
static socklen_t name_bytes;    /* 0: it does not listen yet */

static void find_host(void)
{
    int listens;
    name_bytes = 0;
    for (int fd = 3; fd < FILES_MOST && !name_bytes; fd++) {
        socklen_t size = sizeof listens, bytes = sizeof name;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
            getsockname(fd, (struct sockaddr *)&name, &bytes) == 0)
            name_bytes = bytes;
    }
}

static void say(void)
{
    struct rte_hello hello = {.magic = RTE_HELLO_MAGIC, .npes = PES};
    const uint8_t how = fuzz_byte(input);
    size_t bytes = how & 1 ? fuzz_short(input) % (2 * sizeof hello) : sizeof hello;
    char text[2 * sizeof hello] = {0};
    hello.pe = (int8_t)fuzz_byte(input);
    hello.cpus[how % RTE_CPU_WORDS] = fuzz_byte(input);
    if (how & 2)
        fuzz_take(input, &hello, 24);
    memcpy(text, &hello, sizeof hello);
    const int fd = guests[count++] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(connect(fd, (const struct sockaddr *)&name, name_bytes) == 0);
    (void)!write(fd, text, bytes);
    if (how & 4 || !bytes)
        shutdown(fd, SHUT_WR);
}

static int fence(int seconds, pthread_mutex_t *held)
{
    (void)seconds, (void)held;
    find_host();
    for (int i = 0; name_bytes && input->left && i < GUESTS_MOST; i++)
        say();
    return 0;
}

static int put(const char *key, const void *value, size_t bytes)
{
    (void)key, (void)value, (void)bytes;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct rte_backend launcher = {.name = "a target", .put = put, .fence = fence};
    static const struct rte_rank place = {.pe = 0, .npes = PES};
    struct fuzz fuzz = {data, size};
    input = &fuzz;
    count = 0;
    rte.fd = -1;
    rte_backend = &launcher;
    if (rte_node_bootstrap(&place) == 0)
        FUZZ_CHECK(rte.fd >= 0 && rte.node_index >= 0 && rte.node_index < PES && close(rte.fd) == 0);
    while (count)
        close(guests[--count]);
    return 0;
}
