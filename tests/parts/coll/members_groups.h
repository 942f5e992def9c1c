/* Groups of members.c: who is in one, its number, and what collectives refuse. */
#ifndef TESTS_TRUST_MEMBERS_GROUPS_H
#define TESTS_TRUST_MEMBERS_GROUPS_H

#include "members_stub.h"

static void test_ranks(void)
{
    static int world_of[] = {4, 2, 9};
    struct uccs_group_impl some = {.rank = 1, .size = 2, .world = world_of};
    CHECK(uccs_group_rank(&some) == 1 && uccs_group_size(&some) == 2);
    CHECK(uccs_group_rank(UCCS_GROUP_NULL) == -1 && uccs_group_size(UCCS_GROUP_NULL) == -1);
    CHECK(uccs_group_world_rank(&some, 0) == 4 && uccs_group_world_rank(&some, 1) == 2);
    CHECK(uccs_group_world_rank(&some, -1) == -1 && uccs_group_world_rank(&some, 2) == -1);
    CHECK(uccs_group_world_rank(UCCS_GROUP_NULL, 0) == -1);
    CHECK(uccs_ranks_find(&some, 4) == 0 && uccs_ranks_find(&some, 2) == 1 && uccs_ranks_find(&some, 9) == -1);
    CHECK(uccs_ranks_find(&some, 1) == -1 && uccs_ranks_find(UCCS_GROUP_NULL, 0) == -1);
    uccs_core.npes = 3;
    uccs_core.me = 2;
    uccs_ranks_open();
    CHECK(uccs_group_rank(UCCS_GROUP_WORLD) == 2 && uccs_group_size(UCCS_GROUP_WORLD) == 3);
    CHECK(uccs_ranks_library()->rank == 2 && uccs_ranks_library()->size == 3);
    CHECK(uccs_ranks_library()->number != uccs_group_of(UCCS_GROUP_WORLD)->number);
    CHECK(uccs_group_world_rank(UCCS_GROUP_WORLD, 2) == 2 && uccs_ranks_find(UCCS_GROUP_WORLD, 2) == 2);
    uccs_core.npes = 1;
    uccs_core.me = 0;
    uccs_ranks_open();
}

/* Every member derives the same number, and no two children of a parent have the same. */
static void test_create(void)
{
    static int world_of[] = {4, 2, 9, 7};
    static const int ranks[] = {3, 0, 1};
    uint64_t numbers[4][3];
    for (int rank = 0; rank < 4; rank++) {
        struct uccs_group_impl parent = {.number = 5, .rank = rank, .size = 4, .world = world_of};
        uccs_core.me = world_of[rank];
        for (int child = 0; child < 3; child++) {
            uccs_group_t made = UCCS_GROUP_WORLD;
            parent.children = child == 2 ? UINT64_C(1) << 32 : (uint64_t)child;
            CHECK(uccs_group_create(&parent, 3, ranks, &made) == UCCS_OK);
            CHECK((made == UCCS_GROUP_NULL) == (rank == 2));
            if (rank == 2)
                continue;
            CHECK(made->rank == (rank == 3 ? 0 : rank + 1) && made->size == 3 && made->users == 1 &&
                  made->sequence == 0);
            CHECK(made->world[0] == 7 && made->world[1] == 4 && made->world[2] == 2);
            numbers[rank][child] = made->number;
            CHECK(numbers[rank][child] == numbers[0][child] && made->number != 5);
            CHECK(uccs_group_release(made) == UCCS_OK);
        }
    }
    CHECK(numbers[0][0] != numbers[0][1] && numbers[0][0] != numbers[0][2]);
    uccs_core.me = 0;
    uccs_group_t first = UCCS_GROUP_NULL;
    uccs_group_of(UCCS_GROUP_WORLD)->children = 0;
    CHECK(uccs_group_create(UCCS_GROUP_WORLD, 1, &ranks[1], &first) == UCCS_OK && first->rank == 0);
    CHECK(first->number != uccs_group_of(UCCS_GROUP_WORLD)->number && uccs_group_release(first) == UCCS_OK);
    CHECK(owned_count == 0);
}

static void test_create_refused(void)
{
    static const int twice[] = {1, 0, 1}, below[] = {0, -1}, above[] = {0, 4}, good[] = {3, 0};
    struct uccs_group_impl parent = {.number = 5, .size = 4};
    uccs_group_t made;
    CHECK(uccs_group_create(&parent, 3, twice, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(&parent, 2, below, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(&parent, 2, above, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(&parent, 0, good, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(&parent, 2, 0, &made) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(&parent, 2, good, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_group_create(UCCS_GROUP_NULL, 2, good, &made) == UCCS_ERR_INVALID);
    uccs_users = 0;
    CHECK(uccs_group_create(&parent, 2, good, &made) == UCCS_ERR_STATE);
    uccs_users = 1;
    CHECK(parent.children == 0); /* what is refused takes no number */
    owned_left = 0;
    CHECK(uccs_group_create(&parent, 2, good, &made) == UCCS_ERR_INVALID);
    owned_left = 1;
    CHECK(uccs_group_create(&parent, 2, good, &made) == UCCS_ERR_NO_MEMORY);
    CHECK(uccs_group_release(UCCS_GROUP_NULL) == UCCS_ERR_INVALID &&
          uccs_group_release(UCCS_GROUP_WORLD) == UCCS_ERR_INVALID);
    CHECK(owned_count == 0);
}

/* A group goes with its last user, and the world never. */
static void test_users(void)
{
    static const int good[] = {0};
    struct uccs_group_impl parent = {.size = 1};
    uccs_group_t made;
    CHECK(uccs_group_create(&parent, 1, good, &made) == UCCS_OK);
    uccs_ranks_hold(made);
    CHECK(uccs_group_release(made) == UCCS_OK && owned_count == 1 && made->users == 1);
    uccs_ranks_drop(made);
    CHECK(owned_count == 0);
    uccs_ranks_hold(&world);
    uccs_ranks_drop(&world);
    uccs_ranks_drop(&world);
    world.users = 0;
}

static void test_groups(void)
{
    test_ranks();
    test_create();
    test_create_refused();
    test_users();
}

/* --- What collectives refuse */

static void refuse(int status, uccs_group_t group, uccs_request_t *request)
{
    int64_t a = 0, b = 0;
    CHECK(uccs_barrier_nb(group, request) == status);
    CHECK(uccs_broadcast_nb(group, &a, 8, 0, request) == status);
    CHECK(uccs_allgather_nb(group, &a, &b, 8, request) == status);
    CHECK(uccs_allreduce_nb(group, &a, &b, 1, UCCS_INT64, UCCS_SUM, request) == status);
    CHECK(uccs_alltoall_nb(group, &a, &b, 8, request) == status);
}

static void refuse_blocking(int status, uccs_group_t group)
{
    int64_t a = 0, b = 0;
    CHECK(uccs_barrier(group) == status && uccs_broadcast(group, &a, 8, 0) == status);
    CHECK(uccs_allgather(group, &a, &b, 8) == status && uccs_alltoall(group, &a, &b, 8) == status);
    CHECK(uccs_allreduce(group, &a, &b, 1, UCCS_INT64, UCCS_SUM) == status);
}

static void test_arguments(uccs_group_t group)
{
    int64_t a = 0, b = 0;
    CHECK(uccs_broadcast(group, &a, 8, -1) == UCCS_ERR_INVALID && uccs_broadcast(group, &a, 8, 1) == UCCS_ERR_INVALID);
    CHECK(uccs_broadcast(group, 0, 8, 0) == UCCS_ERR_INVALID && uccs_broadcast(group, 0, 0, 0) == UCCS_OK);
    CHECK(uccs_allgather(group, 0, &b, 8) == UCCS_ERR_INVALID && uccs_allgather(group, &a, 0, 8) == UCCS_ERR_INVALID);
    CHECK(uccs_allgather(group, 0, 0, 0) == UCCS_OK && uccs_allgather(group, &a, &a, 8) == UCCS_OK);
    CHECK(uccs_alltoall(group, 0, &b, 8) == UCCS_ERR_INVALID && uccs_alltoall(group, &a, 0, 8) == UCCS_ERR_INVALID);
    CHECK(uccs_alltoall(group, &a, &a, 8) == UCCS_ERR_INVALID && uccs_alltoall(group, &a, &a, 0) == UCCS_OK);
    CHECK(uccs_allreduce(group, 0, &b, 1, UCCS_INT64, UCCS_SUM) == UCCS_ERR_INVALID);
    CHECK(uccs_allreduce(group, &a, 0, 1, UCCS_INT64, UCCS_SUM) == UCCS_ERR_INVALID);
    CHECK(uccs_allreduce(group, 0, 0, 0, UCCS_INT64, UCCS_SUM) == UCCS_OK);
    CHECK(uccs_allreduce(group, 0, 0, 0, UCCS_FLOAT, UCCS_AND) == UCCS_ERR_INVALID);
    CHECK(uccs_allreduce(group, 0, 0, 0, UCCS_INT64, UCCS_REPLACE) == UCCS_ERR_INVALID);
    CHECK(uccs_allreduce(group, &a, &b, SIZE_MAX / 8 + 1, UCCS_INT64, UCCS_SUM) == UCCS_ERR_INVALID);
    a = 6, b = 0;
    CHECK(uccs_allreduce(group, &a, &b, 1, UCCS_INT64, UCCS_SUM) == UCCS_OK && b == 6);
    a = 7;
    CHECK(uccs_allgather(group, &a, &b, 8) == UCCS_OK && b == 7);
    a = 8;
    CHECK(uccs_alltoall(group, &a, &b, 8) == UCCS_OK && b == 8);
}

static void test_refused(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(1, 0, 0);
    refuse(UCCS_ERR_INVALID, UCCS_GROUP_NULL, &request);
    refuse(UCCS_ERR_INVALID, &groups[0], 0);
    refuse_blocking(UCCS_ERR_INVALID, UCCS_GROUP_NULL);
    uccs_users = 0;
    refuse(UCCS_ERR_STATE, &groups[0], &request);
    refuse_blocking(UCCS_ERR_STATE, &groups[0]);
    uccs_users = 1;
    uccs_handlers_running = 1;
    refuse(UCCS_ERR_STATE, &groups[0], &request);
    refuse_blocking(UCCS_ERR_STATE, &groups[0]);
    uccs_handlers_running = 0;
    CHECK(groups[0].sequence == 0 && !works[0]);
    for (int left = 0; left < 2; left++) { /* neither the schedule nor its request */
        owned_left = left;
        CHECK(uccs_barrier_nb(&groups[0], &request) == UCCS_ERR_NO_MEMORY);
    }
    CHECK(owned_count == 0 && !works[0] && groups[0].users == 1);
    test_arguments(&groups[0]);
}

#endif
