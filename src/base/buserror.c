/* The SIGBUS handler. It may interrupt anything, so it builds its line by hand and uses only open, read, write and
 * _exit.
 *
 * It may run on an alternate stack of the smallest size, so its buffers are static. One thread reports and ends the
 * process; any other thread that gets here stops. buserror_watch touches the pages of the buffers in advance, because
 * the handler runs when there is no memory left. */
#include "base/buserror.h"

#include "base/atomic.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define SMALLEST_PAGE 4096 /* bytes, of any processor that Lateral runs on */

struct range {
    uintptr_t start;
    size_t bytes;
};

static struct range range[BUSERROR_RANGES];
static int ranges; /* release by buserror_watch, acquire by the handler */
static struct buserror_facts facts;
static struct sigaction before;

struct text {
    char at[1024];
    size_t used;
};

static struct {
    uint32_t taken; /* set by the thread that reports */
    struct text line, path;
    char groups[4096], info[2048];
} report_room;

static void add_text(struct text *t, const char *s)
{
    while (*s && t->used < sizeof t->at - 1)
        t->at[t->used++] = *s++;
    t->at[t->used] = 0;
}

static void add_number(struct text *t, uint64_t n, unsigned base)
{
    uint64_t place = 1;
    while (n / place >= base)
        place *= base;
    for (; place; place /= base)
        add_text(t, (const char[]){"0123456789abcdef"[n / place % base], 0});
}

/* Adds a size in the largest unit that leaves at least 1, with one decimal when it is not whole. */
static void add_size(struct text *t, uint64_t bytes)
{
    static const char *const unit[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
    int u = 0;
    uint64_t scale = 1;
    while (u < 4 && bytes / scale >= 1024) {
        scale *= 1024;
        u++;
    }
    add_number(t, bytes / scale, 10);
    uint64_t tenths = bytes % scale * 10 / scale;
    if (tenths) {
        add_text(t, ".");
        add_number(t, tenths, 10);
    }
    add_text(t, unit[u]);
}

/* Reads the beginning of a small file as a string. Returns false when the file is empty or cannot be read. */
static bool read_text(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, to, room - 1);
    close(fd);
    to[got > 0 ? got : 0] = 0;
    return got > 0;
}

static uint64_t parse_number(const char *s)
{
    uint64_t n = 0;
    if (*s < '0' || *s > '9')
        return UINT64_MAX; /* "max" */
    for (; *s >= '0' && *s <= '9'; s++)
        n = n > UINT64_MAX / 16 ? n : n * 10 + (uint64_t)(*s - '0');
    return n;
}

/* Returns the smallest limit between the process's control group and the root. */
static uint64_t group_limit(const char *mount, const char *group, const char *file)
{
    struct text *path = &report_room.path;
    char value[64];
    uint64_t limit = UINT64_MAX;
    size_t length = strcspn(group, "\n");
    for (;;) {
        path->used = 0;
        add_text(path, mount);
        for (size_t i = 0; i < length && path->used < sizeof path->at - 1; i++)
            path->at[path->used++] = group[i];
        add_text(path, file);
        if (read_text(path->at, value, sizeof value) && parse_number(value) < limit)
            limit = parse_number(value);
        if (!length)
            return limit;
        while (length && group[--length] != '/')
            ;
    }
}

/* Returns the process's memory limit, UINT64_MAX if none. Reads version 2 ("0::/group") and the memory controller of
 * version 1 ("4:memory:/group"). */
static uint64_t memory_limit(void)
{
    char *groups = report_room.groups;
    if (!read_text("/proc/self/cgroup", groups, sizeof report_room.groups))
        return UINT64_MAX;
    const char *v1 = strstr(groups, "memory:/");
    uint64_t limit = v1 ? group_limit("/sys/fs/cgroup/memory", v1 + 7, "/memory.limit_in_bytes") : UINT64_MAX;
    const char *v2 = strstr(groups, "0::"); /* hierarchy 0 is version 2, and its controller list is empty */
    while (v2 && v2 != groups && v2[-1] != '\n')
        v2 = strstr(v2 + 1, "0::");
    uint64_t other = v2 ? group_limit("/sys/fs/cgroup", v2 + 3, "/memory.max") : UINT64_MAX;
    limit = other < limit ? other : limit;
    return limit < UINT64_C(1) << 60 ? limit : UINT64_MAX; /* version 1 writes "no limit" as a huge number */
}

static void add_meminfo(struct text *t, const char *key, const char *words)
{
    char *info = report_room.info;
    const char *at = read_text("/proc/meminfo", info, sizeof report_room.info) ? strstr(info, key) : NULL;
    if (!at)
        return;
    at += strlen(key);
    at += strspn(at, " ");
    add_text(t, words);
    add_size(t, parse_number(at) * 1024);
}

static _Noreturn void report_bus_error(uintptr_t address)
{
    struct text *t = &report_room.line;
    while (atomic_exchange_acqrel(&report_room.taken, 1)) /* another thread reports and ends the process */
        pause();
    t->used = 0;
    add_text(t, "lateral: ");
    if (log_pe() >= 0) {
        add_text(t, "PE ");
        add_number(t, (uint64_t)log_pe(), 10);
        add_text(t, ": ");
    }
    add_text(t, "out of memory for shared pages ");
    add_text(t, "at 0x");
    add_number(t, address, 16);
    add_text(t, " (heap size ");
    add_size(t, facts.heap_bytes);
    add_text(t, " each, PEs here ");
    add_number(t, (uint64_t)facts.pes, 10);
    add_meminfo(t, "MemTotal:", ", machine has ");
    add_meminfo(t, "MemAvailable:", ", available ");
    uint64_t limit = memory_limit();
    if (limit != UINT64_MAX) {
        add_text(t, ", cgroup limit ");
        add_size(t, limit);
    }
    add_text(t, "); set SHMEM_SYMMETRIC_SIZE smaller or use fewer PEs\n");
    ssize_t wrote = write(STDERR_FILENO, t->at, t->used);
    (void)wrote; /* a failed write cannot be reported */
    _exit(LAT_EXIT);
}

/* Restores the default effect. A real fault happens again on return; a signal that was sent is raised again. */
static void fall_back(const siginfo_t *info)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGBUS, &standard, NULL);
    if (info->si_code <= 0)
        raise(SIGBUS);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        fall_back(info);
    else
        before.sa_handler(number);
}

static void report_shared(uintptr_t address)
{
    const int count = atomic_load_acquire(&ranges); /* release: buserror_watch */
    for (int i = 0; i < count; i++)
        if (address - range[i].start < range[i].bytes)
            report_bus_error(address);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    if (info->si_code > 0) /* otherwise the signal was sent and has no address */
        report_shared((uintptr_t)info->si_addr);
    pass_on(number, info, context);
    errno = kept;
}

/* Makes the buffers' pages, by one byte in each. The byte is no zero: where globals lie on shared pages, a page of zeros is
 * left out. */
static void make_report_pages(void)
{
    volatile char *room = (char *)&report_room;
    for (size_t at = offsetof(typeof(report_room), line); at < sizeof report_room; at += SMALLEST_PAGE)
        room[at] = 1;
    room[sizeof report_room - 1] = 1;
}

static int install(void)
{
    static bool installed;
    struct sigaction ours = {.sa_sigaction = on_bus_error,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK}; /* blocks no other signal */
    if (installed)
        return 0;
    if (sigaction(SIGBUS, NULL, &before) != 0 || sigaction(SIGBUS, &ours, NULL) != 0)
        return errno;
    installed = true;
    return 0;
}

int buserror_watch(const void *start, size_t bytes, const struct buserror_facts *now)
{
    int count = ranges;
    if (!bytes || count == BUSERROR_RANGES)
        return EINVAL;
    facts = *now;
    make_report_pages();
    range[count] = (struct range){(uintptr_t)start, bytes};
    atomic_store_release(&ranges, count + 1); /* partner: report_shared */
    return install();
}
