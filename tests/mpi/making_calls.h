/* The parts of making.c about MPI's calls that make and free windows, who carries a window, hints, and attached memory. */
#ifndef MPI_TEST_MAKING_CALLS_H
#define MPI_TEST_MAKING_CALLS_H
#include "making_stub.h"

/* What an error handler is told. */
#define FAILS(call, class, handle)                            \
    do {                                                      \
        CHECK_EQ(call, class);                                \
        NEXT(HANDLER, (int)(intptr_t)(handle), (int)(class)); \
    } while (0)

/* ---- who carries a window ---- */

static void refused(void)
{
    reset();
    CHECK(lmpi_window_refused(COMM(3)) == 0);
    CHECK(strcmp(lmpi_window_refused(MPI_COMM_NULL), LMPI_NO_WINDOW) == 0);
    for (fake_stranger = 0; fake_stranger < RANKS; fake_stranger++)
        CHECK(strcmp(lmpi_window_refused(COMM(3)), "it holds processes of another MPI_COMM_WORLD") == 0);
    fake_stranger = -1;
    fake_inter = 1;
    CHECK(strcmp(lmpi_window_refused(COMM(3)), LMPI_NO_WINDOW) == 0);
    fake_inter = 0;
    fake_inter_status = MPI_ERR_COMM;
    CHECK(strcmp(lmpi_window_refused(COMM(3)), LMPI_NO_WINDOW) == 0);
    lmpi_life.running = false;
    lmpi_life.why_not = "of the test";
    CHECK(strcmp(lmpi_window_refused(COMM(3)), "of the test") == 0);
    nothing_left();
}

static void wrong_arguments(void)
{
    reset();
    OK(lmpi_window_wrong(0, 1, COMM(3)));
    OK(lmpi_window_wrong(-1, 0, MPI_COMM_NULL)); /* the MPI's to find */
    NO_MORE();
    CHECK_EQ(lmpi_window_wrong(-1, 1, COMM(3)), MPI_ERR_SIZE);
    NEXT(COMM_HANDLER, 0, MPI_ERR_SIZE);
    CHECK_EQ(lmpi_window_wrong(0, 0, COMM(3)), MPI_ERR_DISP);
    NEXT(COMM_HANDLER, 0, MPI_ERR_DISP);
    CHECK_EQ(lmpi_window_wrong(8, -1, COMM(3)), MPI_ERR_DISP);
    NEXT(COMM_HANDLER, 0, MPI_ERR_DISP);
    fake_inter = 1;
    CHECK_EQ(lmpi_window_wrong(-1, 0, COMM(3)), MPI_ERR_COMM);
    NEXT(COMM_HANDLER, 0, MPI_ERR_COMM);
    fake_inter_status = MPI_ERR_COMM;
    OK(lmpi_window_wrong(-1, 0, COMM(3)));
    fake_inter_status = fake_inter = 0;
    lmpi_life.running = false;
    OK(lmpi_window_wrong(-1, 0, COMM(3)));
    NO_MORE();
}

static void tells(const struct lmpi_window *window, int flavor, const char *why, const char *expected)
{
    *said = 0;
    RETURNS(lmpi_window_tell(window, flavor, why));
    CHECK(strcmp(said, expected) == 0);
}

static void told_lines(void)
{
    static char memory[8];
    struct lmpi_target targets[3] = {{.near = memory, .local = 1},
                                     {.near = memory, .local = 1},
                                     {.near = memory, .local = 1}};
    struct lmpi_window window = {.target = targets, .ranks = 3, .number = 6, .bytes = 40};
    reset();
    tells(&window, MPI_WIN_FLAVOR_CREATE, 0, "");
    tells(0, MPI_WIN_FLAVOR_CREATE, "a reason", "");
    verbose = 1;
    tells(0, MPI_WIN_FLAVOR_CREATE, "a reason", "a window (created) is carried by the test's MPI: a reason");
    tells(0, MPI_WIN_FLAVOR_ALLOCATE, "b", "a window (allocated) is carried by the test's MPI: b");
    tells(0, MPI_WIN_FLAVOR_SHARED, "c", "a window (shared) is carried by the test's MPI: c");
    tells(0, MPI_WIN_FLAVOR_DYNAMIC, "d", "a window (dynamic) is carried by the test's MPI: d");
    tells(0, MPI_WIN_FLAVOR_DYNAMIC, LMPI_NO_WINDOW, "");
    tells(&window, MPI_WIN_FLAVOR_CREATE, 0,
          "window 6 (created, 40 bytes here) is carried by Lateral: 3 of 3 ranks by load and store");
    targets[1].near = 0;
    tells(
        &window, MPI_WIN_FLAVOR_SHARED, 0,
        "window 6 (shared, 40 bytes here) is carried by Lateral: 2 of 3 ranks by load and store, others by copies of the kernel");
    targets[1].local = 0;
    tells(
        &window, MPI_WIN_FLAVOR_ALLOCATE, 0,
        "window 6 (allocated, 40 bytes here) is carried by Lateral: 2 of 3 ranks by load and store, others by messages");
    targets[0].near = 0;
    targets[0].ranged = 1;
    tells(
        &window, MPI_WIN_FLAVOR_DYNAMIC, 0,
        "window 6 (dynamic) is carried by Lateral: 2 of 3 ranks by load and store where the node maps their memory, others by messages");
    window.rank = 1; /* rank 0 tells */
    tells(&window, MPI_WIN_FLAVOR_DYNAMIC, 0, "");
}

/* ---- hints ---- */

static unsigned kind_of(const char *key, const char *value, unsigned before)
{
    MPI_Info info;
    OK(PMPI_Info_create(&info));
    OK(PMPI_Info_set(info, key, value));
    const unsigned kind = lmpi_info_kind(info, before);
    OK(PMPI_Info_free(&info));
    return kind;
}

static int ids_of(const char *value)
{
    MPI_Info info;
    OK(PMPI_Info_create(&info));
    OK(PMPI_Info_set(info, "mpi_win_notify_ids", value));
    const int ids = lmpi_info_ids(info);
    OK(PMPI_Info_free(&info));
    return ids;
}

static bool promises_of(const char *key, const char *value, bool before)
{
    MPI_Info info;
    OK(PMPI_Info_create(&info));
    OK(PMPI_Info_set(info, key, value));
    const bool promised = lmpi_info_promises(info, before);
    OK(PMPI_Info_free(&info));
    return promised;
}

static void hints(void)
{
    const char *intrinsic_key = "mpi_assert_accumulate_intrinsic";
    MPI_Info both;
    reset();
    for (unsigned before = 0; before < 4; before++) {
        CHECK_EQ(lmpi_info_kind(MPI_INFO_NULL, before), before);
        CHECK_EQ(kind_of("mpi_win_scope", "thread", before), before | LMPI_THREAD);
        CHECK_EQ(kind_of("mpi_win_scope", "process", before), before & ~(unsigned)LMPI_THREAD);
        CHECK_EQ(kind_of("mpi_win_scope_thread", "true", before), before | LMPI_THREAD);
        CHECK_EQ(kind_of("mpi_win_scope_thread", "false", before), before & ~(unsigned)LMPI_THREAD);
        CHECK_EQ(kind_of("mpi_win_order", "true", before), before | LMPI_ORDERED);
        CHECK_EQ(kind_of("mpi_win_order", "false", before), before & ~(unsigned)LMPI_ORDERED);
        CHECK_EQ(kind_of("mpi_win_ordered", "true", before), before | LMPI_ORDERED);
        CHECK_EQ(kind_of("mpi_win_ordered", "false", before), before & ~(unsigned)LMPI_ORDERED);
        CHECK_EQ(kind_of("mpi_win_ordered", "thread", before), before);
        CHECK_EQ(kind_of("mpi_win_scope", "true", before), before);
    }
    OK(PMPI_Info_create(&both));
    OK(PMPI_Info_set(both, "mpi_win_scope", "process"));
    OK(PMPI_Info_set(both, "mpi_win_scope_thread", "true"));
    OK(PMPI_Info_set(both, "mpi_win_order", "neither"));
    OK(PMPI_Info_set(both, "mpi_win_ordered", "true"));
    CHECK_EQ(lmpi_info_kind(both, 0), LMPI_ORDERED); /* the paper's name wins where it says a value */
    CHECK_EQ(lmpi_info_ids(both), 1024);
    OK(PMPI_Info_free(&both));
    CHECK_EQ(lmpi_info_ids(MPI_INFO_NULL), 1024);
    CHECK(ids_of("0") == 0 && ids_of("1") == 1 && ids_of("2147483647") == INT_MAX);
    CHECK(ids_of("-1") == 1024 && ids_of("2147483648") == 1024 && ids_of("4294967297") == 1024 &&
          ids_of("7x") == 1024 && ids_of("x") == 1024);
    for (int checked = 0; checked < 2; checked++)
        for (int before = 0; before < 2; before++) {
            lmpi_life.checked = checked;
            CHECK_EQ(lmpi_info_promises(MPI_INFO_NULL, before), before);
            CHECK_EQ(promises_of(intrinsic_key, "true", before), checked ? true : before);
            CHECK_EQ(promises_of(intrinsic_key, "false", before), checked ? false : before);
            CHECK_EQ(promises_of("another", "true", before), before);
        }
    nothing_left();
}

/* ---- handles of the program ---- */

/* The MPI makes a handle in one way or another; the way that has worked comes first. */
static void shadow_handles(void)
{
    MPI_Win handle = MPI_WIN_NULL;
    const struct {
        int fails, way;
    } rows[] = {{0, 0}, {1, 1}, {0, 1},  {2, 2},  {0, 2},  {4, 3}, {0, 3},
                {8, 0}, {7, 3}, {14, 0}, {13, 1}, {11, 2}, {0, 2}, {14, 0}};
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shadow_fails = rows[i].fails;
        CHECK(lmpi_shadow_make(&handle) && handle == WIN(100 + shadows));
        CHECK_EQ(shadow_ways, rows[i].way);
    }
    shadow_fails = 15;
    CHECK(!lmpi_shadow_make(&handle) && !*said);
    verbose = 1;
    CHECK(!lmpi_shadow_make(&handle));
    CHECK(strcmp(said, "the test's MPI makes no window on one process; is a setting such as osc in the way?") == 0);
}

/* Windows are found by their handles, of two with one handle the last. A thread looks again when one comes or goes. */
static void found_by_handle(void)
{
    enum { MANY = 200 };
    static struct lmpi_window windows[MANY];
    struct lmpi_window again = {.handle = WIN(1000 + 16 * 7)};
    for (int i = 0; i < MANY; i++) {
        windows[i].handle = WIN(1000 + 16 * i);
        CHECK(lmpi_window(windows[i].handle) == 0);
        const uint64_t age = lmpi_windows_age;
        RETURNS(lmpi_window_add(&windows[i]));
        CHECK_EQ(lmpi_windows_age, age + 1);
        CHECK(lmpi_window_kept(windows[i].handle) == 0 && lmpi_window(windows[i].handle) == &windows[i]);
        CHECK(lmpi_window_kept(windows[i].handle) == &windows[i]);
    }
    for (int i = 0; i < MANY; i++)
        CHECK(lmpi_window(windows[i].handle) == &windows[i]);
    RETURNS(lmpi_window_add(&again));
    CHECK(lmpi_window(again.handle) == &again);
    RETURNS(lmpi_window_remove(&windows[7]));
    CHECK(lmpi_window(again.handle) == &again);
    RETURNS(lmpi_window_remove(&again));
    for (int i = 0; i < MANY; i++) {
        CHECK(lmpi_window(windows[i].handle) == (i == 7 ? 0 : &windows[i]));
        const uint64_t age = lmpi_windows_age;
        if (i != 7)
            RETURNS(lmpi_window_remove(&windows[i]));
        CHECK_EQ(lmpi_windows_age, age + (i != 7));
        CHECK(lmpi_window(windows[i].handle) == 0);
    }
    const uint64_t before = lmpi_windows_age;
    lmpi_windows_age = (uint64_t)1 << 32; /* an age is not taken for another one of as many bits */
    lmpi_window_slow(WIN(1000));
    windows[0].handle = WIN(1000);
    lmpi_windows_age = (uint64_t)2 << 32;
    CHECK(!lmpi_window_is_kept(WIN(1000)));
    lmpi_window_slow(WIN(1000));
    CHECK(lmpi_last_windows.age == (uint64_t)2 << 32 && lmpi_window_is_kept(WIN(1000)));
    lmpi_windows_age = before;
}

/* ---- errors ---- */

static void errors(void)
{
    const struct lmpi_window window = {.handle = WIN(55)};
    const struct {
        int status, class;
    } rows[] = {{UCCS_OK, MPI_SUCCESS},
                {UCCS_ERR_BOUNDS, MPI_ERR_RMA_RANGE},
                {UCCS_ERR_FAILED, MPI_ERR_RMA_RANGE},
                {UCCS_ERR_NO_MEMORY, MPI_ERR_NO_MEM},
                {UCCS_ERR_INVALID, MPI_ERR_OP},
                {UCCS_ERR_STALE, MPI_ERR_RMA_ATTACH},
                {UCCS_ERR_UNREACHABLE, MPI_ERR_OTHER},
                {UCCS_ERR_STATE, MPI_ERR_OTHER}};
    reset();
    handlers_freed = 0;
    FAILS(lmpi_error(&window, MPI_ERR_OP), MPI_ERR_OP, WIN(55));
    CHECK(!lmpi_life.aborting && handlers_freed == 1);
    fake_handler = MPI_ERRORS_ARE_FATAL;
    FAILS(lmpi_error(&window, MPI_ERR_ARG), MPI_ERR_ARG, WIN(55));
    CHECK(lmpi_life.aborting && handlers_freed == 2);
    fake_handler = MPI_ERRORS_RETURN;
    FAILS(lmpi_error(&window, MPI_ERR_ARG), MPI_ERR_ARG, WIN(55));
    CHECK(lmpi_life.aborting);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(lmpi_class_of(rows[i].status), rows[i].class);
    CHECK(!*said);
    lmpi_life.checked = true;
    CHECK(lmpi_class_of(UCCS_ERR_BOUNDS) == MPI_ERR_RMA_RANGE && !*said);
    CHECK_EQ(lmpi_class_of(UCCS_ERR_STALE), MPI_ERR_RMA_ATTACH);
    CHECK(strcmp(said, "LATERAL_CHECK: an operation uses memory that its owner has released") == 0);
}

/* ---- memory that is attached or registered ---- */

static void holds_attached(void)
{
    static char memory[200];
    uccs_memory_t dynamic, found;
    size_t offset = 5;
    reset();
    OK(uccs_memory_dynamic(lmpi_life.context, &dynamic));
    uccs_memory_t held = held_memory = object(near_memory, 256, WORLD + ME, &memory_of[ME]);
    parts = 4;
    struct lmpi_hold *hold = lmpi_memory_hold(memory, 100);
    CHECK_EQ(lmpi_hold_attach(hold, dynamic), UCCS_OK);
    CHECK_EQ(attached, 4);
    for (int i = 0; i < 4; i++) {
        CHECK(attached_at[i] == memory + 16 * i && attached_bytes[i] == (i < 3 ? 16 : 52));
        CHECK(attached_held[i] == (i % 2 ? held : 0) && attached_offset[i] == (i % 2 ? 32 : 77));
    }
    RETURNS(lmpi_hold_detach(hold, dynamic));
    for (int i = 0; i < 4; i++)
        NEXT(DETACHED, i, 0);
    for (int bad = 0; bad < 4; bad++) { /* what has been attached goes again */
        attached = 0;
        attaches_left = bad;
        CHECK_EQ(lmpi_hold_attach(hold, dynamic), UCCS_ERR_INVALID);
        for (int i = bad; i--;)
            NEXT(DETACHED, i, 0);
        NO_MORE();
    }
    attached = 0;
    attaches_left = -1;
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_OK);
    CHECK(attached == 4 && offset == (size_t)memory && found->length == 0);
    uccs_memory_release(found);
    attached = 0;
    attaches_left = 2;
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_ERR_INVALID);
    dynamic_fails = 1;
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_ERR_NO_MEMORY);
    hold->n = 1;
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_OK);
    CHECK(found->registered == memory && found->length == 16 && offset == 0);
    uccs_memory_release(found);
    hold->part[0] = hold->part[1];
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_OK);
    CHECK(found->registered == near_memory + 32 && found->length == 16); /* where the node maps it */
    uccs_memory_release(found);
    registers_fail = 1;
    CHECK_EQ(lmpi_hold_object(hold, &found, &offset), UCCS_ERR_NO_MEMORY);
    RETURNS(lmpi_memory_let_go(hold));
    uccs_memory_release(held);
    uccs_memory_release(dynamic);
    nothing_left();
}

#endif
