/* Contexts whose id the members of a group agree on. Any thread.
 *
 * In a round the members learn which ids are free at all of them and choose one; each takes it, unless another thread
 * was faster, and they learn whether all have it. If not, they leave it and begin again. Each group begins its choice at
 * another id, so groups that meet in several processes part after a few rounds. */
#include "uccs/coll/coll.h"
#include "uccs/api/inner.h"

#include <stdlib.h>

#define ROUNDS 64

/* Returns the choice of all members: the first free id below `start`, going round. */
static uint32_t choose(uint64_t ids, uint64_t start)
{
    uint32_t id = (uint32_t)(start % UCCS_CONTEXTS);
    while (!(ids >> id & 1))
        id = id ? id - 1 : UCCS_CONTEXTS - 1;
    return id;
}

static int everywhere(uccs_group_t group, uint64_t mine, uint64_t *all)
{
    return uccs_allreduce(group, &mine, all, 1, UCCS_UINT64, UCCS_AND);
}

/* Takes an id at all members, or at none. `made` is null where there was no memory. Returns UCCS_OK, UCCS_AGAIN, or an
 * error. */
static int try_round(uccs_group_t group, struct uccs_context *made, uint64_t start)
{
    uint64_t ids = 0, all = 0;
    int status = everywhere(group, made ? uccs_context_ids() : 0, &ids);
    if (status != UCCS_OK || !ids)
        return status != UCCS_OK ? status : UCCS_ERR_NO_MEMORY;
    made->attr.id = choose(ids, start);
    bool taken = uccs_context_take(made);
    status = everywhere(group, taken, &all);
    if (status == UCCS_OK && all)
        return UCCS_OK;
    if (taken)
        uccs_context_leave(made);
    return status != UCCS_OK ? status : UCCS_AGAIN;
}

static int agree(uccs_group_t group, struct uccs_context *made)
{
    uint64_t start = UCCS_CONTEXTS - 1 + UCCS_CONTEXTS * (uccs_group_of(group)->number & 0xff);
    int status = UCCS_AGAIN;
    for (uint64_t round = 0; round < ROUNDS && status == UCCS_AGAIN; round++)
        status = try_round(group, made, round ? start + round * (uccs_group_of(group)->number | 1) : start);
    return status == UCCS_AGAIN ? UCCS_ERR_NO_MEMORY : status;
}

int uccs_context_create_in(uccs_group_t group, const struct uccs_context_attr *attr, uccs_context_t *context)
{
    static const struct uccs_context_attr standard;
    attr = attr ? attr : &standard;
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!group || !context || !uccs_attr_good(attr->scope, attr->threads))
        return UCCS_ERR_INVALID;
    struct uccs_context *made = uccs_context_make(attr);
    int status = agree(group, made);
    if (status != UCCS_OK) {
        free(made);
        return status;
    }
    made->group = uccs_group_of(group);
    uccs_ranks_hold(made->group);
    uccs_am_publish(made);
    *context = made;
    return UCCS_OK;
}
