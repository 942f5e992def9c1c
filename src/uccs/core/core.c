/* The state behind core.h, and what its inline functions need besides. */
#include "uccs/core/core.h"

#include "rte/node.h"
#include "uccs/core/progress.h"

struct uccs_core uccs_core;
int uccs_users;
uint32_t uccs_progress_due, uccs_progress_sources, uccs_progress_idle, uccs_progress_program;
_Thread_local int uccs_progress_barred;

uint32_t uccs_index_in_table(int pe)
{
    if ((uint32_t)pe >= (uint32_t)uccs_core.npes)
        return (uint32_t)pe - UCCS_PE_BY_INDEX < uccs_core.pes ? (uint32_t)pe - UCCS_PE_BY_INDEX : UINT32_MAX;
    uint32_t place = uccs_core.index_of[pe];
    return place & NODE_NEAR ? place & ~NODE_NEAR : uccs_core.pes + (uint32_t)pe;
}
