/* Ends the job for a fault of the far transport, after one line. Any thread. See far.h. */
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/far.h"
#include "uccs/far_lane.h"

#include <stdarg.h>
#include <stdio.h>

_Noreturn void far_fail(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_line("%s", text);
    rte_abort(LAT_EXIT);
}
