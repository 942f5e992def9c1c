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
 * of a signal, since _Fork is (fork_bare.c). Where the program has closed the file's descriptor, the child copies from memory. */
#include "uccs/core/fork.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define unwatched __attribute__((no_sanitize_address, no_sanitize_thread))

void (*uccs_fork_become_child)(void);
static struct uccs_fork_ranges guarded = {.fd = -1};
static __thread struct uccs_fork_call under_way; /* the fork of this thread */

/* The descriptor of the range's file, or -1 when the program has closed it. Another file may have its number now. */
static unwatched int file_of(const struct uccs_fork_range *own)
{
    struct stat now;
    const int fd = own->fd ? own->fd : guarded.fd;
    return fstat(fd, &now) == 0 && now.st_ino == own->file && now.st_dev == own->device ? fd : -1;
}

/* Pages that are swapped out count as not in memory. */
static unwatched bool nothing_is_swapped(void)
{
    struct sysinfo machine;
    return syscall(SYS_sysinfo, &machine) == 0 && machine.totalswap == machine.freeswap;
}

/* Returns the offset of the first page from `at` on that is in memory (or is not), or the end of the range. */
static unwatched off_t find_page(const struct uccs_fork_range *own, off_t at, bool wanted)
{
    const off_t page = sysconf(_SC_PAGESIZE), end = own->at + (off_t)own->bytes;
    unsigned char there[512];
    while (at < end) {
        const off_t left = (end - at + page - 1) / page,
                    pages = left < (off_t)sizeof there ? left : (off_t)sizeof there;
        if (syscall(SYS_mincore, (char *)own->start + (at - own->at), (size_t)(pages * page), there) != 0)
            return end;
        for (off_t i = 0; i < pages; i++, at += page)
            if ((there[i] & 1) == wanted)
                return at;
    }
    return end;
}

/* Returns where the next extent that holds data begins, from `at` on, or where the one that begins at `at` ends; at most the end of
 * the range. Without a descriptor (-1) memory tells. */
static unwatched off_t next_extent(const struct uccs_fork_range *own, int fd, off_t at, int what)
{
    const off_t end = own->at + (off_t)own->bytes;
    const off_t found = fd >= 0 ? syscall(SYS_lseek, fd, at, what) : find_page(own, at, what == SEEK_DATA);
    return found < 0 || found > end ? end : found;
}

/* Returns 0 or an errno value. */
static unwatched int read_extent(const struct uccs_fork_range *own, int fd, char *copy, off_t from, off_t to)
{
    const volatile uint64_t *word = (void *)((char *)own->start + (from - own->at));
    for (uint64_t *into = (void *)(copy + (from - own->at)); fd < 0 && from < to; from += (off_t)sizeof *into)
        *into++ = *word++;
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

/* Maps zeroed memory at `at`, or anywhere when `at` is null. Returns its address, or -1 with errno set. */
static unwatched long map_fresh(void *at, size_t bytes, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    return syscall(SYS_mmap, at, bytes, protection, flags, -1, 0L);
}

/* Returns the address of the copy with `bytes` bytes, or -1 with errno set. */
static unwatched long grow_copy(long copy, size_t had, size_t bytes)
{
    return had ? syscall(SYS_mremap, copy, had, bytes, MREMAP_MAYMOVE) : map_fresh(NULL, bytes, PROT_READ | PROT_WRITE);
}

/* Copies the range up to the end of its last extent, without holes that somebody punches meanwhile. Returns 0 or an errno value. */
static unwatched int read_extents(const struct uccs_fork_range *own, int fd, long *copy, size_t *bytes)
{
    const off_t end = own->at + (off_t)own->bytes;
    int status = 0;
    for (off_t at = own->at; !status && (at = next_extent(own, fd, at, SEEK_DATA)) < end;) {
        const off_t data = at;
        at = next_extent(own, fd, data, SEEK_HOLE);
        *copy = grow_copy(*copy, *bytes, (size_t)(at - own->at));
        if (*copy == -1)
            return errno;
        *bytes = (size_t)(at - own->at);
        status = read_extent(own, fd, (char *)*copy, data, at);
    }
    return status;
}

/* Replaces the range by a private copy. Returns 0 or an errno value. */
static unwatched int make_private(const struct uccs_fork_range *own)
{
    char *start = own->start;
    const int fd = file_of(own);
    long copy = 0;
    size_t bytes = 0;
    if (fd < 0 && !nothing_is_swapped())
        return EBADF;
    int status = read_extents(own, fd, &copy, &bytes);
    if (status)
        return status;
    if (bytes && syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == -1)
        return errno;
    if (bytes == own->bytes || map_fresh(start + bytes, own->bytes - bytes, PROT_READ | PROT_WRITE) != -1)
        return 0;
    /* Strict overcommit refuses terabytes, so map the part that was never used without access. */
    return map_fresh(start + bytes, own->bytes - bytes, PROT_NONE) == -1 ? errno : 0;
}

/* The text of strerror may take a lock. */
static const char *reason_of(int error)
{
    return error == ENOMEM                      ? "no memory is left"
           : error == EMFILE || error == ENFILE ? "too many files are open"
           : error == EBADF ? "the program has closed the library's descriptors, and the machine swaps"
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
        log_line("fork: no pipe to the child (%s): it may see later stores of its parent", reason_of(errno));
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
            status = make_private(&guarded.own[i]);
    if (status) {
        log_line("fork: the child cannot have a copy of its parent's symmetric memory: %s; it ends", reason_of(status));
        _exit(LAT_EXIT);
    }
    guarded.fd = -1; /* fork copies this memory for the child's own children as usual */
    if (uccs_fork_become_child)
        uccs_fork_become_child();
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

static void prepare_fork(void)
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

/* Returns 0 or an errno value. */
static int know_file(struct uccs_fork_range *own)
{
    struct stat file;
    if (fstat(own->fd ? own->fd : guarded.fd, &file) != 0)
        return errno;
    own->file = file.st_ino;
    own->device = file.st_dev;
    return 0;
}

int uccs_fork_guard(const struct uccs_fork_ranges *ranges)
{
    static bool registered;
    if (!ranges) {
        guarded.fd = -1;
        return 0;
    }
    int status = registered ? 0 : pthread_atfork(prepare_fork, in_parent, in_child);
    if (!status) {
        registered = true;
        status = leave_out_peers(ranges);
    }
    if (status)
        return status;
    guarded = *ranges;
    for (int i = 0; i < UCCS_FORK_OWN && !status; i++)
        if (guarded.own[i].start)
            status = know_file(&guarded.own[i]);
    return status;
}
