/* The place of each process of the job. Processes exchange it when uccs_rte.h starts. Constant afterwards; any
 * thread. */
#ifndef UCCS_API_RTE_LOCALITY_H
#define UCCS_API_RTE_LOCALITY_H

#include <stdint.h>
#include <uccs_rte.h>

struct uccs_locality {
    char host[64];
    int32_t node;                                /* lowest PE of the node */
    int32_t numa, socket, cache, core, hwthread; /* -1: several, or not known */
    struct uccs_rte_machine machine;
    uint32_t nnetworks;
    struct uccs_rte_network networks[UCCS_RTE_EC_NETWORKS];
};

/* Describes this process. */
void uccs_locality_find(struct uccs_locality *place);

#endif
