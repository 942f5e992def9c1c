/* Lines tell this process that another host is gone.
 *
 * A line is a TCP connection beside the transport's, one to each node that this process talks to. PEs send nothing on
 * it once it is up, so the kernels at both ends keep asking each other whether they are there (keepalive), and report a
 * kernel that has been silent for LATERAL_PEER_TIMEOUT seconds. The transport's own connections cannot serve: keepalive
 * does not test a connection that has data under way, and TCP goes on trying for a quarter of an hour. Messages of our
 * own cannot serve either: a PE that is stopped, in a debugger, or starved of processor time could not answer, but its
 * kernel does. And with keepalive no process has to wake up at either end.
 *
 * A line also breaks at once when its peer's process is gone. A PE that ends the job says so on its lines, so that no
 * other PE takes its end for a fault.
 *
 * A caller proves that it knows the job's key, and so does the called PE (net/auth), because anybody may call, and an
 * address of a private network may be another host's. A peer that no way leads to has no line; then only transport and launcher
 * notice its loss.
 *
 * Threads: a lock of their own guards the lines; no thread waits while it holds the lock. Lines are freed at close
 * only, so that any thread can send the goodbye without the lock. */
#include "uccs/core/keepalive.h"

#include "base/env.h"
#include "base/log.h"
#include "base/patience.h"
#include "rte/rte.h"
#include "net/auth/dialer.h"
#include "net/auth/listener.h"
#include "uccs/core/memory.h"
#include "uccs/core/fail.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define GOODBYE 'e' /* the job ends; its launcher knows */
#define GUESTS 32   /* callers that may be here without a proof */
#define GUEST_SECONDS 2

struct line {
    int fd, pe;          /* fd -1: it is not up */
    struct dialer *call; /* null: none is under way */
    struct line *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line *lines;
static struct listener door = {.fd = -1, .timer = -1};
static struct routes here; /* of this PE */
static int events = -1, patience;
static uint32_t resting; /* release: uccs_keepalive_expect_end; acquire: hear */

static void set_keepalive(int fd)
{
    struct patience p = patience_of(patience);
    int on = 1;
    if (!patience)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &p.idle, sizeof p.idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &p.between, sizeof p.between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &p.probes, sizeof p.probes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void await(int fd, void *mark, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = mark};
    if (fd >= 0)
        epoll_ctl(events, how, fd, &event);
}

static void hang_up(struct line *line)
{
    int fd = line->fd;
    atomic_store_relaxed(&line->fd, -1);
    close(fd);
}

static struct line *add_line(int fd, int pe)
{
    struct line *line = malloc(sizeof *line);
    if (!line)
        uccs_fail("no memory for a line to another host");
    *line = (struct line){.fd = fd, .pe = pe, .next = lines};
    atomic_store_release(&lines, line); /* acquire: say_goodbye */
    return line;
}

/* ---- calling ---- */

static void end_call(struct line *line)
{
    free(line->call);
    line->call = 0;
}

/* A job goes on without a line; its user learns that the end of a host may be noticed late. One line a process is enough. */
static void tell_no_line(int pe)
{
    static bool told;
    if (!told && !uccs_end_noted() && !atomic_load_acquire(&resting)) /* release: uccs_keepalive_expect_end */
        log_line(
            "PE %d cannot be called, so the end of its host may be noticed late, by launcher and transport alone; is a port "
            "closed between the hosts? LATERAL_INTERFACE names another network",
            pe);
    told = true;
}

static void judge_call(struct line *line)
{
    const struct dialer *call = line->call;
    switch (call->state) {
    case DIALER_CONNECTS:
    case DIALER_READS_ANSWER: break;
    case DIALER_READS_CHALLENGE: set_keepalive(call->fd); break;
    case DIALER_CONNECTED:
        atomic_store_relaxed(&line->fd, call->fd);
        end_call(line);
        break;
    case DIALER_CROSSED:
    case DIALER_FAILED: tell_no_line(line->pe); end_call(line);
    }
}

static void call_pe(struct line *line, const struct routes *place)
{
    line->call = malloc(sizeof *line->call);
    if (!line->call)
        uccs_fail("no memory for a line to another host");
    *line->call = (struct dialer){.events = events,
                                  .mark = line,
                                  .key = {rte.node->nonce[0], rte.node->nonce[1]},
                                  .me = (uint32_t)uccs_core.me,
                                  .pe = (uint32_t)line->pe,
                                  .to = *place,
                                  .from = here};
    dialer_start(line->call);
    judge_call(line);
}

static bool has_line_to(int node)
{
    for (const struct line *line = lines; line; line = line->next)
        if (uccs_node_of(line->pe) == node)
            return true;
    return false;
}

void uccs_keepalive_connect(int pe, const struct routes *place)
{
    if (events < 0 || !place->port)
        return;
    pthread_mutex_lock(&lock);
    if (!has_line_to(uccs_node_of(pe)))
        call_pe(add_line(-1, pe), place);
    pthread_mutex_unlock(&lock);
}

/* Makes a line of a caller that has proved itself. */
static void let_in(void *unused, int fd, const struct handshake_hello *hello)
{
    (void)unused;
    set_keepalive(fd);
    await(fd, add_line(fd, (int)hello->from), EPOLLIN, EPOLL_CTL_MOD);
}

/* ---- the news ---- */

/* Sends the goodbye on all lines. A PE that hears it for the first time passes it on to PEs that may not have heard
 * it. */
static void say_goodbye(void)
{
    static const char goodbye = GOODBYE;
    for (const struct line *line = atomic_load_acquire(&lines); line; line = line->next) {
        int fd = atomic_load_relaxed(&line->fd);
        if (fd >= 0)
            (void)send(fd, &goodbye, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

static void hear(struct line *line)
{
    char word;
    ssize_t got = recv(line->fd, &word, 1, 0);
    int error = errno;
    if (got == 1) {
        if (word == GOODBYE && uccs_end_note()) {
            say_goodbye();
            rte_expect_end();
        }
        return;
    }
    if (got < 0 && (error == EAGAIN || error == EINTR))
        return;
    hang_up(line);
    bool silent = got < 0 && error != ECONNRESET;
    if (uccs_end_noted() || (!silent && atomic_load_acquire(&resting)))
        return;
    if (!silent)
        uccs_fail_process_lost("PE %d is lost: its process is gone", line->pe);
    uccs_fail_host_lost("PE %d is lost: its host has not answered for %d s (LATERAL_PEER_TIMEOUT): %s", line->pe,
                        patience, strerror(error));
}

static void handle(struct line *line)
{
    if (line->call) {
        dialer_event(line->call);
        judge_call(line);
    } else if (line->fd >= 0) {
        hear(line);
    }
}

static void take_news(void *mark)
{
    if (mark == &events)
        rte_launcher_lost(); /* the other nodes see that they are gone */
    else if (!listener_event(&door, mark))
        handle(mark);
}

void uccs_keepalive_poll(void)
{
    struct epoll_event news[16];
    if (events < 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    int count = epoll_wait(events, news, sizeof news / sizeof *news, 0);
    for (int i = 0; i < count; i++)
        take_news(news[i].data.ptr);
    pthread_mutex_unlock(&lock);
}

int uccs_keepalive_descriptor(void)
{
    return events;
}

/* ---- life ---- */

static void open_door_here(void)
{
    door.events = events;
    memcpy(door.key, rte.node->nonce, sizeof door.key);
    door.me = (uint32_t)uccs_core.me;
    door.npes = (uint32_t)uccs_core.npes;
    door.max_pending = GUESTS;
    door.seconds = GUEST_SECONDS;
    door.accepted = let_in;
    (void)listener_open(&door, &here); /* nobody can call a PE whose place has no port */
}

/* Pretended nodes need no lines, since their launcher sees all PEs. */
int uccs_keepalive_open(struct routes *mine)
{
    here = *mine = (struct routes){0};
    patience = (int)env_number(ENV_PEER_TIMEOUT);
    resting = 0;
    uccs_end_forget();
    if (rte.nodes == 1)
        return 0;
    if (!routes_find(&here)) {
        log_line("LATERAL_INTERFACE is %s, which is no network interface of this host that is up and has an address",
                 env_text(ENV_INTERFACE));
        return -1;
    }
    if ((events = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return 0;
    await(rte_launcher_descriptor(), &events, EPOLLRDHUP, EPOLL_CTL_ADD);
    open_door_here();
    *mine = here;
    rte_on_end = say_goodbye;
    return 0;
}

void uccs_keepalive_expect_end(void)
{
    atomic_store_release(&resting, 1);
}

void uccs_keepalive_close(void)
{
    rte_on_end = 0;
    pthread_mutex_lock(&lock); /* a thread that is still in a wait may call uccs_keepalive_poll */
    while (lines) {
        struct line *line = lines;
        lines = line->next;
        if (line->call)
            dialer_stop(line->call, DIALER_FAILED);
        end_call(line);
        if (line->fd >= 0)
            close(line->fd);
        free(line);
    }
    listener_close(&door);
    if (events >= 0)
        close(events);
    events = -1;
    pthread_mutex_unlock(&lock);
}
