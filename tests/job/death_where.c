/* Ways to die, one word each, of all PEs but 0, for tests/launch/check_crashes.py; without a word nobody does.
 * pes: 3 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero;
static int *volatile nowhere; /* the compiler must not know */

__attribute__((noinline)) static void store_nowhere(void)
{
    *nowhere = 1;
}

__attribute__((noinline)) static int fill_stack(volatile char *above)
{
    volatile char room[4096];
    room[0] = above[0];
    if (zero)
        return 0;
    return fill_stack(room) + room[zero];
}

static void own_handler(int number)
{
    (void)number;
    printf("own handler\n");
    fflush(stdout);
    _exit(3);
}

__attribute__((noinline)) static void die(const char *how)
{
    if (strcmp(how, "store") == 0)
        store_nowhere();
    if (strcmp(how, "readonly") == 0)
        *(volatile char *)mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
    if (strcmp(how, "divide") == 0)
        exit(7 / zero);
    if (strcmp(how, "call") == 0)
        ((void (*)(void))nowhere)();
    if (strcmp(how, "stack") == 0)
        exit(fill_stack((volatile char *)how));
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "library") == 0)
        shmem_putmem(nowhere, how, 4, 0);
    if (strcmp(how, "child") == 0 && fork() == 0)
        store_nowhere();
    if (strcmp(how, "own") == 0) {
        signal(SIGSEGV, own_handler);
        store_nowhere();
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    shmem_sync_all();
    if (argc > 1 && shmem_my_pe() > 0)
        die(argv[1]);
    if (argc < 2 || strcmp(argv[1], "child") == 0)
        shmem_barrier_all();
    else
        pause(); /* the others must die of what they do, not because the job ends */
    shmem_finalize();
    return 0;
}
