#include "loop.h"

#include "base/clock.h"

#include <time.h>

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
