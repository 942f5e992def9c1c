/* Streams, and every option of every one-sided operation: requests, local completion, completion functions, queues,
 * counters, signals, order. On mapped memory and on registered memory, which the kernel copies or the target serves.
 * tests/nodes runs it between nodes.
 * pes: 2
 * case: plain
 * case: served
 * env: LATERAL_WIRE=messages
 */
#include "check.h"

#include <malloc.h>

enum { WORDS = 1024, PART = 64, BLOCKS = 8, MANY = 10000, FLAG = WORDS * 8, BYTES = FLAG + 64, UNDER_WAY = 64 };

static uccs_context_t context;
static uccs_group_t world = UCCS_GROUP_WORLD;
static uccs_memory_t theirs; /* of the next PE */
static long *mine;           /* what the previous PE changes */
static uccs_counter_t counter;
static uccs_stream_t stream;
static uccs_endpoint_t next;
static uccs_queue_t queue;
static long told, told_wrong;

static void tell(void *argument, int status)
{
    __atomic_fetch_add(status == UCCS_OK ? (long *)argument : &told_wrong, 1, __ATOMIC_RELAXED);
}

static uccs_memory_t import_of_next(uccs_memory_t own)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, all[8][UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    uccs_memory_t memory;
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(world, handle, all, sizeof handle));
    OK(uccs_memory_import(context, all[next_pe], length, &memory));
    return memory;
}

/* --- Options */

enum form { BYTES_LONG, BYTES_SHORT, STRIDED, PIECES, FORMS };

/* Moves PART words. Words i of `local` go to, or come from, word spread(form, i) of the memory. */
static size_t spread(enum form form, size_t i)
{
    return form == STRIDED ? i / (PART / BLOCKS) * PART + i % (PART / BLOCKS) : form == PIECES ? 2 * i : i;
}

static size_t words_of(enum form form)
{
    return form == BYTES_SHORT ? 1 : PART;
}

static int move(int put, enum form form, long *local, const struct uccs_op *op)
{
    const struct uccs_stride stride = {PART / BLOCKS * 8, BLOCKS, PART * 8, PART / BLOCKS * 8};
    struct uccs_piece pieces[PART];
    for (size_t i = 0; i < PART; i++)
        pieces[i] = (struct uccs_piece){spread(PIECES, i) * 8, &local[i], 8};
    switch (form) {
    case STRIDED:
        return put ? uccs_put_blocks(next, theirs, 0, local, &stride, op)
                   : uccs_get_blocks(next, theirs, 0, local, &stride, op);
    case PIECES:
        return put ? uccs_put_pieces(next, theirs, pieces, PART, op) : uccs_get_pieces(next, theirs, pieces, PART, op);
    default:
        return put ? uccs_put(next, theirs, 0, local, words_of(form) * 8, op)
                   : uccs_get(next, theirs, 0, local, words_of(form) * 8, op);
    }
}

/* Waits until the previous PE has told of its operation, in every way. */
static void await_told(long round, int counts, int signals)
{
    const long *flag = &mine[WORDS];
    if (counts)
        OK(uccs_counter_consume(counter, 3));
    while (signals && __atomic_load_n(flag, __ATOMIC_ACQUIRE) != round)
        uccs_progress();
}

static void await_end(uccs_request_t *request, uccs_request_t *local, long before)
{
    struct uccs_entry entry;
    size_t count = 1;
    OK(uccs_wait(local));
    OK(uccs_wait(request));
    while (__atomic_load_n(&told, __ATOMIC_RELAXED) == before)
        uccs_progress();
    CHECK_EQ(told, before + 1);
    if (!queue)
        return;
    OK(uccs_queue_wait(queue, &entry, &count));
    CHECK(count == 1 && entry.tag == &told && entry.status == UCCS_OK);
}

/* One operation with all options; `extra`: bit 0 counts, bit 1 signals. */
static void do_form(int put, enum form form, int nonblocking, int extra, long round)
{
    long local[PART], before = told;
    uccs_request_t request = UCCS_REQUEST_NULL, here = UCCS_REQUEST_NULL;
    const struct uccs_signal signal = {theirs, FLAG, (uint64_t)round, UCCS_SIGNAL_SET};
    const struct uccs_op op = {.request = &request,
                               .counter = extra & 1 ? counter : 0,
                               .weight = 3,
                               .nonblocking = nonblocking,
                               .local = &here,
                               .signal = extra & 2 ? &signal : 0,
                               .complete = tell,
                               .argument = &told,
                               .queue = queue,
                               .tag = &told};
    for (size_t i = 0; i < PART; i++)
        local[i] = put ? round * WORDS + (long)i : -1;
    if (!put)
        for (size_t i = 0; i < words_of(form); i++)
            mine[spread(form, i)] = round * WORDS + (long)i;
    OK(uccs_barrier(world));
    OK(move(put, form, local, &op));
    if (put && extra)
        await_told(round, extra & 1, extra & 2);
    for (size_t i = 0; i < words_of(form) && put && extra; i++)
        CHECK_EQ(mine[spread(form, i)], round * WORDS + (long)i);
    await_end(&request, &here, before);
    if (!put && extra)
        await_told(round, extra & 1, extra & 2);
    for (size_t i = 0; i < words_of(form) && !put; i++)
        CHECK_EQ(local[i], round * WORDS + (long)i);
    OK(uccs_barrier(world));
    for (size_t i = 0; i < words_of(form) && put; i++)
        CHECK_EQ(mine[spread(form, i)], round * WORDS + (long)i);
}

static void do_forms(void)
{
    long round = 1;
    for (int put = 0; put < 2; put++)
        for (int form = 0; form < FORMS; form++)
            for (int nonblocking = 0; nonblocking < 2; nonblocking++)
                for (int extra = 0; extra < 4; extra++)
                    do_form(put, (enum form)form, nonblocking, extra, round++);
}

/* --- Atomics: many under way at once, each with a result of its own */

static void do_atomics(size_t size)
{
    uint64_t results[UNDER_WAY] = {0}, seen[UNDER_WAY] = {0}, last = 0;
    const struct uccs_op later = {.nonblocking = 1};
    memset(mine, 0, 64);
    OK(uccs_barrier(world));
    for (int i = 0; i < UNDER_WAY; i++)
        OK(uccs_atomic(next, theirs, 0, size, UCCS_ATOMIC_ADD, 1, 0, &results[i], &later));
    OK(uccs_stream_flush_local(stream, 0, 0));
    for (int i = 0; i < UNDER_WAY; i++)
        CHECK(results[i] < UNDER_WAY && !seen[results[i]]++);
    OK(uccs_atomic(next, theirs, 0, size, UCCS_ATOMIC_SET, 7, 0, &last, 0));
    CHECK_EQ(last, UNDER_WAY);
    OK(uccs_atomic(next, theirs, 0, size, UCCS_ATOMIC_CSWAP, 9, 7, &last, 0));
    CHECK_EQ(last, 7);
    OK(uccs_atomic(next, theirs, 0, size, UCCS_ATOMIC_ADD, 1, 0, 0, &later));
    OK(uccs_stream_flush(stream, &next, 1));
    OK(uccs_barrier(world));
    CHECK_EQ(mine[0], 10);
    CHECK_EQ(uccs_atomic(next, theirs, 0, 2, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_atomic(next, theirs, 1, size, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_INVALID);
    OK(uccs_barrier(world));
}

/* --- Order: what an ordered stream reads back is what it has written before, whatever the operations */

static void do_order(void)
{
    const struct uccs_stream_attr attr = {.ordered = 1};
    const struct uccs_op later = {.nonblocking = 1};
    uccs_stream_t ordered;
    uccs_endpoint_t to;
    OK(uccs_stream_create(context, &attr, &ordered));
    OK(uccs_stream_endpoint(ordered, world, next_pe, &to));
    for (long round = 1; round <= 50; round++) {
        long out[WORDS], in[WORDS], old = 0;
        for (int i = 0; i < WORDS; i++)
            out[i] = round * i;
        OK(uccs_put(to, theirs, 0, out, sizeof out, &later));
        OK(uccs_get(to, theirs, 0, in, sizeof in, &later));
        OK(uccs_atomic(to, theirs, 8, 8, UCCS_ATOMIC_ADD, 5, 0, &old, &later));
        long word = round;
        OK(uccs_put(to, theirs, 0, &word, 8, 0));
        OK(uccs_stream_flush_local(ordered, 0, 0));
        CHECK(memcmp(in, out, sizeof in) == 0);
        CHECK_EQ(old, round);
        OK(uccs_get(to, theirs, 0, in, 16, 0));
        CHECK(in[0] == round && in[1] == round + 5);
    }
    OK(uccs_stream_release(ordered));
    OK(uccs_barrier(world));
}

/* A word of a fence's other side is never seen before the data. */
static void do_fence(void)
{
    long data[WORDS];
    OK(uccs_barrier(world));
    mine[WORDS] = 0;
    OK(uccs_barrier(world));
    for (long round = 1; round <= 20; round++) {
        for (int i = 0; i < WORDS; i++)
            data[i] = round + i;
        OK(uccs_put(next, theirs, 0, data, sizeof data, 0));
        OK(uccs_stream_fence(stream, &next, 1));
        OK(uccs_put(next, theirs, FLAG, &round, 8, 0));
        OK(uccs_stream_flush(stream, 0, 0));
        while (__atomic_load_n(&mine[WORDS], __ATOMIC_ACQUIRE) < round)
            uccs_stream_progress(stream), uccs_progress();
        CHECK(mine[0] == round && mine[WORDS - 1] == round + WORDS - 1);
        OK(uccs_barrier(world));
    }
}

/* --- nowait: every put is issued in the end */

static void do_nowait(void)
{
    static long data[WORDS];
    const struct uccs_op op = {.nonblocking = 1, .nowait = 1};
    OK(uccs_barrier(world));
    for (int i = 0; i < WORDS; i++)
        data[i] = i + me;
    for (int i = 0; i < 2000; i++) {
        int status;
        while ((status = uccs_put(next, theirs, 0, data, sizeof data, &op)) == UCCS_AGAIN)
            uccs_progress();
        OK(status);
    }
    OK(uccs_stream_flush(stream, 0, 0));
    OK(uccs_barrier(world));
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(mine[i], i + prev_pe);
    OK(uccs_barrier(world));
}

/* --- Many streams, each with an operation under way */

static void do_many(void)
{
    static uccs_stream_t streams[MANY];
    static long ones[MANY];
    uccs_request_t all = UCCS_REQUEST_NULL;
    const struct uccs_op later = {.nonblocking = 1};
    uccs_endpoint_t to;
    mine[0] = 0;
    OK(uccs_barrier(world));
    for (int i = 0; i < MANY; i++) {
        OK(uccs_stream_create(0, 0, &streams[i]));
        OK(uccs_stream_endpoint(streams[i], world, next_pe, &to));
        OK(uccs_atomic(to, theirs, 0, 8, UCCS_ATOMIC_ADD, 1, 0, i % 2 ? &ones[i] : 0, &later));
        OK(uccs_stream_flush_nb(streams[i], 0, 0, &all));
    }
    OK(uccs_wait(&all));
    long sum = 0;
    OK(uccs_get(to, theirs, 0, &sum, 8, 0));
    CHECK_EQ(sum, MANY);
    for (int i = 0; i < MANY; i++)
        OK(uccs_stream_release(streams[i]));
    OK(uccs_barrier(world));
}

/* A stream that goes takes its endpoints along. */
static void keep_nothing(void)
{
    enum { TIMES = 1000, EACH = 16 };
    uccs_endpoint_t to;
    uccs_stream_t stream;
    const size_t held = mallinfo2().uordblks;
    for (int i = 0; i < TIMES; i++) {
        OK(uccs_stream_create(0, 0, &stream));
        OK(uccs_stream_endpoint(stream, world, next_pe, &to));
        OK(uccs_stream_release(stream));
    }
    CHECK(mallinfo2().uordblks < held + TIMES * EACH);
}

static void refuse(void)
{
    uccs_stream_t other;
    uccs_endpoint_t to;
    long word = 0;
    const struct uccs_signal odd = {theirs, 4, 0, UCCS_SIGNAL_ADD}, far_off = {theirs, BYTES, 0, UCCS_SIGNAL_ADD};
    CHECK_EQ(uccs_stream_create(0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_create(0, &(struct uccs_stream_attr){.scope = (enum uccs_scope)7}, &other), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_release(uccs_context_stream(context)), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_release(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_endpoint(0, world, 0, &to), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_endpoint(stream, world, npes, &to), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_flush(0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_flush(stream, &(uccs_endpoint_t){0}, 1), UCCS_ERR_INVALID);
    uccs_request_t nothing = UCCS_REQUEST_NULL;
    CHECK_EQ(uccs_stream_flush_nb(0, 0, 0, &nothing), UCCS_ERR_INVALID);
    CHECK(nothing == UCCS_REQUEST_NULL); /* of no operation */
    CHECK_EQ(uccs_stream_flush_nb(stream, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_stream_fence(0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put(next, theirs, 0, &word, 8, &(struct uccs_op){.signal = &odd}), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put(next, theirs, 0, &word, 8, &(struct uccs_op){.signal = &far_off}), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put(next, theirs, BYTES, &word, 8, &(struct uccs_op){.complete = tell}), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put(0, theirs, 0, &word, 8, 0), UCCS_ERR_INVALID);
}

static void do_all(uccs_memory_t own)
{
    theirs = import_of_next(own);
    refuse();
    do_forms();
    do_atomics(4);
    do_atomics(8);
    do_order();
    do_fence();
    do_nowait();
    do_many();
    keep_nothing();
    OK(uccs_barrier(world));
    OK(uccs_memory_release(theirs));
    OK(uccs_barrier(world));
    OK(uccs_memory_release(own));
}

int main(void)
{
    static long words[BYTES / 8];
    uccs_memory_t own;
    struct uccs_memory_attr about;
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_counter_open(&counter));
    OK(uccs_queue_create(&queue));
    OK(uccs_stream_create(context, &(struct uccs_stream_attr){.scope = UCCS_SCOPE_THREAD}, &stream));
    OK(uccs_stream_endpoint(stream, world, next_pe, &next));
    OK(uccs_memory_allocate(context, BYTES, &own));
    OK(uccs_memory_query(own, &about));
    mine = about.address;
    do_all(own);
    OK(uccs_memory_register(context, words, sizeof words, &own));
    mine = words;
    do_all(own);
    CHECK_EQ(told_wrong, 0);
    OK(uccs_endpoint_release(next));
    OK(uccs_stream_release(stream));
    OK(uccs_queue_release(queue));
    OK(uccs_counter_shut(counter));
    OK(uccs_context_destroy(context));
    return check_pass();
}
