/* A PE that crashes leaves a record in the node's memory, also when its stack is full, and dies of its signal all the same. What the
 * program has done with signals stays as it is.
 *
 * skip: aarch64 */
#include <signal.h>

static volatile int *masks_emptied; /* of all processes */

static int empty_mask(sigset_t *mask)
{
    ++*masks_emptied;
    return sigemptyset(mask);
}

#define sigemptyset empty_mask
#include "rte/crash.c"
#undef sigemptyset

#include "unit/check.h"

#include <sys/resource.h>

static volatile int zero;

static void by_segment(void)
{
    int *volatile nowhere = (int *)8;
    *nowhere = 1;
}

static void by_abort(void)
{
    abort();
}

static void by_division(void)
{
    zero = 7 / zero;
}

static void by_instruction(void)
{
    __builtin_trap();
}

static void by_word(int signal)
{
    kill(getpid(), signal); /* not raise, whose code is another */
    for (;;)
        pause();
}

static void by_bus(void)
{
    by_word(SIGBUS);
}

static void by_segment_that_is_sent(void)
{
    by_word(SIGSEGV);
}

__attribute__((noinline)) static int overrun(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = *above;
    return zero ? 0 : overrun(frame) + frame[0];
}

static void by_full_stack(void)
{
    volatile char first = 1;
    zero = overrun(&first);
}

static const struct node_crash *shared; /* of node index 1 of 2 */

static void open_node(void)
{
    masks_emptied = mmap(NULL, sizeof *masks_emptied, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(masks_emptied != MAP_FAILED);
    static struct node_pe me;
    const size_t bytes = sizeof(struct node) + 2 * sizeof me;
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(rte.fd >= 0 && ftruncate(rte.fd, (off_t)node_fixed_size(2)) == 0);
    rte.node = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    CHECK(rte.node != MAP_FAILED);
    rte.node->size = 2;
    rte.node_index = 1;
    const size_t at = node_crashes_at(2), page = (size_t)sysconf(_SC_PAGESIZE);
    const char *crashes = mmap(NULL, 2 * sizeof *shared + page, PROT_READ, MAP_SHARED, rte.fd, (off_t)at);
    CHECK(crashes != MAP_FAILED && at % page == 0);
    shared = (const struct node_crash *)crashes + 1;
}

/* Runs this in a child. Returns the child's status. */
static int run(void (*body)(void))
{
    int status;
    CHECK(fallocate(rte.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)node_crashes_at(2),
                    (off_t)(2 * sizeof *shared)) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_crashes(SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_STACK, &(struct rlimit){1 << 20, 1 << 20});
        body();
        _exit(50);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void (*death)(void);

static void watched_dies(void)
{
    rte_crash_watch();
    death();
}

static void dies_of(void (*how)(void), int signal, int64_t address)
{
    death = how;
    const int status = run(watched_dies);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    CHECK(shared->state == 1 && shared->signal == signal && shared->frames[0].address);
    CHECK(address < 0 || (shared->address == (uint64_t)address && shared->code > 0));
    CHECK(shared->depth > 2 && shared->frames[0].file && shared->frames[1].file);
    CHECK(!shared[-1].state);
}

static void all_deaths(void)
{
    dies_of(by_segment, SIGSEGV, 8);
    dies_of(by_full_stack, SIGSEGV, -1);
    dies_of(by_abort, SIGABRT, -1);
    dies_of(by_division, SIGFPE, -1);
    dies_of(by_instruction, SIGILL, -1);
    dies_of(by_bus, SIGBUS, -1);
    CHECK(shared->code <= 0);
    dies_of(by_segment_that_is_sent, SIGSEGV, -1);
    CHECK(*masks_emptied == 7); /* the child that adds callers of each takes its alarm */
    const int input = dup(0);
    close(0); /* its number is good for any file */
    dies_of(by_segment, SIGSEGV, 8);
    CHECK(dup2(input, 0) == 0);
}

static void by_child_of_a_pe(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0)
        abort();
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    _exit(51);
}

static void program_handles(int signal)
{
    _exit(signal == SIGSEGV ? 52 : 53);
}

static void keeps_handlers(void)
{
    struct sigaction now;
    stack_t kept = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, found;
    signal(SIGSEGV, program_handles);
    signal(SIGFPE, SIG_IGN);
    CHECK(sigaltstack(&kept, NULL) == 0);
    rte_crash_watch();
    CHECK(sigaction(SIGFPE, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
    CHECK(sigaction(SIGILL, NULL, &now) == 0 && now.sa_sigaction == on_crash && now.sa_flags & SA_ONSTACK);
    CHECK(sigismember(&now.sa_mask, SIGTERM) == 1);
    CHECK(sigaltstack(NULL, &found) == 0 && found.ss_sp == kept.ss_sp);
    raise(SIGSEGV);
}

static void gets_a_stack(void)
{
    stack_t found;
    rte_crash_watch();
    CHECK(sigaltstack(NULL, &found) == 0 && !(found.ss_flags & SS_DISABLE) && found.ss_size == STACK_BYTES);
    *(volatile char *)found.ss_sp = 1;
    _exit(54);
}

static void without_memory(void)
{
    struct sigaction now;
    close(rte.fd);
    rte_crash_watch();
    CHECK(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    _exit(55);
}

static int exits(void (*body)(void))
{
    const int status = run(body);
    CHECK(WIFEXITED(status));
    CHECK(!shared->state && !shared->depth);
    return WEXITSTATUS(status);
}

int main(void)
{
    open_node();
    all_deaths();
    death = by_child_of_a_pe;
    CHECK(exits(watched_dies) == 51);
    CHECK(exits(keeps_handlers) == 52);
    CHECK(exits(gets_a_stack) == 54);
    CHECK(exits(without_memory) == 55);
    return 0;
}
