/* The bells by which processes of a node wake each other's progress threads: who rings which, and those that nobody can hear. */
#include "uccs/core/bell.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct uccs_core uccs_core;

static int no_sockets;

static int open_socket(int family, int type, int protocol)
{
    return no_sockets ? -1 : socket(family, type, protocol);
}

#define socket open_socket
#include "uccs/core/bell.c"
#undef socket

static bool is_rung(void)
{
    struct pollfd file = {.fd = uccs_bell_descriptor(), .events = POLLIN};
    return poll(&file, 1, 0) == 1;
}

static void ring_bells(void)
{
    struct uccs_own *mine = uccs_own_of(1), *other = uccs_own_of(0);
    other->bell = mine->bell; /* so that this process hears that one, too */
    CHECK(!is_rung());
    uccs_bell(1);
    CHECK(!is_rung() && mine->asleep == 0); /* nobody sleeps */
    mine->asleep = 1;
    errno = 33;
    uccs_bell(1);
    CHECK(is_rung() && mine->asleep == 0 && mine->deaf == 0 && errno == 33);
    uccs_bell_hush();
    CHECK(!is_rung());
    uccs_bell_ring(mine);
    CHECK(!is_rung());
    uccs_progress_me = true; /* the thread does not ring its own bell, but others' */
    mine->asleep = other->asleep = 1;
    uccs_bell_ring(mine);
    CHECK(!is_rung() && mine->asleep == 1);
    uccs_bell(0);
    CHECK(is_rung() && other->asleep == 0);
    uccs_progress_me = false;
    uccs_bell_hush();
    uccs_bell(1);
    CHECK(is_rung() && mine->asleep == 0);
    uccs_bell_hush();
    uccs_bell_ring_mine();
    CHECK(is_rung());
    for (int i = 0; i < 2000; i++) /* more than it holds */
        uccs_bell_ring_mine();
    CHECK(mine->deaf == 0);
    uccs_bell_hush();
    CHECK(!is_rung());
}

/* Those with work pending are woken by others' posts. */
static void ring_workers(void)
{
    struct uccs_own *mine = uccs_own_of(1), *other = uccs_own_of(0);
    other->bell = mine->bell;
    CHECK(!uccs_bell_workers_there());
    other->asleep = mine->asleep = 1;
    uccs_bell_worker(0);
    uccs_bell_workers();
    CHECK(!is_rung() && other->asleep == 1);
    uccs_bell_work_begins();
    CHECK(mine->working == 1 && other->working == 0 && other->workers == 1 && uccs_bell_workers_there());
    uccs_bell_workers(); /* not its own */
    CHECK(!is_rung() && mine->asleep == 1 && other->asleep == 1);
    other->working = 1;
    uccs_bell_workers();
    CHECK(is_rung() && other->asleep == 0 && mine->asleep == 1);
    uccs_bell_hush();
    uccs_bell_worker(1);
    CHECK(is_rung() && mine->asleep == 0);
    uccs_bell_hush();
    other->working = 0;
    uccs_bell_work_ends();
    CHECK(mine->working == 0 && other->workers == 0 && !uccs_bell_workers_there());
}

static void life_of_a_bell(void)
{
    struct uccs_own *mine = uccs_own_mine();
    CHECK(uccs_bell_descriptor() == -1);
    mine->deaf = 1;
    uccs_bell_open();
    CHECK(mine == uccs_own_of(1) && mine->bell != 0 && mine->deaf == 0);
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    CHECK(getsockname(uccs_bell_descriptor(), (struct sockaddr *)&name, &length) == 0);
    CHECK(memcmp(&mine->bell, name.sun_path, NAME_BYTES) == 0 && mine->bell >> 8 * NAME_BYTES == 0);
    ring_bells();
    ring_workers();
    const int descriptor = uccs_bell_descriptor(), from = ringer;
    CHECK(from >= 0 && from != descriptor);
    const uint64_t gone = mine->bell;
    mine->asleep = 1;
    uccs_bell_close();
    CHECK(mine->asleep == 0 && mine->bell == 0 && uccs_bell_descriptor() == -1 && ringer == -1);
    CHECK(fcntl(descriptor, F_GETFD) < 0 && fcntl(from, F_GETFD) < 0);
    uccs_own_of(0)->bell = gone;
    uccs_own_of(0)->asleep = 1;
    uccs_bell(0); /* nobody hears it any more: it is marked */
    CHECK(uccs_own_of(0)->deaf == 1 && uccs_own_of(0)->asleep == 0);
    uccs_own_of(0)->bell = uccs_own_of(0)->deaf = 0;
    uccs_own_of(0)->asleep = 1;
    uccs_bell(0); /* it has none */
    CHECK(uccs_own_of(0)->deaf == 0);
    uccs_bell_close();
    no_sockets = 1;
    uccs_bell_open();
    CHECK(uccs_bell_descriptor() == -1 && mine->bell == 0 && mine->deaf == 1);
    no_sockets = 0;
    mine->deaf = 0;
    CHECK(bind_somewhere(-1) == 0);
}

int main(void)
{
    uccs_core.own =
        mmap(0, 2 * (size_t)NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    uccs_core.pes = 2;
    uccs_core.index = 1;
    life_of_a_bell();
    return 0;
}
