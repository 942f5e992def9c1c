#include "output.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_SOON (64u << 10)
#define FULL (256u << 10)

static void sink_ready(struct loop_watch *watch)
{
    sink_flush((struct sink *)watch);
}

/* Empties the queue after everything was written or thrown away. */
static void disarm_sink(struct sink *sink)
{
    sink->at = sink->used = 0;
    if (!sink->armed)
        return;
    loop_remove(sink->fd);
    sink->armed = false;
    sink->drained(sink);
}

void sink_open(struct sink *sink, int fd, void (*drained)(struct sink *))
{
    struct stat info;
    char path[32];
    *sink = (struct sink){.watch.ready = sink_ready, .fd = fd, .drained = drained};
    if (fstat(fd, &info) != 0 || S_ISREG(info.st_mode))
        return; /* a file never blocks a writer */
    sink->cautious = true;
    if (!S_ISFIFO(info.st_mode) && !isatty(fd))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        sink->fd = own;
        sink->cautious = false;
    }
}

/* Writes once. Returns the bytes written, 0 when there is no room now, -1 with errno. */
static ssize_t write_some(struct sink *sink)
{
    size_t bytes = sink->used - sink->at;
    if (sink->cautious) {
        struct pollfd room = {.fd = sink->fd, .events = POLLOUT};
        if (poll(&room, 1, 0) == 0)
            return 0;
        bytes = bytes < PIPE_BUF ? bytes : PIPE_BUF;
    }
    ssize_t wrote = write(sink->fd, sink->data + sink->at, bytes);
    if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return wrote;
}

void sink_flush(struct sink *sink)
{
    while (!sink_empty(sink)) {
        ssize_t wrote = write_some(sink);
        if (wrote < 0) {
            sink->broken = errno;
            break;
        }
        if (wrote == 0) {
            if (!sink->armed)
                sink->armed = loop_add(sink->fd, EPOLLOUT, &sink->watch) == 0;
            return;
        }
        sink->at += (size_t)wrote;
    }
    disarm_sink(sink);
}

static void make_room(struct sink *sink, size_t bytes)
{
    if (sink->at > 0) {
        memmove(sink->data, sink->data + sink->at, sink->used - sink->at);
        sink->used -= sink->at;
        sink->at = 0;
    }
    if (sink->used + bytes <= sink->room)
        return;
    sink->room = (sink->used + bytes) * 2;
    sink->data = say_if_null(realloc(sink->data, sink->room));
}

void sink_put(struct sink *sink, const char *data, size_t bytes)
{
    if (sink->broken)
        return;
    if (sink->used + bytes > sink->room)
        make_room(sink, bytes);
    memcpy(sink->data + sink->used, data, bytes);
    sink->used += bytes;
    if (!sink->armed && sink->used - sink->at > WRITE_SOON)
        sink_flush(sink);
}

bool sink_full(const struct sink *sink)
{
    return sink->used - sink->at > FULL;
}

bool sink_empty(const struct sink *sink)
{
    return sink->used == sink->at;
}

/* Keeps errno when it is none. */
static bool is_folder(const char *path)
{
    struct stat info;
    int why = errno;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    errno = why;
    return folder;
}

bool files_make_folder(const char *name)
{
    char *path = say_if_null(strdup(name));
    bool good = true;
    for (char *slash = strchr(path + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        good = mkdir(path, 0777) == 0 || is_folder(path);
        if (!good)
            say("--output-filename %s: %s: %s", name, path, strerror(errno));
        *slash = '/';
    }
    free(path);
    return good;
}

int files_open(const char *name, uint32_t pe, uint32_t pes)
{
    char *path;
    int digits = snprintf(NULL, 0, "%u", pes - 1);
    if (asprintf(&path, "%s.%0*u", name, digits, pe) < 0)
        say_if_null(NULL);
    /* appending, so that processes of one PE that open it by /proc do not overwrite each other */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    int why = errno;
    if (fd < 0)
        say("--output-filename: %s: %s", path, strerror(why));
    free(path);
    errno = EIO; /* the line above has told; ENOENT would mean that the program is missing */
    return fd;
}
