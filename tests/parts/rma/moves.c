/* Puts, gets, atomics and accumulates on every kind of memory of a node, each against plain bytes: at the edges of pieces and stripes,
 * and with all that an operation may carry. */
#include "moves_world.h"

#include "moves_handles.h"
#include "moves_locks.h"
#include "moves_wrong.h"

/* --- Puts and gets */

static void whole(struct target *kind)
{
    static const size_t lengths[] = {0,    1,         7,     8,         9,         127,           129,   8192,
                                     8193, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5, 50001, SIZE - 64};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t length = lengths[i], offsets[] = {0, 13, SIZE - length};
        for (int k = 0; k < 3; k++) {
            const size_t at = offsets[k];
            if (at + length > SIZE)
                continue;
            begin_with(kind, i + 1);
            fill(local, length + 1, 99 + i);
            memcpy(model + at, local, length);
            CHECK(uccs_put(self, kind->memory, kind->base + at, local, length, NULL) == UCCS_OK && is_model(kind));
            memset(local, 1, length + 1);
            CHECK(uccs_get(self, kind->memory, kind->base + at, local, length, NULL) == UCCS_OK);
            CHECK(memcmp(local, model + at, length) == 0 && local[length] == 1 && is_model(kind));
        }
    }
}

static void blocks_of(struct target *kind, const struct uccs_stride *s, size_t offset, size_t local_at)
{
    begin_with(kind, 5);
    fill(local, sizeof local, 6);
    for (size_t i = 0; i < s->count; i++)
        memcpy(model + (ptrdiff_t)offset + (ptrdiff_t)i * s->remote_stride,
               local + local_at + (ptrdiff_t)i * s->local_stride, s->block);
    CHECK(uccs_put_blocks(self, kind->memory, kind->base + offset, local + local_at, s, NULL) == UCCS_OK &&
          is_model(kind));
    memset(local, 3, sizeof local);
    CHECK(uccs_get_blocks(self, kind->memory, kind->base + offset, local + local_at, s, NULL) == UCCS_OK &&
          is_model(kind));
    size_t touched = 0, others = 0;
    for (size_t i = 0; i < s->count; i++)
        CHECK(memcmp(local + local_at + (ptrdiff_t)i * s->local_stride,
                     model + (ptrdiff_t)offset + (ptrdiff_t)i * s->remote_stride, s->block) == 0);
    for (size_t i = 0; i < sizeof local; i++)
        others += local[i] == 3;
    touched = sizeof local - others;
    CHECK(touched <= s->count * s->block);
}

static void shapes(struct target *kind)
{
    blocks_of(kind, &(struct uccs_stride){10, 5, 16, 12}, 100, 3);
    blocks_of(kind, &(struct uccs_stride){8, 6, -24, 8}, 5 * 24, 0);
    blocks_of(kind, &(struct uccs_stride){8, 4, 50000, -8}, 49000, 24);
    blocks_of(kind, &(struct uccs_stride){1000, 4, (SIZE - 1000) / 3, 1000}, (SIZE - 1000) % 3,
              0); /* to the last byte */
    blocks_of(kind, &(struct uccs_stride){0, 4, 8, 8}, SIZE, 0);
    blocks_of(kind, &(struct uccs_stride){8, 0, 8, 8}, SIZE, 0);
    struct uccs_piece pieces[] = {{kind->base + 7, local, 9},
                                  {kind->base + SIZE, NULL, 0},
                                  {kind->base + 100, local + 20, 70000},
                                  {kind->base + SIZE - 1, local + 9, 1},
                                  {SIZE_MAX, local, 1}}; /* none of those that are named */
    begin_with(kind, 8);
    fill(local, sizeof local, 9);
    memcpy(model + 7, local, 9);
    memcpy(model + 100, local + 20, 70000);
    model[SIZE - 1] = local[9];
    CHECK(uccs_put_pieces(self, kind->memory, pieces, 4, NULL) == UCCS_OK && is_model(kind));
    memset(local, 3, sizeof local);
    CHECK(uccs_get_pieces(self, kind->memory, pieces, 4, NULL) == UCCS_OK && is_model(kind));
    CHECK(memcmp(local, model + 7, 9) == 0 && local[9] == model[SIZE - 1] && local[10] == 3 && local[19] == 3);
    CHECK(memcmp(local + 20, model + 100, 70000) == 0 && local[70020] == 3);
    CHECK(uccs_put_pieces(self, kind->memory, NULL, 0, NULL) == UCCS_OK &&
          uccs_get_pieces(self, kind->memory, pieces, 0, NULL) == UCCS_OK);
    CHECK(is_model(kind));
}

/* --- Atomics */

static uint64_t applied(enum uccs_atomic what, uint64_t old, uint64_t operand, uint64_t compare, uint64_t mask)
{
    switch (what) {
    case UCCS_ATOMIC_FETCH: return old;
    case UCCS_ATOMIC_SET:
    case UCCS_ATOMIC_SWAP: return operand & mask;
    case UCCS_ATOMIC_CSWAP: return old == (compare & mask) ? operand & mask : old;
    case UCCS_ATOMIC_ADD: return (old + operand) & mask;
    case UCCS_ATOMIC_AND: return old & operand & mask;
    case UCCS_ATOMIC_OR: return (old | operand) & mask;
    default: return (old ^ operand) & mask;
    }
}

static void atomic_at(struct target *kind, size_t at, size_t size, enum uccs_atomic what, const struct uccs_op *op)
{
    const uint64_t mask = size == 4 ? UINT32_MAX : UINT64_MAX, operand = 0xfedcba9876543210u + at;
    for (int matching = 0; matching < 2; matching++)
        for (int fetching = 0; fetching < 2; fetching++) {
            uint64_t old = 0, result = 0x5555555555555555u, now;
            memcpy(&old, model + at, size);
            const uint64_t compare = matching ? old : ~old;
            now = applied(what, old, operand, compare, mask);
            memcpy(model + at, &now, size);
            CHECK(uccs_atomic(matching ? self : ordered_self, kind->memory, kind->base + at, size, what, operand,
                              compare, fetching ? &result : NULL, op) == UCCS_OK);
            CHECK(is_model(kind));
            if (fetching)
                CHECK(memcmp(&result, &old, size) == 0 && (size == 8 || result >> 32 == 0x55555555u));
        }
}

static void atomics(struct target *kind)
{
    uccs_request_t request = NULL;
    const struct uccs_op op = {.request = &request};
    begin_with(kind, 3);
    const size_t odd = -(uintptr_t)kind->bytes % 8;
    for (enum uccs_atomic what = UCCS_ATOMIC_FETCH; what <= UCCS_ATOMIC_XOR; what++)
        for (size_t size = 4; size <= 8; size += 4) {
            atomic_at(kind, odd + 16, size, what, NULL);
            atomic_at(kind, odd + SIZE - 8 - odd % 8 - (odd ? 8 : 0), size, what, &op);
            CHECK(request != NULL); /* what is carried is not forgotten */
            CHECK(uccs_wait(&request) == UCCS_OK);
        }
}

/* --- Accumulates */

static void accumulate_at(struct target *kind, size_t at, enum uccs_type type, enum uccs_reduction how, size_t n)
{
    const size_t size = uccs_type_size(type);
    static char operand[SIZE], result[SIZE], old[SIZE];
    for (int fetching = 0; fetching < 2; fetching++) {
        fill(operand, n * size, at + how);
        if (how == UCCS_SUM || how == UCCS_PROD || how == UCCS_MIN || how == UCCS_MAX) /* no odd reals */
            for (size_t i = 0; type >= UCCS_FLOAT && type <= UCCS_DOUBLE && i < n; i++)
                type == UCCS_FLOAT ? (void)(((float *)(void *)operand)[i] = (float)(i % 7))
                                   : (void)(((double *)(void *)operand)[i] = (double)(i % 7));
        memcpy(old, model + at, n * size);
        uccs_change_plainly(&(struct uccs_change){(uint8_t)type, (uint8_t)how, n}, model + at, operand, NULL);
        memset(result, 1, sizeof result);
        CHECK(uccs_accumulate(self, kind->memory, kind->base + at, operand, fetching ? result : NULL, n, type, how,
                              NULL) == UCCS_OK);
        CHECK(is_model(kind));
        CHECK(!fetching || (memcmp(result, old, n * size) == 0 && result[n * size] == 1));
    }
}

static void reals_in(struct target *kind)
{
    begin_with(kind, 4);
    for (size_t i = 0; i + 8 <= SIZE; i += 8)
        memcpy(model + i, &(double){(double)(i % 100)}, 8);
    memcpy(kind->bytes, model, SIZE);
    const size_t even = -(uintptr_t)kind->bytes % 8;
    for (size_t i = even; i + 8 <= SIZE; i += 8)
        memcpy(model + i, &(double){(double)(i % 100)}, 8);
    memcpy(kind->bytes, model, SIZE);
    const size_t border = even + (OWN_STRIPE_BYTES - (uintptr_t)(kind->bytes + even) % OWN_STRIPE_BYTES);
    static const size_t counts[] = {0, 1, 2, 1000, 1024, 1025, 3000, 9000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        accumulate_at(kind, even + 8, UCCS_DOUBLE, UCCS_SUM, counts[i]);
        accumulate_at(kind, border, UCCS_DOUBLE, UCCS_MAX, counts[i]);     /* from a stripe's first element */
        accumulate_at(kind, border - 8, UCCS_DOUBLE, UCCS_SUM, counts[i]); /* and its last one */
        accumulate_at(kind, border, UCCS_DOUBLE, UCCS_REPLACE, counts[i]);
        accumulate_at(kind, border, UCCS_DOUBLE, UCCS_NO_OP, counts[i]);
        accumulate_at(kind, border, UCCS_DOUBLE, UCCS_SUM, counts[i]);
    }
    accumulate_at(kind, SIZE - 8 - (SIZE - even) % 8, UCCS_DOUBLE, UCCS_REPLACE, 1);
}

static void integers_in(struct target *kind)
{
    static const enum uccs_type types[] = {UCCS_UINT8, UCCS_INT16, UCCS_UINT32, UCCS_INT64, UCCS_UINT64, UCCS_INT128};
    begin_with(kind, 7);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (enum uccs_reduction how = UCCS_AND; how <= UCCS_NO_OP; how++)
            for (size_t shift = 0; shift < 3; shift++) { /* aligned and not, short and long */
                accumulate_at(kind, 8192 - (uintptr_t)kind->bytes % 8192 + shift * 8 - 8, types[t], how, 1 + 9 * shift);
                accumulate_at(kind, 8192 - (uintptr_t)kind->bytes % 8192 + 3 - shift, types[t], how, 5 + 37 * shift);
            }
    accumulate_at(kind, 64, UCCS_UINT8, UCCS_SUM, SIZE - 64);
    accumulate_at(kind, 61, UCCS_UINT64, UCCS_XOR, (SIZE - 64) / 8);
    accumulate_at(kind, 33, UCCS_UINT16, UCCS_AND, 9000);
}

static void swaps_in(struct target *kind)
{
    char operand[16], old[17];
    begin_with(kind, 12);
    for (size_t size = 1; size <= 16; size *= 2)
        for (size_t at = 32; at < 32 + size; at += size == 1 ? 1 : size / 2)
            for (int equal = 0; equal < 2; equal++) {
                char compare[16];
                fill(operand, 16, at + size);
                memcpy(compare, model + at, size);
                compare[size - 1] ^= (char)!equal;
                memset(old, 1, sizeof old);
                CHECK(uccs_compare_and_swap(self, kind->memory, kind->base + at, size, operand, compare, old, NULL) ==
                      UCCS_OK);
                CHECK(memcmp(old, model + at, size) == 0 && old[size] == 1);
                if (equal)
                    memcpy(model + at, operand, size);
                CHECK(is_model(kind));
            }
}

/* --- What an operation carries */

static int completions;

static void complete(void *argument, int status)
{
    CHECK(argument == &completions && status == UCCS_OK);
    completions++;
}

static void carried(struct target *kind, bool by_owner)
{
    struct uccs_queue *queue = uccs_queue_make();
    struct uccs_entry entry;
    const uccs_counter counter = uccs_counter_open_here();
    uccs_request_t request = NULL, free_again = NULL;
    uint64_t *word = (uint64_t *)(void *)kinds[MAPPED].bytes, old;
    struct uccs_signal signal = {.memory = kinds[MAPPED].memory, .offset = 0, .value = 5, .how = UCCS_SIGNAL_SET};
    const struct uccs_op all = {.request = &request,
                                .counter = counter,
                                .weight = 3,
                                .local = &free_again,
                                .signal = &signal,
                                .complete = complete,
                                .argument = &completions,
                                .queue = queue,
                                .tag = &queue};
    begin_with(&kinds[MAPPED], 1);
    begin_with(kind, 1);
    fill(local, 32, 4);
    memcpy(model + 64, local, 32);
    const int was = blocks;
    for (int i = 1; i <= 5; i++) {
        struct uccs_op op = all;
        op.ordered = i & 1;
        old = 0;
        int status = UCCS_ERR_INVALID;
        switch (i) {
        case 1: status = uccs_put(self, kind->memory, kind->base + 64, local, 32, &op); break;
        case 2: status = uccs_get(self, kind->memory, kind->base + 64, local + 40, 32, &op); break;
        case 3: status = uccs_atomic(self, kind->memory, kind->base + 64, 8, UCCS_ATOMIC_FETCH, 0, 0, &old, &op); break;
        case 4:
            status = uccs_accumulate(self, kind->memory, kind->base + 64, NULL, &old, 1, UCCS_DOUBLE, UCCS_NO_OP, &op);
            break;
        case 5: status = uccs_put_pieces(self, kind->memory, NULL, 0, &op); break;
        }
        CHECK(status == UCCS_OK && uccs_wait(&request) == UCCS_OK && uccs_wait(&free_again) == UCCS_OK);
        while (completions < i)
            (void)uccs_progress();
        CHECK(completions == i && uccs_queue_take(queue, &entry, 1) == 1 && entry.tag == &queue &&
              entry.status == UCCS_OK);
        CHECK(uccs_counter_get(counter) == 3 * i && *word == 5u * (unsigned)i);
        CHECK(i < 2 || memcmp(local, local + 40, 32) == 0);
        CHECK(i != 3 || memcmp(&old, local, 8) == 0);
        signal.how = UCCS_SIGNAL_ADD;
    }
    completions = 0;
    CHECK(blocks == was);
    uccs_request_free(&request), uccs_request_free(&free_again);
    uccs_request_t later = NULL;
    struct uccs_op op = {.nonblocking = 1, .request = &request, .local = &later};
    CHECK(uccs_put(self, kind->memory, kind->base + 64, local, 32, &op) == UCCS_OK && later == UCCS_REQUEST_CLEAN);
    CHECK((uccs_request_object(request) != NULL) == by_owner && uccs_wait(&request) == UCCS_OK);
    uccs_request_free(&later), uccs_request_free(&request);
    memset(local + 40, 0, 32);
    CHECK(uccs_get(self, kind->memory, kind->base + 64, local + 40, 32, &op) == UCCS_OK);
    CHECK((uccs_request_object(later) != NULL) == by_owner);
    CHECK(uccs_wait(&later) == UCCS_OK && memcmp(local, local + 40, 32) == 0 && uccs_wait(&request) == UCCS_OK);
    uccs_request_free(&later), uccs_request_free(&request);
    old = 0;
    CHECK(uccs_atomic(self, kind->memory, kind->base + 64, 8, UCCS_ATOMIC_FETCH, 0, 0, &old, &op) == UCCS_OK);
    CHECK((uccs_request_object(later) != NULL) == by_owner && uccs_wait(&later) == UCCS_OK &&
          memcmp(&old, local, 8) == 0);
    CHECK(uccs_wait(&request) == UCCS_OK);
    uccs_request_free(&later), uccs_request_free(&request);
    CHECK(uccs_atomic(self, kind->memory, kind->base + 64, 8, UCCS_ATOMIC_XOR, 0, 0, NULL, &op) == UCCS_OK);
    CHECK(later == UCCS_REQUEST_CLEAN && uccs_wait(&request) == UCCS_OK);
    uccs_request_free(&later), uccs_request_free(&request);
    old = 0;
    CHECK(uccs_accumulate(self, kind->memory, kind->base + 64, NULL, &old, 1, UCCS_DOUBLE, UCCS_NO_OP, &op) == UCCS_OK);
    CHECK(uccs_wait(&later) == UCCS_OK && memcmp(&old, local, 8) == 0 && uccs_wait(&request) == UCCS_OK);
    op = (struct uccs_op){.nonblocking = 1};
    fill(local, 70000, 77);
    CHECK(uccs_put(self, kind->memory, kind->base + 64, local, 70000, &op) == UCCS_OK);
    memset(local, 0, 70000);
    CHECK(uccs_stream_flush(uccs_context_stream(context), NULL, 0) == UCCS_OK);
    fill(local, 70000, 77);
    CHECK(memcmp(kind->bytes + 64, local, 70000) == 0);
    op.request = &request;
    uccs_request_free(&request);
    memset(local, 0, 70000);
    CHECK(uccs_get(self, kind->memory, kind->base + 64, local, 70000, &op) == UCCS_OK &&
          uccs_wait(&request) == UCCS_OK);
    CHECK(memcmp(kind->bytes + 64, local, 70000) == 0);
    uccs_counter_clear(counter);
    uccs_counter_release(counter);
    uccs_queue_abandon(queue);
}

/* --- By the owner: its room is full, and rings are */

static struct uccs_block *kept;
static int looked;

static int put_back(void *unused)
{
    (void)unused;
    if (++looked == 2)
        uccs_stage_put(kept);
    return 0;
}

static void no_room(void)
{
    struct target *kind = &kinds[BY_OWNER];
    static void *all[70000];
    size_t count = 0;
    for (size_t bytes = UCCS_LIBRARY_BYTES; bytes >= 64; bytes /= 2)
        while (count < 70000 && (all[count] = uccs_region_take(UCCS_ROOM_LIBRARY, bytes)))
            count++;
    uccs_request_t request = NULL;
    const struct uccs_op now = {.nonblocking = 1, .nowait = 1, .request = &request};
    CHECK(uccs_put(self, kind->memory, 0, local, 100000, &now) == UCCS_AGAIN && !uccs_request_pending(request));
    CHECK(uccs_put(self, kind->memory, 0, local, 100000, NULL) == UCCS_ERR_NO_MEMORY);
    CHECK(uccs_get(self, kind->memory, 0, local, 100000, NULL) == UCCS_ERR_NO_MEMORY);
    uccs_region_give(all[0]);
    kept = uccs_stage_get(UCCS_ROOM_LIBRARY, 70000); /* a block that comes back is awaited */
    CHECK(kept != NULL);
    for (size_t bytes = UCCS_LIBRARY_BYTES, more; bytes >= 64; bytes /= 2)
        while ((more = (size_t)uccs_region_take(UCCS_ROOM_LIBRARY, bytes)))
            all[count++] = (void *)more;
    CHECK(uccs_poller_add(put_back, NULL) == UCCS_OK);
    CHECK(uccs_put(self, kind->memory, 0, local, 8, NULL) == UCCS_OK && looked >= 2);
    CHECK(uccs_poller_remove(put_back, NULL) == UCCS_OK);
    all[0] = all[--count];
    while (count)
        uccs_region_give(all[--count]);
    CHECK(uccs_put(self, kind->memory, 0, local, 100000, &now) == UCCS_OK && uccs_wait(&request) == UCCS_OK);
    CHECK(memcmp(kind->bytes, local, 100000) == 0);
}

/* More calls than the owner's ring holds: one waits for room, or says that there is none and leaves nothing behind. */
static void full_ring(void)
{
    struct target *kind = &kinds[BY_OWNER];
    uccs_request_t request = NULL, here = NULL;
    struct uccs_op op = {.nonblocking = 1};
    uint64_t old = 0;
    for (size_t i = 0; i < OWN_RING_CELLS + 200; i++) {
        local[i] = (char)i;
        CHECK(uccs_put(self, kind->memory, i, &local[i], 1, &op) == UCCS_OK);
    }
    CHECK(uccs_stream_flush(uccs_context_stream(context), NULL, 0) == UCCS_OK);
    CHECK(memcmp(kind->bytes, local, OWN_RING_CELLS + 200) == 0);
    op = (struct uccs_op){.nonblocking = 1, .nowait = 1, .request = &request, .local = &here};
    size_t issued = 0;
    int status = UCCS_OK;
    while (status == UCCS_OK && issued < 2 * OWN_RING_CELLS) {
        status = uccs_atomic(self, kind->memory, 0, 8, UCCS_ATOMIC_FETCH, 0, 0, &old, &op);
        issued += status == UCCS_OK;
    }
    CHECK(status == UCCS_AGAIN && issued <= OWN_RING_CELLS && uccs_request_pending(request) == issued);
    CHECK(uccs_request_pending(here) == issued && uccs_wait(&request) == UCCS_OK && uccs_wait(&here) == UCCS_OK);
    CHECK(memcmp(&old, local, 8) == 0 &&
          uccs_atomic(self, kind->memory, 0, 8, UCCS_ATOMIC_FETCH, 0, 0, &old, &op) == UCCS_OK);
    CHECK(uccs_wait(&request) == UCCS_OK && uccs_wait(&here) == UCCS_OK);
    uccs_request_free(&request), uccs_request_free(&here);
    CHECK(uccs_stream_flush(uccs_context_stream(context), NULL, 0) == UCCS_OK);
    CHECK(!uccs_stage_expected(UCCS_ROOM_LIBRARY, &(int){1})); /* all blocks have come back */
}

/* A target that is released meanwhile refuses: what was to complete fails. */
static void refused(void)
{
    struct uccs_region gone = *kinds[BY_OWNER].memory;
    uint32_t *now = uccs_region_generation(0, gone.slot);
    uccs_request_t request = NULL, here = NULL;
    uint64_t old = 9;
    struct uccs_op op = {.nonblocking = 1, .request = &request, .local = &here};
    CHECK(uccs_get(self, &gone, 0, local, 8, &op) == UCCS_OK);
    *now += 2;
    CHECK(uccs_wait(&here) == UCCS_ERR_FAILED && uccs_wait(&request) == UCCS_ERR_FAILED);
    *now -= 2;
    request = here = NULL;
    CHECK(uccs_atomic(self, &gone, 0, 8, UCCS_ATOMIC_FETCH, 0, 0, &old, &op) == UCCS_OK);
    *now += 2;
    CHECK(uccs_wait(&here) == UCCS_ERR_FAILED && uccs_wait(&request) == UCCS_ERR_FAILED && old == 9);
    *now -= 2;
    op = (struct uccs_op){.nonblocking = 1};
    CHECK(uccs_put(self, &gone, 0, local, 8, &op) == UCCS_OK);
    *now += 2;
    CHECK(uccs_stream_flush(uccs_context_stream(context), NULL, 0) == UCCS_ERR_FAILED);
    *now -= 2;
    CHECK(uccs_stream_flush(uccs_context_stream(context), NULL, 0) == UCCS_OK);
}

int main(void)
{
    moves_start();
    changes();
    for (int kind = 0; kind < KINDS; kind++) {
        use(kind);
        wrong_moves(&kinds[kind]);
        wrong_atomics(&kinds[kind]);
        whole(&kinds[kind]);
        shapes(&kinds[kind]);
        atomics(&kinds[kind]);
        reals_in(&kinds[kind]);
        integers_in(&kinds[kind]);
        swaps_in(&kinds[kind]);
        carried(&kinds[kind], kind == BY_OWNER);
    }
    domains();
    wrong_handles();
    far_handles();
    wrong_ranges();
    without_memory();
    locks();
    use(BY_OWNER);
    no_room();
    full_ring();
    refused();
    moves_end();
    return pair_finish();
}
