/* The base of every other file of src/rte: this PE's place, and the launcher's table. */
#include "rte/rte.h"

#include "rte/backend.h"

#include <unistd.h>

static uint32_t one_node[2];
struct rte rte = {.fd = -1, .leads = one_node};
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

int rte_node_lead(int node)
{
    return (int)rte.leads[node];
}

/* Returns the number of this node: that of its lead. Also finds the node of any PE where nodes are runs. */
static int node_of_lead(uint32_t pe)
{
    int low = 0, high = rte.nodes; /* leads[low] <= pe < leads[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (rte.leads[middle] <= pe)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int rte_node_of(int pe)
{
    if (!rte.places)
        return node_of_lead((uint32_t)pe);
    uint32_t place = rte.places[pe];
    return place & NODE_NEAR ? node_of_lead(rte.node->first) : (int)place - 1;
}
