/* Doors and calls of a process that has no descriptor left, or whose epoll can take no more: nobody waits for ever. */
#include "net/auth/auth.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct routes place;
static int told;

static void tell(void *owner)
{
    CHECK(owner == &told);
    told++;
}

static struct listener make_door(int events)
{
    place = (struct routes){.count = 1};
    memcpy(place.route[0].address, &(uint32_t){htonl(INADDR_LOOPBACK)}, sizeof(uint32_t));
    return (struct listener){.fd = -1,
                             .timer = -1,
                             .events = events,
                             .max_pending = 2,
                             .seconds = 2,
                             .npes = 2,
                             .out_of_descriptors = tell,
                             .owner = &told};
}

/* The lowest number that no descriptor has. */
static int lowest(void)
{
    int fd = dup(0);
    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

static void epoll_takes_no_more(void)
{
    const int before = lowest();
    struct listener door = make_door(-1);
    CHECK(listener_open(&door, &place) == -1);
    listener_close(&door);
    CHECK(lowest() == before);
    door = make_door(epoll_create1(0));
    CHECK(listener_open(&door, &place) == 0 && place.port);
    struct dialer call = {.events = -1, .pe = 1, .to = place};
    const int during = lowest();
    dialer_start(&call);
    CHECK(call.state == DIALER_FAILED && call.fd == -1 && lowest() == during);
    listener_close(&door);
    close(door.events);
}

/* Callers wait until there is a descriptor again; the owner is told once of too long a wait. */
static void no_descriptor(void)
{
    struct listener door = make_door(epoll_create1(0));
    struct rlimit before, none;
    int caller = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener_open(&door, &place) == 0);
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = place.port,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(connect(caller, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)lowest(), .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 1; i < LISTENER_FULL_SECONDS + 3; i++) {
        CHECK(listener_event(&door, &door.fd));
        CHECK(told == (i >= LISTENER_FULL_SECONDS));
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(door.pending[0].fd < 0 && listener_event(&door, &door.fd));
    CHECK(door.pending[0].fd >= 0 && door.full_seconds == 0 && told == 1);
    struct handshake_challenge challenge;
    CHECK(recv(caller, &challenge, sizeof challenge, MSG_WAITALL) == sizeof challenge);
    close(caller);
    listener_close(&door);
    close(door.events);
}

int main(void)
{
    epoll_takes_no_more();
    no_descriptor();
    return 0;
}
