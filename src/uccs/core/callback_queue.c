#include "uccs/core/callback_queue.h"

#include "uccs/core/progress.h"

#include <stdbool.h>

struct uccs_callback *uccs_callback_queue;

/* Counted as due first, so that the count never falls below the callbacks that a thread has taken. */
void uccs_callback_push(struct uccs_callback *callback)
{
    struct uccs_callback *first = atomic_load_relaxed(&uccs_callback_queue);
    (void)atomic_fetch_add_relaxed(&uccs_progress_due, 1);
    do
        callback->next = first;
    while (!atomic_cas_acqrel(&uccs_callback_queue, &first, callback)); /* acquire: uccs_callbacks_run_slow */
}

static struct uccs_callback *reverse(struct uccs_callback *last)
{
    struct uccs_callback *first = 0;
    while (last) {
        struct uccs_callback *before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    return first;
}

lat_cold int uccs_callbacks_run_slow(void)
{
    static _Thread_local bool inside;
    int count = 0;
    if (inside)
        return 0;
    inside = true;
    struct uccs_callback *callback = reverse(atomic_exchange_acqrel(&uccs_callback_queue, (struct uccs_callback *)0));
    while (callback) {
        struct uccs_callback *next = callback->next;
        callback->run(callback);
        (void)atomic_fetch_sub_acqrel(&uccs_progress_due, 1);
        callback = next;
        count++;
    }
    inside = false;
    return count;
}
