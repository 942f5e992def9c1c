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

#endif
