/* A window over the program's own memory leaves that memory as it is, whatever it is and however large: the same pages
 * or the same file, so that whoever else holds it (a second map, a kernel that has pinned it, a driver) sees
 * what peers put and gives them what he has stored. Locks and advice of the program stay, its signal handlers, its
 * threads' system calls and the memory of its children too. No descriptor is needed.
 * ranks: 2
 * ways: plain executed far */
#include "check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 32, BYTES = PAGE * PAGES, LAST = BYTES - 8 };

static _Thread_local char of_thread[BYTES];
static char global[BYTES];

/* ---- pages ---- */

/* Returns whether a page is a file's or shared memory; a private page that the program has written is neither. */
static int is_shared(const char *page)
{
    uint64_t entry = 0;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    CHECK(pread(file, &entry, 8, (off_t)((uintptr_t)page / PAGE * 8)) == 8);
    close(file);
    return entry >> 61 & 1;
}

/* A pipe that holds the first and the last word of the memory as pages, not as a copy: who reads it finds what lies in
 * them then. */
static int hold_pages(char *memory)
{
    int ends[2];
    struct iovec words[] = {{memory, 8}, {memory + LAST, 8}};
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && vmsplice(ends[1], words, 2, 0) == 16);
    close(ends[1]);
    return ends[0];
}

static void check_pages(int pipe, const char *memory)
{
    int64_t words[2];
    CHECK(read(pipe, &words[0], 8) == 8 && read(pipe, &words[1], 8) == 8);
    CHECK(memcmp(&words[0], memory, 8) == 0 && memcmp(&words[1], memory + LAST, 8) == 0);
    close(pipe);
}

/* What /proc/self/smaps says of the map that holds an address: flags (mlock, advice), and what is locked. */
static void read_map(const char *address, char *text, size_t room)
{
    char line[512];
    int inside = 0;
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/smaps", "re");
    CHECK(maps != 0);
    *text = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-'))
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        if (inside && (strncmp(line, "VmFlags", 7) == 0 || strncmp(line, "Locked", 6) == 0))
            strncat(text, line, room - strlen(text) - 1);
    }
    fclose(maps);
}

/* Puts to the first and the last word of the next rank, whose memory begins at a displacement, gets and adds there. */
static void use(MPI_Win win, char *memory, MPI_Aint at)
{
    int64_t first = 100 + me, last = 200 + me, got = 0, one = 1;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&first, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    OK(MPI_Put(&last, 1, MPI_INT64_T, next_rank, at + LAST, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank, at + LAST, 1, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Get(&got, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(got, 100 + me);
    CHECK_EQ(*(int64_t *)memory, 100 + prev_rank);
    CHECK_EQ(*(int64_t *)(memory + LAST), 201 + prev_rank);
}

static MPI_Win window_over(char *memory, int dynamic, MPI_Aint *theirs)
{
    MPI_Win win;
    MPI_Aint mine;
    *theirs = 0;
    if (!dynamic) {
        OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        return win;
    }
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, BYTES));
    MPI_Get_address(memory, &mine);
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, prev_rank, 0, theirs, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    return win;
}

static void check_kept(const char *memory, const char *said)
{
    char says[2048];
    read_map(memory + BYTES / 2, says, sizeof says);
    CHECK(strcmp(said, says) == 0);
    for (int i = 0; i < PAGES; i++)
        CHECK(!is_shared(memory + (size_t)i * PAGE));
    for (int i = 16; i < LAST; i += 61)
        CHECK_EQ(memory[i], 1);
}

/* The pages before, while and after private memory is a window. */
static void keeps(char *memory)
{
    char said[2048];
    memset(memory, 1, BYTES);
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        MPI_Aint theirs;
        const int pages = hold_pages(memory);
        read_map(memory + BYTES / 2, said, sizeof said);
        MPI_Win win = window_over(memory, dynamic, &theirs);
        check_kept(memory, said);
        use(win, memory, theirs);
        check_kept(memory, said);
        MPI_Barrier(MPI_COMM_WORLD);
        if (dynamic)
            OK(MPI_Win_detach(win, memory));
        OK(MPI_Win_free(&win));
        check_kept(memory, said);
        check_pages(pages, memory);
    }
}

static char *map_private(size_t bytes)
{
    char *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

static void every_kind(void)
{
    char of_stack[BYTES + PAGE], *pages = map_private(BYTES), *heap = malloc(BYTES + PAGE);
    const int old = mlock(pages, BYTES); /* refused where the limit is low: then nothing is locked before and after */
    CHECK(madvise(pages, BYTES, MADV_DONTFORK) == 0);
    keeps(pages);
    CHECK(old != 0 || munlock(pages, BYTES) == 0);
    keeps(heap);
    keeps(global);
    keeps(of_thread);
    keeps(of_stack);
    munmap(pages, BYTES);
    free(heap);
}

/* ---- others who hold the memory ---- */

static char *map_file(int file, int shared, int protection)
{
    char *memory = mmap(0, BYTES, protection, shared ? MAP_SHARED : MAP_PRIVATE, file, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* A second map of the same file, and the file itself, see what a peer puts; a peer gets what they have stored. */
static void second_map(void)
{
    int64_t word = 0, value = 300 + me;
    int file = memfd_create("window", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, BYTES) == 0);
    char *memory = map_file(file, 1, PROT_READ | PROT_WRITE), *other = map_file(file, 1, PROT_READ | PROT_WRITE);
    MPI_Win win;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    use(win, memory, 0);
    CHECK_EQ(*(int64_t *)other, 100 + prev_rank);
    CHECK(pread(file, &word, 8, LAST) == 8);
    CHECK_EQ(word, 201 + prev_rank);
    *(int64_t *)(other + 5 * PAGE) = value;
    CHECK(pwrite(file, &value, 8, 6 * PAGE) == 8);
    OK(MPI_Win_fence(0, win));
    for (int i = 5; i < 7; i++) {
        OK(MPI_Get(&word, 1, MPI_INT64_T, next_rank, i * PAGE, 1, MPI_INT64_T, win));
        OK(MPI_Win_fence(0, win));
        CHECK_EQ(word, 300 + next_rank);
    }
    OK(MPI_Win_free(&win));
    other[9] = 99;
    CHECK_EQ(memory[9], 99);
    munmap(memory, BYTES);
    munmap(other, BYTES);
    close(file);
}

/* A window that peers only read may lie in memory that nobody may write: a private map of a file, its pages untouched. */
static void read_only(void)
{
    static char text[BYTES], got[BYTES];
    int file = memfd_create("text", MFD_CLOEXEC);
    memset(text, 'a' + me, BYTES);
    CHECK(file >= 0 && write(file, text, BYTES) == BYTES);
    char *memory = map_file(file, 0, PROT_READ);
    MPI_Win win;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(MPI_MODE_NOPUT, win));
    OK(MPI_Get(got, BYTES, MPI_CHAR, next_rank, 0, BYTES, MPI_CHAR, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < BYTES; i += 511)
        CHECK_EQ(got[i], 'a' + next_rank);
    OK(MPI_Win_free(&win));
    CHECK(mprotect(memory, BYTES, PROT_READ) == 0);
    munmap(memory, BYTES);
    close(file);
}

/* Much memory of which nothing is touched costs nothing, and a put touches its page alone. */
static void untouched(void)
{
    const size_t bytes = (size_t)1 << 30, at = bytes / 2;
    int64_t value = 400 + me;
    unsigned char there[2];
    char *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Win win;
    CHECK(memory != MAP_FAILED && madvise(memory, bytes, MADV_NOHUGEPAGE) == 0);
    OK(MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, (MPI_Aint)at, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(*(int64_t *)(memory + at), 400 + prev_rank);
    CHECK(mincore(memory + at, 2 * PAGE, there) == 0 && (there[0] & 1) && !(there[1] & 1));
    OK(MPI_Win_free(&win));
    CHECK(mincore(memory + at, 2 * PAGE, there) == 0 && (there[0] & 1) && !(there[1] & 1));
    munmap(memory, bytes);
}

/* ---- signals, threads, children, descriptors ---- */

static void mine(int number)
{
    (void)number;
}

static void dispositions(void)
{
    static void (*const given[])(int) = {SIG_IGN, mine, SIG_DFL};
    for (int i = 0; i < 3; i++) {
        MPI_Win win;
        void (*const old)(int) = signal(SIGSEGV, given[i]);
        OK(MPI_Win_create(global, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        use(win, global, 0);
        CHECK(signal(SIGSEGV, given[i]) == given[i]);
        OK(MPI_Win_free(&win));
        CHECK(signal(SIGSEGV, old) == given[i]);
    }
}

/* No handler of a signal is the library's. The MPI has some. */
static void no_handlers(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        Dl_info from;
        if (sigaction(number, 0, &now) == 0 && dladdr((void *)now.sa_sigaction, &from) && from.dli_fname)
            CHECK(!strstr(from.dli_fname, "lateral"));
    }
}

static volatile int stop;

/* System calls into the window's memory, and stores by a thread that takes no signal. */
static void *calls(void *argument)
{
    char *memory = argument;
    sigset_t all;
    int ends[2];
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    for (char i = 1; !stop; i = (char)(i % 100 + 1)) {
        const char sent[3] = {i, i, i};
        CHECK_EQ(write(ends[1], sent, 3), 3);
        CHECK_EQ(read(ends[0], memory + 3 * PAGE - 1, 3), 3);
        CHECK(memory[3 * PAGE - 1] == i && memory[3 * PAGE] == i && memory[3 * PAGE + 1] == i);
        ((volatile char *)memory)[7 * PAGE] = i;
        CHECK_EQ(((volatile char *)memory)[7 * PAGE], i);
        sched_yield();
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void threads(void)
{
    pthread_t thread;
    stop = 0;
    CHECK(pthread_create(&thread, 0, calls, global) == 0);
    for (int i = 0; i < 12; i++) {
        MPI_Aint theirs;
        MPI_Win win = window_over(global, i % 2, &theirs);
        use(win, global, theirs);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i % 2)
            OK(MPI_Win_detach(win, global));
        OK(MPI_Win_free(&win));
    }
    stop = 1;
    pthread_join(thread, 0);
}

/* A child has the memory as it was at the fork, and keeps it whatever its parent and its parent's peers store later. */
static void children(char *memory)
{
    int ends[2], status;
    char byte;
    MPI_Win win;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    memset(memory, 5, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        int bad = read(ends[0], &byte, 1) != 1;
        for (int i = 0; i < BYTES; i++)
            bad |= memory[i] != 5;
        memory[77] = 9;
        _exit(bad);
    }
    use(win, memory, 0);
    memset(memory + 64, 6, BYTES - 128);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQ(memory[77], 6);
    close(ends[0]);
    close(ends[1]);
    OK(MPI_Win_free(&win));
}

static int take_all_descriptors(int *taken, int room)
{
    int n = 0, one;
    while (n < room && (one = dup(0)) >= 0)
        taken[n++] = one;
    return n;
}

/* Windows come, work and go while the process can open nothing. */
static void no_descriptors(char *memory)
{
    static int taken[4096];
    struct rlimit limit, low;
    MPI_Win win;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)); /* what the MPI opens once is open now */
    OK(MPI_Win_free(&win));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    low = limit;
    low.rlim_cur = low.rlim_cur < 1024 ? low.rlim_cur : 1024;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    const int n = take_all_descriptors(taken, 4096);
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    use(win, memory, 0);
    memory[12345] = 3;
    OK(MPI_Win_free(&win));
    for (int i = 0; i < n; i++)
        close(taken[i]);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_EQ(memory[12345], 3);
}

/* Memory that is freed, mapped anew at its address and made a window again is that window's memory. */
static void again(void)
{
    char *memory = map_private(BYTES);
    MPI_Win win;
    for (int i = 0; i < 4; i++) {
        OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        use(win, memory, 0);
        OK(MPI_Win_free(&win));
        CHECK(mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
        CHECK_EQ(memory[LAST], 0);
    }
    munmap(memory, BYTES);
}

int main(int argc, char **argv)
{
    char *ours;
    if (argc > 1 && strcmp(argv[1], "executed") == 0)
        setenv("LATERAL_WIRE", "messages", 1); /* no copies by the kernel: the owner executes */
    check_start(MPI_THREAD_FUNNELED);
    every_kind();
    second_map();
    read_only();
    untouched();
    dispositions();
    no_handlers();
    threads();
    children(global);
    OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &ours));
    children(ours);
    MPI_Free_mem(ours);
    no_descriptors(map_private(BYTES));
    again();
    return check_pass();
}
