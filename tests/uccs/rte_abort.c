/* uccs_rte_abort ends the job with its text and its status.
 * pes: 2
 * fails: PE 1: no more 42
 * status: 7
 */
#include "check.h"

#include <uccs_rte.h>

int main(void)
{
    OK(uccs_rte_init(0));
    check_who();
    if (me == 1)
        uccs_rte_abort(7, "no more %d", 42);
    uccs_rte_barrier(UCCS_GROUP_WORLD);
    return 0;
}
