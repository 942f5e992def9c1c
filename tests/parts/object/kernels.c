/* Copies by the kernel between processes of a node, by a made-up kernel: whom this process allows to access it, what it offers, when a
 * peer's memory can be reached, copies that fall short, and what their errors say. */
#include "unit/check.h"

#include "base/ancestor.h"
#include "base/env.h"
#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/core/own.h"
#include "uccs/object/kernel.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct uccs_core uccs_core = {.me = 6, .npes = 8, .first = 4, .pes = 4, .index = 2};
struct rte rte;

static struct uccs_own *owns[4]; /* sparse memory */
static pid_t allowed[4];
static int prctls;
static bool no_ptracer, copies_off;
static pid_t asked[64]; /* processes whose common ancestor was wanted */
static int asks;
static pid_t starter; /* 0: /proc does not show it */
static size_t most;   /* bytes that one call copies at most */
static ssize_t ends;  /* what the next call returns once `left` calls have copied */
static int left, error_then, moves;
static pid_t moved_pid;

static int test_prctl(int what, unsigned long pid, long two, long three, long four)
{
    CHECK(what == PR_SET_PTRACER && prctls < 4 && !two && !three && !four);
    allowed[prctls++] = (pid_t)pid;
    return no_ptracer ? -1 : 0;
}

static pid_t test_ancestor(pid_t one, pid_t other)
{
    CHECK(asks < 64 && one != 0);
    asked[asks++] = other;
    return starter;
}

static pid_t test_getpid(void)
{
    return 70006;
}

static bool test_flag(enum env_id id)
{
    CHECK(id == ENV_CMA);
    return !copies_off;
}

static ssize_t transfer(pid_t pid, const struct iovec *here, const struct iovec *there, bool put)
{
    moved_pid = pid;
    CHECK(here->iov_len == there->iov_len);
    if (left-- == 0) {
        errno = error_then;
        return ends;
    }
    const size_t part = here->iov_len < most ? here->iov_len : most;
    moves++;
    memcpy(put ? there->iov_base : here->iov_base, put ? here->iov_base : there->iov_base, part);
    return (ssize_t)part;
}

static ssize_t test_readv(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there,
                          unsigned long m, unsigned long flags)
{
    CHECK(n == 1 && m == 1 && flags == 0);
    return transfer(pid, here, there, false);
}

static ssize_t test_writev(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there,
                           unsigned long m, unsigned long flags)
{
    CHECK(n == 1 && m == 1 && flags == 0);
    return transfer(pid, here, there, true);
}

uint32_t uccs_index_in_table(int pe)
{
    return (uint32_t)pe;
}

static int locks; /* held */

static int test_lock(pthread_mutex_t *lock)
{
    CHECK(lock && locks == 0);
    return locks++;
}

static int test_unlock(pthread_mutex_t *lock)
{
    CHECK(lock && locks == 1);
    return --locks;
}

#define prctl test_prctl
#define ancestor_common test_ancestor
#define getpid test_getpid
#define env_flag test_flag
#define process_vm_readv test_readv
#define process_vm_writev test_writev
#define pthread_mutex_lock test_lock
#define pthread_mutex_unlock test_unlock
#include "uccs/object/kernel.c"

static struct node *node;

static void begin(int pes)
{
    rte.node = node;
    rte.node_size = pes;
    for (int i = 0; i < 4; i++)
        owns[i]->word = owns[i]->value = 0, owns[i]->pid = 0; /* the rest is large */
    memset(word, 0, sizeof word);
    memset(peers, 0, sizeof peers);
    memset(allowed, 0, sizeof allowed);
    prctls = asks = moves = 0;
    no_ptracer = copies_off = false;
    starter = 500;
    most = 1000;
    left = -1;
    locks = 0;
}

/* --- Whom this process allows */

/* At most 16 PEs or so are asked, evenly, and none that does not exist. */
static void ancestors(void)
{
    static const struct {
        int pes, step, asks;
    } rows[] = {{1, 1, 1}, {2, 1, 2}, {15, 1, 15}, {16, 2, 8}, {17, 2, 9}, {31, 2, 16}, {32, 3, 11}, {40, 3, 14}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].pes);
        uccs_kernel_offer();
        CHECK(asks == rows[i].asks && prctls == 2 && allowed[0] == 0 && allowed[1] == 500);
        for (int n = 0; n < asks; n++)
            CHECK(asked[n] == 1000 + n * rows[i].step);
    }
    begin(4);
    starter = 0; /* it is not known: nobody is allowed, and nobody else is asked */
    uccs_kernel_offer();
    CHECK(asks == 1 && prctls == 1 && owns[2]->word);
    begin(4);
    no_ptracer = true; /* the kernel does not ask for it */
    uccs_kernel_offer();
    CHECK(asks == 0 && prctls == 1 && owns[2]->word);
}

static void offers(void)
{
    begin(4);
    node->nonce[0] = 11;
    node->nonce[1] = 12;
    uccs_kernel_offer();
    const uint64_t facts[2] = {70006, (uintptr_t)word};
    CHECK(owns[2]->word == (uintptr_t)word && owns[2]->pid == 70006 && owns[2]->value == word[0] && locks == 0);
    CHECK(word[0] == siphash(node->nonce, facts, sizeof facts) && word[1] == 6);
    word[0] = 1;
    uccs_kernel_offer();
    CHECK(word[0] == 1 && prctls == 2); /* once */
    offer(owns[2]);                     /* another thread was first */
    CHECK(word[0] == 1 && prctls == 2 && locks == 0);
}

/* --- Whose memory can be reached */

static uint64_t theirs[2];
static struct uccs_region memory = {.owner = 7, .pid = 80000};

static bool reaches(void)
{
    peers[3] = UNKNOWN;
    moves = 0;
    return uccs_kernel_reaches(&memory);
}

static void probes(void)
{
    begin(4);
    theirs[0] = 9;
    theirs[1] = 7;
    owns[3]->pid = 80001;
    owns[3]->value = 9;
    CHECK(!reaches() && moves == 0); /* it offers nothing */
    owns[3]->word = (uintptr_t)theirs;
    CHECK(reaches() && moves == 1 && moved_pid == 80001 && peers[3] == WORKS);
    CHECK(uccs_kernel_reaches(&memory) && moves == 1); /* it is asked once */
    theirs[0] = 8;
    CHECK(!reaches() && moves == 1 && peers[3] == REFUSED && !uccs_kernel_reaches(&memory) && moves == 1);
    theirs[0] = 9;
    theirs[1] = 6; /* another process has that number there */
    CHECK(!reaches());
    theirs[1] = 7;
    copies_off = true;
    CHECK(!reaches() && moves == 0);
    copies_off = false;
    most = 15;
    CHECK(!reaches() && moves == 1);
    most = 16;
    CHECK(reaches());
}

/* --- Copies */

static void copies(void)
{
    char mine[40], other[64];
    for (size_t i = 0; i < sizeof other; i++)
        other[i] = (char)i;
    begin(4);
    memory.address = (uintptr_t)other;
    most = 7; /* the kernel copies less than it is asked for */
    CHECK(uccs_kernel_get(&memory, 3, mine, 40) == UCCS_OK && moves == 6 && memcmp(mine, other + 3, 40) == 0);
    CHECK(moved_pid == 80000);
    memset(mine, 'x', sizeof mine);
    CHECK(uccs_kernel_put(&memory, 5, mine, 21) == UCCS_OK && moves == 9);
    CHECK(other[4] == 4 && other[5] == 'x' && memcmp(other + 5, mine, 21) == 0 && other[26] == 26);
    CHECK(uccs_kernel_put(&memory, 5, mine, 0) == UCCS_OK && moves == 9);
    static const struct {
        ssize_t ends;
        int error, status;
    } rows[] = {{0, 0, UCCS_ERR_BOUNDS},
                {0, EPERM, UCCS_ERR_BOUNDS},
                {-1, EFAULT, UCCS_ERR_BOUNDS},
                {-1, ESRCH, UCCS_ERR_UNREACHABLE},
                {-1, EPERM, UCCS_ERR_UNREACHABLE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int put = 0; put < 2; put++) {
            ends = rows[i].ends;
            error_then = rows[i].error;
            left = 2;
            moves = 0;
            CHECK((put ? uccs_kernel_put(&memory, 0, mine, 40) : uccs_kernel_get(&memory, 0, mine, 40)) ==
                  rows[i].status);
            CHECK(moves == 2);
        }
}

int main(void)
{
    node = aligned_alloc(CACHE_LINE, sizeof *node + 64 * sizeof *node->pe);
    CHECK(node);
    memset(node, 0, sizeof *node);
    uccs_core.own =
        mmap(NULL, 4 * NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    for (uint32_t i = 0; i < 4; i++)
        owns[i] = uccs_own_of(i);
    for (int i = 0; i < 64; i++)
        node->pe[i].pid = i < 40 ? 1000 + i : 0;
    ancestors();
    offers();
    probes();
    copies();
    free(node);
    munmap(uccs_core.own, 4 * NODE_OWN_BYTES);
    return 0;
}
