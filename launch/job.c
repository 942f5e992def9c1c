#include "job.h"

#include "cores.h"
#include "environment.h"
#include "loop.h"
#include "memory.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- starting a PE ---- */

extern char **environ;

/* Runs a command of tmux without a shell. Returns true when it has succeeded. */
static bool run_tmux(char *const *words)
{
    pid_t pid;
    int status;
    return posix_spawnp(&pid, "tmux", NULL, NULL, words, environ) == 0 && waitpid(pid, &status, 0) == pid &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In a session of tmux the panes open beside oshrun's own; else nothing is to be split. */
static bool open_pane(const char *command)
{
    char *const split[] = {"tmux", "split-window", "-d", (char *)command, NULL};
    char *const tile[] = {"tmux", "select-layout", "tiled", NULL};
    const char *session = getenv("TMUX");
    if (!session || !*session || !isatty(STDERR_FILENO) || !run_tmux(split))
        return false;
    run_tmux(tile);
    return true;
}

/* Once attached, gdb ends the stop that has held the PE until then, and does not report its signals. */
static void debug_offer(uint32_t pe, pid_t pid)
{
    char command[160];
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGSTOP);
    snprintf(command, sizeof command,
             "gdb -p %d -ex 'handle SIGSTOP SIGCONT nostop noprint nopass' -ex 'shell kill -CONT %d'", (int)pid,
             (int)pid);
    if (open_pane(command))
        say("PE %u waits for its debugger in a pane of tmux: %s", pe, command);
    else
        say("PE %u waits for a debugger; type in another terminal: %s", pe, command);
}

/* Lets the kernel take this process before the launcher's when memory runs out. Where it may not be said, nothing is
 * lost. */
static void go_first(const char *score)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, score, strlen(score));
    close(fd);
}

/* Runs in the child, which borrows the parent's memory until exec; so it uses system calls only. Returns only on
 * failure. */
static void become_pe(const struct job *job, uint32_t pe, const int files[3], const struct cpus *cpus,
                      char **environment, pid_t parent)
{
    const struct app *app = job_app(job, pe);
    const struct segment *segment = &job->segment;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        return;
    for (int i = 0; i < 3; i++)
        if ((files[i] == i ? fcntl(i, F_SETFD, 0) : dup2(files[i], i)) < 0) /* open across exec */
            return;
    if (segment->parent_pipe >= 0 && fcntl(segment->parent_pipe, F_SETFD, 0) < 0)
        return;
    if (fcntl(segment->fd, F_SETFD, 0) < 0 || (app->wdir && chdir(app->wdir) != 0))
        return;
    if (job->options->bind_cores && sched_setaffinity(0, sizeof *cpus, cpus->set) != 0)
        return;
    if (setrlimit(RLIMIT_NOFILE, &job->files) != 0)
        return;
    go_first(job->score);
    sigprocmask(SIG_SETMASK, job->signals, NULL);
    if (set_has(&job->options->debugged, pe)) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* the kernel may let only a process's own parents trace it */
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);     /* it stops when it has executed the program */
    }
    execvpe(app->path, app->argv,
            environment); /* the path has a slash; a file without an interpreter line is a script */
}

/* Starts the process with these descriptors as 0, 1 and 2. */
static pid_t start_process(const struct job *job, uint32_t pe, const int files[3])
{
    const pid_t parent = getpid();
    char **environment = job->environments[job->view.node->pe[pe].app];
    struct cpus cpus;
    volatile int why = 0; /* the child writes it in our memory */
    environment_name_pe(environment, job->segment.fd, pe, job->segment.parent_pipe);
    if (job->options->bind_cores)
        cores_of_pe(pe, &cpus);
    const pid_t pid = vfork();
    if (pid == 0) {
        become_pe(job, pe, files, &cpus, environment, parent);
        why = errno ? errno : EPERM;
        _exit(127);
    }
    if (pid < 0 || !why)
        return pid;
    errno = why;
    return -1; /* job_reap reaps the dead child with the others */
}

/* Starts a PE of the job, which dies when the caller does. Returns its pid, or -1 with errno of the step that has failed. */
static pid_t spawn_pe(const struct job *job, uint32_t pe)
{
    int files[3] = {-1, -1, -1};
    const bool connected = output_connect(pe, &files[1], &files[2]) && (files[0] = input_connect(pe)) >= 0;
    const pid_t pid = connected ? start_process(job, pe, files) : -1;
    const int why = errno;
    for (int i = 0; i < 3; i++)
        if (files[i] > STDERR_FILENO && (i < 2 || files[2] != files[1]))
            close(files[i]);
    errno = why;
    return pid;
}

#define GRACE_MS 500        /* between SIGTERM and SIGKILL */
#define PIDS (4u << 20)     /* Linux never has more */
#define FILES_OF_OUR_OWN 16 /* 12 while PEs run, and pipes of the programs that name source lines */

static int raise_file_limit(struct job *job)
{
    rlim_t need = (rlim_t)(output_files_per_pe() + input_files_per_pe()) * job->options->pes + FILES_OF_OUR_OWN;
    job->files = files_raise_limit();
    if (job->files.rlim_max == RLIM_INFINITY || job->files.rlim_max >= need)
        return 0;
    say("%u PEs need %llu open files, the limit is %llu: raise it (ulimit -Hn) or start fewer PEs", job->options->pes,
        (unsigned long long)need, (unsigned long long)job->files.rlim_max);
    return STATUS_FAILED;
}

static int make_environments(struct job *job)
{
    const struct options *options = job->options;
    struct layer layer;
    if (!environment_choose_layer(options, &layer)) {
        environment_drop_layer(&layer);
        return STATUS_FAILED;
    }
    job->environments = say_if_null(calloc(options->napps, sizeof *job->environments));
    for (size_t i = 0; i < options->napps; i++)
        job->environments[i] = environment_make(&options->apps[i], options->pes, &layer);
    environment_drop_layer(&layer);
    return 0;
}

int job_prepare(struct job *job, const struct options *options, const sigset_t *signals)
{
    *job = (struct job){.options = options, .signals = signals, .score = memory_score()};
    int status = raise_file_limit(job);
    if (status == 0)
        status = make_environments(job);
    if (status)
        return status;
    job->pe_of = say_if_null(calloc(PIDS + 1, sizeof *job->pe_of));
    return segment_make(&job->segment, &job->view, options) == 0 ? 0 : STATUS_FAILED;
}

static void start_failed(struct job *job, uint32_t pe, int why)
{
    const char *path = job_app(job, pe)->path;
    bool missing = why == ENOENT || why == ENOTDIR;
    bool refused = why == EACCES || why == ENOEXEC || why == ELIBBAD || why == EINVAL;
    if (missing && access(path, F_OK) == 0)
        say("cannot execute %s: its interpreter is missing", path);
    else
        say("cannot start PE %u (%s): %s%s", pe, path, strerror(why),
            why == EAGAIN ? " (limit of processes, ulimit -u?)" : "");
    job_end(job, missing ? STATUS_NOT_FOUND : refused ? STATUS_NOT_EXECUTABLE : STATUS_FAILED);
}

void job_start_next(struct job *job)
{
    uint32_t pe = job->started;
    pid_t pid = spawn_pe(job, pe);
    if (pid < 0) {
        start_failed(job, pe, errno);
        return;
    }
    job->view.pids[pe] = pid;
    if ((uint32_t)pid <= PIDS)
        job->pe_of[pid] = pe + 1;
    job->started++;
    job->alive++;
}

/* A PE that ended so may have been killed by the kernel, or a wrapper script tells that its program was. */
static bool is_killed(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == STATUS_SIGNAL + SIGKILL;
}

static void describe_death(struct job *job, uint32_t pe, pid_t pid, int status, long kilobytes)
{
    const char *path = job_app(job, pe)->argv[0];
    char held[32], whose[PATH_MAX + 128];
    if (is_killed(status) && memory_ran_out(whose, sizeof whose)) {
        memory_write_size((unsigned long long)kilobytes * 1024, held, sizeof held);
        say("memory ran out: the kernel killed PE %u (pid %d, %s), which held %s; %s", pe, pid, path, held, whose);
    } else if (WIFSIGNALED(status))
        say("PE %u (pid %d, %s) was killed by signal %d (%s%s)", pe, pid, path, WTERMSIG(status),
            strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    else if (WEXITSTATUS(status))
        say("PE %u (pid %d, %s) exited with status %d", pe, pid, path, WEXITSTATUS(status));
    else
        say("PE %u (pid %d, %s) exited without shmem_finalize or uccs_finalize; the others would wait", pe, pid, path);
}

/* Returns the exit status as a shell's $? shows it. */
static int shell_status(int status)
{
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Ends the job when a PE has claimed its end from inside the library; returns true then. That PE writes status and
 * number before the state. */
static bool ended_from_inside(struct job *job)
{
    struct node *node = job->view.node;
    uint32_t ending = atomic_load_acquire(&node->ending); /* partner: release by the PE that claimed it */
    if (ending != NODE_GLOBAL_EXIT && ending != NODE_ABORTED)
        return false;
    if (ending == NODE_ABORTED && !job->options->quiet)
        say("job ended by PE %d", node->end_pe);
    job_end(job, node->end_status & 255);
    return true;
}

/* When the PE itself writes to the pipe, a broken pipe means that the reader has seen enough, which is no fault. */
static bool is_quiet(const struct job *job, int status)
{
    bool own_pipe = output_files_per_pe() == 0;
    return job->options->quiet || (own_pipe && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

/* kilobytes: the most memory that the PE has held. */
static void judge_end(struct job *job, uint32_t pe, pid_t pid, int status, long kilobytes)
{
    /* Partner: the PE's release stores. The PE is dead, so this state is its last. */
    uint32_t state = atomic_load_acquire(&job->view.node->pe[pe].state);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended_from_inside(job))
        return;
    if (good && state != NODE_RUNNING) {
        job->deserted |= state == NODE_STARTED;
        return;
    }
    if (!is_quiet(job, status))
        describe_death(job, pe, pid, status, kilobytes);
    if (state == NODE_FINALISED && WIFEXITED(status)) /* no PE waits for it, so the others may go on */
        job->status = job->status ? job->status : shell_status(status);
    else
        job_end(job, good ? STATUS_FAILED : shell_status(status));
}

static void note_end(struct job *job, pid_t pid, int status, long kilobytes)
{
    uint32_t pe = (uint32_t)pid <= PIDS ? job->pe_of[pid] : 0;
    if (!pe-- || job->view.pids[pe] != pid)
        return; /* an orphan that the supervisor adopted */
    job->view.pids[pe] = 0;
    job->pe_of[pid] = 0;
    job->alive--;
    if (!job->ending)
        judge_end(job, pe, pid, status, kilobytes);
}

static bool is_debugged(const struct job *job, pid_t pid)
{
    uint32_t pe = (uint32_t)pid <= PIDS ? job->pe_of[pid] : 0;
    return pe && set_has(&job->options->debugged, pe - 1);
}

void job_reap(struct job *job)
{
    int status;
    pid_t pid;
    struct rusage used;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        if (!WIFSTOPPED(status))
            note_end(job, pid, status, used.ru_maxrss);
        else if (is_debugged(job, pid) && status >> 8 == SIGTRAP) /* it has just executed its program */
            debug_offer(job->pe_of[pid] - 1, pid);
        else
            ptrace(PTRACE_DETACH, pid, NULL, NULL); /* it halted too late for halt_where */
}

/* True when some PE is inside the library, where it waits for all. */
static bool somebody_waits(const struct job *job)
{
    const struct node *node = job->view.node;
    if ((uint32_t)atomic_load_acquire(&node->arrived)) /* partner: the barrier's add */
        return true;
    for (uint32_t pe = 0; pe < job->started; pe++)
        if (atomic_load_acquire(&node->pe[pe].state) != NODE_STARTED) /* partner: the PE's release */
            return true;
    return false;
}

void job_check_deserted(struct job *job)
{
    if (!job->deserted || job->ending || !somebody_waits(job))
        return;
    uint32_t pe = 0; /* the first PE that has left */
    while (job->view.pids[pe] || atomic_load_acquire(&job->view.node->pe[pe].state) != NODE_STARTED)
        if (++pe == job->started)
            return;
    if (!job->options->quiet)
        say("PE %u (%s) exited without shmem_init or uccs_init; the others would wait", pe, job_app(job, pe)->argv[0]);
    job_end(job, STATUS_FAILED);
}

void job_end(struct job *job, int status)
{
    if (job->ending)
        return;
    job->ending = true;
    job->status = job->status ? job->status : status;
    job->kill_at = loop_now() + GRACE_MS;
    view_signal(&job->view, SIGTERM);
    view_signal(&job->view, SIGCONT); /* a stopped PE sees no other signal */
}

void job_kill(struct job *job)
{
    job->kill_at = 0;
    view_signal(&job->view, SIGKILL);
}
