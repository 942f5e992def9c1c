/* Locks: readers and writers exclude each other, a writer gets in while readers keep coming, requests, locks by their
 * address, guests, an owner that computes, dynamic memory, errors; by processes and their threads.
 * pes: 1 2 4
 */
#include "check.h"

enum { THREADS = 2, ROUNDS = 60, OFFSET = 128, CROSSING = 384, BYTES = 4 * UCCS_LOCK_BYTES };
enum { FROM_HANDLER = 1 };
enum { WRITERS, READERS, SUM, WRITTEN, READ, DONE, COUNTS };

static uccs_context_t context;
static uccs_endpoint_t zero, next;
static uccs_memory_t locks, *all, words, *all_words;

static uint64_t add(int word, uint64_t by)
{
    uint64_t old = 0;
    OK(uccs_atomic64(context, zero, all_words[0], (size_t)word * 8, UCCS_ATOMIC_ADD, by, 0, &old, 0));
    return old;
}

static uint64_t get(int word)
{
    uint64_t value = 0;
    OK(uccs_get_short_contiguous(context, zero, all_words[0], (size_t)word * 8, &value, 8, 0));
    return value;
}

/* The sum is read and written without an atomic, so it is right only when the lock excludes. */
static void write_once(void)
{
    CHECK_EQ(add(WRITERS, 1), 0);
    CHECK_EQ(get(READERS), 0);
    uint64_t sum = get(SUM) + 1;
    OK(uccs_put_short_contiguous(context, zero, all_words[0], SUM * 8, &sum, 8, 0));
    OK(uccs_flush(context));
    add(WRITERS, (uint64_t)-1);
}

static void read_once(void)
{
    add(READERS, 1);
    CHECK_EQ(get(WRITERS), 0);
    add(READERS, (uint64_t)-1);
}

/* The address of the lock in this process; null when its owner is on another node. */
static void *mapped_lock(void)
{
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(all[0], &attr));
    CHECK_EQ(attr.address != 0, check_near(0));
    return attr.address ? (char *)attr.address + OFFSET : 0;
}

/* The three forms lock the same lock. */
static void enter(int round, enum uccs_lock_mode mode)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    void *mapped = round % 3 == 0 ? mapped_lock() : 0;
    if (mapped) {
        OK(uccs_lock_mapped(zero, mapped, mode));
    } else if (round % 3 == 1) {
        OK(uccs_lock(zero, all[0], OFFSET, mode));
    } else {
        OK(uccs_lock_nb(zero, all[0], OFFSET, mode, &request));
        OK(uccs_wait(&request));
        OK(uccs_request_release(&request));
    }
}

static void leave(int round, enum uccs_lock_mode mode)
{
    void *mapped = round % 2 ? mapped_lock() : 0;
    if (mapped)
        OK(uccs_unlock_mapped(zero, mapped, mode));
    else
        OK(uccs_unlock(zero, all[0], OFFSET, mode));
}

static void *exclude(void *id)
{
    for (int i = 0; i < ROUNDS; i++) {
        int writes = (i + me + (int)(long)id) % 4 == 0;
        enum uccs_lock_mode mode = writes ? UCCS_LOCK_EXCLUSIVE : i % 5 ? UCCS_LOCK_SHARED : UCCS_LOCK_GUEST;
        enter(i, mode);
        writes ? write_once() : read_once();
        add(writes ? WRITTEN : READ, 1);
        leave(i, mode);
    }
    return 0;
}

/* Threads keep the lock shared without a gap between them; a writer has its turn all the same. */
static int stop;

static void *keep_shared(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        OK(uccs_lock(next, all[next_pe], 0, UCCS_LOCK_SHARED));
        CHECK(uccs_progress() >= 0);
        OK(uccs_unlock(next, all[next_pe], 0, UCCS_LOCK_SHARED));
    }
    return 0;
}

static void test_writer_enters(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], 0, keep_shared, 0) == 0);
    for (int i = 0; i < 20; i++) {
        OK(uccs_lock(next, all[next_pe], 0, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_unlock(next, all[next_pe], 0, UCCS_LOCK_EXCLUSIVE));
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
}

/* Shared holders are inside together; a writer's request waits for them. */
static void test_together(void)
{
    uccs_request_t writer = UCCS_REQUEST_NULL, reader = UCCS_REQUEST_NULL;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_lock(zero, all[0], 256, UCCS_LOCK_SHARED));
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* everybody holds it */
    OK(uccs_unlock(zero, all[0], 256, UCCS_LOCK_SHARED));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == npes - 1) {
        OK(uccs_lock(zero, all[0], 256, UCCS_LOCK_SHARED));
        OK(uccs_lock_nb(zero, all[0], 256, UCCS_LOCK_EXCLUSIVE, &writer));
        OK(uccs_lock_nb(zero, all[0], 256, UCCS_LOCK_SHARED, &reader));
        for (int i = 0; i < 100; i++)
            CHECK_EQ(uccs_test(&writer), UCCS_IN_PROGRESS);
        CHECK_EQ(uccs_test(&reader), UCCS_IN_PROGRESS); /* behind the writer */
        OK(uccs_unlock(zero, all[0], 256, UCCS_LOCK_SHARED));
        OK(uccs_wait(&writer));
        CHECK_EQ(uccs_test(&reader), UCCS_IN_PROGRESS);
        OK(uccs_unlock(zero, all[0], 256, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_wait(&reader));
        OK(uccs_unlock(zero, all[0], 256, UCCS_LOCK_SHARED));
        OK(uccs_request_release(&writer));
        OK(uccs_request_release(&reader));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* Everybody reads under its own lock, behind which a writer waits, and asks for a neighbour's. As a guest it gets that: the
 * writers wait for the readers alone. */
static void test_guests(void)
{
    uccs_request_t writer = UCCS_REQUEST_NULL;
    uccs_endpoint_t self = check_endpoint(context, me), previous = check_endpoint(context, prev_pe);
    OK(uccs_lock(self, all[me], CROSSING, UCCS_LOCK_SHARED));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_lock_nb(next, all[next_pe], CROSSING, UCCS_LOCK_EXCLUSIVE, &writer));
    for (int i = 0; i < 100; i++)
        CHECK_EQ(uccs_test(&writer), UCCS_IN_PROGRESS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_lock(previous, all[prev_pe], CROSSING, UCCS_LOCK_GUEST));
    CHECK_EQ(uccs_test(&writer), UCCS_IN_PROGRESS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_unlock(self, all[me], CROSSING, UCCS_LOCK_SHARED));
    for (int i = 0; i < 100; i++)
        CHECK_EQ(uccs_test(&writer), UCCS_IN_PROGRESS); /* a guest is inside */
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_unlock(previous, all[prev_pe], CROSSING, UCCS_LOCK_GUEST));
    OK(uccs_wait(&writer));
    OK(uccs_request_release(&writer));
    OK(uccs_unlock(next, all[next_pe], CROSSING, UCCS_LOCK_EXCLUSIVE));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_endpoint_release(previous));
    OK(uccs_endpoint_release(self));
}

/* The owner computes and calls nothing while process 1 leaves the lock and the last one waits for it, which may be of
 * another node: the owner's progress thread grants it. */
static void test_owner_computes(void)
{
    struct uccs_memory_attr attr;
    uint64_t done = 1;
    OK(uccs_memory_query(words, &attr));
    volatile const uint64_t *flag = (const uint64_t *)attr.address + DONE;
    if (npes < 3)
        return;
    if (me == 1)
        OK(uccs_lock(zero, all[0], 0, UCCS_LOCK_EXCLUSIVE));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    while (me == 0 && !*flag)
        ;
    if (me == npes - 1) {
        OK(uccs_lock(zero, all[0], 0, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_unlock(zero, all[0], 0, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_put_short_contiguous(context, zero, all_words[0], DONE * 8, &done, 8, 0));
        OK(uccs_flush(context));
    } else if (me == 1) {
        usleep(5000);
        OK(uccs_unlock(zero, all[0], 0, UCCS_LOCK_EXCLUSIVE));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* A lock in dynamic memory that is mapped; not in a range that is not, or that ends within the lock. */
static void test_dynamic(void)
{
    struct uccs_memory_attr attr;
    uccs_memory_t dynamic, *dynamics = calloc((size_t)npes, sizeof *dynamics);
    uint64_t at, *places = calloc((size_t)npes, sizeof *places);
    char *private_bytes = aligned_alloc(128, 256);
    uint64_t private_at = (uintptr_t)private_bytes;
    OK(uccs_memory_query(locks, &attr));
    at = (uintptr_t)attr.address;
    OK(uccs_allgather(UCCS_GROUP_WORLD, &at, places, sizeof at));
    OK(uccs_memory_dynamic(0, &dynamic));
    OK(uccs_memory_attach(dynamic, attr.address, BYTES));
    OK(uccs_memory_attach(dynamic, private_bytes, 256));
    check_share(0, dynamic, dynamics);
    for (int i = 0; i < 20; i++) {
        const enum uccs_lock_mode mode = i % 2 ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE;
        OK(uccs_lock(zero, dynamics[0], places[0] + OFFSET, mode));
        mode == UCCS_LOCK_EXCLUSIVE ? write_once() : read_once();
        add(mode == UCCS_LOCK_EXCLUSIVE ? WRITTEN : READ, 1);
        OK(uccs_unlock(zero, dynamics[0], places[0] + OFFSET, mode));
    }
    uccs_endpoint_t self = check_endpoint(context, me);
    CHECK_EQ(uccs_lock(self, dynamic, private_at, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(self, dynamic, at + BYTES - 64, UCCS_LOCK_SHARED), UCCS_ERR_BOUNDS);
    OK(uccs_allgather(UCCS_GROUP_WORLD, &private_at, places, sizeof private_at));
    CHECK_EQ(uccs_lock(zero, dynamics[0], places[0], UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(zero, dynamics[0], 128, UCCS_LOCK_SHARED) < 0, 1);
    OK(uccs_endpoint_release(self));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(dynamics[pe]));
    OK(uccs_memory_release(dynamic));
    free(private_bytes);
    free(dynamics);
    free(places);
}

static void lock_in_handler(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    _Alignas(64) char lock[UCCS_LOCK_BYTES] = {0};
    (void)token, (void)data, (void)length;
    CHECK_EQ(uccs_lock_mapped(zero, lock, UCCS_LOCK_SHARED), UCCS_ERR_STATE);
    CHECK_EQ(uccs_lock(zero, all[0], OFFSET, UCCS_LOCK_SHARED), UCCS_ERR_STATE);
    __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELEASE);
}

/* A handler must not wait, so it can ask for no lock. */
static void test_handler(void)
{
    static int handled;
    OK(uccs_am_register(context, FROM_HANDLER, UCCS_AM_USER, lock_in_handler, &handled));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_am_short(context, next, FROM_HANDLER, UCCS_AM_USER, 0, 0, 0));
    while (!__atomic_load_n(&handled, __ATOMIC_ACQUIRE))
        uccs_progress();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void test_errors(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    uccs_memory_t private_memory;
    char *bytes = aligned_alloc(128, 256);
    uccs_endpoint_t self = check_endpoint(context, me);
    OK(uccs_memory_register(0, memset(bytes, 0, 256), 256, &private_memory));
    CHECK_EQ(uccs_lock(0, all[0], 0, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(zero, all[0], 0, (enum uccs_lock_mode)7), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(zero, all[0], 0, UCCS_LOCK_GUEST), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock_admit_guests(locks, 8), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock_admit_guests(locks, BYTES), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_lock_admit_guests(0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(zero, all[0], BYTES - 64, UCCS_LOCK_SHARED), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_lock(zero, all[0], 8, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(self, private_memory, 0, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock_nb(zero, all[0], 0, UCCS_LOCK_SHARED, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_unlock(zero, 0, 0, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    static char unaligned[512] __attribute__((aligned(64)));
    uccs_memory_t odd;
    OK(uccs_memory_register(0, unaligned + 16, 400, &odd)); /* the address counts, not the offset */
    CHECK_EQ(uccs_lock(self, odd, 16, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_lock(self, odd, 64, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    OK(uccs_lock(self, odd, 48, UCCS_LOCK_EXCLUSIVE));
    OK(uccs_unlock(self, odd, 48, UCCS_LOCK_EXCLUSIVE));
    OK(uccs_memory_release(odd));
    CHECK_EQ(uccs_lock_mapped(0, bytes, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_unlock_mapped(0, bytes, UCCS_LOCK_SHARED), UCCS_ERR_INVALID);
    CHECK(request == UCCS_REQUEST_NULL);
    OK(uccs_memory_release(private_memory));
    OK(uccs_endpoint_release(self));
    free(bytes);
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    zero = check_endpoint(context, 0);
    next = check_endpoint(context, next_pe);
    all = calloc((size_t)npes, sizeof *all);
    all_words = calloc((size_t)npes, sizeof *all_words);
    OK(uccs_memory_allocate(0, BYTES, &locks));
    OK(uccs_memory_allocate(0, COUNTS * 8, &words));
    OK(uccs_lock_admit_guests(locks, OFFSET));
    OK(uccs_lock_admit_guests(locks, CROSSING));
    check_share(0, locks, all);
    check_share(0, words, all_words);
    test_together();
    test_guests();
    check_threads(THREADS, exclude);
    test_dynamic();
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(get(SUM), get(WRITTEN));
    CHECK_EQ(get(WRITTEN) + get(READ), npes * (THREADS * ROUNDS + 20));
    test_writer_enters();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    test_owner_computes();
    test_handler();
    test_errors();
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++) {
        OK(uccs_memory_release(all[pe]));
        OK(uccs_memory_release(all_words[pe]));
    }
    OK(uccs_memory_release(locks));
    OK(uccs_memory_release(words));
    OK(uccs_context_destroy(context));
    return check_pass();
}
