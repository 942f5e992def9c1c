#include "uccs/core/errand.h"

#include "uccs/core/due.h"

#include <stdbool.h>

struct uccs_errand *uccs_errands;

/* Errands count as work, so that every wait looks for them. */
void uccs_errand_leave(struct uccs_errand *errand)
{
    struct uccs_errand *first = atomic_load_relaxed(&uccs_errands);
    (void)atomic_fetch_add_relaxed(&uccs_due, 1);
    do
        errand->next = first;
    while (!atomic_cas_acqrel(&uccs_errands, &first, errand)); /* acquire: uccs_errands_run_slow */
}

static struct uccs_errand *reverse(struct uccs_errand *last)
{
    struct uccs_errand *first = 0;
    while (last) {
        struct uccs_errand *before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    return first;
}

lat_cold int uccs_errands_run_slow(void)
{
    static _Thread_local bool inside;
    int count = 0;
    if (inside)
        return 0;
    inside = true;
    struct uccs_errand *errand = reverse(atomic_exchange_acqrel(&uccs_errands, (struct uccs_errand *)0));
    while (errand) {
        struct uccs_errand *next = errand->next;
        errand->run(errand);
        (void)atomic_fetch_sub_acqrel(&uccs_due, 1);
        errand = next;
        count++;
    }
    inside = false;
    return count;
}
