/* Plays a job of many nodes against the watcher of PE 0's node: its PE 0, which starts it, and the watchers of all other nodes, which
 * dial it at the same moment and say over their connections what launch/watch.c documents.
 *
 * usage: launch_nodes OSHRUN NODES PES SILENT    each further node has PES PEs; the last SILENT nodes answer nothing
 *
 * Prints the report, then "figures" with the seconds in which all nodes have connected, the seconds of the report and the most memory
 * that the watcher has had, in kB. */
#include "net/auth/auth.h"
#include "rte/node.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPORT_BYTES (1u << 20)
#define REPORT_SECONDS 40

extern char **environ;

static struct dialer *nodes;
static unsigned count, pes, silent;
static int events;
static struct node *node;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned first_pe(unsigned number)
{
    return number ? 1 + (number - 1) * pes : 0;
}

/* The memory of a node with one PE, this process. */
static int make_node(void)
{
    uint64_t key[2];
    int fd = memfd_create("lateral", 0);
    assert(fd >= 0 && ftruncate(fd, (off_t)node_fixed_size(1)) == 0);
    node = mmap(NULL, node_groups_at(1), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert(node != MAP_FAILED && getrandom(key, sizeof key, 0) == sizeof key);
    node_format(node, 1, 1, key);
    node->total = first_pe(count);
    node->nodes = count;
    node->pe[0].pid = getpid();
    node->pe[0].state = NODE_RUNNING;
    return fd;
}

/* Starts the watcher as PE 0 does. Returns where its messages can be read; stores the routes to it. */
static int start_watcher(char *oshrun, struct routes *routes)
{
    char *words[] = {oshrun, (char *)NODE_WATCHER, (char *)"", NULL};
    struct node_watch_start start = {.nodes = count};
    int ends[2], told[2], memory = make_node();
    pid_t pid;
    posix_spawn_file_actions_t files;
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 && pipe2(told, O_CLOEXEC) == 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, memory, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, told[1], 2);
    assert(posix_spawn(&pid, oshrun, &files, NULL, words, environ) == 0 && waitpid(pid, NULL, 0) == pid);
    close(ends[1]);
    close(told[1]);
    assert(recv(ends[0], start.routes, sizeof start.routes, MSG_WAITALL) == sizeof start.routes);
    memcpy(routes, start.routes, sizeof *routes);
    assert(send(ends[0], &start, sizeof start, MSG_NOSIGNAL) == sizeof start);
    assert(recv(ends[0], &start, 1, 0) == 0); /* it looks from now on */
    close(ends[0]);
    return told[0];
}

static void say(unsigned number, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(unsigned number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    assert(vdprintf(nodes[number].fd, format, arguments) > 0);
    va_end(arguments);
}

static void serve_event(struct dialer *dialer)
{
    char heard[64] = "";
    const unsigned number = (unsigned)(dialer - nodes), first = first_pe(number), last = first_pe(number + 1) - 1;
    if (dialer->state != DIALER_CONNECTED) {
        dialer_event(dialer);
        assert(dialer->state != DIALER_FAILED && dialer->state != DIALER_CROSSED);
        if (dialer->state == DIALER_CONNECTED)
            say(number, "node host-%u\t%u-%u\n", number, first, last);
        return;
    }
    const ssize_t bytes = recv(dialer->fd, heard, sizeof heard - 1, MSG_DONTWAIT);
    if (bytes == 0)
        epoll_ctl(events, EPOLL_CTL_DEL, dialer->fd, NULL);
    if (bytes <= 0 || strncmp(heard, "look ", 5) != 0 || number >= count - silent)
        return;
    say(number, "busy\ngroup %d 0 1 %u 0 77 3 0 %u.5 %u-%u\tshmem_barrier_all\t\tmain.c:20\n", NODE_REASON_PES,
        node->total, number % 50, first + 1, last);
    say(number, "group 0 0 0 0 0 0 0 1 -1 %u\tis in no wait that lasts\t\tmain.c:%u\nseen\n", first, 30 + number % 3);
}

static void serve(int ms)
{
    struct epoll_event ready[64];
    const int some = epoll_wait(events, ready, 64, ms);
    for (int i = 0; i < some; i++)
        serve_event(ready[i].data.ptr);
}

static bool all_connected(void)
{
    for (unsigned i = 1; i < count; i++)
        if (nodes[i].state != DIALER_CONNECTED)
            return false;
    return true;
}

static void connect_nodes(const struct routes *to)
{
    struct routes from = {0};
    (void)routes_find(&from);
    events = epoll_create1(EPOLL_CLOEXEC);
    nodes = calloc(count, sizeof *nodes);
    assert(events >= 0 && nodes);
    for (unsigned i = 1; i < count; i++) {
        nodes[i] = (struct dialer){.events = events,
                                   .mark = &nodes[i],
                                   .key = {node->nonce[0], node->nonce[1]},
                                   .me = i,
                                   .to = *to,
                                   .from = from};
        dialer_start(&nodes[i]);
    }
    while (!all_connected())
        serve(1000);
}

/* Asks for a report as the handler of a PE's signal does, and reads it up to the verdict. */
static void read_report(int from)
{
    static char text[REPORT_BYTES];
    size_t used = 0;
    const double end = seconds_now() + REPORT_SECONDS;
    fcntl(from, F_SETFL, O_NONBLOCK);
    atomic_fetch_add_relaxed(&node->watch_asked, 1);
    while (!strstr(text, " wait for ") && seconds_now() < end && used + 1 < sizeof text) {
        serve(5);
        const ssize_t bytes = read(from, text + used, sizeof text - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    fputs(text, stdout);
}

/* Returns the most memory that the process has had, in kB. */
static long peak_of(int pid)
{
    char path[64], line[256];
    long peak = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "VmHWM: %ld", &peak);
    if (file)
        fclose(file);
    return peak;
}

int main(int argc, char **argv)
{
    struct routes routes;
    struct rlimit files;
    assert(argc == 5);
    count = (unsigned)atoi(argv[2]);
    pes = (unsigned)atoi(argv[3]);
    silent = (unsigned)atoi(argv[4]);
    assert(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    const int from = start_watcher(argv[1], &routes);
    const double begin = seconds_now();
    connect_nodes(&routes);
    const double connected = seconds_now();
    read_report(from);
    printf("figures %.3f %.3f %ld\n", connected - begin, seconds_now() - connected, peak_of(node->watcher));
    node->pe[0].state = NODE_FINALISED;
    return 0;
}
