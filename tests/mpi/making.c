/* How windows come and go, by the layer's functions alone: what ranks tell each other and what each makes of it, who carries a window and
 * why, hints, shared memory, attached memory, duplicates, memory handles. Whatever fails leaves nothing behind.
 * ranks: 1 */
#include "making_stub.h"

#include <limits.h>

static struct uccs_region control_of[RANKS], memory_of[RANKS];
static _Alignas(64) char near_control[4096], unmapped_control[4096], near_memory[256];
static int shadows, shadow_ways, shadow_fails;

static int make_shadow(int way, MPI_Comm comm, MPI_Win *win)
{
    CHECK(comm == lmpi_life.self);
    if (shadow_fails >> way & 1)
        return MPI_ERR_OTHER;
    shadow_ways = way;
    *win = WIN(100 + ++shadows);
    return MPI_SUCCESS;
}

static int shadow_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    CHECK(size == 8 && unit == 1 && info == MPI_INFO_NULL && base);
    return make_shadow(0, comm, win);
}

static int shadow_allocated(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    CHECK(size == 8 && unit == 1 && info == MPI_INFO_NULL && base);
    return make_shadow(1, comm, win);
}

static int shadow_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    CHECK(info == MPI_INFO_NULL);
    return make_shadow(2, comm, win);
}

static int shadow_created(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    CHECK(base && size == 1 && unit == 1 && info == MPI_INFO_NULL);
    return make_shadow(3, comm, win);
}

static int free_status;

static int free_shadow(MPI_Win *win)
{
    note(FREED_WIN, (int)(intptr_t)*win, 0);
    if (free_status == MPI_SUCCESS)
        *win = MPI_WIN_NULL;
    return free_status;
}

/* What ranks usually tell. */
static void usual(void *all, int bytes, void *mine)
{
    struct record *records = all;
    CHECK_EQ(bytes, sizeof *records);
    (void)mine;
    for (int i = 0; i < RANKS; i++) {
        const uccs_memory_t control = &control_of[i], memory = &memory_of[i];
        if (i == ME)
            continue;
        records[i] = (struct record){.good = 1,
                                     .unit = 70000 + i,
                                     .bytes = 100 * (uint64_t)(i + 1),
                                     .offset = 8 * (uint64_t)i,
                                     .base = 0x700000001000 + (uint64_t)i,
                                     .control_bytes = 16,
                                     .memory_bytes = 16,
                                     .ids = 20 + (uint32_t)i};
        memcpy(records[i].control, &control, sizeof control);
        memcpy(records[i].memory, &memory, sizeof memory);
    }
    records[0].key = (struct lmpi_key){{111, 222}};
}

static void no_memory_of_its_own(void *all, int bytes, void *mine)
{
    usual(all, bytes, mine);
    for (int i = 1; i < RANKS; i++)
        ((struct record *)all)[i].memory_bytes = 0;
}

static void reset(void)
{
    lmpi_life = (struct lmpi_life){.running = true,
                                   .ranks = 20,
                                   .rank = 41,
                                   .world = GROUP(4),
                                   .comm = COMM(7),
                                   .self = COMM(8)};
    lmpi_real.Win_allocate_shared = shadow_shared;
    lmpi_real.Win_allocate = shadow_allocated;
    lmpi_real.Win_create_dynamic = shadow_dynamic;
    lmpi_real.Win_create = shadow_created;
    lmpi_real.Win_free = free_shadow;
    for (int i = 0; i < RANKS; i++) {
        control_of[i] = (struct uccs_region){.length = 4096, .owner = WORLD + i};
        memory_of[i] = (struct uccs_region){.length = 4096, .owner = WORLD + i};
    }
    control_of[NEAR].map = near_control;
    control_of[UNMAPPED].map = unmapped_control;
    memory_of[NEAR].map = near_memory;
    others = usual;
    fake_all = fake_stranger = endpoint_missing = makes_left = exports_left = imports_left = attaches_left = -1;
    fake_gather_status = fake_inter = fake_inter_status = free_status = MPI_SUCCESS;
    fake_handler = MPI_ERRORS_RETURN;
    fake_rank_here = ME;
    registers_fail = dynamic_fails = guests_refused = shadow_fails = verbose = attached = watch_fails = 0;
    parts = 1;
    held_memory = 0;
    *said = 0;
    start_over();
}

/* Nothing is left of all that a test has made. */
static void nothing_left(void)
{
    CHECK_EQ(objects, 0);
    CHECK_EQ(holds, 0);
    CHECK_EQ(infos, 0);
    CHECK_EQ(groups, 0);
}

#include "making_agreed.h"
#include "making_calls.h"
#include "making_windows.h"
#include "making_family.h"
#include "making_handles.h"

/* ---- a window ---- */

static void check_peers(const struct lmpi_window *window)
{
    for (int i = 0; i < RANKS; i++) {
        const struct lmpi_peer *peer = &window->peer[i];
        CHECK(peer->world == WORLD + i && peer->endpoint == &endpoints[0][WORLD + i] && peer->memory);
        CHECK_EQ(peer->ids, i == ME ? 33 : 20 + i);
        CHECK(peer->posts_taken == 0 && peer->posts_made == 0);
        CHECK(i == ME || peer->memory->of == &control_of[i]);
    }
    CHECK((char *)window->peer[NEAR].control == near_control &&
          (char *)window->peer[UNMAPPED].control == unmapped_control);
    CHECK(window->peer[FAR].control == 0 && (char *)window->peer[ME].control == window->peer[ME].memory->map);
    CHECK_EQ(window->peer[ME].memory->length, lmpi_notify_word(RANKS, 33));
}

static void check_targets(const struct lmpi_window *window, const struct lmpi_offer *offer)
{
    for (int i = 0; i < RANKS; i++) {
        const struct lmpi_target *target = &window->target[i];
        CHECK(target->endpoint == &endpoints[0][WORLD + i] && target->open == 0 && target->far_ops == 0 &&
              !target->ranged);
        CHECK_EQ(target->local, i != FAR);
        CHECK_EQ(target->direct, i == NEAR || i == ME);
        if (i == ME)
            continue;
        CHECK(target->bytes == 100 * (size_t)(i + 1) && target->unit == 70000 + (uint32_t)i &&
              target->offset == 8 * (size_t)i);
        CHECK(target->base == (char *)0x700000001000 + i && target->memory && target->memory->of == &memory_of[i]);
    }
    const struct lmpi_target *own = &window->target[ME];
    CHECK(own->near == offer->base && own->base == offer->base && own->memory == offer->memory);
    CHECK(own->bytes == 64 && own->unit == 4 && own->offset == 0);
    CHECK(window->target[NEAR].near == near_memory && !window->target[UNMAPPED].near && !window->target[FAR].near);
}

static void check_window(const struct lmpi_window *window, const struct lmpi_offer *offer)
{
    CHECK(window->ranks == RANKS && window->rank == ME && window->group == GROUP(5) && window->leaves);
    CHECK(window->flavor == offer->flavor && window->model == MPI_WIN_UNIFIED && window->unit == 4 &&
          window->bytes == 64);
    CHECK(window->base == offer->base && window->own == offer->memory && window->own_is_made && !window->hold &&
          !window->of_first);
    CHECK(window->exposed == -1 && !window->started && window->open == 0 && window->handle == WIN(100 + shadows));
    CHECK(window->start_ranks.group == MPI_GROUP_NULL && window->post_ranks.group == MPI_GROUP_NULL);
    CHECK(window->key.word[0] == 111 && window->key.word[1] == 222);
    CHECK(!window->parent && !window->children && !window->family && !window->part && window->round == 0);
    CHECK(lmpi_window(window->handle) == window);
}

static void made_window(void)
{
    MPI_Info info;
    char value[20];
    int found, last = -1;
    for (int turn = 0; turn < 2; turn++) {
        reset();
        lmpi_life.checked = true;
        OK(PMPI_Info_create(&info));
        OK(PMPI_Info_set(info, "mpi_win_notify_ids", "33"));
        OK(PMPI_Info_set(info, "mpi_win_order", "true"));
        OK(PMPI_Info_set(info, "mpi_assert_accumulate_intrinsic", "true"));
        struct lmpi_offer offer = offer_of(MPI_WIN_FLAVOR_ALLOCATE);
        struct lmpi_window *window = lmpi_window_make(&offer, COMM(3), info);
        CHECK(window && !offer.why_not);
        NEXT(ADMITTED, 0, 0);
        NEXT(COMPLETED, -1, 0);
        NO_MORE();
        CHECK(window->kind == LMPI_ORDERED && window->promised && window->info != info);
        for (int i = 0; i < RANKS; i++)
            window->target[i].endpoint =
                window->target[i].endpoint == &endpoints[2][WORLD + i] ? &endpoints[0][WORLD + i] : 0;
        check_window(window, &offer);
        check_peers(window);
        check_targets(window, &offer);
        OK(PMPI_Info_get(window->info, "mpi_win_notify_ids", 19, value, &found));
        CHECK(found && strcmp(value, "33") == 0);
        CHECK(turn == 0 || window->number == last + 1);
        last = window->number;
        RETURNS(lmpi_window_remove(window));
        RETURNS(lmpi_window_free(window));
        NEXT(ENDED_PENDING, 0, MPI_ERR_WIN);
        NEXT(UNWATCHED, 0, 0);
        NO_MORE();
        OK(PMPI_Info_free(&info));
        nothing_left();
    }
}

/* ---- special windows ---- */

/* All bytes lie in the memory of rank 0. */
static void shared_window(void)
{
    reset();
    others = no_memory_of_its_own;
    for (int i = 0; i < RANKS; i++)
        control_of[i].map = unmapped_control;
    struct lmpi_offer offer = {.unit = 4, .bytes = 16, .offset = 64, .flavor = MPI_WIN_FLAVOR_SHARED, .of_first = true};
    struct lmpi_window *window = lmpi_window_make(&offer, COMM(3), MPI_INFO_NULL);
    CHECK(window && window->of_first && !window->leaves && window->base == near_memory + 64);
    NO_MORE(); /* a window of one node has no guests */
    for (int i = 0; i < RANKS; i++) {
        const struct lmpi_target *target = &window->target[i];
        CHECK(target->memory == window->target[0].memory && target->endpoint == &endpoints[0][WORLD]);
        CHECK(target->near == near_memory + (i == ME ? 64 : 8 * i) && target->local && target->direct);
    }
    CHECK_EQ(objects, 5); /* four controls, and the memory once */
    RETURNS(lmpi_window_remove(window));
    RETURNS(lmpi_window_free(window));
    nothing_left();
}

static void dynamic_window(void)
{
    for (int far = 0; far < 3; far++) { /* 2: the first rank alone is of another node */
        reset();
        intrinsic = far;
        for (int i = 0; i < RANKS; i++)
            memory_of[i] = (struct uccs_region){.length = i == FAR && far != 1 ? 8 : 0, .owner = WORLD + i};
        control_of[NEAR].map = far == 2 ? 0 : near_control;
        struct lmpi_offer offer = {.unit = 1, .bytes = 64, .flavor = MPI_WIN_FLAVOR_DYNAMIC, .made = true};
        OK(uccs_memory_dynamic(lmpi_life.context, &offer.memory));
        struct lmpi_window *window = lmpi_window_make(&offer, COMM(3), MPI_INFO_NULL);
        CHECK(window);
        NEXT(ADMITTED, 0, 0);
        if (far) /* its owner alone knows the ranges */
            NEXT(WATCHED, 0, 0);
        NO_MORE();
        for (int i = 0; i < RANKS; i++)
            CHECK(window->target[i].ranged == (i != FAR && (i != NEAR || far < 2)) && !window->target[i].near &&
                  !window->target[i].direct);
        RETURNS(lmpi_window_remove(window));
        RETURNS(lmpi_window_free(window));
        nothing_left();
    }
    intrinsic = true;
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    reset();
    made_window();
    own_record();
    failures();
    shared_window();
    dynamic_window();
    refused();
    wrong_arguments();
    told_lines();
    hints();
    shadow_handles();
    found_by_handle();
    errors();
    holds_attached();
    calls_that_make();
    shared_calls();
    shared_queries();
    frees();
    attaches();
    window_hints();
    kinds();
    duplicates();
    kept_children();
    own_targets();
    no_children();
    attributes();
    hashes();
    memory_handles();
    return check_pass();
}
