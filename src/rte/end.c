/* How this PE and its job end: a PE claims the end, tells the launcher, and ends the node itself when the launcher does
 * not. */
#include "base/log.h"
#include "base/process.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* ---- which processes are of this node ---- */

/* Is a process one of this node? Words of shared memory say which processes are, and any PE can write them. So before
 * this process kills another one, it looks whether the kernel shows the node's memory among what that one has mapped.
 *
 * Without /proc the words are all there is.
 *
 * Any thread, also in a signal handler: it uses system calls only. */

#define NEEDLE 64

static char *put_number(char *at, uint64_t number, unsigned base, int least)
{
    char digits[24];
    int count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number || count < least);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* Puts " major:minor inode " of the node's memory into text, as a line of /proc/PID/maps has it. Returns the bytes, or
 * 0. */
static size_t name_memory(char text[NEEDLE])
{
    struct stat file;
    char *at = text;
    if (fstat(rte.fd, &file) != 0)
        return 0;
    *at++ = ' ';
    at = put_number(at, major(file.st_dev), 16, 2);
    *at++ = ':';
    at = put_number(at, minor(file.st_dev), 16, 2);
    *at++ = ' ';
    at = put_number(at, file.st_ino, 10, 1);
    *at++ = ' ';
    return (size_t)(at - text);
}

/* Returns -1 when there is no such process, or no /proc. */
static int open_maps(int pid)
{
    char path[40] = "/proc/";
    char *end = put_number(path + 6, (uint64_t)pid, 10, 1);
    memcpy(end, "/maps", sizeof "/maps");
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns true when the file holds the word, which is shorter than NEEDLE. */
static bool holds_word(int fd, const char *word, size_t bytes)
{
    char text[NEEDLE + 4096];
    size_t kept = 0;
    ssize_t got;
    while ((got = read(fd, text + kept, 4096)) > 0) {
        size_t filled = kept + (size_t)got;
        if (memmem(text, filled, word, bytes))
            return true;
        kept = filled < bytes ? filled : bytes;
        memmove(text, text + filled - kept, kept);
    }
    return false;
}

bool rte_shares_memory(int pid)
{
    char word[NEEDLE];
    size_t bytes = name_memory(word);
    if (pid <= 1 || bytes == 0)
        return false;
    int fd = open_maps(pid);
    if (fd < 0)
        return access("/proc/self/maps", F_OK) != 0;
    bool found = holds_word(fd, word, bytes);
    close(fd);
    return found;
}

#define SECONDS_TO_SEE 6  /* time for a launcher to notice by itself that a host is lost */
#define SECONDS_TO_END 12 /* time for it to end a PE that has asked for the end, or knows that another has */

#define NANOSECONDS_TO_FAIL 500000000 /* time for a wait of the thread that exits with an error */
#define SECONDS_TO_EXIT 1             /* time for the handlers of shmem_global_exit */

void (*rte_on_end)(void);
void (*rte_on_leave)(void);
static int exit_status;      /* the status that the program passes to exit */
static uint32_t main_ended;  /* the main thread has called pthread_exit */
static uint32_t exit_thread; /* the kernel's number of the thread that is in exit; 0: none. Release by note_exit */

/* When the main thread has ended by pthread_exit, no exit may ever come: a launcher's library has a thread of its own. */
void rte_finalize(void)
{
    atomic_store_release(&rte.me->state, NODE_FINALISED); /* acquire: launcher */
    if (atomic_load_acquire(&main_ended))                 /* release: note_main_end */
        (void)rte_leave();
}

bool rte_claim_end(enum node_ending how, int status)
{
    uint32_t none = NODE_GOES_ON;
    if (!rte.node || !rte_is_pe() || !atomic_cas_acqrel(&rte.node->ending, &none, NODE_ENDING_CLAIMED))
        return false;
    rte.node->end_status = status;
    rte.node->end_pe = rte.pe;
    atomic_store_release(&rte.node->ending, how); /* acquire: launcher */
    if (rte_on_end)
        rte_on_end();
    return true;
}

bool rte_ending(void)
{
    return rte.node && atomic_load_acquire(&rte.node->ending) != NODE_GOES_ON; /* acqrel: rte_claim_end */
}

_Noreturn void rte_end_node(void)
{
    if (!rte.node)
        _exit(LAT_EXIT);
    for (int i = 0; i < rte.node_size; i++) {
        const struct node_pe *pe = &rte.node->pe[i];
        int pid = atomic_load_relaxed(&pe->pid); /* read once: any PE may write it */
        if (i != rte.node_index && atomic_load_acquire(&pe->state) == NODE_RUNNING && rte_shares_memory(pid))
            kill(pid, SIGKILL);
    }
    _exit(rte.node->end_status ? rte.node->end_status : LAT_EXIT);
}

_Noreturn void rte_launcher_lost(void)
{
    if (!rte_ending())
        log_line("the launcher is gone: the PEs of this host end");
    rte_end_node();
}

void rte_launcher_check(void)
{
    struct pollfd launcher = {.fd = rte_launcher_descriptor(), .events = POLLRDHUP};
    if (launcher.fd >= 0 && poll(&launcher, 1, 0) > 0)
        rte_launcher_lost();
}

static void end_late(int unused)
{
    (void)unused;
    rte_end_node();
}

/* Ends the node, or this process while it has none, when the launcher has not done so in time. May run on any thread; one of the library's own may have
 * blocked all signals. */
static void limit_end(void)
{
    struct sigaction last = {.sa_handler = end_late};
    sigset_t alarms;
    if (!rte_backend)
        return; /* our launcher's guard is this process's parent */
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaction(SIGALRM, &last, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    alarm(SECONDS_TO_END);
}

/* A launcher other than ours does not read the node's memory, so this PE must tell it how the job ends. */
_Noreturn void rte_abort(int status)
{
    if (rte.node && !rte_is_pe())
        _exit(status); /* a child that the PE has made */
    rte_claim_end(NODE_ABORTED, status);
    limit_end();
    if (rte_backend && rte_is_pe() && rte_backend->abort(status) != 0)
        rte_end_node();
    _exit(status);
}

/* Open MPI's mpirun passes an abort on to the lost host and waits for its answer for ever, unless it has noticed the
 * loss before. So this waits first. */
_Noreturn void rte_abandon(int status)
{
    rte_claim_end(NODE_ABORTED, status);
    limit_end();
    if (!rte_backend)
        _exit(status);
    nanosleep(&(struct timespec){.tv_sec = SECONDS_TO_SEE}, 0);
    if (rte_backend->abort(status) != 0)
        rte_end_node();
    for (;;)
        pause();
}

void rte_expect_end(void)
{
    rte_claim_end(NODE_ABORTED, LAT_EXIT);
    limit_end();
}

_Noreturn void rte_await_end(void)
{
    limit_end();
    for (;;)
        pause();
}

static void note_exit(int status, void *unused)
{
    (void)unused;
    exit_status = status;
    atomic_store_release(&exit_thread, (uint32_t)syscall(SYS_gettid)); /* acquire: rte_in_exit, rte_look_for_exit */
}

static void note_exit_first(void *unused)
{
    on_exit(note_exit, unused);
}

/* Runs at pthread_exit, and not at exit. */
static void note_main_end(void *unused)
{
    (void)unused;
    atomic_store_release(&main_ended, 1); /* acquire: rte_finalize */
    if (rte.me && atomic_load_relaxed(&rte.me->state) == NODE_FINALISED)
        (void)rte_leave();
}

static void watch_main(void)
{
    static pthread_key_t key;
    if (getpid() == (pid_t)syscall(SYS_gettid) && pthread_key_create(&key, note_main_end) == 0)
        (void)pthread_setspecific(key, &key); /* without it the process may live longer than its threads */
}

extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

/* exit calls the destructors of its thread's variables before all handlers. So a handler that such a destructor registers is the
 * first one, and the status is known to handlers that the program registers later than this. Where another thread calls exit,
 * those run before the handler that is registered here. */
void rte_note_exit(void)
{
    static bool noted;
    if (noted)
        return;
    noted = true;
    on_exit(note_exit, 0);
    __cxa_thread_atexit_impl(note_exit_first, 0, &__dso_handle);
    watch_main();
}

bool rte_in_exit(void)
{
    return atomic_load_acquire(&exit_thread) != 0; /* release: note_exit */
}

int rte_exit_status(void)
{
    return exit_status;
}

/* Other launchers must be told here, since the C library skips the rest of the destructors if this is called in one. */
_Noreturn void rte_go_on_exiting(int status)
{
    if (rte_backend)
        (void)rte_leave();
    exit(status);
}

/* Another thread may hold the lock of stdout for ever. */
_Noreturn void rte_end_exit(void)
{
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    (void)rte_leave();
    _exit(exit_status);
}

void rte_look_for_exit(uint64_t waited)
{
    if (waited > NANOSECONDS_TO_FAIL && exit_status != 0 &&
        atomic_load_acquire(&exit_thread) == (uint32_t)syscall(SYS_gettid)) /* release: note_exit */
        rte_end_exit();
}

static void *end_in_time(void *status)
{
    nanosleep(&(struct timespec){.tv_sec = SECONDS_TO_EXIT}, 0);
    if (rte_leave())
        _exit((int)(intptr_t)status);
    return 0;
}

void rte_limit_exit(int status)
{
    pthread_t thread;
    if (thread_start(&thread, end_in_time, (void *)(intptr_t)status) ==
        0) /* otherwise handlers may take as long as they like */
        pthread_detach(thread);
}

/* True when this node has called shmem_global_exit. A PE that claims the end writes the status in some nanoseconds. */
static bool ends_job(void)
{
    for (int look = 0; rte.node && look < 1000; look++) {
        const uint32_t ending = atomic_load_acquire(&rte.node->ending); /* release: rte_claim_end */
        if (ending != NODE_ENDING_CLAIMED)
            return ending == NODE_GLOBAL_EXIT;
        sched_yield();
    }
    return false;
}

/* When a PE leaves without finalizing, its peers still wait for it, so the job must end. */
static void leave_early(void)
{
    bool asked = ends_job();
    int status = asked ? rte.node->end_status : exit_status ? exit_status : LAT_EXIT;
    if (!asked)
        log_line("left with exit status %d before shmem_finalize or uccs_finalize: the job ends", exit_status);
    if (!asked)
        rte_claim_end(NODE_ABORTED, status);
    limit_end();
    fflush(0);
    if (rte_backend->abort(status) != 0)
        rte_end_node();
}

bool rte_leave(void)
{
    static uint32_t left;
    if (!rte_is_pe() || atomic_exchange_acqrel(&left, 1))
        return false;
    if (rte_on_leave)
        rte_on_leave();
    if (!rte_backend || (rte_backend->ending && rte_backend->ending()))
        return true;
    if (!ends_job() && rte.me && atomic_load_relaxed(&rte.me->state) == NODE_FINALISED)
        rte_backend->finish();
    else
        leave_early();
    return true;
}

/* For backends without a module. A module's destructor runs before those of its libraries; this one may run later. */
__attribute__((destructor)) static void leave_at_last(void)
{
    (void)rte_leave();
}
