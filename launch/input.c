#include "message.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (16u << 10)

static const struct options *options;
static bool reopens, pumps;
static struct loop_watch source;
static struct sink *copies; /* the writing end of each PE's pipe; fd -1: none */
static bool ended;          /* oshrun's own input is over */

static bool is_regular(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

static void end_copies(void)
{
    for (uint32_t pe = 0; pe < options->pes; pe++) {
        if (copies[pe].fd >= 0)
            close(copies[pe].fd);
        copies[pe].fd = -1;
    }
}

/* Reads on once every PE has what was read, or reads no more. */
static void read_on(void)
{
    for (uint32_t pe = 0; pe < options->pes; pe++)
        if (!sink_empty(&copies[pe]))
            return;
    if (!ended && loop_add(STDIN_FILENO, EPOLLIN, &source) != 0)
        ended = errno != EEXIST;
}

static void copy_drained(struct sink *copy)
{
    (void)copy;
    read_on();
}

/* All copies are empty, so none of them calls copy_drained in here. */
static void source_ready(struct loop_watch *watch)
{
    static char chunk[CHUNK];
    struct pollfd there = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)watch;
    if (ended || poll(&there, 1, 0) <= 0)
        return;
    const ssize_t bytes = read(STDIN_FILENO, chunk, CHUNK);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    loop_remove(STDIN_FILENO);
    ended = bytes <= 0;
    if (ended)
        end_copies();
    for (uint32_t pe = 0; pe < options->pes && !ended; pe++) {
        sink_put(&copies[pe], chunk, (size_t)bytes);
        sink_flush(&copies[pe]);
    }
    read_on();
}

/* Opens a file once more, at the place that oshrun was given it at. */
static int reopen_input(void)
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
    sink_open(&copies[pe], ends[1], copy_drained);
    if (copies[pe].fd != ends[1])
        close(ends[1]);
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
        return reopen_input();
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
    if (pumps && loop_add(STDIN_FILENO, EPOLLIN, &source) != 0)
        end_copies(); /* a device that has no end to wait for, such as /dev/null */
}
