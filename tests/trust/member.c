/* Who is one of this node: processes that map its memory, and no other, whatever the memory's words say. And who has
 * started two processes. */
#include "base/ancestor.h"
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
    ancestors();
    return 0;
}
