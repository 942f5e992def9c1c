#include "segment.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
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

const struct node_wait *segment_map_waits(int fd, uint32_t pes)
{
    size_t bytes = (size_t)pes * NODE_WAITS * sizeof(struct node_wait);
    void *waits = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)node_waits_at(pes));
    return waits == MAP_FAILED ? NULL : waits;
}

const struct node_crash *segment_map_crashes(int fd, uint32_t pes)
{
    void *crashes = mmap(NULL, pes * sizeof(struct node_crash), PROT_READ, MAP_SHARED, fd, (off_t)node_crashes_at(pes));
    return crashes == MAP_FAILED ? NULL : crashes;
}

static void format(struct node *node, const struct options *options, const uint64_t nonce[2])
{
    uint32_t pe = 0;
    for (uint32_t a = 0; a < options->napps; a++)
        for (uint32_t i = 0; i < options->apps[a].count; i++)
            node->pe[pe++].app = a;
    node->check = options->check;
    node_format(node, options->pes, options->cpus, nonce);
}

int segment_make(struct segment *segment, const struct options *options)
{
    uint64_t nonce[2];
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce) {
        say("no random bytes for the job's key: %s", strerror(errno));
        return -1;
    }
    segment->fd = make_file(node_fixed_size(options->pes));
    void *head = MAP_FAILED;
    if (segment->fd >= 0)
        head = mmap(NULL, node_groups_at(options->pes), PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
    if (head != MAP_FAILED) {
        segment->waits = segment_map_waits(segment->fd, options->pes);
        segment->crashes = segment_map_crashes(segment->fd, options->pes);
    }
    if (head == MAP_FAILED || !segment->waits || !segment->crashes) {
        say("cannot make the shared memory of %u PEs: %s%s", options->pes, strerror(errno),
            errno == EFBIG ? " (limit of a file's size, ulimit -f)" : "");
        return -1;
    }
    segment->parent_pipe = make_parent_pipe();
    segment->node = head;
    format(segment->node, options, nonce);
    return 0;
}
