/* Small parts of src/base: patience with silent hosts, the clock, sleep on words, lines of the log, parent_pipes, masks of
 * threads, and the common ancestor of processes.
 *
 * skip: aarch64 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/poison.h"
#include "base/process.h"

#include "unit/child.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- patience ---- */

static void patience_is(int seconds, int idle, int between, int probes)
{
    const struct patience p = patience_of(seconds);
    if (p.idle != idle || p.between != between || p.probes != probes)
        fprintf(stderr, "%d s: %d + %d x %d\n", seconds, p.idle, p.probes, p.between);
    CHECK(p.idle == idle && p.between == between && p.probes == probes);
}

static void patience(void)
{
    patience_is(0, 1, 1, 1);
    patience_is(1, 1, 1, 1);
    patience_is(2, 1, 1, 1);
    patience_is(3, 1, 1, 2);
    patience_is(10, 1, 1, 9);
    patience_is(11, 1, 2, 5);
    patience_is(15, 1, 2, 7);
    patience_is(16, 1, 3, 5);
    patience_is(19, 1, 3, 6);
    patience_is(20, 2, 3, 6);
    patience_is(364, 2, 3, 120);
    patience_is(365, 2, 6, 60);
    patience_is(727, 2, 6, 120);
    patience_is(728, 2, 12, 60);
    for (int seconds = 1; seconds < 3000; seconds++) {
        const struct patience p = patience_of(seconds), after = patience_after(p);
        const int ends = p.idle + p.between * p.probes, later = after.idle + after.between * after.probes;
        CHECK(p.probes >= 1 && after.probes <= 127 && ends <= (seconds > 2 ? seconds : 2) &&
              ends > seconds - p.between);
        CHECK(later > ends && later - ends <= p.between + 2 * p.idle);
    }
}

/* ---- clock and sleep ---- */

static void clocks(void)
{
    for (int i = 0; i < 1000; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        const uint64_t now = clock_nanoseconds();
        clock_gettime(CLOCK_MONOTONIC, &after);
        CHECK(now >= (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
        CHECK(now <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
    }
}

static uint32_t word;

static void *sleeps(void *here)
{
    const struct timespec end = {.tv_sec = INT32_MAX};
    long woken;
    do
        woken = here ? futex_sleep_here(&word, 7, 999999999) : futex_sleep(&word, 7, &end);
    while (woken == ETIMEDOUT || woken == EINTR); /* a slow machine */
    return (void *)woken;
}

static void wakes(bool here)
{
    pthread_t thread;
    void *woken;
    CHECK((here ? futex_wake_here(&word, 1) : futex_wake(&word, 1)) == 0);
    CHECK(pthread_create(&thread, 0, sleeps, here ? &word : 0) == 0);
    int count;
    while ((count = here ? futex_wake_here(&word, 1) : futex_wake(&word, 1)) == 0)
        sched_yield();
    CHECK(count == 1 && pthread_join(thread, &woken) == 0 && woken == 0);
}

static void futexes(void)
{
    const struct timespec past = {.tv_nsec = 1};
    word = 7;
    CHECK(futex_sleep(&word, 8, 0) == EAGAIN && futex_sleep_here(&word, 8, 1) == EAGAIN);
    CHECK(futex_sleep(&word, 7, &past) == ETIMEDOUT && futex_sleep_here(&word, 7, 1) == ETIMEDOUT);
    wakes(false);
    wakes(true);
}

/* ---- lines of the log ---- */

/* Standard error is a pipe whose other end this process reads. */
static int log_end;

static void log_to_pipe(void)
{
    int ends[2];
    CHECK(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    log_end = ends[0];
}

/* Returns what was written since the last call. */
static const char *written(void)
{
    static char text[4096];
    const ssize_t bytes = read(log_end, text, sizeof text - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    return text;
}

static bool one_whole_line(int letters, size_t head)
{
    char many[1501];
    memset(many, 'x', sizeof many - 1);
    many[letters] = 0;
    log_line("%s", many);
    const char *line = written();
    const size_t room = 1022 - head, wanted = (size_t)letters < room ? (size_t)letters : room;
    return strspn(line + head, "x") == wanted && strcmp(line + head + wanted, "\n") == 0;
}

static void lines(void)
{
    log_to_pipe();
    log_line("%s and %d", "one", 2);
    CHECK(strcmp(written(), "lateral: one and 2\n") == 0 && log_pe() == -1);
    log_identity(0);
    log_line("the first");
    CHECK(strcmp(written(), "lateral: PE 0: the first\n") == 0);
    log_identity(12);
    log_line("a\tb\n\x7f\x1b[1m\xc3\xa4 ~");
    CHECK(strcmp(written(), "lateral: PE 12: a?b???[1m\xc3\xa4 ~\n") == 0 && log_pe() == 12);
    for (int letters = 995; letters < 1020; letters++)
        CHECK(one_whole_line(letters, strlen("lateral: PE 12: ")));
    CHECK(one_whole_line(1500, strlen("lateral: PE 12: ")) && one_whole_line(0, strlen("lateral: PE 12: ")));
    log_debug("nothing");
    CHECK(!*written());
    log_debug_enable(1);
    log_debug("PE %d", 3);
    CHECK(strcmp(written(), "lateral: PE 12: PE 3\n") == 0);
    log_debug_enable(0);
    log_debug("nothing");
    CHECK(!*written());
}

/* Lines go on after a standard error that takes nothing: the process is neither ended nor held. */
static void lines_nowhere(void)
{
    const int full = open("/dev/full", O_WRONLY);
    CHECK(full >= 0 && dup2(full, STDERR_FILENO) == STDERR_FILENO);
    log_line("nowhere");
    log_to_pipe();
    log_line("there");
    CHECK(strcmp(written(), "lateral: there\n") == 0);
}

/* The first PE speaks at once. */
static void lines_of_all(void)
{
    log_to_pipe();
    log_identity(12);
    log_alike(0, "all of %d", 4);
    CHECK(strcmp(written(), "lateral: PE 12: all of 4\n") == 0);
}

/* ---- parent_pipes ---- */

/* Ties a child to a pipe whose other end closes before or after. Returns the child's status. */
static int tied(bool before)
{
    int ends[2], ready[2], status;
    char byte;
    CHECK(pipe(ends) == 0 && pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        if (before && read(ends[0], &byte, 1) != 0) /* waits until it has closed */
            _exit(3);
        const int next = dup(0);
        close(next);
        parent_death_follow(ends[0]);
        const int again = dup(0);
        _exit(before || again != next || fcntl(ends[0], F_GETFD) != FD_CLOEXEC || write(ready[1], "r", 1) != 1
                  ? 4
                  : pause());
    }
    close(ready[1]);
    if (!before)
        CHECK(read(ready[0], &byte, 1) == 1 && waitpid(child, &status, WNOHANG) == 0);
    close(ends[0]);
    close(ends[1]);
    close(ready[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void parent_pipes(void)
{
    const int file = memfd_create("no pipe", 0);
    int status = tied(false);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = tied(true);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    parent_death_follow(-1);
    parent_death_follow(file);
    CHECK(file >= 0 && fcntl(file, F_GETFD) == 0 && close(file) == 0);
}

/* ---- threads ---- */

static void *tells_its_mask(void *mask)
{
    pthread_sigmask(SIG_SETMASK, 0, mask);
    return mask;
}

/* The thread gets faults alone; the one that starts it keeps what it gets. */
static void masks(void)
{
    sigset_t before, after, threads;
    pthread_t thread;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, 0) == 0 && thread_start(&thread, tells_its_mask, &threads) == 0);
    CHECK(pthread_join(thread, 0) == 0 && pthread_sigmask(SIG_SETMASK, 0, &after) == 0);
    for (int number = 1; number < 32; number++) {
        const bool fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
                           number == SIGTRAP || number == SIGKILL || number == SIGSTOP;
        CHECK(sigismember(&threads, number) == !fault && sigismember(&after, number) == (number == SIGUSR2));
    }
    sigemptyset(&before);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, 0) == 0);
}

/* ---- ancestors ---- */

/* Two children and a grandchild, which sleep until their pipe closes. */
static void ancestors(void)
{
    int ends[2], names[2];
    pid_t child[2], grandchild;
    CHECK(pipe(ends) == 0 && pipe(names) == 0);
    for (int i = 0; i < 2; i++)
        if ((child[i] = fork()) == 0) {
            const pid_t below = i == 1 ? fork() : 1;
            char byte;
            close(ends[1]);
            if (below == 0 && write(names[1], &(pid_t){getpid()}, sizeof(pid_t)) != sizeof(pid_t))
                _exit(1);
            _exit((int)read(ends[0], &byte, 1));
        }
    CHECK(read(names[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    CHECK(ancestor_common(child[0], child[0]) == child[0] && ancestor_common(child[0], child[1]) == getpid());
    CHECK(ancestor_common(grandchild, child[0]) == getpid() && ancestor_common(child[0], grandchild) == getpid());
    CHECK(ancestor_common(grandchild, child[1]) == child[1] && ancestor_common(child[1], grandchild) == child[1]);
    CHECK(ancestor_common(getpid(), grandchild) == getpid());
    CHECK(ancestor_common(0, getpid()) == 0 && ancestor_common(getpid(), 0) == 0 && ancestor_common(-1, -1) == 0);
    close(ends[1]);
    CHECK(waitpid(child[0], 0, 0) == child[0] && waitpid(child[1], 0, 0) == child[1]);
}

/* ---- poison ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const volatile void *forbidden, *allowed;
static size_t poisoned;

/* As a program brings them that was compiled with the address sanitizer. */
void __asan_poison_memory_region(void const volatile *at, size_t bytes);
void __asan_poison_memory_region(void const volatile *at, size_t bytes)
{
    forbidden = at;
    poisoned = bytes;
}

void __asan_unpoison_memory_region(void const volatile *at, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *at, size_t bytes)
{
    allowed = at;
    poisoned = bytes;
}

static void poison(void)
{
    char room[64];
    CHECK(poison_heard());
    poison_forbid(&room[8], 16);
    CHECK(forbidden == &room[8] && poisoned == 16 && !allowed);
    poison_allow(&room[32], 8);
    CHECK(allowed == &room[32] && poisoned == 8 && forbidden == &room[8]);
}
#else
static void poison(void) {}
#endif

int main(void)
{
    patience();
    clocks();
    futexes();
    in_a_child(lines);
    in_a_child(lines_nowhere);
    in_a_child(lines_of_all);
    parent_pipes();
    masks();
    poison();
    in_a_child(ancestors);
    return 0;
}
