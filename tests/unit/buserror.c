/* SIGBUS in shared memory prints the memory that ran out; any other SIGBUS keeps its effect. Each case runs in a
 * child; the test compares its end and its message.
 *
 * skip: aarch64
 *
 * (qemu-user 7.2 dies of an assertion of its own on a real SIGBUS after a fork.) */
#include "base/buserror.h"

#include "base/log.h"

#include "unit/check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 65536

static char *beyond_end(void) /* a mapped page that its file does not have: access is a real SIGBUS */
{
    int fd = memfd_create("short", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    return map + PAGE;
}

static void watch(const void *start, size_t bytes)
{
    struct buserror_facts facts = {.heap_bytes = (size_t)3 << 29, .pes = 4};
    log_identity(3);
    CHECK(buserror_watch(start, bytes, &facts) == 0);
}

static void inside(void)
{
    char *page = beyond_end();
    watch((char *)0x1000, 4096);
    watch(page, PAGE);
    page[100] = 1;
}

#define STACK_BYTES (1 << 20)
static char *stack; /* alternate stack of the children, zeros at first, seen by the parent */

static void on_own_stack(void)
{
    CHECK(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_BYTES}, NULL) == 0);
}

static void report_on_stack(void)
{
    on_own_stack();
    inside();
}

static void end_at_once(int number)
{
    _exit(number == SIGBUS ? 24 : 1);
}

static void nothing_on_stack(void)
{
    on_own_stack();
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = end_at_once, .sa_flags = SA_ONSTACK}, NULL);
    beyond_end()[0] = 1;
}

/* How deep the children have written into their stack since the last time. */
static size_t depth(void)
{
    size_t untouched = 0;
    while (untouched < STACK_BYTES && !stack[untouched])
        untouched++;
    memset(stack, 0, STACK_BYTES);
    return STACK_BYTES - untouched;
}

static void forged(void)
{
    static char block[4096];
    watch(block, sizeof block);
    siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_ADRERR};
    info.si_addr = &block[50];
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info);
}

static void outside(void)
{
    char *page = beyond_end();
    signal(SIGBUS, SIG_DFL);
    watch(page + 4096, PAGE - 4096);
    page[0] = 1;
}

static void sent(void)
{
    signal(SIGBUS, SIG_DFL);
    watch((void *)0, SIZE_MAX);
    raise(SIGBUS);
}

static void ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    watch((void *)0, SIZE_MAX);
    raise(SIGBUS);
    _exit(20);
}

static void plain_handler(int number)
{
    _exit(number == SIGBUS ? 21 : 1);
}

static void to_plain(void)
{
    signal(SIGBUS, plain_handler);
    watch((void *)4096, 4096);
    beyond_end()[0] = 1;
}

static char *expected;

static void full_handler(int number, siginfo_t *info, void *context)
{
    _exit(number == SIGBUS && info->si_addr == expected && context ? 22 : 1);
}

static void to_full(void)
{
    struct sigaction full = {.sa_sigaction = full_handler, .sa_flags = SA_SIGINFO};
    expected = beyond_end() + 8;
    sigaction(SIGBUS, &full, NULL);
    watch((void *)4096, 4096);
    watch((void *)8192, 4096);
    *expected = 1;
}

static void refusals(void)
{
    struct buserror_facts facts = {0};
    CHECK(buserror_watch(&facts, 0, &facts) == EINVAL);
    for (int i = 0; i < BUSERROR_RANGES; i++)
        CHECK(buserror_watch(&facts, 1, &facts) == 0);
    CHECK(buserror_watch(&facts, 1, &facts) == EINVAL);
    _exit(23);
}

/* Runs one case; returns its wait status and what it wrote. */
static int run(void (*body)(void), char *wrote, size_t room)
{
    int out[2], status;
    size_t used = 0;
    CHECK(pipe(out) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(out[1], STDERR_FILENO);
        close(out[1]);
        body();
        _exit(99);
    }
    close(out[1]);
    for (ssize_t got; used < room - 1 && (got = read(out[0], wrote + used, room - 1 - used)) > 0;)
        used += got;
    wrote[used] = 0;
    close(out[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void check_report(void (*body)(void))
{
    char text[4096];
    int status = run(body, text, sizeof text);
    fputs(text, stdout);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == LAT_EXIT);
    CHECK(!strncmp(text, "lateral: PE 3: out of memory for shared pages at 0x", 51));
    CHECK(strstr(text, "heap size 1.5 GiB each, PEs here 4, machine has "));
    CHECK(strstr(text, "; set SHMEM_SYMMETRIC_SIZE smaller or use fewer PEs\n"));
    CHECK(strchr(text, '\n') == text + strlen(text) - 1); /* one line */
}

static void check_killed(void (*body)(void))
{
    char text[4096];
    int status = run(body, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS && !text[0]);
}

static void check_exit(void (*body)(void), int expected_status)
{
    char text[4096];
    int status = run(body, text, sizeof text);
    fputs(text, stdout);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected_status);
}

/* Programs give their handlers small stacks (8 kB), most of which the kernel's frame may take. */
static void check_depth(void)
{
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    check_exit(nothing_on_stack, 24);
    size_t least = depth();
    check_report(report_on_stack);
    size_t deep = depth();
    printf("on the alternate stack: %zu bytes, of which the frame takes %zu\n", deep, least);
    CHECK(deep - least < 2048);
}

int main(void)
{
    check_report(inside);
    check_depth();
    check_report(forged);
    check_killed(outside);
    check_killed(sent);
    check_exit(ignored, 20);
    check_exit(to_plain, 21);
    check_exit(to_full, 22);
    check_exit(refusals, 23);
    return 0;
}
