/* What completes the operations of a process on peers of other nodes: when it asks them, what the carrier_answers say, and which request
 * fails. The network carries nothing; the test carrier_answers. */
#include "carrier.h"

#include "uccs/link/news.h"

static char data[65536];

static struct link_lane *service(void)
{
    return link_service();
}

static const struct link_point *answered(int pe)
{
    return &service()->peers[pe]->answered;
}

static void put(int pe, uccs_request_handle *handle)
{
    uccs_far_put_nb(0, pe, in_heap(0), data, 8, 0, handle);
}

static void poll_service(void)
{
    (void)link_poll(service());
}

/* --- Requests */

/* A request waits for a flush of its operations; those that follow while one is under way wait for the next one. */
static void requests(void)
{
    uccs_request_handle first = 0, second = 0, third = 0;
    carrier_reset();
    put(1, &first);
    put(1, &first);
    put(1, &second);
    CHECK(first->pending == 2 && second->pending == 2 && uccs_far_touched == 1 && service()->some == 1);
    CHECK(carrier.count == 0);
    poll_service();
    CHECK(carrier.count == 4 && carrier.parcels == 1 && left_is(3, LINK_FLUSH, 1));
    struct left *flush = &carrier.left[3];
    CHECK(flush->header.after == 3 && flush->header.from == 0 && flush->header.flush.asker && flush->bytes == 0);
    CHECK(carrier.left[0].header.number == 0x8000 && carrier.left[1].header.number == 0x8000);
    CHECK(carrier.left[2].header.number == 0x8001 && carrier.left[2].header.after == 0);
    put(1, &third);
    put(2, &third);
    CHECK(third->pending == 3);
    poll_service();
    CHECK(carrier.count == 7 &&
          carrier.left[4].header.kind + carrier.left[5].header.kind + carrier.left[6].header.kind ==
              2 * LINK_PUT + LINK_FLUSH);
    poll_service();
    CHECK(carrier.count == 7 && first->pending == 2 && answered(1)->messages == 0);
    carrier_flushed(flush, 0, 0, 0);
    CHECK(first->pending == 1 && second->pending == 1 && third->pending == 3 && answered(1)->messages == 3);
    poll_service();
    CHECK(carrier.count == 8 && left_is(7, LINK_FLUSH, 1) && carrier.left[7].header.after == 4);
    for (unsigned i = 4; i < 8; i++)
        if (carrier.left[i].header.kind == LINK_FLUSH)
            carrier_flushed(&carrier.left[i], 0, 0, 0);
    CHECK(third->pending == 1 && !first->error && !second->error && !third->error);
    CHECK(answered(1)->messages == 4 && answered(2)->messages == 1);
    CHECK(!service()->hung && !service()->peers[1]->flying && !service()->peers[1]->next);
    uccs_far_quiet(0);
    CHECK(carrier.count == 8 && uccs_far_touched == 0 && service()->some == 0 && !service()->touched);
    uccs_request_free(&first);
    uccs_request_free(&second);
    uccs_request_free(&third);
}

/* The messages behind a flush stay behind all that it covers. */
static void fenced_by_flush(void)
{
    uccs_request_handle handle = 0;
    carrier_reset();
    put(1, &handle);
    poll_service();
    put(1, 0);
    poll_service();
    CHECK(carrier.count == 3 && carrier.left[2].header.after == 1 && service()->peers[1]->fenced == 1);
    carrier_flushed(&carrier.left[1], 0, 0, 0);
    uccs_request_free(&handle);
}

/* Numbers of requests begin again after 32767; 0x8000 is one, too. */
static void numbers(void)
{
    uccs_request_handle handle = 0, other = 0;
    carrier_reset();
    service()->requested = 0x7fff;
    put(1, &handle);
    put(1, &other);
    poll_service();
    CHECK(carrier.left[0].header.number == 0xffff && carrier.left[1].header.number == 0x8000);
    carrier_flushed(&carrier.left[2], 0, 0, 0);
    uccs_request_free(&handle);
    uccs_request_free(&other);
}

/* Refused operations: only the requests fail whose numbers the target tells. */
static void refusals(void)
{
    uccs_request_handle good = 0, bad = 0, mixed = 0;
    carrier_reset();
    put(1, &good);
    put(1, &bad);
    put(1, &mixed);
    poll_service();
    const uint16_t told[] = {carrier.left[1].header.number, carrier.left[2].header.number, 9};
    carrier_flushed(carrier_last(), 3, told, 3);
    CHECK(!good->error && bad->error == 1 && mixed->error == 1 && good->pending == 1 && bad->pending == 1);
    put(1, &mixed);
    put(1, &good);
    poll_service();
    carrier_flushed(carrier_last(), 3, 0, 0); /* no more than before */
    CHECK(mixed->error == 1 && !good->error && mixed->pending == 1);
    uccs_request_free(&good);
    uccs_request_free(&bad);
    uccs_request_free(&mixed);
    struct uccs_request all = {.pending = 1};
    put(1, 0);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 2);
    carrier_flushed(carrier_last(), 3, 0, 0);
    CHECK(all.pending == 1 && !all.error);
    put(1, 0);
    uccs_far_flush(0, &all);
    carrier_flushed(carrier_last(), 4, 0, 0); /* it has no number; any refused operation tells */
    CHECK(all.pending == 1 && all.error == 1);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 1); /* nothing is open */
}

/* More requests than an idle flush keeps room for. */
static void many(void)
{
    enum { MANY = 1025 };
    static uccs_request_handle handles[MANY];
    for (int round = 0; round < 2; round++) {
        const int count = round ? MANY : 1024;
        carrier_reset();
        for (int i = 0; i < count; i++)
            put(1, &handles[i]);
        poll_service();
        const uint16_t told[] = {0x8000, (uint16_t)(0x7fff + count)};
        carrier_flushed(carrier_last(), 2, told, 2);
        for (int i = 0; i < count; i++)
            CHECK(handles[i]->pending == 1 && handles[i]->error == (i == 0 || i == count - 1));
        CHECK(service()->idle_flush && service()->idle_flush->room == (round ? 0 : 1024));
        CHECK((service()->idle_flush->requests != 0) == !round);
        for (int i = 0; i < count; i++)
            uccs_request_free(&handles[i]);
    }
}

/* --- Quiets: what they wait for, and what they do not */

static void quiets(void)
{
    carrier_reset();
    carrier.look = carrier_answer_flush;
    carrier_answers = 0;
    uccs_far_quiet(0);
    CHECK(carrier.looks == 0 && carrier_answers == 0);
    put(1, 0);
    put(2, 0);
    uccs_far_quiet(0);
    CHECK(carrier_answers == 2 && answered(1)->messages == 1 && answered(2)->messages == 1);
    CHECK(carrier.count == 4 && !uccs_far_touched && !service()->touched && link_waiting == 0);
    put(1, 0);
    put(2, 0);
    uccs_far_quiet_pes(0, (int[]){2, 0}, 2);
    CHECK(carrier_answers == 3 && answered(1)->messages == 1 && answered(2)->messages == 2);
    CHECK(uccs_far_touched && service()->touched == service()->peers[1] && !service()->peers[2]->touched);
    uccs_far_quiet_pes(0, (int[]){2}, 1);
    CHECK(carrier_answers == 3);
    uccs_far_quiet_pes(0, (int[]){1}, 1);
    CHECK(carrier_answers == 4 && answered(1)->messages == 2 && !service()->touched);
    put(1, 0);
    uccs_quiet_all();
    CHECK(carrier_answers == 5);
    uccs_quiet_all();
    CHECK(carrier_answers == 5);
}

/* Quiets of contexts with lanes of their own, and of all lanes. */
static void lanes(void)
{
    struct uccs_far_lanes on = {0}, other = {0};
    carrier_reset();
    carrier.look = carrier_answer_flush;
    carrier_answers = 0;
    uccs_far_put_nb(&on, 1, in_heap(0), data, 8, 0, 0);
    uccs_far_put_nb(&other, 1, in_heap(0), data, 8, 0, 0);
    CHECK(on.own == &link_lanes[3] && other.own == &link_lanes[2] && link_lanes[3].some && link_lanes[2].some);
    CHECK(!uccs_far_touched);
    uccs_far_quiet(&on);
    CHECK(carrier_answers == 1 && carrier_last()->header.kind == LINK_FLUSH && carrier_last()->header.after == 2);
    CHECK(!link_lanes[3].some && link_lanes[2].some && link_lanes[2].peers[1]->answered.messages == 0);
    put(1, 0);
    uccs_far_quiet_all();
    CHECK(carrier_answers == 3 && !link_lanes[2].some && !service()->some);
    uccs_far_put_nb(&other, 1, in_heap(0), data, 8, 0, 0);
    const uint64_t epoch = link_lanes[2].epoch, own = service()->epoch;
    uccs_far_fence(&other);
    CHECK(carrier_answers == 3 && link_lanes[2].epoch == epoch + 1 && other.fenced == 1 && service()->epoch == own);
    uccs_far_fence_all(); /* with several lanes, a quiet */
    CHECK(carrier_answers == 4 && service()->epoch == own);
    struct uccs_request all = {.pending = 1};
    uccs_far_put_nb(&on, 1, in_heap(0), data, 8, 0, 0);
    uccs_far_put_nb(&on, 2, in_heap(0), data, 8, 0, 0);
    uccs_far_put_nb(&other, 1, in_heap(0), data, 8, 0, 0);
    uccs_far_flush(&on, &all);
    CHECK(all.pending == 3);
    uccs_far_quiet(&on);
    CHECK(all.pending == 1 && carrier_answers == 6);
    uccs_far_release(&other);
    CHECK(carrier_answers == 7 && !other.own && !other.used && !other.fenced);
    uccs_far_release(&on);
    CHECK(link_lanes_open() == 13 && link_others == 3);
}

/* --- Asks */

/* The first ask leaves at once; while one is under way, later ones may wait for each other. Their bytes bound them. */
static void asks(void)
{
    long got[3] = {0}, from = 77;
    uccs_request_handle handle = 0;
    struct uccs_request all = {.pending = 1}, more = {.pending = 1};
    carrier_reset();
    CHECK(service()->oldest == UINT64_MAX);
    uccs_far_get_nb(0, 1, in_heap(8), &got[0], sizeof *got, 0, &handle);
    CHECK(carrier.count == 1 && left_is(0, LINK_GET, 1) && handle->pending == 2 && handle->sources == 2);
    CHECK(carrier.left[0].header.get.bytes == 8 && carrier.left[0].header.get.notices == 0 && uccs_far_touched);
    CHECK(service()->oldest == 0 && service()->asked == 1 && service()->asking == 64 + 8);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 2 && carrier.count == 1);
    uccs_far_get_nb(0, 2, in_heap(8), &got[1], sizeof *got, 0, &handle);
    uccs_far_get_nb(0, 1, in_heap(8), &got[2], sizeof *got, 0, 0);
    CHECK(carrier.count == 1 && service()->asking == 3 * (64 + 8) && handle->pending == 3);
    uccs_far_flush(0, &more);
    poll_service();
    CHECK(carrier.count == 3);
    const unsigned second = carrier.left[1].pe == 2 ? 1 : 2;
    carrier_data(&carrier.left[second], &from, sizeof from, 0);
    CHECK(got[1] == 77 && !got[0] && !got[2] && all.pending == 2 && more.pending == 2 && handle->pending == 2);
    carrier_data(&carrier.left[0], &from, sizeof from, 0);
    CHECK(got[0] == 77 && all.pending == 1 && more.pending == 2 && handle->pending == 1 && handle->sources == 1);
    CHECK(service()->oldest == 2 && uccs_far_touched);
    carrier_data(&carrier.left[3 - second], &from, sizeof from, 0);
    CHECK(got[2] == 77 && more.pending == 1 && service()->oldest == UINT64_MAX && service()->asking == 0);
    CHECK(!service()->first && !service()->last);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 1 && !uccs_far_touched);
    uccs_request_free(&handle);
}

static void long_asks(void)
{
    carrier_reset();
    uccs_far_get_nb(0, 1, in_heap(0), data, TRANSPORT_SHORT, 0, 0);
    CHECK(service()->asking == 64 + TRANSPORT_SHORT && !service()->last->reads == (TRANSPORT_SHORT <= 8192));
    uccs_far_get_nb(0, 1, in_heap(0), data, TRANSPORT_SHORT + 1, 0, 0);
    CHECK(service()->asking == 2 * 64 + TRANSPORT_SHORT && service()->last->reads);
    CHECK(carrier.count == 2);
    uccs_far_get_nb(0, 1, in_heap(0), data, 8192, 0, 0);
    CHECK(carrier.count == 2 && !service()->last->reads);
    uccs_far_get_nb(0, 1, in_heap(0), data, 8193, 0, 0);
    CHECK(carrier.count == 4 && carrier.parcels == 3 && service()->last->reads);
    service()->asking = 4 << 20;
    CHECK(!link_ask_busy(service()));
    service()->asking++;
    CHECK(link_ask_busy(service()));
    carrier_reset();
}

static unsigned looked;

static void take_some(struct link_lane *lane)
{
    if (++looked == 3)
        lane->asking = 0;
}

static void ask_room(void)
{
    carrier_reset();
    service()->asking = (4 << 20) + 1;
    carrier.look = take_some;
    looked = 0;
    uccs_far_get_nb(0, 1, in_heap(0), data, 8, 0, 0);
    CHECK(looked == 3 && carrier.count == 1);
    service()->asking = (4 << 20) + 1;
    looked = 0;
    link_never_waits = true;
    uccs_far_get_nb(0, 1, in_heap(0), data, 8, 0, 0);
    link_never_waits = false;
    CHECK(looked == 0);
    carrier_reset();
}

/* An answer that tells that all has been applied saves the flush; any other number does not. */
static void told(void)
{
    uint64_t old = 1;
    carrier_reset();
    put(1, 0);
    uccs_far_amo_nb(0, 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 5, 0, &old, 0);
    poll_service();
    CHECK(carrier.count == 2 && left_is(1, LINK_AMO, 1) && carrier.left[1].header.after == 0);
    CHECK(carrier.left[1].header.amo.operand == 5 && carrier.left[1].header.amo.what == UCCS_ATOMIC_ADD);
    CHECK(carrier.left[1].header.amo.size == 8 && service()->peers[1]->busy &&
          service()->peers[1]->issued.messages == 2);
    carrier_old(&carrier.left[1], 9, false, 2);
    CHECK(old == 9 && answered(1)->messages == 2 && !service()->peers[1]->busy);
    uccs_far_quiet(0);
    CHECK(carrier.count == 2 && !uccs_far_touched);
    for (uint64_t applied = 0; applied < 6; applied += 3 - (applied == 3)) {
        uccs_far_amo_nb(0, 1, UCCS_ATOMIC_SWAP, in_heap(0), 4, 5, 0, &old, 0);
        carrier_old(carrier_last(), UINT64_C(0x700000008), false,
                    applied); /* of this one it would be the number itself */
        CHECK(old == 8 && answered(1)->messages == (applied == service()->peers[1]->issued.messages ? applied : 2));
        old = 0;
    }
    carrier_reset();
    uccs_request_handle handle = 0;
    uccs_far_amo_nb(0, 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 5, 0, &old, &handle);
    old = 3;
    carrier_old(carrier_last(), 9, true, 0);
    CHECK(old == 3 && handle->error == 1 && handle->pending == 1);
    uccs_request_free(&handle);
}

/* --- Calls that wait for their answer */

/* Answers an ask with letters, or an old value. */
static void answer_ask(struct link_lane *lane)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    struct left *left = carrier_last();
    if (left->what != MESSAGE || left->key || left->lane != lane->number)
        return;
    const enum link_kind kind = (enum link_kind)left->header.kind;
    struct link_header h = carrier_answer(left, kind == LINK_AMO ? LINK_AMO_ANSWER : LINK_DATA);
    struct transport_message message = {.header = &h, .header_bytes = sizeof h, .data = letters};
    if (kind == LINK_GET)
        message.bytes = left->header.get.bytes;
    else if (kind == LINK_GET_BLOCKS)
        message.bytes = left->header.get_blocks.block * left->header.get_blocks.count;
    else if (kind == LINK_CHANGE)
        message.bytes = left->header.change.n * sizeof(int);
    else if (kind == LINK_AMO)
        h.answer.old = 55;
    else
        return;
    left->key = left; /* answered */
    link_arrived(lane, &message);
}

static void waits(void)
{
    const struct uccs_far_blocks blocks = {2, 3, 100, 8};
    const struct uccs_far_place region = {FAR_REGION, 4, 9};
    const struct uccs_change sum = {UCCS_INT32, UCCS_SUM, 2};
    int operand[2] = {7, 8}, result[2] = {0};
    uint64_t old = 0;
    carrier_reset();
    carrier.look = answer_ask;
    memset(data, '-', 32);
    CHECK(uccs_far_get_blocks(0, 1, in_heap(0), data, &blocks) && memcmp(data, "ab------cd------ef------", 24) == 0);
    const struct link_header *h = &carrier_last()->header;
    CHECK(h->get_blocks.block == 2 && h->get_blocks.count == 3 && h->get_blocks.stride == 100);
    memset(data, '-', 32);
    uccs_far_get_blocks_nb(0, 1, in_heap(0), data, &blocks, 0);
    uccs_far_quiet(0);
    CHECK(memcmp(data, "ab------cd------ef------", 24) == 0);
    carrier.look = 0;
    uccs_far_get_nb(0, 1, in_heap(0), data, 8, 0, 0);
    uccs_far_quiet_pes(0, (int[]){2, 0}, 2);
    CHECK(service()->first); /* no other PE's answer is waited for */
    carrier.look = answer_ask;
    uccs_far_quiet_pes(0, (int[]){2, 1}, 2);
    CHECK(!service()->first);
    memset(data, '-', 32);
    CHECK(uccs_far_get(0, 1, in_heap(0), data, 5, 0) && memcmp(data, "abcde---", 8) == 0);
    CHECK(carrier_last()->header.get.notices == 0 && carrier_last()->bytes == 0);
    CHECK(uccs_far_get(0, 1, in_heap(0), data, 5, 77) && carrier_last()->header.get.notices == 1);
    const struct link_notice *notice = (const struct link_notice *)(void *)carrier_last()->data;
    CHECK(carrier_last()->bytes == sizeof *notice && notice->counter == 77 && notice->weight == 1);
    CHECK(uccs_far_amo_fetch(0, 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 1, 0, &old) && old == 55);
    CHECK(uccs_far_amo(0, 1, UCCS_ATOMIC_SWAP, in_heap(0), 8, 1, 0) == 55);
    CHECK(uccs_far_change_fetch(0, 1, region, &sum, operand, result) && memcmp(result, "abcdefgh", 8) == 0);
    CHECK(carrier_last()->bytes == 8 && memcmp(carrier_last()->data, operand, 8) == 0);
    CHECK(carrier_last()->header.change.n == 2 && carrier_last()->header.change.asker);
    carrier.look = carrier_answer_flush;
    uccs_far_quiet(0);
    carrier.look = 0;
    carrier.sends = TRANSPORT_PENDING;
    uccs_far_change(0, 1, region, &sum, operand, 0, false, 0, 0, 0); /* the caller may change the operand at once */
    operand[0] = 99;
    CHECK(carrier_last()->header.kind == LINK_CHANGE && !carrier_last()->header.change.asker);
    const struct link_send *send = carrier_last()->token;
    CHECK(send->buffer && *(const int *)send->buffer == 7);
    carrier_reset();
}

/* --- Crowds: more threads wait than there are cores, so their flushes gather */

static void crowds(void)
{
    struct uccs_request all[3] = {{.pending = 1}, {.pending = 1}, {.pending = 1}};
    carrier_reset();
    const uint32_t cores = link_cores;
    link_cores = 2;
    link_waiting = 2;
    CHECK(!link_is_crowd() && !link_is_crowd_awake());
    link_waiting = 3;
    CHECK(link_is_crowd() && link_is_crowd_awake());
    struct link_lane *lane = service();
    put(1, 0);
    struct link_peer *peer = lane->peers[1];
    pthread_mutex_lock(&lane->lock);
    link_flush_peer(peer, peer->issued, &all[0], 0, true); /* it gathers first */
    CHECK(!peer->flying && peer->gathers && peer->hung && carrier.count == 0);
    pthread_mutex_unlock(&lane->lock);
    poll_service();
    CHECK(carrier.count == 2 && left_is(1, LINK_FLUSH, 1) && !peer->gathers && !peer->hung);
    put(1, 0);
    pthread_mutex_lock(&lane->lock);
    link_flush_peer(peer, (struct link_point){1, 0}, &all[1], 0, true); /* the one under way covers it */
    link_flush_peer(peer, peer->issued, &all[2], 0, true);
    pthread_mutex_unlock(&lane->lock);
    poll_service();
    CHECK(carrier.count == 3 && left_is(2, LINK_PUT, 1) && peer->gathers && !peer->hung);
    const uint32_t news = lane->news;
    carrier_flushed(&carrier.left[1], 0, 0, 0);
    CHECK(lane->news == news + 1 && lane->told == 1);
    CHECK(all[0].pending == 1 && all[1].pending == 1 && all[2].pending == 2 && carrier.count == 3 && peer->hung);
    poll_service();
    CHECK(carrier.count == 4 && left_is(3, LINK_FLUSH, 1) && carrier.left[3].header.after == 2 && lane->told == 0);
    put(1, 0);
    pthread_mutex_lock(&lane->lock);
    link_flush_peer(peer, peer->issued, &all[0], 0, true);
    pthread_mutex_unlock(&lane->lock);
    link_waiting = 2; /* no crowd any more: the next one follows at once */
    carrier_flushed(&carrier.left[3], 0, 0, 0);
    CHECK(all[2].pending == 1 && carrier_last()->header.kind == LINK_FLUSH && carrier_last()->header.after == 3);
    carrier_flushed(carrier_last(), 0, 0, 0);
    CHECK(all[0].pending == 1);
    put(1, 0);
    pthread_mutex_lock(&lane->lock);
    link_flush_peer(peer, peer->issued, &all[0], 0, true); /* two threads on two cores do not gather */
    CHECK(peer->flying && !peer->gathers);
    link_flush_ahead(peer); /* there is one */
    CHECK(!peer->next);
    pthread_mutex_unlock(&lane->lock);
    carrier_flushed(carrier_last(), 0, 0, 0);
    CHECK(all[0].pending == 1);
    link_news_tell(lane);
    link_led_here = lane; /* who leads wakes the others when he has looked at his own */
    pthread_mutex_lock(&lane->lock);
    link_news_unlock(lane);
    CHECK(lane->told == 1);
    link_led_here = 0;
    pthread_mutex_lock(&lane->lock);
    link_news_unlock(lane);
    CHECK(lane->told == 0);
    link_cores = cores;
    carrier_reset();
}

int main(void)
{
    carrier_open();
    requests();
    fenced_by_flush();
    numbers();
    refusals();
    many();
    quiets();
    lanes();
    asks();
    long_asks();
    ask_room();
    told();
    waits();
    crowds();
    _exit(0);
}
