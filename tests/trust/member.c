/* Who is one of this node: processes that map its memory, and no other, whatever the memory's words say. Whom a PE ends that
 * ends its node. And who has started two processes. */
#include "base/process.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include "unit/check.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t started(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    while (child == 0)
        pause();
    return child;
}

static void ended(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void members(void)
{
    pid_t stranger = started();
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(ftruncate(rte.fd, 65536) == 0);
    void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    CHECK(memory != MAP_FAILED);
    pid_t member = started();
    CHECK(rte_shares_memory(member) && rte_shares_memory(getpid()));
    CHECK(!rte_shares_memory(stranger) && !rte_shares_memory(getppid()));
    CHECK(!rte_shares_memory(0) && !rte_shares_memory(1) && !rte_shares_memory(-1) && !rte_shares_memory(-member));
    ended(member);
    CHECK(!rte_shares_memory(member));
    ended(stranger);
}

static void place_pe(struct node *node, int index, pid_t pid, enum node_state state)
{
    node->pe[index].pid = pid;
    node->pe[index].state = state;
}

/* Of a process that goes on unless it was killed. */
static bool was_killed(pid_t child)
{
    int status;
    kill(child, SIGTERM); /* otherwise it dies of this */
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* A PE ends those of its node that are in the library, from the first to the last, with SIGKILL, and itself with the job's status.
 * What lies behind the last is none of them. */
static void end_of_node(void)
{
    const size_t bytes = sizeof(struct node) + 5 * sizeof(struct node_pe);
    int status;
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(ftruncate(rte.fd, (off_t)bytes) == 0);
    rte.node = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    CHECK(rte.node != MAP_FAILED);
    const pid_t first = started(), done = started(), last = started(), behind = started(), ends = fork();
    if (ends == 0) {
        rte.node_size = 4;
        rte.node_index = 1;
        rte.node->end_status = 7;
        place_pe(rte.node, 0, first, NODE_RUNNING);
        place_pe(rte.node, 1, getpid(), NODE_RUNNING);
        place_pe(rte.node, 2, done, NODE_FINALISED);
        place_pe(rte.node, 3, last, NODE_RUNNING);
        place_pe(rte.node, 4, behind, NODE_RUNNING);
        rte_end_node();
    }
    CHECK(waitpid(ends, &status, 0) == ends && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(was_killed(first) && was_killed(last));
    CHECK(waitpid(done, &status, WNOHANG) == 0 && waitpid(behind, &status, WNOHANG) == 0);
    ended(done);
    ended(behind);
}

static void ancestors(void)
{
    pid_t one = started(), other = started();
    CHECK(ancestor_common(one, other) == getpid());
    CHECK(ancestor_common(one, getpid()) == getpid());
    CHECK(ancestor_common(one, one) == one);
    CHECK(ancestor_common(one, getppid()) == getppid());
    ended(one);
    CHECK(ancestor_common(one, other) == 0);
    ended(other);
}

int main(void)
{
    members();
    end_of_node();
    ancestors();
    return 0;
}
