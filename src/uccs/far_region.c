/* Who holds handles of memory of another node. An importer asks the owner whether the memory is still there, and is
 * told when it is not any more; so its operations look at a word of its own (region.h), as node peers look at the
 * owner's, and the owner looks again when they arrive. Any thread; not from inside an event of the transport. */
#include "uccs/far_lane.h"
#include "uccs/object/region.h"

#include <stdlib.h>

bool uccs_far_import(int pe, uint64_t region)
{
    struct far_lane *lane = far_service();
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag};
    far_ask(lane, pe, &(struct far_header){.kind = FAR_IMPORT, .id = region}, &ask);
    far_await(lane, &flag);
    return !ask.failed;
}

static void tell(struct far_lane *lane, int pe, uint64_t region, struct uccs_request *all)
{
    struct far_ask *ask = malloc(sizeof *ask);
    if (!ask)
        far_fail("no memory to tell PE %d of memory that is released", pe);
    *ask = (struct far_ask){.request = all};
    uccs_request_begin(all);
    far_ask(lane, pe, &(struct far_header){.kind = FAR_GONE, .id = region}, ask);
}

/* `all` is no one's child and has an owner, so nobody frees it. */
void uccs_far_memory_gone(uint64_t region, const uint64_t *importers)
{
    struct far_lane *lane = far_service();
    struct uccs_request all = {.pending = 1};
    struct uccs_wait wait = {0};
    for (int pe = 0; pe < uccs_core.npes; pe++)
        if (importers[pe / 64] >> pe % 64 & 1)
            tell(lane, pe, region, &all);
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: finish */
        if (!far_look(lane))
            uccs_yield(&wait);
}

/* Events: true when the region is there, or when it has been noted that it is not. */
bool far_region_heard(const struct far_header *header)
{
    if (header->kind == FAR_IMPORT)
        return uccs_region_imported(header->id, (int)header->from);
    uccs_region_gone((int)header->from, header->id);
    return true;
}
