/* oshrun, the process that the user sees and signals.
 *
 * It reads the command line, checks the programs, starts reaper and supervisor (reaper.h) and waits for them,
 * passing signals on. It never touches the job itself, so it can be killed at any time. */
#include "base/elf.h"
#include "base/meant.h"
#include "environment.h"
#include "hosts.h"
#include "memory.h"
#include "message.h"
#include "needed.h"
#include "options.h"
#include "reaper.h"
#include "rte/node.h"
#include "watch_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the programs ---- */

static int complain_of_program(const struct app *app, int dir, int why)
{
    const char *name = app->argv[0];
    bool missing = why == ENOENT || why == ENOTDIR;
    if (missing && !strchr(name, '/'))
        say("program %s not found in PATH%s%s%s", name, program_refusal(dir, name) ? "" : " (did you mean ./",
            program_refusal(dir, name) ? "" : name, program_refusal(dir, name) ? "" : "?)");
    else if (missing && app->wdir && name[0] != '/')
        say("program %s not found in %s", name, app->wdir);
    else if (missing)
        say("program %s not found", name);
    else
        say("cannot execute %s: %s", name, strerror(why));
    return missing ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/* Sets app->path. Returns 0. After one line returns the exit status: 127, 126, or 2 for a bad --wdir. */
static int program_find(struct app *app)
{
    int dir = open(app->wdir ? app->wdir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && app->wdir) {
        say("--wdir %s: %s", app->wdir, strerror(errno));
        return STATUS_USAGE;
    }
    int where = dir < 0 ? AT_FDCWD : dir; /* a current directory that cannot be opened is no fault */
    int why = program_search(where, app->argv[0], &app->path);
    int status = why ? complain_of_program(app, where, why) : 0;
    if (dir >= 0)
        close(dir);
    return status;
}

/* The first row that fits tells: an OpenSHMEM may itself stand on an MPI. */
static const struct row {
    const char *front, *library, *launcher;
} rows[] = {
    {"liboshmem.so", "Open MPI's OpenSHMEM", "Open MPI's oshrun"},
    {"libsma.so", "another OpenSHMEM", "the oshrun or srun of that library"},
    {"libshmem.so", "another OpenSHMEM", "the launcher of that library"},
    {"libmpi.so.40", "Open MPI", "Open MPI's mpirun"},
    {"libmpich.so", "MPICH", "MPICH's mpiexec.hydra"},
    {"libmpi.so.12", "MPICH or one of its kind", "its mpiexec"},
    {"libmpi_cray.so", "Cray's MPICH", "srun"},
    {"libmpi_abi.so", "an MPI", "its mpiexec"},
    {"libmpi.so", "an MPI", "its mpirun"},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct found {
    size_t row; /* ROWS: none */
    char name[128];
};

/* Returns true when the library is Lateral: then the program is in the right place. */
static bool note_library(const char *name, const char *path, void *state)
{
    struct found *found = state;
    (void)path;
    for (size_t i = 0; i < found->row; i++)
        if (strncmp(name, rows[i].front, strlen(rows[i].front)) == 0) {
            found->row = i;
            snprintf(found->name, sizeof found->name, "%s", name);
        }
    return strncmp(name, "liblateral", 10) == 0;
}

/* Returns null where the program is not known here: other hosts look for it in their own PATH. */
static const char *path_of(const struct app *app)
{
    const char *path = app->path ? app->path : strchr(app->argv[0], '/') ? app->argv[0] : NULL;
    return path && (!app->wdir || *path == '/') ? path : NULL;
}

static void look_at(const struct app *app, const char *path)
{
    struct found found = {.row = ROWS};
    bool ours;
    if (elf_needs(elf_open(path), "liblateral.so")) /* spares most programs the dynamic linker */
        return;
    if (needed_walk(path, note_library, &found, &ours) != NEEDED_DYNAMIC || ours || found.row == ROWS)
        return;
    const struct row *row = &rows[found.row];
    const bool mpi = strncmp(row->front, "libmpi", 6) == 0;
    say("%s is linked with %s (%s) and not with Lateral: each process is a job of one; start it with %s%s%s",
        app->argv[0], found.name, row->library, row->launcher,
        mpi ? ", with lateral-mpi before it for Lateral's windows" : "",
        mpi ? "" : ", or build it with Lateral's oshcc");
}

/* Prints a line for each program that is linked with another OpenSHMEM or with an MPI, and not with Lateral. */
static void foreign_warn(const struct options *options)
{
    for (size_t i = 0; options->pes > 1 && !options->quiet && i < options->napps; i++) {
        const char *path = path_of(&options->apps[i]);
        if (path)
            look_at(&options->apps[i], path);
    }
}

#define LEFTOVERS_MS 2000 /* for what it has left behind */
#define PATIENCE_MS 5000  /* for processes that do not die */

extern char **environ;

/* The bytes of the command line, which ps shows. */
struct line {
    char *start;
    const char *end;
};

/* Opens missing standard files, so that none of our pipes becomes 0, 1 or 2. */
static void open_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

/* Copies the words of the line, which reaper and supervisor overwrite. They lie in one row. */
static char **copy_words(const struct line *line, int count, char **words)
{
    const size_t room = (size_t)(line->end - line->start) + 1;
    char **copy = say_if_null(calloc((size_t)count + 1, sizeof *copy));
    char *bytes = memcpy(say_if_null(malloc(room)), line->start, room);
    for (int i = 0; i < count; i++)
        copy[i] = bytes + (words[i] - line->start);
    return copy;
}

static void find_programs(struct options *options)
{
    for (size_t i = 0; i < options->napps; i++) {
        int status = program_find(&options->apps[i]);
        if (status)
            exit(status);
    }
}

/* Renames this process, so that a kill by oshrun's name does not hit reaper and supervisor. */
static void rename_process(const struct line *line, const char *name)
{
    size_t room = (size_t)(line->end - line->start), bytes = strlen(name);
    memset(line->start, 0, room);
    memcpy(line->start, name, room < bytes ? room : bytes);
    prctl(PR_SET_NAME, name);
}

/* Reaper or supervisor was killed. The supervisor ends the job once its pipe is closed; what is left of the PEs and of what they started
 * is oshrun's children, or gone. Returns the exit status. */
static int supervisor_lost(int to_supervisor, bool childless, int signal)
{
    char whose[PATH_MAX + 128];
    close(to_supervisor);
    end_children(SUPERVISOR_MS, childless ? LEFTOVERS_MS : 0);
    if (signal == SIGKILL && memory_ran_out(whose, sizeof whose))
        say("memory ran out: the kernel killed the job's supervisor; %s: job ended", whose);
    else
        say("the job's supervisor was killed by signal %d (%s): job ended", signal, strsignal(signal));
    return STATUS_SIGNAL + signal;
}

/* When a PE reads the terminal from the background, the signal stops its whole group. That stops oshrun, which the
 * shell sees; reaper and supervisor block the signal and stay awake. */
static void stay_awake(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Runs in the reaper, which ends as the supervisor does. */
static _Noreturn void become_reaper(struct options *options, const struct line *line, int front,
                                    const sigset_t *signals, const sigset_t *mask)
{
    rename_process(line, "lateral-reaper");
    stay_awake();
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* when it has been stopped, oshrun's death wakes it */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t supervisor = fork();
    if (supervisor == 0) {
        rename_process(line, "lateral-supervisor");
        supervisor_run(options, front, mask);
    }
    if (supervisor < 0) {
        say("cannot start: %s", strerror(errno));
        _exit(STATUS_FAILED);
    }
    close(front);
    const int status = attend(supervisor, signals, false);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    end_children(0, PATIENCE_MS);
    die_of(WTERMSIG(status));
}

/* Starts reaper and supervisor, and waits for them. Returns the exit status, which passes through the reaper. */
static int run_here(struct options *options, const struct line *line, bool childless, const sigset_t *signals,
                    const sigset_t *mask)
{
    int front[2];
    const pid_t reaper = pipe2(front, O_CLOEXEC) == 0 ? fork() : -1;
    if (reaper < 0) {
        say("cannot start: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (reaper == 0) {
        close(front[1]);
        become_reaper(options, line, front[0], signals, mask);
    }
    close(front[0]);
    const int status = attend(reaper, signals, true);
    return WIFSIGNALED(status) ? supervisor_lost(front[1], childless, WTERMSIG(status)) : WEXITSTATUS(status);
}

static void check_variable(const char *entry)
{
    const char *meant = meant_variable(entry);
    if (meant)
        say("no variable is named %.*s, so it has no effect; did you mean %s?", (int)strcspn(entry, "="), entry, meant);
}

/* Prints a line for each variable of the environment and of -x whose name is near to one of Lateral's. */
static void check_spelling(const struct options *options)
{
    if (options->quiet)
        return;
    for (char **entry = environ; *entry; entry++)
        check_variable(*entry);
    for (size_t i = 0; i < options->napps; i++)
        for (size_t x = 0; x < options->apps[i].nexports; x++)
            if (strchr(options->apps[i].exports[x], '=')) /* others are in the environment already */
                check_variable(options->apps[i].exports[x]);
}

/* Exits after one line when the file of --trace (null: none) cannot be written: the PEs write it at their end. */
static void check_trace(const char *name)
{
    if (!name)
        return;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        unlink(name);
    else if (errno == EEXIST)
        fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* ENXIO: a pipe, whose reader may come */
    if (fd < 0 && errno != ENXIO)
        say_usage("--trace %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    static struct options options;
    struct hosts hosts;
    struct line line = {argv[0], argv[argc - 1] + strlen(argv[argc - 1])};
    open_standard_files();
    if (argc == 3 && strcmp(argv[1], NODE_WATCHER) == 0)
        watch_run(argv[2]);
    if (argc > 3 && strcmp(argv[1], FRONT_FOR_MPI) == 0)
        front_for_mpi(argv + 2);
    options_read(&options, argc, copy_words(&line, argc, argv));
    environment_take_wishes(&options);
    if (options.race && (options.check || options.stats || options.trace))
        say_usage("--check=race and --%s cannot be used together: run the program once with each",
                  options.check   ? "check"
                  : options.stats ? "stats"
                                  : "trace");
    check_spelling(&options);
    bool elsewhere = hosts_elsewhere(&options, &hosts);
    options_settle(&options);
    if (elsewhere) {
        foreign_warn(&options);
        delegate(&options, &hosts);
    }
    hosts_free(&hosts);
    find_programs(&options);
    foreign_warn(&options);
    check_trace(options.trace);

    sigset_t signals, before, blocked;
    signal(SIGCHLD, SIG_DFL); /* if ignored, the kernel would reap the children */
    supervisor_signals(&signals);
    blocked = signals;
    sigaddset(&blocked, SIGPIPE); /* errno tells of a failed write */
    sigaddset(&blocked, SIGXFSZ); /* and of a file beyond ulimit -f */
    sigaddset(&blocked, SIGTTOU); /* writing to the terminal from the background is allowed */
    sigprocmask(SIG_BLOCK, &blocked, &before);
    bool childless =
        waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) != 0; /* false: a script with children exec'ed oshrun */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    memory_watch("");
    return run_here(&options, &line, childless, &signals, &before);
}
