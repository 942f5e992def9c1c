/* Keepalive connections: this process learns that another host, or a process on it, is gone.
 *
 * A keepalive connection is a TCP connection beside the transport's, one to each node that this process talks to. PEs send
 * nothing on it once it is up, so the kernels at both ends keep asking each other whether they are there (SO_KEEPALIVE), and
 * report a kernel that has been silent for LATERAL_PEER_TIMEOUT seconds. The transport's own connections cannot serve:
 * keepalive does not test a connection that has data under way, and TCP goes on trying for a quarter of an hour. Messages
 * of our own cannot serve either: a PE that is stopped, in a debugger, or starved of processor time could not answer, but
 * its kernel does. And no process has to wake up at either end.
 *
 * A connection also breaks at once when its peer's process is gone. A PE that ends the job sends a goodbye first, so that
 * no other PE takes its end for a fault.
 *
 * Both ends prove that they know the job's key (net/auth/auth.h), because anybody may connect, and an address of a
 * private network may be another host's. A peer that no route leads to has no connection; then only transport and launcher
 * notice its loss.
 *
 * Threads: the lock guards the connections; no thread waits while it holds the lock. Connections are freed at close only, so
 * that any thread can send the goodbye without the lock. */
#include "uccs/core/keepalive.h"

#include "base/env.h"
#include "base/log.h"
#include "base/clock.h"
#include "rte/rte.h"
#include "net/auth/auth.h"
#include "uccs/core/memory.h"
#include "uccs/core/core.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define GOODBYE 'e' /* the job ends; its launcher knows */
#define PENDING 32  /* connections that have not passed the handshake, at most; each for PENDING_SECONDS */
#define PENDING_SECONDS 2
#define UNWATCHED_SECONDS 1
#define SELDOM 4095 /* polls may be 50 us apart */
#define OFTEN 63    /* while a handshake is under way, which the other end waits for PENDING_SECONDS */

struct connection {
    int fd, pe;                         /* fd -1: it is not up */
    char host[ROUTES_HOST + 4];         /* " on NAME"; empty: not known */
    char address[INET6_ADDRSTRLEN + 4]; /* " at ADDRESS" where this PE has been called from another host; else empty */
    struct dialer *dialer;              /* null: no call is under way */
    struct connection *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *connections;
static struct listener listener = {.fd = -1, .timer = -1};
static struct routes here; /* of this PE */
static int events = -1, patience;
static int unwatched = -1; /* a PE that cannot be called, until that is told */
static uint64_t unwatched_since;
static uint32_t ends_expected; /* release: uccs_keepalive_expect_end; acquire: receive_word */
static int dialers;
uint32_t uccs_keepalive_seldom = SELDOM; /* relaxed: a hint for those who poll */

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

static void watch_events(int fd, void *mark, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = mark};
    if (fd >= 0)
        epoll_ctl(events, how, fd, &event);
}

static void close_connection(struct connection *connection)
{
    int fd = connection->fd;
    atomic_store_relaxed(&connection->fd, -1);
    close(fd);
}

static struct connection *add_connection(int fd, int pe)
{
    struct connection *connection = malloc(sizeof *connection);
    if (!connection)
        uccs_fail("no memory for a connection to another host");
    *connection = (struct connection){.fd = fd, .pe = pe, .next = connections};
    atomic_store_release(&connections, connection); /* acquire: send_goodbye */
    return connection;
}

/* --- Dialing */

static void end_dialer(struct connection *connection)
{
    dialers -= connection->dialer != 0;
    free(connection->dialer);
    connection->dialer = 0;
}

static bool handshakes(void)
{
    bool pending = dialers > 0;
    for (uint32_t i = 0; listener.pending && i < PENDING; i++)
        pending |= listener.pending[i].fd >= 0;
    return pending;
}

/* A job goes on without the connection. The first time, a line tells the user that the loss of a host may be noticed late; not at once, as
 * a PE that has just died cannot be called either, and its job ends. */
static void note_unwatched(int pe)
{
    if (!unwatched_since)
        unwatched = pe;
    unwatched_since = unwatched_since ? unwatched_since : clock_nanoseconds();
}

static void warn_unwatched(void)
{
    if (unwatched < 0 || clock_nanoseconds() < unwatched_since + UNWATCHED_SECONDS * CLOCK_SECOND)
        return;
    if (!uccs_end_noted() && !atomic_load_acquire(&ends_expected)) /* release: uccs_keepalive_expect_end */
        log_line(
            "PE %d cannot be called, so the end of its host may be noticed late, by launcher and transport alone; is a port "
            "closed between the hosts? LATERAL_INTERFACE names another network",
            unwatched);
    unwatched = -1;
}

static void judge_dialer(struct connection *connection)
{
    const struct dialer *dialer = connection->dialer;
    switch (dialer->state) {
    case DIALER_CONNECTS:
    case DIALER_READS_ANSWER: break;
    case DIALER_READS_CHALLENGE: set_keepalive(dialer->fd); break;
    case DIALER_CONNECTED:
        atomic_store_relaxed(&connection->fd, dialer->fd);
        end_dialer(connection);
        break;
    case DIALER_CROSSED:
    case DIALER_FAILED: note_unwatched(connection->pe); end_dialer(connection);
    }
}

static void dial_pe(struct connection *connection, const struct routes *to)
{
    connection->dialer = malloc(sizeof *connection->dialer);
    if (!connection->dialer)
        uccs_fail("no memory for a connection to another host");
    *connection->dialer = (struct dialer){.events = events,
                                          .mark = connection,
                                          .key = {rte.node->nonce[0], rte.node->nonce[1]},
                                          .me = (uint32_t)uccs_core.me,
                                          .pe = (uint32_t)connection->pe,
                                          .to = *to,
                                          .from = here};
    dialers++;
    atomic_store_relaxed(&uccs_keepalive_seldom, OFTEN);
    dialer_start(connection->dialer);
    judge_dialer(connection);
}

static struct connection *connection_to(int node)
{
    for (struct connection *connection = connections; connection; connection = connection->next)
        if (uccs_node_of(connection->pe) == node)
            return connection;
    return NULL;
}

void uccs_keepalive_connect(int pe, const struct routes *to)
{
    if (events < 0 || !to->port)
        return;
    pthread_mutex_lock(&lock);
    struct connection *connection = connection_to(uccs_node_of(pe));
    if (!connection)
        dial_pe(connection = add_connection(-1, pe), to);
    if (!connection->host[0])
        snprintf(connection->host, sizeof connection->host, " on %s", to->host);
    pthread_mutex_unlock(&lock);
}

const char *uccs_keepalive_host(int pe)
{
    pthread_mutex_lock(&lock);
    const struct connection *connection = connection_to(uccs_node_of(pe));
    pthread_mutex_unlock(&lock);
    if (!connection || (!connection->host[0] && !connection->address[0])) {
        static char node[32];
        snprintf(node, sizeof node, " on node %d", uccs_node_of(pe));
        return events < 0 ? "" : node;
    }
    if (!connection->host[0])
        return connection->address;
    return strcmp(connection->host + strlen(" on "), here.host) != 0 ? connection->host : "";
}

static const char *write_address(const struct sockaddr_storage *name, char text[INET6_ADDRSTRLEN])
{
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)name)->sin6_addr;
    const bool mapped = name->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6);
    const void *address = mapped                        ? &v6->s6_addr[12]
                          : name->ss_family == AF_INET6 ? (const void *)v6
                                                        : &((const struct sockaddr_in *)name)->sin_addr;
    return inet_ntop(mapped ? AF_INET : name->ss_family, address, text, INET6_ADDRSTRLEN) ? text : "";
}

/* The name of the caller's host is not known before this PE calls it. */
static void note_address(struct connection *connection)
{
    struct sockaddr_storage theirs = {0}, mine = {0};
    socklen_t bytes = sizeof theirs, mine_bytes = sizeof mine;
    char caller[INET6_ADDRSTRLEN], called[INET6_ADDRSTRLEN];
    if (getpeername(connection->fd, (struct sockaddr *)&theirs, &bytes) == 0 &&
        getsockname(connection->fd, (struct sockaddr *)&mine, &mine_bytes) == 0 &&
        strcmp(write_address(&theirs, caller), write_address(&mine, called)) != 0)
        snprintf(connection->address, sizeof connection->address, " at %s", caller);
}

/* The listener calls it with a connection that has passed the handshake. */
static void accept_peer(void *unused, int fd, const struct handshake_hello *hello)
{
    (void)unused;
    struct connection *connection = add_connection(fd, (int)hello->from);
    set_keepalive(fd);
    note_address(connection);
    watch_events(fd, connection, EPOLLIN, EPOLL_CTL_MOD);
}

/* --- Events */

/* A PE that receives a goodbye for the first time sends it on, to PEs that may not have received it. */
static void send_goodbye(void)
{
    static const char goodbye = GOODBYE;
    for (const struct connection *connection = atomic_load_acquire(&connections); connection;
         connection = connection->next) {
        int fd = atomic_load_relaxed(&connection->fd);
        if (fd >= 0)
            (void)send(fd, &goodbye, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

static void receive_word(struct connection *connection)
{
    char word;
    ssize_t got = recv(connection->fd, &word, 1, 0);
    int error = errno;
    if (got == 1) {
        if (word == GOODBYE && uccs_end_note()) {
            send_goodbye();
            rte_expect_end();
        }
        return;
    }
    if (got < 0 && (error == EAGAIN || error == EINTR))
        return;
    close_connection(connection);
    bool silent = got < 0 && error != ECONNRESET;
    if (uccs_end_noted() || (!silent && atomic_load_acquire(&ends_expected)))
        return;
    const char *host = connection->host[0] ? connection->host : connection->address;
    if (!silent)
        uccs_fail_process_lost(
            connection->pe,
            "PE %d%s is lost: its process was killed by a signal, such as 9 (Killed), or ended by _exit",
            connection->pe, host);
    uccs_fail_host_lost(connection->pe,
                        "PE %d%s is lost: its host has not answered for %d s (LATERAL_PEER_TIMEOUT): %s",
                        connection->pe, host, patience, strerror(error));
}

static void serve_connection(struct connection *connection)
{
    if (connection->dialer) {
        dialer_event(connection->dialer);
        judge_dialer(connection);
    } else if (connection->fd >= 0) {
        receive_word(connection);
    }
}

static void handle_event(void *mark)
{
    if (mark == &events)
        rte_launcher_lost(); /* the other nodes see that they are gone */
    else if (!listener_event(&listener, mark))
        serve_connection(mark);
}

void uccs_keepalive_poll(void)
{
    struct epoll_event ready[16];
    if (events < 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    int count = epoll_wait(events, ready, sizeof ready / sizeof *ready, 0);
    for (int i = 0; i < count; i++)
        handle_event(ready[i].data.ptr);
    if (count > 0)
        atomic_store_relaxed(&uccs_keepalive_seldom, handshakes() ? OFTEN : SELDOM);
    warn_unwatched();
    pthread_mutex_unlock(&lock);
}

int uccs_keepalive_descriptor(void)
{
    return events;
}

/* --- Life */

static void open_listener(void)
{
    listener.events = events;
    memcpy(listener.key, rte.node->nonce, sizeof listener.key);
    listener.me = (uint32_t)uccs_core.me;
    listener.npes = (uint32_t)uccs_core.npes;
    listener.max_pending = PENDING;
    listener.seconds = PENDING_SECONDS;
    listener.accepted = accept_peer;
    (void)listener_open(&listener, &here); /* without a port nobody can connect to this PE */
}

/* Pretended nodes need no connections, since their launcher sees all PEs. */
int uccs_keepalive_open(struct routes *mine)
{
    here = *mine = (struct routes){0};
    patience = (int)env_number(ENV_PEER_TIMEOUT);
    ends_expected = 0;
    unwatched = -1;
    unwatched_since = 0;
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
    watch_events(rte_launcher_descriptor(), &events, EPOLLRDHUP, EPOLL_CTL_ADD);
    open_listener();
    *mine = here;
    rte_on_end = send_goodbye;
    return 0;
}

void uccs_keepalive_expect_end(void)
{
    atomic_store_release(&ends_expected, 1);
}

void uccs_keepalive_close(void)
{
    rte_on_end = 0;
    pthread_mutex_lock(&lock); /* a thread that is still in a wait may call uccs_keepalive_poll */
    while (connections) {
        struct connection *connection = connections;
        connections = connection->next;
        if (connection->dialer)
            dialer_stop(connection->dialer, DIALER_FAILED);
        end_dialer(connection);
        if (connection->fd >= 0)
            close(connection->fd);
        free(connection);
    }
    listener_close(&listener);
    if (events >= 0)
        close(events);
    events = -1;
    pthread_mutex_unlock(&lock);
}
