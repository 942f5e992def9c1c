#include "debug.h"

#include "message.h"

#include <ctype.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Reads "3" or "3-5" and the comma behind it. Returns what follows, or null when that is no such text. */
static const char *read_range(const char *text, unsigned long *first, unsigned long *last)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return NULL;
    *first = *last = strtoul(text, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = strtoul(end + 1, &end, 10);
    if (*end == ',' && end[1])
        return end + 1;
    return *end ? NULL : end;
}

void debug_check(const char *list, uint32_t pes)
{
    unsigned long first, last;
    if (!list || strcmp(list, "all") == 0)
        return;
    for (const char *at = list; *at;) {
        at = read_range(at, &first, &last);
        if (!at || first > last)
            say_usage("--debug %s: expected PEs such as 1,3 or 0-2, or all", list);
        if (last >= pes)
            say_usage("--debug %s: this job has the PEs 0 to %u", list, pes - 1);
    }
    if (!*list)
        say_usage("--debug: expected PEs such as 1,3 or 0-2, or all");
}

bool debug_wants(const char *list, uint32_t pe)
{
    unsigned long first, last;
    if (!list || strcmp(list, "all") == 0)
        return list != NULL;
    for (const char *at = list; at && *at;) {
        at = read_range(at, &first, &last);
        if (at && pe >= first && pe <= last)
            return true;
    }
    return false;
}

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
