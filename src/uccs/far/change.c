/* Accumulates and compare-and-swaps on memory of another node: the origin's half, and the target's half, which runs under
 * the service lane's lock. See far.h and mem/accumulate.h.
 *
 * A piece is at most TRANSPORT_SHORT bytes, so that pieces arrive in the order of sending and keep the target's lane
 * busy for some microseconds only. The target takes a stripe's lock there: its holder never waits. */
#include "uccs/far/inner.h"

#include "net/transport.h"
#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

#define PIECE (TRANSPORT_SHORT - 2 * UCCS_TYPE_MOST) /* leaves room for two notices */
_Static_assert(PIECE % UCCS_TYPE_MOST == 0 && PIECE <= UINT32_MAX, "pieces end between elements; n fits the header");
_Static_assert(PIECE + 2 * sizeof(struct link_notice) <= TRANSPORT_SHORT, "a piece with its notices keeps the order");

/* --- At the origin */

/* With `alone`, the operand is all of its data and nothing comes back: then the link may copy it. */
static struct link_message change_message(const struct uccs_far_lanes *on, struct uccs_far_place at,
                                          const struct uccs_accumulate_op *change, const void *operand, bool later,
                                          bool alone)
{
    struct link_message message = {.header = {.kind = LINK_CHANGE,
                                              .segment = (uint8_t)at.segment,
                                              .at = {at.offset, at.region}},
                                   .track = link_track_of(on),
                                   .data = operand,
                                   .bytes = uccs_accumulate_operand(change),
                                   .later = later,
                                   .counts = true};
    message.header.change.n = (uint32_t)change->n;
    message.header.change.type = change->type;
    message.header.change.how = change->how;
    if (message.bytes && !(alone && link_copies(&message))) {
        message.data = message.buffer = malloc(message.bytes);
        if (!message.buffer)
            uccs_fail("no memory for an accumulate of %zu bytes", message.bytes);
        memcpy(message.buffer, operand, message.bytes);
    }
    return message;
}

/* A change on its way to pieces. */
struct job {
    struct uccs_far_lanes *on;
    int pe;
    bool later;
    const struct uccs_far_with *with; /* goes with the last piece; or null */
    uccs_request_handle *handle;
    struct uccs_request *local;
};

static void change_piece(const struct job *job, struct uccs_far_place at, const struct uccs_accumulate_op *change,
                         const void *operand, void *result, bool last)
{
    struct link_lane *lane = link_lane_of(job->on);
    const struct far_ask what = {.ask = {.bytes = uccs_accumulate_bytes(change), .local = job->local}, .dest = result};
    struct far_ask *ask = result ? far_ask_later(&what, job->handle) : 0;
    const struct uccs_far_with *with = last ? job->with : 0;
    struct link_message message = change_message(job->on, at, change, operand, job->later, !with && !ask);
    if (with)
        message.header.change.notices = far_notice_behind(&message, with);
    if (ask) {
        link_ask_send(lane, job->pe, &message, &ask->ask);
        return;
    }
    message.request = far_request_of(job->handle);
    link_make_room(lane);
    link_issue(lane, job->pe, &message);
}

static void change_pieces(const struct job *job, struct uccs_far_place at, const struct uccs_accumulate_op *change,
                          const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), most = PIECE / size;
    struct uccs_accumulate_op some = *change;
    for (size_t left = change->n; left; left -= some.n) {
        some.n = left < most ? left : most;
        const size_t bytes = some.n * size;
        change_piece(job, at, &some, operand, result, some.n == left);
        at.offset += bytes;
        operand += operand ? bytes : 0;
        result += result ? bytes : 0;
    }
}

void uccs_far_change(struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                     const struct uccs_accumulate_op *change, const void *operand, void *result, bool later,
                     const struct uccs_far_with *with, uccs_request_handle *handle, struct uccs_request *local)
{
    change_pieces(&(struct job){on, pe, later, with, handle, local}, at, change, operand, result);
}

/* `all` has an owner and no parent, so nobody frees it. */
bool uccs_far_change_fetch(struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                           const struct uccs_accumulate_op *change, const void *operand, void *result)
{
    struct link_lane *lane = link_lane_of(on);
    struct uccs_request all = {.pending = 1};
    uccs_request_handle handle = &all;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    change_pieces(&(struct job){.on = on, .pe = pe, .handle = &handle}, at, change, operand, result);
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        link_pause(lane, &wait);
    return !all.error;
}

/* --- At the target */

static struct uccs_accumulate_op change_of(const struct link_header *header)
{
    return (struct uccs_accumulate_op){header->change.type, header->change.how, header->change.n};
}

static void apply_here(const struct link_header *header, const struct uccs_accumulate_op *change, char *to,
                       const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), bytes = uccs_accumulate_bytes(change);
    struct uccs_accumulate_op some = *change;
    atomic_fence_release(); /* the elements may be flags: after earlier stores of this process */
    for (size_t done = 0; done < bytes; done += some.n * size) {
        const struct uccs_region_home home = uccs_region_home(header->at.region, to + done, bytes - done);
        const struct uccs_accumulate_target place = {uccs_core.me, home.domain, home.address, to + done};
        some.n = home.bytes < size ? 1 : home.bytes / size;
        uccs_accumulate_apply(&some, &place, operand ? operand + done : 0, result ? result + done : 0);
    }
}

static void answer_change(struct link_arrival *arrival, void *old, size_t bytes)
{
    struct link_message answer = {.header.kind = LINK_DATA, .data = old, .bytes = bytes, .buffer = old};
    answer.header.answer.asker = arrival->header.change.asker;
    answer.header.answer.applied = old ? link_told(arrival) : 0;
    answer.header.answer.failed = !old;
    link_answer(arrival->origin, &answer);
}

/* Returns false when the region has been released and no answer tells of that. */
static bool land_change(struct link_arrival *arrival, const void *operand)
{
    const struct link_header *header = &arrival->header;
    const struct uccs_accumulate_op change = change_of(header);
    const size_t bytes = uccs_accumulate_bytes(&change);
    const bool wanted = header->change.asker != 0;
    char *to = far_place_of(header, header->at.offset, bytes);
    void *old = to && wanted ? malloc(bytes) : 0;
    if (to && wanted && !old)
        uccs_fail("no memory for %zu bytes for PE %u", bytes, header->from);
    if (to)
        apply_here(header, &change, to, operand, old);
    if (to)
        far_notices_do(arrival, operand, header->change.notices);
    if (wanted)
        answer_change(arrival, old, old ? bytes : 0);
    return to || wanted;
}

const struct link_handler far_on_change = {.counts = true, .land = land_change};
