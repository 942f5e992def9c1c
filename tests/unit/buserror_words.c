/* The line of a bus error, word by word: sizes, the machine's memory, and the least limit of the control groups of both versions. The
 * files of the kernel are this program's own, and so is the signal. Each case runs in a child.
 *
 * skip: aarch64 */
#include "base/buserror.h"

#include "base/log.h"

#include "unit/check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct file {
    const char *path, *text;
};

struct report {
    const char *what;
    struct file files[6];
    size_t heap_bytes;
    int pe, pes;
    const char *words; /* between the address and "; set" */
};

static const struct file *files; /* of this case; the last one has no path */

/* What the handler opens. */
int open(const char *path, int flags, ...)
{
    for (const struct file *file = files; file && file->path; file++)
        if (strcmp(file->path, path) == 0) {
            const int fd = (int)syscall(SYS_memfd_create, "file", 0);
            if (fd < 0 || syscall(SYS_write, fd, file->text, strlen(file->text)) < 0)
                return -1;
            syscall(SYS_lseek, fd, 0, SEEK_SET);
            return fd;
        }
    if (strncmp(path, "/sys/fs/cgroup", 14) == 0 || strncmp(path, "/proc/", 6) == 0)
        return -1;
    va_list more;
    va_start(more, flags);
    const int mode = va_arg(more, int);
    va_end(more);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* What the handler reads. Each of its rooms keeps a byte for the end of the string. */
ssize_t read(int fd, void *to, size_t bytes)
{
    if (files) /* in a child that reports */
        CHECK(bytes == 63 || bytes == 2047 || bytes == 4095);
    return syscall(SYS_read, fd, to, bytes);
}

static char block[8192];

static void bus_error_at(const void *address)
{
    siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_ADRERR};
    info.si_addr = (void *)(uintptr_t)address;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info);
}

static const struct report *now;

static void watch_now(void)
{
    struct buserror_facts facts = {.heap_bytes = now->heap_bytes, .pes = now->pes};
    signal(SIGBUS, SIG_DFL);
    log_identity(now->pe);
    CHECK(buserror_watch(block, 4096, &facts) == 0);
}

static void reports(void)
{
    files = now->files;
    watch_now();
    bus_error_at(&block[4095]);
}

static void reports_with_few_files(void)
{
    const struct rlimit few = {6, 6};
    close(STDIN_FILENO); /* so that the first file is number 0 */
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    reports();
}

static void behind_the_range(void)
{
    watch_now();
    bus_error_at(&block[4096]);
    _exit(30);
}

static void by_kill(void)
{
    static const struct buserror_facts facts;
    signal(SIGBUS, SIG_DFL);
    CHECK(buserror_watch((void *)0, SIZE_MAX, &facts) == 0);
    kill(getpid(), SIGBUS); /* not raise, whose code is another */
    _exit(31);
}

static void by_kill_ignored(void)
{
    static const struct buserror_facts facts;
    signal(SIGBUS, SIG_IGN);
    CHECK(buserror_watch((void *)0, SIZE_MAX, &facts) == 0);
    kill(getpid(), SIGBUS);
    _exit(32);
}

static int run(void (*body)(void), char *wrote, size_t room)
{
    int out[2], status;
    size_t used = 0;
    CHECK(pipe(out) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        body();
        _exit(99);
    }
    close(out[1]);
    for (ssize_t got; used < room - 1 && (got = read(out[0], wrote + used, room - 1 - used)) > 0;)
        used += (size_t)got;
    wrote[used] = 0;
    close(out[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void says(const struct report *report, void (*body)(void))
{
    char text[4096], wanted[1024], pe[32] = "";
    now = report;
    if (report->pe >= 0)
        snprintf(pe, sizeof pe, "PE %d: ", report->pe);
    snprintf(
        wanted, sizeof wanted,
        "lateral: %sout of memory for shared pages at 0x%lx (heap size %s); set SHMEM_SYMMETRIC_SIZE smaller or use fewer PEs\n",
        pe, (unsigned long)(uintptr_t)&block[4095], report->words);
    const int status = run(body, text, sizeof text);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "%s:\nwanted %sfound  %s\n", report->what, wanted, text);
    CHECK(strcmp(text, wanted) == 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == LAT_EXIT);
}

#define SELF "/proc/self/cgroup"
#define V1 "/sys/fs/cgroup/memory"
#define LIMIT "/memory.limit_in_bytes"
#define V2 "/sys/fs/cgroup"

static const struct report cases[] = {
    {"bytes", {{0}}, 1023, 3, 4, "1023 bytes each, PEs here 4"},
    {"the first PE", {{0}}, 1024, 0, 12, "1 KiB each, PEs here 12"},
    {"no PE yet", {{0}}, 1536, -1, 1, "1.5 KiB each, PEs here 1"},
    {"a gigabyte", {{0}}, (size_t)1 << 30, 3, 9, "1 GiB each, PEs here 9"},
    {"the largest unit", {{0}}, (size_t)1 << 40, 3, 4, "1 TiB each, PEs here 4"},
    {"many of the largest unit", {{0}}, (size_t)3 << 49, 3, 4, "1536 TiB each, PEs here 4"},
    {"the machine",
     {{"/proc/meminfo", "MemTotal:       16384 kB\nMemFree:    1 kB\nMemAvailable:    9000 kB\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, machine has 16 MiB, available 8.7 MiB"},
    {"a large machine that is full",
     {{"/proc/meminfo", "MemTotal: 8589934592 kB\nMemAvailable: 0 kB\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, machine has 8 TiB, available 0 bytes"},
    {"the group above",
     {{SELF, "0::/a/bc\n"},
      {V2 "/a/bc/memory.max", "max\n"},
      {V2 "/a/memory.max", "1073741824\n"},
      {V2 "/memory.max", "5905580032\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 1 GiB"},
    {"the group itself, long",
     {{SELF, "0::/a/bc\n"}, {V2 "/a/bc/memory.max", "5905580032\n"}, {V2 "/a/memory.max", "9007199254740992\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 5.5 GiB"},
    {"the root alone",
     {{SELF, "0::/\n"}, {V2 "/memory.max", "90\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 90 bytes"},
    {"no limit", {{SELF, "0::/a\n"}, {V2 "/a/memory.max", "max\n"}}, 1024, 3, 4, "1 KiB each, PEs here 4"},
    {"a line like version 2's",
     {{SELF, "10::/no\n0::/yes\n"}, {V2 "/no/memory.max", "1024\n"}, {V2 "/yes/memory.max", "2048\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 2 KiB"},
    {"version 1, the less",
     {{SELF, "5:cpu:/x\n4:memory:/y\n0::/z\n"},
      {V1 "/y" LIMIT, "5905580032\n"},
      {V1 LIMIT, "9223372036854771712\n"},
      {V2 "/z/memory.max", "6442450944\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 5.5 GiB"},
    {"version 2, the less",
     {{SELF, "4:memory:/y\n0::/z\n"}, {V1 "/y" LIMIT, "3072\n"}, {V2 "/z/memory.max", "2048\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 2 KiB"},
    {"version 1's \"no limit\"",
     {{SELF, "4:memory:/y\n"}, {V1 LIMIT, "1152921504606846976\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4"},
    {"the highest limit",
     {{SELF, "4:memory:/y\n"}, {V1 LIMIT, "1152921504606846975\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4, cgroup limit 1048575.9 TiB"},
    {"a number beyond the highest limit",
     {{SELF, "4:memory:/y\n"}, {V1 LIMIT, "11529215046068469750\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4"},
    {"a number of a hundred digits",
     {{SELF, "0::/\n"},
      {V2 "/memory.max",
       "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\n"}},
     1024,
     3,
     4,
     "1 KiB each, PEs here 4"},
};

/* Each file is closed before the next one, also the one whose number is 0. */
static const struct report deep = {"a deep group",
                                   {{SELF, "0::/a/b/c/d/e/f/g/h/i/j\n"},
                                    {V2 "/a/b/c/d/e/f/g/h/i/j/memory.max", "9216\n"},
                                    {V2 "/a/b/c/d/e/f/g/h/memory.max", "8192\n"},
                                    {V2 "/a/b/c/d/memory.max", "7168\n"},
                                    {V2 "/a/memory.max", "6144\n"}},
                                   1024,
                                   3,
                                   4,
                                   "1 KiB each, PEs here 4, cgroup limit 6 KiB"};

static void ends(void (*body)(void), int wanted)
{
    char text[4096];
    const int status = run(body, text, sizeof text),
              found = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (found != wanted || text[0])
        fprintf(stderr, "ends with %d instead of %d: %s\n", found, wanted, text);
    CHECK(found == wanted && !text[0]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        says(&cases[i], reports);
    says(&deep, reports_with_few_files);
    now = &cases[0];
    ends(behind_the_range, 30); /* the signal has its default effect when the access is repeated; there is none */
    ends(by_kill, -SIGBUS);
    ends(by_kill_ignored, 32);
    return 0;
}
