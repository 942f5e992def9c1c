/* A forked child has its own globals and heap. This process is PE 0 of two: its globals have moved into a file, and it
 * has a slice of the heap there. The test reads the file to learn what a peer would see. */
#include "uccs/core/fork.c"

#include "base/atomic.h"
#include "base/image.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 65536 /* a multiple of every page size */
#define SLICE ((size_t)1 << 30)
#define HEAP_AT PAGE
#define IMAGE_AT (HEAP_AT + 2 * SLICE)

extern char **environ;

long global = 1;
static char spread[8 * PAGE]; /* globals on several pages */
static int fd;
static char *map, *heap;
static struct image image;
static bool can_leave_out;

static long in_file(const void *own, uintptr_t start, off_t at)
{
    long value;
    CHECK(pread(fd, &value, sizeof value, at + ((uintptr_t)own - start)) == sizeof value);
    return value;
}

static long peer_sees_global(const long *variable)
{
    return in_file(variable, image.start, IMAGE_AT);
}

static long peer_sees_heap(const char *block)
{
    return in_file(block, (uintptr_t)heap, HEAP_AT);
}

static void open_job(void)
{
    close(0); /* as in a program without a standard input, whose job's memory may have this descriptor */
    fd = memfd_create("fork test", MFD_CLOEXEC);
    CHECK(fd == 0);
    CHECK(!image_find(&image, "liblateral.so.1"));
    size_t bytes = IMAGE_AT + image_bytes(&image);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0);
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    CHECK(map != MAP_FAILED);
    heap = map + HEAP_AT;
    CHECK(image_move(&image, fd, IMAGE_AT) == 0);
    struct uccs_fork_ranges ranges = {
        .fd = fd,
        .own = {{heap, SLICE, HEAP_AT}, {(void *)image.start, image_bytes(&image), IMAGE_AT}},
        .shared = map,
        .shared_bytes = bytes,
    };
    CHECK(!uccs_fork_is_child());
    CHECK(uccs_fork_guard(&ranges) == 0);
    CHECK(!uccs_fork_is_child());
}

static bool is_mapped(void *address)
{
    return msync((void *)((uintptr_t)address & -sysconf(_SC_PAGESIZE)), 1, MS_ASYNC) == 0;
}

/* Emulators take MADV_DONTFORK and do nothing. */
static bool probe_leaving_out(void)
{
    int status;
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED && madvise(page, PAGE, MADV_DONTFORK) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(is_mapped(page));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    munmap(page, PAGE);
    return WEXITSTATUS(status) == 0;
}

static size_t resident_pages(char *start, size_t bytes)
{
    size_t page = sysconf(_SC_PAGESIZE), count = 0;
    unsigned char *state = malloc(bytes / page);
    CHECK(state && mincore(start, bytes, state) == 0);
    for (size_t i = 0; i < bytes / page; i++)
        count += state[i] & 1;
    free(state);
    return count;
}

static void wait_for(int from)
{
    char byte;
    CHECK(read(from, &byte, 1) == 1);
}

static void tell(int to)
{
    CHECK(write(to, "", 1) == 1);
}

static void check_wait(pid_t pid, int expected)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

#define LONG_AT(address) (*(volatile long *)(address))
#define LATER (900 * (size_t)(1 << 20)) /* a place in the slice that nobody has touched */

static int descriptors(void)
{
    int count = 0;
    for (int fd_at = 0; fd_at < 1024; fd_at++)
        count += fcntl(fd_at, F_GETFD) >= 0;
    return count;
}

static void act_as_child(int from_parent, int to_parent)
{
    CHECK(uccs_fork_is_child());
    CHECK(global == 2 && LONG_AT(heap) == 3 && LONG_AT(heap + 100 * PAGE) == 4 && LONG_AT(spread + 5 * PAGE) == 5);
    CHECK(is_mapped(heap) && is_mapped(heap + SLICE - PAGE));
    CHECK(!can_leave_out || (!is_mapped(map) && !is_mapped(heap + SLICE)));
    CHECK(resident_pages(heap, SLICE) <= 64);
    global = 20;
    LONG_AT(heap) = 30;
    LONG_AT(spread + 2 * PAGE) = 50;
    tell(to_parent);
    wait_for(from_parent); /* the parent has stored */
    CHECK(global == 20 && LONG_AT(heap) == 30 && LONG_AT(heap + 100 * PAGE) == 4);
    CHECK(LONG_AT(spread + 5 * PAGE) == 5 && LONG_AT(spread + 7 * PAGE) == 0);
    CHECK(LONG_AT(heap + LATER) == 0); /* a page that was a hole when the child began */
    LONG_AT(heap + LATER) = 6;
    pid_t grandchild = fork();
    if (grandchild == 0) {
        CHECK(uccs_fork_is_child() && global == 20 && LONG_AT(heap + LATER) == 6);
        global = 21;
        exit(4);
    }
    check_wait(grandchild, 4);
    CHECK(global == 20);
}

static void test_isolation(void)
{
    int down[2], up[2];
    CHECK(pipe(down) == 0 && pipe(up) == 0);
    global = 2;
    LONG_AT(heap) = 3;
    LONG_AT(heap + 100 * PAGE) = 4;
    LONG_AT(spread + 5 * PAGE) = 5;
    const int before = descriptors();
    pid_t pid = fork();
    CHECK(pid >= 0);
    CHECK(descriptors() == before); /* on both sides */
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        act_as_child(down[0], up[1]);
        exit(3);
    }
    close(down[0]);
    close(up[1]);
    wait_for(up[0]); /* the child has stored */
    CHECK(global == 2 && LONG_AT(heap) == 3 && LONG_AT(spread + 2 * PAGE) == 0);
    CHECK(peer_sees_global(&global) == 2 && peer_sees_heap(heap) == 3);
    global = 200;
    LONG_AT(heap) = 300;
    LONG_AT(heap + 100 * PAGE) = 400;
    LONG_AT(spread + 5 * PAGE) = 500;
    LONG_AT(spread + 7 * PAGE) = 700;
    LONG_AT(heap + LATER) = 600;
    tell(down[1]);
    check_wait(pid, 3);
    CHECK(global == 200 && LONG_AT(heap + LATER) == 600); /* still shared, still mine */
    CHECK(peer_sees_global(&global) == 200 && peer_sees_heap(heap + LATER) == 600);
    close(down[1]);
    close(up[0]);
}

/* A store right behind fork returns must not reach the child, however slowly it begins. */
static void test_parent_waits(void)
{
    for (int i = 0; i < 50; i++) {
        LONG_AT(heap + 8) = 1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(LONG_AT(heap + 8) == 1 ? 0 : 1);
        LONG_AT(heap + 8) = 2;
        check_wait(pid, 0);
    }
}

static void test_other_ways(void)
{
    char text[16] = "", *args[] = {"true", NULL};
    FILE *from = popen("echo popen", "r");
    CHECK(from && fgets(text, sizeof text, from) && !strcmp(text, "popen\n") && pclose(from) == 0);
    CHECK(WEXITSTATUS(system("exit 7")) == 7);
    pid_t pid;
    CHECK(posix_spawnp(&pid, "true", NULL, NULL, args, environ) == 0);
    check_wait(pid, 0);
    pid = vfork();
    if (pid == 0)
        _exit(9);
    check_wait(pid, 9);
    pid = fork();
    if (pid == 0) {
        execlp("true", "true", NULL);
        _exit(1);
    }
    check_wait(pid, 0);
    CHECK(!uccs_fork_is_child() && peer_sees_global(&global) == global);
}

/* Without descriptors for the pipe the child is still private; only the parent does not wait. */
static void test_no_descriptors(void)
{
    int taken[1024], count = 0;
    while (count < 1024 && (taken[count] = dup(0)) >= 0)
        count++;
    LONG_AT(heap) = 11;
    pid_t pid = fork();
    if (pid == 0) {
        LONG_AT(heap) = 12;
        _exit(5);
    }
    check_wait(pid, 5);
    CHECK(LONG_AT(heap) == 11);
    while (count)
        close(taken[--count]);
}

static int failures;

static void *fork_many(void *argument)
{
    long me = (long)argument;
    for (int i = 0; i < 20; i++) {
        volatile long *mine = &LONG_AT(heap + me * PAGE);
        *mine = i;
        pid_t pid = fork();
        if (pid == 0) {
            bool right = *mine == i;
            *mine = -1;
            _exit(right ? 0 : 1);
        }
        int status = 1;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status || *mine != i)
            atomic_fetch_add_relaxed(&failures, 1); /* read after the joins */
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[4];
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, fork_many, (void *)i) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK(failures == 0);
}

/* How far a range has data, and what is copied of it: extents up to the range's edges, and holes that somebody has just made. */
static void test_extents(void)
{
    enum { UNIT = 2 * PAGE, UNITS = 8 };
    static char copy[UNITS * UNIT], wanted[UNITS * UNIT];
    static const struct {
        int at, units, end; /* the range, and the end of its data, in units; units 2 and 4 have data */
    } cases[] = {{0, 8, 5}, {0, 2, 0}, {0, 3, 3}, {1, 3, 2}, {2, 1, 1},
                 {3, 1, 0}, {3, 2, 2}, {4, 4, 1}, {5, 3, 0}, {2, 3, 3}};
    const int file = memfd_create("extents", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, UNITS * UNIT) == 0);
    memset(wanted, 'x', sizeof wanted);
    CHECK(pwrite(file, wanted, UNIT, 2 * UNIT) == UNIT && pwrite(file, wanted, UNIT, 4 * UNIT) == UNIT);
    memset(wanted, 0, sizeof wanted);
    CHECK(pread(file, wanted, sizeof wanted, 0) == (ssize_t)sizeof wanted);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct uccs_fork_range range = {.start = copy,
                                              .bytes = (size_t)cases[i].units * UNIT,
                                              .at = cases[i].at * UNIT};
        CHECK(data_bytes(&range, file) == (size_t)cases[i].end * UNIT);
        for (size_t bytes = (size_t)cases[i].end * UNIT;; bytes = range.bytes) { /* the rest may be a hole by now */
            memset(copy, 0, sizeof copy);
            CHECK(read_extents(&range, file, copy, bytes) == 0);
            CHECK(memcmp(copy, wanted + cases[i].at * UNIT, bytes) == 0);
            for (size_t k = bytes; k < sizeof copy; k++)
                if (copy[k])
                    CHECK(copy[k] == 0);
            if (bytes == range.bytes)
                break;
        }
    }
    CHECK(read_extent(&(struct uccs_fork_range){.at = 0}, file, copy, UNITS * UNIT - 1, UNITS * UNIT + 1) == EIO);
    CHECK(read_extent(&(struct uccs_fork_range){.at = 0}, -1, copy, 0, 1) == EBADF);
    close(file);
}

/* The pipe by which a child tells its parent: made while something is guarded, and closed on both sides. */
static void test_pipe(void)
{
    const int before = descriptors();
    prepare();
    CHECK(notice[0] >= 0 && notice[1] >= 0 && descriptors() == before + 2 && guarded.fd == 0);
    CHECK(write(notice[1], "", 1) == 1);
    errno = 77;
    in_parent();
    CHECK(errno == 77 && descriptors() == before);
    const struct uccs_fork_ranges kept = guarded;
    guarded.fd = -1;
    prepare();
    CHECK(notice[0] == -1 && notice[1] == -1 && descriptors() == before);
    in_parent();
    in_child();
    CHECK(descriptors() == before && guarded.fd == -1);
    guarded = kept;
}

static void test_off(void)
{
    CHECK(uccs_fork_guard(NULL) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        LONG_AT(heap) = 99; /* shared again: nothing is guarded */
        _exit(uccs_fork_is_child() ? 0 : 1);
    }
    check_wait(pid, 0);
    CHECK(LONG_AT(heap) == 99);
}

int main(void)
{
    struct uccs_fork_ranges wrong = {.fd = 0, .shared = (void *)1, .shared_bytes = 1};
    CHECK(uccs_fork_guard(&wrong) == EINVAL && !uccs_fork_is_child());
    can_leave_out = probe_leaving_out();
    open_job();
    test_extents();
    test_pipe();
    test_isolation();
    test_parent_waits();
    test_other_ways();
    test_no_descriptors();
    test_threads();
    test_off();
    return 0;
}
