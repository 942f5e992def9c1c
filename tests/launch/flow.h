/* The tests of the PEs' input and output share: a clock that stands, oshrun's outputs as pipes that the test reads,
 * and a process of its own for each test. */
#ifndef TESTS_LAUNCH_FLOW_H
#define TESTS_LAUNCH_FLOW_H

#include "files.h"
#include "loop.h"
#include "message.h"
#include "output.h"
#include "sink.h"

#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now = (INT64_C(1) << 32) + 5000;
static int adds_until_failure = -1;

int64_t loop_now(void)
{
    return now;
}

static int add(int fd, uint32_t events, struct loop_watch *watch)
{
    if (adds_until_failure-- == 0)
        return errno = ENOSPC, -1;
    return loop_add(fd, events, watch);
}

#define loop_now real_loop_now
#include "loop.c"
#undef loop_now

enum { MUCH = 4 << 20 };
static int readers[2] = {-1, -1}; /* of standard output and error */

/* Standard output and error become pipes, or one pipe for both. */
static void make_pipes(bool one)
{
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (i == 0 || !one) {
            CHECK(pipe(ends) == 0);
            readers[i] = fcntl(ends[0], F_DUPFD, READERS);
            fcntl(readers[i], F_SETFL, O_NONBLOCK);
            close(ends[0]);
            dup2(ends[1], 1 + i);
            close(ends[1]);
        } else {
            dup2(1, 2);
        }
    }
}

static char come[MUCH + 1];

static const char *read_all(int from)
{
    size_t used = 0;
    for (ssize_t got; (got = read(from, come + used, MUCH - used)) > 0;)
        used += (size_t)got;
    come[used] = 0;
    return come;
}

static void reads(int from, const char *wanted)
{
    read_all(from);
    if (strcmp(come, wanted) != 0)
        fprintf(stderr, "wanted: \"%s\"\nis:     \"%.300s\"\n", wanted, come);
    CHECK(strcmp(come, wanted) == 0);
}

#define OUT(wanted) reads(readers[0], wanted)
#define ERR(wanted) reads(readers[1], wanted)

static int clock_of_lines(int which, struct timespec *time)
{
    CHECK(which == CLOCK_REALTIME);
    *time = (struct timespec){1000000000, 7000000};
    return 0;
}

#define loop_add add
#define clock_gettime clock_of_lines
#include "output.c"
#include "sink.c"
#include "files.c"
#undef loop_add

enum { PES = 12 };
static int out[PES], err[PES];
static struct options how;

static void open_job(void)
{
    CHECK(loop_open() == 0 && output_open(&how));
    for (uint32_t pe = 0; pe < how.pes; pe++)
        CHECK(output_connect(pe, &out[pe], &err[pe]) == 0);
}

static void job(uint32_t pes)
{
    make_pipes(false);
    how.pes = pes;
    open_job();
}

static void turn(void)
{
    loop_turn(0);
    output_tick();
}

static void says(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    turn();
}

static void ends(int *fd)
{
    close(*fd);
    *fd = -1;
    turn();
}

#endif
