#include "spawn.h"

#include "message.h"

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

/* The kernel may let only a process's own parents trace it; any debugger of the user may trace this one. */
void debug_arm(void)
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
static int place(int fd, int target)
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
static void become(const struct spawn *spawn, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        return;
    if (place(spawn->in, 0) < 0 || place(spawn->out, 1) < 0 || place(spawn->err, 2) < 0)
        return;
    if (spawn->parent_pipe >= 0 && fcntl(spawn->parent_pipe, F_SETFD, 0) < 0)
        return;
    if (fcntl(spawn->segment, F_SETFD, 0) < 0 || (spawn->wdir && chdir(spawn->wdir) != 0))
        return;
    if (spawn->cpus && sched_setaffinity(0, sizeof *spawn->cpus, spawn->cpus->set) != 0)
        return;
    if (setrlimit(RLIMIT_NOFILE, spawn->files) != 0)
        return;
    go_first(spawn->score);
    sigprocmask(SIG_SETMASK, spawn->signals, NULL);
    if (spawn->debug)
        debug_arm();
    execvpe(spawn->path, spawn->argv,
            spawn->envp); /* the path has a slash; a file without an interpreter line is a script */
}

pid_t spawn(const struct spawn *spawn)
{
    pid_t parent = getpid();
    volatile int why = 0; /* the child writes it in our memory */
    pid_t pid = vfork();
    if (pid == 0) {
        become(spawn, parent);
        why = errno ? errno : EPERM;
        _exit(127);
    }
    if (pid > 0 && why) {
        errno = why;
        return -1; /* job_reap reaps the dead child with the others */
    }
    return pid;
}
