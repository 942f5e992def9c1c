/* Operations with options among made-up neighbours: the checks of each form at their edges, what is waited for before an operation, which
 * way it takes, what follows its completion, and what a failure leaves behind. */
#include "options_world.h"

/* --- Checks */

static int run(struct uccs_rma rma)
{
    const int status = uccs_rma_run(&rma);
    CHECK(rma.memory == &memory || !rma.memory);
    return status;
}

static int put_at(size_t offset, size_t length)
{
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    rma.offset = offset;
    rma.length = length;
    return run(rma);
}

static void ranges(void)
{
    begin();
    CHECK(put_at(0, 200) == UCCS_OK && put_at(200, 0) == UCCS_OK && called(""));
    CHECK(put_at(0, 201) == UCCS_ERR_BOUNDS && put_at(193, 8) == UCCS_ERR_BOUNDS && put_at(192, 8) == UCCS_OK);
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    rma.local = NULL;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    rma.length = 0;
    CHECK(run(rma) == UCCS_OK);
    rma = operation(RMA_PUT, NULL);
    rma.endpoint = NULL;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    rma = operation(RMA_PUT, NULL);
    rma.memory = NULL;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    there.pe = 3;
    CHECK(put_at(0, 8) == UCCS_ERR_INVALID);
}

static int signals(enum uccs_signal_how how, size_t offset)
{
    const struct uccs_signal signal = {.memory = &word_memory, .offset = offset, .value = 5, .how = how};
    const struct uccs_op op = {.signal = &signal};
    return run(operation(RMA_PUT, &op));
}

static void options(void)
{
    begin();
    CHECK(signals(UCCS_SIGNAL_ADD, 192) == UCCS_OK && called("a") && applied_at == 0x100C0);
    CHECK(applied.what == UCCS_ATOMIC_ADD && applied.size == 8 && applied.operand == 5);
    CHECK(signals(UCCS_SIGNAL_SET, 0) == UCCS_OK && called("a") && applied.what == UCCS_ATOMIC_SET);
    CHECK(signals(UCCS_SIGNAL_ADD, 193) == UCCS_ERR_INVALID && signals(UCCS_SIGNAL_ADD, 200) == UCCS_ERR_BOUNDS);
    CHECK(signals(UCCS_SIGNAL_ADD + 1, 0) == UCCS_ERR_INVALID && called(""));
    word_memory.address += 4; /* place and offset together count */
    CHECK(signals(UCCS_SIGNAL_ADD, 8) == UCCS_ERR_INVALID && signals(UCCS_SIGNAL_ADD, 4) == UCCS_OK);
    word_memory.address -= 1;
    CHECK(signals(UCCS_SIGNAL_ADD, 5) == UCCS_OK && signals(UCCS_SIGNAL_ADD, 3) == UCCS_ERR_INVALID && called("aa"));
    word_memory.owner = 3;
    CHECK(signals(UCCS_SIGNAL_ADD, 5) == UCCS_ERR_INVALID && called(""));
    const struct uccs_op op = {.counter = 9};
    usable = false;
    CHECK(run(operation(RMA_PUT, &op)) == UCCS_ERR_STALE && called("") && usable_asked == 9);
    usable = true;
    CHECK(run(operation(RMA_PUT, &op)) == UCCS_OK && called("c") && counted == 9 && counted_weight == 1);
    const struct uccs_op heavy = {.counter = 8, .weight = -3};
    arrives = false;
    CHECK(run(operation(RMA_PUT, &heavy)) == UCCS_OK && called("cL") && counted == 8 && counted_weight == -3);
}

static int blocks(size_t offset, struct uccs_stride stride)
{
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    rma.offset = offset;
    rma.blocks = &stride;
    return run(rma);
}

/* From the lowest byte to the highest one. */
static void strides(void)
{
    begin();
    memory.near = NULL;
    kernel_reaches = true;
    const struct uccs_stride up = {.block = 10, .count = 3, .remote_stride = 20, .local_stride = 10};
    const struct uccs_stride down = {.block = 10, .count = 3, .remote_stride = -20, .local_stride = 10};
    CHECK(blocks(150, up) == UCCS_OK && called("kkk") && parts[0] == 150 && parts[1] == 170 && parts[2] == 190);
    CHECK(blocks(151, up) == UCCS_ERR_BOUNDS && called(""));
    CHECK(blocks(40, down) == UCCS_OK && called("kkk") && parts[1] == 20 && parts[2] == 0);
    CHECK(blocks(39, down) == UCCS_ERR_BOUNDS && blocks(190, down) == UCCS_OK && called("kkk"));
    CHECK(blocks(191, down) == UCCS_ERR_BOUNDS && called(""));
    CHECK(blocks(201, (struct uccs_stride){.block = 0, .count = 3}) == UCCS_ERR_BOUNDS);
    CHECK(blocks(200, (struct uccs_stride){.block = 0, .count = 3}) == UCCS_OK && called(""));
    CHECK(blocks(200, (struct uccs_stride){.block = 10, .count = 0}) == UCCS_OK && called(""));
    CHECK(blocks(190, (struct uccs_stride){.block = 10, .count = 2, .remote_stride = 0}) == UCCS_OK && called("kk"));
    CHECK(blocks(0, (struct uccs_stride){8, SIZE_MAX / 2, 3, 0}) == UCCS_ERR_BOUNDS);
    CHECK(blocks(0, (struct uccs_stride){SIZE_MAX, 2, 1, 0}) == UCCS_ERR_BOUNDS); /* their sum is nothing */
    CHECK(blocks(8, (struct uccs_stride){SIZE_MAX - 7, 2, -8, 0}) == UCCS_ERR_BOUNDS && called(""));
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    rma.blocks = &up;
    rma.local = NULL;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    rma = operation(RMA_PUT, NULL);
    rma.blocks = &up;
    rma.memory = NULL;
    CHECK(run(rma) == UCCS_ERR_INVALID && called(""));
}

/* Bytes of mapped memory: from both ends of the blocks, and back. */
static void moves(void)
{
    const struct uccs_stride twist = {.block = 2, .count = 3, .remote_stride = -8, .local_stride = 3};
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    begin();
    memset(bytes, 0, sizeof bytes);
    memcpy(rma.local, "ab.cd.ef", 8);
    rma.blocks = &twist;
    CHECK(run(rma) == UCCS_OK && called(""));
    CHECK(memcmp(bytes + 16, "ab", 3) == 0 && memcmp(bytes + 8, "cd", 3) == 0 && memcmp(bytes, "ef", 3) == 0);
    memset(rma.local, '-', 8);
    rma.kind = RMA_GET;
    CHECK(run(rma) == UCCS_OK && memcmp(rma.local, "ab-cd-ef", 8) == 0);
    memcpy(bytes + 12, "01234567", 8);
    rma.blocks = NULL;
    rma.offset = 13;
    rma.length = 5;
    CHECK(run(rma) == UCCS_OK && memcmp(rma.local, "12345-ef", 8) == 0);
}

/* Ranges of dynamic memory may have gaps between blocks, not in them. */
static void dynamic_strides(void)
{
    begin();
    memory.near = NULL;
    memory.dynamic = true;
    memory.length = 0;
    const struct uccs_stride gaps = {.block = 10, .count = 3, .remote_stride = 100, .local_stride = 10};
    const struct uccs_stride into = {.block = 10, .count = 3, .remote_stride = 60, .local_stride = 10};
    CHECK(blocks(1000, gaps) == UCCS_OK && called("ddd") && parts[2] == 1200);
    CHECK(blocks(1060, gaps) == UCCS_ERR_BOUNDS && blocks(1040, into) == UCCS_ERR_BOUNDS && called(""));
    CHECK(blocks(1000, into) == UCCS_ERR_BOUNDS && called("")); /* the second one */
    const struct uccs_stride late = {.block = 10, .count = 3, .remote_stride = 40, .local_stride = 10};
    const struct uccs_stride close = {.block = 10, .count = 3, .remote_stride = 20, .local_stride = 10};
    CHECK(blocks(1060, late) == UCCS_ERR_BOUNDS && called("")); /* the first one */
    CHECK(blocks(1000, close) == UCCS_OK && called("ddd"));
    struct uccs_rma rma = operation(RMA_GET, NULL);
    CHECK(run(rma) == UCCS_OK && called("D") && parts[0] == 16);
}

static void pieces(void)
{
    struct uccs_piece some[3] = {{.offset = 0, .length = 8, .local = bytes},
                                 {.offset = 201, .length = 0, .local = NULL},
                                 {.offset = 192, .length = 8, .local = bytes + 64}};
    struct uccs_rma rma = operation(RMA_GET, NULL);
    begin();
    memory.near = NULL;
    kernel_reaches = true;
    rma.pieces = some;
    rma.n = 3;
    CHECK(run(rma) == UCCS_ERR_BOUNDS && called("")); /* all are checked before the first one moves */
    some[1].offset = 200;
    CHECK(run(rma) == UCCS_OK && called("KK") && parts[1] == 192);
    some[1].length = 8;
    some[1].offset = 100;
    CHECK(run(rma) == UCCS_ERR_INVALID && called(""));
    some[0].local = NULL;
    some[1].local = bytes + 128;
    CHECK(run(rma) == UCCS_ERR_INVALID && called("")); /* the first one, too */
    some[0].local = bytes;
    rma.n = 1;
    CHECK(run(rma) == UCCS_OK && called("K"));
    rma.n = 0;
    CHECK(run(rma) == UCCS_OK && called(""));
    rma.n = 3;
    statuses[1] = UCCS_ERR_UNREACHABLE;
    CHECK(run(rma) == UCCS_ERR_UNREACHABLE && called("KK"));
}

static void atomics(void)
{
    struct uccs_atomic_op op = {UCCS_ATOMIC_ADD, 8, 1, 0};
    struct uccs_rma rma = operation(RMA_ATOMIC, NULL);
    uint64_t result[2] = {1, 1};
    begin();
    rma.atomic = &op;
    CHECK(run(rma) == UCCS_OK && called("a") && applied_at == 0x10010);
    rma.result = result;
    CHECK(run(rma) == UCCS_OK && called("a") && result[0] == UINT64_C(0x500000006) && result[1] == 1);
    op.size = 4;
    result[0] = 0;
    CHECK(run(rma) == UCCS_OK && called("a") && result[0] == 6);
    statuses[0] = UCCS_ERR_STALE;
    result[0] = 7;
    CHECK(run(rma) == UCCS_ERR_STALE && called("a") && result[0] == 7);
    op.what = UCCS_ATOMIC_XOR;
    statuses[0] = UCCS_OK;
    CHECK(run(rma) == UCCS_OK && called("a"));
    op.what = UCCS_ATOMIC_XOR + 1;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    op.what = UCCS_ATOMIC_ADD;
    rma.offset = 18;
    CHECK(run(rma) == UCCS_ERR_INVALID);
    memory.address += 1;
    rma.offset = 19; /* place and offset together count */
    CHECK(run(rma) == UCCS_OK);
    rma.offset = 17;
    CHECK(run(rma) == UCCS_ERR_INVALID && called("a"));
    rma.offset = 197;
    CHECK(run(rma) == UCCS_ERR_BOUNDS && called(""));
}

static void changes(void)
{
    struct uccs_change change = {.type = UCCS_INT32, .n = 46};
    struct uccs_rma rma = operation(RMA_CHANGE, NULL);
    begin();
    rma.change = &change;
    CHECK(run(rma) == UCCS_OK && called("A"));
    change.n = 47;
    CHECK(run(rma) == UCCS_ERR_BOUNDS);
    change.n = SIZE_MAX / 4 + 1;
    CHECK(run(rma) == UCCS_ERR_BOUNDS && called(""));
}

#include "options_following.h"

int main(void)
{
    ranges();
    options();
    strides();
    moves();
    dynamic_strides();
    pieces();
    atomics();
    changes();
    orders();
    requests_here();
    outlasts();
    follows();
    follows_error();
    follows_without_memory();
    mapped_far();
    return 0;
}
