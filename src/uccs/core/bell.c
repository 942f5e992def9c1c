#include "uccs/core/bell.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME_BYTES 6 /* a zero and five digits, which the kernel chooses (unix(7), autobind) */

bool uccs_progress_on;
_Thread_local bool uccs_progress_me;

static int bell = -1;
static int ringer = -1; /* a socket to ring from; made by the first to ring (acqrel) */

static socklen_t address_of(uint64_t name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, &name, NAME_BYTES);
    return offsetof(struct sockaddr_un, sun_path) + NAME_BYTES;
}

static int make_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Binds the socket to a name that the kernel chooses. Returns the name, or 0 on failure. */
static uint64_t bind_somewhere(int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    uint64_t name = 0;
    if (bind(fd, (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        length != offsetof(struct sockaddr_un, sun_path) + NAME_BYTES)
        return 0;
    memcpy(&name, address.sun_path, NAME_BYTES);
    return name;
}

void uccs_bell_open(void)
{
    struct uccs_own *own = uccs_own_mine();
    bell = make_socket();
    uint64_t name = bell >= 0 ? bind_somewhere(bell) : 0;
    atomic_store_relaxed(&own->deaf, name == 0);
    atomic_store_release(&own->bell, name); /* acquire: send_to */
}

void uccs_bell_close(void)
{
    struct uccs_own *own = uccs_own_mine();
    atomic_store_seqcst(&own->asleep, 0);
    atomic_store_release(&own->bell, 0);
    if (bell >= 0)
        close(bell);
    if (ringer >= 0)
        close(ringer);
    bell = ringer = -1;
}

int uccs_bell_descriptor(void)
{
    return bell;
}

void uccs_bell_hush(void)
{
    char bytes[8];
    while (recv(bell, bytes, sizeof bytes, 0) >= 0)
        ;
}

/* Returns a socket to ring from, or -1. */
static int ringing_socket(void)
{
    int none = -1, fd = atomic_load_acquire(&ringer); /* acqrel: below */
    if (fd >= 0)
        return fd;
    fd = make_socket();
    if (fd < 0 || atomic_cas_acqrel(&ringer, &none, fd))
        return fd;
    close(fd); /* another thread was faster */
    return none;
}

static void send_to(struct uccs_own *own)
{
    struct sockaddr_un address;
    uint64_t name = atomic_load_acquire(&own->bell); /* release: uccs_bell_open */
    int kept = errno, fd = name ? ringing_socket() : -1;
    if (fd < 0)
        return;
    socklen_t length = address_of(name, &address);
    if (sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, length) < 0 && errno != EAGAIN)
        atomic_store_relaxed(&own->deaf, 1); /* EAGAIN: others have rung, and the thread has not woken yet */
    errno = kept;
}

lat_cold void uccs_bell_ring(struct uccs_own *own)
{
    if (uccs_progress_me && own == uccs_own_mine())
        return;
    if (atomic_exchange_seqcst(&own->asleep, 0)) /* partner: progress.c, which stores 1 and looks again */
        send_to(own);
}

void uccs_bell_ring_mine(void)
{
    send_to(uccs_own_mine());
}

/* --- Work */

lat_cold void uccs_bell_workers_slow(void)
{
    uint32_t mine = uccs_core.index;
    for (uint32_t index = 0; index < uccs_core.pes; index++)
        if (index != mine)
            uccs_bell_worker(index);
}

void uccs_bell_work_begins(void)
{
    atomic_store_relaxed(&uccs_own_mine()->working, 1);
    (void)atomic_fetch_add_relaxed(&uccs_own_of(0)->workers, 1);
    atomic_fence_seqcst(); /* partner: uccs_bell_workers */
}

void uccs_bell_work_ends(void)
{
    atomic_store_relaxed(&uccs_own_mine()->working, 0);
    (void)atomic_fetch_add_relaxed(&uccs_own_of(0)->workers, (uint32_t)-1);
}
