#include "uccs/core/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_MOST 32 /* bells of peers that stay open here; others are opened for each ring */

bool uccs_progress_thread_on;
_Thread_local bool uccs_progress_thread_me;

static int bell[2] = {-1, -1}; /* of this PE: the end that is read, the end that is written */

/* Bells of peers that are open here. A slot is claimed by the count, filled, and then published by its inode; it stays until the
 * end of the life, so any thread may write to what it has found. Two threads may open the same bell, which does no harm. */
static struct {
    uint64_t inode; /* 0: none yet; release: keep_open; acquire: find_open */
    int fd;
} kept[KEPT_MOST];
static uint32_t kept_count; /* claims, which may be more than the slots; relaxed */

void uccs_doorbell_open(void)
{
    struct uccs_pe_shared *own = uccs_pe_shared_mine();
    struct stat info;
    const bool there = pipe2(bell, O_CLOEXEC | O_NONBLOCK) == 0 && fstat(bell[0], &info) == 0;
    own->pid = getpid();
    own->bell_file = bell[0];
    atomic_store_relaxed(&own->deaf, !there);
    atomic_store_release(&own->bell, there ? info.st_ino : 0); /* acquire: ring_peer */
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void uccs_doorbell_close(void)
{
    struct uccs_pe_shared *own = uccs_pe_shared_mine();
    atomic_store_seqcst(&own->asleep, 0);
    atomic_store_release(&own->bell, 0);
    close_end(&bell[0]);
    close_end(&bell[1]);
    for (uint32_t i = 0; i < KEPT_MOST; i++) {
        if (kept[i].inode)
            close(kept[i].fd);
        kept[i].inode = 0;
    }
    kept_count = 0;
}

int uccs_doorbell_descriptor(void)
{
    return bell[0];
}

void uccs_doorbell_drain(void)
{
    char bytes[64];
    while (read(bell[0], bytes, sizeof bytes) > 0)
        ;
}

/* Opens a peer's bell. Returns -1 when the system refuses, or when the descriptor is not the bell any more: the process may be gone,
 * and its number another's. It looks before it opens, as opening has effects on some devices. The caller is a reader as well,
 * so a bell whose owner is gone raises no SIGPIPE. */
static int open_bell(const struct uccs_pe_shared *own, uint64_t inode)
{
    char path[48];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)own->pid, (int)own->bell_file);
    if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode) || info.st_ino != inode)
        return -1;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && info.st_ino == inode)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns the descriptor of a bell that is open here, or -1. */
static int find_open(uint64_t inode)
{
    for (uint32_t i = 0; i < KEPT_MOST; i++)
        if (atomic_load_acquire(&kept[i].inode) == inode) /* release: keep_open */
            return kept[i].fd;
    return -1;
}

/* Returns false when there is no slot left. */
static bool keep_open(uint64_t inode, int fd)
{
    const uint32_t slot =
        atomic_load_relaxed(&kept_count) < KEPT_MOST ? atomic_fetch_add_relaxed(&kept_count, 1) : KEPT_MOST;
    if (slot >= KEPT_MOST)
        return false;
    kept[slot].fd = fd;
    atomic_store_release(&kept[slot].inode, inode); /* acquire: find_open */
    return true;
}

/* A bell that is full has been rung, and its thread has not woken yet. */
static void ring_peer(struct uccs_pe_shared *own)
{
    const uint64_t inode = atomic_load_acquire(&own->bell); /* release: uccs_doorbell_open */
    const int error = errno, known = inode ? find_open(inode) : -1;
    const int fd = inode && known < 0 ? open_bell(own, inode) : known;
    if (fd >= 0)
        (void)!write(fd, "", 1);
    else if (inode && atomic_load_relaxed(&own->bell))
        atomic_store_relaxed(&own->deaf, 1);
    if (fd >= 0 && known < 0 && !keep_open(inode, fd))
        close(fd);
    errno = error;
}

lat_cold void uccs_doorbell_wake_slow(struct uccs_pe_shared *own)
{
    if (uccs_progress_thread_me && own == uccs_pe_shared_mine())
        return;
    if (!atomic_exchange_seqcst(&own->asleep, 0)) /* partner: progress.c, which stores 1 and looks again */
        return;
    if (own == uccs_pe_shared_mine())
        uccs_doorbell_ring_mine();
    else
        ring_peer(own);
}

void uccs_doorbell_ring_mine(void)
{
    const int error = errno;
    if (bell[1] >= 0)
        (void)!write(bell[1], "", 1);
    errno = error;
}

/* --- Work */

lat_cold void uccs_doorbell_wake_peers_slow(void)
{
    uint32_t mine = uccs_core.index;
    for (uint32_t index = 0; index < uccs_core.pes; index++)
        if (index != mine)
            uccs_doorbell_wake_if_tasks(index);
}

void uccs_doorbell_tasks_begin(void)
{
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_mine()->working, 1);
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_of(0)->workers, 1);
    atomic_fence_seqcst(); /* partner: uccs_doorbell_wake_peers */
}

void uccs_doorbell_tasks_end(void)
{
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_mine()->working, (uint32_t)-1);
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_of(0)->workers, (uint32_t)-1);
}
