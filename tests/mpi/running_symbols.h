/* The parts of running.c about functions of the MPI and of UCX that the layer stands before, and threads that block signals. */
#ifndef MPI_TEST_RUNNING_SYMBOLS_H
#define MPI_TEST_RUNNING_SYMBOLS_H
#include "running_stub.h"

/* ---- UCX's workers of the MPI ---- */

#ifdef MPICH_VERSION
static ucs_status_t status_of_ucx;
static char places[WORKERS + 3];
static int next_place;

static ucs_status_t create_at_ucx(void *context, const void *params, ucp_worker_h *worker)
{
    CHECK(context == places && params == places + 1);
    *worker = &places[next_place++];
    return status_of_ucx;
}

static unsigned progress_at_ucx(ucp_worker_h worker)
{
    CHECK(worker != 0);
    return 5;
}

static void make_worker(void)
{
    ucp_worker_h made;
    CHECK_EQ(ucp_worker_create(places, places + 1, &made), status_of_ucx);
    CHECK(made == &places[next_place - 1]);
}

static void workers_of_mpi(void)
{
    real_create = create_at_ucx;
    real_progress = progress_at_ucx;
    progress_finds = 2;
    make_worker(); /* not of the MPI */
    lmpi_workers_record(true);
    status_of_ucx = 1;
    make_worker();
    status_of_ucx = 0;
    CHECK_EQ(count_of_workers, 0);
    for (int i = 0; i < WORKERS; i++)
        make_worker();
    CHECK_EQ(count_of_workers, WORKERS);
    make_worker(); /* one too many */
    lmpi_workers_record(false);
    CHECK_EQ(count_of_workers, WORKERS);
    for (int i = 0; i < WORKERS + 3; i++)
        CHECK_EQ(ucp_worker_progress(&places[i]), i >= 2 && i < WORKERS + 2 ? 7 : 5);
    count_of_workers = 0;
    CHECK_EQ(ucp_worker_progress(&places[2]), 5);
    lmpi_workers_record(true);
    next_place = 0;
    make_worker();
    lmpi_workers_record(false);
    make_worker();
    CHECK_EQ(count_of_workers, 1);
}
#else
static void workers_of_mpi(void) {}
#endif

/* ---- Fortran ---- */

static int fortran_asked;

#ifdef OPEN_MPI
static void get_behind(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error)
{
    CHECK(win && key && value && flag);
    fortran_asked++;
    *flag = 40;
    if (error)
        *error = 41;
}

static MPI_Aint fortran(MPI_Fint win, int key, int by)
{
    MPI_Fint number = key, flag = 0, error = 9;
    MPI_Aint value = -1;
    (void)by;
    mpi_win_get_attr_(&win, &number, &value, &flag, &error);
    CHECK(flag == 40 ? error == 41 : flag == 1 && error == MPI_SUCCESS);
    flag = 0;
    mpi_win_get_attr_(&win, &number, &value, &flag, 0);
    CHECK(flag == 40 || flag == 1);
    return value;
}
#else
static int get_behind(MPI_Win win, int key, void *value, int *flag, int kind)
{
    CHECK(win && value && flag && kind >= 0 && key);
    fortran_asked++;
    *flag = 40;
    return 41;
}

static MPI_Aint fortran(MPI_Fint win, int key, int by)
{
    MPI_Aint value = -1;
    MPI_Fint small[2] = {-1, -1};
    int flag = 0;
    const int status = MPII_Win_get_attr(WIN(win), key + by, &value, &flag, ADDRESS);
    CHECK(flag == 40 ? status == 41 : flag == 1 && status == MPI_SUCCESS);
    MPII_Win_get_attr(WIN(win), key + by, small, &flag, FORTRAN_INTEGER);
    CHECK(small[0] == (MPI_Fint)value && small[1] == -1);
    const int before = fortran_asked;
    MPII_Win_get_attr(WIN(win), key + by, &value, &flag, POINTER);
    CHECK(flag == 40 && fortran_asked == before + 1);
    fortran_asked = before;
    return value;
}
#endif

static void fortran_attributes(void)
{
    int status;
    window = (struct lmpi_window){.base = (void *)(intptr_t)0x123456789000,
                                  .bytes = (MPI_Aint)5 << 32,
                                  .unit = 6,
                                  .flavor = 7,
                                  .model = 8};
    const pid_t pid = fork(); /* an MPI without the function is told of, and ends the process */
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        next_symbol("nothing");
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    behind_fortran = (void *)get_behind;
    for (int by = 0; by < 2; by++) {
        fortran_asked = 0;
        CHECK_EQ(fortran(1, MPI_WIN_BASE, by), 0x123456789000);
        CHECK_EQ(fortran(1, MPI_WIN_SIZE, by), (MPI_Aint)5 << 32);
        CHECK_EQ(fortran(1, MPI_WIN_DISP_UNIT, by), 6);
        CHECK_EQ(fortran(1, MPI_WIN_CREATE_FLAVOR, by), 7);
        CHECK_EQ(fortran(1, MPI_WIN_MODEL, by), 8);
        CHECK_EQ(fortran_asked, 0);
        CHECK_EQ(fortran(1, 12345, by), -1);
        CHECK_EQ(fortran(9, MPI_WIN_BASE, by), -1);
        CHECK_EQ(fortran_asked, 4);
    }
}

/* ---- threads that block signals ---- */

enum { RUNS = 1, SLEEPS = 0 };

/* What the kernel tells of a thread. */
static enum taken takes_with(const char *state, const char *mask)
{
    snprintf(thread_text[0], sizeof thread_text[0],
             "Name:\tx\nState:\t%s\nTgid:\t1\nSigBlk:\t%s\nSigIgn:\tffffffffffffffff\n", state, mask);
    return takes("0");
}

static void masks(void)
{
    const char *none = "0000000000000000", *fault = "0000000000000400", *others = "fffffffffffffbff",
               *library = "0000000080000400";
    const char *every = "ffffffffffffffff", *program = "ffffffff7fffffff";
    CHECK(takes_with("R (running)", none) == TAKES && takes_with("S (sleeping)", none) == TAKES);
    CHECK(takes_with("R (running)", others) == TAKES && takes_with("S (sleeping)", others) == TAKES);
    CHECK(takes_with("R (running)", fault) == BLOCKS && takes_with("S (sleeping)", fault) == BLOCKS);
    CHECK(takes_with("R (running)", program) == BLOCKS);
    CHECK(takes_with("R (running)", library) == PASSING && takes_with("S (sleeping)", library) == BLOCKS);
    CHECK(takes_with("R (running)", every) == PASSING && takes_with("S (sleeping)", every) == BLOCKS);
    CHECK_EQ(blocks(1, 1), 1);
    CHECK(blocks(UINT64_C(1) << 63, 64) && !blocks(UINT64_C(1) << 63, 63));
    snprintf(thread_text[0], sizeof thread_text[0], "State:\tR\n"); /* no mask is told */
    CHECK_EQ(takes("0"), BLOCKS);
    *thread_text[0] = 0; /* it has ended meanwhile */
    CHECK_EQ(takes("0"), TAKES);
    CHECK_EQ(takes("gone"), TAKES);
    tasks_hidden = true; /* without /proc nobody knows */
    CHECK_EQ(takes("gone"), BLOCKS);
    CHECK(!lmpi_faults_taken());
    tasks_hidden = false;
    CHECK_EQ(open_files, 0);
}

static void set_threads(int n, const char *first, const char *second, const char *third)
{
    const char *const all[] = {first, second, third};
    threads_told = n;
    for (int i = 0; i < n; i++)
        snprintf(thread_text[i], sizeof thread_text[i], "\nState:\tR (running)\nSigBlk:\t%s\n", all[i]);
}

static int passes_at; /* the nap behind which all threads take the signal */

static void nap_passes(void)
{
    if (naps == passes_at)
        set_threads(3, "0", "0", "0");
}

/* All threads but this one must take the signal; one that starts or ends is waited for, and longer than one that blocks it. */
static void threads_take(void)
{
    const char *passing = "ffffffffffffffff", *blocking = "0000000000000400";
    on_nap = 0;
    naps = 0;
    set_threads(0, 0, 0, 0);
    CHECK(lmpi_faults_taken());
    set_threads(3, "0", "0", "0");
    CHECK(lmpi_faults_taken() && naps == 0);
    for (int bad = 0; bad < 3; bad++) {
        naps = 0;
        set_threads(3, bad == 0 ? blocking : "0", bad == 1 ? blocking : "0", bad == 2 ? blocking : "0");
        CHECK_EQ(all_take(), BLOCKS);
        CHECK(!lmpi_faults_taken());
        CHECK_EQ(naps, PATIENCE - 1);
        set_threads(3, bad == 0 ? passing : "0", bad == 1 ? passing : "0", bad == 2 ? passing : "0");
        CHECK_EQ(all_take(), PASSING);
    }
    set_threads(3, passing, blocking, "0");
    CHECK_EQ(all_take(), BLOCKS);
    set_threads(3, blocking, passing, passing);
    CHECK_EQ(all_take(), BLOCKS);
    naps = 0;
    passes_at = PATIENCE + 5;
    on_nap = nap_passes;
    set_threads(3, "0", passing, "0");
    CHECK(lmpi_faults_taken() && naps == PATIENCE + 5);
    naps = 0;
    passes_at = PATIENCE - 1;
    set_threads(3, "0", "0", blocking);
    CHECK(lmpi_faults_taken() && naps == PATIENCE - 1);
    on_nap = 0;
    snprintf(thread_text[MYSELF], sizeof thread_text[MYSELF], "\nState:\tR\nSigBlk:\t%s\n", blocking);
    set_threads(3, "0", "0", blocking);
    CHECK_EQ(all_take(), BLOCKS);
    set_threads(3, "0", "0", "0");
    CHECK_EQ(all_take(), TAKES); /* this thread itself does not count */
    CHECK_EQ(open_files, 0);
}

#endif
