/* The pool: numbers, growth, its limit, double puts, and many threads that pass objects around. */
#include "base/pool.h"

#include "base/atomic.h"

#include "unit/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct object {
    uint64_t owner; /* plain: two owners at once are a data race, and show as a wrong value */
    char rest[40];
};

static void test_alone(void)
{
    enum { COUNT = 1000 };
    struct pool *p = pool_create(sizeof(struct object), 3, 0);
    struct object *object[COUNT];
    static bool seen[4 * COUNT];
    CHECK(pool_capacity(p) == 0);
    for (int i = 0; i < COUNT; i++) {
        object[i] = pool_get(p);
        uint32_t number = pool_number(object[i]);
        CHECK(object[i]->owner == 0 && object[i]->rest[39] == 0 && (uintptr_t)object[i] % 16 == 0);
        CHECK(number < pool_capacity(p) && number < 4 * COUNT && !seen[number] && pool_object(p, number) == object[i]);
        seen[number] = true;
        memset(object[i], 0xff, sizeof *object[i]); /* must not hurt the pool */
    }
    CHECK(pool_capacity(p) >= COUNT && pool_capacity(p) < 3 * COUNT);
    for (int i = 0; i < COUNT; i++)
        pool_put(p, object[i]);
    uint32_t capacity = pool_capacity(p);
    for (int i = 0; i < COUNT; i++)
        CHECK((object[i] = pool_get(p)) != NULL);
    CHECK(pool_capacity(p) == capacity);
    void *last = object[COUNT - 1];
    pool_put(p, last);
    CHECK(pool_get(p) == last); /* the one that is warm in the cache */
    pool_destroy(p);
    pool_destroy(NULL);
}

static void test_limit(void)
{
    struct pool *p = pool_create(8, 4, 10);
    void *object[10];
    for (int i = 0; i < 10; i++)
        CHECK((object[i] = pool_get(p)) != NULL);
    CHECK(pool_get(p) == NULL && pool_get(p) == NULL && pool_capacity(p) == 10);
    pool_put(p, object[5]);
    CHECK(pool_get(p) == object[5] && pool_get(p) == NULL);
    pool_destroy(p);
}

static void test_double_put(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct pool *p = pool_create(8, 4, 0);
        void *a = pool_get(p), *b = pool_get(p);
        pool_put(p, a);
        pool_put(p, b);
        fclose(stderr);
        pool_put(p, a);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

enum { THREADS = 4, HELD = 16, ROUNDS = 200000 };

static struct pool *shared;
static struct object *exchange[8]; /* objects that one thread gets and another puts */

static void *juggle(void *argument)
{
    uint64_t me = (uint64_t)(uintptr_t)argument, seed = me;
    struct object *held[HELD] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        int slot = next_random(&seed) % HELD;
        if (!held[slot]) {
            CHECK((held[slot] = pool_get(shared)) != NULL);
            held[slot]->owner = me;
        } else if (next_random(&seed) % 4) {
            CHECK(held[slot]->owner == me);
            held[slot]->owner = 0;
            pool_put(shared, held[slot]);
            held[slot] = NULL;
        } else { /* partner: the same line in another thread */
            CHECK(held[slot]->owner == me);
            held[slot] = atomic_exchange_acqrel(&exchange[next_random(&seed) % 8], held[slot]);
            if (held[slot])
                held[slot]->owner = me;
        }
    }
    for (int slot = 0; slot < HELD; slot++)
        if (held[slot])
            pool_put(shared, held[slot]);
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    shared = pool_create(sizeof(struct object), 2, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, juggle, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 8; i++)
        if (exchange[i])
            pool_put(shared, exchange[i]);
    uint32_t capacity = pool_capacity(shared), got = 0;
    CHECK(capacity <= 2 * (THREADS * HELD + 8) + 2);
    while (got < capacity && pool_get(shared)) /* every object is there, once */
        got++;
    CHECK(got == capacity && pool_capacity(shared) == capacity);
    pool_destroy(shared);
}

int main(void)
{
    test_alone();
    test_limit();
    test_double_put();
    test_threads();
    return 0;
}
