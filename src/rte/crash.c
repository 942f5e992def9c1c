/* The handler may interrupt anything, so it uses system calls and memory of its own alone. Callers are found by
 * backtrace(3), which may load a library and wait for a lock that the dying thread holds. So a child does that, a copy of
 * the process with this one thread, for a limited time. */
#include "rte/backend.h"

#include "rte/rte.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (64u << 10)
#define CHILD_SECONDS 3
#define TELL_TURNS 200  /* of 5 ms: time for the watcher to tell of a crash */
#define LINE_BYTES 4096 /* the longest line of /proc/self/maps */

static struct node_crash *crash; /* of this PE */
static pid_t watched;            /* children that a PE forks have the handler, but are no PEs */
static uint32_t taken;           /* the first thread that crashes reports */

/* ---- where an address lies in a file ---- */

/* One line of /proc/self/maps. */
struct mapping {
    uint64_t start, end, offset;
    const char *path; /* empty: no file */
};

static const char *read_hex(const char *at, uint64_t *number)
{
    *number = 0;
    for (;; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
        if (digit < 0)
            return at;
        *number = *number << 4 | (unsigned)digit;
    }
}

/* Reads "start-end mode offset device inode   path". */
static struct mapping parse_line(const char *line)
{
    struct mapping m = {0};
    const char *at = read_hex(line, &m.start);
    at = read_hex(at + (*at == '-'), &m.end);
    at += strcspn(at + 1, " ") + 2; /* behind the mode */
    at = read_hex(at, &m.offset);
    m.path = strchr(at, '/');
    m.path = m.path ? m.path : "";
    return m;
}

/* Returns 1 + the index of a path among the files of the record, or 0 when there is no room. */
static uint64_t file_of(const char *path)
{
    for (uint64_t i = 0; i < NODE_CRASH_FILES && strlen(path) < NODE_CRASH_PATH; i++) {
        if (!*crash->files[i])
            strcpy(crash->files[i], path);
        if (strcmp(crash->files[i], path) == 0)
            return i + 1;
    }
    return 0;
}

/* Adds what the line tells of the frames. */
static void apply_line(const char *line, uint32_t first, uint32_t count)
{
    struct mapping m = parse_line(line);
    for (uint32_t i = first; i < count && *m.path == '/'; i++) {
        struct node_crash_frame *frame = &crash->frames[i];
        if (frame->address < m.start || frame->address >= m.end)
            continue;
        frame->offset = frame->address - m.start + m.offset;
        frame->file = file_of(m.path);
    }
}

/* Finds the files of the frames from number `first` on, reading the maps once. */
static void place_frames(uint32_t first, uint32_t count)
{
    static char text[LINE_BYTES + 1];
    size_t used = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, text + used, LINE_BYTES - used)) > 0) {
        char *line = text, *end;
        used += (size_t)got;
        text[used] = 0;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            apply_line(line, first, count);
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
    }
    if (fd >= 0)
        close(fd);
}

/* ---- the report ---- */

/* Returns the address of the instruction; 0: not known on this processor. */
static uint64_t counter_of(const ucontext_t *context)
{
#if defined __x86_64__
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Returns where the program has jumped from, when it has jumped into nothing; 0: not known. It reads the stack, which is not there
 * when it is full. */
static uint64_t caller_of(const ucontext_t *context)
{
#if defined __x86_64__
    uint64_t stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    return stack % sizeof stack ? 0 : *(uint64_t *)stack;
#elif defined __aarch64__
    return context->uc_mcontext.regs[30];
#else
    (void)context;
    return 0;
#endif
}

/* Runs in the child. Adds the callers of the place of the crash. */
static void add_callers(const ucontext_t *context)
{
    void *found[NODE_CRASH_FRAMES + 8];
    const uint64_t counter = counter_of(context);
    int depth = backtrace(found, NODE_CRASH_FRAMES + 8), at = 0;
    uint32_t count = 1;
    while (at < depth && (uint64_t)found[at] != counter)
        at++;
    for (at++; at < depth && count < NODE_CRASH_FRAMES; at++)
        crash->frames[count++].address = (uint64_t)found[at];
    if (count == 1 && !crash->frames[0].file) /* a jump into nothing */
        crash->frames[count++].address = caller_of(context);
    place_frames(1, count);
    atomic_store_release(&crash->depth, count); /* acquire: launch/report.c */
}

static void let_child_add_callers(const ucontext_t *context)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        sigset_t none;
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigemptyset(&none);
        sigaction(SIGALRM, &standard, NULL);
        sigaction(SIGSEGV, &standard, NULL);
        sigaction(SIGBUS, &standard, NULL);
        alarm(CHILD_SECONDS);
        sigprocmask(SIG_SETMASK, &none, NULL);
        add_callers(context);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

/* Once the process is dead, its launcher may end all at once. */
static void wait_until_told(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    atomic_store_release(&rte.node->watch_crashed, 1); /* acquire: the watcher */
    for (int turn = 0; turn < TELL_TURNS && atomic_load_relaxed(&rte.node->watcher); turn++) {
        if (atomic_load_acquire(&rte.node->watch_end)) /* release: the watcher */
            return;
        nanosleep(&pause, NULL);
    }
}

static void report_crash(const siginfo_t *info, const ucontext_t *context)
{
    crash->signal = info->si_signo;
    crash->code = info->si_code;
    crash->address = (uint64_t)(uintptr_t)info->si_addr;
    crash->frames[0].address = counter_of(context);
    place_frames(0, 1);
    atomic_store_release(&crash->depth, 1);
    atomic_store_release(&crash->state, 1); /* acquire: launch/report.c */
    let_child_add_callers(context);
    wait_until_told();
}

/* A real fault happens again on return and then has its usual effect; a signal that was sent is raised again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    int kept = errno;
    if (getpid() == watched && !atomic_exchange_acqrel(&taken, 1))
        report_crash(info, context);
    sigaction(number, &standard, NULL);
    if (info->si_code <= 0)
        raise(number);
    errno = kept;
}

/* ---- taking the signals over ---- */

/* A fault because the stack is full needs another stack for its handler. */
static void give_stack(void)
{
    stack_t now, own = {.ss_size = STACK_BYTES};
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    own.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (own.ss_sp != MAP_FAILED)
        sigaltstack(&own, NULL);
}

static bool map_crash(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t at = node_crashes_at(rte.node->size) + (size_t)rte.node_index * sizeof *crash, before = at % page;
    char *base = mmap(NULL, sizeof *crash + before, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, (off_t)(at - before));
    if (base == MAP_FAILED)
        return false;
    if (crash) /* of an earlier try to start */
        munmap((char *)crash - (uintptr_t)crash % page, sizeof *crash + (uintptr_t)crash % page);
    crash = (struct node_crash *)(base + before);
    return true;
}

void rte_crash_watch(void)
{
    static const int taken_over[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
    sigfillset(&ours.sa_mask); /* another PE's end asks this one to end, too, while it reports */
    if (!map_crash())
        return;
    watched = getpid();
    give_stack();
    for (size_t i = 0; i < sizeof taken_over / sizeof *taken_over; i++)
        if (sigaction(taken_over[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(taken_over[i], &ours, NULL);
}
