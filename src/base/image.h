/* The program's own global and static variables, and how they come onto shared pages.
 *
 * image_find looks at the main executable: its writable data behind the part that the loader makes
 * read-only (RELRO), rounded to pages. image_move copies those pages into a shared file and maps the file
 * in their place, at the same addresses: no pointer changes, and whoever maps the file sees every later
 * store. The C library's and this library's own variables move along when they are linked in statically, and
 * nothing notices.
 *
 * Call both from the only thread of the process, before peers may store to these variables. Moved pages
 * stay where they are until the process ends; a second move is refused (EBUSY).
 *
 * What cannot follow: pages that a device or the kernel has pinned by their physical place before the
 * move (io_uring buffers, registered network memory). A program that does this to a global registers
 * after init. */
#ifndef BASE_IMAGE_H
#define BASE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IMAGE_ID_BYTES 24
#define IMAGE_PARTS 4

/* One writable segment, in whole pages: its pages from zero_from on started as zeros (.bss). */
struct image_part {
    uintptr_t start, zero_from, end;
};

struct image {
    uintptr_t start, end; /* all parts and the gaps between them; empty when why_not is set */
    struct image_part part[IMAGE_PARTS];
    int parts;
    unsigned char id[IMAGE_ID_BYTES]; /* equal in every process that runs this program, build-id if it has one */
    const char *why_not;              /* null, or the end of "its globals are not symmetric because it ..." */
};

/* soname: the library that the executable must name as needed, unless it contains this code itself. */
bool image_find(struct image *image, const char *soname);

/* 0, or an errno value when nothing has changed: EBUSY (threads, or moved before), EINVAL (the file is too
 * short, at is not on a page), or what the system said. The file's bytes [at, at + end - start) must be
 * unwritten. */
int image_move(const struct image *image, int fd, off_t at);

/* Whether other threads of the program may be running. After image_settle_threads: whether they were then.
 * So threads that the library's own modules start in between do not count; they know nothing of the
 * program's variables. */
bool image_threaded(void);
void image_settle_threads(void);

static inline size_t image_bytes(const struct image *image)
{
    return image->end - image->start;
}

static inline bool image_contains(const struct image *image, const void *address)
{
    return (uintptr_t)address - image->start < image->end - image->start;
}

#endif
