/* The parts of making.c about memory handles. */
#ifndef MPI_TEST_MAKING_HANDLES_H
#define MPI_TEST_MAKING_HANDLES_H
#include "making_family.h"

static unsigned char given[MPIX_MAX_MEMHANDLE_SIZE + 1];
static int given_bytes;

/* SipHash-2-4: its authors' first vectors are of keys and messages whose bytes are 0, 1, 2 and so on. */
static void hashes(void)
{
    const struct lmpi_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
    const uint64_t words[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110};
    CHECK(lmpi_hash(&key, words, 0) == 0x726fdb47dd0e0e31);
    CHECK(lmpi_hash(&key, words, 1) == 0x93f5f5799a932462);
    CHECK(lmpi_hash(&key, words, 2) == 0x3f2acc7f57c29bdb);
    CHECK(lmpi_hash(&key, words, 3) == 0xb8ad50c6f649af94);
}

static void create_handle(struct lmpi_window *window)
{
    given_bytes = 0;
    memset(given, 0xee, sizeof given);
    OK(MPIX_Memhandle_create(near_memory + 8, 100, MPI_INFO_NULL, window->handle, given + 1, &given_bytes));
    CHECK_EQ(given_bytes, offsetof(struct handle, memory) + 16);
    CHECK(given[given_bytes + 1] == 0xee && given[0] == 0xee);
}

static void handle_words(const struct lmpi_window *window)
{
    struct handle made = {0};
    memcpy(&made, given + 1, (size_t)given_bytes);
    CHECK(made.bytes == 100 && made.base == (uintptr_t)near_memory + 8 && made.owner == ME && made.length == 16 &&
          made.offset == 0);
    CHECK_EQ(made.hash, hash_of(window, &made));
    for (int i = 8; i < given_bytes; i++) { /* each byte counts */
        struct handle other = made;
        ((unsigned char *)&other)[i] ^= 1;
        if (other.length == 16)
            CHECK(hash_of(window, &other) != made.hash);
    }
}

static int window_from(struct lmpi_window *window, MPI_Aint size, int unit, int target)
{
    win_given = MPI_WIN_NULL;
    return MPIX_Win_from_memhandle(given + 1, size, unit, MPI_INFO_NULL, target, window->handle, &win_given);
}

static void create_fails(struct lmpi_window *window)
{
    const MPI_Win handle = window->handle;
    CHECK_EQ(MPIX_Memhandle_create(near_memory, 8, MPI_INFO_NULL, WIN(9), given, &given_bytes), MPI_ERR_WIN);
    FAILS(MPIX_Memhandle_create(near_memory, 0, MPI_INFO_NULL, handle, given, &given_bytes), MPI_ERR_SIZE, handle);
    FAILS(MPIX_Memhandle_create(near_memory, -1, MPI_INFO_NULL, handle, given, &given_bytes), MPI_ERR_SIZE, handle);
    const int before = objects;
    for (int i = 0; i < 3; i++) {
        parts = i != 0;
        registers_fail = i == 1;
        exports_left = i == 2 ? 0 : -1;
        FAILS(MPIX_Memhandle_create(near_memory, 8, MPI_INFO_NULL, handle, given, &given_bytes), MPI_ERR_RMA_ATTACH,
              handle);
        CHECK(holds == 0 && objects == before && !exposed_list);
    }
    exports_left = -1;
    registers_fail = 0;
    parts = 1;
}

/* What another window or rank has made, or has been altered, is refused. */
static void handles_refused(struct lmpi_window *window)
{
    const MPI_Win handle = window->handle;
    CHECK_EQ(MPIX_Win_from_memhandle(given + 1, 8, 1, MPI_INFO_NULL, ME, WIN(9), &win_given), MPI_ERR_WIN);
    FAILS(window_from(window, 8, 1, NEAR), MPI_ERR_RANK, handle);
    FAILS(window_from(window, 8, 1, -1), MPI_ERR_RANK, handle);
    FAILS(window_from(window, 101, 1, ME), MPI_ERR_SIZE, handle);
    FAILS(window_from(window, -1, 1, ME), MPI_ERR_SIZE, handle);
    FAILS(window_from(window, 8, 0, ME), MPI_ERR_DISP, handle);
    FAILS(window_from(window, 8, -1, ME), MPI_ERR_DISP, handle);
    for (int i = 1; i <= given_bytes; i++) {
        given[i] ^= 0x40;
        FAILS(window_from(window, 8, 1, ME), MPI_ERR_ARG, handle);
        FAILS(MPIX_Memhandle_release(given + 1, handle), MPI_ERR_ARG, handle);
        given[i] ^= 0x40;
    }
    for (int i = 0; i < 2; i++) {
        window->key.word[i]++;
        FAILS(window_from(window, 8, 1, ME), MPI_ERR_ARG, handle);
        window->key.word[i]--;
    }
    imports_left = 0;
    import_status = UCCS_ERR_STALE;
    FAILS(window_from(window, 8, 1, ME), MPI_ERR_RMA_ATTACH, handle);
    imports_left = 0;
    import_status = UCCS_ERR_FORGED;
    FAILS(window_from(window, 8, 1, ME), MPI_ERR_ARG, handle);
    CHECK(!window->children && window->peer[ME].control->handles[1] == 0);
    NO_MORE();
}

static void window_of_handle(struct lmpi_window *window, bool checked)
{
    lmpi_life.checked = checked;
    window->open = LMPI_OPEN_FENCE;
    window->target[ME].open = LMPI_OPEN_SHARED;
    OK(window_from(window, 100, 70003, ME));
    struct lmpi_window *made = lmpi_window(win_given);
    CHECK(made && made->part && made->family && window->family && made->parent == window && window->children == made);
    CHECK(made->rank == ME && made->flavor == MPIX_WIN_FLAVOR_MEMHANDLE && made->unit == 70003 && made->bytes == 100);
    CHECK(made->open == 0 && made->op == 0 && made->base == near_memory + 8);
    const struct lmpi_target *target = &made->target[ME];
    CHECK(target->near == (checked ? 0 : near_memory + 8) && target->direct == !checked && !target->ranged &&
          target->local);
    CHECK(target->bytes == 100 && target->unit == 70003 && target->offset == 0 && target->base == near_memory + 8);
    CHECK(target->endpoint == &endpoints[0][WORLD + ME] && target->memory);
    CHECK_EQ(target->open, LMPI_OPEN_SHARED | LMPI_OPEN_FENCE);
    window->open = LMPI_OPEN_LOCK_ALL;
    window->target[ME].open = 0;
    RETURNS(lmpi_spread(window, NEAR));
    CHECK(target->open == LMPI_OPEN_LOCK_ALL && made->open == 0);
    window->open = 0;
    CHECK_EQ(MPIX_Memhandle_create(near_memory, 8, MPI_INFO_NULL, win_given, given, &given_bytes), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Memhandle_release(given + 1, win_given), MPI_ERR_WIN);
    CHECK_EQ(window_from(made, 8, 1, ME), MPI_ERR_WIN);
    win_given = made->handle;
    CHECK(made->counted == &window->peer[ME].control->handles[((struct exposed *)exposed_list)->number % LMPI_HANDLES]);
    CHECK_EQ(*made->counted, 1);
}

/* The bytes of a released handle stay while a rank of the node has a window of them. */
static void releases(struct lmpi_window *window)
{
    const uint64_t *count = lmpi_window(win_given)->counted;
    const int before = objects;
    OK(MPIX_Memhandle_release(given + 1, window->handle));
    CHECK(objects == before - 1 && holds == 1 && !exposed_list && released);
    FAILS(MPIX_Memhandle_release(given + 1, window->handle), MPI_ERR_ARG, window->handle);
    OK(layer_Win_free(&win_given));
    CHECK(*count == 0 && objects == before - 2 && holds == 1);
    create_handle(window);
    CHECK(holds == 2 && released);
    OK(MPIX_Memhandle_release(given + 1, window->handle)); /* which looks for older ones, too */
    CHECK(holds == 0 && !released && !exposed_list && objects == before - 2);
}

/* A handle of another rank: of this node, or of another. */
static void foreign_handle(struct lmpi_window *window, int rank, int kind)
{
    struct handle made = {.bytes = 256, .base = 4096, .number = 67, .owner = (uint32_t)rank, .length = 16};
    const uccs_memory_t memory = &memory_of[rank];
    const int before = objects;
    memory_of[rank].length = 256;
    memcpy(made.memory, &memory, sizeof memory);
    made.hash = hash_of(window, &made);
    memcpy(given + 1, &made, sizeof made);
    MPI_Info info = hint("mpi_win_scope", kind & LMPI_THREAD ? "thread" : "process", 0, 0);
    OK(MPIX_Win_from_memhandle(given + 1, 0, 1, info, rank, window->handle, &win_given));
    OK(PMPI_Info_free(&info));
    const struct lmpi_window *child = lmpi_window(win_given);
    CHECK(child->rank == rank && child->kind == kind && child->target[rank].local == (rank != FAR));
    CHECK(child->op == (rank == FAR && kind & LMPI_THREAD ? &thread_op : 0));
    CHECK(child->target[rank].endpoint == &endpoints[kind][WORLD + rank] &&
          child->target[rank].near == memory_of[rank].map);
    CHECK(child->target[rank].direct == (memory_of[rank].map != 0) && child->bytes == 0);
    CHECK(rank == FAR ? !child->counted : child->counted == &window->peer[rank].control->handles[3]);
    FAILS(MPIX_Memhandle_release(given + 1, window->handle), MPI_ERR_ARG, window->handle); /* not ours to release */
    OK(layer_Win_free(&win_given));
    CHECK_EQ(objects, before);
    CHECK(spare && !spare->targets[rank].bytes && !spare->targets[rank].memory && !spare->targets[rank].open);
    start_over();
    const struct { /* what the substrate says of the memory is not what the handle says */
        size_t bytes, offset;
        int owner;
    } bad[] = {{255, 0, rank}, {257, 0, rank}, {256, 8, rank}, {256, 0, rank ? 0 : 2}};
    for (int i = 0; i < 4; i++) {
        made.bytes = bad[i].bytes;
        made.offset = bad[i].offset;
        memory_of[rank].owner = WORLD + bad[i].owner;
        made.hash = hash_of(window, &made);
        memcpy(given + 1, &made, sizeof made);
        FAILS(window_from(window, 8, 1, rank), MPI_ERR_ARG, window->handle);
        CHECK(objects == before && !window->children);
    }
    memory_of[rank].owner = WORLD + rank;
    memory_of[rank].length = 0; /* it consists of parts */
    made.offset = 4096;
    made.hash = hash_of(window, &made);
    memcpy(given + 1, &made, sizeof made);
    OK(window_from(window, 8, 1, rank));
    CHECK(lmpi_window(win_given)->target[rank].ranged == (rank != FAR) &&
          lmpi_window(win_given)->target[rank].offset == 4096);
    OK(layer_Win_free(&win_given));
    CHECK_EQ(window->peer[ME].control->handles[3], 0);
    start_over();
}

static void wrong_numbers(struct lmpi_window *window)
{
    struct handle made = {.bytes = 256, .owner = RANKS, .length = 16};
    made.hash = hash_of(window, &made);
    memcpy(given + 1, &made, sizeof made);
    FAILS(window_from(window, 8, 1, RANKS), MPI_ERR_RANK, window->handle);
    const uint32_t lengths[] = {UCCS_MEMORY_HANDLE_MAX + 8, UCCS_MEMORY_HANDLE_MAX + 1, 15, 20};
    for (int i = 0; i < 4; i++) {
        made.length = lengths[i];
        memcpy(given + 1, &made, sizeof made);
        FAILS(window_from(window, 8, 1, ME), MPI_ERR_ARG, window->handle);
    }
    NO_MORE();
    made = (struct handle){.bytes = 256, .owner = ME, .length = UCCS_MEMORY_HANDLE_MAX}; /* the longest there is */
    made.hash = hash_of(window, &made);
    memcpy(given + 1, &made, sizeof made);
    imports_left = 0;
    import_status = UCCS_ERR_STALE;
    FAILS(window_from(window, 8, 1, ME), MPI_ERR_RMA_ATTACH, window->handle);
    import_status = UCCS_ERR_FORGED;
}

static void memory_handles(void)
{
    reset();
    struct lmpi_window *window = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL), *other;
    create_fails(window);
    NO_MORE();
    for (int checked = 0; checked < 2; checked++) {
        create_handle(window);
        handle_words(window);
        handles_refused(window);
        window_of_handle(window, checked);
        create_handle(window);
        OK(MPIX_Memhandle_release(given + 1, window->handle));
        CHECK_EQ(holds, 1);
        struct handle first = {.bytes = 100,
                               .base = (uintptr_t)near_memory + 8,
                               .number = exposed_list->number,
                               .owner = ME,
                               .length = 16};
        memcpy(first.memory, &exposed_list->memory, sizeof exposed_list->memory);
        first.hash = hash_of(window, &first);
        memcpy(given + 1, &first, sizeof first);
        start_over();
        releases(window);
        start_over();
    }
    lmpi_life.checked = false;
    for (int kind = 0; kind < 2; kind++) {
        foreign_handle(window, NEAR, kind);
        foreign_handle(window, UNMAPPED, kind);
        foreign_handle(window, FAR, kind);
        memory_of[NEAR].map = near_memory;
    }
    wrong_numbers(window);
    other = window_of(MPI_WIN_FLAVOR_ALLOCATE, MPI_INFO_NULL);
    create_handle(other);
    create_handle(window);
    create_handle(window);
    OK(window_from(window, 8, 1, ME));
    OK(MPIX_Memhandle_release(given + 1, window->handle));
    CHECK(holds == 3 && released);
    OK(layer_Win_free(&win_given));
    RETURNS(lmpi_handles_end(window)); /* those of other windows stay */
    CHECK(holds == 1 && exposed_list && exposed_list->window == other && !exposed_list->next && !released);
    win_given = other->handle;
    OK(layer_Win_free(&win_given));
    CHECK(holds == 0 && !exposed_list);
    win_given = window->handle;
    freed(window);
    RETURNS(lmpi_spare_end());
    start_over();
}

#endif
