/* Contexts whose ids a group agrees on: two libraries in one process, with threads, groups that overlap, an id that is
 * used again.
 * pes: 1 2 4
 */
#include "check.h"

enum { HELLO = 3, MESSAGES = 40, LIBRARIES = 2 };

struct library {
    uccs_context_t world;
    uccs_group_t group;
    long heard, wrong;
    int tag;
};

static struct library libraries[LIBRARIES];

static void hello(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    struct library *library = argument;
    int tag;
    CHECK_EQ(length, sizeof tag);
    memcpy(&tag, payload, sizeof tag);
    if (tag != library->tag || uccs_am_context(token) != library->world)
        __atomic_fetch_add(&library->wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&library->heard, 1, __ATOMIC_RELEASE);
}

/* A library on a thread of its own: the same handler id, another world. */
static void *use_library(void *id)
{
    struct library *library = &libraries[(long)id];
    uccs_endpoint_t to;
    int n = uccs_group_size(library->group), rank = uccs_group_rank(library->group);
    library->tag = 100 + (int)(long)id;
    OK(uccs_context_create_in(library->group, 0, &library->world));
    OK(uccs_am_register(library->world, HELLO, UCCS_AM_USER, hello, library));
    OK(uccs_endpoint_create(library->world, library->group, (rank + 1) % n, &to));
    for (int i = 0; i < MESSAGES; i++)
        OK(uccs_send(to, HELLO, UCCS_AM_USER, &library->tag, sizeof library->tag, 0));
    while (__atomic_load_n(&library->heard, __ATOMIC_ACQUIRE) < MESSAGES)
        uccs_progress();
    OK(uccs_flush(library->world));
    return 0;
}

static void test_libraries(void)
{
    int *ranks = malloc((size_t)npes * sizeof *ranks);
    for (int i = 0; i < npes; i++)
        ranks[i] = npes - 1 - i;
    for (int i = 0; i < LIBRARIES; i++)
        OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)npes, ranks, &libraries[i].group));
    check_threads(LIBRARIES, use_library);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK(libraries[0].world != libraries[1].world);
    for (int i = 0; i < LIBRARIES; i++) {
        CHECK_EQ(libraries[i].heard, MESSAGES);
        CHECK_EQ(libraries[i].wrong, 0);
        OK(uccs_group_release(libraries[i].group)); /* the world keeps what it needs */
        OK(uccs_context_destroy(libraries[i].world));
    }
    free(ranks);
}

/* Overlapping groups, each with a world; endpoints lead to members alone. */
static void test_groups(void)
{
    uccs_context_t pair = 0, all;
    uccs_endpoint_t to;
    uccs_group_t two;
    const int ranks[] = {0, 1};
    OK(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &all));
    OK(uccs_endpoint_create(all, UCCS_GROUP_WORLD, npes - 1, &to));
    OK(uccs_group_create(UCCS_GROUP_WORLD, npes > 1 ? 2 : 1, ranks, &two));
    if (two) {
        OK(uccs_context_create_in(two, &(struct uccs_context_attr){.id = 99, .ordered = 1}, &pair));
        OK(uccs_endpoint_create(pair, UCCS_GROUP_WORLD, 0, &to));
        if (npes > 2)
            CHECK_EQ(uccs_endpoint_create(pair, UCCS_GROUP_WORLD, 2, &to), UCCS_ERR_INVALID);
        OK(uccs_context_destroy(pair));
        OK(uccs_group_release(two));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(all));
}

/* All ids are in use, in the whole world at the same time; then there is one again. */
static void test_all(void)
{
    uccs_context_t made[UCCS_CONTEXTS], more;
    for (int i = 0; i < UCCS_CONTEXTS; i++)
        if (i == 0 && me == 0)
            OK(uccs_context_create(0, &made[i])); /* explicit, at one process alone */
        else
            OK(i == 0 ? UCCS_OK : uccs_context_create_in(UCCS_GROUP_WORLD, 0, &made[i]));
    CHECK_EQ(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &more), UCCS_ERR_NO_MEMORY);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(made[5]));
    OK(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &made[5]));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = me == 0 ? 0 : 1; i < UCCS_CONTEXTS; i++)
        OK(uccs_context_destroy(made[i]));
}

int main(void)
{
    uccs_context_t unused;
    CHECK_EQ(uccs_context_create_in(UCCS_GROUP_WORLD, 0, &unused), UCCS_ERR_STATE);
    check_start();
    CHECK_EQ(uccs_context_create_in(UCCS_GROUP_NULL, 0, &unused), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_context_create_in(UCCS_GROUP_WORLD, 0, 0), UCCS_ERR_INVALID);
    test_libraries();
    test_groups();
    test_all();
    return check_pass();
}
