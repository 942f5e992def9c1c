#include "uccs/core/fail.h"

#include "base/atomic.h"
#include "base/log.h"
#include "rte/rte.h"
#include "rte/watch.h"

#include <stdarg.h>
#include <time.h>

#define SECONDS_FOR_LAUNCHER 1

static uint32_t ending; /* uccs_end_note exchanges it (acqrel), uccs_end_noted loads it (acquire) */

bool uccs_end_note(void)
{
    return atomic_exchange_acqrel(&ending, 1) == 0;
}

bool uccs_end_noted(void)
{
    return atomic_load_acquire(&ending);
}

void uccs_end_forget(void)
{
    atomic_store_release(&ending, 0);
}

/* Prints the line and returns in the first PE of the node only; in the others it waits for the end of the job. */
static void say_first(const char *format, va_list arguments)
{
    if (uccs_end_noted() || !rte_claim_end(NODE_ABORTED, LAT_EXIT))
        rte_await_end();
    log_vmistake(format, arguments);
}

_Noreturn void uccs_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abort(LAT_EXIT);
}

void *uccs_must_have(void *memory, const char *what, int pe)
{
    if (lat_unlikely(!memory))
        uccs_fail("no memory for %s PE %d", what, pe);
    return memory;
}

/* The launcher sees by itself how a process has ended, and ends the job with its status; the watcher sees which host is gone. */
static void let_launcher_see(int pe)
{
    rte_watch_note_lost(pe);
    nanosleep(&(struct timespec){.tv_sec = SECONDS_FOR_LAUNCHER}, 0);
}

_Noreturn void uccs_fail_process_lost(int pe, const char *format, ...)
{
    va_list arguments;
    let_launcher_see(pe);
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abort(LAT_EXIT);
}

_Noreturn void uccs_fail_host_lost(int pe, const char *format, ...)
{
    va_list arguments;
    let_launcher_see(pe);
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abandon(LAT_EXIT);
}
