#include "uccs/core/look.h"

#include "uccs/core/errand.h"
#include "uccs/core/poll.h"
#include "uccs/core/work.h"

int uccs_look_slow(void)
{
    int found = uccs_poll(UCCS_POLL_ALWAYS) | uccs_errands_run();
    if (uccs_due_ends())
        uccs_work_advance();
    return found;
}
