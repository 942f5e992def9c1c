/* The door (transport/socket/door.c) step by step: who gets a place, who leaves for whom and when, what a guest hears, when the door
 * rests, and what is given back. Any number is good for a descriptor, 0 as well. The kernel, the ways and the proofs are made up. */
#include "transport/socket/door.h"

#include "parts/owned.h"

#include "traced.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 90, PLACES = 3 };

static struct door door;
static struct socket_place place;
static struct timespec now;
static int new_caller, new_timer, new_door, error, ctl_fails; /* ctl_fails: so many calls succeed */
static ssize_t short_by;                                      /* bytes that send does not take */
static bool no_random, no_proof, unwanted;

static const char *mark_of(const void *mark)
{
    static char name[20];
    snprintf(name, sizeof name, "guest%d", (int)((const struct door_guest *)mark - door.guests));
    return mark == &door.fd ? "door" : mark == &door.timer ? "timer" : name;
}

int ways_door(struct socket_place *mine)
{
    CHECK(mine == &place);
    note("listen;");
    return new_door;
}

bool proof_make_challenge(struct proof_challenge *challenge)
{
    *challenge = (struct proof_challenge){{7, 8}};
    return !no_random;
}

bool proof_good(const uint64_t key[2], const struct proof_hello *hello, const struct proof_challenge *mine, uint32_t me,
                uint32_t npes)
{
    CHECK(key == door.key && mine->words[0] == 7 && hello->from == 2 && hello->word == 55 && me == 1 && npes == 4);
    note("good?;");
    return !no_proof;
}

uint64_t proof_answer(const uint64_t key[2], const struct proof_hello *hello, const struct proof_challenge *called)
{
    CHECK(key == door.key && hello->word == 55 && called->words[1] == 8);
    return 0x1234;
}

static int fake_accept(int fd, struct sockaddr *name, socklen_t *bytes, int flags)
{
    CHECK(fd == door.fd && !name && !bytes && flags == (SOCK_NONBLOCK | SOCK_CLOEXEC));
    errno = error;
    return error ? -1 : new_caller;
}

static ssize_t fake_send(int fd, const void *bytes, size_t length, int flags)
{
    uint64_t word;
    CHECK(flags == MSG_NOSIGNAL && length >= sizeof word);
    memcpy(&word, bytes, sizeof word);
    note("send %d %llx/%zu;", fd, (unsigned long long)word, length);
    return (ssize_t)length - short_by;
}

static const struct proof_hello whole = {.from = 2, .to = 1, .word = 55, .challenge = {{3, 4}}, .proof = 6};
static ssize_t brings; /* bytes of the hello that the guest says next */
static size_t said;    /* has said */

static ssize_t fake_recv(int fd, void *to, size_t room, int flags)
{
    CHECK(room == sizeof whole - said && flags == 0);
    note("recv %d;", fd);
    errno = error;
    if (brings > 0) {
        memcpy(to, (const char *)&whole + said, (size_t)brings);
        said += (size_t)brings;
    }
    return brings;
}

static int fake_ctl(int events, int how, int fd, struct epoll_event *event)
{
    CHECK(events == EVENTS && (how == EPOLL_CTL_ADD || how == EPOLL_CTL_MOD));
    note("%s %d %s %s;", how == EPOLL_CTL_ADD ? "add" : "mod", fd, mark_of(event->data.ptr),
         event->events == EPOLLIN ? "in"
         : event->events          ? "?"
                                  : "none");
    return ctl_fails-- == 0 ? -1 : 0;
}

static int fake_timer(int clock, int flags)
{
    CHECK(clock == CLOCK_MONOTONIC && flags == (TFD_NONBLOCK | TFD_CLOEXEC));
    note("create;");
    return new_timer;
}

static int fake_settime(int timer, int flags, const struct itimerspec *next, struct itimerspec *before)
{
    CHECK(timer == door.timer && !flags && !before && next->it_value.tv_sec == 1 && next->it_value.tv_nsec == 0);
    CHECK(next->it_interval.tv_sec == 0 && next->it_interval.tv_nsec == 0);
    note("set;");
    return 0;
}

static ssize_t fake_read(int fd, void *to, size_t bytes)
{
    CHECK(fd == door.timer && bytes == 8);
    memset(to, 1, bytes);
    note("read;");
    return (ssize_t)bytes;
}

static int fake_close(int fd)
{
    note("close %d;", fd);
    return 0;
}

static int fake_clock(clockid_t clock, struct timespec *time)
{
    CHECK(clock == CLOCK_MONOTONIC);
    *time = now;
    return 0;
}

#define accept4 fake_accept
#define send fake_send
#define recv fake_recv
#define epoll_ctl fake_ctl
#define timerfd_create fake_timer
#define timerfd_settime fake_settime
#define read fake_read
#define close fake_close
#define clock_gettime fake_clock
#include "transport/socket/door.c"

#include "door_guests_told.h"

/* --- What the test does */

static void make(uint32_t places)
{
    door = (struct door){.fd = -1, .timer = -1, .events = EVENTS, .places = places, .seconds = 4, .key = {1, 2}};
    door.me = 1, door.npes = 4, door.wants = is_wanted, door.let_in = has_come, door.full = is_full, door.owner = &told;
    place = (struct socket_place){.ways = 1};
    error = 0, short_by = 0, ctl_fails = -1;
    now = (struct timespec){100, 999999999};
}

static void open_door(void)
{
    make(PLACES);
    new_timer = 11, new_door = 12;
    CHECK(door_open(&door, &place) == 0 && door.timer == 11 && door.fd == 12);
    CHECK(did("create;listen;add 11 timer in;add 12 door in;"));
    for (int i = 0; i < PLACES; i++)
        CHECK(door.guests[i].fd == -1);
}

static void close_door(const char *calls)
{
    door_close(&door);
    CHECK(did(calls) && !door.guests && door.fd == -1 && door.timer == -1 && owned_count == 0);
    door_close(&door);
    CHECK(did(""));
}

/* A caller rings; its number is its descriptor. */
static void ring(int caller, time_t since)
{
    new_caller = caller, now.tv_sec = since;
    CHECK(door_news(&door, &door.fd));
}

static void opening(void)
{
    open_door();
    close_door("close 12;close 11;");
    make(PLACES);
    new_timer = 0, new_door = 0; /* one after the other, as in a program with a closed standard input */
    CHECK(door_open(&door, &place) == 0 && did("create;listen;add 0 timer in;add 0 door in;"));
    close_door("close 0;close 0;");
    make(PLACES);
    owned_left = 0;
    CHECK(door_open(&door, &place) == -1 && did(""));
    close_door("");
    make(PLACES), new_timer = -1;
    CHECK(door_open(&door, &place) == -1 && did("create;"));
    close_door("");
    make(PLACES), new_timer = 11, place.ways = 0;
    CHECK(door_open(&door, &place) == -1 && did("create;"));
    close_door("close 11;");
    make(PLACES), new_door = -1;
    CHECK(door_open(&door, &place) == -1 && did("create;listen;"));
    close_door("close 11;");
    make(PLACES), new_door = 12, ctl_fails = 0;
    CHECK(door_open(&door, &place) == -1 && did("create;listen;add 11 timer in;"));
    close_door("close 12;close 11;");
    make(PLACES), ctl_fails = 1;
    CHECK(door_open(&door, &place) == -1 && did("create;listen;add 11 timer in;add 12 door in;"));
    close_door("close 12;close 11;");
}

/* Callers take the places from the first on; then the one who has been there longest leaves, of several the first. */
static void places(void)
{
    open_door();
    door.rests = 3;
    ring(0, 105);
    CHECK(did("send 0 7/16;add 0 guest0 in;set;") && door.rests == 0);
    CHECK(door.guests[0].fd == 0 && door.guests[0].since == 105 && door.guests[0].got == 0);
    ring(21, 103);
    CHECK(did("send 21 7/16;add 21 guest1 in;set;"));
    door.places = 2, door.guests[2] = (struct door_guest){.fd = 99, .since = 1}; /* none of the two */
    ring(22, 106);
    CHECK(did("close 21;send 22 7/16;add 22 guest1 in;set;"));
    ring(23, 107);
    CHECK(did("close 0;send 23 7/16;add 23 guest0 in;set;"));
    door.places = 3, door.guests[2].since = 106;
    ring(24, 108);
    CHECK(did("close 22;send 24 7/16;add 24 guest1 in;set;"));
    door.guests[1].fd = -1; /* is gone; and the first free place counts, however early others came */
    door.guests[2].since = 0;
    ring(25, 109);
    CHECK(did("send 25 7/16;add 25 guest1 in;set;"));
    door.guests[1].fd = door.guests[2].fd = -1;
    ring(26, 109);
    CHECK(did("send 26 7/16;add 26 guest1 in;set;"));
    door.guests[0] = (struct door_guest){.fd = 27, .since = 109};
    door.guests[1] = (struct door_guest){.fd = 0, .since = 110};
    door.places = 2, door.guests[2].fd = 99;
    ring(28, 111);
    CHECK(did("close 27;send 28 7/16;add 28 guest0 in;set;"));
    close_door("close 28;close 0;close 12;close 11;");
}

/* Who cannot be challenged leaves at once. */
static void no_challenge(void)
{
    open_door();
    no_random = true;
    ring(31, 100);
    CHECK(did("close 31;") && door.guests[0].fd == -1);
    no_random = false, short_by = 1;
    ring(32, 100);
    CHECK(did("send 32 7/16;close 32;") && door.guests[0].fd == -1);
    short_by = 0, ctl_fails = 0;
    ring(33, 100);
    CHECK(did("send 33 7/16;add 33 guest0 in;close 33;") && door.guests[0].fd == -1);
    close_door("close 12;close 11;");
}

/* Callers that have gone again are nothing; without a descriptor the door rests, and its owner learns once of too many rests. */
static void resting(void)
{
    static const int gone[] = {EAGAIN, EINTR, ECONNABORTED};
    open_door();
    for (int i = 0; i < 3; i++) {
        error = gone[i], door.rests = 2;
        ring(5, 100);
        CHECK(did("") && door.rests == 2 && door.guests[0].fd == -1);
    }
    error = EMFILE, door.rests = 0;
    for (uint32_t i = 1; i <= DOOR_RESTS + 2; i++) {
        ring(5, 100);
        CHECK(did(i == DOOR_RESTS ? "mod 12 door none;set;full;" : "mod 12 door none;set;") && door.rests == i);
    }
    door.full = 0, door.rests = DOOR_RESTS - 1;
    ring(5, 100);
    CHECK(did("mod 12 door none;set;") && door.guests[0].fd == -1);
    close_door("close 12;close 11;");
}

/* After a second the door opens again, and shows those out who have been there for their time. */
static void looking_round(void)
{
    open_door();
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;"));
    ring(0, 100);
    ring(42, 102);
    ring(43, 101);
    traced[0] = 0;
    now = (struct timespec){103, 999999999};
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;set;"));
    now = (struct timespec){104, 0};
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;close 0;set;") && door.guests[0].fd == -1);
    door.places = 2;
    now.tv_sec = 110; /* the third is none of its two */
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;close 42;") && door.guests[2].fd == 43);
    door.places = 1, door.guests[0].fd = 0, door.guests[0].since = 108;
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;set;"));
    door.places = 3, door.guests[2].fd = -1; /* the first one alone is left */
    CHECK(door_news(&door, &door.timer) && did("read;mod 12 door in;set;"));
    close_door("close 0;close 12;close 11;");
}

/* A guest comes in and says so much of its hello; brings <= 0: what recv returns. */
static void guest_says(int caller, ssize_t first, ssize_t then)
{
    said = 0, error = 0;
    ring(caller, 100);
    traced[0] = 0;
    brings = first, error = EAGAIN; /* of an earlier call, unless it is -1 that recv returns */
    CHECK(door_news(&door, &door.guests[0]));
    if (first > 0 && first < (ssize_t)sizeof whole) {
        char text[20];
        snprintf(text, sizeof text, "recv %d;", caller);
        CHECK(did(text) && door.guests[0].fd == caller && door.guests[0].got == (size_t)first);
        brings = then;
        CHECK(door_news(&door, &door.guests[0]));
    }
}

static void hearing(void)
{
    open_door();
    guest_says(0, sizeof whole, 0);
    CHECK(did("recv 0;good?;wanted?;send 0 1234/8;in 0;") && door.guests[0].fd == -1);
    guest_says(51, 1, sizeof whole - 1);
    CHECK(did("recv 51;good?;wanted?;send 51 1234/8;in 51;") && door.guests[0].fd == -1);
    CHECK(door_news(&door, &door.guests[0]) && did("")); /* nobody is there */
    guest_says(52, sizeof whole - 1, 0);
    CHECK(did("recv 52;close 52;") && door.guests[0].fd == -1);
    for (int stays = 0; stays < 2; stays++) {
        guest_says(53, 5, 1);
        traced[0] = 0;
        brings = -1, error = stays ? EAGAIN : EINTR;
        CHECK(door_news(&door, &door.guests[0]) && did("recv 53;") && door.guests[0].fd == 53);
        CHECK(door.guests[0].got == 6);
        error = ECONNRESET;
        CHECK(door_news(&door, &door.guests[0]) && did("recv 53;close 53;") && door.guests[0].fd == -1);
    }
    close_door("close 12;close 11;");
}

static void welcomes(void)
{
    open_door();
    no_proof = true;
    guest_says(61, sizeof whole, 0);
    CHECK(did("recv 61;good?;close 61;") && door.guests[0].fd == -1);
    no_proof = false, unwanted = true;
    guest_says(62, sizeof whole, 0);
    CHECK(did("recv 62;good?;wanted?;send 62 ffffffffffffedcb/8;close 62;") && door.guests[0].fd == -1);
    unwanted = false, door.wants = 0;
    guest_says(63, sizeof whole, 0);
    CHECK(did("recv 63;good?;send 63 1234/8;in 63;"));
    said = 0, error = 0;
    ring(64, 100);
    traced[0] = 0;
    short_by = 1, brings = sizeof whole;
    CHECK(door_news(&door, &door.guests[0]) && did("recv 64;good?;send 64 1234/8;close 64;"));
    CHECK(door.guests[0].fd == -1);
    close_door("close 12;close 11;");
}

static void marks(void)
{
    open_door();
    CHECK(door_news(&door, &door.guests[PLACES - 1]) && door_news(&door, door.guests));
    CHECK(!door_news(&door, door.guests + PLACES) && !door_news(&door, (char *)door.guests - 1));
    CHECK(!door_news(&door, &told) && !door_news(&door, 0) && did(""));
    close_door("close 12;close 11;");
}

int main(void)
{
    opening();
    places();
    no_challenge();
    resting();
    looking_round();
    hearing();
    welcomes();
    marks();
    return 0;
}
