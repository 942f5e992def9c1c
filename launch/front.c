/* oshrun stays in front of the launcher that it has handed a job over to, and of the one that lateral-mpi --timeout names. It passes
 * signals on, counts the time limit, and asks PE 0's watcher (watch.c) for the job's report: at the time limit, at Ctrl-\ and for
 * oshrun --status. The watcher calls it; where none has come, as long as PEs have not called shmem_init, there is a line in place of
 * the report. */
#include "hosts.h"

#include "channel.h"
#include "loop.h"
#include "message.h"
#include "rte/node.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_MS 30000 /* time for a report */
#define END_MS 5000     /* for the launcher to end after its PEs, and again after SIGTERM */
#define TELL_MS 2000    /* for the watcher to tell why a launcher has failed */
#define TURN_MS 20      /* of the loop meanwhile */
#define CALL_MS 200     /* for the first watcher to call, once a launcher has failed */

static struct channel *watcher; /* PE 0's; null: none */
static pid_t launcher;
static int status = -1; /* of the job; -1: not told */
static int launcher_status = -1;
static int64_t end_at; /* when the launcher has to be ended; 0: not set */
static int end_signal = SIGTERM;
static double timeout;
static bool quiet, stacks;
static const char *start_calls; /* of PEs */
static enum {
    AWAITED,
    CONNECTED, /* it stays so when the watcher is lost: that of the next node may come */
    LEFT
} watcher_state;

/* ---- the watcher and oshrun --status ---- */

static char *report; /* its title, and lines that have come; null: none */

/* Writes it in one piece: the launcher writes there, too, once the PEs end. */
static void print_report(void)
{
    if (report)
        say_lines(report);
    free(report);
    report = NULL;
}

static void add_to_report(const char *line)
{
    char *all;
    if (asprintf(&all, "%s%s\n", report ? report : "", line) < 0)
        say_if_null(NULL);
    free(report);
    report = all;
}

static void hear_watcher(struct channel *channel, char *line)
{
    int id, number, used = 0;
    (void)channel;
    if (line && strcmp(line, "bye") == 0)
        watcher_state = LEFT;
    if (!line || sscanf(line, "%*s %d%n", &id, &used) != 1)
        return;
    if (id != 0)
        relay_answer(line);
    else if (strncmp(line, "text ", 5) == 0 && !quiet)
        add_to_report(line + used + 1);
    else if (sscanf(line, "told 0 %d", &number) == 1) {
        print_report();
        if (number < 0 || status >= 0)
            return;
        status = number;
        end_at = loop_now() + END_MS;
    }
}

static void lose_watcher(struct channel *channel)
{
    watcher = watcher == channel ? NULL : watcher;
    print_report();
}

static void accept_watcher(struct channel *channel)
{
    channel->heard = hear_watcher;
    channel->closed = lose_watcher;
    watcher = channel;
    watcher_state = CONNECTED;
    if (stacks)
        channel_send(channel, "stacks\n");
}

/* Why nobody tells where the PEs are. */
static void write_why(char *text, size_t room)
{
    if (watcher_state == AWAITED)
        snprintf(text, room, "not all PEs have called %s", start_calls);
    else
        snprintf(text, room, "PE 0 has ended");
}

static void hear_client(struct channel *channel, char *line)
{
    char why[80];
    write_why(why, sizeof why);
    if (watcher && watcher->up && strncmp(line, "ask 0 -1 ", 9) == 0)
        relay_ask(watcher, channel, 0, -1, line + 9);
    else
        channel_send(channel, "text 0:oshrun: %s\ntold 0 -1\n", why);
}

static void accept_client(struct channel *channel)
{
    channel->heard = hear_client;
    channel->closed = relay_forget;
}

void front_open(const char *calls)
{
    uint64_t key[2];
    struct routes routes;
    char place[NODE_FRONT_BYTES];
    start_calls = calls;
    unsetenv(FRONT_VARIABLE); /* of a job that this process belongs to */
    if (loop_open() != 0 || getrandom(key, sizeof key, 0) != sizeof key)
        return;
    channels_listen(key, 0, 1, accept_watcher, &routes);
    channels_listen_here(accept_client);
    channel_write_place(place, key, &routes);
    setenv(FRONT_VARIABLE, place, 1);
}

/* ---- the end ---- */

static void end_launcher(int signal)
{
    kill(launcher, signal);
    end_signal = SIGKILL;
    end_at = loop_now() + END_MS;
}

/* Asks for the report, after which the job ends with this status. */
static void ask_to_end(int how, const char *title)
{
    char why[80];
    if (status >= 0)
        return;
    if (watcher && watcher->up && !quiet) {
        print_report();
        say_collect();
        say("%s; where the PEs are:", title);
        report = say_collected();
        channel_send(watcher, "ask 0 %d \n", how);
        end_at = loop_now() + REPORT_MS;
        return;
    }
    write_why(why, sizeof why);
    if (!quiet)
        say("%s; %s", title, why);
    status = how;
    end_launcher(SIGTERM);
}

static void expire_limit(void)
{
    char title[96];
    snprintf(title, sizeof title, "time limit of %g s reached (--timeout)", timeout);
    ask_to_end(STATUS_TIMEOUT, title);
}

static void take_signal(int signal)
{
    if (signal == SIGCHLD) {
        int how;
        if (waitpid(launcher, &how, WNOHANG) == launcher)
            launcher_status = WIFSIGNALED(how) ? STATUS_SIGNAL + WTERMSIG(how) : WEXITSTATUS(how);
    } else if (signal == SIGQUIT) {
        ask_to_end(STATUS_SIGNAL + SIGQUIT, "job ended by signal 3 (Quit)");
    } else {
        kill(launcher, signal);
    }
}

/* ---- life ---- */

static int signals = -1;

static void signal_ready(struct loop_watch *watch)
{
    (void)watch;
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGINT || info.ssi_code == SI_USER) /* the terminal's reaches the launcher, too */
            take_signal((int)info.ssi_signo);
}

/* SIGQUIT stays blocked in the launcher, which a terminal sends it, too: the report comes first. */
static void start_launcher(char **words, const sigset_t *before)
{
    sigset_t mask = *before;
    const pid_t front = getpid();
    launcher = fork();
    if (launcher != 0)
        return;
    sigaddset(&mask, SIGQUIT);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != front)
        _exit(STATUS_FAILED);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    execvp(words[0], words);
    say("%s: %s", words[0], strerror(errno));
    _exit(STATUS_NOT_EXECUTABLE);
}

/* A launcher may end before the watcher has told why, or has even called. */
static void await_watcher(void)
{
    const int64_t start = loop_now();
    while (launcher_status && status < 0 && watcher_state != LEFT &&
           loop_now() < start + (watcher_state == CONNECTED || channels_pending() ? TELL_MS : CALL_MS)) {
        loop_turn(TURN_MS);
        channels_sweep();
    }
}

int front_run(char **words, const struct options *options)
{
    static struct loop_watch watch = {signal_ready};
    static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
    sigset_t set, before;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&set, taken[i]);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &before);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    timeout = options->timeout;
    quiet = options->quiet;
    stacks = options->stacks;
    start_launcher(words, &before);
    if (launcher < 0 || signals < 0 || loop_add(signals, EPOLLIN, &watch) != 0) {
        say("cannot start %s: %s", words[0], strerror(errno));
        return STATUS_FAILED;
    }
    int64_t timeout_at = timeout > 0 ? loop_now() + (int64_t)(1000 * timeout) : 0;
    while (launcher_status < 0) {
        loop_turn(loop_until(loop_sooner(end_at, timeout_at)));
        channels_sweep();
        if (timeout_at && loop_now() >= timeout_at) {
            timeout_at = 0;
            expire_limit();
        }
        if (end_at && loop_now() >= end_at)
            end_launcher(end_signal);
    }
    await_watcher();
    print_report();
    return status >= 0 ? status : launcher_status;
}
