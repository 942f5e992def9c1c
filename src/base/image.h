/* The program's own global and static variables, and how they come onto shared pages.
 *
 * image_find looks at the main executable: its writable data behind the part that the loader makes read-only (RELRO),
 * rounded to pages. image_move copies those pages into a shared file and maps the file in their place, at the same
 * addresses. No pointer changes, and every process that maps the file sees every later store. When the C library and
 * this library are linked in statically, their variables move along, and nothing notices.
 *
 * Call both from the only thread of the process, before peers may store to these variables. Moved pages stay where they
 * are until the process ends; image_move refuses a second move (EBUSY).
 *
 * Pages that a device or the kernel pinned by their physical place before the move (io_uring buffers, registered
 * network memory) cannot follow. A program that pins a global registers it after init. */
#ifndef BASE_IMAGE_H
#define BASE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IMAGE_ID_BYTES 24
#define IMAGE_PARTS 4

/* One writable segment, in whole pages. Its pages from zero_from on started as zeros (.bss). */
struct image_part {
    uintptr_t start, zero_from, end;
};

struct image {
    uintptr_t start, end; /* all parts and the gaps between them; empty when why_not is set */
    struct image_part part[IMAGE_PARTS];
    int parts;
    unsigned char id[IMAGE_ID_BYTES]; /* equal in every process of this program; the build-id if it has one */
    const char *why_not;              /* null, or the end of "its globals are not symmetric because it ..." */
};

/* Finds the data. Unless the executable contains this code itself, it must name `soname` as needed. Returns false and
 * sets why_not when the data cannot move. */
bool image_find(struct image *image, const char *soname);

/* Returns 0. Otherwise returns an errno value and nothing has changed: EBUSY (threads, or moved before), EINVAL (the
 * file is too short, or `at` is not on a page), or the system's own. The file's bytes [at, at + end - start) must be
 * unwritten. */
int image_move(const struct image *image, int fd, off_t at);

/* Tells whether other threads of the program may be running. After image_settle_threads it gives the answer of that
 * moment, so threads that the library's own modules start later do not count; those do not touch the program's
 * variables. */
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
