/* Meetings of a team's members on one node, and of teams without an area; see team.h. */
#include "uccs/team/team.h"

#include "uccs/core/memory.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

enum uccs_sync uccs_sync_how;

static int ahead_of(const struct uccs_team *team, int distance)
{
    int to = team->rank + distance;
    return to >= team->size ? to - team->size : to;
}

/* Meets by dissemination. In round r each member signals the member 2^r ahead and waits for the member 2^r behind.
 * After log2(size) rounds every member knows that all have arrived. Two members need one store and one hop. */
static void disseminate(struct uccs_team *team, uint64_t epoch)
{
    const char *mine = uccs_team_row(team, team->rank);
    for (int round = 0, ahead = 1; ahead < team->size; round++, ahead *= 2) {
        uint64_t *theirs = uccs_team_line(team, ahead_of(team, ahead), round);
        atomic_store_release(theirs, epoch); /* acquire: the load below, at its owner */
        struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(team, epoch)};
        while (atomic_load_acquire((const uint64_t *)(mine + round * CACHE_LINE)) < epoch)
            uccs_pause(&wait);
    }
}

/* Meets by one counter and one release word. Each member runs only twice per sync, once to arrive and once to leave,
 * which helps when there are more members than cores. */
static void meet_by_count(struct uccs_team *team, uint64_t epoch)
{
    uint64_t *arrived = uccs_team_line(team, 0, TEAM_ARRIVED);
    uint64_t *released = uccs_team_line(team, 0, TEAM_RELEASED);
    if (atomic_fetch_add_acqrel(arrived, 1) + 1 == epoch * (uint64_t)team->size) {
        atomic_store_release(released, epoch); /* acquire: the others' load below */
        return;
    }
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(team, epoch)};
    while (atomic_load_acquire(released) < epoch)
        uccs_pause(&wait);
}

bool uccs_near_counts(void)
{
    return uccs_sync_how == UCCS_SYNC_AUTO ? uccs_core.oversubscribed : uccs_sync_how == UCCS_SYNC_COUNT;
}

/* Two members meet by dissemination, since each runs twice in either way. */
void uccs_near_meet(struct uccs_team *team)
{
    if (uccs_near_counts() && team->size > 2)
        meet_by_count(team, ++team->epoch);
    else
        disseminate(team, ++team->epoch);
}

void uccs_near_part(struct uccs_team *team)
{
    disseminate(team, ++team->epoch);
}

/* Meets by dissemination over the program's array. In each round the partner adds one to this member's flag, and this
 * member waits for it and subtracts it, so the array is at rest again on return. A partner can be at most one barrier
 * ahead. What this member tells has left when it returns, since the program may compute then. */
void uccs_flags_meet(const struct uccs_team *team)
{
    uint32_t held = 0;
    for (int round = 0, ahead = 1; ahead < team->size; round++, ahead *= 2) {
        int pe = uccs_team_pe(team, ahead_of(team, ahead));
        long *theirs = uccs_memory_resolve(&team->flags[round], pe);
        if (theirs)
            atomic_fetch_add_release(theirs, 1); /* acquire: the load below, at its owner */
        else
            uccs_nodes_put(pe, (struct proto_address){0}, 0, 0,
                           &(struct proto_notify){.what = PROTO_SIGNAL_ADD,
                                                  .place = proto_address(&team->flags[round]),
                                                  .value = 1},
                           &held);
        struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(team, 0)};
        while (atomic_load_acquire(&team->flags[round]) < 0 ||
               atomic_load_acquire(&held) != 0) /* acqrel: proto_send_free */
            uccs_pause(&wait);
        (void)atomic_fetch_add_relaxed(&team->flags[round], -1); /* the partner may add its next one meanwhile */
    }
}
