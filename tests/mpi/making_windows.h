/* The parts of making.c about the calls themselves: MPI_Win_create and its kin, shared memory, attached memory, MPI_Win_free. */
#ifndef MPI_TEST_MAKING_WINDOWS_H
#define MPI_TEST_MAKING_WINDOWS_H
#include "making_calls.h"

/* A window with targets and words of its own, as the program gets it. */
static struct lmpi_window *window_of(int flavor, MPI_Info info)
{
    struct lmpi_offer offer = {.unit = 4, .bytes = 64, .flavor = flavor};
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        OK(uccs_memory_dynamic(lmpi_life.context, &offer.memory));
        offer.made = true;
    } else {
        lmpi_offer_new(&offer, 64);
    }
    struct lmpi_window *window = lmpi_window_make(&offer, COMM(3), info);
    CHECK(window != 0);
    start_over();
    return window;
}

/* ---- the calls that make windows ---- */

enum { BY_MPI = 71 };
static int by_mpi;
static const char *const base_of_program = near_memory;

static int real_created(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    if (comm == lmpi_life.self)
        return shadow_created(base, size, unit, info, comm, win);
    CHECK(base == base_of_program && size == 40 && unit == 2 && info == MPI_INFO_NULL && comm == COMM(3) && win);
    by_mpi++;
    return BY_MPI;
}

static int real_allocated(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    if (comm == lmpi_life.self)
        return shadow_allocated(size, unit, info, comm, base, win);
    CHECK(size == 40 && unit == 2 && info == MPI_INFO_NULL && comm == COMM(3) && base && win);
    by_mpi++;
    return BY_MPI;
}

static int real_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    if (comm == lmpi_life.self)
        return shadow_dynamic(info, comm, win);
    CHECK(info == MPI_INFO_NULL && comm == COMM(3) && win);
    by_mpi++;
    return BY_MPI;
}

static MPI_Aint size_asked;
static int unit_asked;
static char *base_given;
static MPI_Win win_given;

static int call_create(void)
{
    return layer_Win_create((void *)base_of_program, size_asked, unit_asked, MPI_INFO_NULL, COMM(3), &win_given);
}

static int call_allocate(void)
{
    return layer_Win_allocate(size_asked, unit_asked, MPI_INFO_NULL, COMM(3), &base_given, &win_given);
}

static int call_shared(void)
{
    return layer_Win_allocate_shared(size_asked, unit_asked, MPI_INFO_NULL, COMM(3), &base_given, &win_given);
}

static int call_dynamic(void)
{
    return layer_Win_create_dynamic(MPI_INFO_NULL, COMM(3), &win_given);
}

static void ask(void)
{
    reset();
    by_mpi = 0;
    size_asked = 40;
    unit_asked = 2;
    lmpi_real.Win_create = real_created;
    lmpi_real.Win_allocate = lmpi_real.Win_allocate_shared = real_allocated;
    lmpi_real.Win_create_dynamic = real_dynamic;
    for (int i = 0; i < RANKS; i++) {
        control_of[i].map = unmapped_control;
        memory_of[i].map = near_memory;
    }
    base_given = 0;
}

/* A wrong argument is told; where this library cannot carry the window, or a rank cannot, the MPI does. */
static void check_call(int (*call)(void), bool has_size)
{
    ask();
    if (has_size) {
        size_asked = -1;
        CHECK_EQ(call(), MPI_ERR_SIZE);
        NEXT(COMM_HANDLER, 0, MPI_ERR_SIZE);
        size_asked = 40;
        unit_asked = 0;
        CHECK_EQ(call(), MPI_ERR_DISP);
        NEXT(COMM_HANDLER, 0, MPI_ERR_DISP);
        unit_asked = 2;
    }
    fake_inter = 1;
    CHECK_EQ(call(), MPI_ERR_COMM);
    fake_inter = 0;
    CHECK_EQ(by_mpi, 0);
    verbose = 1;
    fake_stranger = 2;
    CHECK_EQ(call(), BY_MPI);
    CHECK(strstr(said, "it holds processes of another MPI_COMM_WORLD") && by_mpi == 1);
    fake_stranger = -1;
    fake_all = 0;
    CHECK_EQ(call(), BY_MPI);
    CHECK(strstr(said, "another rank cannot") && by_mpi == 2);
    fake_all = -1;
    makes_left = 0;
    registers_fail = dynamic_fails = 1;
    CHECK_EQ(call(), BY_MPI);
    CHECK_EQ(by_mpi, 3);
    nothing_left();
    ask();
}

static struct lmpi_window *made_by(int (*call)(void), int flavor)
{
    win_given = MPI_WIN_NULL;
    OK(call());
    struct lmpi_window *window = lmpi_window(win_given);
    CHECK(window && window->handle == win_given && window->flavor == flavor && by_mpi == 0);
    start_over();
    return window;
}

static void freed(struct lmpi_window *window)
{
    const MPI_Win handle = window->handle;
    const int kind = window->kind;
    start_over();
    OK(layer_Win_free(&win_given));
    CHECK(win_given == MPI_WIN_NULL && lmpi_window(handle) == 0);
    NEXT(COMPLETED, -1, kind);
    NEXT(MET, ME, 0);
    NEXT(FREED_WIN, (int)(intptr_t)handle, 0);
    NEXT(ENDED_PENDING, 0, MPI_ERR_WIN);
    NEXT(UNWATCHED, 0, 0);
    NO_MORE();
    nothing_left();
}

static void calls_that_make(void)
{
    check_call(call_create, true);
    struct lmpi_window *window = made_by(call_create, MPI_WIN_FLAVOR_CREATE);
    CHECK(window->base == base_of_program && window->bytes == 40 && window->unit == 2 && window->hold &&
          window->own->registered);
    freed(window);
    size_asked = 0;
    window = made_by(call_create, MPI_WIN_FLAVOR_CREATE);
    CHECK(!window->own && !window->hold && window->bytes == 0);
    freed(window);
    parts = 3; /* it consists of parts: the offset is an address */
    size_asked = 40;
    window = made_by(call_create, MPI_WIN_FLAVOR_CREATE);
    CHECK(window->target[ME].offset == (size_t)base_of_program && attached == 3);
    freed(window);
    parts = 0;
    verbose = 1;
    CHECK_EQ(call_create(), BY_MPI);
    CHECK(strstr(said, "its memory cannot be registered") && by_mpi == 1);
    check_call(call_allocate, true);
    window = made_by(call_allocate, MPI_WIN_FLAVOR_ALLOCATE);
    CHECK(base_given && base_given == window->base && window->bytes == 40 && window->unit == 2 &&
          window->own->length == 40);
    freed(window);
    check_call(call_dynamic, false);
    window = made_by(call_dynamic, MPI_WIN_FLAVOR_DYNAMIC);
    CHECK(window->bytes == 0 && window->unit == 1 && window->target[ME].bytes == PTRDIFF_MAX &&
          window->own->length == 0);
    freed(window);
}

/* ---- shared memory ---- */

static void shared_calls(void)
{
    MPI_Info info;
    check_call(call_shared, true);
    others = no_memory_of_its_own;
    struct lmpi_window *window = made_by(call_shared, MPI_WIN_FLAVOR_SHARED);
    CHECK(base_given == near_memory + 64 && window->base == base_given && window->of_first && !window->own);
    freed(window);
    fake_rank_here = 0;
    struct lmpi_offer offer = {.bytes = 40, .unit = 2};
    RETURNS(offer_part(&offer, COMM(3)));
    CHECK(offer.of_first && offer.offset == 0 && offer.made && offer.memory->length == 3 * 64 + 40);
    RETURNS(lmpi_offer_drop(&offer));
    fake_rank_here = ME;
    OK(PMPI_Info_create(&info));
    CHECK(!wants_pieces(MPI_INFO_NULL) && !wants_pieces(info));
    const char *no[] = {"false", "1", "truely", "true or"};
    for (int i = 0; i < 4; i++) {
        OK(PMPI_Info_set(info, "alloc_shared_noncontig", no[i]));
        CHECK(!wants_pieces(info));
    }
    OK(PMPI_Info_set(info, "alloc_shared_noncontig", "true"));
    CHECK(wants_pieces(info));
    others = usual;
    OK(layer_Win_allocate_shared(40, 2, info, COMM(3), &base_given, &win_given));
    window = lmpi_window(win_given);
    CHECK(window && !window->of_first && window->own_is_made && base_given == window->own->map);
    OK(PMPI_Info_free(&info));
    freed(window);
}

static int real_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    CHECK(win == WIN(9) && rank == 2 && size && unit && base);
    return BY_MPI;
}

static void queries(const struct lmpi_window *window, int rank, const char *base, MPI_Aint bytes, int unit)
{
    MPI_Aint size = -1;
    int found = -1;
    const char *at = (const char *)&size;
    OK(layer_Win_shared_query(window->handle, rank, &size, &found, &at));
    CHECK(at == base && size == bytes && found == unit);
}

static void shared_queries(void)
{
    static char memory[3][8];
    struct lmpi_target targets[3] = {{.unit = 1, .near = memory[0]},
                                     {.unit = 2, .bytes = 8},
                                     {.unit = 3, .bytes = 8, .near = memory[2]}};
    struct lmpi_window window = {.handle = WIN(70), .target = targets, .ranks = 3, .flavor = MPI_WIN_FLAVOR_ALLOCATE};
    MPI_Aint size;
    int unit;
    char *at;
    reset();
    RETURNS(lmpi_window_add(&window));
    lmpi_real.Win_shared_query = real_query;
    CHECK_EQ(layer_Win_shared_query(WIN(9), 2, &size, &unit, &at), BY_MPI);
    queries(&window, 0, 0, 0, 1);
    queries(&window, 1, 0, 0, 2);
    queries(&window, 2, memory[2], 8, 3);
    queries(&window, MPI_PROC_NULL, memory[2], 8, 3);
    targets[0].bytes = 4;
    queries(&window, MPI_PROC_NULL, memory[0], 4, 1);
    targets[0].bytes = 0;
    targets[2].bytes = 0;
    queries(&window, MPI_PROC_NULL, 0, 0, 3);
    window.flavor = MPI_WIN_FLAVOR_SHARED;
    queries(&window, 0, 0, 0, 1);
    queries(&window, 1, 0, 8, 2);
    window.of_first = true;
    queries(&window, 0, memory[0], 0, 1);
    FAILS(layer_Win_shared_query(WIN(70), 3, &size, &unit, &at), MPI_ERR_RANK, WIN(70));
    FAILS(layer_Win_shared_query(WIN(70), -77, &size, &unit, &at), MPI_ERR_RANK, WIN(70));
    window.flavor = MPI_WIN_FLAVOR_DYNAMIC;
    FAILS(layer_Win_shared_query(WIN(70), 0, &size, &unit, &at), MPI_ERR_RMA_FLAVOR, WIN(70));
    RETURNS(lmpi_window_remove(&window));
}

/* ---- the end of a window ---- */

static int real_free_other(MPI_Win *win)
{
    CHECK(*win == WIN(9));
    return BY_MPI;
}

static void frees(void)
{
    MPI_Win other = WIN(9);
    MPI_Group group;
    ask();
    struct lmpi_window child = {0}, *window = made_by(call_allocate, MPI_WIN_FLAVOR_ALLOCATE);
    const MPI_Win handle = win_given;
    window->open = LMPI_OPEN_LOCK_ALL;
    FAILS(layer_Win_free(&win_given), MPI_ERR_RMA_SYNC, handle);
    window->open = LMPI_OPEN_FENCE;
    window->started = true;
    FAILS(layer_Win_free(&win_given), MPI_ERR_RMA_SYNC, handle);
    window->started = false;
    for (window->exposed = 0; window->exposed < 2; window->exposed++)
        FAILS(layer_Win_free(&win_given), MPI_ERR_RMA_SYNC, handle);
    window->exposed = -1;
    for (int i = 0; i < RANKS; i++) {
        window->target[i].open = LMPI_OPEN_SHARED;
        FAILS(layer_Win_free(&win_given), MPI_ERR_RMA_SYNC, handle);
        window->target[i].open = 0;
    }
    window->children = &child;
    FAILS(layer_Win_free(&win_given), MPI_ERR_RMA_CONFLICT, handle);
    NO_MORE();
    window->children = 0;
    free_status = MPI_ERR_OTHER; /* of a callback */
    CHECK_EQ(layer_Win_free(&win_given), MPI_ERR_OTHER);
    CHECK(lmpi_window(handle) == window);
    free_status = MPI_SUCCESS;
    OK(layer_Win_get_group(handle, &group));
    CHECK(group == GROUP(6) && groups == 1);
    freed(window);
    lmpi_real.Win_free = real_free_other;
    CHECK_EQ(layer_Win_free(&other), BY_MPI);
}

static int real_get_group(MPI_Win win, MPI_Group *group)
{
    CHECK(win == WIN(9) && group);
    return BY_MPI;
}

/* ---- MPI_Win_attach ---- */

static int real_attach(MPI_Win win, void *base, MPI_Aint size)
{
    CHECK(win == WIN(9) && base == near_memory && size == 12);
    return BY_MPI;
}

static int real_detach(MPI_Win win, const void *base)
{
    CHECK(win == WIN(9) && base == near_memory);
    return BY_MPI;
}

static void attaches(void)
{
    MPI_Group group;
    ask();
    lmpi_real.Win_attach = real_attach;
    lmpi_real.Win_detach = real_detach;
    lmpi_real.Win_get_group = real_get_group;
    CHECK_EQ(layer_Win_attach(WIN(9), near_memory, 12), BY_MPI);
    CHECK_EQ(layer_Win_detach(WIN(9), near_memory), BY_MPI);
    CHECK_EQ(layer_Win_get_group(WIN(9), &group), BY_MPI);
    struct lmpi_window *window = made_by(call_allocate, MPI_WIN_FLAVOR_ALLOCATE);
    FAILS(layer_Win_attach(win_given, near_memory, 12), MPI_ERR_RMA_FLAVOR, win_given);
    FAILS(layer_Win_detach(win_given, near_memory), MPI_ERR_RMA_FLAVOR, win_given);
    freed(window);
    window = made_by(call_dynamic, MPI_WIN_FLAVOR_DYNAMIC);
    FAILS(layer_Win_attach(win_given, near_memory, -1), MPI_ERR_SIZE, win_given);
    OK(layer_Win_attach(win_given, near_memory, 0));
    for (int i = 1; i < 4; i++)
        OK(layer_Win_attach(win_given, near_memory + 16 * i, 12));
    CHECK(holds == 4 && attached == 4 && attached_at[3] == near_memory + 48 && attached_bytes[3] == 12);
    FAILS(layer_Win_detach(win_given, near_memory + 1), MPI_ERR_RMA_ATTACH, win_given);
    const int order[] = {2, 3, 0};
    for (int i = 0; i < 3; i++) {
        OK(layer_Win_detach(win_given, near_memory + 16 * order[i]));
        NEXT(DETACHED, order[i], 0);
        CHECK_EQ(holds, 3 - i);
        FAILS(layer_Win_detach(win_given, near_memory + 16 * order[i]), MPI_ERR_RMA_ATTACH, win_given);
    }
    attaches_left = 0;
    FAILS(layer_Win_attach(win_given, near_memory, 12), MPI_ERR_RMA_ATTACH, win_given);
    parts = 0;
    FAILS(layer_Win_attach(win_given, near_memory, 12), MPI_ERR_RMA_ATTACH, win_given);
    CHECK_EQ(holds, 1);
    freed(window); /* takes along what is attached */
}

#endif
