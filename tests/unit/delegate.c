/* The delegate: all calls on one thread that is none of the callers', one at a time, each caller's in order, done on return. */
#include "rte/delegate.h"

#include "unit/check.h"

#include <pthread.h>
#include <stdbool.h>

enum { THREADS = 8, CALLS = 2000 };

static struct delegate *delegate;
static pthread_t its_thread;
static bool known;
static long calls, last[THREADS]; /* plain: two at once would be a data race */

struct task {
    long id, number, result;
};

static void work(void *argument)
{
    struct task *task = argument;
    if (!known)
        its_thread = pthread_self();
    known = true;
    CHECK(pthread_equal(its_thread, pthread_self()));
    CHECK(last[task->id] + 1 == task->number);
    last[task->id] = task->number;
    task->result = ++calls;
}

static void *ask(void *argument)
{
    long id = (long)argument, before = 0;
    for (long number = 1; number <= CALLS; number++) {
        struct task task = {id, number, 0};
        delegate_call(delegate, work, &task);
        CHECK(task.result > before);
        before = task.result;
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    delegate = delegate_start();
    CHECK(delegate != 0);
    for (long id = 0; id < THREADS; id++)
        CHECK(pthread_create(&threads[id], 0, ask, (void *)id) == 0);
    for (int id = 0; id < THREADS; id++) {
        pthread_join(threads[id], 0);
        CHECK(!pthread_equal(threads[id], its_thread));
    }
    CHECK(calls == THREADS * CALLS);
    delegate_stop(delegate);
    delegate_stop(0);
    delegate = delegate_start(); /* again */
    known = false;
    struct task task = {0, CALLS + 1, 0};
    delegate_call(delegate, work, &task);
    CHECK(task.result == THREADS * CALLS + 1);
    delegate_stop(delegate);
    return 0;
}
