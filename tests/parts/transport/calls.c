/* A call of another PE (transport/socket/call.c), step by step: which ways it tries and how often, what it says, and how it ends. The
 * other end is the test, over a pair of sockets; the proofs are made up. */
#include "transport/socket/call.h"
#include "transport/socket/door.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int there = -1;                     /* the other end of the last connection */
static int asked[40], asks, no_way, fault; /* ways; bit of a way that leads nowhere; what a connection has met */
static bool no_random, epoll_is_full, same_end;
static int hear_error; /* of reading; 0: none */
static struct call call;

int ways_call(const struct socket_place *place, int number, const struct socket_place *mine)
{
    int pair[2];
    CHECK(place == &call.place && mine == &call.here && asks < 40);
    asked[asks++] = number;
    if (no_way >> number & 1)
        return -1;
    if (there >= 0)
        close(there);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    there = pair[1];
    return pair[0];
}

bool proof_make_challenge(struct proof_challenge *challenge)
{
    *challenge = (struct proof_challenge){{5, 6}};
    return !no_random;
}

void proof_sign(const uint64_t key[2], struct proof_hello *hello, const struct proof_challenge *theirs)
{
    CHECK(hello->challenge.words[0] == 5 && hello->challenge.words[1] == 6);
    hello->proof = key[0] + key[1] + theirs->words[0] + theirs->words[1];
}

/* Its complement is the first word of the challenge, which lies where the answer comes to lie; `same_end`: but for its last byte, which is
 * that word's. */
static uint64_t answer_to(const struct proof_challenge *called)
{
    uint64_t answer = ~called->words[0];
    if (same_end)
        memcpy((char *)&answer + 7, (const char *)called->words + 7, 1);
    return answer;
}

uint64_t proof_answer(const uint64_t key[2], const struct proof_hello *hello, const struct proof_challenge *called)
{
    CHECK(key == call.key && hello->proof == 110 + called->words[0] + called->words[1]);
    return answer_to(called);
}

static int take_on(int events, int how, int fd, struct epoll_event *event)
{
    if (epoll_is_full && how == EPOLL_CTL_ADD)
        return errno = ENOSPC, -1;
    return epoll_ctl(events, how, fd, event);
}

static int ask_socket(int fd, int level, int what, void *value, socklen_t *bytes)
{
    CHECK(getsockopt(fd, level, what, value, bytes) == 0 && what == SO_ERROR);
    *(int *)value = fault;
    return 0;
}

static ssize_t hear_some(int fd, void *to, size_t room, int flags)
{
    errno = hear_error ? hear_error : EAGAIN; /* of an earlier call */
    return hear_error ? -1 : recv(fd, to, room, flags);
}

#define recv hear_some
#define epoll_ctl take_on
#define getsockopt ask_socket
#include "transport/socket/call.c"
#undef recv
#undef epoll_ctl
#undef getsockopt

/* --- What the test does */

static void begin(int ways)
{
    if (call.fd > 0)
        close(call.fd);
    asks = no_way = fault = 0;
    call = (struct call){.events = call.events, .mark = &call, .key = {10, 100}, .me = 3, .pe = 8, .word = 77};
    call.place.ways = ways;
    call_begin(&call);
}

static bool awaits(uint32_t what)
{
    struct epoll_event event;
    return epoll_wait(call.events, &event, 1, 0) == 1 && event.events == what && event.data.ptr == &call;
}

static void hear(const void *bytes, size_t length)
{
    CHECK(send(there, bytes, length, 0) == (ssize_t)length && awaits(EPOLLIN));
    call_news(&call);
}

static const struct proof_challenge challenge = {{0x0123456789abcdef, 9}};

/* Up to the hello. */
static void is_challenged(void)
{
    struct proof_hello hello;
    CHECK(call.state == CALL_RINGS && awaits(EPOLLOUT));
    call_news(&call);
    CHECK(call.state == CALL_HEARS && !awaits(EPOLLOUT));
    call_news(&call); /* nothing has come */
    CHECK(call.state == CALL_HEARS);
    hear(&challenge, 15);
    CHECK(call.state == CALL_HEARS && call.got == 15 && recv(there, &hello, sizeof hello, 0) == -1);
    hear((const char *)&challenge + 15, 1);
    CHECK(call.state == CALL_ASKS && recv(there, &hello, sizeof hello, 0) == sizeof hello);
    CHECK(hello.from == 3 && hello.to == 8 && hello.word == 77 && hello.challenge.words[1] == 6);
    CHECK(hello.proof == 110 + challenge.words[0] + 9 && call.wanted == answer_to(&challenge));
}

static void answers(void)
{
    const uint64_t good = ~challenge.words[0], later = challenge.words[0], bad = 1;
    begin(1);
    is_challenged();
    hear(&later, 7); /* and the byte behind them is that of this answer already */
    CHECK(call.state == CALL_ASKS && call.fd >= 0);
    hear((const char *)&later + 7, 1);
    CHECK(call.state == CALL_LATER && call.fd == -1 && recv(there, &call.got, 1, 0) == 0);
    begin(1);
    is_challenged();
    hear(&good, 3);
    CHECK(call.state == CALL_ASKS);
    hear((const char *)&good + 3, 5);
    CHECK(call.state == CALL_UP && call.fd >= 0);
    const int fd = call.fd;
    call_news(&call);
    CHECK(call.state == CALL_UP && call.fd == fd);
    call_end(&call, CALL_OVER);
    CHECK(call.state == CALL_OVER && call.fd == -1 && close(fd) == -1);
    call_news(&call);
    CHECK(call.state == CALL_OVER && asks == 1);
    begin(2);
    is_challenged();
    hear(&bad, sizeof bad); /* the PE is called again, as one that hangs up is */
    CHECK(call.state == CALL_RINGS && call.tries == 1 && asks == 2 && asked[1] == 0);
}

/* An answer counts when all of it is there, whatever lies behind what has come. */
static void whole_answers(void)
{
    same_end = true;
    const uint64_t good = answer_to(&challenge);
    begin(1);
    is_challenged();
    hear(&good, 7);
    CHECK(call.state == CALL_ASKS && call.heard.answer == good);
    hear((const char *)&good + 7, 1);
    CHECK(call.state == CALL_UP);
    same_end = false;
}

/* Nothing is there yet, or the call has been interrupted; any other error is as if the other end had hung up. */
static void errors(void)
{
    static const int none[] = {EAGAIN, EINTR};
    begin(1);
    call_news(&call);
    for (int i = 0; i < 2; i++) {
        hear_error = none[i];
        call_news(&call);
        CHECK(call.state == CALL_HEARS && call.tries == 0);
    }
    hear_error = ECONNRESET;
    call_news(&call);
    CHECK(call.state == CALL_RINGS && call.tries == 1 && asks == 2);
    hear_error = 0;
}

/* In a program with a closed standard input. */
static void lowest_number(void)
{
    const int input = dup(0);
    CHECK(input > 0);
    begin(0);
    close(0);
    begin(1);
    CHECK(call.state == CALL_RINGS && call.fd == 0 && asks == 1);
    call_end(&call, CALL_OVER);
    CHECK(call.fd == -1 && fcntl(0, F_GETFD) == -1);
    CHECK(dup2(input, 0) == 0 && close(input) == 0);
}

/* A way that leads nowhere is followed by the next one, a PE that hangs up is called again by the same one, eight times in all. */
static void ways(void)
{
    begin(0);
    CHECK(call.state == CALL_OVER && asks == 0 && call.fd == -1);
    begin(3);
    no_way = 2;
    fault = ECONNREFUSED;
    CHECK(call.state == CALL_RINGS && asked[0] == 0);
    call_news(&call);
    CHECK(call.state == CALL_RINGS && asks == 3 && asked[1] == 1 && asked[2] == 2 && call.tries == 0);
    call_news(&call);
    CHECK(call.state == CALL_OVER && call.fd == -1 && asks == 3);
    begin(2);
    for (int hung_up = 1; hung_up <= 8; hung_up++) {
        CHECK(call.state == CALL_RINGS && asked[asks - 1] == 0 && asks == hung_up);
        call_news(&call);
        CHECK(call.state == CALL_HEARS && call.tries == hung_up - 1);
        close(there);
        there = -1;
        call_news(&call);
    }
    CHECK(call.state == CALL_RINGS && asks == 9 && asked[8] == 1);
    call_news(&call);
    close(there);
    there = -1;
    call_news(&call); /* of the last way there is no more */
    CHECK(call.state == CALL_OVER && asks == 9);
}

static void failures(void)
{
    epoll_is_full = true;
    begin(2);
    CHECK(call.state == CALL_OVER && call.fd == -1 && asks == 2);
    epoll_is_full = false;
    begin(1);
    call_news(&call);
    no_random = true;
    hear(&challenge, sizeof challenge);
    CHECK(call.state == CALL_RINGS && call.tries == 1);
    no_random = false;
    call_news(&call);
    CHECK(send(there, &challenge, sizeof challenge, 0) == sizeof challenge && shutdown(there, SHUT_RD) == 0);
    call_news(&call); /* the hello cannot be sent */
    CHECK(call.state == CALL_RINGS && call.tries == 2);
    call_end(&call, CALL_LATER);
    CHECK(call.state == CALL_LATER && call.fd == -1);
    call_end(&call, CALL_OVER);
    CHECK(call.state == CALL_OVER);
}

int main(void)
{
    call.events = epoll_create1(EPOLL_CLOEXEC);
    CHECK(call.events >= 0);
    answers();
    whole_answers();
    errors();
    lowest_number();
    ways();
    failures();
    close(there);
    close(call.events);
    return 0;
}
