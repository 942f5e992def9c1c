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
 * A caller proves that it knows the job's key, and the called PE answers, because an address of a private network may
 * be another host's. A peer that no way leads to has no line; then only transport and launcher notice its loss.
 *
 * Threads: a lock of their own guards the lines; no thread waits while it holds the lock. Lines are freed at close
 * only, so that any thread can send the goodbye without the lock. */
#include "uccs/watch/line.h"

#include "base/env.h"
#include "base/log.h"
#include "base/patience.h"
#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/core/memory.h"
#include "uccs/watch/fail.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define YES 'y'     /* answers a hello */
#define GOODBYE 'e' /* the job ends; its launcher knows */

enum state { CALLING, ASKING, ANSWERING, UP, OVER };

struct hello {
    uint32_t from, to;
    uint64_t proof;
};

struct line {
    int fd, pe; /* fd -1: closed; pe -1: not known yet */
    enum state state;
    struct watch_line_place place;
    int way; /* number of the next way to try */
    struct hello hello;
    size_t got; /* bytes of the hello received so far */
    struct line *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line *lines;
static int events = -1, door = -1, patience;
static uint32_t resting; /* release: watch_line_rest; acquire: hear */

static uint64_t proof_of(uint32_t from, uint32_t to)
{
    const uint32_t who[2] = {from, to};
    return siphash(rte.node->nonce, who, sizeof who);
}

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

static void await(struct line *line, uint32_t what, int how)
{
    struct epoll_event event = {.events = what, .data.ptr = line};
    epoll_ctl(events, how, line->fd, &event);
}

static void hang_up(struct line *line)
{
    int fd = line->fd;
    line->state = OVER;
    atomic_store_relaxed(&line->fd, -1);
    close(fd);
}

static struct line *add_line(int fd, int pe, enum state state)
{
    struct line *line = malloc(sizeof *line);
    if (!line)
        watch_fail("no memory for a line to another host");
    *line = (struct line){.fd = fd, .pe = pe, .state = state, .next = lines};
    atomic_store_release(&lines, line); /* acquire: say_goodbye */
    return line;
}

/* ---- calling ---- */

/* Begins to connect to a place by one of its ways. Returns the descriptor, or -1. */
static int call(const struct watch_line_place *place, int number)
{
    const struct watch_line_way *way = &place->way[number];
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } to = {.any.sa_family = way->six ? AF_INET6 : AF_INET};
    if (way->six) {
        to.six.sin6_port = place->port;
        memcpy(&to.six.sin6_addr, way->address, sizeof to.six.sin6_addr);
    } else {
        to.four.sin_port = place->port;
        memcpy(&to.four.sin_addr, way->address, sizeof to.four.sin_addr);
    }
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, &to.any, way->six ? sizeof to.six : sizeof to.four) != 0 && errno != EINPROGRESS) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Calls by the next way that can be tried. */
static void try_ways(struct line *line)
{
    line->state = OVER;
    while (line->way < line->place.ways) {
        int fd = call(&line->place, line->way++);
        if (fd < 0)
            continue;
        line->fd = fd;
        line->state = CALLING;
        await(line, EPOLLOUT, EPOLL_CTL_ADD);
        return;
    }
    log_debug("no line to PE %d: that its host is gone, transport and launcher alone may notice", line->pe);
}

static bool has_line_to(int node)
{
    for (const struct line *line = lines; line; line = line->next)
        if (line->pe >= 0 && uccs_node_of(line->pe) == node)
            return true;
    return false;
}

void watch_line_to(int pe, const struct watch_line_place *place)
{
    if (events < 0 || !place->port)
        return;
    pthread_mutex_lock(&lock);
    if (!has_line_to(uccs_node_of(pe))) {
        struct line *line = add_line(-1, pe, OVER);
        line->place = *place;
        try_ways(line);
    }
    pthread_mutex_unlock(&lock);
}

static void next_way(struct line *line)
{
    hang_up(line);
    try_ways(line);
}

static void called(struct line *line)
{
    int error = 0;
    socklen_t length = sizeof error;
    const struct hello hello = {(uint32_t)uccs_core.me, (uint32_t)line->pe,
                                proof_of((uint32_t)uccs_core.me, (uint32_t)line->pe)};
    getsockopt(line->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error || send(line->fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
        next_way(line);
        return;
    }
    set_keepalive(line->fd);
    line->state = ASKING;
    await(line, EPOLLIN, EPOLL_CTL_MOD);
}

static void asked(struct line *line)
{
    char answer;
    if (recv(line->fd, &answer, 1, 0) == 1 && answer == YES)
        line->state = UP;
    else
        next_way(line);
}

/* ---- being called ---- */

static void open_door(void)
{
    int fd = accept4(door, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    set_keepalive(fd);
    await(add_line(fd, -1, ANSWERING), EPOLLIN, EPOLL_CTL_ADD);
}

static bool is_of_this_job(const struct hello *hello)
{
    return hello->to == (uint32_t)uccs_core.me && hello->from < (uint32_t)uccs_core.npes &&
           hello->proof == proof_of(hello->from, hello->to);
}

static void answer(struct line *line)
{
    static const char yes = YES;
    ssize_t more = recv(line->fd, (char *)&line->hello + line->got, sizeof line->hello - line->got, 0);
    if (more <= 0) {
        hang_up(line);
        return;
    }
    line->got += (size_t)more;
    if (line->got < sizeof line->hello)
        return;
    if (!is_of_this_job(&line->hello) || send(line->fd, &yes, 1, MSG_NOSIGNAL) != 1) {
        hang_up(line);
        return;
    }
    line->pe = (int)line->hello.from;
    line->state = UP;
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
        if (word == GOODBYE && watch_end_note()) {
            say_goodbye();
            rte_expect_end();
        }
        return;
    }
    if (got < 0 && (error == EAGAIN || error == EINTR))
        return;
    hang_up(line);
    bool silent = got < 0 && error != ECONNRESET;
    if (watch_end_noted() || (!silent && atomic_load_acquire(&resting)))
        return;
    if (!silent)
        watch_fail("PE %d is lost: its process is gone", line->pe);
    watch_abandon("PE %d is lost: its host has not answered for %d s (LATERAL_PEER_TIMEOUT): %s", line->pe, patience,
                  strerror(error));
}

/* Ends the PEs of this node. Without its launcher nobody else ends them; the other nodes see that they are gone. */
static void launcher_is_gone(void)
{
    log_line("the launcher is gone: the PEs of this host end");
    rte_end_node();
}

static void handle(struct line *line)
{
    switch (line ? line->state : OVER) {
    case CALLING: called(line); break;
    case ASKING: asked(line); break;
    case ANSWERING: answer(line); break;
    case UP: hear(line); break;
    case OVER: break;
    }
}

void watch_line_look(void)
{
    struct epoll_event news[16];
    if (events < 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    int count = epoll_wait(events, news, sizeof news / sizeof *news, 0);
    for (int i = 0; i < count; i++) {
        if (news[i].data.ptr == &door)
            open_door();
        else if (news[i].data.ptr == &events)
            launcher_is_gone();
        else
            handle(news[i].data.ptr);
    }
    pthread_mutex_unlock(&lock);
}

int watch_line_descriptor(void)
{
    return events;
}

/* ---- life ---- */

/* Returns the rank of a network device; the highest rank is called first. Devices that the user has named for UCX rank
 * above all others, since they are the job's network; then the faster device ranks higher. */
static long rank_of(const char *name)
{
    char path[64 + IF_NAMESIZE];
    long speed = -1;
    const char *chosen = getenv("UCX_NET_DEVICES");
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &speed) != 1)
        speed = -1;
    if (file)
        fclose(file);
    return speed + (chosen && strstr(chosen, name) ? 1L << 40 : 0);
}

/* Returns false for an address that no other host can call: loopback, and addresses that need the name of a link. */
static bool way_of(const struct ifaddrs *at, struct watch_line_way *way)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)at->ifa_addr;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)at->ifa_addr;
    if (!four || !(at->ifa_flags & IFF_UP) || (at->ifa_flags & IFF_LOOPBACK))
        return false;
    *way = (struct watch_line_way){.six = four->sin_family == AF_INET6};
    if (four->sin_family == AF_INET)
        memcpy(way->address, &four->sin_addr, sizeof four->sin_addr);
    else if (way->six && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
        memcpy(way->address, &six->sin6_addr, sizeof six->sin6_addr);
    else
        return false;
    return true;
}

/* Fills in the ways by which others can call this PE, best first. */
static void find_ways(struct watch_line_place *mine)
{
    long ranks[WATCH_LINE_WAYS];
    struct ifaddrs *all;
    struct watch_line_way way;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
        if (!way_of(at, &way))
            continue;
        long rank = rank_of(at->ifa_name);
        int place = mine->ways;
        while (place && ranks[place - 1] < rank)
            place--;
        if (place == WATCH_LINE_WAYS)
            continue;
        int behind = mine->ways < WATCH_LINE_WAYS ? mine->ways++ : WATCH_LINE_WAYS - 1;
        memmove(&mine->way[place + 1], &mine->way[place], (size_t)(behind - place) * sizeof way);
        memmove(&ranks[place + 1], &ranks[place], (size_t)(behind - place) * sizeof *ranks);
        mine->way[place] = way;
        ranks[place] = rank;
    }
    freeifaddrs(all);
}

/* Listens for calls, to both kinds of addresses where the kernel knows both. Returns the descriptor, or -1. */
static int make_door(uint16_t *port)
{
    int six = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), off = 0;
    int fd = six >= 0 ? six : socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 name = {.sin6_family = AF_INET6}; /* zero is any address and any port of either kind */
    socklen_t length = six >= 0 ? sizeof name : sizeof(struct sockaddr_in);
    if (six < 0)
        name.sin6_family = AF_INET;
    else
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&name, &length) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = name.sin6_port; /* sockaddr_in has the port at the same place */
    return fd;
}

static void watch(int fd, uint32_t what, void *mark)
{
    struct epoll_event event = {.events = what, .data.ptr = mark};
    if (fd >= 0)
        epoll_ctl(events, EPOLL_CTL_ADD, fd, &event);
}

/* Pretended nodes need no lines, since their launcher sees all PEs. */
void watch_line_open(struct watch_line_place *mine)
{
    *mine = (struct watch_line_place){0};
    patience = (int)env_number(ENV_PEER_TIMEOUT);
    resting = 0;
    watch_end_forget();
    if (rte.nodes == 1 || (events = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return;
    watch(rte_launcher_descriptor(), EPOLLRDHUP, &events);
    door = make_door(&mine->port);
    watch(door, EPOLLIN, &door);
    if (door >= 0)
        find_ways(mine);
    rte_on_end = say_goodbye;
}

void watch_line_rest(void)
{
    atomic_store_release(&resting, 1);
}

void watch_line_close(void)
{
    rte_on_end = 0;
    pthread_mutex_lock(&lock); /* a thread that is still in a wait may call watch_line_look */
    while (lines) {
        struct line *line = lines;
        lines = line->next;
        if (line->fd >= 0)
            close(line->fd);
        free(line);
    }
    if (door >= 0)
        close(door);
    if (events >= 0)
        close(events);
    door = events = -1;
    pthread_mutex_unlock(&lock);
}
