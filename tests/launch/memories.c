/* The memory of a job: how it is made, what is said when it cannot be, and how oshrun --status finds it in a
 * process or one that descends from it.
 * flags: -D_GNU_SOURCE */
#include "apart.h"
#include "message.h"
#include "report.h"
#include "segment.h"
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>

static char said[2048];

static void keep_line(const char *line, size_t bytes)
{
    snprintf(said + strlen(said), sizeof said - strlen(said), "%.*s", (int)bytes, line);
}

static void says(const char *wanted)
{
    if (strcmp(said, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, said);
    CHECK(strcmp(said, wanted) == 0);
    *said = 0;
}

/* ---- the memory of a job ---- */

enum { PES = 16 }; /* their memory has more than 4 GB, of which little is touched */
static bool no_file, no_random;

static int make_memory(const char *name, unsigned flags)
{
    if (no_file)
        return errno = EMFILE, -1;
    return memfd_create(name, flags);
}

static ssize_t get_random(void *bytes, size_t count)
{
    if (no_random)
        return errno = ENOSYS, -1;
    return getrandom(bytes, count, 0);
}

#define memfd_create make_memory
#define getrandom(bytes, count, flags) get_random(bytes, count)
#include "segment.c"
#undef memfd_create

static struct app apps[] = {{.count = 2}, {.count = 9}, {.count = 5}};
static const struct options options = {.apps = apps, .napps = 3, .pes = PES, .cpus = 5, .check = true};

static int lowest_descriptor(void)
{
    const int fd = dup(2);
    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

static void segments(void)
{
    struct segment one = {0}, other = {0};
    const int lowest = lowest_descriptor();
    CHECK(segment_make(&one, &options) == 0 && segment_make(&other, &options) == 0);
    CHECK(lowest_descriptor() == lowest); /* those that have been moved up are gone */
    CHECK(one.fd >= 100 && one.tether >= 100 && fcntl(one.fd, F_GETFD) == FD_CLOEXEC &&
          fcntl(one.tether, F_GETFD) == FD_CLOEXEC);
    CHECK(lseek(one.fd, 0, SEEK_END) == (off_t)node_fixed_size(PES) && (fcntl(one.fd, F_GET_SEALS) & F_SEAL_SHRINK));
    struct node *node = one.node;
    CHECK(node->magic == NODE_MAGIC && node->size == PES && node->total == PES && node->cores == 5 && node->check == 1);
    CHECK(node->crowd == 3 && node->oversubscribed == 1 && node->nodes == 1 && node->first == 0);
    CHECK(memcmp(node->nonce, other.node->nonce, sizeof node->nonce) != 0);
    for (uint32_t pe = 0; pe < PES; pe++)
        CHECK(node->pe[pe].app == (pe < 2 ? 0 : pe < 11 ? 1 : 2));
    const int32_t mark = 4711;
    const off_t stay = (off_t)(node_stays_at(PES) + (PES * NODE_STAYS - 1) * sizeof(struct node_stay) +
                               offsetof(struct node_stay, thread));
    const off_t crash =
        (off_t)(node_crashes_at(PES) + (PES - 1) * sizeof(struct node_crash) + offsetof(struct node_crash, signal));
    CHECK(pwrite(one.fd, &mark, sizeof mark, stay) == sizeof mark &&
          pwrite(one.fd, &mark, sizeof mark, crash) == sizeof mark);
    CHECK(one.stays[PES * NODE_STAYS - 1].thread == mark && one.crashes[PES - 1].signal == mark);
    char byte;
    fcntl(one.tether, F_SETFL, O_NONBLOCK);
    CHECK(read(one.tether, &byte, 1) == -1 && errno == EAGAIN); /* its other end is open */
}

static void no_segments(void)
{
    struct segment segment = {0};
    no_file = true;
    CHECK(segment_make(&segment, &options) == -1);
    says("oshrun: cannot make the shared memory of 16 PEs: Too many open files\n");
    no_file = false;
    no_random = true;
    CHECK(segment_make(&segment, &options) == -1);
    says("oshrun: no random bytes for the job's key: Function not implemented\n");
    no_random = false;
    signal(SIGXFSZ, SIG_IGN);
    const int lowest = lowest_descriptor();
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20}) == 0 && segment_make(&segment, &options) == -1);
    says("oshrun: cannot make the shared memory of 16 PEs: File too large (limit of a file's size, ulimit -f)\n");
    CHECK(lowest_descriptor() == lowest);
}

/* Where there are few descriptors, any will do. */
static void few_descriptors(void)
{
    struct segment segment = {0};
    close(0);
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){90, 90}) == 0 && segment_make(&segment, &options) == 0);
    CHECK(segment.fd == 0 && segment.node->size == PES && segment.tether > 0 && segment.tether < 90);
}

/* ---- where a job's PEs are ---- */

static int reports;
static const struct view *seen;

void report_print(const struct view *view)
{
    CHECK(view->node->size == PES && view->stays != NULL);
    for (int pe = 0; pe < PES; pe++)
        CHECK(view->pids[pe] == 900 + pe);
    CHECK(view->stays[3].thread == 4711);
    reports++;
    seen = view;
}

#include "status.c"

/* Makes memory of this size with a head; returns its descriptor. */
static int make_job(off_t bytes, uint64_t magic, uint32_t size)
{
    static const uint64_t nonce[2] = {1, 2};
    const int32_t mark = 4711;
    const int fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)node_fixed_size(PES)) == 0);
    struct node *node = mmap(NULL, node_groups_at(PES), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(node != MAP_FAILED);
    node_format(node, PES, 5, nonce);
    for (int pe = 0; pe < PES; pe++)
        node->pe[pe].pid = 900 + pe;
    node->magic = magic;
    node->size = size;
    munmap(node, node_groups_at(PES));
    CHECK(pwrite(fd, &mark, sizeof mark,
                 (off_t)(node_stays_at(PES) + 3 * sizeof(struct node_stay) + offsetof(struct node_stay, thread))) > 0);
    CHECK(ftruncate(fd, bytes) == 0);
    return fd;
}

static void status_is(pid_t pid, bool found)
{
    char wanted[200];
    const int before = reports;
    CHECK(status_print(pid) == (found ? 0 : STATUS_FAILED) && reports == before + found);
    snprintf(wanted, sizeof wanted,
             found ? "oshrun: where the 16 PEs of job %d are:\n"
                   : "oshrun: --status %d: no job of this version of Lateral, or it belongs to another user\n",
             (int)pid);
    says(wanted);
}

static void job_beside(void)
{
    (void)!write(30, "x", make_job((off_t)node_fixed_size(PES), NODE_MAGIC, PES) >= 0);
}

static void job_below(void)
{
    child_that(job_beside);
}

static void statuses(void)
{
    const off_t bytes = (off_t)node_fixed_size(PES);
    int ready[2];
    char byte;
    status_is(getpid(), false);
    const struct {
        off_t bytes;
        uint64_t magic;
        uint32_t size;
        bool found;
    } rows[] = {{bytes, NODE_MAGIC, PES, true},      {bytes + 1, NODE_MAGIC, PES, true},
                {bytes - 1, NODE_MAGIC, PES, false}, {100, NODE_MAGIC, PES, false},
                {bytes, NODE_MAGIC + 1, PES, false}, {bytes, NODE_MAGIC, NODE_MAX_PES + 1, false},
                {bytes, NODE_MAGIC, PES + 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int fd = make_job(rows[i].bytes, rows[i].magic, rows[i].size);
        status_is(getpid(), rows[i].found);
        close(fd);
    }
    CHECK(pipe(ready) == 0 && dup2(ready[1], 30) == 30);
    const pid_t below = child_that(job_below);
    CHECK(read(ready[0], &byte, 1) == 1);
    status_is(below, true);
    status_is(getpid(), true); /* it has no such memory, but its descendant */
    status_is(INT_MAX, false);
}

int main(void)
{
    static void (*const tests[])(void) = {segments, no_segments, few_descriptors, statuses};
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
