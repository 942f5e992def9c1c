/* The operations of near_halves.c, all through one check. */
#ifndef TESTS_PARTS_SHMEM_NEAR_HALVES_MOVES_H
#define TESTS_PARTS_SHMEM_NEAR_HALVES_MOVES_H

enum mark { NOTHING, STORED, LOADED };

static const struct move {
    const char *far; /* what another node is asked for */
    bool get, counts, signals;
    enum mark mark;
} all_moves[] = {
    {"put %zu to 2; ", .get = false},
    {"get %zu to 2; ", .get = true},
    {"put_nbi %zu to 2; ", .get = false},
    {"get_nbi %zu to 2; ", .get = true},
    {"put_nbe %zu to 2 req; ", .mark = STORED},
    {"get_nbe %zu to 2 req; ", .get = true, .mark = LOADED},
    {"put_ct %zu to 2 blocking; ", .counts = true},
    {"get_ct %zu to 2 blocking; ", .get = true, .counts = true},
    {"put_ct %zu to 2; ", .counts = true},
    {"get_ct %zu to 2; ", .get = true, .counts = true},
    {"put_ct %zu to 2 req; ", .counts = true, .mark = STORED},
    {"get_ct %zu to 2 req; ", .get = true, .counts = true, .mark = STORED},
    {"put_signal %zu to 2 blocking; ", .signals = true},
    {"put_signal %zu to 2; ", .signals = true},
    {"put_signal %zu to 2 req; ", .signals = true, .mark = STORED},
    {"put %zu to 2; ", .get = false}, /* before a word */
};
enum { MOVES_COUNT = sizeof all_moves / sizeof *all_moves };

static lat_hot void move_of(int which, void *remote, size_t nelems, size_t size, int pe)
{
    switch (which) {
    case 0: lat_put("call", &ctx, remote, local, nelems, size, pe); break;
    case 1: lat_get("call", &ctx, local, remote, nelems, size, pe); break;
    case 2: lat_put_nbi("call", &ctx, remote, local, nelems, size, pe); break;
    case 3: lat_get_nbi("call", &ctx, local, remote, nelems, size, pe); break;
    case 4: lat_put_nbe("call", &ctx, remote, local, nelems, size, pe, &request); break;
    case 5: lat_get_nbe("call", &ctx, local, remote, nelems, size, pe, &request); break;
    case 6: lat_put_ct("call", &ctx, ct, remote, local, nelems, size, pe); break;
    case 7: lat_get_ct("call", &ctx, ct, local, remote, nelems, size, pe); break;
    case 8: lat_put_ct_nbi("call", &ctx, ct, remote, local, nelems, size, pe); break;
    case 9: lat_get_ct_nbi("call", &ctx, ct, local, remote, nelems, size, pe); break;
    case 10: lat_put_ct_nbe("call", &ctx, ct, remote, local, nelems, size, pe, &request); break;
    case 11: lat_get_ct_nbe("call", &ctx, ct, local, remote, nelems, size, pe, &request); break;
    case 12: lat_put_signal("call", &ctx, remote, local, nelems, size, word, 5, sig_op, pe); break;
    case 13: lat_put_signal_nbi("call", &ctx, remote, local, nelems, size, word, 5, sig_op, pe); break;
    case 14: lat_put_signal_nbe("call", &ctx, remote, local, nelems, size, word, 5, sig_op, pe, &request); break;
    default: lat_put_before("call", &ctx, remote, local, nelems, size, pe, word); break;
    }
}

static void fresh(void)
{
    for (size_t i = 0; i < ROOM; i++) {
        local[i] = (char)('A' + i % 26);
        for (int pe = 0; pe < NEAR; pe++)
            heap[pe][i] = (char)('a' + i % 26 + (size_t)pe);
    }
    heap[0][1024] = heap[1][1024] = 70;
    request = 0;
    ct = CT(live);
    for (uint32_t pe = 0; pe < NEAR; pe++)
        uccs_counter_at(pe, SLOT)->count = 0;
}

static uint64_t word_of(int pe)
{
    uint64_t value;
    memcpy(&value, heap[pe] + 1024, sizeof value);
    return value;
}

/* What is behind the data, at this PE alone; -1: at none. */
static void tells_of(const struct move *move, int pe)
{
    for (int other = 0; other < NEAR; other++) {
        const bool here = other == pe;
        CHECK(uccs_counter_at((uint32_t)other, SLOT)->count == (here && move->counts));
        CHECK(word_of(other) == (!here || !move->signals ? 70 : sig_op == SHMEM_SIGNAL_ADD ? 75 : 5));
    }
}

/* Where that pays, a put asks for the lines of its data and of the word behind it, before it stores. */
static void expected_of(int which, int pe, size_t nelems)
{
    const bool count = all_moves[which].counts && !all_moves[which].get;
    const bool asks = count || which == MOVES_COUNT - 1 || (all_moves[which].signals && nelems);
    CHECK(expects == (uccs_core.stingy && asks && pe != FAR ? 2 : 0));
    if (expects) {
        CHECK(expected[0] == heap[pe]);
        CHECK(expected[1] == (count ? (void *)uccs_counter_at((uint32_t)pe, SLOT) : (void *)(heap[pe] + 1024)) ||
              which == MOVES_COUNT - 1);
    }
    expects = 0;
}

/* The first `bytes` of the one are those of the other; everything else is as before. */
static void has_moved(const struct move *move, int pe, size_t bytes)
{
    static char before[NEAR][ROOM], mine[ROOM];
    memcpy(mine, local, ROOM);
    for (int other = 0; other < NEAR; other++)
        memcpy(before[other], heap[other], ROOM);
    fresh();
    if (move->get)
        memcpy(local, heap[pe], bytes);
    else
        memcpy(heap[pe], local, bytes);
    CHECK(memcmp(mine, local, ROOM) == 0);
    for (int other = 0; other < NEAR; other++)
        CHECK(memcmp(before[other], heap[other], ROOM) == 0);
}

static shmemx_request_t marked(enum mark mark, shmemx_request_t before)
{
    if (mark == NOTHING || uccs_request_object(before))
        return before;
    return mark == STORED || before == UCCS_REQUEST_DIRTY ? UCCS_REQUEST_DIRTY : UCCS_REQUEST_CLEAN;
}

static void move_with(int which, size_t nelems, size_t size, shmemx_request_t before)
{
    const struct move *move = &all_moves[which];
    struct uccs_request *object = uccs_request_object(before);
    char line[100];
    for (int pe = 0; pe < NPES; pe++) {
        fresh();
        request = before;
        if (object)
            object->dirty = 0;
        move_of(which, heap[0], nelems, size, pe);
        CHECK(request == (pe == FAR ? before : marked(move->mark, before)));
        CHECK(!object || object->dirty == (pe != FAR && move->mark == STORED));
        tells_of(move, pe);
        expected_of(which, pe, nelems);
        snprintf(line, sizeof line, move->far, nelems * size);
        NOTED(pe == FAR ? line : "");
        if (pe < FAR)
            has_moved(move, pe, nelems * size);
    }
}

static void moves(void)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    struct uccs_request object = {.pending = 1, .sources = 1};
    const shmemx_request_t handles[] = {0, UCCS_REQUEST_CLEAN, UCCS_REQUEST_DIRTY, &object};
    for (int which = 0; which < MOVES_COUNT; which++)
        for (size_t nelems = 0; nelems < 4; nelems++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                sig_op = i % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
                for (size_t handle = 0; handle < (all_moves[which].mark ? 4 : 1); handle++)
                    move_with(which, nelems, sizes[i], handles[handle]);
            }
    for (size_t bytes = 1; bytes <= 17; bytes++) {
        const struct move put = {0};
        fresh();
        lat_move_bytes(heap[1], local, bytes);
        has_moved(&put, 1, bytes);
        lat_move_bytes_before(heap[1], local, bytes, word);
        has_moved(&put, 1, bytes);
        CHECK(expects == (uccs_core.stingy ? 2 : 0));
        CHECK(!expects || (expected[0] == heap[1] && expected[1] == word));
        expects = 0;
    }
}

/* As many elements as may be in one call, and one more. */
static void too_many(void)
{
    static char line[100], wanted[150];
    static int which, size;
    for (which = 0; which < MOVES_COUNT; which++)
        for (size = 1; size <= 8; size += 7) {
            static size_t most;
            most = LAT_BYTES_MOST / (size_t)size;
            fresh();
            sig_op = SHMEM_SIGNAL_SET;
            move_of(which, heap[0], most, (size_t)size, FAR);
            snprintf(line, sizeof line, all_moves[which].far, LAT_BYTES_MOST);
            NOTED(line);
            snprintf(wanted, sizeof wanted,
                     "call: %zu elements of %d bytes are more than memory can hold; was the number negative?", most + 1,
                     size);
            REFUSED(move_of(which, heap[0], most + 1, (size_t)size, FAR), wanted);
            REFUSED(move_of(which, heap[0], most + 1, (size_t)size, 1), wanted);
            NOTED("");
            has_moved(&all_moves[which], 1, 0);
        }
}

/* Data whose counter is an old handle still comes; the slow half tells the target. */
static void old_counters(void)
{
    for (int which = 6; which < 12; which++) {
        fresh();
        ct = CT(old);
        move_of(which, heap[0], 3, 4, 1);
        NOTED("ct 1 to 1; ");
        CHECK(uccs_counter_at(0, SLOT)->count == 0 && uccs_counter_at(1, SLOT)->count == 0);
        has_moved(&all_moves[which], 1, 12);
    }
}

static void signals(void)
{
    static const int ops[] = {SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD};
    for (int i = 0; i < 2; i++)
        for (int pe = 0; pe < NPES; pe++) {
            fresh();
            sig_op = ops[i];
            lat_signal("call", &ctx, word, 5, sig_op, pe);
            NOTED(pe == FAR ? "signal 5 to 2; " : "");
            tells_of(&(struct move){.signals = true}, pe);
            fresh();
            lat_put_signal("call", &ctx, elsewhere, local, 3, 4, word, 5, sig_op, pe); /* the data lies off the heap */
            NOTED(pe == 0 ? "put 12 to 0; " : pe == 1 ? "put 12 to 1; " : "put_signal 12 to 2 blocking; ");
            tells_of(&(struct move){.signals = true}, pe);
            fresh();
            if (pe != FAR)
                lat_put_signal("call", &ctx, elsewhere, local, 0, 4, word, 5, sig_op,
                               pe); /* no data: any address will do */
            NOTED("");
            tells_of(&(struct move){.signals = pe != FAR}, pe);
            fresh();
            lat_put_signal_ct("call", &ctx, ct, heap[0], local, 3, 4, word, 5, sig_op, pe);
            NOTED(pe == 0   ? "behind 0 to 0; "
                  : pe == 1 ? "behind 0 to 1; "
                            : "put_signal 12 to 2 blocking; behind 0 to 2; ");
            tells_of(&(struct move){.signals = true}, pe);
            if (pe != FAR)
                has_moved(&(struct move){0}, pe, 12);
        }
}

static void strided(void)
{
    fresh();
    lat_iput_ct("call", &ctx, ct, heap[0], local, -6, 7, 3, 4, 1);
    NOTED("iput 12 to 1; behind 0 to 1; ");
    lat_iget_ct("call", &ctx, ct, local, heap[0], -6, 7, 3, 4, 1);
    NOTED("iget 12 to 1; ");
    tells_of(&(struct move){.counts = true}, 1);
    for (int done = 0; done < 2; done++) {
        carried = done;
        request = 0;
        lat_iput_nbe("call", &ctx, heap[0], local, -6, 7, 3, 4, 1, &request);
        CHECK(request == (done ? UCCS_REQUEST_DIRTY : 0));
        NOTED("iput 12 to 1; ");
        request = 0;
        lat_iget_nbe("call", &ctx, local, heap[0], -6, 7, 3, 4, 1, &request);
        CHECK(request == (done ? UCCS_REQUEST_CLEAN : 0));
        NOTED("iget 12 to 1; ");
    }
}

/* A clean one is complete without a further look. */
static void requests(void)
{
    const shmemx_request_t handles[] = {0, UCCS_REQUEST_CLEAN, UCCS_REQUEST_DIRTY};
    for (int i = 0; i < 3; i++)
        for (slow = 0; slow < 2; slow++) {
            request = handles[i];
            CHECK(lat_request_test(&request) == (i == 1 || slow));
            NOTED(i == 1 ? "" : "test; ");
        }
}

static void reals(void)
{
    CHECK(lat_double_of_bits(UINT64_C(0x3ff) << 52) == 1.0);
    CHECK(lat_double_of_bits(UINT64_C(0x400) << 52) == 2.0 && lat_double_of_bits(0) == 0.0);
    float f = 1.5f;
    double d = 2.5;
    CHECK(lat_load_acquire_float(&f) == 1.5f && lat_load_acquire_double(&d) == 2.5);
    lat_store_release_float(&f, -3.25f);
    lat_store_release_double(&d, -4.25);
    CHECK(f == -3.25f && d == -4.25);
    CHECK(lat_exchange_acqrel_float(&f, 5.0f) == -3.25f && f == 5.0f);
    CHECK(lat_exchange_acqrel_double(&d, 6.0) == -4.25 && d == 6.0);
}

#endif
