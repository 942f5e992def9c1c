/* The program's own global and static variables, and how they come onto shared pages.
 *
 * image_find looks at the main executable: its writable data behind the part that the loader makes read-only (RELRO),
 * rounded to pages. image_move copies those pages into a shared file and maps the file in their place, at the same
 * addresses. No pointer changes, and every process that maps the file sees every later store. When the C library and
 * this library are linked in statically, their variables move along, and nothing notices.
 *
 * Call image_move while no other thread of the process can write to these variables. Neither function allocates memory: an
 * allocator that the program brings along may start a thread at its first call.
 *
 * Pages that a device or the kernel pinned by their physical place before the move (io_uring buffers, registered
 * network memory) cannot follow. */
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
    uintptr_t start, end; /* all parts and the gaps between them; empty when image_find has failed */
    struct image_part part[IMAGE_PARTS];
    int parts;
    unsigned char id[IMAGE_ID_BYTES]; /* equal in every process of this program; the build-id if it has one */
};

/* Finds the data. Unless the executable contains this code itself, it must name `soname` as needed. Returns null, or the
 * reason why the data cannot move: the end of "the program ...". */
const char *image_find(struct image *image, const char *soname);

/* Returns 0. Otherwise returns an errno value and nothing has changed: EBUSY (threads), EINVAL (the file is too short, or `at`
 * is not on a page), or the system's own. The file's bytes [at, at + end - start) must be unwritten. */
int image_move(struct image *image, int fd, off_t at);

static inline size_t image_bytes(const struct image *image)
{
    return image->end - image->start;
}

static inline bool image_contains(const struct image *image, const void *address)
{
    return (uintptr_t)address - image->start < image->end - image->start;
}

#endif
