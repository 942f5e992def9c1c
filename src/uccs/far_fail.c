/* Ends the job for a fault of the far transport, after one line. Any thread. See far.h. */
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/far.h"
#include "uccs/far_lane.h"
#include "uccs/far_line.h"

#include <stdarg.h>

/* Returns for the first of the node alone: the others' words would be about the same thing, or its consequences. */
static void say(const char *format, va_list arguments)
{
    if (far_line_ending() || !rte_claim_end(NODE_ABORTED, LAT_EXIT))
        rte_await_end();
    log_vline(format, arguments);
}

_Noreturn void far_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    rte_abort(LAT_EXIT);
}

_Noreturn void far_abandon(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    rte_abandon(LAT_EXIT);
}
