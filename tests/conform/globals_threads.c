/* Global variables are symmetric whatever the program has done before it initializes: threads that run and store to their
 * own globals all the time, a start from a second thread, a timer that starts threads, a fork whose child is the PE. What a
 * constructor stored stays, and pointers to globals that it took stay good. Thread-local variables are not shared, and
 * a large .bss that nobody touches takes no memory.
 * pes: 2 4
 * prints: ^PASS$
 * case: none
 * args: none
 * case: stores
 * args: stores
 * case: thread
 * args: thread
 * case: timer
 * args: timer
 * skip: aarch64
 * case: child
 * args: child
 * case: childs_child
 * args: childs_child
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 2, LARGE = 1 << 30, MOST_KIB = 400 << 10 };

static long inbox[CHECK_MOST_PES], sum, initialised = 41, constructed;
static long *const constant_pointer = &inbox[3];
static long *taken;                         /* by a constructor */
static volatile long written[WRITERS][512]; /* each by one thread, all the time */
static volatile int stop;
static _Thread_local long of_thread = 7;
static char large[LARGE];

__attribute__((constructor)) static void construct(void)
{
    constructed = 99;
    taken = &inbox[1];
    initialised++;
}

/* Stores and looks whether what it stored is there still. Returns null, or what is wrong. */
static void *write_on(void *mine)
{
    volatile long *own = mine;
    for (long round = 1; !stop; round++)
        for (int i = 0; i < 512; i++) {
            if (own[i] != round - 1)
                return "a store was lost";
            own[i] = round;
        }
    return 0;
}

static void on_timer(union sigval value)
{
    (void)value;
}

static void start_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
    const struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, 0) == 0);
}

static void exchange(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(constructed == 99 && initialised == 42 && taken == &inbox[1] && constant_pointer == &inbox[3]);
    initialised += me;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_p(&inbox[me], 100 + me, pe);
        shmem_long_atomic_add(&sum, me + 1, pe);
        CHECK_EQ(shmem_long_g(&initialised, pe), 42 + pe);
        CHECK(pe == me || shmem_ptr(&sum, pe) != &sum);
        CHECK(!shmem_addr_accessible(&of_thread, pe));
    }
    CHECK(shmem_ptr(&sum, me) == &sum);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(inbox[pe], 100 + pe);
    CHECK(*taken == 101 && sum == (long)npes * (npes + 1) / 2 && of_thread == 7);
    shmem_char_p(&large[LARGE - 1], 'x', (me + 1) % npes);
    shmem_barrier_all();
    CHECK(large[LARGE - 1] == 'x' && large[LARGE / 2] == 0);
}

static void end(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss < MOST_KIB);
    check_pass();
}

static void *whole(void *unused)
{
    exchange();
    end();
    return unused;
}

static void with_writers(void)
{
    pthread_t thread[WRITERS];
    void *wrong;
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&thread[i], 0, write_on, (void *)(uintptr_t)written[i]) == 0);
    exchange();
    stop = 1;
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_join(thread[i], &wrong) == 0 && !wrong);
    end();
}

/* The child is the PE. What it stores stays its own. */
static int with_child(int depth)
{
    int status;
    fflush(0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (depth > 1)
            return with_child(depth - 1);
        whole(0);
        return 0;
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && sum == 0 && inbox[1] == 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "none";
    pthread_t thread;
    if (strncmp(way, "child", 5) == 0)
        return with_child(strcmp(way, "child") == 0 ? 1 : 2);
    if (strcmp(way, "stores") == 0)
        return with_writers(), 0;
    if (strcmp(way, "timer") == 0)
        start_timer();
    if (strcmp(way, "thread") != 0)
        return whole(0), 0;
    CHECK(pthread_create(&thread, 0, whole, 0) == 0 && pthread_join(thread, 0) == 0);
    return 0;
}
