/* The fork handlers, which give a forked child its copies.
 *
 *   prepare (parent)  opens a pipe
 *   child             copies each own range aside, moves the copy to its place, writes a byte to the pipe
 *   parent            waits for the byte, or for the end of the pipe if the child died or fork failed
 *
 * A private mapping of the file would not do: a page that the child has not written yet would show the parent's later
 * stores, and a page that nobody has touched yet would show them for ever. So the child fills anonymous memory from the
 * file's data extents; a hole stays a hole. The child makes the copy aside and moves it into place with mremap, so that
 * its globals are complete at every moment: this code, when linked statically, keeps its variables there. For the same
 * reason the child copies with bare system calls and without instrumentation. Signals are blocked until the child has its
 * copies, as a handler that ran there before would store to the parent's memory. All three steps are safe in a handler
 * of a signal, since _Fork is (fork_bare.c). */
#include "uccs/core/fork.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define unwatched __attribute__((no_sanitize_address, no_sanitize_thread))

static struct uccs_fork_ranges guarded = {.fd = -1};
static __thread struct uccs_fork_call under_way; /* the fork of this thread */

/* Returns the end of the last data extent of the range, relative to the range's start. */
static unwatched size_t data_bytes(const struct uccs_fork_range *own, int fd)
{
    off_t end = own->at + (off_t)own->bytes, last = own->at;
    for (off_t at = own->at; at < end;) {
        long data = syscall(SYS_lseek, fd, at, SEEK_DATA);
        if (data < 0 || data >= end)
            break;
        at = last = syscall(SYS_lseek, fd, data, SEEK_HOLE);
    }
    return last > end ? own->bytes : (size_t)(last - own->at);
}

/* Returns 0 or an errno value. */
static unwatched int read_extent(const struct uccs_fork_range *own, int fd, char *copy, off_t from, off_t to)
{
    while (from < to) {
        long got = syscall(SYS_pread64, fd, copy + (from - own->at), (size_t)(to - from), from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        from += got;
    }
    return 0;
}

/* Copies the first `bytes` of the range. Returns 0 or an errno value. */
static unwatched int read_extents(const struct uccs_fork_range *own, int fd, char *copy, size_t bytes)
{
    off_t end = own->at + (off_t)bytes;
    int status = 0;
    for (off_t at = own->at; at < end && !status;) {
        off_t data = syscall(SYS_lseek, fd, at, SEEK_DATA);
        if (data < 0 || data >= end) /* somebody punched a hole meanwhile */
            break;
        at = syscall(SYS_lseek, fd, data, SEEK_HOLE);
        if (at > end)
            at = end;
        status = read_extent(own, fd, copy, data, at);
    }
    return status;
}

/* Maps zeroed memory at `at`, or anywhere when `at` is null. Returns its address, or -1 with errno set. */
static unwatched long map_fresh(void *at, size_t bytes, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    return syscall(SYS_mmap, at, bytes, protection, flags, -1, 0L);
}

/* Replaces the range by a private copy. Returns 0 or an errno value. */
static unwatched int make_private(const struct uccs_fork_range *own, int fd)
{
    char *start = own->start;
    size_t bytes = data_bytes(own, fd);
    if (bytes) {
        long copy = map_fresh(NULL, bytes, PROT_READ | PROT_WRITE);
        if (copy == -1)
            return errno;
        int status = read_extents(own, fd, (char *)copy, bytes);
        if (status)
            return status;
        if (syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == -1)
            return errno;
    }
    if (bytes == own->bytes || map_fresh(start + bytes, own->bytes - bytes, PROT_READ | PROT_WRITE) != -1)
        return 0;
    /* Strict overcommit refuses terabytes, so map the part that was never used without access. */
    return map_fresh(start + bytes, own->bytes - bytes, PROT_NONE) == -1 ? errno : 0;
}

/* The text of strerror may take a lock. */
static const char *reason(int error)
{
    return error == ENOMEM                      ? "no memory is left"
           : error == EMFILE || error == ENFILE ? "too many files are open"
                                                : "the system refuses";
}

void uccs_fork_prepare(struct uccs_fork_call *call)
{
    sigset_t all;
    call->notice[0] = call->notice[1] = -1;
    call->blocked = guarded.fd >= 0;
    if (!call->blocked)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &call->before);
    if (pipe2(call->notice, O_CLOEXEC) != 0)
        log_line("fork: no pipe to the child (%s): it may see later stores of its parent", reason(errno));
}

void uccs_fork_in_parent(struct uccs_fork_call *call)
{
    char byte;
    int kept = errno;
    if (call->notice[1] >= 0) {
        close(call->notice[1]);
        while (read(call->notice[0], &byte, 1) < 0 && errno == EINTR)
            ;
        close(call->notice[0]);
    }
    if (call->blocked)
        pthread_sigmask(SIG_SETMASK, &call->before, NULL);
    errno = kept;
}

void uccs_fork_in_child(struct uccs_fork_call *call)
{
    int status = 0, kept = errno;
    for (int i = 0; i < UCCS_FORK_OWN && !status && guarded.fd >= 0; i++)
        if (guarded.own[i].start)
            status = make_private(&guarded.own[i], guarded.own[i].fd ? guarded.own[i].fd : guarded.fd);
    if (status) {
        log_line("fork: the child cannot have a copy of its parent's symmetric memory: %s; it ends", reason(status));
        _exit(LAT_EXIT);
    }
    guarded.fd = -1; /* fork copies this memory for the child's own children as usual */
    if (call->notice[1] >= 0) {
        if (write(call->notice[1], "", 1) != 1)
            log_debug("fork: the parent does not wait for its child");
        close(call->notice[0]);
        close(call->notice[1]);
    }
    if (call->blocked)
        pthread_sigmask(SIG_SETMASK, &call->before, NULL);
    errno = kept;
}

static void prepare(void)
{
    uccs_fork_prepare(&under_way);
}

static void in_parent(void)
{
    uccs_fork_in_parent(&under_way);
}

static void in_child(void)
{
    uccs_fork_in_child(&under_way);
}

/* Excludes the whole map from children, then includes the own slices again. Returns 0 or an errno value. */
static int leave_out_peers(const struct uccs_fork_ranges *r)
{
    if (!r->shared)
        return 0;
    if (madvise(r->shared, r->shared_bytes, MADV_DONTFORK) != 0)
        return errno;
    for (int i = 0; i < UCCS_FORK_OWN; i++) {
        uintptr_t offset = (uintptr_t)r->own[i].start - (uintptr_t)r->shared;
        if (r->own[i].start && offset < r->shared_bytes)
            if (madvise(r->own[i].start, r->own[i].bytes, MADV_DOFORK) != 0)
                return errno;
    }
    return 0;
}

int uccs_fork_guard(const struct uccs_fork_ranges *ranges)
{
    static bool registered;
    if (!ranges) {
        guarded.fd = -1;
        return 0;
    }
    int status = registered ? 0 : pthread_atfork(prepare, in_parent, in_child);
    if (!status) {
        registered = true;
        status = leave_out_peers(ranges);
    }
    if (!status)
        guarded = *ranges;
    return status;
}
