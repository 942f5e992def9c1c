/* The beginning and the end of uccs.h in faces.c, step by step. */
#ifndef TESTS_TRUST_FACES_LIFE_H
#define TESTS_TRUST_FACES_LIFE_H

#include "faces_stub.h"

#include "uccs/face/init.c"

static int embed_status, begin_status;
static bool no_oob;
static int blocks_left; /* rounds in which blocks come back */
static struct uccs_am_lost lost_messages;

int test_embed(const struct uccs_environment *environment)
{
    note(environment ? "embed" : "embed-none");
    return embed_status;
}

int test_life_begin(void)
{
    CHECK(owned_held == 1);
    note("begin");
    return begin_status;
}

bool test_life_end(int seconds)
{
    CHECK(seconds == 0 && !uccs_running());
    note("life-end");
    return true;
}

bool test_oob_open(void)
{
    note("oob");
    return !no_oob;
}

void test_oob_close(void)
{
    note("oob-close");
}

void test_letter_close(void)
{
    note("letters");
}

void test_publish(struct uccs_context *context)
{
    CHECK(context == &inner && context->attr.id == OWN_INNER && uccs_ranks_find(UCCS_GROUP_WORLD, 2) == 2);
    note("publish");
}

void test_retire(struct uccs_context *context)
{
    CHECK(context == &inner && !uccs_running());
    note("retire");
}

void test_start(void)
{
    note("start");
}

void test_stop(void)
{
    note("stop");
}

void test_drain(void)
{
    note("drain");
}

struct uccs_am_lost test_drop(void)
{
    note("drop");
    return lost_messages;
}

int test_collect(void)
{
    note("collect");
    return blocks_left-- > 0;
}

void test_contexts_close(void)
{
    CHECK(uccs_running());
    note("contexts");
}

void test_finish_work(void)
{
    note("work");
}

/* --- */

static int put(void *self, const char *key, const void *value, size_t bytes)
{
    return self && key && value && bytes;
}

static int fence(void *self)
{
    return self != 0;
}

static int get(void *self, int rank, const char *key, void **value, size_t *bytes)
{
    return self && rank && key && value && bytes;
}

static void abort_all(void *self, int status)
{
    (void)self, (void)status;
}

/* Each of its parts must be there. */
static void test_environment(void)
{
    const struct uccs_environment good =
        {.size = sizeof good, .rank = 1, .ranks = 2, .put = put, .fence = fence, .get = get, .abort = abort_all};
    struct uccs_environment bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].size--, bad[1].rank = -1, bad[2].rank = 2, bad[3].put = 0, bad[4].fence = 0, bad[5].get = 0,
                   bad[6].abort = 0;
    bad[7].rank = 3;
    trace[0] = 0;
    for (int i = 0; i < 8; i++)
        CHECK(uccs_embed(&bad[i]) == UCCS_ERR_INVALID && traced(""));
    CHECK(uccs_embed(&good) == UCCS_OK && traced("embed") && uccs_embed(0) == UCCS_OK && traced("embed-none"));
    bad[0].size += 9; /* of a later version */
    bad[1].rank = 0;
    CHECK(uccs_embed(&bad[0]) == UCCS_OK && uccs_embed(&bad[1]) == UCCS_OK && traced("embed embed"));
    embed_status = -1;
    CHECK(uccs_embed(&good) == UCCS_ERR_STATE && traced("embed"));
}

static const char ending[] =
    "work far-quiet quiet meet drain far-quiet quiet meet drain far-quiet quiet meet drain drop "
    "far-quiet quiet meet collect work contexts stop retire oob-close letters life-end";

static void test_begin_and_end(void)
{
    uccs_users = 0;
    uccs_core.npes = 3; /* a member of a larger job */
    begin_status = -1;
    CHECK(uccs_init() == UCCS_ERR_NO_MEMORY && traced("begin") && uccs_users == 0 && !owned_held);
    CHECK(uccs_finalize() == UCCS_ERR_STATE && traced("") && !owned_held);
    begin_status = 0;
    CHECK(uccs_init() == UCCS_OK && traced("begin oob publish start") && uccs_users == 1 && !owned_held);
    CHECK(uccs_init() == UCCS_OK && traced("") && uccs_users == 2 && !owned_held);
    uccs_handlers_running = 1;
    CHECK(uccs_finalize() == UCCS_ERR_STATE && uccs_users == 2);
    uccs_handlers_running = 0;
    CHECK(uccs_finalize() == UCCS_OK && traced("") && uccs_users == 1 && !owned_held);
    logged[0] = 0;
    CHECK(uccs_finalize() == UCCS_OK && traced(ending) && uccs_users == 0 && !owned_held && !logged[0]);
    CHECK(uccs_finalize() == UCCS_ERR_STATE && traced(""));
}

/* A life that drops messages says so; another one begins anew. */
static void test_lost(void)
{
    lost_messages = (struct uccs_am_lost){.count = 7, .source = 2, .id = 9, .context = 4};
    CHECK(uccs_init() == UCCS_OK && traced("begin oob publish start"));
    blocks_left = 2;
    CHECK(uccs_finalize() == UCCS_ERR_FAILED && strstr(trace, "meet collect collect collect work contexts"));
    CHECK(strstr(logged, "drops 7 messages") && strstr(logged, "PE 2 for handler 9 of context 4"));
    trace[0] = 0;
    no_oob = true;
    OWNED_FAILS((void)uccs_init(), "uccs: no memory");
    no_oob = false;
}

static void test_inner_handlers(void)
{
    CHECK(inner.handlers[UCCS_INNER_LETTER].handler == uccs_letter_arrived &&
          inner.handlers[UCCS_INNER_PULL].handler == uccs_pull_arrived);
    CHECK(inner.handlers[UCCS_INNER_REMOTE].handler == uccs_remote_arrived &&
          inner.handlers[UCCS_INNER_OOB].handler == uccs_oob_arrived);
    CHECK(inner.handlers[UCCS_INNER_LOCK].handler == uccs_lock_left && !inner.handlers[UCCS_INNER_LOCK + 1].handler);
}

static void test_life(void)
{
    test_environment();
    test_begin_and_end();
    test_lost();
    test_inner_handlers();
}

#endif
