/* The bell that wakes the progress thread, over made-up sockets: descriptors with the number 0, names that are none, messages without
 * bytes, what is closed, and nodes with many PEs. */
#include "uccs/core/bell.h"

#include "unit/check.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PES = 70000, NAME = 6 };

struct uccs_core uccs_core;
static struct uccs_own owns[2]; /* this PE's, and another one's */
static int made[4], makes, next_fd[4], closed[4], closes, recvs, sends, sent_from, rung_most;
static int bind_fails, name_fails, send_error;
static socklen_t name_length;
static ssize_t bytes_there[4], send_result;
static uint32_t rung; /* workers, of those that have a number above this one */

static int make(void)
{
    made[makes] = next_fd[makes];
    return made[makes++];
}

static int note_close(int fd)
{
    closed[closes++] = fd;
    return 0;
}

static int give_name(struct sockaddr *to, socklen_t *length)
{
    struct sockaddr_un *address = (struct sockaddr_un *)(void *)to;
    memcpy(address->sun_path, "\0abcde", NAME);
    *length = name_length;
    return name_fails;
}

static ssize_t take(void)
{
    const ssize_t bytes = bytes_there[recvs++];
    errno = EAGAIN;
    return bytes;
}

static ssize_t note_send(int fd, const struct sockaddr *to, socklen_t length)
{
    const struct sockaddr_un *address = (const struct sockaddr_un *)(const void *)to;
    CHECK(memcmp(address->sun_path, "\0abcde", NAME) == 0 && length == offsetof(struct sockaddr_un, sun_path) + NAME);
    sent_from = fd;
    sends++;
    errno = send_error;
    return send_result;
}

static void ring_worker(uint32_t index)
{
    CHECK(index != uccs_core.index && index < PES);
    rung++;
    rung_most = (int)index;
}

static struct uccs_own *own_of(uint32_t index)
{
    return &owns[index != uccs_core.index];
}

#define socket(family, type, protocol) make()
#define bind(fd, address, length) ((void)(fd), (void)(address), bind_fails)
#define getsockname(fd, address, length) ((void)(fd), give_name(address, length))
#define recv(fd, into, bytes, how) ((void)(into), take())
#define sendto(fd, data, bytes, how, address, length) note_send(fd, address, length)
#define close(fd) note_close(fd)
#define uccs_own_mine() (&owns[0])
#define uccs_own_of(index) own_of(index)
#define uccs_bell_worker(index) ring_worker(index)
#include "uccs/core/bell.c"

static void begin(int bell_fd, int ringer_fd)
{
    memset(owns, 0, sizeof owns);
    makes = closes = recvs = sends = 0;
    bind_fails = name_fails = send_error = 0;
    send_result = 1;
    name_length = offsetof(struct sockaddr_un, sun_path) + NAME;
    next_fd[0] = bell_fd;
    next_fd[1] = ringer_fd;
    sent_from = -1;
}

static void number_zero(void)
{
    begin(0, 7);
    uccs_bell_open();
    CHECK(uccs_bell_descriptor() == 0 && owns[0].bell != 0 && !owns[0].deaf && makes == 1);
    uccs_bell_ring_mine();
    CHECK(sends == 1 && sent_from == 7 && makes == 2);
    uccs_bell_close();
    CHECK(closes == 2 && closed[0] == 0 && closed[1] == 7 && owns[0].bell == 0 && uccs_bell_descriptor() == -1);
    begin(5, 0);
    uccs_bell_open();
    uccs_bell_ring_mine();
    uccs_bell_ring_mine();
    CHECK(sends == 2 && sent_from == 0 && makes == 2); /* from the socket that is there */
    uccs_bell_close();
    CHECK(closes == 2 && closed[1] == 0);
    begin(5, 0);
    uccs_bell_open();
    uccs_bell_close();
    CHECK(closes == 1); /* nobody has rung */
}

/* Without a name of the right length the thread is deaf; nobody rings it. */
static void no_name(void)
{
    for (int row = 0; row < 5; row++) {
        begin(row == 0 ? -1 : 5, 6);
        bind_fails = row == 1 ? -1 : 0;
        name_fails = row == 2 ? -1 : 0;
        name_length += row == 3 ? 1u : row == 4 ? -1u : 0;
        uccs_bell_open();
        CHECK(owns[0].deaf && owns[0].bell == 0);
        uccs_bell_ring_mine();
        CHECK(sends == 0 && makes == 1);
        uccs_bell_close();
    }
}

/* All that have rung are taken, messages without bytes, too. */
static void hushes(void)
{
    begin(5, 6);
    uccs_bell_open();
    bytes_there[0] = 1;
    bytes_there[1] = 0;
    bytes_there[2] = 8;
    bytes_there[3] = -1;
    uccs_bell_hush();
    CHECK(recvs == 4);
    uccs_bell_close();
}

/* A bell that cannot be rung is one of a deaf thread, but a full one wakes it; errno is the program's. */
static void failures(void)
{
    static const struct {
        ssize_t result;
        int error;
        bool deaf;
    } rows[] = {{1, ECONNREFUSED, false}, {0, ECONNREFUSED, false}, {-1, EAGAIN, false}, {-1, ECONNREFUSED, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(5, 6);
        uccs_bell_open();
        send_result = rows[i].result;
        send_error = rows[i].error;
        errno = EDOM;
        uccs_bell_ring_mine();
        CHECK(errno == EDOM);
        CHECK(owns[0].deaf == rows[i].deaf && sends == 1);
        uccs_bell_close();
    }
    begin(5, -1);
    uccs_bell_open();
    uccs_bell_ring_mine();
    CHECK(sends == 0 && makes == 2 && !owns[0].deaf); /* there is nothing to ring from */
    uccs_bell_close();
}

static void who_sleeps(void)
{
    begin(5, 6);
    uccs_bell_open();
    owns[1].bell = owns[0].bell;
    uccs_bell_ring(&owns[1]);
    CHECK(sends == 0); /* it is awake */
    owns[1].asleep = 1;
    uccs_bell_ring(&owns[1]);
    CHECK(sends == 1 && owns[1].asleep == 0);
    uccs_progress_me = true;
    owns[0].asleep = owns[1].asleep = 1;
    uccs_bell_ring(&owns[0]); /* the thread itself */
    CHECK(sends == 1 && owns[0].asleep == 1);
    uccs_bell_ring(&owns[1]);
    CHECK(sends == 2);
    uccs_progress_me = false;
    uccs_bell_close();
    CHECK(owns[0].asleep == 0);
}

static void many_workers(void)
{
    uccs_core.pes = PES;
    uccs_core.index = PES - 2;
    uccs_bell_workers_slow();
    CHECK(rung == PES - 1 && rung_most == PES - 1);
}

int main(void)
{
    number_zero();
    no_name();
    hushes();
    failures();
    who_sleeps();
    many_workers();
    return 0;
}
