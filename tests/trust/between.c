/* How this library stands between an MPI and the launcher of srun: the MPI's descriptor leads to this process, and a new one to
 * the launcher; when no thread can be started, all is as before. And what a PE notes when another one has said why the job ends. */
#include "../../src/rte/pmi_guest.c"

#include "base/log.h"
#include "rte/node.h"
#include "rte/rte.h"
#include "unit/check.h"

#include <dirent.h>

static int theirs, fails_with;

int __wrap_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);
int __wrap_thread_start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    CHECK(thread && body == stand_between);
    theirs = (int)(intptr_t)argument;
    *thread = pthread_self();
    return fails_with;
}

int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread)
{
    CHECK(pthread_equal(thread, pthread_self()));
    return 0;
}

static int descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    CHECK(all != 0);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

/* What is written to one comes out of the other. */
static bool leads(int from, int to)
{
    char byte = 0;
    return write(from, "b", 1) == 1 && recv(to, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'b';
}

static void test_between(void)
{
    int launcher[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, launcher) == 0);
    const int before = descriptors();
    const int real = put_between(launcher[0]);
    CHECK(real >= 0 && real != launcher[0] && descriptors() == before + 2);
    CHECK(leads(launcher[0], theirs) && leads(theirs, launcher[0]));
    CHECK(leads(real, launcher[1]) && leads(launcher[1], real));
    CHECK(fcntl(real, F_GETFD) == FD_CLOEXEC && fcntl(theirs, F_GETFD) == FD_CLOEXEC);
    close(real);
    close(theirs);
    close(launcher[0]);
    close(launcher[1]);
}

static void test_no_thread(void)
{
    int launcher[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, launcher) == 0);
    const int before = descriptors();
    fails_with = EAGAIN;
    CHECK(put_between(launcher[0]) == -1 && errno == EAGAIN);
    close(theirs); /* it is the thread's that was to be */
    CHECK(descriptors() == before && leads(launcher[0], launcher[1]));
    CHECK(put_between(-1) == -1 && errno == EBADF && descriptors() == before);
    close(launcher[0]);
    close(launcher[1]);
}

/* The launcher then tells nothing of this PE's own end. */
static void test_expected_end(void)
{
    static struct node *node;
    node = aligned_alloc(CACHE_LINE, 65536);
    CHECK(node != 0);
    memset(node, 0, 65536);
    rte.node = node;
    rte.pe = 7;
    rte_expect_end();
    CHECK(alarm(0) == 0); /* under our launcher, whose guard ends this process */
    CHECK(node->ending == NODE_ABORTED && node->end_status == LAT_EXIT && node->end_pe == 7);
    rte.pe = 8;
    rte_expect_end(); /* the first one counts */
    CHECK(node->end_pe == 7);
    rte.node = 0;
    free(node);
}

int main(void)
{
    test_between();
    test_no_thread();
    test_expected_end();
    return 0;
}
