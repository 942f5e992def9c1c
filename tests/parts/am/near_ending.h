/* Ends in near.c: handlers that are being written, contexts that end, rounds that find nothing, and what a life leaves behind. */
#ifndef TESTS_TRUST_NEAR_ENDING_H
#define TESTS_TRUST_NEAR_ENDING_H

#include "near_receiving.h"

static struct uccs_handler written;

static void finish_writing(void)
{
    if (yields == 2) {
        written.handler = note;
        written.version = 2;
    }
}

static void test_handlers(void)
{
    written = (struct uccs_handler){.version = 1};
    while_waits = finish_writing;
    yields = 0;
    const struct uccs_handler read = uccs_handler_read(&written);
    CHECK(yields == 2 && read.version == 2 && read.handler == note && uccs_handler_known(&written));
    written.version = 1;
    yields = 0;
    uccs_handler_write(&written, UCCS_AM_USER, see, &seen);
    CHECK(yields == 3 && written.version == 4 && written.handler == see && written.argument == &seen);
    CHECK(written.cls == UCCS_AM_USER && uccs_handler_read(&written).argument == &seen);
    uccs_handler_write(&written, UCCS_AM_NETWORK_PROTOCOL, note, 0);
    CHECK(yields == 3 && written.version == 6 && written.cls == UCCS_AM_NETWORK_PROTOCOL && !written.argument);
    CHECK(!uccs_handler_known(&(struct uccs_handler){0}));
    while_waits = 0;
}

static uint32_t *inside;

static void leave_late(void)
{
    CHECK(!uccs_am_published(6) && uccs_pollers_barred == 1);
    if (yields == 3)
        uccs_am_leave(inside);
}

/* A context is retired once no thread is in it. */
static void test_retire(void)
{
    struct uccs_context other = {.attr = {.id = 6}};
    const uint64_t before = uccs_am_live(), polls = uccs_am_polls();
    for (int turn = 0; turn < 3; turn++) {
        rung[0] = 0;
        uccs_own_of(0)->asleep = 1;
        uccs_am_publish(&other);
        CHECK(uccs_am_live() == (before | UINT64_C(1) << 6) && uccs_am_published(6) == &other && rung[0] == 1);
        CHECK(uccs_own_of(0)->open[6] == OWN_OPEN);
        uccs_own_of(0)->asleep = 0;
        uccs_thread_mine = turn == 1 ? POLLERS : turn == 2 ? 1 : 17; /* the first and the last entry */
        inside = uccs_am_enter();
        uccs_thread_mine = 1;
        yields = 0;
        while_waits = leave_late;
        uccs_am_retire(&other);
        while_waits = 0;
        CHECK(yields == 3 && uccs_am_live() == before && !uccs_am_published(6) && uccs_pollers_barred == 0);
        CHECK(uccs_am_polls() == polls + (uint64_t)turn + 1);
    }
    for (int i = 0; i < POLLERS; i++)
        CHECK(pollers[i].inside[0] == 0 && pollers[i].inside[1] == 0);
    while_waits = 0;
    yields = 0;
    uccs_am_publish(&other);
    inside = uccs_am_enter(); /* of the other phase */
    phase++;
    while_waits = leave_late;
    uccs_am_retire(&other);
    CHECK(yields == 3);
    while_waits = 0;
}

/* --- Rounds */

static void test_progress(void)
{
    become(1);
    sched_yields = shown = turns = 0;
    for (int i = 0; i < 3 * MISSES; i++)
        CHECK(uccs_progress() == 0 && sched_yields == (i + 1) / MISSES && shown == sched_yields);
    for (int i = 0; i < MISSES - 1; i++)
        CHECK(uccs_progress() == 0 && sched_yields == 3);
    CHECK(sends(ID, UCCS_AM_USER, "x", 1, 0) == UCCS_OK && uccs_progress() == 1 && turns == 1); /* it counts anew */
    for (int i = 0; i < MISSES; i++)
        CHECK(uccs_progress() == 0 && sched_yields == 3 + (i == MISSES - 1));
    uccs_core.oversubscribed = 1;
    CHECK(uccs_progress() == 0 && sched_yields == 5);
    uccs_core.oversubscribed = 0;
    CHECK(sends(ID, UCCS_AM_USER, "y", 1, 0) == UCCS_OK &&
          sends(ID + 1, UCCS_AM_NETWORK_PROTOCOL, "z", 1, 0) == UCCS_OK);
    uccs_handlers_running = 1;
    CHECK(uccs_progress() == 0 && uccs_am_poll_network() == 0);
    uccs_handlers_running = 0;
    uccs_core.pes = 0;
    CHECK(uccs_progress() == 0);
    uccs_core.pes = NEAR;
    CHECK(uccs_am_poll_network() == 1 && uccs_am_poll_network() == 0 && uccs_progress() == 1);
    become(0);
    clear();
}

/* A round that finds a block and a message of the library's own has found something. */
static void test_both(struct uccs_wait *wait)
{
    static struct uccs_context inner = {.attr = {.id = OWN_INNER},
                                        .handlers = {[UCCS_INNER_LETTER] = {.handler = run_inner}}};
    struct uccs_block *block = test_get(UCCS_ROOM_PROGRAM, 0);
    const int before = yields;
    block->done = 1;
    test_sent(block);
    uccs_am_publish(&inner);
    inner_ran = 0;
    CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0));
    uccs_am_serve(wait);
    CHECK(yields == before && inner_ran == 1 && blocks_out == 0);
    uccs_am_retire(&inner);
}

static void test_rests(void)
{
    struct uccs_wait wait = {0};
    become(1);
    uccs_core.spin = 100;
    yields = shown = 0;
    for (int i = 1; i <= 6; i++) {
        uccs_am_serve(&wait);
        CHECK(yields == i && wait.looks == (uint32_t)(i < 4 ? LOOK * i : 100) && shown == (i > 4 ? i - 4 : 0));
    }
    CHECK(sends(ID, UCCS_AM_USER, "x", 1, 0) == UCCS_OK);
    turns = 0;
    uccs_am_serve(&wait);
    CHECK(yields == 6 && turns == 1); /* it has found something */
    uccs_poll_table[UCCS_POLL_ALWAYS][0] = poll_others;
    polls_of_others = 0;
    CHECK(sends(ID, UCCS_AM_USER, "y", 1, 0) == UCCS_OK);
    uccs_handlers_running = 1;
    uccs_am_serve(&wait); /* in a handler the library's own messages alone */
    CHECK(yields == 7 && polls_of_others == 1);
    struct uccs_block *block = test_get(UCCS_ROOM_PROGRAM, 0);
    block->done = 1;
    test_sent(block);
    uccs_am_serve(&wait);
    CHECK(yields == 7 && polls_of_others == 2 && blocks_out == 0);
    test_both(&wait);
    uccs_am_serve_replies(&wait);
    CHECK(yields == 8 && polls_of_others == 4);
    uccs_handlers_running = 0;
    uccs_poll_table[UCCS_POLL_ALWAYS][0] = 0;
    uccs_core.spin = 0;
    become(0);
    CHECK(runs("y"));
    clear();
}

/* --- The end of a life */

static void test_drop(void)
{
    static char payload[400] = "dropped";
    uccs_request_handle request = UCCS_REQUEST_CLEAN;
    const struct uccs_op told = {.request = &request};
    become(1);
    struct uccs_am_lost lost = uccs_am_drop();
    CHECK(lost.count == 0);
    become(0);
    CHECK(sends(UCCS_AM_PLACE + 40, UCCS_AM_USER, "a", 1, &told) == UCCS_OK &&
          sends(41, UCCS_AM_USER, "b", 1, 0) == UCCS_OK);
    CHECK(runs("") && uccs_parked[3][UCCS_RING_USER] == 1);
    CHECK(sends(42, UCCS_AM_NETWORK_PROTOCOL, payload, sizeof payload, 0) == UCCS_OK);
    comes_far(3, 1, 43, 'f', true), comes_far(4, 0, 44, 'g', false);
    CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0)); /* the library's own are not the program's */
    struct uccs_block *copy = aligned_alloc(64, sizeof *copy);
    *copy = (struct uccs_block){.kept = UCCS_KEPT_COPY};
    become(1);
    const struct uccs_message reply = {.source = 0,
                                       .id = 45,
                                       .length = 0,
                                       .block = UCCS_NO_BLOCK,
                                       .lane = (uint16_t)(uccs_thread() & 0x7fff)};
    uccs_park(3, USER_REPLY, 1, &reply, copy);
    far_handled = far_told = far_held = 0;
    CHECK(blocks_under_way == 2 && !blocks_sent[0]->done && !blocks_sent[1]->done);
    const uint64_t handled = uccs_own_of(0)->handled[3][uccs_thread()].count;
    lost = uccs_am_drop();
    CHECK(lost.count == 6 && lost.context == 3 && lost.source == 0 && lost.id == 42);
    CHECK(blocks_sent[0]->done && blocks_sent[0]->failed && blocks_sent[1]->done && blocks_sent[1]->failed);
    CHECK(far_handled == 2 && far_told == 2 && far_held == 0 && packets[10].block.failed == 1 && owned_count == 0);
    CHECK(uccs_parked[3][UCCS_RING_USER] == 0 && uccs_own_of(1)->parked[3] == 0);
    CHECK(uccs_own_of(0)->handled[3][uccs_thread()].count == handled + 4);
    become(1);
    CHECK(!ring_is_empty(uccs_own_ring(1, OWN_INNER, 0)) && uccs_am_drop().count == 0);
    uccs_park(5, 2, 1, &(struct uccs_message){.source = 0, .id = UCCS_AM_LONG + 46, .block = UCCS_NO_BLOCK}, 0);
    lost = uccs_am_drop();
    CHECK(lost.count == 1 && lost.context == 5 && lost.id == 46); /* of rings that nobody has opened */
    become(0);
    clear();
}

static void test_ending(void)
{
    test_handlers();
    test_retire();
    test_progress();
    test_rests();
    test_drop();
}

#endif
