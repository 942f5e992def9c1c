/* Two processes of one program move their globals onto one shared file and play ping-pong on a plain
 * global. CMakeLists.txt builds it in many ways, because the test is about linking.
 *
 * The first process makes the file, starts the two by spawning itself (or by fork, with FORK_ONLY, where
 * an emulator cannot exec), and adds up how they ended. File: a control page, then one stride per PE. */
#include "base/atomic.h"
#include "base/image.h"

#include "unit/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SONAME "liblateral.so.1"
#define CONTROL 65536
#define ROUNDS 20000

extern char **environ;

struct control {
    cache_aligned int arrived;
    cache_aligned unsigned char id[2][IMAGE_ID_BYTES];
};

/* Variables of every kind. */
long ball;                                     /* .bss, written by the peer */
long initialised = 0x1234567890;               /* .data */
static long hidden = 41;                       /* not visible to other files */
static const char *const names[] = {"a", "b"}; /* RELRO in a PIE */
static const int constant[1000] = {7, [999] = 8};
int (*print)(const char *, ...) = printf; /* a relocated pointer */
long constructed;                         /* set before main */
static char page_sized[3 * 65536] = {1};
static char *heap_block;
#ifdef HUGE_BSS
static char huge[HUGE_BSS];
#endif
#ifdef WITH_CXX
int cxx_values_hold(void);
#endif

__attribute__((constructor)) static void construct(void)
{
    constructed = 99;
}

static void barrier(struct control *control, int phase)
{
    atomic_fetch_add_acqrel(&control->arrived, 1); /* partner: the load below, in the peer */
    while (atomic_load_acquire(&control->arrived) < 2 * phase)
        sched_yield();
}

static void set_before_move(int pe)
{
    hidden += 1;
    page_sized[65536] = 5;
    page_sized[2 * 65536 + 77] = (char)(pe + 10);
    heap_block = strdup("kept");
#ifdef HUGE_BSS
    huge[HUGE_BSS / 2] = 3;
    huge[HUGE_BSS - 1] = 4;
#endif
}

static void check_after_move(int pe)
{
    CHECK(initialised == 0x1234567890 && hidden == 42 && constructed == 99);
    CHECK(page_sized[0] == 1 && page_sized[65536] == 5 && page_sized[2 * 65536 + 77] == pe + 10);
    CHECK(page_sized[1] == 0 && constant[0] == 7 && constant[999] == 8 && !strcmp(names[1], "b"));
    CHECK(!strcmp(heap_block, "kept"));
    free(heap_block);
    CHECK(print == printf && print("PE %d: globals moved\n", pe) > 0 && fflush(stdout) == 0);
    CHECK(getenv("PATH") && environ[0]);
    char *text = NULL; /* streams, locale and malloc still work: their state may have moved */
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    CHECK(memory && fprintf(memory, "%.3f %s", 1.5, strerror(EBUSY)) > 0 && fclose(memory) == 0 && length > 6);
    free(text);
#ifdef HUGE_BSS
    CHECK(huge[0] == 0 && huge[HUGE_BSS / 2] == 3 && huge[HUGE_BSS - 1] == 4);
#endif
#ifdef WITH_CXX
    CHECK(cxx_values_hold());
#endif
}

static long volatile *peer_address(char *file, const struct image *im, int peer, long *variable)
{
    size_t at = CONTROL + peer * image_bytes(im) + ((uintptr_t)variable - im->start);
    return (long volatile *)(file + at);
}

static void ping_pong(char *file, const struct image *im, int pe)
{
    long volatile *theirs = peer_address(file, im, 1 - pe, &ball);
    for (long round = 1; round <= ROUNDS; round++) {
        if (pe == 0)
            atomic_store_release(theirs, round); /* partner: the peer's load below */
        for (int spins = 0; atomic_load_acquire(&ball) < round; spins++)
            if (spins > 100)
                sched_yield();
        if (pe == 1)
            atomic_store_release(theirs, round);
    }
    CHECK(ball == ROUNDS);
}

/* A store to the plain global shows in the file, and one into the file in the global. */
static void check_alias(char *file, const struct image *im, int pe)
{
    long volatile *mine = peer_address(file, im, pe, &initialised);
    CHECK(*mine == 0x1234567890);
    atomic_store_relaxed(&initialised, pe + 1);
    CHECK(*mine == pe + 1);
    *mine = 77;
    CHECK(atomic_load_relaxed(&initialised) == 77);
}

static void check_cost(int fd)
{
#ifdef HUGE_BSS
    struct stat file;
    struct rusage usage;
    CHECK(fstat(fd, &file) == 0);
    printf("file holds %ld KiB\n", (long)file.st_blocks / 2);
    CHECK(file.st_blocks / 2 < 64 * 1024);
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    printf("resident at most %ld KiB\n", usage.ru_maxrss);
    CHECK(usage.ru_maxrss < 128 * 1024);
#endif
    (void)fd;
}

static void *wait_for_signal(void *arg)
{
    pause();
    return arg;
}

static void check_refusals(const struct image *im, int fd)
{
    struct image again;
    pthread_t thread;
    CHECK(image_move(im, fd, CONTROL) == EBUSY);
    CHECK(!image_find(&again, SONAME) && strstr(again.why_not, "shared pages") && !image_contains(&again, &ball));
    CHECK(!memcmp(again.id, im->id, sizeof im->id));
    CHECK(pthread_create(&thread, NULL, wait_for_signal, NULL) == 0);
    CHECK(image_threaded());
}

static void check_find(struct image *im, int fd)
{
    CHECK(image_find(im, SONAME));
    CHECK(im->why_not == NULL && im->parts >= 1 && im->start < im->end);
    CHECK(image_contains(im, &ball) && image_contains(im, &hidden) && image_contains(im, &page_sized[65536]));
    CHECK(!image_contains(im, &constant[5]) && !image_contains(im, im) && !image_contains(im, heap_block));
    CHECK(image_move(im, fd, CONTROL + 1) == EINVAL && image_move(im, -1, CONTROL) == EBADF);
    int empty = memfd_create("too short", MFD_CLOEXEC);
    CHECK(image_move(im, empty, 0) == EINVAL);
    close(empty);
}

static int run_pe(int pe, int fd)
{
    struct image im;
    set_before_move(pe);
    check_find(&im, fd);
    size_t bytes = CONTROL + 2 * image_bytes(&im);
    CHECK(ftruncate(fd, bytes) == 0);
    char *file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED);
    struct control *control = (struct control *)file;
    CHECK(image_move(&im, fd, CONTROL + pe * image_bytes(&im)) == 0);
    memcpy(control->id[pe], im.id, sizeof im.id);
    check_after_move(pe);
    barrier(control, 1);
    CHECK(!memcmp(control->id[1 - pe], im.id, sizeof im.id));
    CHECK(im.id[0] || im.id[1] || im.id[2]);
    ping_pong(file, &im, pe);
    check_alias(file, &im, pe);
    check_cost(fd);
    barrier(control, 2);
    check_refusals(&im, fd);
    return 0;
}

static pid_t start_pe(int pe, int fd)
{
#ifdef FORK_ONLY
    pid_t pid = fork();
    if (pid == 0)
        exit(run_pe(pe, fd));
#else
    char pe_text[16], fd_text[16], *args[] = {"pe", pe_text, fd_text, NULL};
    pid_t pid;
    snprintf(pe_text, sizeof pe_text, "%d", pe);
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0);
#endif
    return pid;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return run_pe(atoi(argv[1]), atoi(argv[2]));
    int fd = memfd_create("image test", 0), failed = 0;
    CHECK(fd >= 0);
    pid_t pe[2] = {start_pe(0, fd), start_pe(1, fd)};
    for (int i = 0; i < 2; i++) {
        int status;
        CHECK(waitpid(-1, &status, 0) > 0);
        if (status) {
            fprintf(stderr, "a PE ended with status 0x%x\n", status);
            failed = 1;
            kill(pe[0], SIGKILL);
            kill(pe[1], SIGKILL);
        }
    }
    return failed;
}
