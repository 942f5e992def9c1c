/* PEs of another launcher meet on a node: whoever of the job is there, in whatever order, all get one memory whose head tells
 * of all of them. Strangers are shown out, and a number that two of them claim ends the job. */
#include "rte/backend.h"
#include "rte/node_bootstrap.h"
#include "rte/rte.h"

#include "unit/check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 80, VALUES = 16 };

/* What a process has found; in memory that all share. */
struct found {
    int status, index, close_on_exec;
    struct stat file;
    struct node head;
    uint32_t numbers[MOST];
};

/* What one PE has told under a key. */
struct value {
    char key[RTE_KEY_BYTES + 1], bytes[64];
    size_t length;
    int pe;
};

static struct {
    int arrived, called; /* at fences, all in all; strangers who have said their words */
    int closed;          /* descriptors that the parent no longer has */
    struct found of[MOST];
    struct value values[VALUES];
    int told; /* of values */
    struct sockaddr_un host;
    socklen_t host_bytes; /* 0: nobody listens yet */
} * shared;

static struct rte_rank place;
static int members, strangers; /* of the meeting */
static int written;            /* all standard error */

/* --- The launcher */

static int put(const char *key, const void *bytes, size_t length)
{
    const int slot = __atomic_fetch_add(&shared->told, 1, __ATOMIC_ACQ_REL);
    struct value *value = &shared->values[slot];
    CHECK(slot < VALUES && length <= sizeof value->bytes && strlen(key) <= RTE_KEY_BYTES);
    strcpy(value->key, key);
    memcpy(value->bytes, bytes, length);
    value->length = length;
    value->pe = place.pe;
    return 0;
}

static int get(int pe, const char *key, void **bytes, size_t *length)
{
    for (int i = 0; i < __atomic_load_n(&shared->told, __ATOMIC_ACQUIRE); i++) {
        const struct value *value = &shared->values[i];
        if (value->pe != pe || strcmp(value->key, key) != 0)
            continue;
        CHECK((*bytes = malloc(value->length)));
        memcpy(*bytes, value->bytes, *length = value->length);
        return 0;
    }
    return -1;
}

/* If this process listens, tells the strangers where, and waits until all of them have said their words. */
static void admit_strangers(void)
{
    struct sockaddr_un name;
    int listens = 0;
    for (int fd = 3; fd < 100; fd++) {
        socklen_t bytes = sizeof name, size = sizeof listens;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens)
            continue;
        CHECK(getsockname(fd, (struct sockaddr *)&name, &bytes) == 0 && name.sun_family == AF_UNIX);
        shared->host = name;
        __atomic_store_n(&shared->host_bytes, bytes, __ATOMIC_RELEASE);
        while (__atomic_load_n(&shared->called, __ATOMIC_ACQUIRE) < strangers)
            usleep(300);
    }
}

static int fence(int seconds, pthread_mutex_t *held)
{
    static int passed; /* fences of this process */
    CHECK(seconds == 0);
    admit_strangers();
    pthread_mutex_unlock(held);
    (void)__atomic_fetch_add(&shared->arrived, 1, __ATOMIC_ACQ_REL);
    passed++;
    while (__atomic_load_n(&shared->arrived, __ATOMIC_ACQUIRE) < passed * members)
        usleep(300);
    pthread_mutex_lock(held);
    return 0;
}

/* --- The PEs */

/* Binds this process to a processor, of those that it may use; modulo their number. */
static void bind_to(int number)
{
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    number %= CPU_COUNT(&allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && number-- == 0)
            CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static int processors(void)
{
    cpu_set_t allowed;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    return CPU_COUNT(&allowed);
}

static void be_member(struct found *found, int pe, int cpu)
{
    static const struct rte_backend launcher = {.name = "a test", .put = put, .get = get, .fence = fence};
    struct rlimit before, after;
    bind_to(cpu);
    place.pe = pe;
    rte_backend = &launcher;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    found->status = rte_node_bootstrap(&place);
    CHECK(getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_cur == before.rlim_cur);
    if (found->status != 0)
        return;
    found->index = rte.node_index;
    found->close_on_exec = fcntl(rte.fd, F_GETFD) == FD_CLOEXEC;
    struct node *node = mmap(0, node_groups_at(MOST), PROT_READ, MAP_SHARED, rte.fd, 0);
    CHECK(node != MAP_FAILED && fstat(rte.fd, &found->file) == 0);
    found->head = *node;
    for (uint32_t i = 0; i < node->size; i++)
        found->numbers[i] = node->pe[i].number;
}

static pid_t start(void)
{
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(written, STDERR_FILENO);
    }
    return child;
}

/* Lets these PEs of a job of npes meet, the first one last; `spread`: each has the next processor. */
static void meet(const int *pes, int count, int npes, bool spread, int guests)
{
    memset(shared, 0, sizeof *shared);
    place.npes = npes;
    snprintf(place.job, sizeof place.job, "test"); /* which tells nobody where they meet */
    members = count;
    strangers = guests;
    CHECK(ftruncate(written, 0) == 0 && lseek(written, 0, SEEK_SET) == 0);
    for (int i = count; i-- > 0;)
        if (start() == 0) {
            be_member(&shared->of[i], pes[i], spread ? i : 0);
            _exit(0);
        }
}

static void wait_for_all(void)
{
    int status;
    while (wait(&status) > 0)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool says(const char *words)
{
    char text[4096] = "";
    CHECK(pread(written, text, sizeof text - 1, 0) >= 0);
    return strstr(text, words) != 0;
}

/* All have met: one file, whose head is this. */
static void have_met(const int *pes, int count, int npes, uint32_t cores)
{
    const bool all = count == npes, scattered = pes[count - 1] - pes[0] != count - 1;
    for (int i = 0; i < count; i++) {
        const struct found *found = &shared->of[i];
        CHECK(found->status == 0 && found->index == i && found->close_on_exec);
        CHECK(found->file.st_ino == shared->of[0].file.st_ino && found->file.st_dev == shared->of[0].file.st_dev);
        CHECK(found->file.st_size == (off_t)node_fixed_size((uint32_t)count));
        const struct node *head = &found->head;
        CHECK(head->magic == NODE_MAGIC && head->size == (uint32_t)count && head->total == (uint32_t)npes);
        CHECK(head->first == (uint32_t)pes[0] && head->nodes == all && head->scattered == scattered);
        CHECK(head->cores == cores && head->oversubscribed == ((uint32_t)count > cores));
        CHECK(head->nonce[0] && head->nonce[1] && head->nonce[0] != head->nonce[1]);
        for (int k = 0; k < count; k++)
            CHECK(found->numbers[k] == (scattered ? (uint32_t)pes[k] : 0));
    }
    CHECK(says("") && lseek(written, 0, SEEK_END) == 0); /* nobody has said anything */
}

static void test_places(void)
{
    static const int one[] = {0}, four[] = {0, 1, 2, 3}, three[] = {0, 1, 2}, scattered[] = {0, 2, 5}, two[] = {0, 5};
    static const struct {
        const int *pes;
        int count, npes;
    } rows[] = {{one, 1, 1}, {one, 1, 2}, {four, 4, 4}, {four, 4, 5}, {three, 3, 4}, {scattered, 3, 6}, {two, 2, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int spread = i % 2, cores = rows[i].count < processors() ? rows[i].count : processors();
        meet(rows[i].pes, rows[i].count, rows[i].npes, spread, 0);
        wait_for_all();
        have_met(rows[i].pes, rows[i].count, rows[i].npes, spread ? (uint32_t)cores : 1);
    }
}

static void test_many(void)
{
    int pes[MOST];
    for (int i = 0; i < MOST; i++)
        pes[i] = i;
    meet(pes, MOST, MOST, false, 0);
    wait_for_all();
    have_met(pes, MOST, MOST, 1);
}

/* Sends something else than a member's hello; the host closes the connection and sends nothing. */
static void be_stranger(const struct rte_hello *hello, size_t bytes)
{
    char byte;
    const int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    while (!__atomic_load_n(&shared->host_bytes, __ATOMIC_ACQUIRE))
        usleep(300);
    CHECK(connect(end, (const struct sockaddr *)&shared->host, shared->host_bytes) == 0);
    CHECK(send(end, hello, bytes, 0) == (ssize_t)bytes);
    (void)__atomic_fetch_add(&shared->called, 1, __ATOMIC_ACQ_REL);
    CHECK(recv(end, &byte, 1, 0) == 0);
}

/* Returns a connection whose last close waits for a minute: what it has sent is never read. It stays up while the listener does. */
static int make_lingering(int *listener)
{
    static char junk[1 << 16];
    const struct linger linger = {1, 60};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(setsockopt(*listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0 && listen(*listener, 4) == 0);
    CHECK(getsockname(*listener, (struct sockaddr *)&name, &length) == 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(fd, (struct sockaddr *)&name, length) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    while (send(fd, junk, sizeof junk, MSG_NOSIGNAL) > 0)
        continue;
    CHECK(fcntl(fd, F_SETFL, 0) == 0 && setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0);
    return fd;
}

/* Another user connects, and sends the descriptor. When the host looks, the message holds the last reference. */
static void be_other_user(int fd, int number)
{
    char byte = 0;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof fd)];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)}};
    struct iovec data = {&byte, 1};
    const struct msghdr message = {.msg_iov = &data,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    const int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    while (!__atomic_load_n(&shared->host_bytes, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&shared->closed, __ATOMIC_ACQUIRE) <= number)
        usleep(300);
    CHECK(connect(end, (const struct sockaddr *)&shared->host, shared->host_bytes) == 0);
    CHECK(sendmsg(end, &message, 0) == 1 && close(fd) == 0);
    (void)__atomic_fetch_add(&shared->called, 1, __ATOMIC_ACQ_REL);
}

/* The members meet and end long before the descriptors that another user sends would let them. */
static void test_other_user(void)
{
    static const int pes[] = {0, 1};
    struct timespec begin, end;
    int listeners[3];
    if (geteuid() != 0) {
        printf("another user's descriptors: skipped, only root becomes another user\n");
        return;
    }
    CHECK(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
    meet(pes, 2, 2, false, 3);
    for (int i = 0; i < 3; i++) {
        const int fd = make_lingering(&listeners[i]);
        if (start() == 0) {
            be_other_user(fd, i);
            _exit(0);
        }
        CHECK(close(fd) == 0);
        (void)__atomic_fetch_add(&shared->closed, 1, __ATOMIC_ACQ_REL);
    }
    wait_for_all();
    CHECK(clock_gettime(CLOCK_MONOTONIC, &end) == 0 && end.tv_sec - begin.tv_sec < 30);
    have_met(pes, 2, 2, 1);
    for (int i = 0; i < 3; i++)
        close(listeners[i]);
}

static void test_strangers(void)
{
    static const int pes[] = {0, 1};
    const struct rte_hello right = {.magic = RTE_HELLO_MAGIC, .pe = 2, .npes = 3};
    struct rte_hello wrong[5];
    for (int i = 0; i < 5; i++)
        wrong[i] = right;
    wrong[0].magic++;
    wrong[1].npes++;
    wrong[2].npes--;
    wrong[3].pe = -1;
    wrong[4].pe = 3;
    meet(pes, 2, 3, true, 6);
    for (int i = 0; i < 6; i++)
        if (start() == 0) {
            be_stranger(i < 5 ? &wrong[i] : &right, i < 5 ? sizeof right : sizeof right - 1);
            _exit(0);
        }
    wait_for_all();
    have_met(pes, 2, 3, processors() > 1 ? 2 : 1);
}

static void test_twice(void)
{
    static const int pes[] = {0, 1, 1, 2};
    meet(pes, 4, 3, false, 0);
    wait_for_all();
    for (int i = 0; i < 4; i++)
        CHECK(shared->of[i].status == -1);
    CHECK(says("two processes say that they are PE 1: a PE started another OpenSHMEM program"));
    CHECK(says("the PE that makes this node's memory did not hand it over; it may have said why"));
}

int main(void)
{
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    written = memfd_create("written", MFD_CLOEXEC);
    CHECK(shared != MAP_FAILED && written >= 0 && fcntl(written, F_SETFL, O_APPEND) == 0);
    test_places();
    test_many();
    test_strangers();
    test_other_user();
    test_twice();
    return 0;
}
