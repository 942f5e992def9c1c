/* One-sided operations, against plain memory: puts, gets, atomics, flushes, order, keys. */
#include "transport/net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

/* Memory of PE 1 that the others access. */
static unsigned char *there;
static void *shared, *key[NET_PES][NET_WORKERS];

struct move {
    struct net_op op;
    struct transport_word word;
    unsigned char *data;
    size_t bytes, at;
    bool frees; /* the source is overwritten when it is free */
};

static void move_ends(struct net_op *op)
{
    struct move *move = (struct move *)op;
    if (move->frees)
        memset(move->data, 0xEE, move->bytes);
}

static unsigned able(const struct net_worker *worker)
{
    return net_of(worker)->able(worker->to[1][0]);
}

static void start(int pes, int workers)
{
    char packed[TRANSPORT_KEY];
    size_t bytes = sizeof packed, few = 3;
    net.onesided = TRANSPORT_ONESIDED | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
    net_start(pes, workers);
    there = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = net.at[1]->share(there, BYTES);
    CHECK(shared, "memory can be shared");
    CHECK(net.at[1]->pack(shared, packed, &few) == -1 && few > 3, "three bytes are too few for a key");
    CHECK(net.at[1]->pack(shared, packed, &bytes) == 0 && bytes == few && bytes <= TRANSPORT_KEY, "the key fits");
    for (int i = 0; i < pes * workers; i++) {
        struct net_worker *worker = net_worker(i / workers, i % workers);
        if (worker->pe == 1)
            continue;
        net_send(worker, 1, 0, 8);
        NET_UNTIL(able(worker) & TRANSPORT_KNOWN);
        CHECK(able(worker) & TRANSPORT_ONESIDED, "there are such operations");
        key[worker->pe][worker->number] = net_of(worker)->unpack(worker->to[1][0], packed, bytes);
        CHECK(key[worker->pe][worker->number], "the key can be used");
    }
}

static void finish(void)
{
    net_settle();
    for (int i = 0; i < net.pes * net.workers; i++)
        if (key[i / net.workers][i % net.workers])
            net.at[i / net.workers]->forget(key[i / net.workers][i % net.workers]);
    net.at[1]->withdraw(shared);
    for (int pe = 0; pe < net.pes; pe++)
        net_close(pe);
}

static void put(struct net_worker *worker, struct move *move, size_t at, size_t bytes)
{
    move->op = net_begin(worker);
    move->op.end = move_ends;
    move->bytes = bytes;
    move->frees = true;
    net_judge(&move->op, net_of(worker)->put(worker->to[1][0], key[worker->pe][worker->number], (uintptr_t)there + at,
                                             move->data, bytes, move));
}

static void get(struct net_worker *worker, struct move *move, size_t at, size_t bytes)
{
    move->op = net_begin(worker);
    move->bytes = bytes;
    move->frees = false;
    net_judge(&move->op, net_of(worker)->get(worker->to[1][0], key[worker->pe][worker->number], (uintptr_t)there + at,
                                             move->data, bytes, move));
}

static void atomic(struct net_worker *worker, struct move *move, size_t at, void *old)
{
    move->op = net_begin(worker);
    net_judge(&move->op, net_of(worker)->atomic(worker->to[1][0], key[worker->pe][worker->number],
                                                (uintptr_t)there + at, &move->word, old, move));
}

/* The target makes progress seldom: a flush that does not wait for it ends before the puts are there. */
static void flush(struct net_worker *worker)
{
    struct net_op op = net_begin(worker);
    net_judge(&op, net_of(worker)->flush(worker->to[1][0], &op));
    for (int turn = 1; !op.ended; turn++)
        net_idle(turn % 32 ? net_progress(worker) : net_pump());
}

static void puts_and_gets(void)
{
    static unsigned char model[BYTES], data[BYTES];
    static const size_t most[] = {2, 9, 300, 5000, 70000, BYTES / 2};
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    for (int i = 0; i < 400; i++) {
        struct move move = {.data = data};
        const size_t bytes = net_below(worker, most[net_below(worker, 6)]), at = net_below(worker, BYTES - bytes + 1);
        if (net_below(worker, 2)) {
            net_fill(data, bytes, net_random(worker));
            memcpy(model + at, data, bytes);
            put(worker, &move, at, bytes);
            flush(worker);
            CHECK(memcmp(there, model, BYTES) == 0, "after the flush, %zu bytes are at the target, and no others",
                  bytes);
            net_wait(&move.op);
        } else {
            memset(data, 0x11, bytes + 1);
            get(worker, &move, at, bytes);
            net_wait(&move.op);
            CHECK(memcmp(data, model + at, bytes) == 0 && data[bytes] == 0x11, "a get of %zu bytes", bytes);
        }
    }
    finish();
}

/* Many at once, of several workers, between messages; each has a part of the memory to itself. */
static void many_at_once(void)
{
    enum { ROUNDS = 10, MOVES = 60, PART = BYTES / 8, SLOT = PART / MOVES / 8 * 8 };
    static struct move moves[4][MOVES];
    start(3, 2);
    unsigned char *model = net_alloc(BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 4 * MOVES; i++) {
            struct net_worker *worker = net_worker(i % 2 * 2, i / 2 % 2);
            struct move *move = &moves[i % 4][i / 4];
            const size_t at = (size_t)(i % 4) * PART + (size_t)(i / 4) * SLOT, bytes = net_below(worker, SLOT);
            move->data = net_alloc(SLOT);
            net_fill(move->data, bytes, net_random(worker));
            memcpy(model + at, move->data, bytes);
            put(worker, move, at, bytes);
            if (net_below(worker, 8) == 0)
                net_send(worker, 1, 0, net_below(worker, 4000));
            if (net_below(worker, 5) == 0)
                net_pump();
        }
        for (int i = 0; i < 4; i++)
            flush(net_worker(i % 2 * 2, i / 2 % 2));
        CHECK(memcmp(there, model, BYTES) == 0, "all puts are at the target after a flush of each worker");
        for (int i = 0; i < 4 * MOVES; i++) {
            net_wait(&moves[i % 4][i / 4].op);
            free(moves[i % 4][i / 4].data);
        }
    }
    finish();
}

static uint64_t changed(const struct transport_word *word, uint64_t old)
{
    const uint64_t mask = word->size == 4 ? UINT32_MAX : UINT64_MAX;
    switch (word->what) {
    case TRANSPORT_SWAP: return word->operand & mask;
    case TRANSPORT_CSWAP: return old == (word->compare & mask) ? word->operand & mask : old;
    case TRANSPORT_ADD: return (old + word->operand) & mask;
    case TRANSPORT_AND: return old & word->operand & mask;
    case TRANSPORT_OR: return (old | word->operand) & mask;
    default: return (old ^ word->operand) & mask;
    }
}

static uint64_t value_of(const void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

/* Each operation of both widths against the model, with the old value and without. */
static void atomics_one_by_one(void)
{
    uint64_t count = 0;
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    for (int i = 0; i < 1200; i++) {
        const size_t size = net_below(worker, 2) ? 4 : 8, at = net_below(worker, 64) * size;
        struct move move = {
            .word = {(enum transport_atomic)net_below(worker, 6), (uint32_t)size, net_random(worker), 0}};
        unsigned char before[512];
        uint64_t got = 0x5555555555555555u, expected;
        if (!(net_of(worker)->atomics(worker->to[1][0], size) & 1u << move.word.what))
            continue;
        const bool fetches = move.word.what <= TRANSPORT_CSWAP || net_below(worker, 2);
        memcpy(before, there, sizeof before);
        const uint64_t old = value_of(there + at, size);
        move.word.compare = net_below(worker, 2) ? old : ~old;
        expected = changed(&move.word, old);
        atomic(worker, &move, at, fetches ? &got : 0);
        net_wait(&move.op);
        if (!fetches)
            flush(worker);
        CHECK(value_of(there + at, size) == expected, "operation %d of %zu bytes", (int)move.word.what, size);
        CHECK(!fetches || memcmp(&got, &old, size) == 0, "operation %d fetches the old value", (int)move.word.what);
        CHECK(size == 8 || got >> 32 == 0x55555555u, "no more than the word is written");
        memcpy(before + at, &expected, size);
        CHECK(memcmp(before, there, sizeof before) == 0, "its neighbours stay");
        count++;
    }
    CHECK((count > 1000) == net_claims("atomics"), "the row says whether there are atomics: %lu were done",
          (unsigned long)count);
    for (size_t size = 0; size < 20; size++)
        CHECK(size == 4 || size == 8 || !net_of(worker)->atomics(worker->to[1][0], size), "none of %zu bytes", size);
    finish();
}

/* Several PEs add to one word: no addition is lost, and no two see the same old value. */
static void atomics_at_once(void)
{
    enum { EACH = 100, WINDOW = 8 };
    static struct move moves[4][EACH];
    static uint64_t old[4][EACH];
    static bool seen[4 * EACH];
    start(3, 2);
    for (int i = 0; i < 4 * EACH; i++) {
        struct net_worker *worker = net_worker(i % 2 * 2, i / 2 % 2);
        struct move *move = &moves[i % 4][i / 4];
        move->word = (struct transport_word){TRANSPORT_ADD, 8, 1, 0};
        atomic(worker, move, 64, &old[i % 4][i / 4]);
        if (i / 4 >= WINDOW)
            net_wait(&moves[i % 4][i / 4 - WINDOW].op);
    }
    for (int i = 0; i < 4 * EACH; i++) {
        net_wait(&moves[i % 4][i / 4].op);
        CHECK(old[i % 4][i / 4] < 4 * EACH && !seen[old[i % 4][i / 4]], "an old value comes once");
        seen[old[i % 4][i / 4]] = true;
    }
    CHECK(value_of(there + 64, 8) == 4 * EACH, "all have been added");
    finish();
}

/* A flag behind data, with `order` between, and no flush. */
static void keeps_order(void)
{
    enum { ROUNDS = 200, BLOCK = 3000, FLAG = BYTES - 64 };
    static struct move data[ROUNDS], flag[ROUNDS];
    static uint64_t numbers[ROUNDS];
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    CHECK(able(worker) & TRANSPORT_ORDERS, "the row claims order");
    for (uint64_t i = 0; i < ROUNDS || value_of(there + FLAG, 8) < ROUNDS; i++) {
        if (i < ROUNDS) {
            data[i].data = net_alloc(BLOCK);
            net_fill(data[i].data, BLOCK, i);
            put(worker, &data[i], i * BLOCK, BLOCK);
            net_of(worker)->order(worker->at);
            numbers[i] = i + 1;
            flag[i].data = (unsigned char *)&numbers[i];
            flag[i].word = (struct transport_word){TRANSPORT_ADD, 8, 1, 0};
            i % 2 || !net_claims("atomics") ? put(worker, &flag[i], FLAG, 8) : atomic(worker, &flag[i], FLAG, 0);
            net_of(worker)->order(worker->at);
        }
        net_pump();
        for (uint64_t k = 0; k < value_of(there + FLAG, 8); k++)
            CHECK(net_same(there + k * BLOCK, BLOCK, k), "data %lu is there before its flag", (unsigned long)k);
    }
    flush(worker);
    finish();
}

/* Behind withdraw nobody reads or writes the memory, and messages go on. */
static void withdrawn(void)
{
    static unsigned char data[100];
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    struct move move = {.data = data};
    memset(there, 7, 1000);
    net.at[1]->withdraw(shared);
    net.may_fail = true;
    put(worker, &move, 0, sizeof data);
    net_wait(&move.op);
    struct net_op last = net_begin(worker);
    net_judge(&last, net_of(worker)->flush(worker->to[1][0], &last));
    net_wait(&last);
    CHECK(move.op.failed || last.failed, "the put, or the flush, fails");
    get(worker, &move, 0, sizeof data);
    net_wait(&move.op);
    CHECK(move.op.failed && there[0] == 7 && there[99] == 7, "and so does a get");
    move.word = (struct transport_word){TRANSPORT_ADD, 8, 1, 0};
    uint64_t old = 0;
    atomic(worker, &move, 0, &old);
    net_wait(&move.op);
    CHECK(move.op.failed && there[0] == 7, "and an atomic");
    net.may_fail = false;
    flush(worker); /* a failure is told once */
    net_send(worker, 1, 0, 2000);
    net_settle();
}

/* Puts with the key of counting memory count, each once it is in place, and those with another key of the same memory do not. */
static void counted(void)
{
    static unsigned char data[1000];
    char packed[TRANSPORT_KEY];
    size_t bytes = sizeof packed;
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    CHECK(able(worker) & TRANSPORT_COUNTS, "the row claims counts");
    void *counting = net.at[1]->share_counting(there, BYTES), *plain = key[0][0];
    CHECK(counting && net.at[1]->pack(counting, packed, &bytes) == 0, "the memory can be shared a second time");
    void *keys[] = {plain, net_of(worker)->unpack(worker->to[1][0], packed, bytes)};
    for (uint64_t i = 0, count = 0; i < 200; i++) {
        struct move move = {.data = data};
        const uint64_t which = net_below(worker, 2);
        key[0][0] = keys[which];
        put(worker, &move, i * 8, 1 + net_below(worker, sizeof data));
        flush(worker);
        net_wait(&move.op);
        CHECK(net.at[1]->counted(counting) == (count += which), "put %lu is counted, or not", (unsigned long)i);
    }
    key[0][0] = plain;
    net_of(worker)->forget(keys[1]);
    net.at[1]->withdraw(counting);
    finish();
}

/* What lies outside of the shared memory is not in its key. */
static void outside(void)
{
    static unsigned char data[64];
    start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    const size_t places[] = {BYTES, BYTES - 63, (size_t)-64};
    net.may_fail = true;
    for (int i = 0; i < 3; i++) {
        struct move move = {.data = data};
        get(worker, &move, places[i], sizeof data);
        net_wait(&move.op);
        CHECK(move.op.failed, "a get from outside");
    }
    net.may_fail = false;
    finish();
}

const struct net_case cases_onesided[] = {{"puts_and_gets", puts_and_gets, "onesided"},
                                          {"many_at_once", many_at_once, "onesided"},
                                          {"atomics_one_by_one", atomics_one_by_one, "onesided"},
                                          {"atomics_at_once", atomics_at_once, "atomics"},
                                          {"keeps_order", keeps_order, "orders"},
                                          {"counted", counted, "counts"},
                                          {"withdrawn", withdrawn, "alone"},
                                          {"outside", outside, "alone"},
                                          {0}};
