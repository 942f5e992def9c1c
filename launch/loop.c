#include "loop.h"

#include "base/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int epoll = -1;

int loop_open(void)
{
    epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -1 : 0;
}

int loop_add(int fd, uint32_t events, struct loop_watch *watch)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

void loop_remove(int fd)
{
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

void loop_turn(int timeout_ms)
{
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, sizeof events / sizeof *events, timeout_ms);
    for (int i = 0; i < count; i++) {
        struct loop_watch *watch = events[i].data.ptr;
        watch->ready(watch);
    }
}

int64_t loop_now(void)
{
    return (int64_t)(clock_nanoseconds() / 1000000);
}

int loop_until(int64_t at)
{
    const int64_t left = at - loop_now();
    return !at ? -1 : left < 0 ? 0 : left < 3600000 ? (int)left : 3600000;
}

int64_t loop_sooner(int64_t one, int64_t other)
{
    return one && (!other || one < other) ? one : other;
}

bool file_read(char *text, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd < 0 ? 0 : read(fd, text, room - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    if (fd >= 0)
        close(fd);
    return bytes > 0;
}

struct rlimit files_raise_limit(void)
{
    struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
    if (getrlimit(RLIMIT_NOFILE, &before) == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){before.rlim_max, before.rlim_max});
    return before;
}
