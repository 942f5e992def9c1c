/* Asks peers to lend their memory, where the transport can map it (docs/internals/onesided.md). An origin asks when it first sends
 * something to a peer, once, and goes on with messages; nothing waits. Under the lane's lock; events under that of the
 * lane on which they arrive. */
#include "uccs/link/inner.h"

#include "uccs/core/reach.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(UCCS_PIECES == LINK_LENDS && sizeof((struct link_lent *)0)->lent[0] == TRANSPORT_LENT, "all of it fits");

bool link_maps;
uint32_t link_reach_freed;

lat_cold void link_reach_ask(struct link_peer *peer)
{
    const unsigned able = link_transport->able(peer->to);
    if (!(able & TRANSPORT_KNOWN))
        return;
    peer->asked_reach = true;
    if (!(able & TRANSPORT_REACHES) || !uccs_far_pe(peer->pe) || !uccs_reach_try(peer->pe))
        return;
    struct link_send *send = link_send_new(peer->lane);
    send->header.kind = LINK_REACH;
    send->header.reach.asker = link_token_of(peer->lane, peer, peer->pe, LINK_REACH);
    link_send_now(peer, send, 0, 0);
}

lat_cold void link_reach_free(struct link_peer *peer)
{
    link_flush_ahead(peer);
    (void)atomic_fetch_add_relaxed(&link_reach_freed, 1);
}

lat_cold void link_reach_free_all(struct link_lane *lane)
{
    lane->freed = atomic_load_relaxed(&link_reach_freed);
    for (int pe = 0; lane->peers && pe < uccs_core.npes; pe++)
        if (lane->peers[pe] && lane->peers[pe]->busy && uccs_reach_wanted(pe))
            link_flush_ahead(lane->peers[pe]);
}

static void lend(struct link_arrival *arrival)
{
    struct uccs_memory_piece pieces[UCCS_PIECES];
    struct link_lent lent = {0};
    uccs_memory_pieces(pieces);
    uccs_memory_rows(&lent.row, &lent.step);
    lent.region = uccs_memory_region_start();
    for (int i = 0; i < UCCS_PIECES && link_maps; i++)
        lent.bytes[i] = (uint8_t)link_transport->lend(pieces[i].fd, pieces[i].at, pieces[i].bytes, lent.lent[i]);
    struct link_message answer = {.header.kind = LINK_REACHED, .data = &lent, .bytes = sizeof lent};
    answer.header.reached.asker = arrival->header.reach.asker;
    link_answer(arrival->origin, &answer);
}

static bool take(struct link_arrival *arrival, const void *data)
{
    const struct link_peer *peer = link_answered(arrival);
    struct uccs_reach_map maps[UCCS_PIECES] = {0};
    struct link_lent lent;
    if (arrival->bytes != sizeof lent)
        return true;
    memcpy(&lent, data, sizeof lent);
    for (int i = 0; i < UCCS_PIECES; i++)
        if (lent.bytes[i] && (i != UCCS_PIECE_IMAGE || peer->same_image))
            maps[i].start = link_transport->reach(lent.lent[i], lent.bytes[i], &maps[i].bytes);
    const struct uccs_reach_said said = {lent.row, lent.step, lent.region};
    uccs_reach_add(peer->pe, maps, &said);
    return true;
}

const struct link_handler link_on_reach = {.landed = lend};
const struct link_handler link_on_reached = {.loose = true, .land = take};
