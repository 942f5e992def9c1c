/* Functions that the files of this folder share. */
#ifndef UCCS_API_INNER_H
#define UCCS_API_INNER_H

#include "uccs/am/am.h"
#include "uccs/comp/counter.h"

#include <stdbool.h>
#include <uccs_rte.h>

/* --- The one test and wait */

/* Looks at what a test or wait is for, without making progress. Returns UCCS_IN_PROGRESS, or the outcome. */
typedef int uccs_look_function(const void *what);

typedef void uccs_fill_function(const void *about, struct uccs_reason *reason);

/* The one test and wait of uccs.h: looks, and makes progress in between, until the outcome is there or the time is over; 0: looks
 * twice; below 0: without limit. Returns the outcome, UCCS_IN_PROGRESS when the time is over, or UCCS_ERR_STATE when it would
 * have to pause in a handler, since other threads may wait for the handler's end. `fill` and `about` make the reason of the wait. */
int uccs_look_until(uccs_look_function *look, const void *what, uccs_fill_function *fill, const void *about,
                    int64_t nanoseconds);

/* --- Contexts and streams */

/* Returns true when scope and thread mode exist. */
bool uccs_attr_good(enum uccs_scope scope, enum uccs_thread_mode threads);
/* Ends a stream and frees its endpoints, but not the stream. */
void uccs_stream_finish(struct uccs_stream *stream);

/* Returns how the members of a group agree on a number. */
struct uccs_members uccs_group_members(uccs_group_t group);

/* The place of each process of the job. Processes exchange it when uccs_rte.h starts; constant afterwards. */
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
