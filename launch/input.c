#include "input.h"

#include "loop.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (64u << 10)

/* The writing end of one PE's pipe. */
struct copy {
    struct loop_watch watch;
    int fd;       /* -1: none, or the PE reads no more */
    bool waiting; /* in the loop until the pipe has room */
    size_t at;    /* bytes of the chunk that the PE has */
};

static const struct options *options;
static bool reopens, pumps;
static struct loop_watch source;
static struct copy *copies;
static char *chunk;
static size_t filled; /* bytes of the chunk */
static bool ended;    /* oshrun's own input is over */

static bool is_regular(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

static void end_copy(struct copy *copy)
{
    if (copy->waiting)
        loop_remove(copy->fd);
    copy->waiting = false;
    if (copy->fd >= 0)
        close(copy->fd);
    copy->fd = -1;
}

/* Writes what the pipe takes of the chunk. */
static void push(struct copy *copy)
{
    while (copy->fd >= 0 && copy->at < filled) {
        ssize_t bytes = write(copy->fd, chunk + copy->at, filled - copy->at);
        if (bytes > 0) {
            copy->at += (size_t)bytes;
        } else if (errno == EAGAIN) {
            copy->waiting = copy->waiting || loop_add(copy->fd, EPOLLOUT, &copy->watch) == 0;
            return;
        } else if (errno != EINTR) {
            end_copy(copy);
        }
    }
    if (copy->waiting)
        loop_remove(copy->fd);
    copy->waiting = false;
}

/* True when every PE has the whole chunk, or reads no more. */
static bool all_have_it(void)
{
    for (uint32_t pe = 0; pe < options->pes; pe++)
        if (copies[pe].fd >= 0 && copies[pe].at < filled)
            return false;
    return true;
}

static void read_on(void)
{
    if (!ended && all_have_it() && loop_add(STDIN_FILENO, EPOLLIN, &source) != 0)
        ended = errno != EEXIST;
}

static void copy_ready(struct loop_watch *watch)
{
    push((struct copy *)watch);
    read_on();
}

static void source_ready(struct loop_watch *watch)
{
    struct pollfd there = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)watch;
    if (ended || !all_have_it() || poll(&there, 1, 0) <= 0)
        return;
    ssize_t bytes = read(STDIN_FILENO, chunk, CHUNK);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    loop_remove(STDIN_FILENO);
    filled = bytes > 0 ? (size_t)bytes : 0;
    ended = bytes <= 0;
    for (uint32_t pe = 0; pe < options->pes; pe++) {
        copies[pe].at = 0;
        push(&copies[pe]);
        if (ended)
            end_copy(&copies[pe]);
    }
    read_on();
}

/* Opens a file once more, at the place that oshrun was given it at. */
static int reopen(void)
{
    int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        lseek(fd, lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET);
    return fd;
}

static int open_pipe(uint32_t pe)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    copies[pe] = (struct copy){.watch.ready = copy_ready, .fd = ends[1]};
    return ends[0];
}

void input_open(const struct options *given)
{
    options = given;
    reopens = options->input == OPTIONS_INPUT_ALL && is_regular(STDIN_FILENO);
    pumps = options->input == OPTIONS_INPUT_ALL && !reopens;
    source.ready = source_ready;
    if (!pumps)
        return;
    chunk = say_if_null(malloc(CHUNK));
    copies = say_if_null(calloc(options->pes, sizeof *copies));
    for (uint32_t pe = 0; pe < options->pes; pe++)
        copies[pe].fd = -1;
}

unsigned input_files_per_pe(void)
{
    return pumps;
}

int input_connect(uint32_t pe)
{
    if (reopens)
        return reopen();
    if (pumps)
        return open_pipe(pe);
    const int fd = options->input == (int64_t)pe ? STDIN_FILENO : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        say("/dev/null: %s", strerror(errno));
        errno = EIO; /* ENOENT would mean that the program is missing */
    }
    return fd;
}

void input_begin(void)
{
    if (!pumps || loop_add(STDIN_FILENO, EPOLLIN, &source) == 0)
        return;
    for (uint32_t pe = 0; pe < options->pes; pe++) /* a device that has no end to wait for, such as /dev/null */
        end_copy(&copies[pe]);
}
