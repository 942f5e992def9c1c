/* What forks.c includes: fork.c above a made-up kernel, which can fail, interrupt and give less than it is asked for. */
#ifndef TESTS_PARTS_FORKS_KERNEL_H
#define TESTS_PARTS_FORKS_KERNEL_H

#include "unit/check.h"

#include "base/log.h"
#include "uccs/core/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- The kernel: files whose bytes are data from `data` on, up to `hole`, twice */

enum { SIZE = 64, ASIDE = 3 };

static struct file {
    char bytes[SIZE];
    struct {
        off_t data, hole;
    } extents[2];
} files[2]; /* descriptors 0 and 1 */

static off_t file_at;           /* where the bytes of the files begin */
static off_t read_end;          /* of the bytes that were wanted */
static char aside[ASIDE][SIZE]; /* memory that a child has got anywhere */
static int asides;
static char calls[64];      /* a letter for each call that changes something */
static char fails[4];       /* the calls that fail, the first one first; f: without overcommit */
static int why;             /* the error */
static int pieces;          /* a read returns at most so many bytes; 0: nothing is there */
static int interruptions;   /* of reads that come */
static const char *punched; /* not null: this hole has been made since the first look */
static int data_looks;
static char line[200];
static jmp_buf home;
static int exits;
static struct {
    void *at;
    size_t bytes;
    int protection;
} mapped;

static int note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
    if (fails[0] != call)
        return 0;
    memmove(fails, fails + 1, sizeof fails - 1);
    errno = why;
    return -1;
}

static off_t seek(int fd, off_t at, int whence)
{
    CHECK((fd == 0 || fd == 1) && at >= file_at);
    at -= file_at;
    data_looks += whence == SEEK_DATA;
    for (int i = 0; i < 2; i++) {
        const off_t data = files[fd].extents[i].data, hole = files[fd].extents[i].hole;
        if (at >= hole || (punched && whence == SEEK_DATA && data_looks > 3))
            continue;
        if (whence == SEEK_HOLE)
            CHECK(at >= data);
        return file_at + (whence == SEEK_DATA ? (at > data ? at : data) : hole);
    }
    errno = ENXIO;
    return -1;
}

static long read_at(int fd, char *to, size_t bytes, off_t at)
{
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if (note('r') != 0)
        return -1;
    const size_t part = bytes < (size_t)pieces ? bytes : (size_t)pieces;
    memcpy(to, files[fd].bytes + (at - file_at), part);
    read_end = at - file_at + (off_t)bytes;
    return (long)part;
}

static long map(void *at, size_t bytes, int protection, int flags, int fd, long offset)
{
    CHECK(fd == -1 && offset == 0);
    CHECK(flags == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0)));
    if (note(protection == PROT_NONE ? 'n' : at ? 'f' : 'm') != 0)
        return -1;
    mapped.at = at;
    mapped.bytes = bytes;
    mapped.protection = protection;
    CHECK(at || (asides < ASIDE && bytes <= SIZE));
    char *start = at ? at : aside[asides++];
    memset(start, 0, bytes);
    return (long)start;
}

static long test_syscall(long number, ...)
{
    va_list list;
    long result = -1;
    va_start(list, number);
    if (number == SYS_lseek) {
        const int fd = va_arg(list, int);
        const off_t at = va_arg(list, off_t);
        result = seek(fd, at, va_arg(list, int));
    } else if (number == SYS_pread64) {
        const int fd = va_arg(list, int);
        char *to = va_arg(list, char *);
        const size_t bytes = va_arg(list, size_t);
        result = read_at(fd, to, bytes, va_arg(list, off_t));
    } else if (number == SYS_mmap) {
        void *at = va_arg(list, void *);
        const size_t bytes = va_arg(list, size_t);
        const int protection = va_arg(list, int), flags = va_arg(list, int), fd = va_arg(list, int);
        result = map(at, bytes, protection, flags, fd, va_arg(list, long));
    } else {
        CHECK(number == SYS_mremap);
        const long from = va_arg(list, long);
        const size_t bytes = va_arg(list, size_t), again = va_arg(list, size_t);
        CHECK(bytes == again && va_arg(list, int) == (MREMAP_MAYMOVE | MREMAP_FIXED));
        char *to = va_arg(list, char *);
        result = note('v');
        if (result == 0)
            memcpy(to, (const char *)from, bytes);
    }
    va_end(list);
    return result;
}

static int test_pipe(int ends[2], int flags)
{
    CHECK(flags == O_CLOEXEC);
    if (note('p') != 0)
        return -1;
    ends[0] = 0; /* in a program without a standard input */
    ends[1] = 51;
    return 0;
}

static long test_read(int fd, void *byte, size_t bytes)
{
    CHECK(fd == 0 && bytes == 1);
    *(char *)byte = 0;
    errno = EINTR; /* also after a read that has got something */
    if (interruptions > 0) {
        interruptions--;
        calls[strlen(calls)] = 'i';
        return -1;
    }
    return note('w') == 0 ? 1 : -1;
}

static long test_write(int fd, const void *byte, size_t bytes)
{
    CHECK(fd == 51 && bytes == 1 && byte);
    return note('W') == 0 ? 1 : -1;
}

static int test_close(int fd)
{
    CHECK(fd == 0 || fd == 51);
    errno = EBADF;
    return note(fd == 51 ? '1' : '0');
}

static struct {
    void *start;
    size_t bytes;
    int advice;
} advised[4];
static int advices;

static int test_madvise(void *start, size_t bytes, int advice)
{
    CHECK(advices < 4);
    if (note(advice == MADV_DONTFORK ? 'x' : 'd') != 0)
        return -1;
    advised[advices].start = start;
    advised[advices].bytes = bytes;
    advised[advices++].advice = advice;
    return 0;
}

static int atfork_error, registrations;

static int test_atfork(void (*first)(void), void (*parent)(void), void (*child)(void))
{
    CHECK(first && parent && child);
    registrations += atfork_error == 0;
    return atfork_error;
}

static pid_t this_process = 100;

static pid_t test_getpid(void)
{
    return this_process;
}

static void __attribute__((format(printf, 1, 2))) test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
}

static _Noreturn void test_exit(int status)
{
    exits = status;
    longjmp(home, 1);
}

#define syscall test_syscall
#define pipe2 test_pipe
#define read test_read
#define write test_write
#define close test_close
#define madvise test_madvise
#define pthread_atfork test_atfork
#define getpid test_getpid
#undef log_debug
#define log_debug test_log
#define log_line test_log
#define _exit test_exit
#include "uccs/core/fork.c"

#endif
