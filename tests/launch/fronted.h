/* The kernel and the rest of the launcher, as front.c wants them for main.c and keeper.c: stand-ins that write down
 * what they are asked. */
#ifndef TESTS_LAUNCH_FRONTED_H
#define TESTS_LAUNCH_FRONTED_H

#include "apart.h"
#include "debug.h"
#include "environment.h"
#include "guard.h"
#include "handover.h"
#include "hosts.h"
#include "keeper.h"
#include "memory.h"
#include "message.h"
#include "noted.h"
#include "options.h"
#include "program.h"
#include "spelling.h"
#include "sweep.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { KEEPER = 501, GUARD = 502 };

static void keep_line(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

/* ---- the rest of the launcher ---- */

static struct app apps[2];
static struct options wanted_options;
static const char *out_of_memory;
static bool elsewhere, wants_check;
static int program_status, kept_arguments;
static char *words; /* of the command line */
static size_t words_bytes;

void options_read(struct options *options, int argc, char **argv)
{
    CHECK(argc == 3 && argv[0] == words);
    *options = wanted_options;
}

void options_check_input(const struct options *options)
{
    CHECK(options->napps == 2);
    note("input\n");
}

void options_keep_arguments(struct options *options)
{
    kept_arguments += options->napps == 2;
}

bool environment_wants_check(const struct options *options)
{
    return options->check || wants_check;
}

void spelling_check_variables(const struct options *options)
{
    CHECK(options->napps == 2);
    note("spelling\n");
}

bool hosts_elsewhere(struct options *options, struct hosts *hosts)
{
    *hosts = (struct hosts){.slurm = options->napps == 2};
    return elsewhere;
}

void hosts_free(struct hosts *hosts)
{
    CHECK(hosts->slurm);
}

void debug_check(const char *list, uint32_t pes)
{
    CHECK(list == wanted_options.debug && pes == wanted_options.pes);
    note("debug\n");
}

_Noreturn void handover(const struct options *options, const struct hosts *hosts)
{
    _exit(hosts->slurm && options->check == wants_check ? 44 : 1);
}

int program_find(struct app *app)
{
    CHECK(app == &apps[0] || app == &apps[1]);
    note("program %d\n", (int)(app - apps));
    return app == &apps[1] ? program_status : 0;
}

void memory_watch(const char *root)
{
    CHECK(*root == 0);
    note("memory\n");
}

bool memory_ran_out(char *text, size_t room)
{
    CHECK(room > PATH_MAX);
    if (out_of_memory)
        snprintf(text, room, "%s", out_of_memory);
    return out_of_memory != NULL;
}

static volatile int *sweeps; /* shared */

void sweep_descendants(int patience_ms)
{
    CHECK(patience_ms == 2000 || patience_ms == 5000);
    ++*sweeps;
}

void guard_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGUSR1);
}

static bool guard_waits = true;

/* Ends with 3 when all is as it should be, at once or once oshrun's end of the pipe is closed. */
_Noreturn void guard_run(struct options *options, int front, const sigset_t *signals, pid_t oshrun)
{
    char name[16], byte;
    struct stat input; /* oshrun has opened it */
    size_t bytes = strlen("lateral-guard") + 1;
    bool good = options->napps == 2 && kept_arguments == 1 && oshrun != getppid() && !sigismember(signals, SIGUSR1);
    good &= prctl(PR_GET_NAME, name) == 0 && strcmp(name, "lateral-guard") == 0 &&
            memcmp(words, "lateral-guard", bytes) == 0;
    for (size_t i = bytes; i < words_bytes; i++)
        good &= words[i] == 0;
    good &= words[words_bytes + 1] == '!' && fstat(0, &input) == 0 && S_ISCHR(input.st_mode);
    _exit(good && (!guard_waits || read(front, &byte, 1) == 0) ? 3 : 4);
}

/* ---- the kernel ---- */

static bool scripted;
static struct event {
    int signal, code, pid;
} events[8];
static size_t nevents, next_event;
static int keeper_status = -1, guard_lives, fork_fails;

static int next_signal(const sigset_t *set, siginfo_t *info)
{
    if (!scripted)
        return sigwaitinfo(set, info);
    CHECK(next_event < nevents);
    const struct event now = events[next_event++];
    *info = (siginfo_t){.si_code = now.code};
    info->si_pid = now.pid;
    return now.signal;
}

static pid_t wait_for(pid_t pid, int *status, int options)
{
    if (!scripted)
        return waitpid(pid, status, options);
    CHECK(options == WNOHANG);
    if (pid == GUARD)
        return guard_lives-- > 0 ? 0 : GUARD;
    CHECK(pid == KEEPER);
    if (next_event < nevents)
        return 0;
    *status = keeper_status;
    return KEEPER;
}

static int kill_or_note(pid_t pid, int signal)
{
    note("kill %s %d\n", pid == GUARD ? "guard" : pid == KEEPER ? "keeper" : "nobody", signal);
    return 0;
}

static int raise_or_note(int signal)
{
    if (!scripted)
        return raise(signal);
    note("raise %d\n", signal);
    return 0;
}

static pid_t fork_or_fail(void)
{
    if (fork_fails-- == 1)
        return errno = EAGAIN, -1;
    return fork();
}

#endif
