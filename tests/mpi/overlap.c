/* Windows over the same bytes, of the program's own memory and of memory that MPI has allocated: small and large ones, ones
 * that begin in the pages of another and end beside them, dynamic ones, and an allocated one. All ranks add to the same words through all of them at the same time, and no addition is lost.
 * ranks: 2 4
 * ways: plain far */
#include "check.h"

enum { PAGE = 4096, N = 40 * PAGE / 8, WINDOWS = 6 };

struct window {
    MPI_Win win;
    MPI_Aint from, words; /* of the memory; the unit is a word */
    int dynamic;
};

static int turns;
static int64_t *memory;
static MPI_Aint address; /* of rank 0's memory */

static void make(struct window *window, MPI_Aint from, MPI_Aint words)
{
    *window = (struct window){.from = from, .words = words};
    OK(MPI_Win_create(memory + from, words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window->win));
}

static void make_dynamic(struct window *window, MPI_Aint from, MPI_Aint words)
{
    *window = (struct window){.from = from, .words = words, .dynamic = 1};
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window->win));
    OK(MPI_Win_attach(window->win, memory + from, words * 8));
}

static MPI_Aint place(const struct window *window, MPI_Aint word)
{
    return window->dynamic ? address + word * 8 : word - window->from;
}

/* Adds 1 to an integer, to a double behind it, which a lock guards, and to another integer. */
static void add(const struct window *window, MPI_Aint word)
{
    const int64_t one = 1;
    const double real = 1;
    static int64_t old; /* written until the epoch ends */
    MPI_Aint at = place(window, word), step = window->dynamic ? 8 : 1;
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, at, MPI_SUM, window->win));
    OK(MPI_Accumulate(&real, 1, MPI_DOUBLE, 0, at + step, 1, MPI_DOUBLE, MPI_SUM, window->win));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at + 2 * step, 1, MPI_INT64_T, MPI_SUM, window->win));
}

static int has(const struct window *window, MPI_Aint word)
{
    return word >= window->from && word + 3 <= window->from + window->words;
}

static void use(const struct window *windows, int count, MPI_Aint word)
{
    int through = 0;
    for (int i = 0; i < count; i++)
        through += has(&windows[i], word);
    CHECK(through >= 2);
    memory[word] = memory[word + 2] = 0;
    memset(&memory[word + 1], 0, 8);
    for (int i = 0; i < count; i++)
        OK(MPI_Win_lock_all(0, windows[i].win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < turns; turn++)
        if (has(&windows[(turn + me) % count], word))
            add(&windows[(turn + me) % count], word);
        else
            for (int i = 0; i < count; i++) /* as many by all */
                if (has(&windows[i], word)) {
                    add(&windows[i], word);
                    break;
                }
    for (int i = 0; i < count; i++)
        OK(MPI_Win_unlock_all(windows[i].win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        double sum;
        memcpy(&sum, &memory[word + 1], 8);
        CHECK_EQ(memory[word], (long long)ranks * turns);
        CHECK_EQ(memory[word + 2], (long long)ranks * turns);
        CHECK(sum == (double)ranks * turns);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A large window first: what comes later lies in its pages, or begins there. */
static void large_first(void)
{
    struct window window[WINDOWS];
    make(&window[0], 10 * 512, 20 * 512);        /* pages 10 to 30 */
    make(&window[1], 12 * 512 + 5, 100);         /* inside */
    make(&window[2], 29 * 512, 1000);            /* begins inside, ends beside */
    make(&window[3], 9 * 512 + 400, 512);        /* begins beside */
    make(&window[4], 25 * 512, 15 * 512);        /* begins inside, and has pages of its own */
    make_dynamic(&window[5], 8 * 512, 30 * 512); /* around all */
    use(window, WINDOWS, 12 * 512 + 50);
    use(window, WINDOWS, 29 * 512 + 8);
    use(window, WINDOWS, 10 * 512 + 8);
    use(window, WINDOWS, 30 * 512 + 16);
    use(window, WINDOWS, 9 * 512 + 408);
    use(window, WINDOWS, 35 * 512);
    for (int i = 0; i < WINDOWS; i++)
        OK(MPI_Win_free(&window[i].win));
}

/* A small window first. */
static void small_first(void)
{
    struct window window[4];
    make(&window[0], 15 * 512 + 7, 64);
    make(&window[1], 10 * 512, 20 * 512);
    make_dynamic(&window[2], 15 * 512, 512);
    make(&window[3], 12 * 512, 28 * 512);
    use(window, 4, 15 * 512 + 8);
    use(window, 4, 13 * 512);
    use(window, 4, 20 * 512);
    for (int i = 0; i < 4; i++)
        OK(MPI_Win_free(&window[i].win));
}

static void use_memory(int64_t *at)
{
    CHECK(at != 0);
    memory = at;
    memset(memory, 0, N * 8);
    MPI_Get_address(memory, &address);
    MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    large_first();
    small_first();
}

/* The window that the memory was allocated for is one of those that add. */
static void over_allocated(void)
{
    struct window window[3] = {{.words = N}};
    OK(MPI_Win_allocate(N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window[0].win));
    use_memory(memory);
    make(&window[1], 15 * 512 + 7, 64);
    make_dynamic(&window[2], 15 * 512, 512);
    use(window, 3, 15 * 512 + 8);
    use(window, 3, 15 * 512 + 60);
    for (int i = 2; i >= 0; i--)
        OK(MPI_Win_free(&window[i].win));
}

int main(int argc, char **argv)
{
    int64_t *own = aligned_alloc(PAGE, N * 8), *given;
    check_start(MPI_THREAD_SINGLE);
    turns = argc > 1 && strcmp(argv[1], "far") == 0 ? 100 : 500;
    use_memory(own);
    use_memory(own);
    OK(MPI_Alloc_mem(N * 8, MPI_INFO_NULL, &given));
    use_memory(given);
    over_allocated();
    OK(MPI_Free_mem(given));
    free(own);
    return check_pass();
}
