#include "uccs/core/topology.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is pretended: either PE p is on node deal[p % deals], or every `size` neighbours are a node. */
static struct {
    int *deal;
    int deals, size, nodes; /* nodes: 0: nothing is pretended */
    uint32_t *slots;        /* of each PE */
} pretence;

static int pretended_node(int pe)
{
    return pretence.deals ? pretence.deal[pe % pretence.deals] : pe / pretence.size;
}

int uccs_node_of(int pe)
{
    return pretence.nodes ? pretended_node(pe) : rte_node_of(pe);
}

int uccs_node_most(void)
{
    return pretence.nodes ? pretence.nodes : rte.nodes;
}

uint32_t uccs_topology_slot(uint32_t index)
{
    return pretence.slots ? pretence.slots[index] : index;
}

static int refuse(const char *text)
{
    log_line("LATERAL_NODE_SIZE=%s is neither a number of PEs nor a list of nodes from 0 to %d, such as 0,1,2", text,
             rte.npes - 1);
    return -1;
}

/* Reads "0,1,2", the nodes to which PEs are dealt out in turn. Returns 0, or -1 after one line. */
static int read_deal(const char *text)
{
    pretence.deal = calloc(strlen(text) / 2 + 1, sizeof *pretence.deal);
    for (const char *at = text; pretence.deal;) {
        char *end;
        long node = strtol(at, &end, 10);
        if (end == at || node < 0 || node >= rte.npes || (*end && *end != ','))
            break;
        pretence.deal[pretence.deals++] = (int)node;
        if (!*end)
            return 0;
        at = end + 1;
    }
    return refuse(text);
}

/* Decides what is pretended. Returns 0, or -1 after one line. */
static int choose_pretence(void)
{
    const char *text = env_text(ENV_NODE_SIZE), *transport = env_text(ENV_TRANSPORTS);
    char *end;
    if (rte.nodes > 1 || rte.npes == 1)
        return 0;
    if (strchr(text, ','))
        return read_deal(text);
    long size = strtol(text, &end, 10);
    if (*end)
        return refuse(text);
    if (strcmp(transport, "ucx") == 0 || (size <= 0 && strchr(transport, ':'))) /* fault:ucx, sim:ucx */
        size = 1;
    pretence.size = size > 0 && size < rte.npes ? (int)size : 0;
    return 0;
}

/* Lays the memory of pretended nodes side by side in the file. Returns 0, or -1 after one line. */
static int assign_slots(void)
{
    uint32_t *ends = calloc((size_t)rte.npes + 1, sizeof *ends); /* by node: the next free slot */
    pretence.slots = calloc((size_t)rte.npes, sizeof *pretence.slots);
    if (!ends || !pretence.slots) {
        log_line("no memory for the pretended places of %d PEs", rte.npes);
        free(ends);
        return -1;
    }
    for (int pe = 0; pe < rte.npes; pe++) {
        int node = pretended_node(pe);
        ends[node + 1]++;
        pretence.nodes = node >= pretence.nodes ? node + 1 : pretence.nodes;
    }
    for (int node = 1; node < pretence.nodes; node++)
        ends[node] += ends[node - 1];
    for (int pe = 0; pe < rte.npes; pe++)
        pretence.slots[pe] = ends[pretended_node(pe)]++;
    free(ends);
    return 0;
}

/* Finds my node among the pretended ones. */
static void find_pretended(struct uccs_topology *found, int *numbers)
{
    int mine = pretended_node(rte.pe);
    *found = (struct uccs_topology){.first = -1};
    for (int pe = 0; pe < rte.npes; pe++) {
        if (pretended_node(pe) != mine)
            continue;
        if (pe == rte.pe)
            found->index = found->pes;
        found->first = found->first < 0 ? pe : found->first;
        numbers[found->pes++] = pe;
    }
    found->slot = pretence.slots[found->first];
}

static uint32_t *pretended_indices(const struct uccs_topology *found)
{
    uint32_t *places = calloc((size_t)rte.npes, sizeof *places);
    for (int pe = 0; places && pe < rte.npes; pe++)
        places[pe] = (uint32_t)pretended_node(pe) + 1;
    for (uint32_t i = 0; places && i < found->pes; i++)
        places[found->pe_of[i]] = NODE_NEAR | i;
    return places;
}

static void find_real(struct uccs_topology *found, int *numbers)
{
    *found = (struct uccs_topology){.first = rte.node_first,
                                    .pes = (uint32_t)rte.node_size,
                                    .index = (uint32_t)rte.node_index};
    for (uint32_t i = 0; i < found->pes; i++)
        numbers[i] = rte_pe_at(i);
}

int uccs_topology_find(struct uccs_topology *found)
{
    int *numbers = malloc((size_t)rte.node_size * sizeof *numbers);
    if (choose_pretence() != 0 || ((pretence.deals || pretence.size) && assign_slots() != 0))
        return free(numbers), -1;
    if (!numbers)
        goto err_memory;
    if (pretence.nodes)
        find_pretended(found, numbers);
    else
        find_real(found, numbers);
    if (numbers[found->pes - 1] - found->first == (int)found->pes - 1)
        return free(numbers), 0; /* they run in a row */
    found->pe_of = numbers;
    found->index_of = pretence.nodes ? pretended_indices(found) : rte.places;
    if (found->index_of)
        return 0;
err_memory:
    log_line("no memory for the places of %d PEs", rte.npes);
    free(numbers);
    return -1;
}
