/* The watcher of a node: tells why a job hangs that another launcher has started.
 *
 * Data flow. Each node has one watcher. It reads the node's memory as oshrun's supervisor does, and looks at the PEs from outside, so
 * it needs none of them: PEs that compute for ever or are stopped are seen, too. Watchers are a tree, so that none has many to hear: that of
 * PE 0's node is the root, each other one connects to the one above it at the start, and the root connects to the oshrun in front, if there
 * is one. A request of a report (watch_root.c) goes to the root, which sends "look" to the nodes below it, and so does each of those;
 * each answers "busy" at once, then, with the pictures of the nodes below it merged into its own, a line a group of PEs (picture.h),
 * then "seen". The root prints the job's one report by report.c: on its standard error, which is PE 0's, or as lines for who has asked.
 *
 * A node tells the one above when it and all below it are stuck, and when that ends; the root takes the time for which all nodes are (the
 * clocks of hosts need not agree). How a PE has ended, and requests, are passed on to the root.
 *
 * A node whose line to the one above breaks, or who hears nothing of it for LOST_MS, since its host is stopped or cut off, connects to
 * the root. Who has lost a node tells the root its name, and the root calls it silent unless it comes. A node that has gone without
 * "bye" is lost when a PE misses one of its PEs, too, or a launcher ends PEs at that moment; its watcher alone may be killed without
 * harm. Node 1 takes the place of a root that is lost so.
 *
 * Invariants. One report at a time; requests meanwhile wait in a queue. A report ends: a node that does not say "busy" within SILENT_MS,
 * or is not connected, is told as silent, and one that is busy has BUSY_MS. Memory is bounded: PICTURE_GROUPS groups, one line a channel.
 * Only the root ends a job, once: all nodes are told the status, and each watcher ends its PEs. A watcher ends soon after the
 * last PE of its node. It writes into the node's memory `watcher`, `watch_end`, and the claim of the job's end. */
#include "watch_root.h"

#include "base/clock.h"
#include "channel.h"
#include "message.h"
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 50
#define KILL_MS 500   /* between the request to end and SIGKILL */
#define LEAVE_MS 2000 /* after the last PE: time to tell of it */
#define DEATHS_MS 20  /* time in which PEs of a node crash together */
#define DEATH_NONE (-2)
#define LOST_MS 3000 /* without a line of the node above */
#define INFO_EXIT 8  /* PIDFD_INFO_EXIT */
#define EXITING 4    /* PF_EXITING of the kernel, in the flags of a process */

static struct view view;

/* A PE of this node. */
static struct watched {
    struct loop_watch watch;
    bool known;    /* its process is */
    int file;      /* of the process; -1: none */
    char *program; /* null: not known */
    int death;     /* status, as waitpid gives it, if it has ended without need; -1: not known; else DEATH_NONE */
} * watched;
static uint32_t alive, asked;
static struct channel *above; /* null: this is the root, or there is none any more */
static struct node_watch_start start;
static const char *front_place;
static bool is_root, ending;
static int64_t kill_at, leave_at, heard_at; /* 0: not set */
static int first_dead = -1;                 /* the first PE that is not told of; -1: none */
static int64_t tell_at;                     /* when it is told */

/* ---- PEs ---- */

/* Returns how the process has ended, as far as the kernel tells one that is not its parent: the last field of its stat, until it is
 * reaped; of a process that still exits 0 may stand there for a moment in place of its status. The status as waitpid gives it, or -1. */
static int status_of(pid_t pid)
{
    char text[1024], state = 0;
    unsigned flags = 0;
    file_read(text, sizeof text, "/proc/%d/stat", (int)pid);
    const char *behind = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!behind || sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return -1;
    const int status = atoi(last);
    return state == 'Z' || (flags & EXITING && status) ? status : -1;
}

/* Returns the process's status by its file: since Linux 6.15 the kernel tells it of a process that is reaped, too. */
static int status_of_file(int file)
{
    struct {
        uint64_t mask, cgroup;
        uint32_t numbers[11];
        int32_t status;
    } info = {.mask = INFO_EXIT};
    const unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 0xff, 11, sizeof info); /* PIDFD_GET_INFO */
    return ioctl(file, request, &info) == 0 && info.mask & INFO_EXIT ? info.status : -1;
}

static bool is_killed(int status)
{
    return status < 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Returns a line that tells how these PEs, the first to die among them, have ended, and the others with it; the caller frees it. */
static char *describe_deaths(const struct set *pes, const struct set *others, uint32_t index, int status)
{
    char *text = NULL, how[96], host[64] = "?", names[200], more[200], pid[32] = "";
    const char *program = watched[index].program;
    gethostname(host, sizeof host - 1);
    set_write(pes, 0, names, sizeof names);
    set_write(others, 0, more, sizeof more);
    if (pes->count == 1)
        snprintf(pid, sizeof pid, "pid %d, ", (int)view.node->pe[index].pid);
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(how, sizeof how, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (status >= 0)
        snprintf(how, sizeof how, "ended by _exit(%d) before shmem_finalize or uccs_finalize", WEXITSTATUS(status));
    else
        snprintf(how, sizeof how, "killed (signal 9?) or ended by _exit");
    if (asprintf(&text, "PE %s (%s%s) on host %s %s %s%s%s%s", names, pid, program ? program : "?", host,
                 pes->count == 1 ? "was" : "were", how, others->count ? ", PE " : "", more,
                 others->count ? " with it" : "") < 0)
        say_if_null(NULL);
    return text;
}

/* A launcher may end at once, with all that would be said later. So a death is told at once, but a crash while its PE waits for that. */
static void note_death(uint32_t index, int status, int ms)
{
    if (watched[index].death != DEATH_NONE)
        return;
    watched[index].death = status;
    if (first_dead >= 0)
        return;
    first_dead = (int)index;
    tell_at = loop_now() + ms;
}

/* PEs that crash wait until they are told of (src/rte/crash.c), for each other, too. */
static void look_for_crashes(void)
{
    for (uint32_t i = 0; atomic_load_acquire(&view.node->watch_crashed) && i < view.node->size; i++)
        if (!ending && view.pids[i] && atomic_load_acquire(&view.crashes[i].state)) /* release: the PE */
            note_death(i, view.crashes[i].signal, DEATHS_MS);
}

static void note_end(uint32_t index)
{
    int status = status_of(view.pids[index]);
    if (status < 0 && watched[index].file >= 0) /* it is reaped: from now on its file tells */
        status = status_of_file(watched[index].file);
    if (status < 0 && atomic_load_acquire(&view.crashes[index].state)) /* release: the PE */
        status = view.crashes[index].signal;
    const bool told =
        atomic_load_acquire(&view.node->ending) != NODE_GOES_ON; /* release: rte_claim_end; a PE has printed why */
    view.pids[index] = 0;
    alive--;
    leave_at = loop_now() + LEAVE_MS;
    if (told || ending || atomic_load_acquire(&view.node->pe[index].state) == NODE_FINALISED) /* release: the PE */
        return;
    note_death(index, status, 0);
}

/* Tells of the PE that has ended first without need, and of those that have ended alike since. A launcher kills the others of a host as soon as
 * the first closes its files, so one that is killed is named alone, and those that end at that moment behind it. */
static void tell_deaths(void)
{
    struct set pes = set_make(view.node->total), others = set_make(view.node->total);
    const uint32_t first = (uint32_t)first_dead;
    const int status = watched[first].death;
    for (uint32_t i = 0; i < view.node->size; i++) /* events of those that a launcher has killed may come first */
        if (view.pids[i] && (status_of(view.pids[i]) >= 0 || kill(view.pids[i], 0) != 0))
            note_end(i);
    first_dead = -1;
    for (uint32_t i = 0; i < view.node->size; i++)
        if (watched[i].death == status)
            set_add(is_killed(status) && i != first ? &others : &pes, node_pe_number(view.node, i));
    char *line = describe_deaths(&pes, &others, first, status);
    say_collect();
    say_more("%s", line);
    if (atomic_load_acquire(&view.crashes[first].state)) /* release: the PE */
        crash_print(&view);
    char *text = say_collected();
    for (char *end = text; (end = strchr(end, '\n'));)
        *end = end[1] ? '\x1f' : 0;
    root_note_death(status < 0 ? SIGKILL : status, text);
    free(text);
    free(line);
    set_free(&pes);
    set_free(&others);
}

static void file_ready(struct loop_watch *watch)
{
    const struct watched *pe = (struct watched *)watch;
    if (view.pids[pe - watched])
        note_end((uint32_t)(pe - watched));
    loop_remove(pe->file);
}

/* Where the process gives no file, its number must do. */
static void watch_pe(uint32_t index, pid_t pid)
{
    struct watched *pe = &watched[index];
    char path[64], name[PATH_MAX];
    view.pids[index] = pid;
    *pe = (struct watched){{file_ready}, true, (int)syscall(SYS_pidfd_open, pid, 0), NULL, DEATH_NONE};
    if (pe->file >= 0 && loop_add(pe->file, EPOLLIN, &pe->watch) != 0) {
        close(pe->file);
        pe->file = -1;
    }
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t bytes = readlink(path, name, sizeof name - 1);
    name[bytes > 0 ? bytes : 0] = 0;
    pe->program = bytes > 0 ? say_if_null(strdup(strrchr(name, '/') + 1)) : NULL;
    alive++;
}

/* On a job's only node this may start before other PEs have written their numbers. Where a process gives no file, its number must do. */
static void look_at_pes(void)
{
    for (uint32_t i = 0; i < view.node->size; i++) {
        const pid_t pid = atomic_load_relaxed(&view.node->pe[i].pid);
        if (!watched[i].known && pid)
            watch_pe(i, pid);
        else if (watched[i].known && watched[i].file < 0 && view.pids[i] && kill(view.pids[i], 0) != 0 &&
                 errno == ESRCH)
            note_end(i);
    }
}

static void watch_pes(void)
{
    watched = say_if_null(calloc(view.node->size, sizeof *watched));
    for (uint32_t i = 0; i < view.node->size; i++)
        watched[i].death = DEATH_NONE;
    look_at_pes();
}

/* ---- the end ---- */

/* Ends the PEs: by the signal that all have a handler for, where a variable has asked for it, which gives the job's launcher this
 * status; else as oshrun does. */
static void end_pes(int status)
{
    uint32_t none = NODE_GOES_ON;
    if (kill_at)
        return;
    ending = true;
    view.node->end_status = status;
    if (atomic_cas_acqrel(&view.node->ending, &none, NODE_ENDING_CLAIMED)) /* so that no PE calls this a fault */
        atomic_store_release(&view.node->ending, NODE_ABORTED);
    atomic_store_release(&view.node->watch_end, 1 + (uint32_t)status); /* acquire: on_request of rte/watch.c */
    view_signal(&view, *front_place || atomic_load_relaxed(&view.node->watch_deaf) ? SIGTERM : SIGUSR1);
    view_signal(&view, SIGCONT);
    kill_at = loop_now() + KILL_MS;
}

/* ---- oshrun --status of this host, and the signal ---- */

static void hear_client(struct channel *channel, char *line)
{
    int id, status, used = 0;
    if (!line || sscanf(line, "ask %d %d %n", &id, &status, &used) != 2 || !used || status != -1)
        return;
    root_ask(channel, id, -1, line + used);
}

static void accept_client(struct channel *channel)
{
    channel->heard = hear_client;
    channel->closed = root_forget;
}

static void look_for_signal(void)
{
    const uint32_t now = atomic_load_relaxed(&view.node->watch_asked);
    if (now == asked)
        return;
    asked = now;
    root_note_signal();
}

/* ---- the node above ---- */

static void hear_above(struct channel *channel, char *line)
{
    heard_at = loop_now();
    if (line)
        root_hear_above(line);
    else
        root_set_above(channel);
}

static void lose_above(struct channel *channel)
{
    if (channel == above)
        root_set_above(above = NULL);
}

static void connect_above(uint32_t number, const unsigned char *place)
{
    struct routes routes;
    memcpy(&routes, place, sizeof routes);
    above = channel_dial(view.node->nonce, start.number, number, &routes);
    above->heard = hear_above;
    above->closed = lose_above;
    heard_at = loop_now();
}

/* The root takes the place of a node above that is gone or silent; there is none for the root, whose place node 1 takes. */
static void look_above(void)
{
    static const unsigned char none[sizeof start.root];
    if (!above && start.number == 1)
        root_inherit(front_place);
    if (memcmp(start.root, none, sizeof none) == 0 || (above && loop_now() < heard_at + LOST_MS))
        return;
    channel_close(above);
    root_set_above(NULL);
    connect_above(0, start.root);
    memset(start.root, 0, sizeof start.root);
}

/* A PE that ends the job has printed why, and its launcher ends the others: nothing of that is told again. */
static void look_for_end(void)
{
    if (ending || atomic_load_acquire(&view.node->ending) == NODE_GOES_ON) /* release: rte_claim_end */
        return;
    ending = true;
    root_note_end();
}

/* ---- life ---- */

static double read_limit(const char *variable)
{
    double seconds = 0;
    const char *text = getenv(variable);
    return text && clock_read_seconds(text, &seconds) ? seconds : 0;
}

/* Tells the PE where this listens, and waits for what the PE has learnt of the job. Returns false when the PE has failed. */
static bool learn_start(void)
{
    unsigned char told[sizeof start.routes] = {0};
    _Static_assert(sizeof(struct routes) <= sizeof told, "the routes fit");
    is_root = view.node->first == 0;
    root_start(&(struct root){.view = &view,
                              .end = end_pes,
                              .timeout = *front_place || !is_root
                                             ? 0
                                             : read_limit("LATERAL_TIMEOUT"), /* oshrun counts its own */
                              .deadlock = read_limit("LATERAL_DEADLOCK"),
                              .timeout_name = "LATERAL_TIMEOUT",
                              .deadlock_name = *front_place ? "--deadlock" : "LATERAL_DEADLOCK"});
    const struct routes routes = root_listen();
    memcpy(told, &routes, sizeof routes);
    atomic_store_relaxed(&view.node->watcher, getpid());
    return send(1, told, sizeof told, MSG_NOSIGNAL) == sizeof told &&
           recv(1, &start, sizeof start, MSG_WAITALL) == sizeof start;
}

/* Connections that have come meanwhile wait for the first turn of the loop. */
static void join_watchers(void)
{
    root_join(start.nodes, start.number, front_place);
    if (start.number)
        connect_above((start.number - 1) / NODE_WATCH_CHILDREN, start.routes);
}

static void look_at_all(void)
{
    channels_sweep();
    look_above();
    look_at_pes();
    look_for_crashes();
    if (first_dead >= 0 && loop_now() >= tell_at)
        tell_deaths();
    look_for_signal();
    if (atomic_load_relaxed(&view.node->watch_lost))
        root_note_lost(atomic_load_relaxed(&view.node->watch_lost) - 1);
    look_for_end();
    root_look();
    if (kill_at && loop_now() >= kill_at)
        view_signal(&view, SIGKILL);
    root_tick();
}

/* The PE waits for this process, whose child goes on as nobody's. */
_Noreturn void watch_run(const char *front)
{
    if (fork() != 0)
        _exit(0);
    setsid(); /* signals of a terminal are for the launcher and the PEs */
    signal(SIGUSR1, SIG_IGN);
    front_place = front;
    say_as(*front ? "oshrun: " : "lateral: ");
    files_raise_limit();
    if (!view_open(&view, 0, PROT_READ | PROT_WRITE) || loop_open() != 0 || !learn_start())
        _exit(STATUS_FAILED);
    watch_pes();
    join_watchers(); /* so oshrun in front knows that there is a watcher before a PE can die */
    close(1);        /* the PE waits for it */
    channels_listen_here(accept_client);
    while (alive ||
           (leave_at && loop_now() < leave_at && (first_dead >= 0 || root_is_busy() || (above && !above->up)))) {
        loop_turn(first_dead >= 0 ? DEATHS_MS : TICK_MS);
        look_at_all();
    }
    root_leave();
    exit(0);
}
