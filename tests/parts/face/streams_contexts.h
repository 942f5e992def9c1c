/* Contexts of streams.c: their ids, alone and agreed on, their ends, and what is told of resources. */
#ifndef TESTS_TRUST_STREAMS_CONTEXTS_H
#define TESTS_TRUST_STREAMS_CONTEXTS_H

#include "streams_stub.h"

#define ALL_IDS (UINT64_MAX >> (64 - UCCS_CONTEXTS))

static void test_refused_contexts(void)
{
    uccs_context_t made;
    const struct uccs_context_attr bad[] = {{.id = UCCS_CONTEXTS},
                                            {.scope = (enum uccs_scope)2},
                                            {.threads = (enum uccs_thread_mode)2},
                                            {.id = UINT32_MAX}};
    for (int i = 0; i < 4; i++)
        CHECK(uccs_context_create(&bad[i], &made) == UCCS_ERR_INVALID);
    CHECK(uccs_context_create(0, 0) == UCCS_ERR_INVALID);
    uccs_users = 0;
    CHECK(uccs_context_create(0, &made) == UCCS_ERR_STATE);
    uccs_users = 1;
    owned_left = 0;
    CHECK(uccs_context_create(0, &made) == UCCS_ERR_NO_MEMORY && uccs_context_ids() == ALL_IDS && published == 0);
}

static void test_contexts(void)
{
    const struct uccs_context_attr attr = {.id = UCCS_CONTEXTS - 1,
                                           .scope = UCCS_SCOPE_THREAD,
                                           .ordered = 1,
                                           .threads = UCCS_THREAD_SINGLE};
    uccs_context_t first, last, again;
    test_refused_contexts();
    CHECK(uccs_context_create(0, &first) == UCCS_OK && first->attr.id == 0 && first->stream.world == first &&
          published == 1);
    CHECK(uccs_context_ids() == (ALL_IDS & ~UINT64_C(1)) && !owned_held);
    CHECK(uccs_context_create(0, &again) == UCCS_ERR_INVALID && owned_count == 1 && published == 1); /* it is taken */
    CHECK(uccs_context_create(&attr, &last) == UCCS_OK && last->stream.attr.scope == UCCS_SCOPE_THREAD);
    CHECK(last->stream.attr.ordered == 1 && last->stream.attr.threads == UCCS_THREAD_SINGLE && !last->group);
    CHECK(uccs_context_ids() == (ALL_IDS >> 1 & ~UINT64_C(1)));
    uccs_handlers_running = 1;
    CHECK(uccs_context_destroy(first) == UCCS_ERR_STATE);
    uccs_handlers_running = 0;
    CHECK(uccs_context_destroy(0) == UCCS_ERR_INVALID &&
          uccs_context_destroy((uccs_context_t)&attr) == UCCS_ERR_INVALID);
    CHECK(retired == 0 && progresses == 0);
    CHECK(uccs_context_destroy(last) == UCCS_OK && retired == 1 && settled_scope == UCCS_SCOPE_PROCESS);
    CHECK(progresses == 3 && uccs_context_ids() == (ALL_IDS & ~UINT64_C(1)) &&
          !owned_held); /* until no message comes */
    CHECK(uccs_context_destroy(first) == UCCS_OK && uccs_context_ids() == ALL_IDS);
    CHECK(uccs_context_create(0, &first) == UCCS_OK && uccs_context_create(&attr, &last) == UCCS_OK);
    retired = 0;
    uccs_contexts_close(); /* those that the program has left */
    CHECK(retired == 2 && uccs_context_ids() == ALL_IDS && owned_count == 0);
    clear();
}

static void test_resources(uccs_context_t context)
{
    struct uccs_resource list[5];
    for (uccs_far_on = 0; uccs_far_on < 2; uccs_far_on++)
        for (size_t room = 0; room < 5; room++) {
            const size_t have = 2 + uccs_far_on;
            size_t count = room;
            memset(list, 0, sizeof list);
            CHECK(uccs_resource_query(context, room ? list : 0, &count) == UCCS_OK && count == have);
            for (size_t i = 0; i < 5; i++)
                CHECK((list[i].transport[0] != 0) == (i < room && i < have));
            CHECK(room < 3 || !uccs_far_on || strcmp(list[2].transport, "ucx") == 0);
        }
    uccs_far_on = 0;
    size_t one = 1;
    CHECK(uccs_resource_query(0, list, &one) == UCCS_ERR_INVALID &&
          uccs_resource_query(context, 0, &one) == UCCS_ERR_INVALID);
    CHECK(uccs_resource_query(context, list, 0) == UCCS_ERR_INVALID);
    CHECK(strcmp(uccs_status_text(UCCS_OK), "complete") == 0 && strcmp(uccs_status_text(-99), "unknown status") == 0);
}

/* --- Ids that a group agrees on */

/* The id that is chosen of these, when the search begins there. */
static void test_choice(void)
{
    for (uint32_t start = 0; start < UCCS_CONTEXTS; start++) {
        CHECK(choose(ALL_IDS, start) == start && choose(ALL_IDS, start + UCCS_CONTEXTS) == start);
        CHECK(choose(UINT64_C(1) << 40, start) == 40 && choose(1, start) == 0);
        CHECK(choose(ALL_IDS & ~(UINT64_C(1) << start), start) == (start ? start - 1 : UCCS_CONTEXTS - 1));
    }
}

static void test_agreement(struct uccs_group_impl *group)
{
    const struct uccs_context_attr attr = {.id = 9999, .ordered = 1};
    uccs_context_t made, other;
    said[0] = ALL_IDS & ~(UINT64_C(3) << 61); /* elsewhere the two highest are taken */
    CHECK(uccs_context_create_in(group, &attr, &made) == UCCS_OK && asked == 2);
    CHECK(heard[0] == ALL_IDS && heard[1] == 1 && made->attr.id == 60 && made->attr.ordered == 1 &&
          made->group == group);
    CHECK(group->users == 2 && published == 1 && uccs_context_ids() == (ALL_IDS & ~(UINT64_C(1) << 60)));
    uccs_endpoint_t end;
    CHECK(uccs_endpoint_create(made, UCCS_GROUP_WORLD, 5, &end) == UCCS_OK); /* a member, and one that is none */
    CHECK(uccs_endpoint_create(made, UCCS_GROUP_WORLD, 6, &end) == UCCS_ERR_INVALID);
    test_resources(made);
    CHECK(uccs_context_create_in(group, 0, &other) == UCCS_OK && other->attr.id == 62 && !other->attr.ordered);
    CHECK(uccs_context_destroy(made) == UCCS_OK && uccs_context_destroy(other) == UCCS_OK && group->users == 1);
    clear();
}

/* Another thread was faster somewhere: all leave the id, and begin again at another. */
static void test_rounds(struct uccs_group_impl *group)
{
    uccs_context_t made;
    said[1] = said[3] = 0;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_OK && asked == 6);
    CHECK(heard[0] == ALL_IDS && heard[2] == ALL_IDS && heard[4] == ALL_IDS); /* each one was left */
    const uint64_t start = UCCS_CONTEXTS - 1 + UCCS_CONTEXTS * (group->number & 0xff) + 2 * (group->number | 1);
    CHECK(made->attr.id == start % UCCS_CONTEXTS);
    CHECK(uccs_context_destroy(made) == UCCS_OK);
    clear();
    for (int i = 0; i < 200; i++)
        said[i] = i % 2 ? 0 : UINT64_MAX;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_NO_MEMORY && asked == 2 * ROUNDS);
    CHECK(uccs_context_ids() == ALL_IDS && group->users == 1);
    clear();
}

static void test_no_agreement(struct uccs_group_impl *group)
{
    uccs_context_t made;
    said[0] = 0;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_NO_MEMORY && asked == 1);
    clear();
    owned_left = 0;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_NO_MEMORY && asked == 1 && heard[0] == 0);
    for (int i = 0; i < 2; i++) {
        clear();
        said_status[i] = UCCS_ERR_UNREACHABLE;
        CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_UNREACHABLE && asked == i + 1);
        CHECK(uccs_context_ids() == ALL_IDS && published == 0);
    }
    clear();
    const struct uccs_context_attr bad = {.scope = (enum uccs_scope)2};
    CHECK(uccs_context_create_in(UCCS_GROUP_NULL, 0, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_context_create_in(group, 0, 0) == UCCS_ERR_INVALID &&
          uccs_context_create_in(group, &bad, &made) == UCCS_ERR_INVALID);
    uccs_handlers_running = 1;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_STATE);
    uccs_handlers_running = uccs_users = 0;
    CHECK(uccs_context_create_in(group, 0, &made) == UCCS_ERR_STATE && asked == 0);
    uccs_users = 1;
    clear();
}

static void test_agreed(void)
{
    static const int members[] = {0, 5};
    struct uccs_group_impl group = {.number = 0x1234567, .users = 1, .size = 2, .world = members};
    test_choice();
    test_agreement(&group);
    test_rounds(&group);
    test_no_agreement(&group);
    CHECK(group.users == 1);
}

#endif
