/* What the launcher does with processes, on real ones: starts PEs, looks where one is, and kills those that are
 * left. The clock is a stand-in.
 * flags: -D_GNU_SOURCE
 * skip: aarch64 */
#include "apart.h"
#include "debug.h"
#include "loop.h"
#include "place.h"
#include "spawn.h"
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define NT_PRSTATUS 1 /* the folder of the launcher has an elf.h of its own */

static int64_t clock_now = INT64_C(1) << 33;

int64_t loop_now(void)
{
    return clock_now;
}

/* ---- processes that are left ---- */

static bool no_proc, other_proc;
static int waits, killed, kills;

static DIR *open_folder(const char *path)
{
    return no_proc ? NULL : opendir(path);
}

static ssize_t read_link(const char *path, char *text, size_t bytes)
{
    if (!other_proc || strcmp(path, "/proc/self") != 0)
        return readlink(path, text, bytes);
    memcpy(text, "77777777", 8); /* of another numbering */
    return 8;
}

/* Kills nobody but children of this process. */
static int kill_one(pid_t pid, int signal)
{
    siginfo_t info;
    CHECK(signal == SIGKILL && pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    killed = pid;
    kills++;
    return kill(pid, signal);
}

static int wait_for_deaths(const sigset_t *set, const struct timespec *limit)
{
    for (int number = 1; number < SIGRTMAX; number++)
        CHECK(sigismember(set, number) == (number == SIGCHLD));
    CHECK(limit->tv_sec == 0 && limit->tv_nsec == 100000000);
    waits++;
    return sigtimedwait(set, NULL, limit);
}

#define opendir open_folder
#define readlink read_link
#define kill kill_one
#define sigtimedwait(set, info, limit) wait_for_deaths(set, limit)
#include "sweep.c"
#undef kill
#undef readlink
#undef opendir
#undef PIDS

static void nothing(void) {}

static void stops(void)
{
    raise(SIGSTOP);
}

static void ignores(void)
{
    signal(SIGTERM, SIG_IGN);
}

static void ends_at_once(void)
{
    _exit(3);
}

/* Leaves two processes behind. */
static void leaves(void)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            for (;;)
                pause();
    _exit(0);
}

static void fill_stack(void)
{
    volatile unsigned char block[8192];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = 255;
}

static void begin_sweeps(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    waits = kills = 0;
}

static void one_by_one(void)
{
    begin_sweeps();
    const pid_t pid = child_that(nothing);
    CHECK(!kill_child(0) && !kill_child(-1) && !kill_child(getpid()) && !kill_child(getppid()) && kills == 0);
    CHECK(!kill_numbers(pid - 1, pid) && !kill_numbers(pid + 1, pid + 2) && kills == 0);
    CHECK(kill_numbers(pid, pid + 1) && killed == pid && kills == 1);
    CHECK(waitpid(pid, NULL, 0) == pid && !kill_child(pid));
    CHECK(newest() > pid && waitpid(-1, NULL, 0) > pid && waitpid(-1, NULL, 0) == -1);
    CHECK(proc_is_ours());
    other_proc = true;
    CHECK(!proc_is_ours());
}

static void kills_all(void)
{
    for (int i = 0; i < 3; i++) {
        child_that(nothing);
        child_that(stops);
        child_that(ignores);
        child_that(ends_at_once);
        child_that(leaves);
    }
    fill_stack();
    sweep_descendants(2000);
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD && waits > 0 && kills >= 9);
}

static void sweeps(void)
{
    begin_sweeps();
    sweep_descendants(2000); /* there is nobody */
    CHECK(waits == 0 && kills == 0);
    kills_all();
    no_proc = true;
    kills_all();
    no_proc = false;
    other_proc = true;
    kills_all();
    const pid_t pid = child_that(nothing);
    sweep_descendants(0); /* the time is over */
    CHECK(kill(pid, 0) == 0);
    kill(pid, SIGKILL);
}

/* ---- PEs ---- */

void debug_arm(void) {}

#include "spawn.c"

static char folder[] = "/tmp/lateral-processes-XXXXXX";

/* A script without an interpreter line tells how it was started. */
static void put_script(char *path, size_t room)
{
    snprintf(path, room, "%s/script", folder);
    FILE *file = fopen(path, "w");
    CHECK(file &&
          fputs("read line\necho \"$#|$1|$2|$V|$line|$(ulimit -n)\"\npwd\necho to standard error >&2\n"
                "while read -r name value rest; do\ncase $name in\nSigBlk:|Cpus_allowed_list:) echo $value;;\nesac\n"
                "done </proc/self/status\nread -r score </proc/self/oom_score_adj\necho $score\n"
                "echo segment >&8\necho tether >&9\nexit 5\n",
                file) >= 0);
    CHECK(fclose(file) == 0 && chmod(path, 0700) == 0);
}

static void reads(int fd, const char *wanted)
{
    char text[1000] = "";
    size_t used = 0;
    for (ssize_t got; (got = read(fd, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, text);
    CHECK(strcmp(text, wanted) == 0);
}

static void starts(void)
{
    int in[2], out[2], err[2], status;
    char path[100], wanted[600], *argv[] = {(char *)"name", (char *)"a b", (char *)"c", NULL},
                                 *envp[] = {(char *)"V=v", NULL};
    struct rlimit files = {55, 60};
    struct cpus cpus = {0};
    sigset_t mask;
    put_script(path, sizeof path);
    const int segment = memfd_create("segment", MFD_CLOEXEC), tether = memfd_create("tether", MFD_CLOEXEC);
    CHECK(dup3(segment, 8, O_CLOEXEC) == 8 && dup3(tether, 9, O_CLOEXEC) == 9);
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    CHECK(sched_getaffinity(0, sizeof cpus, cpus.set) == 0);
    int cpu = 0;
    while (!CPU_ISSET_S((size_t)cpu, sizeof cpus, cpus.set))
        cpu++;
    memset(&cpus, 0, sizeof cpus);
    CPU_SET_S((size_t)cpu, sizeof cpus, cpus.set);
    struct spawn how = {.path = path,
                        .wdir = folder,
                        .argv = argv,
                        .envp = envp,
                        .in = in[0],
                        .out = out[1],
                        .err = err[1],
                        .segment = 8,
                        .tether = 9,
                        .cpus = &cpus,
                        .signals = &mask,
                        .files = &files,
                        .score = "777"};
    const pid_t pid = spawn(&how);
    CHECK(pid > 0 && write(in[1], "hello\n", 6) == 6);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    close(out[1]);
    close(err[1]);
    snprintf(wanted, sizeof wanted, "2|a b|c|v|hello|55\n%s\n0000000000000200\n%d\n777\n", folder, cpu);
    reads(out[0], wanted);
    reads(err[0], "to standard error\n");
    CHECK(lseek(segment, 0, SEEK_END) == 8 && lseek(tether, 0, SEEK_END) == 7);
    CHECK(fcntl(8, F_GETFD) == FD_CLOEXEC); /* as before in this process */
}

static void fails(struct spawn how, int why)
{
    errno = 0;
    CHECK(spawn(&how) == -1 && errno == why && waitpid(-1, NULL, 0) > 0);
}

static void starts_not(void)
{
    char path[100], *argv[] = {(char *)"name", NULL}, *envp[] = {NULL};
    struct rlimit files, bad = {70, 60};
    struct cpus none = {0};
    sigset_t mask;
    put_script(path, sizeof path);
    sigemptyset(&mask);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    struct spawn how = {.path = "/no/such",
                        .argv = argv,
                        .envp = envp,
                        .in = 0,
                        .out = 1,
                        .err = 2,
                        .segment = 0,
                        .tether = -1,
                        .signals = &mask,
                        .files = &files,
                        .score = "0"};
    fails(how, ENOENT);
    how.path = folder;
    fails(how, EACCES);
    how.path = "/bin/sh";
    how.wdir = "/no/such";
    fails(how, ENOENT);
    how.wdir = NULL;
    how.in = 999;
    fails(how, EBADF);
    how.in = 0;
    how.err = 999;
    fails(how, EBADF);
    how.err = 2;
    how.segment = 999;
    fails(how, EBADF);
    how.segment = 0;
    how.tether = 999;
    fails(how, EBADF);
    how.tether = -1;
    how.cpus = &none;
    fails(how, EINVAL);
    how.cpus = NULL;
    how.files = &bad;
    fails(how, EINVAL);
}

/* ---- where one is ---- */

static int maps_held;

void maps_read(struct maps *maps, pid_t pid)
{
    *maps = (struct maps){.shift = (uint64_t)pid};
    maps_held++;
}

void maps_free(struct maps *maps)
{
    maps_held -= maps->shift != 0;
}

struct code_place code_place_of(const struct maps *maps, uint64_t address)
{
    CHECK(maps->shift != 0);
    return (struct code_place){NULL, address};
}

void place_line(struct code_place place, char *text, size_t room)
{
    snprintf(text, room, "%llu", (unsigned long long)place.address);
}

#include "halt.c"

static volatile int *turns; /* of a process that goes round and round; shared */

static __attribute__((noinline)) void spins(void)
{
    for (;;)
        ++*turns;
}

static void halts(void)
{
    char text[40] = "untouched";
    turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(turns != MAP_FAILED);
    const pid_t pid = child_that(spins), gone = child_that(ends_at_once);
    while (!*turns)
        sched_yield();
    for (int i = 0; i < 3; i++) {
        halt_where(pid, text, sizeof text);
        const uint64_t at = strtoull(text, NULL, 10) - (uint64_t)(uintptr_t)spins;
        CHECK(at > 0 && at < 512 && maps_held == 0); /* of the next instruction, and one more */
    }
    siginfo_t info;
    CHECK(kill(pid, 0) == 0 && waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT) == 0);
    CHECK(!await_halt(gone)); /* it never will */
    halt_where(gone, text, sizeof text);
    CHECK(!*text && waitpid(gone, NULL, WNOHANG) == gone);
    strcpy(text, "untouched");
    halt_where(gone, text, sizeof text); /* reaped */
    CHECK(!*text);
    CHECK(!await_halt(gone) && kill(pid, SIGKILL) == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {one_by_one, sweeps, starts, starts_not, halts};
    char command[80];
    CHECK(mkdtemp(folder));
    run_apart(tests, sizeof tests / sizeof *tests);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return 0;
}
