/* A job that hangs in calls on a window, and what lateral-mpi --timeout says of it (stuck.py): argument fence, start, lock or
 * flush. Three ranks. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static MPI_Win window;
static int me;

static void fence(void)
{
    if (me == 2)
        sleep(60);
    MPI_Win_fence(0, window);
}

static void start(void)
{
    MPI_Group world, other;
    int rank = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (me == 1)
        rank = 2;
    MPI_Group_incl(world, 1, &rank, &other);
    if (me == 0)
        MPI_Win_start(other, 0, window); /* rank 1 never posts */
    if (me == 1) {
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window); /* rank 2 never starts */
    }
    sleep(60);
}

static void lock(void)
{
    if (me == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me != 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    sleep(60);
}

static void put(void)
{
    MPI_Put(&me, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_flush(2, window);
}

/* Rank 2 is on another node, executes puts there by itself, and does not look once rank 0 has reached it. */
static void flush(void)
{
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (me == 0)
        put();
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(me ? 60 : 1);
    if (me == 0)
        put();
    sleep(60);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "fence") == 0)
        fence();
    else if (strcmp(how, "start") == 0)
        start();
    else if (strcmp(how, "flush") == 0)
        flush();
    else
        lock();
    return 1;
}
