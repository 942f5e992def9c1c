/* The process that the user sees, and the keeper behind it: how they start, what they pass on, and how they end.
 * Signals, the guard and the rest of the launcher are stand-ins; what forks is real (fronted.h).
 * flags: -D_GNU_SOURCE
 * skip: aarch64 */
#include "fronted.h"

#define sigwaitinfo next_signal
#define waitpid wait_for
#define kill kill_or_note
#define raise raise_or_note
#define fork fork_or_fail
#define main oshrun_main
#include "main.c"
#undef main
#undef kill
#undef fork
#undef raise
#undef waitpid
#define poll(news, count, ms) poll(news, count, (ms) == 1000 ? 50 : (ms)) /* a guard that does not end gets less time */
#include "keeper.c"
#undef poll

/* ---- signals ---- */

/* What is done on these events, the last of which is the keeper's end; and oshrun's status. */
static void attends(const struct event *all, size_t count, int status, const char *wanted, int end)
{
    scripted = true;
    memcpy(events, all, count * sizeof *all);
    nevents = count;
    next_event = 0;
    keeper_status = status;
    sigset_t set;
    guard_signals(&set);
    CHECK(attend(KEEPER, GUARD, true, &set) == end && next_event == nevents);
    happens(wanted);
    scripted = false;
}

#define ATTENDS(status, wanted, end, ...)                                                                            \
    attends((const struct event[]){__VA_ARGS__}, sizeof((const struct event[]){__VA_ARGS__}) / sizeof(struct event), \
            status, wanted, end)
#define END                         \
    {                               \
        SIGCHLD, CLD_EXITED, KEEPER \
    }

static void signals(void)
{
    ATTENDS(0, "", 0, END);
    ATTENDS(7 << 8, "", 7, END);
    ATTENDS(7 << 8, "kill keeper 18\n", 7, {SIGCHLD, CLD_STOPPED, KEEPER}, END);
    ATTENDS(7 << 8, "", 7, {SIGCHLD, CLD_STOPPED, KEEPER + 1}, {SIGCHLD, CLD_EXITED, 9}, {-1, 0, 0}, END);
    ATTENDS(7 << 8, "kill guard 15\nkill guard 18\n", 7, {SIGTERM, SI_USER, 9}, END);
    ATTENDS(7 << 8, "kill guard 1\nkill guard 18\nkill guard 3\nkill guard 18\n", 7, {SIGHUP, SI_USER, 9},
            {SIGQUIT, SI_KERNEL, 0}, END);
    ATTENDS(7 << 8, "kill guard 10\nkill guard 12\nkill guard 18\n", 7, {SIGUSR1, SI_USER, 9}, {SIGUSR2, SI_USER, 9},
            {SIGCONT, SI_USER, 9}, END);
    ATTENDS(7 << 8, "kill guard 20\nraise 19\n", 7, {SIGTSTP, SI_KERNEL, 0}, END);
    /* Only Ctrl-C of a terminal, with a job that ends of it, makes oshrun die of it. */
    ATTENDS(130 << 8, "kill guard 2\nkill guard 18\n", 130, {SIGINT, SI_USER, 9}, END);
    ATTENDS(7 << 8, "kill guard 2\nkill guard 18\n", 7, {SIGINT, SI_KERNEL, 0}, END);
    ATTENDS(130 << 8, "kill guard 15\nkill guard 18\n", 130, {SIGTERM, SI_KERNEL, 0}, END);
    ATTENDS(130 << 8, "kill guard 2\nkill guard 18\nkill guard 28\nraise 2\n", 130, {SIGINT, SI_KERNEL, 0},
            {SIGWINCH, SI_KERNEL, 0}, END);
}

static void lost_guard(void)
{
    guard_lives = *sweeps = 0;
    to_guard = dup(0);
    ATTENDS(SIGKILL, "oshrun: the job's guard process was killed by signal 9 (Killed): job ended\n", 137, END);
    CHECK(fcntl(to_guard, F_GETFD) == -1 && *sweeps == 1);
    to_guard = dup(0);
    guard_lives = 3;
    out_of_memory = "nobody's";
    ATTENDS(SIGKILL,
            "kill guard 18\noshrun: memory ran out: the kernel killed the job's guard process; nobody's: job ended\n",
            137, END);
    CHECK(fcntl(to_guard, F_GETFD) == -1 && *sweeps == 2 && guard_lives == -1);
    ATTENDS(SIGSEGV, "oshrun: the job's guard process was killed by signal 11 (Segmentation fault): job ended\n", 139,
            END);
    scripted = true;
    CHECK(guard_lost(GUARD, false, SIGSEGV) == 139 && *sweeps == 3); /* it has other children */
}

/* Dies in a process of its own, where the signal was ignored and blocked. */
static void interrupt(void)
{
    int status;
    sigset_t set;
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_IGN);
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigprocmask(SIG_BLOCK, &set, NULL);
        die_of_interrupt();
        _exit(9);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

static void fill_stack(void)
{
    volatile unsigned char block[8192];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = 255;
}

static void awake(void)
{
    sigset_t set;
    fill_stack();
    stay_awake();
    CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0);
    for (int number = 1; number < 32; number++)
        CHECK(sigismember(&set, number) == (number == SIGTTIN));
}

/* ---- the keeper ---- */

static void exits(void)
{
    _exit(7);
}

static void crashes(void)
{
    raise(SIGUSR2);
}

static void goes_on(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

/* Returns the status of a keeper of this guard. Both ends of the pipe are here, or the writing end is closed. */
static int keeper_of(void (*guard)(void), bool closed)
{
    int status, front[2];
    CHECK(pipe(front) == 0);
    const pid_t keeper = fork();
    CHECK(keeper >= 0);
    if (keeper == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        sigprocmask(SIG_BLOCK, &set, NULL);
        prctl(PR_SET_DUMPABLE, 0);
        if (closed)
            close(front[1]);
        const pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_DUMPABLE, 0);
            guard();
        }
        keeper_run(pid, front[0]);
    }
    if (closed)
        close(front[1]);
    CHECK(waitpid(keeper, &status, 0) == keeper);
    close(front[0]);
    if (!closed)
        close(front[1]);
    return status;
}

static void keepers(void)
{
    *sweeps = 0;
    CHECK(keeper_of(exits, false) == 7 << 8 && *sweeps == 0);
    CHECK(keeper_of(exits, true) == 7 << 8 && *sweeps == 0);
    CHECK((keeper_of(crashes, false) & 127) == SIGUSR2 && *sweeps == 1);
    CHECK((keeper_of(goes_on, true) & 127) == SIGKILL && *sweeps == 2);
}

/* ---- the start ---- */

static void begin(void)
{
    static char line[] = "oshrun-with-a-long-name\0-x\0program\0!";
    words = line;
    words_bytes = sizeof line - 3; /* up to the end of the last word */
    wanted_options = (struct options){.apps = apps, .napps = 2, .pes = 5, .debug = "1"};
}

/* Runs oshrun with the words "oshrun-with-a-long-name -x program"; what it says goes to a file. Returns its status. */
static int oshrun(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        close(0); /* a shell may start programs without it */
        char *argv[] = {words, words + strlen(words) + 1, words + strlen(words) + 4, NULL};
        exit(oshrun_main(3, argv));
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* What oshrun says is kept in memory that its process shares. */
static char *told;

static void keep_shared(const char *line, size_t bytes)
{
    snprintf(told + strlen(told), 2000 - strlen(told), "%.*s", (int)bytes, line);
}

static void tells(int status, int wanted, const char *line)
{
    if (status != wanted || strcmp(told, line) != 0)
        fprintf(stderr, "status %d, not %d: %s", status, wanted, told);
    CHECK(status == wanted && strcmp(told, line) == 0);
    *told = 0;
    begin();
}

static void share(void)
{
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    say_through(keep_shared);
    begin();
}

static void starts(void)
{
    int keeper_end, guard_end;
    pid_t keeper, guard;
    sigset_t none;
    share();
    close(0); /* oshrun opens it */
    open_standard_files();
    CHECK(fcntl(0, F_GETFD) >= 0 && (fcntl(0, F_GETFL) & O_ACCMODE) == O_RDONLY && read(0, &(char){0}, 1) == 0);
    close(1);
    open_standard_files();
    CHECK((fcntl(1, F_GETFL) & O_ACCMODE) == O_WRONLY && write(1, "x", 1) == 1);
    sigemptyset(&none);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    static struct options options;
    options = wanted_options;
    const struct line line = {words, words + words_bytes};
    const pid_t me = getpid();
    CHECK(start(&options, &line, &none, &keeper, &guard) && keeper > 0 && guard > 0 && keeper != guard &&
          me == getpid());
    CHECK(strcmp(words, "oshrun-with-a-long-name") == 0 && kept_arguments == 0);
    CHECK(waitpid(keeper, &keeper_end, WNOHANG) == 0);
    close(to_guard);
    CHECK(waitpid(keeper, &keeper_end, 0) == keeper && WIFEXITED(keeper_end) && WEXITSTATUS(keeper_end) == 3);
    CHECK(waitpid(guard, &guard_end, 0) == -1);
    fork_fails = 1;
    errno = 0;
    CHECK(!start(&options, &line, &none, &keeper, &guard));
    tells(0, 0, "oshrun: cannot start: Resource temporarily unavailable\n");
    fork_fails = 2; /* the keeper's */
    CHECK(!start(&options, &line, &none, &keeper, &guard));
    tells(0, 0, "oshrun: cannot start: Resource temporarily unavailable\n");
}

static void mistakes(void)
{
    share();
#define SEE_HELP " (see oshrun --help)\n"
    wanted_options.check = wanted_options.stats = true;
    tells(oshrun(), 2, "oshrun: --check and --stats cannot be used together" SEE_HELP);
    wanted_options.race = true;
    wanted_options.trace = "x";
    tells(oshrun(), 2, "oshrun: --check and --trace cannot be used together" SEE_HELP);
    wants_check = true;
    wanted_options.stats = true;
    tells(oshrun(), 2, "oshrun: --check and --stats cannot be used together" SEE_HELP);
    wants_check = false;
    wanted_options.trace = "/no/such/file";
    tells(oshrun(), 2, "oshrun: --trace /no/such/file: No such file or directory" SEE_HELP);
    program_status = 126;
    tells(oshrun(), 126, "");
    program_status = 0;
    elsewhere = true;
    tells(oshrun(), 44, "");
    wants_check = true;
    tells(oshrun(), 44, "");
    elsewhere = wants_check = false;
    fork_fails = 1;
    tells(oshrun(), 1, "oshrun: cannot start: Resource temporarily unavailable\n");
}

static void whole_run(void)
{
    share();
    guard_waits = false;
    tells(oshrun(), 3, "");
}

static void programs(void)
{
    share();
    say_through(keep_line);
    static struct options options;
    options = wanted_options;
    find_programs(&options);
    happens("program 0\nprogram 1\n");
}

static void traces(void)
{
    char name[] = "/tmp/lateral-front-XXXXXX", byte;
    share();
    const int fd = mkstemp(name);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    const int before = dup(0);
    close(before);
    check_trace(NULL);
    check_trace(name);
    CHECK(pread(fd, &byte, 1, 0) == 1 && byte == 'x' && dup(0) == before && close(before) == 0); /* as before */
    unlink(name);
    check_trace(name);
    CHECK(access(name, F_OK) != 0 && mkfifo(name, 0600) == 0);
    check_trace(name); /* a reader may come */
    unlink(name);
    wanted_options.trace = "/tmp";
    tells(oshrun(), 2, "oshrun: --trace /tmp: Is a directory" SEE_HELP);
}

int main(void)
{
    static void (*const tests[])(void) = {signals, lost_guard, interrupt, awake,    keepers,
                                          starts,  mistakes,   whole_run, programs, traces};
    sweeps = mmap(NULL, sizeof *sweeps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(sweeps != MAP_FAILED);
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
