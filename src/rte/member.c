/* Is a process one of this node? Words of shared memory say which processes are, and any PE can write them. So before
 * this process kills another one, it looks whether the kernel shows the node's memory among what that one has mapped.
 *
 * Without /proc the words are all there is.
 *
 * Any thread, also in a signal handler: it uses system calls only. */
#include "rte/backend.h"
#include "rte/rte.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NEEDLE 64

static char *put_number(char *at, uint64_t number, unsigned base, int least)
{
    char digits[24];
    int count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number || count < least);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* Puts " major:minor inode " of the node's memory into text, as a line of /proc/PID/maps has it. Returns the bytes, or
 * 0. */
static size_t name_memory(char text[NEEDLE])
{
    struct stat file;
    char *at = text;
    if (fstat(rte.fd, &file) != 0)
        return 0;
    *at++ = ' ';
    at = put_number(at, major(file.st_dev), 16, 2);
    *at++ = ':';
    at = put_number(at, minor(file.st_dev), 16, 2);
    *at++ = ' ';
    at = put_number(at, file.st_ino, 10, 1);
    *at++ = ' ';
    return (size_t)(at - text);
}

/* Returns -1 when there is no such process, or no /proc. */
static int open_maps(int pid)
{
    char path[40] = "/proc/";
    char *end = put_number(path + 6, (uint64_t)pid, 10, 1);
    memcpy(end, "/maps", sizeof "/maps");
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns true when the file holds the word, which is shorter than NEEDLE. */
static bool holds_word(int fd, const char *word, size_t bytes)
{
    char text[NEEDLE + 4096];
    size_t kept = 0;
    ssize_t got;
    while ((got = read(fd, text + kept, 4096)) > 0) {
        size_t filled = kept + (size_t)got;
        if (memmem(text, filled, word, bytes))
            return true;
        kept = filled < bytes ? filled : bytes;
        memmove(text, text + filled - kept, kept);
    }
    return false;
}

bool rte_shares_memory(int pid)
{
    char word[NEEDLE];
    size_t bytes = name_memory(word);
    if (pid <= 1 || bytes == 0)
        return false;
    int fd = open_maps(pid);
    if (fd < 0)
        return access("/proc/self/maps", F_OK) != 0;
    bool found = holds_word(fd, word, bytes);
    close(fd);
    return found;
}
