/* One-sided operations of plain MPI, rank 0 to rank 1, which waits in a barrier of the MPI.
 *
 *   rma KIND OP...     KIND: allocate create small dynamic (small: a created window of 512 bytes)
 *                      OP: put get fetch_add accumulate lock big (a put of 1 MiB), put_vector, get_vector, accumulate_vector (64 words
 *                      with one between them), put_irregular (1 to 4 between them), or fence, pscw (both ranks), or threads, or
 *                      mutual_put (each rank to the other at the same time)
 *
 * Rank 0 prints KIND.OP, per operation: the fastest of many short batches, because others on the
 * machine only add to a time; of mutual operations the mean, because they are faster when the other rank is done. */
#include "common.h"

enum { BATCHES = 40, WORDS = 8192, MANY = 1000, PAGE = 4096, SMALL = 512, BIG = 1 << 20, APART = 64 };
#define BATCH_SECONDS 5e-4
#define THREADS_SECONDS 3e-2

static MPI_Win window;
static MPI_Aint there;  /* displacement of the target's memory */
static int many = MANY; /* doubles of an accumulate */
static double numbers[MANY];

/* ---- one operation and its completion ---- */

/* Returns the type of words with as much space between them; or of words with 1 to 4 words between them. */
static MPI_Datatype apart(int irregular)
{
    static MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int places[APART];
    if (types[irregular] == MPI_DATATYPE_NULL) {
        for (int i = 0, at = 0; i < APART; i++, at += irregular ? 2 + i * 7 % 4 : 2)
            places[i] = at;
        if (irregular)
            MPI_Type_create_indexed_block(APART, 1, places, MPI_INT64_T, &types[irregular]);
        else
            MPI_Type_vector(APART, 1, 2, MPI_INT64_T, &types[irregular]);
        MPI_Type_commit(&types[irregular]);
    }
    return types[irregular];
}

static int64_t words[5 * APART], value, old;
static char data[BIG];

/* An operation of this rank to the other one, and its completion. */
#define OPERATION(name, call)      \
    static void op_##name(long i)  \
    {                              \
        const int to = 1 - rank;   \
        value = words[0] = i;      \
        call;                      \
        MPI_Win_flush(to, window); \
    }

OPERATION(put, MPI_Put(&value, 1, MPI_INT64_T, to, there, 1, MPI_INT64_T, window))
OPERATION(get, MPI_Get(&value, 1, MPI_INT64_T, to, there, 1, MPI_INT64_T, window))
OPERATION(big, MPI_Put(data, BIG, MPI_BYTE, to, there, BIG, MPI_BYTE, window))
OPERATION(put_vector, MPI_Put(words, 1, apart(0), to, there, 1, apart(0), window))
OPERATION(get_vector, MPI_Get(words, 1, apart(0), to, there, 1, apart(0), window))
OPERATION(accumulate_vector, MPI_Accumulate(words, 1, apart(0), to, there, 1, apart(0), MPI_SUM, window))
OPERATION(put_irregular, MPI_Put(words, 1, apart(1), to, there, 1, apart(1), window))
OPERATION(fetch_add, MPI_Fetch_and_op(&value, &old, MPI_INT64_T, to, there, MPI_SUM, window))
OPERATION(accumulate, MPI_Accumulate(numbers, many, MPI_DOUBLE, to, there, many, MPI_DOUBLE, MPI_SUM, window))

static void op_lock(long i)
{
    value = i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&value, 1, MPI_INT64_T, 1, there, 1, MPI_INT64_T, window);
    MPI_Win_unlock(1, window);
}

static void op_fence(long i)
{
    (void)i;
    MPI_Win_fence(0, window);
}

static void op_pscw(long i)
{
    static MPI_Group other = MPI_GROUP_NULL;
    (void)i;
    if (other == MPI_GROUP_NULL) {
        MPI_Group all;
        int peer = 1 - rank;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &peer, &other);
        MPI_Group_free(&all);
    }
    MPI_Win_post(other, 0, window);
    MPI_Win_start(other, 0, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
}

/* Under lock_all, the same by both ranks at once, without lock_all, or a collective. */
enum way { PASSIVE, MUTUAL, LOCKS, BOTH };

static const struct op {
    const char *name;
    void (*run)(long i);
    enum way way;
} ops[] = {{"put", op_put, PASSIVE},
           {"get", op_get, PASSIVE},
           {"big", op_big, PASSIVE},
           {"put_vector", op_put_vector, PASSIVE},
           {"get_vector", op_get_vector, PASSIVE},
           {"accumulate_vector", op_accumulate_vector, PASSIVE},
           {"put_irregular", op_put_irregular, PASSIVE},
           {"fetch_add", op_fetch_add, PASSIVE},
           {"accumulate", op_accumulate, PASSIVE},
           {"lock", op_lock, LOCKS},
           {"fence", op_fence, BOTH},
           {"pscw", op_pscw, BOTH},
           {"mutual_put", op_put, MUTUAL}};

/* ---- measuring ---- */

static double batch(const struct op *op, long count)
{
    double start = MPI_Wtime();
    for (long i = 0; i < count; i++)
        op->run(i);
    return (MPI_Wtime() - start) / (double)count;
}

/* Both ranks come here together. */
static double batch_of_both(const struct op *op, long count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return batch(op, count);
}

/* Returns microseconds. Both ranks call it; only rank 0 issues, except where both must. */
static double measure(const struct op *op)
{
    double each = 0, seen, least = 0, sum = 0;
    double (*const run)(const struct op *, long) = op->way == MUTUAL ? batch_of_both : batch;
    const int issues = rank == 0 || op->way == BOTH || op->way == MUTUAL;
    long count = 8;
    if (issues)
        each = run(op, count);
    MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) { /* the first calls are slow */
        count = each * (double)count < BATCH_SECONDS / 8 ? count * 8 : count;
        if (issues)
            each = run(op, count);
        MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    count = each > 0 ? (long)(BATCH_SECONDS / each) + 1 : 1000;
    for (int i = 0; i < BATCHES; i++)
        if (issues) {
            seen = run(op, count);
            least = i == 0 || seen < least ? seen : least;
            sum += seen;
        }
    MPI_Barrier(MPI_COMM_WORLD);
    return (op->way == MUTUAL ? sum / BATCHES : least) * 1e6;
}

/* ---- threads ---- */

static void put_and_flush(long id)
{
    int64_t value = id;
    MPI_Put(&value, 1, MPI_INT64_T, 1, there + id * 8, 1, MPI_INT64_T,
            window); /* a cache line each; the unit is a word */
    MPI_Win_flush(1, window);
}

/* The fastest of some runs of each number of threads. */
static void measure_threads(const char *kind)
{
    for (int threads = 1; threads <= THREADS; threads *= 2) {
        double least = 0;
        for (int i = 0; i < 3 && rank == 0; i++) {
            double seen = run_threads(threads, THREADS_SECONDS, put_and_flush);
            least = i == 0 || seen < least ? seen : least;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        bench_result(least * 1e6, "us", "%s.threads.%d", kind, threads);
    }
}

/* ---- windows ---- */

static void make_window(const char *kind, size_t bytes)
{
    void *memory = 0;
    MPI_Info none = MPI_INFO_NULL;
    if (strcmp(kind, "allocate") == 0) {
        MPI_Win_allocate((MPI_Aint)bytes, 8, none, MPI_COMM_WORLD, &memory, &window);
    } else {
        memory = strcmp(kind, "small") == 0 ? malloc(bytes) : aligned_alloc(PAGE, bytes);
        if (!memory)
            MPI_Abort(MPI_COMM_WORLD, 1);
        memset(memory, 0, bytes);
    }
    if (strcmp(kind, "create") == 0 || strcmp(kind, "small") == 0)
        MPI_Win_create(memory, (MPI_Aint)bytes, 8, none, MPI_COMM_WORLD, &window);
    if (bytes < sizeof numbers)
        many = (int)(bytes / sizeof *numbers);
    if (strcmp(kind, "dynamic") == 0) {
        MPI_Win_create_dynamic(none, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory, (MPI_Aint)bytes);
        MPI_Get_address(memory, &there);
        MPI_Bcast(&there, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    }
    memset(memory, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one(const char *kind, const char *name)
{
    if (strcmp(name, "threads") == 0) {
        MPI_Win_lock_all(0, window);
        measure_threads(kind);
        MPI_Win_unlock_all(window);
        return;
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(ops[i].name, name) != 0)
            continue;
        const int passive = ops[i].way == PASSIVE || ops[i].way == MUTUAL;
        if (passive)
            MPI_Win_lock_all(0, window);
        bench_result(measure(&ops[i]), "us", "%s.%s", kind, name);
        if (passive)
            MPI_Win_unlock_all(window);
    }
}

int main(int argc, char **argv)
{
    open_mpi(&argc, &argv, bench_has(argc, argv, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    if (ranks != 2 || argc < 3) {
        fprintf(stderr, "usage: mpirun -n 2 rma KIND OP...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t bytes = strcmp(argv[1], "small") == 0 ? SMALL : WORDS * 8;
    make_window(argv[1], bench_has(argc, argv, "big") ? BIG : bytes);
    for (int i = 2; i < argc; i++)
        one(argv[1], argv[i]);
    bench_results_end();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
