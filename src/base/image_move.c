/* Puts the executable's data onto shared pages.
 *
 * The code has a file of its own and is never inlined or cloned: if the compiler saw the moved variables and this code
 * together, it could keep a variable in a register across the move. Between the first copied byte and the new mapping
 * nothing may write to the old pages. So signals are blocked, all variables are on the stack, and the code uses bare
 * system calls only (sanitizers would act on the wrappers, and their state may be among the moved pages).
 *
 * write(2) takes the pages straight from their place. The kernel reads them, so the redzones that sanitizers put
 * between variables do not matter. Pages of .bss that were never touched, and pages of zeros, stay holes, so a large
 * .bss costs no memory. */
#include "base/image.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_SIGSET_BYTES 8
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_CHUNK 512 /* entries read at once; one page table's worth */

#define unwatched __attribute__((no_sanitize_address, no_sanitize_thread))
#if __has_attribute(noclone)
#define out_of_sight __attribute__((noinline, noclone))
#else
#define out_of_sight __attribute__((noinline))
#endif

struct mover {
    const struct image *image;
    size_t page;
    int fd;
    off_t at;
    int pagemap; /* -1: not available or not trusted */
    uintptr_t run_start, run_end;
};

static unwatched bool is_zero(uintptr_t page, size_t bytes)
{
    const uint64_t *word = (const uint64_t *)page;
    for (size_t i = 0; i < bytes / 8; i += 4)
        if (word[i] | word[i + 1] | word[i + 2] | word[i + 3])
            return false;
    return true;
}

static unwatched int write_run(struct mover *m)
{
    while (m->run_start < m->run_end) {
        off_t to = m->at + (off_t)(m->run_start - m->image->start);
        long wrote = syscall(SYS_pwrite64, m->fd, m->run_start, m->run_end - m->run_start, to);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : ENOSPC;
        m->run_start += wrote;
    }
    return 0;
}

/* Adds one page to the run of pages to write, or leaves it a hole. Returns 0 or an errno value. */
static unwatched int take_page(struct mover *m, uintptr_t page)
{
    if (is_zero(page, m->page))
        return 0;
    if (m->run_end == page) {
        m->run_end += m->page;
        return 0;
    }
    int status = write_run(m);
    m->run_start = page;
    m->run_end = page + m->page;
    return status;
}

static unwatched bool read_pagemap(const struct mover *m, uintptr_t page, uint64_t *entry, size_t count)
{
    off_t from = (off_t)(page / m->page * sizeof *entry);
    return syscall(SYS_pread64, m->pagemap, entry, count * sizeof *entry, from) == (long)(count * sizeof *entry);
}

static unwatched int copy_part(struct mover *m, const struct image_part *part)
{
    uint64_t entry[PAGEMAP_CHUNK];
    int status = 0;
    for (uintptr_t page = part->start; page < part->zero_from && !status; page += m->page)
        status = take_page(m, page);
    for (uintptr_t page = part->zero_from; page < part->end && !status;) {
        size_t left = (part->end - page) / m->page, count = left < PAGEMAP_CHUNK ? left : PAGEMAP_CHUNK;
        bool known = m->pagemap >= 0 && read_pagemap(m, page, entry, count);
        for (size_t i = 0; i < count && !status; i++, page += m->page)
            if (!known || (entry[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
                status = take_page(m, page);
    }
    return status ? status : write_run(m);
}

/* An emulator may show the pagemap of other addresses, so this trusts it only when it shows two pages that certainly
 * exist. Returns the descriptor, or -1. */
static unwatched int open_pagemap(struct mover *m)
{
    uint64_t stack = 0, data = 0;
    m->pagemap = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (m->pagemap < 0)
        return -1;
    (void)*(volatile const char *)m->image->start;
    if (read_pagemap(m, (uintptr_t)&stack & -m->page, &stack, 1) && (stack & PAGEMAP_PRESENT) &&
        read_pagemap(m, m->image->start, &data, 1) && (data & PAGEMAP_PRESENT))
        return m->pagemap;
    syscall(SYS_close, m->pagemap);
    return -1;
}

/* What lies in the gaps between parts stays. */
static unwatched int map_part(const struct mover *m, const struct image_part *part)
{
    long mapped = syscall(SYS_mmap, part->start, part->end - part->start, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, m->fd, m->at + (off_t)(part->start - m->image->start));
    return mapped == -1 ? errno : 0;
}

/* When a later part cannot be mapped, the parts before it are all that is shared. */
static unwatched int copy_and_map(struct mover *m, struct image *image)
{
    int status = 0;
    for (int i = 0; i < image->parts && !status; i++)
        status = copy_part(m, &image->part[i]);
    for (int i = 0; i < image->parts && !status; i++) {
        status = map_part(m, &image->part[i]);
        if (status && i) {
            image->parts = i;
            image->end = image->part[i - 1].end;
            status = 0;
        }
    }
    return status;
}

/* The kernel's count is right except under an emulator or tool that runs the program: it counts their threads, which
 * the C library does not know. The C library's own flag stays "many" after threads have ended. */
static bool many_threads(void)
{
    struct stat tasks;
    bool one_task = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
    return !one_task && !__libc_single_threaded;
}

out_of_sight unwatched int image_move(struct image *image, int fd, off_t at)
{
    struct mover m = {.image = image, .page = sysconf(_SC_PAGESIZE), .fd = fd, .at = at};
    struct stat file;
    if (image->end <= image->start || at % (off_t)m.page)
        return EINVAL;
    if (fstat(fd, &file))
        return errno;
    if (file.st_size < at + (off_t)image_bytes(image))
        return EINVAL;
    if (many_threads())
        return EBUSY;
    uint64_t all = ~UINT64_C(0), before = 0;
    __asm__ volatile("" ::: "memory");
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_BYTES);
    m.pagemap = open_pagemap(&m);
    int status = copy_and_map(&m, image);
    if (m.pagemap >= 0)
        syscall(SYS_close, m.pagemap);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
    __asm__ volatile("" ::: "memory");
    return status;
}
