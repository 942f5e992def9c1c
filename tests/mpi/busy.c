/* Every kind of window and operation goes on while its target computes and calls nothing: on mapped memory, by the kernel's
 * copies, without them (executed), and between nodes.
 * ranks: 2
 * ways: plain executed far
 * links: layer */
#include "check.h"
#include "mpix_rma.h"

#include <time.h>

enum { WORDS = 2048, MANY = 1000, SECONDS = 3, DONE = WORDS - 1 };

static MPI_Win win, parent = MPI_WIN_NULL;
static MPI_Aint there, step; /* displacements: of the target's memory, from word to word */
static int64_t *memory, block[MANY], found[MANY];
static MPI_Group target_group, origin_group;

/* ---- operations: each is complete at the target when it returns ---- */

static void complete(void)
{
    OK(MPI_Win_flush(1, win));
}

static void op_put(void)
{
    OK(MPI_Put(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win));
    complete();
}

static void op_get(void)
{
    OK(MPI_Get(found, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win));
    complete();
}

static void op_accumulate(void)
{
    OK(MPI_Accumulate(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, MPI_SUM, win));
    complete();
}

static void op_get_accumulate(void)
{
    OK(MPI_Get_accumulate(block, MANY, MPI_INT64_T, found, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, MPI_MAX,
                          win));
    complete();
}

static void op_accumulate_doubles(void)
{
    double doubles[MANY] = {0};
    OK(MPI_Accumulate(doubles, MANY, MPI_DOUBLE, 1, there, MANY, MPI_DOUBLE, MPI_PROD, win));
    complete();
}

static void op_fetch_and_op(void)
{
    OK(MPI_Fetch_and_op(block, found, MPI_INT64_T, 1, there, MPI_SUM, win));
    complete();
}

static void op_compare_and_swap(void)
{
    OK(MPI_Compare_and_swap(block, found + 1, found, MPI_INT64_T, 1, there, win));
    complete();
}

static void wait_for(MPI_Request *request)
{
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    complete();
}

static void op_rput(void)
{
    MPI_Request request;
    OK(MPI_Rput(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win, &request));
    wait_for(&request);
}

static void op_rget(void)
{
    MPI_Request request;
    OK(MPI_Rget(found, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win, &request));
    wait_for(&request);
}

static void op_raccumulate(void)
{
    MPI_Request request;
    OK(MPI_Raccumulate(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, MPI_SUM, win, &request));
    wait_for(&request);
}

static void op_rget_accumulate(void)
{
    MPI_Request request;
    OK(MPI_Rget_accumulate(block, MANY, MPI_INT64_T, found, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, MPI_SUM,
                           win, &request));
    wait_for(&request);
}

static void op_strided_put(void)
{
    MPI_Datatype every_second;
    OK(MPI_Type_vector(MANY / 2, 1, 2, MPI_INT64_T, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Put(block, 1, every_second, 1, there, 1, every_second, win));
    OK(MPI_Type_free(&every_second));
    complete();
}

static void op_flush_all(void)
{
    OK(MPI_Put(block, 1, MPI_INT64_T, 1, there, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_flush_all(win));
}

/* ---- epochs, which these operations open ---- */

static void lock_and_put(int kind)
{
    OK(MPI_Win_lock(kind, 1, 0, win));
    OK(MPI_Put(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win));
    OK(MPI_Win_unlock(1, win));
}

static void op_exclusive_lock(void)
{
    lock_and_put(MPI_LOCK_EXCLUSIVE);
}

static void op_shared_lock(void)
{
    lock_and_put(MPI_LOCK_SHARED);
}

static void op_lock_all(void)
{
    OK(MPI_Win_lock_all(0, win));
    op_put();
    OK(MPI_Win_unlock_all(win));
}

static void op_start(void)
{
    OK(MPI_Win_start(target_group, 0, win));
    OK(MPI_Put(block, MANY, MPI_INT64_T, 1, there, MANY, MPI_INT64_T, win));
    OK(MPI_Win_complete(win));
}

enum epoch { LOCKED, OWN, POSTED }; /* under lock_all, by itself, or the target has posted */

static const struct op {
    const char *name;
    void (*run)(void);
    enum epoch epoch;
} ops[] = {{"put", op_put, LOCKED},
           {"get", op_get, LOCKED},
           {"accumulate", op_accumulate, LOCKED},
           {"get_accumulate", op_get_accumulate, LOCKED},
           {"accumulate of doubles", op_accumulate_doubles, LOCKED},
           {"fetch_and_op", op_fetch_and_op, LOCKED},
           {"compare_and_swap", op_compare_and_swap, LOCKED},
           {"rput", op_rput, LOCKED},
           {"rget", op_rget, LOCKED},
           {"raccumulate", op_raccumulate, LOCKED},
           {"rget_accumulate", op_rget_accumulate, LOCKED},
           {"strided put", op_strided_put, LOCKED},
           {"flush_all", op_flush_all, LOCKED},
           {"exclusive lock", op_exclusive_lock, OWN},
           {"shared lock", op_shared_lock, OWN},
           {"lock_all", op_lock_all, OWN},
           {"start and complete", op_start, POSTED}};

/* ---- the target ---- */

/* Its memory says when the origin is done. */
static void compute(const char *window, const char *name)
{
    volatile int64_t *done = &memory[DONE];
    const time_t end = time(0) + SECONDS + 1;
    while (*done == 0 && time(0) < end)
        ;
    if (*done == 0)
        fprintf(stderr, "%s window, %s: not done while the target computed for %d s\n", window, name, SECONDS);
    CHECK(*done != 0);
}

static void tell(void)
{
    int64_t one = 1;
    OK(MPI_Put(&one, 1, MPI_INT64_T, 1, there + DONE * step, 1, MPI_INT64_T, win));
}

/* In the origin the lock is the parent's, where the window is a memory handle's. */
static void one_at_origin(const struct op *op)
{
    MPI_Win locked = parent != MPI_WIN_NULL ? parent : win;
    if (op->epoch == LOCKED)
        OK(MPI_Win_lock_all(0, locked));
    op->run();
    if (op->epoch != LOCKED)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    tell();
    if (op->epoch == LOCKED)
        complete();
    OK(op->epoch == LOCKED ? MPI_Win_unlock_all(locked) : MPI_Win_unlock(1, win));
}

static void one(const char *window, const struct op *op)
{
    memory[DONE] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        one_at_origin(op);
    } else {
        if (op->epoch == POSTED)
            OK(MPI_Win_post(origin_group, 0, win));
        compute(window, op->name);
        if (op->epoch == POSTED)
            OK(MPI_Win_wait(win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A window of a memory handle has no epochs of its own. */
static void every_operation(const char *window)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (parent == MPI_WIN_NULL || ops[i].epoch == LOCKED)
            one(window, &ops[i]);
}

/* ---- windows ---- */

enum { PAGE = 4096, BYTES = WORDS * 8 };

static void use_and_free(const char *window)
{
    step = 1;
    every_operation(window);
    OK(MPI_Win_free(&win));
}

static void test_allocated(void)
{
    OK(MPI_Win_allocate(BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    use_and_free("allocated");
}

static void test_shared(void)
{
    OK(MPI_Win_allocate_shared(BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    use_and_free("shared");
}

static void create(const char *window, void *bytes)
{
    memory = memset(bytes, 0, BYTES);
    OK(MPI_Win_create(memory, BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    use_and_free(window);
}

/* Pages that can move, bytes on both sides of such pages, bytes that stay, and bytes that are mapped already. */
static void test_created(void)
{
    static char words[BYTES + 1024];
    int64_t stack[WORDS];
    void *mapped;
    char *pages = aligned_alloc(PAGE, BYTES + PAGE);
    create("created on pages", pages);
    create("created beside pages", pages + 1024);
    free(pages);
    create("created on the stack", stack);
    create("created on globals", words + 512);
    OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &mapped));
    create("created on MPI_Alloc_mem", mapped);
    OK(MPI_Free_mem(mapped));
}

static void test_dynamic(void)
{
    memory = calloc(WORDS, 8);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, BYTES));
    MPI_Get_address(memory, &there);
    MPI_Bcast(&there, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    step = 8;
    every_operation("dynamic");
    there = 0;
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    free(memory);
}

static void test_handle(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE] = {0};
    int size;
    memory = calloc(WORDS, 8);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
    if (me == 1)
        OK(MPIX_Memhandle_create(memory, BYTES, MPI_INFO_NULL, parent, handle, &size));
    MPI_Bcast(handle, sizeof handle, MPI_BYTE, 1, MPI_COMM_WORLD);
    if (me == 0)
        OK(MPIX_Win_from_memhandle(handle, BYTES, 8, MPI_INFO_NULL, 1, parent, &win));
    step = 1;
    every_operation("memory handle");
    if (me == 0)
        OK(MPI_Win_free(&win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1)
        OK(MPIX_Memhandle_release(handle, parent));
    OK(MPI_Win_free(&parent));
    free(memory);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    MPI_Group all;
    if (strcmp(way, "executed") == 0)
        setenv("LATERAL_WIRE", "messages", 1);
    check_start(MPI_THREAD_SINGLE);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){0}, &origin_group);
    MPI_Group_incl(all, 1, &(int){1}, &target_group);
    test_allocated();
    if (strcmp(way, "far") != 0)
        test_shared();
    test_created();
    test_dynamic();
    test_handle();
    MPI_Group_free(&origin_group);
    MPI_Group_free(&target_group);
    MPI_Group_free(&all);
    return check_pass();
}
