/* The base of every other file of src/rte: this PE's place, and the launcher's table. */
#include "rte/rte.h"

#include "rte/backend.h"

#include <unistd.h>

struct rte rte = {.fd = -1};
const struct rte_backend *rte_backend;
static pid_t own_pid;

void rte_is_this_process(void)
{
    own_pid = getpid();
}

bool rte_is_pe(void)
{
    return own_pid == getpid();
}

int rte_launcher_descriptor(void)
{
    return rte_backend && rte_backend->descriptor ? rte_backend->descriptor() : -1;
}
