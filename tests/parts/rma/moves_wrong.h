/* Of moves.c: what the operations refuse, each argument alone, and without memory; which accumulates wait for a lock. */
#ifndef TESTS_TRUST_MOVES_WRONG_H
#define TESTS_TRUST_MOVES_WRONG_H

#include "moves_world.h"

enum { BAD = UCCS_ERR_INVALID, OUT = UCCS_ERR_BOUNDS, OLD = UCCS_ERR_STALE };

/* Whether both directions return this status, by the forms with and without options, and change nothing. */
static bool both(uccs_memory_t memory, size_t offset, void *bytes, size_t length, int status)
{
    const struct uccs_op op = {0};
    return uccs_put(self, memory, offset, bytes, length, NULL) == status &&
           uccs_get(self, memory, offset, bytes, length, NULL) == status &&
           uccs_put(self, memory, offset, bytes, length, &op) == status &&
           uccs_get(self, memory, offset, bytes, length, &op) == status;
}

static bool both_blocks(uccs_memory_t memory, size_t offset, void *bytes, struct uccs_stride s, int status)
{
    return uccs_put_blocks(self, memory, offset, bytes, &s, NULL) == status &&
           uccs_get_blocks(self, memory, offset, bytes, &s, NULL) == status;
}

static void wrong_blocks(const struct target *kind)
{
    const uccs_memory_t memory = kind->memory;
    const size_t base = kind->base;
    CHECK(uccs_put_blocks(self, memory, base, local, NULL, NULL) == BAD &&
          uccs_get_blocks(self, memory, base, local, NULL, NULL) == BAD);
    CHECK(both_blocks(memory, base, NULL, (struct uccs_stride){8, 1, 8, 8}, BAD));
    CHECK(both_blocks(memory, base, NULL, (struct uccs_stride){0, 1, 8, 8}, UCCS_OK));
    CHECK(both_blocks(memory, base, NULL, (struct uccs_stride){8, 0, 8, 8}, UCCS_OK));
    CHECK(both_blocks(memory, base + SIZE + 1, NULL, (struct uccs_stride){8, 0, 8, 8}, kind->base ? UCCS_OK : OUT));
    CHECK(both_blocks(memory, base + SIZE - 40, local, (struct uccs_stride){8, 3, 17, 8}, OUT));
    CHECK(both_blocks(memory, base + 11, local, (struct uccs_stride){4, 3, -6, 8}, OUT));
    CHECK(both_blocks(memory, base, local, (struct uccs_stride){4, 3, PTRDIFF_MAX, 8}, OUT));
    CHECK(both_blocks(memory, base, local, (struct uccs_stride){4, 3, PTRDIFF_MIN / 2 - 1, 8}, OUT));
    CHECK(both_blocks(memory, base, local, (struct uccs_stride){SIZE_MAX, 1, 8, 8}, OUT));
    CHECK(both_blocks(memory, base, local, (struct uccs_stride){SIZE_MAX - 15, 2, 16, 8}, OUT));
    CHECK(both_blocks(memory, base + 16, local, (struct uccs_stride){SIZE_MAX - 15, 2, -16, 8}, OUT));
    CHECK(both_blocks(memory, base - 8, local, (struct uccs_stride){8, 2, 8, 8}, OUT)); /* the first alone is outside */
    if (!base) {
        CHECK(both_blocks(memory, 12, local, (struct uccs_stride){4, 3, -6, 8}, UCCS_OK));
        CHECK(both_blocks(memory, SIZE - 42, local, (struct uccs_stride){8, 3, 17, 8}, UCCS_OK));
    }
    const struct uccs_piece pieces[] = {{base, local, 8}, {base + SIZE, local, 1}, {base, NULL, 8}};
    CHECK(uccs_put_pieces(self, memory, pieces, 2, NULL) == OUT &&
          uccs_get_pieces(self, memory, pieces, 3, NULL) == OUT);
    CHECK(uccs_put_pieces(self, memory, pieces + 2, 1, NULL) == BAD &&
          uccs_put_pieces(self, memory, NULL, 1, NULL) == BAD);
    CHECK(uccs_get_pieces(NULL, memory, pieces, 1, NULL) == BAD && uccs_get_pieces(self, NULL, NULL, 0, NULL) == BAD);
}

static void wrong_options(const struct target *kind)
{
    const uccs_memory_t memory = kind->memory, mapped_memory = kinds[MAPPED].memory;
    struct uccs_region other = *mapped_memory, stale = *mapped_memory;
    struct uccs_signal signal = {.memory = mapped_memory};
    const struct uccs_op signals = {.signal = &signal}, counts = {.counter = uccs_counter_open_here()};
    other.owner = 1;
    stale.generation += 2;
    static const struct {
        int which, how, status;
        size_t offset;
    } cases[] = {{1, UCCS_SIGNAL_SET, BAD, 0},
                 {2, UCCS_SIGNAL_SET, BAD, 0},
                 {3, UCCS_SIGNAL_SET, OLD, 0},
                 {0, UCCS_SIGNAL_ADD + 1, BAD, 0},
                 {0, -1, BAD, 0},
                 {0, UCCS_SIGNAL_ADD, BAD, 4},
                 {0, UCCS_SIGNAL_ADD, BAD, 7},
                 {0, UCCS_SIGNAL_ADD, OUT, SIZE},
                 {0, UCCS_SIGNAL_ADD, UCCS_OK, SIZE - 8},
                 {0, UCCS_SIGNAL_SET, UCCS_OK, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct uccs_region *const memories[] = {mapped_memory, NULL, &other, &stale};
        signal.memory = (uccs_memory_t)memories[cases[i].which];
        signal.how = (enum uccs_signal_how)cases[i].how;
        signal.offset = cases[i].offset;
        CHECK(uccs_put(self, memory, kind->base, local, 8, &signals) == cases[i].status);
        CHECK(uccs_get(self, memory, kind->base, local, 8, &signals) == cases[i].status);
    }
    CHECK(uccs_put(self, memory, kind->base, local, 8, &counts) == UCCS_OK && uccs_counter_get(counts.counter) == 1);
    CHECK(uccs_put(self, memory, kind->base + SIZE, local, 8, &counts) == OUT && uccs_counter_get(counts.counter) == 1);
    uccs_counter_clear(counts.counter);
    CHECK(uccs_put(self, memory, kind->base, local, 8, &counts) == OLD &&
          uccs_get(self, memory, kind->base, local, 8, &counts) == OLD);
    uccs_counter_release(counts.counter);
}

static void wrong_forms(const struct target *kind)
{
    const uccs_memory_t m = kind->memory;
    const size_t at = kind->base;
    static char none[8];
    const uccs_context_t other = (uccs_context_t)(void *)none;
    const struct uccs_stride s = {8, 1, 8, 8};
    const struct uccs_piece piece = {at, local, 8};
    uccs_request_t request = NULL;
    const uccs_context_t contexts[] = {NULL, other, context};
    for (int i = 0; i < 3; i++) {
        const uccs_context_t c = contexts[i];
        const uccs_endpoint_t e = i == 2 ? NULL : self;
        CHECK(uccs_put_short_contiguous(c, e, m, at, local, 8, NULL) == BAD &&
              uccs_get_short_contiguous(c, e, m, at, local, 8, NULL) == BAD);
        CHECK(uccs_put_medium_contiguous(c, e, m, at, local, 8, NULL) == BAD &&
              uccs_get_medium_contiguous(c, e, m, at, local, 8, NULL) == BAD);
        CHECK(uccs_put_large_contiguous(c, e, m, at, local, 8, NULL) == BAD &&
              uccs_get_large_contiguous(c, e, m, at, local, 8, NULL) == BAD);
        CHECK(uccs_put_large_contiguous_nb(c, e, m, at, local, 8, &request) == BAD &&
              uccs_get_large_contiguous_nb(c, e, m, at, local, 8, &request) == BAD);
        CHECK(uccs_put_strided(c, e, m, at, local, &s, NULL) == BAD &&
              uccs_get_strided(c, e, m, at, local, &s, NULL) == BAD);
        CHECK(uccs_put_vector(c, e, m, &piece, 1, NULL) == BAD && uccs_get_vector(c, e, m, &piece, 1, NULL) == BAD);
        CHECK(uccs_atomic32(c, e, m, at, UCCS_ATOMIC_FETCH, 0, 0, NULL, NULL) == BAD &&
              uccs_atomic64(c, e, m, at, UCCS_ATOMIC_FETCH, 0, 0, NULL, NULL) == BAD);
    }
    CHECK(uccs_put_large_contiguous_nb(context, self, m, at, local, 8, NULL) == BAD &&
          uccs_get_large_contiguous_nb(context, self, m, at, local, 8, NULL) == BAD);
    CHECK(uccs_put_short_contiguous(context, self, m, at, local, UCCS_SHORT_MAX, NULL) == UCCS_OK);
    CHECK(uccs_get_short_contiguous(context, self, m, at, local, UCCS_SHORT_MAX, NULL) == UCCS_OK);
    CHECK(uccs_put_short_contiguous(context, self, m, at, local, UCCS_SHORT_MAX + 1, NULL) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_get_short_contiguous(context, self, m, at, local, UCCS_SHORT_MAX + 1, NULL) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_put_medium_contiguous(context, self, m, at, local, UCCS_MEDIUM_MAX, NULL) == UCCS_OK);
    CHECK(uccs_get_medium_contiguous(context, self, m, at, local, UCCS_MEDIUM_MAX, NULL) == UCCS_OK);
    CHECK(uccs_put_medium_contiguous(context, self, m, at, local, UCCS_MEDIUM_MAX + 1, NULL) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_get_medium_contiguous(context, self, m, at, local, UCCS_MEDIUM_MAX + 1, NULL) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_put_strided(context, self, m, at, local, &s, NULL) == UCCS_OK &&
          uccs_get_strided(context, self, m, at, local, &s, NULL) == UCCS_OK);
    CHECK(uccs_put_vector(context, self, m, &piece, 1, NULL) == UCCS_OK &&
          uccs_get_vector(context, self, m, &piece, 1, NULL) == UCCS_OK);
    CHECK(uccs_put_large_contiguous_nb(context, self, m, at, local, 8, &request) == UCCS_OK);
    CHECK(uccs_request_pending(request) == (kind == &kinds[BY_OWNER]) && uccs_wait(&request) == UCCS_OK);
    CHECK(uccs_get_large_contiguous_nb(context, self, m, at, local, 8, &request) == UCCS_OK &&
          uccs_wait(&request) == UCCS_OK);
}

static void wrong_moves(struct target *kind)
{
    struct uccs_region other = *kind->memory, stale = other;
    const size_t base = kind->base;
    other.owner = 1;
    stale.generation += 2;
    begin_with(kind, 2);
    memcpy(local, model, SIZE);
    CHECK(both(kind->memory, base + SIZE, local, 1, OUT) && both(kind->memory, base + SIZE - 1, local, 2, OUT));
    CHECK(both(kind->memory, base + SIZE, local, 0, UCCS_OK) && both(kind->memory, base, local, SIZE_MAX - base, OUT));
    CHECK(both(kind->memory, SIZE_MAX, local, 1, OUT) && both(kind->memory, base - 1, local, 2, OUT));
    CHECK(base || both(kind->memory, SIZE + 1, local, 0, OUT));
    CHECK(both(&other, base, local, 8, BAD) && both(NULL, base, local, 8, BAD) && both(&stale, base, local, 8, OLD));
    CHECK(both(kind->memory, base, NULL, 8, BAD) && both(kind->memory, base, NULL, 0, UCCS_OK));
    CHECK(uccs_put(NULL, kind->memory, base, local, 8, NULL) == BAD &&
          uccs_get(NULL, kind->memory, base, local, 8, NULL) == BAD);
    CHECK(both(kind->memory, base, local, SIZE, UCCS_OK) && is_model(kind));
    wrong_blocks(kind);
    wrong_options(kind);
    wrong_forms(kind);
}

/* Operations that do not exist, and how many elements one lock serves. */
static void changes(void)
{
    for (int type = 0; type <= UCCS_INT128; type++) {
        const struct uccs_change swap = {(uint8_t)type, UCCS_CHANGE_SWAP, 1};
        const bool swaps = type == UCCS_UINT8 || type == UCCS_UINT16 || type == UCCS_UINT32 || type == UCCS_UINT64;
        CHECK(uccs_change_exists(&swap) == (swaps || type == UCCS_DOUBLE_COMPLEX));
        CHECK(uccs_change_operand(&swap) == 2 * uccs_type_size((enum uccs_type)type));
        for (int how = 0; how <= UCCS_NO_OP; how++) {
            const struct uccs_change change = {(uint8_t)type, (uint8_t)how, 3};
            CHECK(uccs_change_exists(&change) == uccs_type_takes((enum uccs_type)type, (enum uccs_reduction)how));
            CHECK(uccs_change_operand(&change) == (how == UCCS_NO_OP ? 0 : uccs_change_bytes(&change)));
        }
    }
    CHECK(!uccs_change_exists(&(struct uccs_change){UCCS_INT128 + 1, UCCS_SUM, 1}) &&
          !uccs_type_fold(UCCS_INT128 + 1, UCCS_SUM));
    CHECK(!uccs_type_fold(UCCS_DOUBLE, UCCS_REPLACE) && uccs_type_fold(UCCS_DOUBLE, UCCS_SUM) &&
          !uccs_type_fold(UCCS_DOUBLE, UCCS_NO_OP));
    CHECK(!uccs_type_size(UCCS_INT128 + 1) && !uccs_type_size((enum uccs_type) - 1) &&
          uccs_type_size(UCCS_INT128) == 16);
    CHECK(!uccs_type_takes(UCCS_INT32, UCCS_NO_OP + 1) && uccs_type_takes(UCCS_INT32, UCCS_NO_OP));
    CHECK(uccs_change_stripe(0, 8, 5000) == 1024 && uccs_change_stripe(0, 8, 1023) == 1023 &&
          uccs_change_stripe(8184, 8, 9) == 1);
    CHECK(uccs_change_stripe(8185, 8, 9) == 1 && uccs_change_stripe(8183, 8, 9) == 2 &&
          uccs_change_stripe(8191, 32, 9) == 1);
    CHECK(uccs_change_stripe(8192, 1, 9000) == 8192 && uccs_change_stripe(8191, 1, 9000) == 1 &&
          uccs_change_stripe(3, 16, 9000) == 512);
    CHECK(!uccs_quick_of(UCCS_INT128 + 1, UCCS_SUM) && !uccs_quick_of(UCCS_DOUBLE, UCCS_NO_OP + 1));
    CHECK(!uccs_quick_of(UCCS_DOUBLE, UCCS_SUM));
    double one[] = {1, 2}, other[] = {10, 20};
    uccs_change_plainly(&(struct uccs_change){UCCS_DOUBLE, UCCS_SUM, 2}, one, other, NULL);
    CHECK(one[0] == 11 && one[1] == 22 && uccs_quick_of(UCCS_DOUBLE, UCCS_SUM) &&
          uccs_quick_of(UCCS_DOUBLE, UCCS_SUM)->size == 8);
    int64_t number = 4;
    uccs_change_plainly(&(struct uccs_change){UCCS_INT64, UCCS_SUM, 1}, &number, &number, NULL);
    CHECK(number == 8 && !uccs_quick_of(UCCS_INT64, UCCS_SUM)); /* the processor's atomics do that */
    memcpy(kinds[MAPPED].bytes + 64, one, sizeof one);
    CHECK(uccs_accumulate(self, kinds[MAPPED].memory, 64, other, NULL, 2, UCCS_DOUBLE, UCCS_SUM, NULL) == UCCS_OK);
    memcpy(one, kinds[MAPPED].bytes + 64, sizeof one);
    CHECK(one[0] == 21 && one[1] == 42);
}

static int no_wait(void *unused)
{
    (void)unused;
    CHECK(!"what is refused waits for no lock");
    return 0;
}

/* Accumulates that are refused touch neither memory nor its locks. */
static void refused_changes(const struct target *kind, size_t even)
{
    double value = 1;
    uint32_t *lock = uccs_atomic_lock(0, (uintptr_t)kind->bytes + even - kind->base);
    CHECK(uccs_poller_add(no_wait, NULL) == UCCS_OK);
    CHECK(uccs_accumulate(self, kind->memory, even, &value, NULL, 0, UCCS_DOUBLE, UCCS_XOR, NULL) == BAD);
    CHECK(uccs_accumulate(self, kind->memory, even, NULL, NULL, 1, UCCS_DOUBLE, UCCS_SUM, NULL) == BAD);
    CHECK(uccs_accumulate(self, kind->memory, even, &value, NULL, SIZE_MAX / 8 + 1, UCCS_DOUBLE, UCCS_SUM, NULL) ==
          OUT);
    CHECK(uccs_accumulate(self, kind->memory, even + SIZE, &value, NULL, 1, UCCS_DOUBLE, UCCS_SUM, NULL) == OUT);
    CHECK(uccs_poller_remove(no_wait, NULL) == UCCS_OK);
    uccs_atomic_unlock(lock);
}

static void wrong_atomics(struct target *kind)
{
    struct uccs_region other = *kind->memory, stale = other;
    const uccs_memory_t m = kind->memory;
    const size_t even = kind->base + (-(uintptr_t)kind->bytes % 8);
    uint64_t old = 0, value = 1;
    other.owner = 1;
    stale.generation += 2;
    CHECK(uccs_accumulate_intrinsic(NULL, m, UCCS_INT32, UCCS_SUM) == 0 &&
          uccs_accumulate_intrinsic(self, NULL, UCCS_INT32, UCCS_SUM) == 0);
    CHECK(uccs_accumulate_intrinsic(self, m, UCCS_INT32, UCCS_SUM) == (kind == &kinds[MAPPED]));
    CHECK(uccs_accumulate_intrinsic(self, m, UCCS_DOUBLE, UCCS_SUM) == 0 &&
          uccs_accumulate_intrinsic(self, m, UCCS_INT32, UCCS_NO_OP + 1) == 0);
    begin_with(kind, 2);
    refused_changes(kind, even);
    for (int what = -1; what <= UCCS_ATOMIC_XOR + 1; what += UCCS_ATOMIC_XOR + 2)
        CHECK(uccs_atomic(self, m, even, 8, (enum uccs_atomic)what, 1, 1, &old, NULL) == BAD);
    for (size_t size = 0; size < 18; size++)
        CHECK(size == 4 || size == 8 || uccs_atomic(self, m, even, size, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(self, m, even + 4, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(self, m, even + 2, 4, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(self, m, even + SIZE, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == OUT);
    CHECK(uccs_atomic(self, &other, even, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(ordered_self, &other, even, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(self, &stale, even, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == OLD);
    CHECK(uccs_atomic(NULL, m, even, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    CHECK(uccs_atomic(self, NULL, even, 8, UCCS_ATOMIC_ADD, 1, 1, &old, NULL) == BAD);
    for (int turn = 0; turn < 2; turn++) { /* before and after the fold is known */
        const enum uccs_type type = turn ? UCCS_DOUBLE : UCCS_UINT64;
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 0, type, UCCS_SUM, NULL) == UCCS_OK);
        CHECK(uccs_accumulate(self, m, even, NULL, NULL, 0, type, UCCS_SUM, NULL) == UCCS_OK);
        CHECK(uccs_accumulate(self, m, even, NULL, NULL, 1, type, UCCS_SUM, NULL) == BAD);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 1, (enum uccs_type) - 1, UCCS_SUM, NULL) == BAD);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 1, (enum uccs_type)(UCCS_INT128 + 1), UCCS_SUM, NULL) ==
              BAD);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 1, type, (enum uccs_reduction) - 1, NULL) == BAD);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 1, type, UCCS_NO_OP + 1, NULL) == BAD);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, 1, UCCS_DOUBLE, UCCS_XOR, NULL) == BAD);
        CHECK(uccs_accumulate(self, m, even + SIZE, &value, NULL, 1, type, UCCS_SUM, NULL) == OUT);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, SIZE / 8 + 1, type, UCCS_SUM, NULL) == OUT);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, SIZE_MAX / 8 + 1, type, UCCS_SUM, NULL) == OUT);
        CHECK(uccs_accumulate(self, m, even, &value, NULL, SIZE_MAX / 4, type, UCCS_SUM, NULL) == OUT);
        CHECK(uccs_accumulate(self, &other, even, &value, NULL, 1, type, UCCS_SUM, NULL) == BAD);
        CHECK(uccs_accumulate(ordered_self, &other, even, &value, NULL, 1, type, UCCS_SUM, NULL) == BAD);
        CHECK(uccs_accumulate(self, &stale, even, &value, NULL, 1, type, UCCS_SUM, NULL) == OLD);
        CHECK(uccs_accumulate(NULL, m, even, &value, NULL, 1, type, UCCS_SUM, NULL) == BAD);
        CHECK(uccs_accumulate(self, NULL, even, &value, NULL, 1, type, UCCS_SUM, NULL) == BAD);
        CHECK(is_model(kind));
        double one = 1;
        CHECK(uccs_accumulate(self, m, even, &one, NULL, 1, UCCS_DOUBLE, UCCS_REPLACE, NULL) == UCCS_OK);
        CHECK(uccs_accumulate(self, m, even, &one, NULL, 1, UCCS_DOUBLE, UCCS_SUM, NULL) == UCCS_OK);
        memcpy(model, kind->bytes, 16);
        uccs_request_t request = NULL; /* what is carried is not forgotten */
        CHECK(uccs_accumulate(self, m, even, &one, NULL, 1, UCCS_DOUBLE, UCCS_MIN,
                              &(struct uccs_op){.request = &request}) == UCCS_OK);
        CHECK(request && uccs_wait(&request) == UCCS_OK);
        CHECK(uccs_accumulate(self, m, even, &(double){2}, &one, 1, UCCS_DOUBLE, UCCS_REPLACE, NULL) == UCCS_OK &&
              one == 1);
        memcpy(model, kind->bytes, 16);
    }
    char wide[64] = {0};
    for (size_t size = 0; size <= 33; size++)
        CHECK(uccs_compare_and_swap(self, m, even, size, wide, wide, NULL, NULL) ==
              (size == 1 || size == 2 || size == 4 || size == 8 || size == 16 ? UCCS_OK : BAD));
    CHECK(uccs_compare_and_swap(self, m, even, 8, NULL, wide, NULL, NULL) == BAD &&
          uccs_compare_and_swap(self, m, even, 8, wide, NULL, NULL, NULL) == BAD);
    CHECK(uccs_compare_and_swap(self, m, even + SIZE, 8, wide, wide, NULL, NULL) == OUT);
    CHECK(is_model(kind));
}

/* --- Domains: who waits for the lock of the first bytes */

static uint32_t *held;
static int asked;

static int give_lock(void *unused)
{
    (void)unused;
    asked++;
    __atomic_store_n(held, 0, __ATOMIC_RELEASE);
    return 1;
}

/* Returns whether the operation waits: 0: an atomic; else an accumulate of the type. */
static bool waits(struct target *kind, size_t at, int type)
{
    char operand[32] = {0};
    held = uccs_atomic_lock(0, (uintptr_t)kind->bytes + at);
    asked = 0;
    CHECK(uccs_poller_add(give_lock, NULL) == UCCS_OK);
    const int status = type < 0 ? uccs_atomic(self, kind->memory, kind->base + at, 8, UCCS_ATOMIC_ADD, 0, 0, NULL, NULL)
                                : uccs_accumulate(self, kind->memory, kind->base + at, operand, NULL, 1,
                                                  (enum uccs_type)type, UCCS_MAX, NULL);
    CHECK(status == UCCS_OK && uccs_poller_remove(give_lock, NULL) == UCCS_OK);
    __atomic_store_n(held, 0, __ATOMIC_RELEASE);
    CHECK(no_locks());
    return asked > 0;
}

/* Returns whether an accumulate of many elements waits for the lock of some bytes further on. */
static bool waits_behind(struct target *kind, size_t at, size_t n, size_t locked, bool fetching)
{
    static double operand[4096], result[4096];
    held = uccs_atomic_lock(0, (uintptr_t)kind->bytes + locked);
    asked = 0;
    CHECK(uccs_poller_add(give_lock, NULL) == UCCS_OK);
    CHECK(uccs_accumulate(self, kind->memory, kind->base + at, operand, fetching ? result : NULL, n, UCCS_DOUBLE,
                          UCCS_MAX, NULL) == UCCS_OK);
    CHECK(uccs_poller_remove(give_lock, NULL) == UCCS_OK);
    __atomic_store_n(held, 0, __ATOMIC_RELEASE);
    CHECK(no_locks());
    return asked > 0;
}

/* Each stripe has its lock, taken for the elements that begin in it. */
static void stripes(struct target *kind)
{
    const size_t border = OWN_STRIPE_BYTES - (uintptr_t)kind->bytes % OWN_STRIPE_BYTES;
    memset(kind->bytes, 0, 5 * OWN_STRIPE_BYTES);
    for (int fetching = 0; fetching < 2; fetching++)
        for (size_t stripe = 0; stripe < 4; stripe++) {
            const size_t locked = border + stripe * OWN_STRIPE_BYTES;
            CHECK(waits_behind(kind, border, 3072, locked, fetching) == (stripe < 3));
            CHECK(waits_behind(kind, border, 3073, locked, fetching));
            CHECK(waits_behind(kind, border + OWN_STRIPE_BYTES - 8, 1025, locked, fetching) == (stripe < 2));
            CHECK(waits_behind(kind, border + OWN_STRIPE_BYTES - 4, 1025, locked, fetching) == (stripe < 2));
        }
}

static void domains(void)
{
    struct target *mapped_kind = &kinds[MAPPED], *private_kind = &kinds[PRIVATE];
    memset(mapped_kind->bytes, 0, 256);
    memset(private_kind->bytes, 0, 256);
    for (int turn = 0; turn < 2; turn++) {
        CHECK(!waits(mapped_kind, 64, -1) && !waits(mapped_kind, 64, UCCS_INT64) &&
              !waits(mapped_kind, 66, UCCS_INT16));
        CHECK(!waits(mapped_kind, 65, UCCS_UINT8) && waits(mapped_kind, 66, UCCS_INT32) &&
              waits(mapped_kind, 65, UCCS_INT16));
        CHECK(waits(mapped_kind, 64, UCCS_DOUBLE) && waits(mapped_kind, 64, UCCS_2INT) &&
              waits(mapped_kind, 64, UCCS_INT128));
        CHECK(waits(private_kind, 64, -1) && waits(private_kind, 64, UCCS_INT64) &&
              waits(private_kind, 64, UCCS_UINT8));
        CHECK(waits(private_kind, 64, UCCS_DOUBLE) && waits(&kinds[ATTACHED], 64, UCCS_INT64) &&
              waits(&kinds[ATTACHED], 64, -1));
    }
    stripes(&kinds[MAPPED]);
    stripes(&kinds[PRIVATE]);
    use(BY_KERNEL);
    stripes(&kinds[BY_KERNEL]);
    CHECK(waits(&kinds[BY_KERNEL], 64, -1) && waits(&kinds[BY_KERNEL], 64, UCCS_INT64));
}

#endif
