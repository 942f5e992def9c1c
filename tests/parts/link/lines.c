/* Lines to other hosts: one to each node, between processes that prove themselves; what is heard on them ends the job or not. Both
 * ends are in this process, over loopback. */
#include "base/env.h"
#include "base/log.h"
#include "base/patience.h"
#include "rte/rte.h"
#include "transport/socket/call.h"
#include "transport/socket/door.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"
#include "uccs/core/where.h"
#include "uccs/watch/fail.h"
#include "uccs/watch/line.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- What line.c calls */

static char said[300];
static bool abandons;
static jmp_buf home;
static bool away;                                                   /* somebody waits for `home` */
static int expected_ends, orphans, pipe_of_launcher[2], fails_with; /* fails_with: errno of the next recv */
static bool end_noted, no_interface, hears_silence;
static bool is_locked(void);

static _Noreturn void come_home(bool abandoned, const char *format, va_list arguments)
{
    abandons = abandoned;
    vsnprintf(said, sizeof said, format, arguments);
    if (!away)
        fprintf(stderr, "not true: nothing ends the job here: %s\n", said), abort();
    longjmp(home, 1);
}

static _Noreturn void test_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    come_home(false, format, arguments);
}

static _Noreturn void test_abandon(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    come_home(true, format, arguments);
}

static void test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

static bool test_note(void)
{
    const bool first = !end_noted;
    end_noted = true;
    return first;
}

static bool test_noted(void)
{
    return end_noted;
}

static void test_forget(void)
{
    end_noted = false;
}

static void test_expect_end(void)
{
    expected_ends++;
}

static void test_orphans(void)
{
    orphans++;
}

static int test_launcher(void)
{
    return pipe_of_launcher[0];
}

/* Two PEs to a node. */
static int test_node_of(int pe)
{
    CHECK(is_locked());
    return pe / 2;
}

static bool test_ways(struct socket_place *mine)
{
    const uint32_t loopback = htonl(INADDR_LOOPBACK);
    mine->ways = 1;
    memcpy(mine->way[0].address, &loopback, sizeof loopback);
    return !no_interface;
}

static ssize_t test_recv(int fd, void *into, size_t bytes, int flags)
{
    if (!fails_with && !hears_silence)
        return recv(fd, into, bytes, flags);
    errno = fails_with;
    return hears_silence ? 0 : -1;
}

#define watch_fail test_fail
#define watch_lost test_fail
#define watch_abandon test_abandon
#define watch_end_note test_note
#define watch_end_noted test_noted
#define watch_end_forget test_forget
#define rte_expect_end test_expect_end
#define rte_end_orphans test_orphans
#define rte_launcher_descriptor test_launcher
#define uccs_node_of test_node_of
#define ways_find test_ways
#define recv test_recv
#define log_line test_log

#include "uccs/watch/line.c"

static bool is_locked(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

/* Returns false when a line ends the job; then the lock is free again. */
static bool look(void)
{
    if (setjmp(home)) {
        pthread_mutex_init(&lock, 0);
        return away = false;
    }
    away = true;
    watch_line_look();
    away = false;
    return true;
}

static struct socket_place place;

static void open_lines(const char *seconds)
{
    const char *why;
    setenv("LATERAL_PEER_TIMEOUT", seconds, 1);
    CHECK(env_load(&why) == 0 && watch_line_open(&place) == 0);
}

/* The door takes calls for PE 2, too. */
static struct line *connect_lines(void)
{
    door.me = 2;
    watch_line_to(2, &place);
    CHECK(lines && !lines->next && lines->pe == 2 && lines->fd == -1 && lines->call);
    struct line *caller = lines;
    struct pollfd file = {watch_line_descriptor(), POLLIN, 0};
    while (caller->fd < 0 || lines == caller) {
        CHECK(caller->call || lines != caller);
        CHECK(poll(&file, 1, 10000) == 1 && look());
    }
    CHECK(!caller->call && lines->next == caller && lines->pe == 0 && lines->fd >= 0);
    return caller;
}

/* Handles all that is there, once something has come. */
static bool hear_at(int fd)
{
    struct pollfd file = {fd, POLLIN, 0}, all = {watch_line_descriptor(), POLLIN, 0};
    bool good = fd < 0 || poll(&file, 1, 10000) == 1;
    while (good && poll(&all, 1, 0) == 1)
        good = look();
    return good;
}

static bool has_byte(int fd, char wanted)
{
    struct pollfd file = {fd, POLLIN, 0};
    char byte = 0;
    return poll(&file, 1, 10000) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) == 1 && byte == wanted;
}

static void opens(void)
{
    rte.nodes = 1;
    open_lines("7");
    CHECK(place.port == 0 && place.ways == 0 && watch_line_descriptor() == -1 && !rte_on_end);
    struct socket_place there = {.port = 1, .ways = 1};
    watch_line_to(2, &there);
    watch_line_look();
    CHECK(!lines);
    rte.nodes = 2;
    no_interface = true;
    CHECK(watch_line_open(&place) == -1 && strstr(said, "which is no network interface of this host"));
    no_interface = false;
    end_noted = true;
    resting = 1;
    open_lines("7");
    CHECK(place.port != 0 && place.ways == 1 && watch_line_descriptor() >= 0 && rte_on_end && !end_noted && !resting);
    CHECK(door.me == 0 && door.npes == 6 && door.places == 32 && door.seconds == 2);
    CHECK(memcmp(door.key, rte.node->nonce, sizeof door.key) == 0);
    there.port = 0;
    watch_line_to(2, &there);
    CHECK(!lines);
    watch_line_close();
    CHECK(watch_line_descriptor() == -1 && !rte_on_end && door.fd == -1);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t bytes = sizeof value;
    CHECK(getsockopt(fd, level, name, &value, &bytes) == 0);
    return value;
}

/* Both ends ask the other kernel in the pattern of the wanted seconds. */
static void keepalive(const char *seconds)
{
    const struct patience p = patience_of(atoi(seconds));
    open_lines(seconds);
    connect_lines();
    for (const struct line *line = lines; line; line = line->next) {
        CHECK(option(line->fd, SOL_SOCKET, SO_KEEPALIVE) == (atoi(seconds) != 0));
        CHECK(!atoi(seconds) || (option(line->fd, IPPROTO_TCP, TCP_KEEPIDLE) == p.idle &&
                                 option(line->fd, IPPROTO_TCP, TCP_KEEPINTVL) == p.between &&
                                 option(line->fd, IPPROTO_TCP, TCP_KEEPCNT) == p.probes));
    }
    watch_line_close();
}

/* One line to each node, whoever of it is called. */
static void nodes(void)
{
    open_lines("7");
    struct line *first = connect_lines();
    const struct line *newest = lines;
    watch_line_to(3, &place); /* of the same node */
    watch_line_to(2, &place);
    CHECK(lines == newest && newest->next == first && !first->next);
    watch_line_to(4, &place);
    CHECK(lines != newest && lines->pe == 4);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++)
        watch_line_look(); /* another thread handles them */
    CHECK(lines->pe == 4 && lines->call && lines->call->state == CALL_RINGS);
    pthread_mutex_unlock(&lock);
    watch_line_close();
    CHECK(!lines);
}

/* A goodbye is passed on once, and then nobody's end is a fault. */
static void goodbyes(void)
{
    open_lines("7");
    struct line *caller = connect_lines(), *called = lines;
    CHECK(send(caller->fd, "xyz", 3, 0) == 3 && hear_at(called->fd) && !end_noted && expected_ends == 0);
    rte_on_end();
    while (!end_noted)
        CHECK(hear_at(called->fd));
    CHECK(expected_ends == 1);
    int fd = caller->fd;
    pthread_mutex_lock(&lock);
    caller->fd = -1;
    pthread_mutex_unlock(&lock);
    close(fd);
    while (called->fd >= 0)
        CHECK(hear_at(called->fd));
    CHECK(expected_ends == 1);
    watch_line_close();
    open_lines("7");
    caller = connect_lines();
    CHECK(send(lines->fd, "e", 1, 0) == 1); /* the caller hears it, and tells all its lines */
    CHECK(hear_at(caller->fd) && expected_ends == 2 && end_noted);
    watch_line_close();
    open_lines("7");
    caller = connect_lines();
    struct pollfd file = {caller->fd, POLLIN, 0};
    CHECK(send(lines->fd, "e", 1, 0) == 1 && poll(&file, 1, 10000) == 1);
    handle(caller);
    CHECK(expected_ends == 3 && has_byte(lines->fd, 'e') && poll(&file, 1, 10000) == 1);
    handle(caller); /* its own goodbye has come to it */
    CHECK(expected_ends == 3 && recv(lines->fd, said, 1, MSG_DONTWAIT) < 0);
    watch_line_close();
}

/* What ends the job: an end without a goodbye, unless all may end; a host that is silent, at any time. */
static void losses(void)
{
    static const struct {
        int error; /* 0: the other end has closed */
        bool rests, noted, nothing, fails, abandons;
    } rows[] = {{EAGAIN, false, false, true, false, false},     {EINTR, false, false, true, false, false},
                {0, false, false, false, true, false},          {0, true, false, false, false, false},
                {0, false, true, false, false, false},          {ECONNRESET, false, false, false, true, false},
                {ECONNRESET, true, false, false, false, false}, {ETIMEDOUT, false, false, false, false, true},
                {ETIMEDOUT, true, false, false, false, true},   {ETIMEDOUT, true, true, false, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_lines("7");
        struct line *caller = connect_lines();
        if (rows[i].rests)
            watch_line_rest();
        end_noted = rows[i].noted;
        fails_with = rows[i].error;
        hears_silence = !rows[i].error;
        abandons = false;
        said[0] = 0;
        away = true;
        const bool ended = setjmp(home) != 0;
        if (!ended)
            handle(caller);
        away = false;
        fails_with = 0;
        hears_silence = false;
        CHECK((caller->fd >= 0) == rows[i].nothing && ended == (rows[i].fails || rows[i].abandons));
        CHECK(abandons == rows[i].abandons);
        CHECK(!rows[i].fails || strcmp(said, "PE 2 is lost: its process is gone") == 0);
        CHECK(!rows[i].abandons || strstr(said, "PE 2 is lost: its host has not answered for 7 s"));
        handle(caller); /* nothing more is heard of it */
        end_noted = true;
        watch_line_close();
    }
}

/* Each part of a proof counts. */
static void proofs(void)
{
    const uint64_t key[2] = {1, 2}, other[2] = {1, 3};
    const struct proof_challenge mine = {{3, 4}}, none = {{3, 5}};
    struct proof_hello hello = {.from = 4, .to = 5, .word = 6, .challenge = {{7, 8}}};
    proof_sign(key, &hello, &mine);
    CHECK(proof_good(key, &hello, &mine, 5, 5) && !proof_good(key, &hello, &mine, 4, 5));
    CHECK(!proof_good(key, &hello, &mine, 5, 4) && !proof_good(other, &hello, &mine, 5, 5));
    CHECK(!proof_good(key, &hello, &none, 5, 5));
    for (int i = 0; i < 5; i++) {
        struct proof_hello wrong = hello;
        wrong.from -= i == 0;
        wrong.word += i == 1;
        wrong.challenge.words[0] += i == 2;
        wrong.challenge.words[1] += i == 3;
        wrong.proof += i == 4;
        CHECK(!proof_good(key, &wrong, &mine, 5, 5));
    }
    const uint64_t answer = proof_answer(key, &hello, &mine);
    CHECK(answer != hello.proof && answer != proof_answer(key, &hello, &none));
}

static void launcher(void)
{
    open_lines("7");
    CHECK(hear_at(-1) && orphans == 0);
    close(pipe_of_launcher[1]);
    CHECK(look() && orphans >= 1);
    watch_line_close();
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(void)
{
    static struct node node = {.nonce = {5, 6}};
    rte.node = &node;
    uccs_core.me = 0;
    uccs_core.npes = 6;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_of_launcher) == 0);
    const int before = open_files();
    proofs();
    opens();
    keepalive("7");
    keepalive("60");
    keepalive("0");
    nodes();
    goodbyes();
    losses();
    CHECK(open_files() == before); /* no socket is left */
    launcher();
    return 0;
}
