#include "uccs/core/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_MOST 32 /* doorbells of peers that stay open here; others are opened for each ring */

bool uccs_progress_thread_on;
_Thread_local bool uccs_progress_thread_me;

static int ends[2] = {-1, -1}; /* of this PE: the end that is read, the end that is written */

/* Doorbells of peers that are open here. A slot is claimed by the count, filled, and then published by its inode; it stays until the
 * end of the life, so any thread may write to what it has found. Two threads may open the same doorbell, which does no harm. */
static struct {
    uint64_t inode; /* 0: none yet; release: keep_open; acquire: find_open */
    int fd;
} kept[KEPT_MOST];
static uint32_t kept_count; /* claims, which may be more than the slots; relaxed */

void uccs_doorbell_open(void)
{
    struct uccs_pe_shared *shared = uccs_pe_shared_mine();
    struct stat info;
    const bool there = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 && fstat(ends[0], &info) == 0;
    shared->pid = getpid();
    shared->doorbell_file = ends[0];
    atomic_store_relaxed(&shared->deaf, !there);
    atomic_store_release(&shared->doorbell, there ? info.st_ino : 0); /* acquire: ring_peer */
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void uccs_doorbell_close(void)
{
    struct uccs_pe_shared *shared = uccs_pe_shared_mine();
    atomic_store_seqcst(&shared->asleep, 0);
    atomic_store_release(&shared->doorbell, 0);
    close_end(&ends[0]);
    close_end(&ends[1]);
    for (uint32_t i = 0; i < KEPT_MOST; i++) {
        if (kept[i].inode)
            close(kept[i].fd);
        kept[i].inode = 0;
    }
    kept_count = 0;
}

int uccs_doorbell_descriptor(void)
{
    return ends[0];
}

void uccs_doorbell_drain(void)
{
    char bytes[64];
    while (read(ends[0], bytes, sizeof bytes) > 0)
        ;
}

/* Opens a peer's doorbell. Returns -1 when the system refuses, or when the descriptor is not the doorbell any more: the process may be gone,
 * and its number another's. It looks before it opens, as opening has effects on some devices. The caller is a reader as well,
 * so a doorbell whose owner is gone raises no SIGPIPE. */
static int open_doorbell(const struct uccs_pe_shared *shared, uint64_t inode)
{
    char path[48];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)shared->pid, (int)shared->doorbell_file);
    if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode) || info.st_ino != inode)
        return -1;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && info.st_ino == inode)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns the descriptor of a doorbell that is open here, or -1. */
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

/* A doorbell that is full has been rung, and its thread has not woken yet. */
static void ring_peer(struct uccs_pe_shared *shared)
{
    const uint64_t inode = atomic_load_acquire(&shared->doorbell); /* release: uccs_doorbell_open */
    const int error = errno, known = inode ? find_open(inode) : -1;
    const int fd = inode && known < 0 ? open_doorbell(shared, inode) : known;
    if (fd >= 0)
        (void)!write(fd, "", 1);
    else if (inode && atomic_load_relaxed(&shared->doorbell))
        atomic_store_relaxed(&shared->deaf, 1);
    if (fd >= 0 && known < 0 && !keep_open(inode, fd))
        close(fd);
    errno = error;
}

lat_cold void uccs_doorbell_wake_slow(struct uccs_pe_shared *shared)
{
    if (uccs_progress_thread_me && shared == uccs_pe_shared_mine())
        return;
    if (!atomic_exchange_seqcst(&shared->asleep, 0)) /* partner: progress.c, which stores 1 and looks again */
        return;
    if (shared == uccs_pe_shared_mine())
        uccs_doorbell_ring_mine();
    else
        ring_peer(shared);
}

void uccs_doorbell_ring_mine(void)
{
    const int error = errno;
    if (ends[1] >= 0)
        (void)!write(ends[1], "", 1);
    errno = error;
}

/* --- Tasks */

lat_cold void uccs_doorbell_wake_peers_slow(void)
{
    uint32_t mine = uccs_core.index;
    for (uint32_t index = 0; index < uccs_core.pes; index++)
        if (index != mine)
            uccs_doorbell_wake_if_tasks(index);
}

void uccs_doorbell_tasks_begin(void)
{
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_mine()->wants_rings, 1);
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_of(0)->wanting, 1);
    atomic_fence_seqcst(); /* partner: uccs_doorbell_wake_peers */
}

void uccs_doorbell_tasks_end(void)
{
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_mine()->wants_rings, (uint32_t)-1);
    (void)atomic_fetch_add_relaxed(&uccs_pe_shared_of(0)->wanting, (uint32_t)-1);
}
