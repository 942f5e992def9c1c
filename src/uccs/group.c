#include "uccs/group.h"

#include "uccs/progress.h"

/* Dissemination: in round r I tell the member 2^r ahead and hear from the one 2^r behind; after
 * log2(size) rounds everybody's arrival has reached everybody. Two members: one store, one hop. */
static void disseminate(struct uccs_group *group, uint64_t epoch)
{
    for (int round = 0, ahead = 1; ahead < group->size; round++, ahead *= 2) {
        int to = group->rank + ahead;
        to -= to >= group->size ? group->size : 0;
        uint64_t *theirs = uccs_group_line(group, to, round);
        const uint64_t *mine = uccs_group_line(group, group->rank, round);
        atomic_store_release(theirs, epoch); /* acquire: the load below, at `to` */
        struct uccs_wait wait = {0};
        while (atomic_load_acquire(mine) < epoch)
            uccs_pause(&wait);
    }
}

/* One counter, one release word: with more members than cores each runs only twice per sync,
 * once to arrive and once to leave. */
static void count(struct uccs_group *group, uint64_t epoch)
{
    uint64_t *arrived = uccs_group_shared(group, 0);
    uint64_t *released = uccs_group_shared(group, 1);
    if (atomic_fetch_add_acqrel(arrived, 1) + 1 == epoch * (uint64_t)group->size) {
        atomic_store_release(released, epoch); /* acquire: the others, below */
        return;
    }
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(released) < epoch)
        uccs_pause(&wait);
}

void uccs_group_sync(struct uccs_group *group)
{
    uint64_t epoch = ++group->epoch;
    if (group->size == 1)
        return;
    if (uccs_core.oversubscribed)
        count(group, epoch);
    else
        disseminate(group, epoch);
}
