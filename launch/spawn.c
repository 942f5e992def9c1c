#include "spawn.h"

#include "cores.h"
#include "environment.h"
#include "input.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* In the child, before it executes the program: the supervisor will see it stop. The kernel may let only a process's own parents trace it;
 * any debugger of the user may trace this one. */
static void debug_arm(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

bool debug_arrived(int status)
{
    return WIFSTOPPED(status) && status >> 8 == SIGTRAP;
}

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
void debug_offer(uint32_t pe, pid_t pid)
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

/* Puts fd at the target number, open across exec. Returns -1 with errno on failure. */
static int place_file(int fd, int target)
{
    return fd == target ? fcntl(fd, F_SETFD, 0) : dup2(fd, target);
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
        if (place_file(files[i], i) < 0)
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
    if (set_has(&job->options->debugged, pe))
        debug_arm();
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

pid_t spawn_pe(const struct job *job, uint32_t pe)
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
