/* Lines to other hosts at their edges, over made-up sockets: descriptors with the number 0, numbers of PEs beyond 16 bits, calls that are
 * over at once, memory that runs out, and what is closed and freed in the end. */
#include "parts/owned.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "transport/socket/call.h"
#include "transport/socket/door.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"
#include "uccs/core/where.h"
#include "uccs/watch/fail.h"
#include "uccs/watch/line.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- What line.c calls */

enum { ME = 70001, PEER = 80001, NPES = 90001, LAUNCHER = 50, EVENTS = 0 };

static enum call_state begins_as, becomes; /* states of a call that begins, that has news */
static int call_fd, created;               /* of a call that is up; of the next epoll */
static struct call begun;                  /* as it was begun */
static int closed[8], closes, added[8], adds, sent_on[8], sends, called_off, door_closes, goodbyes_expected;
static ssize_t received;
static int receive_error;
static char heard_word;
static bool ended;
static void *news;

static int note_close(int fd)
{
    closed[closes++] = fd;
    return 0;
}

static int note_await(int epoll, int fd)
{
    CHECK(epoll == EVENTS);
    added[adds++] = fd;
    return 0;
}

static ssize_t note_send(int fd, const void *word, size_t bytes)
{
    CHECK(bytes == 1 && *(const char *)word == 'e');
    sent_on[sends++] = fd;
    return 1;
}

static ssize_t give_word(int fd, char *word)
{
    CHECK(fd == call_fd && owned_held == 1);
    *word = heard_word;
    errno = receive_error;
    return received;
}

static int give_news(struct epoll_event *events)
{
    CHECK(owned_held == 1);
    events->data.ptr = news;
    return news != 0;
}

static bool note_end(void)
{
    const bool first = !ended;
    ended = true;
    return first;
}

static bool find_ways(struct socket_place *mine)
{
    mine->port = 1;
    return true;
}

#define epoll_create1(how) created
#define epoll_ctl(epoll, how, fd, event) ((void)(how), (void)(event), note_await(epoll, fd))
#define epoll_wait(epoll, events, most, time) give_news(events)
#define close(fd) note_close(fd)
#define send(fd, word, bytes, how) note_send(fd, word, bytes)
#define recv(fd, word, bytes, how) give_word(fd, word)
#define call_begin(call) ((call)->state = begins_as, (call)->fd = call_fd, begun = *(call))
#define call_news(call) ((call)->state = becomes)
#define call_end(call, how) ((call)->state = (how), called_off++)
#define door_open(door, place) 0
#define door_close(door) ((void)(door), door_closes++)
#define door_news(door, mark) ((void)(door), false)
#define ways_find(place) find_ways(place)
#define env_number(which) 0
#define uccs_node_of(pe) (pe)
#define rte_launcher_descriptor() LAUNCHER
#define rte_end_orphans() ((void)0)
#define rte_expect_end() ((void)goodbyes_expected++)
#define watch_end_note note_end
#define watch_end_noted() ended
#define watch_end_forget() ((void)(ended = false))
#define watch_fail owned_fail
#define watch_lost owned_fail
#define watch_abandon owned_fail
#define pthread_mutex_trylock(which) owned_lock(which)
#include "uccs/watch/line.c"

static const struct socket_place place = {.port = 1, .ways = 1};

static void open_with(int epoll)
{
    struct socket_place mine;
    closes = adds = sends = called_off = door_closes = goodbyes_expected = 0;
    created = epoll;
    begins_as = CALL_RINGS;
    call_fd = 0;
    news = 0;
    CHECK(watch_line_open(&mine) == 0 && mine.port == (epoll < 0 ? 0 : 1) && resting == 0);
}

/* A line that is up; its descriptor is 0. */
static struct line *open_line(void)
{
    open_with(EVENTS);
    watch_line_to(PEER, &place);
    struct line *line = lines;
    CHECK(line && line->call && line->fd == -1);
    news = line;
    becomes = CALL_UP;
    watch_line_look();
    CHECK(line->fd == 0 && !line->call && owned_held == 0);
    return line;
}

static bool is_closed(int fd)
{
    for (int i = 0; i < closes; i++)
        if (closed[i] == fd)
            return true;
    return false;
}

static void whole_numbers(void)
{
    open_with(EVENTS);
    CHECK(watch_line_descriptor() == EVENTS && adds == 1 && added[0] == LAUNCHER && rte_on_end);
    CHECK(door.me == ME && door.npes == NPES && door.events == EVENTS);
    watch_line_to(PEER, &place);
    CHECK(begun.me == ME && begun.pe == PEER && begun.events == EVENTS && begun.mark == lines);
    CHECK(begun.place.port == 1 && begun.here.port == 1);
    await(0, &events, EPOLLIN, EPOLL_CTL_ADD);
    await(-1, &events, EPOLLIN, EPOLL_CTL_ADD);
    CHECK(adds == 2 && added[1] == 0);
    watch_line_close();
    CHECK(called_off == 1 && door_closes == 1 && closes == 1 && closed[0] == EVENTS && !lines && !rte_on_end);
    CHECK(owned_count == 0 && owned_held == 0 && watch_line_descriptor() == -1);
}

static void no_epoll(void)
{
    open_with(-1);
    CHECK(!rte_on_end && watch_line_descriptor() == -1);
    watch_line_to(PEER, &place);
    watch_line_look();
    CHECK(!lines && owned_count == 0);
    watch_line_close();
    CHECK(closes == 0 && door_closes == 1);
}

/* A call that finds no way leaves a line without one, at once or later; the PE is not called again. */
static void calls_that_fail(void)
{
    static const enum call_state ends[] = {CALL_LATER, CALL_OVER};
    for (int i = 0; i < 2; i++)
        for (int later = 0; later < 2; later++) {
            open_with(EVENTS);
            begins_as = later ? CALL_RINGS : ends[i];
            watch_line_to(PEER, &place);
            CHECK(lines && !lines->call == !later);
            news = lines;
            becomes = ends[i];
            if (later)
                watch_line_look();
            CHECK(!lines->call && lines->fd == -1 && owned_count == 1 && owned_held == 0);
            watch_line_look(); /* what is left of its news */
            watch_line_to(PEER, &place);
            CHECK(!lines->next && !lines->call);
            rte_on_end();
            CHECK(sends == 0);
            watch_line_close();
            CHECK(called_off == 0 && owned_count == 0 && closes == 1);
        }
}

static void number_zero(void)
{
    const struct line *line = open_line();
    rte_on_end();
    CHECK(sends == 1 && sent_on[0] == 0);
    heard_word = 'e';
    received = 1;
    watch_line_look();
    CHECK(ended && goodbyes_expected == 1 && sends == 2 && line->fd == 0 && closes == 0);
    watch_line_look();
    CHECK(goodbyes_expected == 1 && sends == 2);
    watch_line_close();
    CHECK(closes == 2 && owned_count == 0);
}

/* An end is one whatever errno says; a read that fails for now is none. */
static void ends_and_pauses(void)
{
    const struct line *line = open_line();
    received = -1;
    receive_error = EAGAIN;
    watch_line_look();
    receive_error = EINTR;
    watch_line_look();
    CHECK(line->fd == 0 && closes == 0);
    received = 0;
    receive_error = EAGAIN;
    OWNED_FAILS(watch_line_look(), "PE 80001 is lost: its process is gone");
    CHECK(line->fd == -1 && is_closed(0) && closes == 1);
    watch_line_look(); /* nothing is heard of it any more */
    CHECK(closes == 1);
    watch_line_close();
    CHECK(closes == 2 && owned_count == 0);
}

static void no_memory(int left)
{
    open_with(EVENTS);
    owned_left = left;
    OWNED_FAILS(watch_line_to(PEER, &place), "no memory for a line to another host");
    CHECK(lines ? owned_count == 1 : owned_count == 0);
    watch_line_close();
    CHECK(owned_count == 0);
}

int main(void)
{
    static struct node node = {.nonce = {5, 6}};
    rte.node = &node;
    rte.nodes = 2;
    uccs_core.me = ME;
    uccs_core.npes = NPES;
    whole_numbers();
    no_epoll();
    calls_that_fail();
    number_zero();
    ends_and_pauses();
    no_memory(0); /* for the line */
    no_memory(1); /* for its call */
    return 0;
}
