#include "shmem/state.h"

#include "base/log.h"
#include "rte/rte.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum lat_state lat_state;
uint32_t lat_leaving;
int lat_thread_level;
uint32_t lat_on_node;

_Noreturn void lat_fail(const char *call, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_line("%s: %s", call, text);
    rte_abort(LAT_EXIT);
}

_Noreturn void lat_fail_state(const char *call)
{
    if (lat_state == LAT_BEFORE)
        lat_fail(call, "called before shmem_init");
    while (rte_ending() || atomic_load_acquire(&lat_leaving)) /* release: finalize_at_exit */
        pause(); /* another thread is in shmem_global_exit or in exit, and on its way out */
    lat_fail(call, "called after the last shmem_finalize");
}
