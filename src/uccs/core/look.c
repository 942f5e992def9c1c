#include "uccs/core/look.h"

#include "uccs/core/callback_queue.h"
#include "uccs/core/poll.h"
#include "uccs/core/task.h"

int uccs_look_slow(void)
{
    int found = uccs_poll(UCCS_POLL_ALWAYS) | uccs_callbacks_run();
    if (uccs_due_ends())
        uccs_tasks_advance();
    return found;
}
