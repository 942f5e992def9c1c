/* Imports of registered memory of other nodes. An importer asks the owner whether the memory is still registered, and the owner tells the
 * importer once it has released it. So the importer's operations check a word of the importer (mem/region.h), as node peers check the
 * owner's word, and the owner checks again when they arrive. Any thread; not from inside an event. */
#include "uccs/proto/inner.h"

#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

static void ask_about(int pe, enum proto_wire_kind kind, uint64_t region, struct proto_pending *ask)
{
    struct proto_send *send = uccs_must_have(proto_send_begin(0, pe, kind, 0, ask), "a question to", pe);
    send->header.at.region = region;
    send->later = true;
    proto_issue_ask(send, ask);
}

bool proto_import(int pe, uint64_t region)
{
    uint32_t flag = 0;
    struct proto_pending ask = {.flag = &flag};
    ask_about(pe, WIRE_IMPORT, region, &ask);
    proto_await(proto_service_worker(), &flag);
    return !ask.failed;
}

static void tell_importer(int pe, uint64_t region, uint64_t *busy, struct uccs_request *all)
{
    struct proto_pending *ask = uccs_must_have(malloc(sizeof *ask), "a question to", pe);
    *ask = (struct proto_pending){.request = all, .bytes = sizeof *busy, .dest = busy};
    uccs_request_begin_use(all);
    ask_about(pe, WIRE_GONE, region, ask);
}

/* Asks all PEs with a non-zero word, which becomes 0 unless a transport there still accesses the memory. Returns true when
 * all words are 0. */
static bool all_know(uint64_t region, uint64_t *busy)
{
    struct uccs_request all = {.pending = 1};
    bool know = true;
    for (int pe = 0; pe < uccs_core.npes; pe++)
        if (busy[pe])
            tell_importer(pe, region, &busy[pe], &all);
    proto_await(proto_service_worker(), &all.pending);
    for (int pe = 0; pe < uccs_core.npes; pe++)
        know &= !busy[pe];
    return know;
}

void proto_memory_invalidate(uint64_t region, const uint64_t *importers)
{
    uint64_t *busy = uccs_must_have(calloc((size_t)uccs_core.npes, sizeof *busy), "memory released by", uccs_core.me);
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    for (int pe = 0; pe < uccs_core.npes; pe++)
        busy[pe] = importers[pe / 64] >> pe % 64 & 1;
    while (!all_know(region, busy))
        proto_pause(proto_service_worker(), &wait);
    free(busy);
    proto_key_withdraw(region);
}

/* --- Events */

/* The workers flush their puts when they are moved on next, since the program may not do so for long. */
static void land_all(void)
{
    for (uint64_t workers = proto_workers_open(); workers; workers &= workers - 1) {
        struct proto_worker *worker = &proto_workers[__builtin_ctzll(workers)];
        atomic_store_relaxed(&worker->lands, 1);
        proto_thread_remind(worker);
    }
}

static void answer_question(struct proto_arrival *arrival, bool good, uint64_t word)
{
    struct proto_send *answer = proto_answer_data(arrival->header.region.handle, good ? &word : 0, 0);
    memcpy(answer->header.answer.word, &word, sizeof word);
    proto_answer(arrival->origin, answer);
}

static void hear_import(struct proto_arrival *arrival)
{
    answer_question(arrival, uccs_region_imported(arrival->header.at.region, (int)arrival->header.from), 0);
}

static void hear_gone(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    const bool busy = uccs_import_end((int)header->from, header->at.region);
    if (busy)
        land_all();
    answer_question(arrival, true, busy);
}

const struct proto_handler proto_on_import = {.landed = hear_import};
const struct proto_handler proto_on_gone = {.landed = hear_gone};
