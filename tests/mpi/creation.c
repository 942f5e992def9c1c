/* Wrong arguments of the calls that make windows give the standard's error class through the communicator's error handler, make
 * no window, and leave the communicator fit for the next one.
 * ranks: 1 2 */
#include "check.h"

static int handled;

static void handler(MPI_Comm *which, int *code, ...)
{
    (void)which;
    handled = error_class(*code);
}

#define GIVES(class, call)                  \
    do {                                    \
        handled = MPI_SUCCESS;              \
        CHECK_EQ(error_class(call), class); \
        CHECK_EQ(handled, class);           \
    } while (0)

static void wrong_numbers(void)
{
    static int64_t memory[4];
    void *base;
    MPI_Win win;
    GIVES(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    GIVES(MPI_ERR_DISP, MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    GIVES(MPI_ERR_DISP, MPI_Win_create(memory, 8, -8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    GIVES(MPI_ERR_SIZE, MPI_Win_allocate(-8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    GIVES(MPI_ERR_DISP, MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    GIVES(MPI_ERR_SIZE, MPI_Win_allocate_shared(-8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    GIVES(MPI_ERR_DISP, MPI_Win_allocate_shared(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
}

/* Handlers of MPI_COMM_WORLD, or of MPI_COMM_SELF, get what concerns no communicator. */
static void wrong_communicators(void)
{
    static int64_t memory[4];
    void *base;
    MPI_Win win;
    GIVES(MPI_ERR_COMM, MPI_Win_create(memory, 8, 8, MPI_INFO_NULL, MPI_COMM_NULL, &win));
    GIVES(MPI_ERR_COMM, MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win));
    GIVES(MPI_ERR_COMM, MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win));
    GIVES(MPI_ERR_COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win));
}

static void next_window(void)
{
    int64_t *base, mine = 10 + me;
    MPI_Win win;
    OK(MPI_Win_allocate(sizeof *base, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&mine, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(*base, 10 + prev_rank);
    OK(MPI_Win_free(&win));
}

int main(void)
{
    MPI_Errhandler errors;
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Comm_create_errhandler(handler, &errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, errors));
    wrong_numbers();
    wrong_communicators();
    next_window();
    OK(MPI_Errhandler_free(&errors));
    return check_pass();
}
