/* What oshrun, its keeper and its guard ask of the kernel as they start, call by call, and what they do when it
 * refuses. All of it are stand-ins: no process starts.
 * flags: -D_GNU_SOURCE */
#include "guard.h"
#include "keeper.h"

#include <setjmp.h>
#include <stdarg.h>

#define guard_run guard_of_front
#include "fronted.h"
#include "refusing.h"
#undef guard_run

static int pipes_until_failure, forks[2], nforks, told_bytes, told_guard, heard_bytes, next_end;
static bool missing[3], has_children;

_Noreturn void guard_run(struct options *options, int front, const sigset_t *signals, pid_t oshrun)
{
    CHECK(options->napps == 2 && signals);
    note("guard %d of %d\n", front, (int)oshrun);
    longjmp(left, 1);
}

_Noreturn void keeper_run(pid_t guard, int front)
{
    note("keeper of %d %d\n", (int)guard, front);
    longjmp(left, 1);
}

static _Noreturn void leave(int status)
{
    note("leave %d\n", status);
    longjmp(left, 1);
}

static int make_pipe(int ends[2], int flags)
{
    CHECK(flags == O_CLOEXEC);
    if (pipes_until_failure-- == 0)
        return errno = EMFILE, -1;
    ends[0] = next_end++;
    ends[1] = next_end++;
    return 0;
}

static pid_t fork_off(void)
{
    const int pid = forks[nforks++];
    errno = pid < 0 ? EAGAIN : 0;
    return pid;
}

static int shut(int fd)
{
    note("close %d\n", fd);
    return 0;
}

static ssize_t hear(int fd, pid_t *guard, size_t bytes)
{
    CHECK(bytes == sizeof *guard);
    note("read %d\n", fd);
    *guard = told_guard;
    return heard_bytes;
}

static ssize_t tell(int fd, const pid_t *guard, size_t bytes)
{
    CHECK(bytes == sizeof *guard);
    note("write %d: %d\n", fd, (int)*guard);
    return told_bytes;
}

static int control(int what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    if (what == PR_SET_NAME)
        note("name %s\n", va_arg(arguments, const char *));
    else
        note("%s %d\n",
             what == PR_SET_PDEATHSIG         ? "death"
             : what == PR_SET_CHILD_SUBREAPER ? "reaper"
                                              : "?",
             va_arg(arguments, int));
    va_end(arguments);
    return 0;
}

static void note_mask(int how, const sigset_t *set)
{
    note("%s", how == SIG_BLOCK ? "block" : how == SIG_UNBLOCK ? "unblock" : "?");
    for (int number = 1; number < 32; number++)
        if (sigismember(set, number))
            note(" %d", number);
    note("\n");
}

static int mask_signals(int how, const sigset_t *set, sigset_t *before)
{
    note_mask(how, set);
    if (before)
        sigemptyset(before);
    return 0;
}

static int handle(int number, void (*how)(int))
{
    CHECK(how == SIG_DFL);
    note("default %d\n", number);
    return 0;
}

static int look_for_child(idtype_t which, id_t id, siginfo_t *info, int how)
{
    CHECK(which == P_ALL && id == 0 && !info && how == (WEXITED | WNOHANG | WNOWAIT));
    return has_children ? 0 : -1;
}

static int pass_time(void *none, int count, int ms)
{
    CHECK(!none && count == 0);
    note("%d", ms);
    return 0;
}

static int flags_of(int fd, int what)
{
    CHECK(fd >= 0 && fd <= 2 && what == F_GETFD);
    return missing[fd] ? -1 : 0;
}

static int opened[2], opens; /* what opening returns; below 0: the errno */

static int open_file(const char *path, int flags, ...)
{
    const int fd = opened[opens++ % 2];
    note("open %s %o\n", path, (unsigned)flags);
    errno = fd < 0 ? -fd : 0;
    return fd < 0 ? -1 : fd;
}

static int remove_file(const char *path)
{
    note("unlink %s\n", path);
    return 0;
}

#define _exit leave
#define close shut
#define exit leave
#define fcntl flags_of
#define fork fork_off
#define getpid() 500
#define kill kill_or_note
#define main oshrun_main
#define open open_file
#define pipe2 make_pipe
#define poll pass_time
#define prctl control
#define raise raise_or_note
#define read hear
#define say_usage refuse
#define signal(number, how) handle(number, how)
#define sigprocmask mask_signals
#define sigwaitinfo next_signal
#define unlink remove_file
#define waitid look_for_child
#define waitpid wait_for
#define write tell

#include "main.c"
#undef main
#undef _exit
#undef exit
#undef signal

static char row[40];
static const sigset_t mask;
static struct options options;

static void begin(void)
{
    scripted = true;
    memset(row, 'w', sizeof row);
    wanted_options = options = (struct options){.apps = apps, .napps = 2, .pes = 5, .debug = "1"};
    pipes_until_failure = 9;
    nforks = opens = 0;
    next_end = 10;
    told_bytes = heard_bytes = sizeof(pid_t);
    told_guard = GUARD;
    forks[0] = KEEPER;
    forks[1] = GUARD;
    kept_arguments = 0;
}

/* ---- the keeper ---- */

/* The row of words is this name, then zeros. */
static void is_named(const char *name)
{
    char wanted[30] = "";
    memcpy(wanted, name, strlen(name));
    CHECK(memcmp(row, wanted, sizeof wanted) == 0 && row[sizeof wanted] == 'w' && kept_arguments == 1);
}

static void keeps(int guard, const char *wanted, const char *name)
{
    const struct line line = {row, row + 30};
    static const int front[] = {10, 11}, told[] = {12, 13};
    forks[0] = guard;
    if (setjmp(left) == 0)
        keep(&options, &line, front, told, &mask, 500);
    happens(wanted);
    is_named(name);
}

#define KEEPER_BEGINS "close 11\nclose 12\nname lateral-keeper\nblock 21\ndeath 18\nreaper 1\n"

static void keeping(void)
{
    begin();
    keeps(GUARD, KEEPER_BEGINS "write 13: 502\nclose 13\nkeeper of 502 10\n", "lateral-keeper");
    begin();
    keeps(0, KEEPER_BEGINS "close 13\nname lateral-guard\nguard 10 of 500\n", "lateral-guard");
    begin();
    keeps(-1, KEEPER_BEGINS "write 13: -1\nclose 13\nleave 1\n", "lateral-keeper");
    begin();
    told_bytes = -1; /* oshrun is gone */
    keeps(GUARD, KEEPER_BEGINS "write 13: 502\nclose 13\nleave 1\n", "lateral-keeper");
}

static void short_rows(void)
{
    const struct line line = {row, row + 4};
    begin();
    rename_process(&line, "lateral");
    CHECK(memcmp(row, "latew", 5) == 0);
    begin();
    rename_process(&(struct line){row, row + 7}, "lateral");
    CHECK(memcmp(row, "lateralw", 8) == 0);
    begin();
    rename_process(&(struct line){row, row + 8}, "lateral");
    CHECK(memcmp(row, "lateral\0w", 9) == 0);
}

/* ---- oshrun ---- */

static void starts(bool good, const char *wanted)
{
    const struct line line = {row, row + 30};
    pid_t keeper = 0, guard = 0;
    to_guard = -1;
    CHECK(start(&options, &line, &mask, &keeper, &guard) == good);
    happens(wanted);
    CHECK(!good || (keeper == KEEPER && guard == GUARD && to_guard == 11));
    CHECK(*row == 'w');
    begin();
}

static void starting(void)
{
    begin();
    starts(true, "close 10\nclose 13\nread 12\nclose 12\n");
    told_guard = -1;
    starts(false, "close 10\nclose 13\nread 12\noshrun: cannot start: Resource temporarily unavailable\n");
    heard_bytes = 0;
    starts(false, "close 10\nclose 13\nread 12\noshrun: cannot start: Resource temporarily unavailable\n");
    forks[0] = -1;
    starts(false, "oshrun: cannot start: Resource temporarily unavailable\n");
    for (int pipes = 0; pipes < 2; pipes++) {
        pipes_until_failure = pipes;
        starts(false, "oshrun: cannot start: Too many open files\n");
    }
    forks[0] = 0;
    forks[1] = GUARD;
    if (setjmp(left) == 0)
        starts(true, "");
    happens(KEEPER_BEGINS "write 13: 502\nclose 13\nkeeper of 502 10\n");
}

#define FIRST "spelling\ninput\ndebug\nprogram 0\nprogram 1\n"
#define SIGNALS "default 17\nblock 10 13 17 22 25\nreaper 1\nmemory\n"

/* The whole of oshrun, whose keeper ends like this. */
static void runs(int status, int end, const char *wanted)
{
    static char line[] = "oshrun\0-x\0program";
    char *argv[] = {line, line + 7, line + 10, NULL};
    words = line;
    events[0] = (struct event){SIGCHLD, CLD_EXITED, KEEPER};
    nevents = 1;
    next_event = 0;
    keeper_status = status;
    CHECK(oshrun_main(3, argv) == end);
    happens(wanted);
    begin();
}

static void running(void)
{
    begin();
    runs(7 << 8, 7, FIRST SIGNALS "close 10\nclose 13\nread 12\nclose 12\n");
    forks[0] = -1;
    runs(0, 1, FIRST SIGNALS "oshrun: cannot start: Resource temporarily unavailable\n");
    guard_lives = *sweeps = 0;
#define KILLED "close 11\noshrun: the job's guard process was killed by signal 9 (Killed): job ended\n"
    runs(SIGKILL, 137, FIRST SIGNALS "close 10\nclose 13\nread 12\nclose 12\n" KILLED);
    CHECK(*sweeps == 1);
    has_children = true; /* of the script that became oshrun */
    runs(SIGKILL, 137, FIRST SIGNALS "close 10\nclose 13\nread 12\nclose 12\n" KILLED);
    CHECK(*sweeps == 1);
    missing[0] = missing[1] = missing[2] = true;
    runs(0, 0,
         "open /dev/null 0\nopen /dev/null 1\nopen /dev/null 1\n" FIRST SIGNALS
         "close 10\nclose 13\nread 12\nclose 12\n");
    missing[0] = missing[1] = false;
    runs(0, 0, "open /dev/null 1\n" FIRST SIGNALS "close 10\nclose 13\nread 12\nclose 12\n");
}

/* A guard that is asked for a second at most, every 10 ms. */
static void ending(void)
{
    char wanted[400] = "close 7\nkill guard 18\n";
    begin();
    to_guard = 7;
    guard_lives = 3;
    end_guard(GUARD);
    happens("close 7\nkill guard 18\n1010");
    guard_lives = 1000;
    end_guard(GUARD);
    for (int i = 0; i < 100; i++)
        strcat(wanted, "10");
    happens(wanted);
    CHECK(guard_lives == 1000 - 101);
}

static void interrupting(void)
{
    volatile unsigned char block[4096];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = 255;
    begin();
    die_of_interrupt();
    happens("default 2\nraise 2\nunblock 2\n");
}

/* The file of --trace; opening it gives these, and below 0 an errno. */
static void traces(int first, int second, const char *wanted)
{
    opened[0] = first;
    opened[1] = second;
    opens = 0;
    if (setjmp(left) == 0)
        check_trace("t");
    happens(wanted);
}

static void tracing(void)
{
    char made[80], there[160];
    snprintf(made, sizeof made, "open t %o\n", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
    snprintf(there, sizeof there, "%sopen t %o\n", made, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    char wanted[300];
#define TRACES(first, second, begins, ends) \
    snprintf(wanted, sizeof wanted, "%s%s", begins, ends), traces(first, second, wanted)
    begin();
    check_trace(NULL);
    happens("");
    TRACES(5, 6, made, "unlink t\nclose 5\n");
    TRACES(0, 6, made, "unlink t\nclose 0\n"); /* any number is good */
    TRACES(-EEXIST, 6, there, "close 6\n");
    TRACES(-EEXIST, 0, there, "close 0\n");
    TRACES(-EEXIST, -ENXIO, there, ""); /* a pipe, whose reader may come */
    TRACES(-EEXIST, -EACCES, there, "--trace t: Permission denied\n");
    TRACES(-EACCES, 6, made, "--trace t: Permission denied\n");
    TRACES(-ENOENT, 6, made, "--trace t: No such file or directory\n");
}

int main(void)
{
    static void (*const tests[])(void) = {keeping, short_rows, starting, running, ending, interrupting, tracing};
    static int shared;
    sweeps = &shared;
    (void)fork_or_fail;
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
