/* Of regions.c: blocks of messages. */
#ifndef TESTS_TRUST_REGIONS_BLOCKS_H
#define TESTS_TRUST_REGIONS_BLOCKS_H

#include "regions_world.h"

static int landings;

static void land(struct uccs_block *block)
{
    CHECK(block->cookie == &landings);
    landings++;
}

static void blocks(void)
{
    int vain = 0;
    CHECK(uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain) && !uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain) && vain == 2);
    struct uccs_block *none = uccs_stage_get(UCCS_ROOM_PROGRAM, 0), *some = uccs_stage_get(UCCS_ROOM_PROGRAM, 1);
    CHECK(none && some && none->capacity == 0 && some->capacity == UCCS_MEDIUM_MAX &&
          none->shard == uccs_thread() % 16 && !none->done);
    CHECK(uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain) && vain == 0 &&
          !uccs_stage_expected(UCCS_ROOM_LIBRARY, &(int){1}));
    struct uccs_block *large = uccs_stage_get(UCCS_ROOM_PROGRAM, UCCS_MEDIUM_MAX + 1);
    CHECK(large->capacity == UCCS_MEDIUM_MAX + 1 && large->room == UCCS_ROOM_PROGRAM && !large->request &&
          !large->landed);
    CHECK(!uccs_stage_get(UCCS_ROOM_PROGRAM, (size_t)UINT32_MAX + 1) && !uccs_stage_get(UCCS_ROOM_PROGRAM, UINT32_MAX));
    uccs_stage_put(none);
    uccs_stage_put(some);
    CHECK(uccs_stage_get(UCCS_ROOM_PROGRAM, UCCS_MEDIUM_MAX) == some && uccs_stage_get(UCCS_ROOM_PROGRAM, 0) == none);
    uccs_stage_put(large); /* not kept */
    CHECK(!shards[none->shard].idle[UCCS_ROOM_PROGRAM][0] && !shards[none->shard].idle[UCCS_ROOM_PROGRAM][1]);
    struct uccs_block *again = uccs_stage_get(UCCS_ROOM_PROGRAM, UCCS_MEDIUM_MAX + 2);
    CHECK(again == large && again->capacity == UCCS_MEDIUM_MAX + 2);
    uccs_stage_put(again);
    uccs_stage_put(none);
    CHECK(uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain) && vain == 0);
    uccs_stage_put(some);
    CHECK(uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain) && !uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain));
}

/* A message is complete when its receiver says so; each visit looks at some. */
static void sent_blocks(void)
{
    enum { SENT = LOOKS + 4 };
    struct uccs_block *sent[SENT];
    struct uccs_told told = {0};
    uccs_request_handle h = NULL;
    struct uccs_request *request = uccs_request_materialise(&h);
    CHECK(uccs_stage_collect() == 0 && !uccs_stage_tell(request, &told));
    for (int i = 0; i < SENT; i++) {
        sent[i] = uccs_stage_get(UCCS_ROOM_PROGRAM, 8);
        sent[i]->landed = land;
        sent[i]->cookie = &landings;
        sent[i]->to = 40 + i;
        if (i >= SENT - 2) {
            sent[i]->request = request;
            uccs_request_begin(request);
        }
        uccs_stage_sent(sent[i]);
    }
    CHECK(uccs_stage_tell(request, &told) && told.on.start == 40 + SENT - 2 && strcmp(told.text, "a message") == 0);
    CHECK(uccs_stage_collect() == 0 && landings == 0); /* it looks at the first ones, and puts them behind the others */
    sent[SENT - 1]->done = sent[SENT - 1]->failed = 1;
    CHECK(uccs_stage_collect() == 1 && landings == 1 && uccs_request_pending(h) == 1 && h->error == 1);
    for (int i = 0; i < SENT; i++)
        sent[i]->done = 1;
    CHECK(uccs_stage_collect() == LOOKS && uccs_stage_collect() == SENT - 1 - LOOKS && uccs_stage_collect() == 0);
    CHECK(landings == SENT && uccs_request_done(&h) && h->error == 1 && !uccs_stage_tell(request, &told));
    int vain = 1;
    CHECK(!uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain));
    struct uccs_block *two = uccs_stage_get(UCCS_ROOM_PROGRAM, 8); /* a sender collects before it takes new memory */
    uccs_request_free(&h);
    uccs_stage_put(two);
}

/* When the room is full, idle blocks of another size make room. */
static void full_room(void)
{
    struct uccs_block *all[4096];
    int count = 0, vain = 0;
    while (count < 4096 && (all[count] = uccs_stage_get(UCCS_ROOM_PROGRAM, UCCS_MEDIUM_MAX)))
        count++;
    CHECK(count > 4 && count < 4096 && !uccs_stage_get(UCCS_ROOM_PROGRAM, 8));
    CHECK(uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain));
    all[0]->done = 1;
    uccs_stage_sent(all[0]);
    CHECK(uccs_stage_get(UCCS_ROOM_PROGRAM, UCCS_MEDIUM_MAX) == all[0]); /* one that has come back */
    for (int i = 0; i < count; i++)
        uccs_stage_put(all[i]);
    struct uccs_block *large = uccs_stage_get(UCCS_ROOM_PROGRAM, (size_t)(count - 1) * UCCS_MEDIUM_MAX);
    CHECK(large != NULL);
    uccs_stage_put(large);
    vain = 1;
    CHECK(!uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain));
    struct uccs_block *left = uccs_stage_get(UCCS_ROOM_PROGRAM, 8);
    uccs_stage_sent(left);
    uccs_stage_close(); /* the life ends: all is forgotten */
    left->done = 1;
    vain = 1;
    CHECK(uccs_stage_collect() == 0 && !uccs_stage_expected(UCCS_ROOM_PROGRAM, &vain));
    uccs_region_give(left);
}

#endif
