/* Created windows over memory of the program's own: pages that move onto shared ones and back, while other threads of the
 * process store to them; overlapping windows; a forked child; pages that the program
 * guards itself; memory that is unmapped too early; much memory of which little is touched.
 * ranks: 2 */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100000 };

static int64_t globals[N];
static volatile int stop;

/* Counts up in words at the start, in the middle and at the end of the pages; no store may be lost. */
static void *count(void *argument)
{
    volatile int64_t *memory = argument;
    int64_t n = 0;
    do {
        n++;
        memory[0] = memory[N / 2] = memory[N - 1] = n;
        CHECK(memory[0] == n && memory[N / 2] == n && memory[N - 1] == n);
        if (n % 16 == 0)
            sched_yield();
    } while (!stop);
    return 0;
}

static void use(int64_t *memory)
{
    MPI_Win win, part;
    int64_t value = 1000 + me, old;
    pthread_t thread;
    for (int i = 0; i < N; i++)
        memory[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
    stop = 0;
    CHECK(pthread_create(&thread, 0, count, memory) == 0);
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Win_create(memory, N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_create(memory + 50, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &part));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 60, 1, MPI_INT64_T, win));
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK_EQ(memory[60], 1000 + prev_rank);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_lock_all(0, part));
        OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, next_rank, 10, MPI_SUM, part));
        OK(MPI_Win_unlock_all(part));
        CHECK_EQ(old, value);
        OK(MPI_Win_fence(0, win));
        CHECK_EQ(memory[60], 2 * (1000 + prev_rank));
        OK(MPI_Win_free(&win)); /* the other window still has the pages */
        OK(MPI_Win_fence(0, part));
        OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 20, 1, MPI_INT64_T, part));
        OK(MPI_Win_fence(0, part));
        CHECK_EQ(memory[70], 1000 + prev_rank);
        OK(MPI_Win_free(&part));
        memory[70] = 70;
    }
    stop = 1;
    pthread_join(thread, 0);
    for (int i = 1; i < N - 1; i++)
        if (i != 60 && i != N / 2)
            CHECK_EQ(memory[i], i);
}

/* A child's stores are its own. */
static void forks(int64_t *memory)
{
    MPI_Win win;
    int status;
    OK(MPI_Win_create(memory, N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    memory[500] = 1;
    memory[501] = 501;
    pid_t child = fork();
    if (child == 0) {
        int good = memory[500] == 1 && memory[501] == 501;
        memory[500] = 2;
        _exit(good ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQ(memory[500], 1);
    OK(MPI_Win_free(&win));
}

/* A program that gives its memory back before the window, which it should not: pages that are gone stay gone, others that
 * were mapped there keep what they hold, and those that are left hold what the peer has put. */
static void unmaps(void)
{
    enum { PAGE = 4096, PAGES = 64, GONE = 8, OTHER = 16, BYTES = PAGES * PAGE };
    MPI_Win win;
    int64_t value = 70 + me;
    char *pages = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    OK(MPI_Win_create(pages, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, PAGE, 1, MPI_INT64_T, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, BYTES - 8, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK(munmap(pages + GONE * PAGE, OTHER * PAGE) == 0);
    char *other =
        mmap(pages + OTHER * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(other == pages + OTHER * PAGE);
    other[5] = 'x';
    OK(MPI_Win_free(&win));
    CHECK_EQ(*(int64_t *)(pages + PAGE), 70 + prev_rank);
    CHECK_EQ(*(int64_t *)(pages + BYTES - 8), 70 + prev_rank);
    CHECK(other[5] == 'x');
    unsigned char there;
    CHECK(mincore(pages + GONE * PAGE, PAGE, &there) != 0); /* nothing is mapped there */
    pages[PAGE] = 1;                                        /* private again: the next window has other memory */
    void *fresh;
    OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &fresh, &win));
    memset(fresh, 0x55, BYTES);
    CHECK_EQ(pages[PAGE], 1);
    OK(MPI_Win_free(&win));
    munmap(pages, BYTES);
}

static long faults(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_minflt;
}

/* A window over much memory that the program has hardly touched moves what is touched alone, there and back. */
static void sparse(void)
{
    enum { PAGE = 4096, STRIDE = 1 << 24 };
    const size_t bytes = (size_t)1 << 30;
    MPI_Win win;
    int64_t value = 80 + me;
    char *pages = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(pages != MAP_FAILED && madvise(pages, bytes, MADV_NOHUGEPAGE) == 0);
    for (size_t at = 0; at < bytes; at += STRIDE)
        pages[at] = pages[at + 5 * PAGE] = (char)(1 + at / STRIDE);
    const long before = faults();
    OK(MPI_Win_create(pages, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, STRIDE / 2, 1, MPI_INT64_T, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, (MPI_Aint)bytes - 8, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(*(int64_t *)(pages + STRIDE / 2), 80 + prev_rank);
        CHECK_EQ(*(int64_t *)(pages + bytes - 8), 80 + prev_rank);
        for (size_t at = 0; at < bytes; at += STRIDE)
            CHECK(pages[at] == (char)(1 + at / STRIDE) && pages[at + 5 * PAGE] == pages[at]);
        if (i == 0)
            OK(MPI_Win_free(&win));
    }
    CHECK(faults() - before < 20000);
    CHECK(munmap(pages, bytes) == 0);
}

static char *guarded;
static volatile int mended;

static void mend(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_addr != guarded || mprotect(guarded, 4096, PROT_READ | PROT_WRITE) != 0)
        signal(number, SIG_DFL);
    mended++;
}

/* A program that guards pages itself, which were in a window: its handler gets what it waits for. A jump to such a page ends
 * the process. */
static void guards(int64_t *memory)
{
    struct sigaction mine = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    MPI_Win win;
    int status;
    guarded = (char *)((uintptr_t)(memory + N - 1) & ~(uintptr_t)4095); /* the last that moves */
    sigaction(SIGSEGV, &mine, 0);
    OK(MPI_Win_create(memory, N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_free(&win));
    CHECK(mprotect(guarded, 4096, PROT_READ) == 0);
    *(volatile char *)guarded = 7;
    CHECK_EQ(mended, 1);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        ((void (*)(void))(uintptr_t)(guarded + 64))();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    check_start(MPI_THREAD_FUNNELED);
    int64_t *heap = malloc((N + 1) * 8);
    use(heap);
    use(heap + 1);
    use(globals);
    forks(heap);
    guards(heap);
    free(heap);
    unmaps();
    sparse();
    return check_pass();
}
