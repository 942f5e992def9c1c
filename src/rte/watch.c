/* Starts the watcher of a node and tells it of the others, where another launcher than oshrun on one node has started the PEs.
 *
 * The lowest PE of the node starts oshrun as its watcher (launch/watch.c), whose parent is not the PE, so the program's waits
 * for children do not see it. Watchers listen; their addresses go by the launcher, in the fences of the start, to the lowest PEs of the
 * nodes below them in the tree of watchers, and from there to their watchers. From then on watchers talk to each other, and PEs do
 * nothing for them.
 *
 * Nobody has a watcher unless oshrun has handed the job over (LATERAL_JOB=front:...) or the user has set LATERAL_TIMEOUT or
 * LATERAL_DEADLOCK. A signal handler is taken only in the second case, and only where the program has none: SIGUSR1 asks for a
 * report, and ends the PE once its watcher has said with which status (node->watch_end). The handler does nothing else. */
#include "rte/watch.h"

#include "base/env.h"
#include "base/log.h"
#include "base/module.h"
#include "base/tool.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY "watch"
#define SECONDS_TO_START 10
#define THREADS 64 /* of the program, that are known before the start */

static char front[NODE_FRONT_BYTES]; /* what oshrun has left in LATERAL_JOB; empty: it has not handed this job over */
static bool asked;                   /* by a variable of the user */
static int watcher = -1;             /* connection to the watcher of this node; -1: this PE has none */
static struct node_watch_start start;
static int threads[THREADS], thread_count;

/* Calls a function for each thread of this process. */
static void each_thread(void (*call)(int thread))
{
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            call(atoi(entry->d_name));
    if (folder)
        closedir(folder);
}

static void note_thread(int thread)
{
    if (thread_count < THREADS)
        threads[thread_count++] = thread;
}

void rte_watch_prepare(void)
{
    const char *job = env_text(ENV_JOB);
    if (strncmp(job, NODE_FRONT, strlen(NODE_FRONT)) == 0)
        snprintf(front, sizeof front, "%s", job);
    asked = *env_text(ENV_TIMEOUT) || *env_text(ENV_DEADLOCK);
    if (*env_text(ENV_DEADLOCK))
        each_thread(note_thread);
}

/* Starts the watcher and reads its routes. Returns false when there is none. */
static bool spawn_watcher(void)
{
    static char path[PATH_MAX];
    char *const words[] = {path, (char *)NODE_WATCHER, front, NULL};
    char *const *const commands[] = {words, NULL};
    int ends[2];
    if (!module_program("oshrun", path) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    const pid_t pid = tool_start(commands, rte.fd, ends[1]);
    close(ends[1]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 &&
           errno == EINTR) /* it leaves a child behind, which is no child of this PE */
        continue;
    struct pollfd news = {.fd = ends[0], .events = POLLIN};
    if (pid > 0 && poll(&news, 1, 1000 * SECONDS_TO_START) > 0 &&
        recv(ends[0], start.routes, sizeof start.routes, MSG_WAITALL) == sizeof start.routes) {
        watcher = ends[0];
        return true;
    }
    close(ends[0]);
    return false;
}

bool rte_watch_is_wanted(void)
{
    return asked || *front;
}

void rte_watch_start(void)
{
    const bool by_oshrun = rte.launched && !rte_backend; /* its supervisor watches */
    if (!rte_watch_is_wanted() || by_oshrun || rte.node_index != 0)
        return;
    if (!spawn_watcher() && asked && rte.pe == 0)
        log_line(
            "LATERAL_TIMEOUT and LATERAL_DEADLOCK: no oshrun of this version beside the library, so nobody watches the job");
    if (rte.node_size != rte.npes && rte_backend) /* zeros where there is no watcher */
        (void)rte_backend->put(KEY, start.routes, sizeof start.routes);
}

/* Stores the routes to a node's watcher; zeros where it has none. */
static void ask_routes(int node, unsigned char *routes)
{
    void *value = NULL;
    size_t bytes = 0;
    if (rte_backend->get(rte_node_lead(node), KEY, &value, &bytes) == 0 && bytes == sizeof start.routes)
        memcpy(routes, value, bytes);
    else
        memset(routes, 0, sizeof start.routes);
    free(value);
}

unsigned char *rte_watch_root(void)
{
    if (rte.pe == 0)
        memcpy(start.root, start.routes, sizeof start.root);
    return start.root;
}

/* Returns once the watcher looks at the PEs, none of which can go on before, since barriers of the start follow. The watcher ends
 * when the connection is closed before it has been told; afterwards the end of all PEs is its end. */
void rte_watch_connect(void)
{
    const int parent = (rte.node_number - 1) / NODE_WATCH_CHILDREN;
    if (watcher < 0)
        return;
    if (rte.node_number)
        ask_routes(parent, start.routes);
    if (!parent)
        memset(start.root, 0, sizeof start.root);
    start.number = (uint32_t)rte.node_number;
    start.nodes = (uint32_t)rte.nodes;
    struct pollfd news = {.fd = watcher, .events = POLLIN};
    if (send(watcher, &start, sizeof start, MSG_NOSIGNAL) != sizeof start ||
        poll(&news, 1, 1000 * SECONDS_TO_START) <= 0)
        log_debug("the watcher of this node is gone");
    close(watcher);
    watcher = -1;
}

void rte_watch_note_lost(int pe)
{
    atomic_store_relaxed(&rte.node->watch_lost, (uint32_t)pe + 1);
}

/* Counts as a request, or ends the PE when the watcher has said so. A child of fork that still has the handler does neither. */
static void on_request(int signal)
{
    (void)signal;
    const uint32_t end = rte_is_pe() ? atomic_load_acquire(&rte.node->watch_end) : 0; /* release: the watcher */
    if (end && rte_backend && rte_backend->abort_by_signal)
        (void)rte_backend->abort_by_signal((int)end - 1);
    if (end)
        _exit((int)end - 1);
    if (rte_is_pe())
        atomic_fetch_add_relaxed(&rte.node->watch_asked, 1);
}

/* Threads that a launcher's or a network's library has started serve the library, as its own thread does: they bear its name, by which
 * the watcher knows them. */
static void name_thread(int thread)
{
    char path[64];
    for (int i = 0; i < thread_count; i++)
        if (threads[i] == thread)
            return;
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)!write(fd, NODE_SERVER, strlen(NODE_SERVER));
    if (fd >= 0)
        close(fd);
}

void rte_watch_admit(void)
{
    struct sigaction ours = {.sa_handler = on_request, .sa_flags = SA_RESTART}, now;
    const int process = rte.node ? atomic_load_relaxed(&rte.node->watcher) : 0;
    if (process <= 0)
        return;
    prctl(PR_SET_PTRACER, process, 0, 0, 0); /* fails where the system lets any process of the user look */
    if (thread_count)
        each_thread(name_thread);
    sigemptyset(&ours.sa_mask);
    if (asked && !*front && sigaction(SIGUSR1, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL)
        sigaction(SIGUSR1, &ours, NULL);
    else
        atomic_store_relaxed(&rte.node->watch_deaf, 1);
}
