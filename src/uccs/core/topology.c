#include "uccs/core/memory.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is pretended, by PE; null: nothing is. */
static int *nodes;
static uint32_t *slots;
static int node_count;

int uccs_node_of(int pe)
{
    return nodes ? nodes[pe] : rte_node_of(pe);
}

int uccs_node_most(void)
{
    return nodes ? node_count : rte.nodes;
}

uint32_t uccs_topology_slot(uint32_t index)
{
    return slots ? slots[index] : index;
}

/* Says that there is no memory. Returns -1. */
static int fail_memory(void)
{
    log_line("no memory for the places of %d PEs", rte.npes);
    return -1;
}

/* Reads "0,1,2", the nodes to which PEs are dealt out in turn. Returns false when it is none. */
static bool deal_out(const char *text)
{
    int deals = 0;
    char *end = 0;
    for (const char *at = text; !end || *end; at = end + 1, deals++) {
        const long node = strtol(at, &end, 10);
        if (end == at || node < 0 || node >= rte.npes || (*end && *end != ','))
            return false;
        if (deals < rte.npes)
            nodes[deals] = (int)node;
    }
    for (int pe = deals; pe < rte.npes; pe++)
        nodes[pe] = nodes[pe % deals];
    return true;
}

/* Lays the memory of pretended nodes side by side in the file. Returns 0, or -1 after one line. */
static int assign_slots(void)
{
    uint32_t *ends = calloc((size_t)rte.npes + 1, sizeof *ends); /* by node: the next free slot */
    slots = calloc((size_t)rte.npes, sizeof *slots);
    if (!ends || !slots) {
        free(ends);
        return fail_memory();
    }
    for (int pe = 0; pe < rte.npes; pe++) {
        ends[nodes[pe] + 1]++;
        node_count = nodes[pe] >= node_count ? nodes[pe] + 1 : node_count;
    }
    for (int node = 1; node < node_count; node++)
        ends[node] += ends[node - 1];
    for (int pe = 0; pe < rte.npes; pe++)
        slots[pe] = ends[nodes[pe]]++;
    free(ends);
    return 0;
}

/* Pretends nodes if the environment wants them: a list, or every `size` neighbours are a node. Returns 0, or -1 after one line. */
static int pretend_nodes(void)
{
    const char *text = env_text(ENV_NODE_SIZE), *transport = env_text(ENV_TRANSPORTS);
    const bool list = strchr(text, ',');
    char *end;
    long size = strtol(text, &end, 10);
    bool good = list || !*end;
    if (rte.nodes > 1 || rte.npes == 1)
        return 0;
    if (strcmp(transport, "ucx") == 0 || (size <= 0 && strchr(transport, ':'))) /* fault:ucx, sim:ucx */
        size = 1;
    if (good && !list && (size <= 0 || size >= rte.npes))
        return 0;
    nodes = calloc((size_t)rte.npes, sizeof *nodes);
    if (!nodes)
        return fail_memory();
    for (int pe = 0; pe < rte.npes && good && !list; pe++)
        nodes[pe] = pe / (int)size;
    good = good && (!list || deal_out(text));
    if (!good)
        log_line("LATERAL_NODE_SIZE=%s is neither a number of PEs nor a list of nodes from 0 to %d, such as 0,1,2",
                 text, rte.npes - 1);
    return good ? assign_slots() : -1;
}

static uint32_t *pretended_indices(const struct uccs_topology *found)
{
    uint32_t *places = calloc((size_t)rte.npes, sizeof *places);
    for (int pe = 0; places && pe < rte.npes; pe++)
        places[pe] = (uint32_t)nodes[pe] + 1;
    for (uint32_t i = 0; places && i < found->pes; i++)
        places[found->pe_of[i]] = NODE_NEAR | i;
    return places;
}

/* Finds the PEs of my node among those of the file. */
static void find_mine(struct uccs_topology *found, int *numbers)
{
    *found = (struct uccs_topology){0};
    for (uint32_t i = 0; i < (uint32_t)rte.node_size; i++) {
        const int pe = rte_pe_at(i);
        if (nodes && nodes[pe] != nodes[rte.pe])
            continue;
        if (pe == rte.pe)
            found->index = found->pes;
        numbers[found->pes++] = pe;
    }
    found->first = numbers[0];
    found->slot = slots ? slots[found->first] : 0;
}

int uccs_topology_find(struct uccs_topology *found)
{
    if (pretend_nodes() != 0)
        return -1;
    int *numbers = malloc((size_t)rte.node_size * sizeof *numbers);
    if (!numbers)
        return fail_memory();
    find_mine(found, numbers);
    if (numbers[found->pes - 1] - found->first == (int)found->pes - 1)
        return free(numbers), 0; /* they run in a row */
    found->pe_of = numbers;
    found->index_of = nodes ? pretended_indices(found) : rte.places;
    if (found->index_of)
        return 0;
    free(numbers);
    return fail_memory();
}
