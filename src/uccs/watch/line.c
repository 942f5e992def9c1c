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
 * A caller proves that it knows the job's key, and so does the called PE (proof.h), because anybody may call, and an
 * address of a private network may be another host's. Who has called and has not proved himself is a *guest*: there are
 * GUESTS of them at most, each for GUEST_SECONDS; one more makes the oldest leave. A guest costs a descriptor, and nothing
 * once it is gone. A peer that no way leads to has no line; then only transport and launcher notice its loss.
 *
 * Threads: a lock of their own guards the lines; no thread waits while it holds the lock. Lines are freed at close
 * only, so that any thread can send the goodbye without the lock. */
#include "uccs/watch/line.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/patience.h"
#include "rte/rte.h"
#include "uccs/core/memory.h"
#include "uccs/watch/fail.h"
#include "uccs/watch/proof.h"
#include "uccs/watch/ways.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define GUESTS 32       /* callers that may be here without a proof */
#define GUEST_SECONDS 2 /* which they may take for it */
#define TRIES 8         /* calls of a PE that has answered none */
#define GOODBYE 'e'     /* the job ends; its launcher knows */

enum state { CALLING, HEARING, ASKING, UP, OVER };

struct line {
    int fd, pe; /* fd -1: closed */
    enum state state;
    struct watch_line_place place;
    int way;   /* number of the next way to try */
    int tries; /* times that the called PE has hung up before it answered */
    struct watch_hello hello;
    union {
        struct watch_challenge challenge; /* of the called PE */
        uint64_t answer;
    } heard;
    size_t got;      /* bytes of it so far */
    uint64_t wanted; /* the answer of a PE of this job */
    struct line *next;
};

/* A caller that has not proved itself yet. */
struct guest {
    int fd; /* -1: nobody */
    time_t since;
    struct watch_challenge challenge;
    struct watch_hello hello;
    size_t got; /* bytes of the hello received so far */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line *lines;
static struct guest guests[GUESTS];
static struct watch_line_place here; /* of this PE */
static int events = -1, door = -1, timer = -1, patience;
static uint32_t resting; /* release: watch_line_rest; acquire: hear */

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

/* Reads more of something of `whole` bytes. Returns 1 when all of it is there, 0 when more is to come, -1 when the other
 * end has hung up. */
static int collect(int fd, void *what, size_t whole, size_t *got)
{
    ssize_t more = recv(fd, (char *)what + *got, whole - *got, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (more <= 0)
        return -1;
    *got += (size_t)more;
    return *got == whole;
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

/* Calls by the next way that can be tried. */
static void try_ways(struct line *line)
{
    line->state = OVER;
    while (line->way < line->place.ways) {
        int fd = watch_ways_call(&line->place, line->way++, &here);
        if (fd < 0)
            continue;
        line->fd = fd;
        line->state = CALLING;
        await(fd, line, EPOLLOUT, EPOLL_CTL_ADD);
        return;
    }
    log_debug("no line to PE %d: that its host is gone, transport and launcher alone may notice", line->pe);
}

static bool has_line_to(int node)
{
    for (const struct line *line = lines; line; line = line->next)
        if (uccs_node_of(line->pe) == node)
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

/* A PE that has been called hangs up when this one was too slow, as it was computing, or when too many others call: this
 * one calls again. */
static void next_way(struct line *line)
{
    if (line->state != CALLING && ++line->tries < TRIES)
        line->way--;
    hang_up(line);
    try_ways(line);
}

static void called(struct line *line)
{
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(line->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        next_way(line);
        return;
    }
    set_keepalive(line->fd);
    line->state = HEARING;
    line->got = 0;
    await(line->fd, line, EPOLLIN, EPOLL_CTL_MOD);
}

/* Answers the challenge of the called PE, and challenges it. */
static bool say_hello(struct line *line)
{
    struct watch_hello *hello = &line->hello;
    *hello = (struct watch_hello){.from = (uint32_t)uccs_core.me, .to = (uint32_t)line->pe};
    if (!watch_proof_challenge(&hello->challenge))
        return false;
    watch_proof_sign(rte.node->nonce, hello, &line->heard.challenge);
    line->wanted = watch_proof_answer(rte.node->nonce, hello, &line->heard.challenge);
    return send(line->fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello;
}

static void challenged(struct line *line)
{
    int whole = collect(line->fd, &line->heard, sizeof line->heard.challenge, &line->got);
    if (whole < 0 || (whole && !say_hello(line))) {
        next_way(line);
    } else if (whole) {
        line->state = ASKING;
        line->got = 0;
    }
}

static void asked(struct line *line)
{
    int whole = collect(line->fd, &line->heard, sizeof line->heard.answer, &line->got);
    if (whole > 0 && line->heard.answer == line->wanted)
        line->state = UP;
    else if (whole)
        next_way(line);
}

/* ---- being called ---- */

static time_t seconds_now(void)
{
    return (time_t)(clock_nanoseconds() / CLOCK_SECOND);
}

static void set_timer(void)
{
    const struct itimerspec once = {.it_value.tv_sec = 1};
    timerfd_settime(timer, 0, &once, 0);
}

static void show_out(struct guest *guest)
{
    close(guest->fd);
    guest->fd = -1;
}

/* Returns a place for a guest; where there is none, the one who came first leaves. */
static struct guest *free_place(void)
{
    struct guest *place = &guests[0];
    for (struct guest *guest = guests; guest < guests + GUESTS && place->fd >= 0; guest++)
        if (guest->fd < 0 || guest->since < place->since)
            place = guest;
    if (place->fd >= 0)
        show_out(place);
    return place;
}

/* The door rests for a second when the process has no descriptor left. */
static void open_door(void)
{
    int fd = accept4(door, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        await(door, &door, 0, EPOLL_CTL_MOD);
        set_timer();
    }
    if (fd < 0)
        return;
    struct guest *guest = free_place();
    *guest = (struct guest){.fd = fd, .since = seconds_now()};
    if (!watch_proof_challenge(&guest->challenge) ||
        send(fd, &guest->challenge, sizeof guest->challenge, MSG_NOSIGNAL) != sizeof guest->challenge) {
        show_out(guest);
        return;
    }
    await(fd, guest, EPOLLIN, EPOLL_CTL_ADD);
    set_timer();
}

/* Makes a line of a guest that has proved itself. */
static void let_in(struct guest *guest)
{
    const uint64_t answer = watch_proof_answer(rte.node->nonce, &guest->hello, &guest->challenge);
    if (send(guest->fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) {
        show_out(guest);
        return;
    }
    set_keepalive(guest->fd);
    await(guest->fd, add_line(guest->fd, (int)guest->hello.from, UP), EPOLLIN, EPOLL_CTL_MOD);
    guest->fd = -1;
}

static void hear_guest(struct guest *guest)
{
    int whole = guest->fd < 0 ? 0 : collect(guest->fd, &guest->hello, sizeof guest->hello, &guest->got);
    if (whole > 0 && watch_proof_good(rte.node->nonce, &guest->hello, &guest->challenge, (uint32_t)uccs_core.me,
                                      (uint32_t)uccs_core.npes))
        let_in(guest);
    else if (whole)
        show_out(guest);
}

/* Shows those out who have taken too long. */
static void look_round(void)
{
    uint64_t rings;
    bool more = false;
    (void)!read(timer, &rings, sizeof rings);
    await(door, &door, EPOLLIN, EPOLL_CTL_MOD);
    for (struct guest *guest = guests; guest < guests + GUESTS; guest++) {
        if (guest->fd >= 0 && seconds_now() - guest->since >= GUEST_SECONDS)
            show_out(guest);
        more |= guest->fd >= 0;
    }
    if (more)
        set_timer();
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

static void handle(struct line *line)
{
    switch (line->state) {
    case CALLING: called(line); break;
    case HEARING: challenged(line); break;
    case ASKING: asked(line); break;
    case UP: hear(line); break;
    case OVER: break;
    }
}

static bool is_guest(const void *mark)
{
    return (uintptr_t)mark - (uintptr_t)guests < sizeof guests;
}

static void take_news(void *mark)
{
    if (mark == &door)
        open_door();
    else if (mark == &events)
        rte_end_orphans(); /* the other nodes see that they are gone */
    else if (mark == &timer)
        look_round();
    else if (is_guest(mark))
        hear_guest(mark);
    else
        handle(mark);
}

void watch_line_look(void)
{
    struct epoll_event news[16];
    if (events < 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    int count = epoll_wait(events, news, sizeof news / sizeof *news, 0);
    for (int i = 0; i < count; i++)
        take_news(news[i].data.ptr);
    pthread_mutex_unlock(&lock);
}

int watch_line_descriptor(void)
{
    return events;
}

/* ---- life ---- */

static void open_door_here(void)
{
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    door = timer >= 0 && here.ways ? watch_ways_door(&here) : -1;
    await(timer, &timer, EPOLLIN, EPOLL_CTL_ADD);
    await(door, &door, EPOLLIN, EPOLL_CTL_ADD);
}

/* Pretended nodes need no lines, since their launcher sees all PEs. */
int watch_line_open(struct watch_line_place *mine)
{
    here = *mine = (struct watch_line_place){0};
    patience = (int)env_number(ENV_PEER_TIMEOUT);
    resting = 0;
    watch_end_forget();
    for (int i = 0; i < GUESTS; i++)
        guests[i].fd = -1;
    if (rte.nodes == 1)
        return 0;
    if (!watch_ways_find(&here))
        return -1;
    if ((events = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return 0;
    await(rte_launcher_descriptor(), &events, EPOLLRDHUP, EPOLL_CTL_ADD);
    open_door_here();
    *mine = here;
    rte_on_end = say_goodbye;
    return 0;
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
    for (int i = 0; i < GUESTS; i++)
        if (guests[i].fd >= 0)
            show_out(&guests[i]);
    const int ends[] = {door, timer, events};
    door = timer = events = -1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    pthread_mutex_unlock(&lock);
}
