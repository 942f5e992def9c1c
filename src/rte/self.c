/* A program started without a launcher: a job of one PE with its own memory file. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

int rte_self_open(void)
{
    size_t bytes = node_fixed_size(1);
    int fd = memfd_create("lateral", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        goto err_file;
    struct node *node = mmap(0, sizeof *node, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        goto err_file;
    uint64_t nonce[2] = {0, 0};
    if (getrandom(nonce, sizeof nonce, 0) < 0)
        log_debug("no random numbers: %s", strerror(errno));
    node_format(node, 1, 1, nonce);
    munmap(node, sizeof *node);
    rte.fd = fd;
    rte.node_index = 0;
    rte.launched = false;
    return 0;

err_file:
    log_line("cannot make the job's memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
