#include "shmem/state.h"

#include "base/log.h"
#include "rte/rte.h"

#include <stdarg.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum lat_state lat_state;
uint32_t lat_leaving;
static int leaving_status;
int lat_thread_level;
uint32_t lat_on_node;

_Noreturn void lat_fail(const char *call, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_mistake("%s: %s", call, text);
    rte_abort(LAT_EXIT);
}

static uint32_t this_thread(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

void lat_leave(int status)
{
    leaving_status = status;
    atomic_store_release(&lat_leaving, this_thread()); /* acquire: lat_fail_state, lat_release_late */
}

/* Sleeps in a futex, where oshrun --deadlock sees that the thread never acts again. */
static _Noreturn void await_end(void)
{
    static uint32_t never;
    for (;;)
        syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

bool lat_leaves(void)
{
    return atomic_load_acquire(&lat_leaving) == this_thread(); /* release: lat_leave */
}

_Noreturn void lat_fail_state(const char *call)
{
    if (lat_state == LAT_BEFORE)
        lat_fail(call, "called before shmem_init");
    if (lat_leaves())
        rte_go_on_exiting(leaving_status);
    if (rte_is_pe() && (rte_ending() || atomic_load_acquire(&lat_leaving))) /* release: lat_leave */
        await_end();
    lat_fail(call, rte_is_pe() ? "called after the last shmem_finalize" : "called in a child of a PE");
}

void lat_release_late(const char *call)
{
    if (lat_state == LAT_BEFORE || (rte_is_pe() && !lat_leaves()))
        lat_fail_state(call);
}
