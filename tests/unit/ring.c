/* The ring: its edges, exactly-once and order under many threads, reserve and commit out of order, and between
 * processes. Links no job. */
#include "base/ring.h"

#include "unit/child.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_THREADS 4
#define MESSAGES 20000 /* of each producer, at most */

struct message {
    uint32_t producer, sequence;
    uint64_t check; /* depends on both: a torn or stale payload shows */
};

static uint64_t check_of(uint32_t producer, uint32_t sequence)
{
    uint64_t seed = (uint64_t)producer << 32 | sequence;
    return next_random(&seed);
}

static struct ring *new_ring(uint32_t cells, uint32_t cell_bytes)
{
    size_t bytes = ring_size(cells, cell_bytes);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return ring_format(memory, cells, cell_bytes);
}

static void free_ring(struct ring *r)
{
    munmap(r, ring_size(r->cells, r->cell_bytes));
}

static bool try_push(struct ring *r, const void *data, size_t bytes)
{
    uint64_t ticket;
    void *cell = ring_reserve(r, &ticket);
    if (!cell)
        return false;
    memcpy(cell, data, bytes);
    ring_commit(r, ticket);
    return true;
}

static bool try_pop(struct ring *r, void *data, size_t bytes)
{
    uint64_t ticket;
    const void *cell = ring_take(r, &ticket);
    if (!cell)
        return false;
    memcpy(data, cell, bytes);
    ring_release(r, ticket);
    return true;
}

static void test_edges(uint32_t cells)
{
    struct ring *r = new_ring(cells, sizeof(int));
    int in = 0, out = 0, got;
    CHECK(ring_size(1, 200000) == sizeof(struct ring) + 200064);
    CHECK(ring_size(cells, 56) == sizeof(struct ring) + 64 * (size_t)cells && ring_size(1, 57) == ring_size(2, 1));
    for (int round = 0; round < 20; round++) {
        CHECK(ring_is_empty(r) && !try_pop(r, &got, sizeof got));
        for (uint32_t i = 0; i < cells; i++, in++)
            CHECK(try_push(r, &in, sizeof in));
        CHECK(!try_push(r, &in, sizeof in) && !ring_is_empty(r));
        for (uint32_t i = 0; i < cells - cells / 2; i++, out++)
            CHECK(try_pop(r, &got, sizeof got) && got == out);
        for (; try_pop(r, &got, sizeof got); out++)
            CHECK(got == out);
        CHECK(out == in);
    }
    free_ring(r);
}

/* Makes an empty ring as it is after `position` messages. A cell's first word counts its turns, two in each lap. */
static struct ring *aged_ring(uint32_t cells, uint64_t position)
{
    struct ring *r = new_ring(cells, sizeof(uint32_t));
    r->tail = r->head = position;
    for (uint64_t next = position; next < position + cells; next++)
        *(uint64_t *)(r->cell + next % cells * r->stride) = 2 * (next / cells);
    return r;
}

/* Positions, and the turns of cells, go on past 16 and 32 bits, with the ring full, half full and empty. */
static void test_positions(uint64_t position, uint32_t messages)
{
    struct ring *r = aged_ring(4, position);
    uint32_t in = 0, out = 0, got;
    while (out < messages) {
        for (uint32_t i = 0; i < out % 4 + 1; i++, in++)
            CHECK(try_push(r, &in, sizeof in));
        CHECK(!ring_is_empty(r));
        for (; try_pop(r, &got, sizeof got); out++)
            CHECK(got == out);
        CHECK(ring_is_empty(r) && out == in && r->tail == position + in && r->head == position + out);
    }
    free_ring(r);
}

/* Cells come in the order of reserve, whatever the order of commit. */
static void test_reserve(void)
{
    struct ring *r = new_ring(4, 100);
    uint64_t first, second, taken, other;
    char *a = ring_reserve(r, &first), *b = ring_reserve(r, &second);
    CHECK(a && b && a != b && (uintptr_t)a % 8 == 0);
    memset(b, 'b', 100);
    ring_commit(r, second);
    CHECK(ring_is_empty(r) && !ring_take(r, &taken)); /* the first is not there yet */
    memset(a, 'a', 100);
    ring_commit(r, first);
    char *x = ring_take(r, &taken), *y = ring_take(r, &other);
    CHECK(x == a && y == b && x[0] == 'a' && x[99] == 'a' && y[0] == 'b' && y[99] == 'b');
    CHECK(ring_reserve(r, &first) && ring_reserve(r, &second));
    ring_release(r, other);
    CHECK(!ring_reserve(r, &second)); /* the next cell in order is still held */
    ring_release(r, taken);
    CHECK(ring_reserve(r, &second) == a && ring_reserve(r, &second) == b);
    free_ring(r);
}

struct load {
    struct ring *ring;
    uint32_t messages, producers, consumers;
    uint32_t left;
    unsigned char seen[MOST_THREADS][MESSAGES]; /* how often each message was taken */
};

struct actor {
    struct load *load;
    uint32_t me;
};

static void *produce(void *argument)
{
    const struct actor *a = argument;
    struct load *l = a->load;
    for (uint32_t i = 0; i < l->messages; i++) {
        struct message m = {a->me, i, check_of(a->me, i)};
        while (!try_push(l->ring, &m, sizeof m))
            sched_yield();
    }
    return NULL;
}

/* Draws the right to take a message first, so that every consumer knows when it has taken its last. */
static bool draw(struct load *l)
{
    uint32_t left = atomic_load_relaxed(&l->left);
    while (left && !atomic_cas_relaxed(&l->left, &left, left - 1)) /* a count, nothing depends on it */
        ;
    return left != 0;
}

static void *consume(void *argument)
{
    const struct actor *a = argument;
    struct load *l = a->load;
    int64_t last[MOST_THREADS] = {-1, -1, -1, -1};
    while (draw(l)) {
        struct message m;
        while (!try_pop(l->ring, &m, sizeof m))
            sched_yield();
        CHECK(m.producer < l->producers && m.sequence < l->messages && m.check == check_of(m.producer, m.sequence));
        CHECK((int64_t)m.sequence > last[m.producer]); /* one consumer sees a producer's messages in order */
        CHECK(l->consumers > 1 || (int64_t)m.sequence == last[m.producer] + 1);
        last[m.producer] = m.sequence;
        CHECK(atomic_fetch_add_relaxed(&l->seen[m.producer][m.sequence], 1) == 0); /* read after the joins */
    }
    return NULL;
}

/* A full or empty ring makes its threads change places. Where they share a processor with other programs, each change may cost a
 * time slice of all of these: the smaller the ring, the fewer messages. */
static uint32_t messages_for(uint32_t cells)
{
    return cells < 4 ? MESSAGES / 20 : cells < 64 ? MESSAGES / 5 : MESSAGES;
}

static void test_threads(uint32_t cells, uint32_t producers, uint32_t consumers)
{
    struct load *l = calloc(1, sizeof *l);
    pthread_t thread[2 * MOST_THREADS];
    struct actor actor[2 * MOST_THREADS];
    const uint32_t messages = messages_for(cells);
    *l = (struct load){new_ring(cells, sizeof(struct message)),
                       messages,
                       producers,
                       consumers,
                       producers * messages,
                       {{0}}};
    for (uint32_t i = 0; i < producers + consumers; i++) {
        actor[i] = (struct actor){l, i < producers ? i : i - producers};
        CHECK(pthread_create(&thread[i], NULL, i < producers ? produce : consume, &actor[i]) == 0);
    }
    for (uint32_t i = 0; i < producers + consumers; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t p = 0; p < producers; p++)
        for (uint32_t i = 0; i < messages; i++)
            CHECK(l->seen[p][i] == 1);
    CHECK(ring_is_empty(l->ring));
    free_ring(l->ring);
    free(l);
}

/* Two processes that map it at different addresses: one produces twice, in two threads, one consumes. */
static void test_processes(void)
{
    size_t bytes = ring_size(64, sizeof(struct message));
    int fd = memfd_create("ring", 0);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0);
    struct load *l = calloc(1, sizeof *l);
    struct ring *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(r != MAP_FAILED);
    *l = (struct load){ring_format(r, 64, sizeof(struct message)), MESSAGES, 2, 1, 2 * MESSAGES, {{0}}};
    pid_t pid = fork();
    if (pid == 0) {
        l->ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(l->ring != MAP_FAILED && l->ring != r);
        pid_t other = fork();
        produce(&(struct actor){l, other != 0});
        if (other == 0)
            _exit(0);
        int status;
        _exit(waitpid(other, &status, 0) == other ? status : 1);
    }
    consume(&(struct actor){l, 0});
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && ring_is_empty(r));
    munmap(r, bytes);
    close(fd);
    free(l);
}

static void test_one_thread(void)
{
    for (uint32_t cells = 1; cells <= 64; cells *= 4)
        test_edges(cells);
    test_positions(0, 70000);
    for (int bits = 31; bits < 35; bits++) /* position 2^33 has turn 2^32, in 4 cells */
        test_positions((UINT64_C(1) << bits) - 10, 40);
}

int main(void)
{
    in_a_child(test_one_thread);
    test_reserve();
    test_threads(16, 1, 1);
    test_threads(2, 4, 4);
    test_threads(256, 4, 4);
    test_threads(16, 4, 1);
    test_threads(1, 2, 2);
    test_processes();
    return 0;
}
