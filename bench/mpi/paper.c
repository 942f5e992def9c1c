/* The figures of "Quo Vadis MPI RMA?" (Schuchart et al., EuroMPI 2021): puts from rank 0 to rank 1.
 *
 *   paper FIGURE [--quick]
 *
 *   windows   figures 4 and 12: put and flush on windows that are allocated, dynamic, or of a memory handle, also with the
 *             making and freeing of that window; rank 1 waits in a barrier
 *   busy      figure 5: 100,000 puts of a byte, each flushed, while rank 1 computes for 3 s
 *   scope     figures 8 and 9: threads put and flush, in process scope and in thread scope
 *   order     figures 10 and 11: put and flush, puts without flushes, ordered puts without flushes; 32 threads
 *
 * The extensions are found at run time, so the program also runs on an MPI without them, and leaves their rows out. Rank 0
 * prints microseconds of an operation. Kinds take turns, batch by batch. */
#include "common.h"

#include <dlfcn.h>

enum { MOST = 65536, REPEATS = 15, QUICK_REPEATS = 2, HANDLE = 1024 };
#define BATCH_SECONDS 4e-4

static MPI_Win window, dynamic, parent = MPI_WIN_NULL, part = MPI_WIN_NULL, threaded = MPI_WIN_NULL,
                                ordered = MPI_WIN_NULL;
static MPI_Aint there; /* in the dynamic window */
static char *data, handle[HANDLE];
static int quick;

static int (*win_dup)(MPI_Win, MPI_Info, MPI_Win *);
static int (*handle_create)(void *, MPI_Aint, MPI_Info, MPI_Win, void *, int *);
static int (*handle_window)(const void *, MPI_Aint, int, MPI_Info, int, MPI_Win, MPI_Win *);
static int (*handle_release)(void *, MPI_Win);

/* ---- windows ---- */

static char *memory(void)
{
    void *made;
    MPI_Alloc_mem(MOST, MPI_INFO_NULL, &made);
    return memset(made, 0, MOST);
}

static MPI_Win twin(const char *key, const char *value)
{
    MPI_Win made = MPI_WIN_NULL;
    MPI_Info info;
    if (!win_dup)
        return made;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    win_dup(window, info, &made);
    MPI_Info_free(&info);
    return made;
}

static void open_windows(void)
{
    char *base, *attached = memory();
    int size = 0;
    *(void **)&win_dup = dlsym(RTLD_DEFAULT, "MPIX_Win_dup_with_info");
    *(void **)&handle_create = dlsym(RTLD_DEFAULT, "MPIX_Memhandle_create");
    *(void **)&handle_window = dlsym(RTLD_DEFAULT, "MPIX_Win_from_memhandle");
    *(void **)&handle_release = dlsym(RTLD_DEFAULT, "MPIX_Memhandle_release");
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    memset(base, 0, MOST);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, attached, MOST);
    MPI_Get_address(attached, &there);
    MPI_Bcast(&there, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_lock_all(0, dynamic);
    threaded = twin("mpi_win_scope", "thread");
    ordered = twin("mpi_win_order", "true");
    if (!handle_window)
        return;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent);
    MPI_Win_lock_all(0, parent);
    if (rank == 1)
        handle_create(memory(), MOST, MPI_INFO_NULL, parent, handle, &size);
    MPI_Bcast(handle, HANDLE, MPI_BYTE, 1, MPI_COMM_WORLD);
    if (rank == 0)
        handle_window(handle, MOST, 1, MPI_INFO_NULL, 1, parent, &part);
}

static void close_windows(void)
{
    if (threaded != MPI_WIN_NULL)
        MPI_Win_free(&threaded);
    if (ordered != MPI_WIN_NULL)
        MPI_Win_free(&ordered);
    if (part != MPI_WIN_NULL)
        MPI_Win_free(&part);
    MPI_Barrier(MPI_COMM_WORLD);
    if (parent != MPI_WIN_NULL) {
        MPI_Win_unlock_all(parent);
        MPI_Win_free(&parent);
    }
    MPI_Win_unlock_all(dynamic);
    MPI_Win_free(&dynamic);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* ---- one operation ---- */

static void put(MPI_Win win, MPI_Aint at, int size)
{
    MPI_Put(data, size, MPI_BYTE, 1, at, size, MPI_BYTE, win);
}

static void on_allocated(int size)
{
    put(window, 0, size);
    MPI_Win_flush(1, window);
}

static void on_dynamic(int size)
{
    put(dynamic, there, size);
    MPI_Win_flush(1, dynamic);
}

static void on_part(int size)
{
    put(part, 0, size);
    MPI_Win_flush(1, part);
}

static void on_new_part(int size)
{
    MPI_Win made;
    handle_window(handle, MOST, 1, MPI_INFO_NULL, 1, parent, &made);
    put(made, 0, size);
    MPI_Win_free(&made); /* completes it */
}

static void alone(int size)
{
    put(window, 0, size);
}

static void in_order(int size)
{
    put(ordered, 0, size);
}

struct kind {
    const char *name;
    void (*run)(int size);
    MPI_Win *win; /* without: leave the kind out */
    int flushes;  /* the operation does not flush: one flush behind the batch */
};

static double batch(const struct kind *kind, int size, long count)
{
    double start = MPI_Wtime();
    for (long i = 0; i < count; i++)
        kind->run(size);
    if (kind->flushes)
        MPI_Win_flush(1, *kind->win);
    return (MPI_Wtime() - start) / (double)count;
}

/* Rank 0. Kinds take turns; each gives its median batch. */
static void measure(const char *figure, const struct kind *kinds, int n, int size)
{
    double seen[8][REPEATS];
    long count[8] = {0};
    int repeats = quick ? QUICK_REPEATS : REPEATS;
    for (int k = 0; k < n; k++) {
        if (!kinds[k].win || *kinds[k].win == MPI_WIN_NULL)
            continue;
        batch(&kinds[k], size, 20);
        double each = batch(&kinds[k], size, 20);
        count[k] = (long)(BATCH_SECONDS / each) + 1;
        count[k] = kinds[k].flushes && count[k] < 100 ? 100 : count[k] < 4 ? 4 : count[k];
    }
    for (int i = 0; i < repeats; i++)
        for (int k = 0; k < n; k++)
            if (count[k])
                seen[k][i] = batch(&kinds[k], size, count[k]);
    for (int k = 0; k < n; k++) {
        if (!count[k])
            continue;
        bench_result(bench_median(seen[k], repeats) * 1e6, "us", "%s.%s.%d", figure, kinds[k].name, size);
    }
}

static void figure_windows(void)
{
    const struct kind kinds[] = {{"allocate", on_allocated, &window, 0},
                                 {"dynamic", on_dynamic, &dynamic, 0},
                                 {"handle", on_part, &part, 0},
                                 {"made", on_new_part, &part, 0}};
    const int sizes[] = {8, 64, 512, 4096, 16384, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && rank == 0; i++)
        measure("windows", kinds, 4, sizes[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void figure_order(void)
{
    const struct kind kinds[] = {{"flush", on_allocated, &window, 0},
                                 {"none", alone, &window, 1},
                                 {"ordered", in_order, &ordered, 1}};
    const int sizes[] = {8, 64, 512, 4096, 16384};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && rank == 0; i++)
        measure("order", kinds, 3, sizes[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- a target that computes ---- */

static void figure_busy(void)
{
    const struct kind kinds[] = {{"allocate", on_allocated, &window, 0},
                                 {"dynamic", on_dynamic, &dynamic, 0},
                                 {"handle", on_part, &part, 0}};
    const double seconds = quick ? 0.2 : 3, most = quick ? 0.4 : 3.5;
    const long puts = quick ? 2000 : 100000;
    for (int k = 0; k < 3; k++) {
        long done = 0;
        int there_is = *kinds[k].win != MPI_WIN_NULL;
        MPI_Bcast(&there_is, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!there_is)
            continue;
        if (rank == 0)
            kinds[k].run(1);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (rank == 1)
            while (MPI_Wtime() - start < seconds)
                ;
        else
            while (done < puts && MPI_Wtime() - start < most) {
                kinds[k].run(1);
                done++;
            }
        double took = MPI_Wtime() - start;
        MPI_Barrier(MPI_COMM_WORLD);
        bench_result(1e6 * took / (double)(done ? done : 1), "us", "busy.%s", kinds[k].name);
    }
}

/* ---- threads ---- */

static MPI_Win common;
static int bytes;

static void put_and_flush(long id)
{
    (void)id;
    put(common, 0, bytes);
    MPI_Win_flush(1, common);
}

/* Prints the mean time of a thread's operation, in each scope. */
static void scopes(int threads, int size)
{
    static const char *const names[] = {"process", "thread", "ordered"};
    const MPI_Win windows[] = {window, threaded, ordered};
    for (int i = 0; i < 3; i++)
        if (windows[i] != MPI_WIN_NULL) {
            common = windows[i];
            bytes = size;
            bench_result(1e6 * threads * run_threads(threads, quick ? 0.01 : 0.06, put_and_flush), "us", "%s.%d.%d",
                         names[i], threads, size);
        }
}

static void figure_scope(void)
{
    const int sizes[] = {512, 4096, MOST};
    for (int threads = 1; threads <= THREADS && rank == 0; threads *= 2)
        scopes(threads, 8);
    for (int i = 0; i < 3 && rank == 0; i++)
        for (int threads = 1; threads <= THREADS; threads += THREADS - 1)
            scopes(threads, sizes[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
        int level;
    } figures[] = {{"windows", figure_windows, MPI_THREAD_SINGLE},
                   {"busy", figure_busy, MPI_THREAD_SINGLE},
                   {"scope", figure_scope, MPI_THREAD_MULTIPLE},
                   {"order", figure_order, MPI_THREAD_SINGLE}};
    int which = 4;
    for (int i = 0; i < 4 && argc > 1; i++)
        which = strcmp(argv[1], figures[i].name) == 0 ? i : which;
    quick = bench_has(argc, argv, "--quick");
    open_mpi(&argc, &argv, which < 4 ? figures[which].level : MPI_THREAD_SINGLE);
    if (ranks != 2 || which == 4) {
        fprintf(stderr, "usage: mpirun -n 2 paper windows|busy|scope|order [--quick]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    data = calloc(1, MOST);
    open_windows();
    MPI_Barrier(MPI_COMM_WORLD);
    figures[which].run();
    close_windows();
    bench_results_end();
    MPI_Finalize();
    return 0;
}
