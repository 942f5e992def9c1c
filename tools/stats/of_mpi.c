/* MPI's part: start and end, the ranks behind windows, and the way to the other processes. MPI_X and PMPI_X are one function, as
 * MPI's Fortran calls the latter. */
#include "of_mpi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

size_t stats_bytes(MPI_Count count, MPI_Datatype type)
{
    int size = 0;
    return PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 ? (size_t)count * (size_t)size : 0;
}

/* ---- ranks of windows ---- */

struct window {
    MPI_Win win;
    struct window *next;
    int ranks, world[]; /* the rank in the world of each rank */
};

static struct window *windows; /* under the lock */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct window *make_window(MPI_Win win)
{
    MPI_Group group, world;
    struct window *made = NULL;
    int ranks;
    if (PMPI_Win_get_group(win, &group) != MPI_SUCCESS)
        return NULL;
    PMPI_Group_size(group, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int *numbers = malloc((size_t)ranks * sizeof *numbers);
    made = malloc(sizeof *made + (size_t)ranks * sizeof *made->world);
    if (made && numbers) {
        for (int i = 0; i < ranks; i++)
            numbers[i] = i;
        made->win = win;
        made->ranks = ranks;
        PMPI_Group_translate_ranks(group, ranks, numbers, world, made->world);
    } else {
        free(made);
        made = NULL;
    }
    free(numbers);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return made;
}

static struct window *find_window(MPI_Win win)
{
    pthread_rwlock_rdlock(&lock);
    struct window *found = windows;
    while (found && found->win != win)
        found = found->next;
    pthread_rwlock_unlock(&lock);
    return found;
}

int stats_pe_of(MPI_Win win, int rank)
{
    struct window *window = find_window(win);
    if (!window && (window = make_window(win))) { /* of threads that come here together, each adds one */
        pthread_rwlock_wrlock(&lock);
        window->next = windows;
        windows = window;
        pthread_rwlock_unlock(&lock);
    }
    return window && rank >= 0 && rank < window->ranks ? window->world[rank] : -1;
}

static void forget_window(MPI_Win win)
{
    pthread_rwlock_wrlock(&lock);
    for (struct window **at = &windows; *at;) {
        struct window *gone = *at;
        if (gone->win == win) {
            *at = gone->next;
            free(gone);
        } else {
            at = &gone->next;
        }
    }
    pthread_rwlock_unlock(&lock);
}

int MPI_Win_free(MPI_Win *win)
{
    static struct stats_site site = {.name = "MPI_Win_free", .behind = "PMPI_Win_free"};
    struct stats_call call;
    if (win)
        forget_window(*win);
    if (stats_inside())
        return ((int (*)(MPI_Win *))stats_behind(&site))(win);
    int (*next)(MPI_Win *) = stats_enter(&call, &site, __builtin_return_address(0));
    int result = next(win);
    if (call.begin)
        stats_leave(&call, STATS_WAITS, -1, 0, NULL, 0);
    return result;
}
extern __typeof__(MPI_Win_free) PMPI_Win_free __attribute__((alias("MPI_Win_free")));

/* ---- the job ---- */

static void meet_pes(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void share_word(const uint64_t *mine, uint64_t *all)
{
    PMPI_Allgather(mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static void gather_parts(const void *mine, size_t bytes, void (*use)(const char *all, size_t stride, int pes))
{
    int me, ranks;
    MPI_Datatype part;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *all = me == 0 ? malloc((size_t)ranks * bytes) : NULL;
    if (me == 0 && !all) /* the others wait */
        fprintf(stderr, "lateral-mpi: no memory for the numbers of all ranks\n"), PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Type_contiguous((int)bytes, MPI_BYTE, &part); /* a PE's numbers are far below 2 GiB */
    PMPI_Type_commit(&part);
    PMPI_Gather(mine, 1, part, all, 1, part, 0, MPI_COMM_WORLD);
    PMPI_Type_free(&part);
    if (all)
        use(all, bytes, ranks);
    free(all);
}

static struct stats_job of_mpi = {.meet = meet_pes, .share = share_word, .gather = gather_parts};

/* Before anything is counted: these calls, too, come to the wrappers. */
static const struct stats_job *describe_job(void)
{
    MPI_Comm near;
    int here;
    PMPI_Comm_rank(MPI_COMM_WORLD, &of_mpi.me);
    PMPI_Comm_size(MPI_COMM_WORLD, &of_mpi.npes);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    PMPI_Comm_size(near, &here);
    PMPI_Comm_free(&near);
    of_mpi.one_host = here == of_mpi.npes;
    return &of_mpi;
}

/* Only the outermost call starts or ends: MPI_Init may be MPI_Init_thread inside. */
static _Thread_local int nested;

static int begin_stats(int status)
{
    if (--nested == 0 && status == MPI_SUCCESS && !stats_has_begun())
        stats_begin(describe_job());
    return status;
}

int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***))stats_next("PMPI_Init");
    nested++;
    return begin_stats(next(argc, argv));
}
extern __typeof__(MPI_Init) PMPI_Init __attribute__((alias("MPI_Init")));

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*next)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))stats_next("PMPI_Init_thread");
    nested++;
    return begin_stats(next(argc, argv, required, provided));
}
extern __typeof__(MPI_Init_thread) PMPI_Init_thread __attribute__((alias("MPI_Init_thread")));

int MPI_Finalize(void)
{
    int (*next)(void) = (int (*)(void))stats_next("PMPI_Finalize");
    if (nested++ == 0 && stats_is_last())
        stats_end(&of_mpi);
    int status = next();
    nested--;
    return status;
}
extern __typeof__(MPI_Finalize) PMPI_Finalize __attribute__((alias("MPI_Finalize")));
