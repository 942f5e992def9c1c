/* Library exit: global_exit ends the whole program with the status given, whatever the others do; it flushes what was
 * written and runs the exit handlers of its caller; it does not return.
 * pes: 1 2 4 7
 * case: zero
 * args: 0 one wait
 * status: 0
 * prints: ^last words of PE 0$
 * case: three
 * args: 3 one wait
 * status: 3
 * prints: ^last words of PE 0$
 * case: barrier
 * args: 7 one barrier
 * status: 7
 * prints: ^last words of PE 0$
 * case: compute
 * args: 9 one compute
 * status: 9
 * prints: ^last words of PE 0$
 * case: all
 * args: 5 all wait
 * status: 5
 * prints: ^last words of PE
 * case: thread
 * args: 6 thread wait
 * status: 6
 * prints: ^last words of PE 0$
 * case: handler
 * args: 4 one wait handler
 * status: 4
 * prints: ^handler ran$
 */
#include "check.h"
#include <pthread.h>

static int status;
static const char *doing;
static long never;

/* What the others are at when the end comes; none of it ends by itself. */
static void be_busy(void)
{
    if (strcmp(doing, "barrier") == 0)
        shmem_barrier_all();
    else if (strcmp(doing, "compute") == 0)
        for (volatile unsigned long x = 1; x != 0; x |= 1)
            continue;
    else
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    CHECK(!"reached");
}

static void *leave(void *unused)
{
    (void)unused;
    printf("last words of PE %d", me); /* no newline, no flush: the exit does that */
    fputc('\n', stdout);
    shmem_global_exit(status);
}

static void handler(void)
{
    printf("handler ran\n");
}

int main(int argc, char **argv)
{
    CHECK(argc > 3);
    status = atoi(argv[1]);
    doing = argv[3];
    setvbuf(stdout, NULL, _IOFBF, 4096);
    if (argc > 4)
        CHECK_EQ(atexit(handler), 0);
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    check_who();
    shmem_barrier_all();
    if (me != 0 && strcmp(argv[2], "all") != 0)
        be_busy();
    if (strcmp(argv[2], "thread") == 0) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, leave, NULL), 0);
        be_busy();
    }
    leave(NULL);
    return 99;
}
