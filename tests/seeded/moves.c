/* One-sided operations of all kinds on memory of all kinds of all PEs, as a seed draws them, against plain bytes. Each PE writes to a part
 * of every memory that is its own, of which it keeps a model; words that all PEs add to, counters, signals, callbacks and queues are added up.
 * pes: 3
 * labels: seeded
 * timeout: 120
 * case: gather
 * env: SEED=1 LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=fault,seed=1,hold=50:tcp
 * case: wire
 * env: SEED=2 LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim,seed=2,hold=50,order=1:fault,seed=2,hold=30:tcp
 */
#include "../uccs/check.h"

#include "draw.h"

enum { AREA = 4096, AREAS = 16, PART = AREA * AREAS, WORDS = 16, KINDS = 3, MOST = 8, ROUNDS = 25, MOVES = 40 };

static uccs_context_t contexts[2];
static uccs_endpoint_t to[2][MOST];
static uccs_memory_t memory[KINDS][MOST];
static uint64_t base[KINDS][MOST]; /* offset of the first byte */
static unsigned char *model[KINDS][MOST];
static uccs_counter_t counter;
static uccs_queue_t queue;
static int64_t expected[MOST][WORDS + 2]; /* at each PE: what was added to its words, counted, and signalled */
static uint64_t callbacks, called, entries, taken;

/* Of a batch: areas that an operation has gone to, and the memory that operations use. */
static bool used[KINDS][MOST][AREAS];
static unsigned char *sources;
static size_t sources_used;
static struct check_later {
    const void *got;
    unsigned char old[AREA];
    size_t bytes;
} later[MOVES];
static int laters;

struct target {
    int pe, kind, area, context;
    unsigned char *model;
    uint64_t offset;
};

static unsigned char *buffer(size_t bytes)
{
    unsigned char *at = sources + sources_used;
    sources_used += (bytes + 63) / 64 * 64;
    return at;
}

static void complete(void *argument, int status)
{
    CHECK(argument == &callbacks && status == UCCS_OK);
    __atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
}

/* An operation to an area that another one may be under way to must be ordered behind it, along one endpoint. */
static struct target draw_target(struct uccs_op *op)
{
    struct target t = {.pe = (int)below(&own, (size_t)npes),
                       .kind = (int)below(&own, KINDS),
                       .area = (int)below(&own, AREAS)};
    bool *is_used = &used[t.kind][t.pe][t.area];
    if (*is_used)
        op->ordered = 1;
    t.context = t.area % 2;
    *is_used = true;
    t.model = model[t.kind][t.pe] + t.area * AREA;
    t.offset = base[t.kind][t.pe] + (uint64_t)me * PART + (uint64_t)(t.area * AREA);
    return t;
}

static bool must_fetch_alone(const struct target *t, const struct uccs_op *op)
{
    if (op->ordered)
        OK(uccs_flush(contexts[t->context]));
    return op->ordered;
}

static void expect(const struct target *t, const void *got, size_t at, size_t bytes)
{
    struct check_later *one = &later[laters++];
    one->got = got;
    one->bytes = bytes;
    memcpy(one->old, t->model + at, bytes);
}

static void put(struct uccs_op *op)
{
    const struct target t = draw_target(op);
    const size_t bytes = below(&own, AREA + 1), at = below(&own, AREA + 1 - bytes);
    unsigned char *source = buffer(bytes);
    fill_with(source, bytes, draw(&own));
    memcpy(t.model + at, source, bytes);
    OK(uccs_put(to[t.context][t.pe], memory[t.kind][t.pe], t.offset + at, source, bytes, op));
    if (op->local && below(&own, 2)) {
        OK(uccs_wait(op->local));
        memset(source, 0xEE, bytes);
    }
}

static void put_blocks(struct uccs_op *op)
{
    const struct target t = draw_target(op);
    const size_t block = 1 + below(&own, 64), count = below(&own, AREA / 128);
    const struct uccs_stride stride = {.block = block,
                                       .count = count,
                                       .remote_stride = (ptrdiff_t)(block + below(&own, 64)),
                                       .local_stride = (ptrdiff_t)(block + below(&own, 9))};
    unsigned char *source = buffer(AREA * 2);
    fill_with(source, AREA * 2, draw(&own));
    for (size_t i = 0; i < count; i++)
        memcpy(t.model + (ptrdiff_t)i * stride.remote_stride, source + (ptrdiff_t)i * stride.local_stride, block);
    OK(uccs_put_blocks(to[t.context][t.pe], memory[t.kind][t.pe], t.offset, source, &stride, op));
}

static void put_pieces(struct uccs_op *op)
{
    const struct target t = draw_target(op);
    struct uccs_piece pieces[7];
    const size_t n = below(&own, 8);
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = below(&own, 500);
        pieces[i] = (struct uccs_piece){t.offset + i * 512, buffer(bytes), bytes};
        fill_with(pieces[i].local, bytes, draw(&own));
        memcpy(t.model + i * 512, pieces[i].local, bytes);
    }
    OK(uccs_put_pieces(to[t.context][t.pe], memory[t.kind][t.pe], pieces, n, op));
}

static uint64_t applied(enum uccs_atomic what, uint64_t old, uint64_t operand, uint64_t compare)
{
    switch (what) {
    case UCCS_ATOMIC_FETCH: return old;
    case UCCS_ATOMIC_SET:
    case UCCS_ATOMIC_SWAP: return operand;
    case UCCS_ATOMIC_CSWAP: return old == compare ? operand : old;
    case UCCS_ATOMIC_ADD: return old + operand;
    case UCCS_ATOMIC_AND: return old & operand;
    case UCCS_ATOMIC_OR: return old | operand;
    default: return old ^ operand;
    }
}

static void atomic(struct uccs_op *op)
{
    const struct target t = draw_target(op);
    const size_t size = below(&own, 2) ? 4 : 8, at = below(&own, AREA / 8) * 8;
    const enum uccs_atomic what = (enum uccs_atomic)below(&own, UCCS_ATOMIC_XOR + 1);
    uint64_t old = 0, *result = (uint64_t *)(void *)buffer(8);
    memcpy(&old, t.model + at, size);
    const uint64_t mask = size == 4 ? UINT32_MAX : UINT64_MAX, operand = draw(&own) & mask;
    const uint64_t compare = below(&own, 2) ? old : ~old & mask;
    const uint64_t now = applied(what, old, operand, compare) & mask;
    bool fetches = what == UCCS_ATOMIC_FETCH || below(&own, 2);
    if (fetches && must_fetch_alone(&t, op))
        op->ordered = 0;
    if (fetches)
        expect(&t, result, at, size);
    memcpy(t.model + at, &now, size);
    OK(uccs_atomic(to[t.context][t.pe], memory[t.kind][t.pe], t.offset + at, size, what, operand, compare,
                   fetches ? result : 0, op));
}

static void accumulate(struct uccs_op *op)
{
    static const enum uccs_reduction ways[] = {UCCS_SUM, UCCS_XOR, UCCS_MAX, UCCS_REPLACE, UCCS_NO_OP};
    const struct target t = draw_target(op);
    const enum uccs_reduction how = ways[below(&own, 5)];
    const size_t n = below(&own, AREA / 8 + 1), at = below(&own, AREA / 8 + 1 - n) * 8;
    int64_t *operand = (int64_t *)(void *)buffer(n * 8), *result = (int64_t *)(void *)buffer(n * 8);
    fill_with(operand, n * 8, draw(&own));
    const bool fetches = how == UCCS_NO_OP || below(&own, 3) == 0;
    if (fetches && must_fetch_alone(&t, op))
        op->ordered = 0;
    if (fetches)
        expect(&t, result, at, n * 8);
    for (size_t i = 0; i < n; i++) {
        uint64_t old, with = (uint64_t)operand[i];
        memcpy(&old, t.model + at + i * 8, 8);
        const uint64_t more = (int64_t)with > (int64_t)old ? with : old;
        const uint64_t values[] = {old + with, old ^ with, more, with, old};
        for (int k = 0; k < 5; k++)
            if (ways[k] == how)
                memcpy(t.model + at + i * 8, &values[k], 8);
    }
    OK(uccs_accumulate(to[t.context][t.pe], memory[t.kind][t.pe], t.offset + at, operand, fetches ? result : 0, n,
                       UCCS_INT64, how, op));
}

static void get(struct uccs_op *op)
{
    const struct target t = draw_target(op);
    const size_t bytes = below(&own, AREA + 1), at = below(&own, AREA + 1 - bytes);
    unsigned char *dest = buffer(bytes);
    (void)must_fetch_alone(&t, op);
    op->ordered = 0;
    expect(&t, dest, at, bytes);
    OK(uccs_get(to[t.context][t.pe], memory[t.kind][t.pe], t.offset + at, dest, bytes, op));
}

/* A word that all PEs add to. */
static void add(struct uccs_op *op)
{
    const int pe = (int)below(&own, (size_t)npes), word = (int)below(&own, WORDS);
    const uint64_t value = below(&own, 1000);
    expected[pe][word] += (int64_t)value;
    OK(uccs_atomic(to[below(&own, 2)][pe], memory[0][pe], (uint64_t)(npes * PART + 8 * word), 8, UCCS_ATOMIC_ADD, value,
                   0, 0, op));
}

/* What the operation carries; who counts it is the PE to which it goes, so only `add` has it, whose target is drawn there. */
static void add_with_all(struct uccs_op *op)
{
    const int pe = (int)below(&own, (size_t)npes);
    const struct uccs_signal signal = {memory[0][pe], (size_t)(npes * PART + 8 * WORDS), 1 + below(&own, 9),
                                       UCCS_SIGNAL_ADD};
    const size_t bytes = below(&own, 20000);
    unsigned char *source = buffer(bytes);
    op->counter = counter;
    op->weight = 1 + (int64_t)below(&own, 5);
    op->signal = &signal;
    expected[pe][WORDS] += op->weight;
    expected[pe][WORDS + 1] += (int64_t)signal.value;
    OK(uccs_put(to[below(&own, 2)][pe], memory[2][pe], base[2][pe] + (uint64_t)((npes + me) * PART), source, bytes,
                op));
}

static void draw_move(uccs_request_t *request, uccs_request_t *local)
{
    static void (*const moves[])(struct uccs_op *) = {put,        put, put_blocks, put_pieces,  atomic,
                                                      accumulate, get, add,        add_with_all};
    struct uccs_op op = {.request = request, .nonblocking = below(&own, 3) != 0};
    if (below(&own, 3) == 0)
        op.local = local;
    if (below(&own, 4) == 0) {
        op.complete = complete;
        op.argument = &callbacks;
        callbacks++;
    }
    if (below(&own, 4) == 0) {
        op.queue = queue;
        op.tag = &queue;
        entries++;
    }
    moves[below(&own, sizeof moves / sizeof *moves)](&op);
}

static void drain_queue(void)
{
    struct uccs_entry some[8];
    size_t count = 8;
    OK(uccs_queue_poll(queue, some, &count));
    for (size_t i = 0; i < count; i++)
        CHECK(some[i].tag == &queue && some[i].status == UCCS_OK);
    taken += count;
}

static void compare_all(void)
{
    static unsigned char seen[PART];
    for (int pe = 0; pe < npes; pe++)
        for (int kind = 0; kind < KINDS; kind++) {
            OK(uccs_get(to[0][pe], memory[kind][pe], base[kind][pe] + (uint64_t)me * PART, seen, PART, 0));
            CHECK(memcmp(seen, model[kind][pe], PART) == 0);
        }
}

static void batch(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    const bool by_request = below(&own, 2);
    memset(used, 0, sizeof used);
    sources_used = 0;
    laters = 0;
    for (size_t i = 1 + below(&own, MOVES); i > 0; i--) {
        draw_move(by_request ? &request : 0, &local);
        if (below(&own, 6) == 0)
            (void)uccs_progress();
    }
    if (by_request)
        OK(uccs_wait(&request));
    else
        for (int i = 0; i < 2; i++)
            OK(uccs_flush(contexts[i]));
    OK(uccs_wait(&local));
    for (int i = 0; i < laters; i++)
        CHECK(memcmp(later[i].got, later[i].old, later[i].bytes) == 0);
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&local));
    drain_queue();
    compare_all();
}

static void open_memory(void)
{
    const size_t bytes = (size_t)(2 * npes) * PART + 8 * (WORDS + 1);
    unsigned char *mine[KINDS];
    uccs_memory_t here[KINDS];
    struct uccs_memory_attr attr;
    OK(uccs_memory_allocate(0, bytes, &here[0]));
    OK(uccs_memory_query(here[0], &attr));
    mine[0] = attr.address;
    for (int kind = 1; kind < KINDS; kind++)
        mine[kind] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    OK(uccs_memory_register(0, mine[1], bytes, &here[1]));
    OK(uccs_memory_dynamic(0, &here[2]));
    OK(uccs_memory_attach(here[2], mine[2], bytes));
    for (int kind = 0; kind < KINDS; kind++) {
        const uint64_t at = kind == 2 ? (uint64_t)(uintptr_t)mine[kind] : 0;
        memset(mine[kind], 0, bytes);
        check_share(0, here[kind], memory[kind]);
        OK(uccs_allgather(UCCS_GROUP_WORLD, &at, base[kind], sizeof at));
        for (int pe = 0; pe < npes; pe++)
            model[kind][pe] = calloc(1, PART);
    }
}

static void add_up(void)
{
    int64_t all[MOST][WORDS + 2], value = 0;
    struct uccs_memory_attr attr;
    OK(uccs_allreduce(UCCS_GROUP_WORLD, expected, all, MOST * (WORDS + 2), UCCS_INT64, UCCS_SUM));
    OK(uccs_memory_query(memory[0][me], &attr));
    const int64_t *words = (const int64_t *)(const void *)((const char *)attr.address + (size_t)npes * PART);
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(__atomic_load_n(&words[i], __ATOMIC_ACQUIRE), all[me][i]);
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, all[me][WORDS]);
    CHECK_EQ(__atomic_load_n(&words[WORDS], __ATOMIC_ACQUIRE), all[me][WORDS + 1]);
}

int main(void)
{
    check_start();
    CHECK(npes <= MOST);
    draw_start(me);
    sources = malloc((size_t)MOVES * 64 << 10);
    for (uint32_t i = 0; i < 2; i++) {
        OK(uccs_context_create(&(struct uccs_context_attr){.id = i}, &contexts[i]));
        for (int pe = 0; pe < npes; pe++)
            to[i][pe] = check_endpoint(contexts[i], pe);
    }
    OK(uccs_counter_open(&counter));
    OK(uccs_queue_create(&queue));
    open_memory();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < ROUNDS; i++)
        batch();
    while (__atomic_load_n(&called, __ATOMIC_RELAXED) < callbacks || taken < entries) {
        (void)uccs_progress();
        drain_queue();
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    add_up();
    CHECK(called == callbacks && taken == entries);
    OK(uccs_counter_shut(counter));
    return check_pass();
}
