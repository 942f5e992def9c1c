#include "touched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ENTRIES 512 /* of /proc/self/pagemap that are read at once */

struct lmpi_touched lmpi_touched_private(void)
{
    return (struct lmpi_touched){.file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), .pages = true};
}

static bool is_at(const char *path, const struct lmpi_place *place)
{
    struct stat file;
    return stat(path, &file) == 0 && file.st_ino == place->inode &&
           ((unsigned long)major(file.st_dev) << 32 | minor(file.st_dev)) == place->device;
}

/* A descriptor of its own: the other one's position is not this library's. */
struct lmpi_touched lmpi_touched_file(const struct lmpi_place *place)
{
    struct lmpi_touched found = {.file = -1};
    char path[300];
    DIR *files = opendir("/proc/self/fd");
    for (const struct dirent *each; found.file < 0 && files && (each = readdir(files));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", each->d_name);
        if (is_at(path, place))
            found.file = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (files)
        closedir(files);
    return found;
}

void lmpi_touched_close(const struct lmpi_touched *touched)
{
    if (touched->file >= 0)
        close(touched->file);
}

static bool holds(uint64_t entry)
{
    return entry >> 62; /* the page is present, or swapped */
}

/* Counts pages that are alike, from the first one on: *touched says what they are. Returns 0 when the kernel does not say. */
static size_t count_alike(int file, uintptr_t address, size_t pages, bool *touched)
{
    uint64_t entry[ENTRIES];
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t n = 0;
    for (bool alike = true; alike && n < pages;) {
        const size_t ask = pages - n < ENTRIES ? pages - n : ENTRIES;
        const ssize_t bytes = pread(file, entry, ask * sizeof *entry, (off_t)((address / page + n) * sizeof *entry));
        if (bytes < (ssize_t)sizeof *entry)
            return n;
        if (n == 0)
            *touched = holds(entry[0]);
        size_t i = 0;
        while (i < (size_t)bytes / sizeof *entry && holds(entry[i]) == *touched)
            i++;
        n += i;
        alike = i == (size_t)bytes / sizeof *entry;
    }
    return n;
}

/* `start` and all others are at pages. */
static bool next_private(int file, const char *start, size_t end, size_t *from, size_t *to)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    while (*from < end) {
        bool touched = true;
        const size_t alike = count_alike(file, (uintptr_t)start + *from, (end - *from) / page, &touched) * page;
        *to = alike ? *from + alike : end; /* the kernel does not say: all of it */
        if (touched)
            return true;
        *from = *to;
    }
    return false;
}

static bool next_in_file(int file, size_t at, size_t end, size_t *from, size_t *to)
{
    const off_t data = lseek(file, (off_t)(at + *from), SEEK_DATA);
    if (data < 0 ? errno == ENXIO : (size_t)data >= at + end)
        return false;
    if (data < 0) { /* the kernel does not say: all of it */
        *to = end;
        return *from < end;
    }
    const off_t hole = lseek(file, data, SEEK_HOLE);
    *from = (size_t)data - at;
    *to = hole > data ? (size_t)hole - at : end;
    return true;
}

static bool find_run(struct lmpi_touched *touched, const char *start, size_t at, size_t end)
{
    if (touched->file >= 0)
        return touched->pages ? next_private(touched->file, start, end, &touched->from, &touched->to)
                              : next_in_file(touched->file, at, end, &touched->from, &touched->to);
    touched->to = end;
    return touched->from < end;
}

bool lmpi_touched_next(struct lmpi_touched *touched, const char *start, size_t at, size_t end, size_t *from, size_t *to)
{
    if (*from < touched->from || *from >= touched->to) {
        touched->from = *from;
        if (!find_run(touched, start, at, end)) {
            touched->from = touched->to = 0;
            return false;
        }
    }
    *from = touched->from > *from ? touched->from : *from;
    *to = touched->to < end ? touched->to : end;
    return *from < end;
}
