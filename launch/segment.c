#include "segment.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define AWAY_FROM_SCRIPTS 100 /* shell scripts use small descriptor numbers of their own */

/* Moves the descriptor to a number that a wrapper script is unlikely to use. Returns that number, or fd itself on
 * failure. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, AWAY_FROM_SCRIPTS);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static int make_file(size_t bytes)
{
    int fd = memfd_create("lateral", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        return move_up(fd);
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* The supervisor keeps both ends until it dies. Returns the reading end, which every PE inherits, or -1. */
static int make_parent_pipe(void)
{
    int ends[2];
    return pipe2(ends, O_CLOEXEC) == 0 ? move_up(ends[0]) : -1;
}

/* The file has the memory of `pes` PEs. Returns false with errno on failure. */
static bool view_map(struct view *view, int fd, uint32_t pes, int protection)
{
    void *head = mmap(NULL, node_groups_at(pes), protection, MAP_SHARED, fd, 0);
    void *waits =
        mmap(NULL, node_crashes_at(pes) - node_waits_at(pes), PROT_READ, MAP_SHARED, fd, (off_t)node_waits_at(pes));
    void *crashes = mmap(NULL, pes * sizeof *view->crashes, PROT_READ, MAP_SHARED, fd, (off_t)node_crashes_at(pes));
    *view = (struct view){head, waits, crashes, say_if_null(calloc(pes, sizeof *view->pids))};
    return head != MAP_FAILED && waits != MAP_FAILED && crashes != MAP_FAILED;
}

bool view_open(struct view *view, int fd, int protection)
{
    struct stat info;
    struct node head;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || head.magic != NODE_MAGIC || head.size > NODE_MAX_PES ||
        fstat(fd, &info) != 0 || (uint64_t)info.st_size < node_fixed_size(head.size) ||
        !view_map(view, fd, head.size, protection))
        return false;
    for (uint32_t i = 0; i < head.size; i++)
        view->pids[i] = atomic_load_relaxed(&view->node->pe[i].pid);
    return true;
}

void view_signal(const struct view *view, int signal)
{
    for (uint32_t i = 0; i < view->node->size; i++)
        if (view->pids[i])
            kill(view->pids[i], signal);
}

static void format_node(struct node *node, const struct options *options, const uint64_t nonce[2])
{
    uint32_t pe = 0;
    for (uint32_t a = 0; a < options->napps; a++)
        for (uint32_t i = 0; i < options->apps[a].count; i++)
            node->pe[pe++].app = a;
    node->check = options->check;
    node_format(node, options->pes, options->cpus, nonce);
}

int segment_make(struct segment *segment, struct view *view, const struct options *options)
{
    uint64_t nonce[2];
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce) {
        say("no random bytes for the job's key: %s", strerror(errno));
        return -1;
    }
    segment->fd = make_file(node_fixed_size(options->pes));
    if (segment->fd < 0 || !view_map(view, segment->fd, options->pes, PROT_READ | PROT_WRITE)) {
        say("cannot make the shared memory of %u PEs: %s%s", options->pes, strerror(errno),
            errno == EFBIG ? " (limit of a file's size, ulimit -f)" : "");
        return -1;
    }
    segment->parent_pipe = make_parent_pipe();
    format_node(view->node, options, nonce);
    return 0;
}
