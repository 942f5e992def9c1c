/* PEs of another launcher meet on a node: whoever of the job is there, in whatever order, all get one memory whose head tells
 * of all of them. Strangers are shown out, and a number that two of them claim ends the job. */
#include "../../src/rte/meet.c"

#include "unit/check.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MOST = 80 };

/* What a process has found; in memory that all share. */
struct found {
    int status, index, close_on_exec;
    struct stat file;
    struct node head;
    uint32_t numbers[MOST];
};

static struct {
    int arrived;
    struct found of[MOST];
} * shared;

static struct rte_place place;
static int expected; /* processes that come to the fence, strangers too */
static int written;  /* all standard error */

int __wrap_rte_backend_fence(double seconds);
int __wrap_rte_backend_fence(double seconds)
{
    CHECK(!(seconds > 0));
    (void)__atomic_fetch_add(&shared->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&shared->arrived, __ATOMIC_ACQUIRE) < expected)
        usleep(300);
    return 0;
}

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
    bind_to(cpu);
    place.pe = pe;
    found->status = rte_meet(&place);
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
static void meet(const int *pes, int count, int npes, bool spread, int strangers)
{
    static int jobs;
    memset(shared, 0, sizeof *shared);
    place.npes = npes;
    snprintf(place.job, sizeof place.job, "test-%d-%d", (int)getpid(), jobs++);
    expected = count + strangers;
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
    static const int one[] = {0}, four[] = {0, 1, 2, 3}, middle[] = {1, 2, 3}, scattered[] = {0, 2, 5}, two[] = {3, 5};
    static const struct {
        const int *pes;
        int count, npes;
    } rows[] = {{one, 1, 1}, {one, 1, 2}, {four, 4, 4}, {four, 4, 5}, {middle, 3, 4}, {scattered, 3, 6}, {two, 2, 6}};
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
static void be_stranger(const struct hello *hello, size_t bytes)
{
    struct sockaddr_un address;
    char byte;
    const socklen_t length = name_meeting(place.job, 0, &address);
    const int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    while (connect(end, (const struct sockaddr *)&address, length) != 0)
        usleep(300);
    CHECK(send(end, hello, bytes, 0) == (ssize_t)bytes);
    (void)__wrap_rte_backend_fence(0);
    CHECK(recv(end, &byte, 1, 0) == 0);
}

static void test_strangers(void)
{
    static const int pes[] = {0, 1};
    const struct hello right = {.magic = HELLO_MAGIC, .pe = 2, .npes = 3};
    struct hello wrong[5];
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
    test_twice();
    return 0;
}
