/* The parts of making.c about duplicates, and the hints and attributes of a window. */
#ifndef MPI_TEST_MAKING_FAMILY_H
#define MPI_TEST_MAKING_FAMILY_H
#include "making_windows.h"

static void is_hint(MPI_Info info, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    OK(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found));
    CHECK_EQ(found, expected != 0);
    CHECK(!expected || strcmp(value, expected) == 0);
}

static MPI_Info hint(const char *key, const char *value, const char *other, const char *another)
{
    MPI_Info info;
    OK(PMPI_Info_create(&info));
    OK(PMPI_Info_set(info, key, value));
    if (other)
        OK(PMPI_Info_set(info, other, another));
    return info;
}

/* ---- hints of a window ---- */

static int real_info(MPI_Win win, MPI_Info *info)
{
    CHECK(win == WIN(9) && info);
    return BY_MPI;
}

static int real_set_info(MPI_Win win, MPI_Info info)
{
    CHECK(win == WIN(9) && info == MPI_INFO_NULL);
    return BY_MPI;
}

static const char *const held[][2] = {{"accumulate_ordering", "rar,raw,war,waw"},
                                      {"accumulate_ops", "same_op_no_op"},
                                      {"mpi_accumulate_granularity", "0"},
                                      {"mpi_assert_accumulate_intrinsic", "false"},
                                      {"same_size", "false"},
                                      {"same_disp_unit", "false"},
                                      {"alloc_shared_noncontig", "false"}};

static void hints_are(MPI_Win win, const char *no_locks, bool thread, bool ordered, const char *mine)
{
    MPI_Info info = MPI_INFO_NULL;
    OK(layer_Win_get_info(win, &info));
    for (int i = 0; i < 7; i++)
        is_hint(info, held[i][0], held[i][1]);
    is_hint(info, "no_locks", no_locks);
    is_hint(info, "mpi_win_scope", thread ? "thread" : "process");
    is_hint(info, "mpi_win_scope_thread", thread ? "true" : "false");
    is_hint(info, "mpi_win_order", ordered ? "true" : "false");
    is_hint(info, "mpi_win_ordered", ordered ? "true" : "false");
    is_hint(info, "mpi_win_notify_ids", "1024");
    is_hint(info, "mine", mine);
    OK(PMPI_Info_free(&info));
}

static void window_hints(void)
{
    MPI_Info info;
    reset();
    lmpi_life.checked = true;
    lmpi_real.Win_get_info = real_info;
    lmpi_real.Win_set_info = real_set_info;
    CHECK_EQ(layer_Win_get_info(WIN(9), &info), BY_MPI);
    CHECK_EQ(layer_Win_set_info(WIN(9), MPI_INFO_NULL), BY_MPI);
    struct lmpi_window *window = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    win_given = window->handle;
    hints_are(win_given, "false", false, false, 0);
    FAILS(layer_Win_set_info(win_given, MPI_INFO_NULL), MPI_ERR_INFO, win_given);
    info = hint("no_locks", "true", "mine", "1");
    OK(layer_Win_set_info(win_given, info));
    OK(PMPI_Info_free(&info));
    hints_are(win_given, "true", false, false, "1");
    info = hint("mpi_win_scope", "thread", "mpi_assert_accumulate_intrinsic", "true");
    OK(layer_Win_set_info(win_given, info));
    OK(PMPI_Info_free(&info));
    NEXT(COMPLETED, -1, 0);
    CHECK(window->kind == LMPI_THREAD && window->promised && window->op == &thread_op);
    info = hint("mpi_win_ordered", "true", "mpi_assert_accumulate_intrinsic", "false");
    OK(layer_Win_set_info(win_given, info));
    OK(PMPI_Info_free(&info));
    CHECK(window->kind == (LMPI_THREAD | LMPI_ORDERED) && !window->promised);
    hints_are(win_given, "true", true, true, "1");
    freed(window);
}

/* A window changes its kind where all ranks that it needs are reached so. */
static void kinds(void)
{
    reset();
    struct lmpi_window *window = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    win_given = window->handle;
    RETURNS(lmpi_window_be(window, 0));
    NO_MORE();
    for (int i = 0; i < RANKS; i++) {
        endpoint_missing = WORLD + i;
        RETURNS(lmpi_window_be(window, LMPI_ORDERED));
        CHECK(window->kind == 0 && window->target[FAR].endpoint == &endpoints[0][WORLD + FAR]);
    }
    NO_MORE();
    endpoint_missing = -1;
    RETURNS(lmpi_window_be(window, LMPI_ORDERED));
    NEXT(COMPLETED, -1, 0);
    CHECK(window->kind == LMPI_ORDERED && window->op == 0);
    for (int i = 0; i < RANKS; i++)
        CHECK(window->target[i].endpoint == &endpoints[LMPI_ORDERED][WORLD + i]);
    window->watch = (struct lmpi_watch *)&watch_op;
    window->op = &watch_op;
    RETURNS(lmpi_window_be(window, LMPI_THREAD));
    CHECK(window->op == &watch_op && window->kind == LMPI_THREAD);
    window->watch = 0;
    window->of_first = true;
    RETURNS(lmpi_window_be(window, LMPI_ORDERED));
    for (int i = 0; i < RANKS; i++)
        CHECK(window->target[i].endpoint == &endpoints[LMPI_ORDERED][WORLD]);
    window->of_first = false;
    window->target[FAR].local = true; /* nothing leaves: endpoints stay as they are */
    endpoint_missing = WORLD;
    RETURNS(lmpi_window_be(window, LMPI_THREAD));
    CHECK(window->kind == LMPI_THREAD && window->op == 0 &&
          window->target[FAR].endpoint == &endpoints[LMPI_ORDERED][WORLD]);
    window->target[FAR].local = false;
    freed(window);
}

/* ---- duplicates ---- */

static struct lmpi_window *duplicate(struct lmpi_window *of, MPI_Info info)
{
    MPI_Win handle = MPI_WIN_NULL;
    OK(MPIX_Win_dup_with_info(of->handle, info, &handle));
    struct lmpi_window *made = lmpi_window(handle);
    CHECK(made && made != of && made->handle == handle && handle != of->handle);
    return made;
}

static void check_child(const struct lmpi_window *child, const struct lmpi_window *first,
                        const struct lmpi_window *parent)
{
    CHECK(child->parent == first && child->family && first->family && !child->part && !child->children &&
          !child->marked);
    CHECK(!child->own && !child->counted && !child->started && child->exposed == -1);
    CHECK(child->start_ranks.group == MPI_GROUP_NULL && !child->start_ranks.rank &&
          child->post_ranks.group == MPI_GROUP_NULL);
    CHECK(child->ranks == RANKS && child->rank == ME && child->peer == first->peer && child->base == parent->base);
    CHECK(child->flavor == parent->flavor && child->open == first->open && child->promised == parent->promised);
    CHECK(child->targets && child->room >= RANKS && (uintptr_t)child->targets % 64 == 0);
    CHECK(handler_set_at == child->handle && handler_set == fake_handler);
}

static void duplicates(void)
{
    MPI_Win handle = MPI_WIN_NULL;
    reset();
    CHECK_EQ(MPIX_Win_dup_with_info(WIN(9), MPI_INFO_NULL, &handle), MPI_ERR_WIN);
    MPI_Info info = hint("mine", "first", "other", "2"), over = hint("mine", "second", "mpi_win_scope", "thread");
    struct lmpi_window *first = window_of(MPI_WIN_FLAVOR_ALLOCATE, info);
    first->target[FAR].far_ops = LMPI_FAR_SOME;
    first->open = LMPI_OPEN_FENCE;
    first->started = true;
    first->promised = true;
    first->exposed = 3;
    first->start_ranks.rank = malloc(4);
    first->target[2].open = LMPI_OPEN_SHARED;
    handlers_freed = 0;
    struct lmpi_window *child = duplicate(first, over);
    check_child(child, first, first);
    CHECK_EQ(handlers_freed, 1);
    CHECK(first->kinds == 1u << 0 && child->kind == LMPI_THREAD && child->op == &thread_op);
    CHECK(child->target == child->targets && child->target[2].open == LMPI_OPEN_SHARED);
    for (int i = 0; i < RANKS; i++)
        CHECK(child->target[i].endpoint == &endpoints[LMPI_THREAD][WORLD + i] &&
              child->target[i].bytes == first->target[i].bytes);
    is_hint(child->info, "mine", "second");
    is_hint(child->info, "other", "2");
    is_hint(child->info, "mpi_win_scope", "thread");
    is_hint(first->info, "mine", "first");
    struct lmpi_window *grandchild = duplicate(child, MPI_INFO_NULL);
    check_child(grandchild, first, child);
    CHECK(first->children == grandchild && grandchild->sibling == child && !child->sibling);
    CHECK(grandchild->kind == LMPI_THREAD);
    is_hint(grandchild->info, "mine", "second");
    child->part = true;
    start_over();
    FAILS(MPIX_Win_dup_with_info(child->handle, MPI_INFO_NULL, &handle), MPI_ERR_RMA_FLAVOR, child->handle);
    child->part = false;
    first->open = LMPI_OPEN_LOCK_ALL; /* what is open spreads */
    first->target[FAR].open = LMPI_OPEN_LATE;
    RETURNS(lmpi_spread(first, ME));
    CHECK(child->open == LMPI_OPEN_LOCK_ALL && child->target[FAR].open == 0);
    RETURNS(lmpi_spread(first, FAR));
    CHECK(child->target[FAR].open == LMPI_OPEN_LATE && grandchild->target[FAR].open == LMPI_OPEN_LATE);
    first->target[0].open = LMPI_OPEN_SHARED;
    first->target[FAR].open = 0;
    RETURNS(lmpi_spread(first, 0));
    CHECK(child->target[0].open == LMPI_OPEN_SHARED && child->target[FAR].open == LMPI_OPEN_LATE);
    first->target[0].open = LMPI_OPEN_EXCLUSIVE;
    RETURNS(lmpi_spread(first, ME));
    CHECK(child->target[0].open == LMPI_OPEN_SHARED && child->target[FAR].open == LMPI_OPEN_LATE);
    first->target[0].open = LMPI_OPEN_SHARED;
    RETURNS(lmpi_spread(first, -1));
    CHECK(child->target[FAR].open == 0);
    CHECK(child->target[0].open == LMPI_OPEN_SHARED && grandchild->target[0].open == LMPI_OPEN_SHARED);
    first->open = first->target[0].open = first->target[2].open = first->target[FAR].open = 0;
    first->started = false;
    first->exposed = -1;
    win_given = child->handle;
    start_over();
    OK(layer_Win_free(&win_given));
    NEXT(COMPLETED, -1, LMPI_THREAD);
    NO_MORE(); /* its handle is kept for a later one */
    CHECK(win_given == MPI_WIN_NULL && first->children == grandchild && !grandchild->sibling);
    win_given = grandchild->handle;
    OK(layer_Win_free(&win_given));
    CHECK(!first->children && spares == 2);
    OK(PMPI_Info_free(&info));
    OK(PMPI_Info_free(&over));
    win_given = first->handle;
    freed(first);
    RETURNS(lmpi_spare_end());
    NEXT(FREED_WIN, 100 + shadows, 0);
    NEXT(FREED_WIN, 100 + shadows - 1, 0);
    CHECK(spares == 0 && !spare);
    NO_MORE();
}

/* Without another node a duplicate shares its parent's targets. Children are kept, but not those that the program has marked. */
static void kept_children(void)
{
    struct lmpi_window *children[SPARE + 2];
    reset();
    struct lmpi_window *first = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    for (int i = 0; i < RANKS; i++)
        CHECK(first->target[i].far_ops == 0);
    struct lmpi_window *apart = duplicate(first, MPI_INFO_NULL);
    CHECK(apart->target == apart->targets && first->kinds == 0 && apart->info == MPI_INFO_NULL);
    win_given = apart->handle;
    OK(layer_Win_free(&win_given));
    first->target[FAR].memory->length = 8;
    const uccs_memory_t far = first->target[FAR].memory;
    first->target[FAR].memory = 0; /* it has none */
    for (int i = 0; i < SPARE + 2; i++) {
        children[i] = duplicate(first, MPI_INFO_NULL);
        CHECK(children[i]->target == first->target);
    }
    CHECK(children[0] == apart && spares == 0);
    for (int i = 0; i < RANKS; i++)
        CHECK(apart->targets[i].bytes == 0 && !apart->targets[i].memory); /* as new */
    children[5]->marked = true;
    win_given = children[5]->handle;
    start_over();
    free_status = MPI_ERR_OTHER;
    CHECK_EQ(layer_Win_free(&win_given), MPI_ERR_OTHER);
    CHECK(lmpi_window(children[5]->handle) == children[5]);
    free_status = MPI_SUCCESS;
    start_over();
    const int handle = (int)(intptr_t)win_given;
    OK(layer_Win_free(&win_given));
    NEXT(COMPLETED, -1, 0);
    NEXT(FREED_WIN, handle, 0);
    NO_MORE();
    CHECK_EQ(spares, 0);
    for (int i = 0; i < SPARE + 2; i++) {
        if (i == 5)
            continue;
        win_given = children[i]->handle;
        const int number = (int)(intptr_t)win_given;
        OK(layer_Win_free(&win_given));
        NEXT(COMPLETED, -1, 0);
        if (i == SPARE + 1)
            NEXT(FREED_WIN, number, 0);
        NO_MORE();
        CHECK(win_given == MPI_WIN_NULL && lmpi_window(WIN(number)) == 0);
    }
    CHECK_EQ(spares, SPARE);
    first->target[FAR].memory = far;
    win_given = first->handle;
    freed(first);
    RETURNS(lmpi_spare_end());
    for (int i = 0; i < SPARE; i++)
        CHECK_EQ(events[i].what, FREED_WIN);
    CHECK(happened == SPARE && spares == 0);
    happened = 0;
}

/* Each rank of another node that has memory makes a duplicate have targets of its own. */
static void own_targets(void)
{
    reset();
    struct lmpi_window *first = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    for (int i = 0; i < RANKS; i++) {
        for (int k = 0; k < RANKS; k++)
            first->target[k].local = k != i, first->target[k].far_ops = k == i;
        first->family = false; /* what is under way is of the window's kind */
        first->kinds = 0;
        struct lmpi_window *child = duplicate(first, MPI_INFO_NULL);
        CHECK(child->target == child->targets && child->target[i].memory == first->target[i].memory);
        CHECK(first->kinds == 1 && first->family);
        win_given = child->handle;
        OK(layer_Win_free(&win_given));
    }
    win_given = first->handle;
    freed(first);
    RETURNS(lmpi_spare_end());
    start_over();
}

/* Without memory or a handle there is no child. */
static void no_children(void)
{
    MPI_Win handle = WIN(1);
    reset();
    struct lmpi_window *first = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    shadow_fails = 15;
    FAILS(MPIX_Win_dup_with_info(first->handle, MPI_INFO_NULL, &handle), MPI_ERR_NO_MEM, first->handle);
    CHECK(handle == WIN(1) && !first->children && !first->family);
    shadow_fails = 0;
    win_given = first->handle;
    freed(first);
    start_over();
}

/* ---- attributes ---- */

static int real_get_attr(MPI_Win win, int key, void *value, int *flag)
{
    CHECK((win == WIN(9) || key == 12345) && value && flag);
    return BY_MPI;
}

static int real_set_attr(MPI_Win win, int key, void *value)
{
    CHECK(win != MPI_WIN_NULL && key == 12345 && value == near_memory);
    return BY_MPI + 1;
}

static int real_set_name(MPI_Win win, const char *name)
{
    CHECK(win != MPI_WIN_NULL && strcmp(name, "a name") == 0);
    return BY_MPI + 2;
}

static const void *attribute(MPI_Win win, int key)
{
    void *value = 0;
    int flag = 0;
    OK(layer_Win_get_attr(win, key, &value, &flag));
    CHECK_EQ(flag, 1);
    return value;
}

static void attributes(void)
{
    void *value;
    int flag;
    reset();
    lmpi_real.Win_get_attr = real_get_attr;
    lmpi_real.Win_set_attr = real_set_attr;
    lmpi_real.Win_set_name = real_set_name;
    CHECK_EQ(layer_Win_get_attr(WIN(9), MPI_WIN_BASE, &value, &flag), BY_MPI);
    CHECK_EQ(layer_Win_set_attr(WIN(9), 12345, near_memory), BY_MPI + 1);
    CHECK_EQ(layer_Win_set_name(WIN(9), "a name"), BY_MPI + 2);
    struct lmpi_window *window = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    win_given = window->handle;
    CHECK(attribute(win_given, MPI_WIN_BASE) == window->base);
    CHECK_EQ(*(const MPI_Aint *)attribute(win_given, MPI_WIN_SIZE), 64);
    CHECK_EQ(*(const int *)attribute(win_given, MPI_WIN_DISP_UNIT), 4);
    CHECK_EQ(*(const int *)attribute(win_given, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_ALLOCATE);
    CHECK_EQ(*(const int *)attribute(win_given, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    CHECK_EQ(layer_Win_get_attr(win_given, 12345, &value, &flag), BY_MPI);
    CHECK(!window->marked);
    CHECK_EQ(layer_Win_set_attr(win_given, 12345, near_memory), BY_MPI + 1);
    CHECK(window->marked);
    window->marked = false;
    CHECK_EQ(layer_Win_set_name(win_given, "a name"), BY_MPI + 2);
    CHECK(window->marked);
    freed(window);
}

#endif
