/* The pages are copied to memory of the substrate, and a second map of that takes their place. Other threads of the
 * process may run meanwhile: the pages are read-only while they are copied, and a thread that stores to one waits in a
 * handler of SIGSEGV until the new pages are there, and stores again. Threads that block the signal cannot wait, so no
 * page moves while there is one. */
#include "adopt.h"

#include "faults.h"
#include "life.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES_LEAST 8   /* fewer are not worth it */
#define STEP (1u << 20) /* bytes that move at once */
#define TRIES 100       /* of a store, while nothing moves */

/* The pages that move. Written by the moving thread; the handler reads them. */
static struct {
    char *start, *end;
    int moving;     /* release: end_move; acquire: wait_and_retry */
    unsigned moves; /* how many there have been */
} range;
static struct sigaction earlier;

/* A store that is not ours goes to the handler that was there. Without one the default action ends the process when the
 * store is tried again. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    if (earlier.sa_flags & SA_SIGINFO)
        earlier.sa_sigaction(number, info, context);
    else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
        earlier.sa_handler(number);
    else
        signal(SIGSEGV, SIG_DFL);
}

/* Asks the kernel whether a byte may be written, by an addition of zero to the word that holds it. */
static bool is_writable(const char *address)
{
    int nobody = 0, keep = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
    return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 0, 0, (uintptr_t)address & ~(uintptr_t)3, keep) >= 0;
}

/* A thread may come here long after the store that failed, when the pages are there or when others move. So the page alone
 * tells whether the store can be tried again. What fails again and again, while nothing moves, is no store: a jump. */
static bool is_worth_a_try(const char *address)
{
    static _Thread_local struct {
        const char *address;
        unsigned moves;
        int tries;
    } last;
    const unsigned moves = __atomic_load_n(&range.moves, __ATOMIC_RELAXED);
    last.tries = last.address == address && last.moves == moves ? last.tries + 1 : 0;
    last.address = address;
    last.moves = moves;
    return last.tries < TRIES && is_writable(address);
}

static void wait_and_retry(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    const char *address = info->si_addr;
    while (__atomic_load_n(&range.moving, __ATOMIC_ACQUIRE) && address >= range.start && address < range.end)
        sched_yield();
    const bool again = info->si_code == SEGV_ACCERR && is_worth_a_try(address);
    errno = error;
    if (!again)
        pass_on(number, info, context);
}

static void watch_stores(void)
{
    struct sigaction ours = {.sa_sigaction = wait_and_retry, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK}, present;
    if (sigaction(SIGSEGV, 0, &present) == 0 &&
        (!(present.sa_flags & SA_SIGINFO) || present.sa_sigaction != wait_and_retry)) {
        earlier = present;
        sigaction(SIGSEGV, &ours, 0);
    }
}

static void begin_move(char *start, size_t bytes)
{
    watch_stores();
    range.start = start;
    range.end = start + bytes;
    __atomic_fetch_add(&range.moves, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&range.moving, 1, __ATOMIC_SEQ_CST);
    mprotect(start, bytes, PROT_READ);
}

static void end_move(void)
{
    __atomic_store_n(&range.moving, 0, __ATOMIC_RELEASE);
}

/* Returns true when the range lies in private memory that may be written, and not where stacks lie. A guard page right
 * below tells the stack of a thread. Sets *anonymous: no file is behind it, so what nobody has touched is zero. */
static bool movable(const char *start, const char *end, bool *anonymous)
{
    char line[512];
    const char *reached = start;
    bool good = true, below_is_guard = false;
    uintptr_t below_end = 0;
    *anonymous = true;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && good && reached < end && fgets(line, sizeof line, maps)) {
        unsigned long from, to, file;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &from, &to, mode, &file) != 4)
            continue;
        if (to > (uintptr_t)reached) {
            *anonymous = *anonymous && !file;
            good = from <= (uintptr_t)reached && strcmp(mode, "rw-p") == 0 && !strstr(line, "[stack") &&
                   !(below_is_guard && below_end == from);
            reached = (const char *)to;
        }
        below_is_guard = mode[0] == '-' && mode[1] == '-';
        below_end = to;
    }
    if (maps)
        fclose(maps);
    return maps && good && reached >= end;
}

static bool is_wanted(void)
{
    const char *text = getenv("LATERAL_MPI_SHARE");
    return !text || strcmp(text, "0") != 0;
}

/* Maps what lies at `from` at `start`, in place of what is there; with `old` 0 it stays at `from` as well. UCX's hooks of
 * mremap forget the new address, so this calls the kernel. */
static bool put_at(char *start, char *from, size_t old, size_t bytes)
{
    return syscall(SYS_mremap, from, old, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == (long)start;
}

/* Pages that move, and which of them hold something. */
struct journey {
    char *start;
    size_t bytes;
    size_t at; /* of the start in its file, on the way back */
    struct lmpi_touched touched;
};

/* Copies what the pages from `done` on hold to fresh memory. */
static void copy_touched(struct journey *way, size_t done, size_t bytes, char *to)
{
    size_t from = done, end;
    for (; lmpi_touched_next(&way->touched, way->start, way->at, done + bytes, &from, &end); from = end)
        memcpy(to + (from - done), way->start + from, end - from);
}

/* Replaces pages by a second map of `to`, which gets what they hold. Returns false when nothing has changed. */
static bool move_out(struct journey *way, size_t done, size_t bytes, char *to)
{
    char *start = way->start + done;
    begin_move(start, bytes);
    copy_touched(way, done, bytes, to);
    bool moved = put_at(start, to, 0, bytes);
    if (!moved)
        mprotect(start, bytes, PROT_READ | PROT_WRITE);
    end_move();
    return moved;
}

/* Replaces pages by private memory, which gets what they hold. */
static bool move_back(struct journey *way, size_t done, size_t bytes)
{
    char *copy = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    begin_move(way->start + done, bytes);
    copy_touched(way, done, bytes, copy);
    bool moved = put_at(way->start + done, copy, bytes, bytes);
    end_move();
    return moved;
}

/* The bytes to move at once from `done` on, before `end`. The first and the last page may hold what belongs to others:
 * they move alone, which takes a few microseconds. Pages that hold nothing take no longer however many they are. */
static size_t step(struct journey *way, size_t done, size_t end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = done, to;
    if (done == 0 || way->bytes - done == page)
        return page;
    const size_t last = end < way->bytes - page ? end : way->bytes - page;
    if (!lmpi_touched_next(&way->touched, way->start, way->at, last, &from, &to))
        return last - done;
    if (from > done)
        return from - done;
    return last - done < STEP ? last - done : STEP;
}

/* Moves back the pages from `done` to `end`. */
static bool move_run(struct journey *way, size_t done, size_t end)
{
    bool good = true;
    for (size_t now_bytes; done < end && good; done += now_bytes) {
        now_bytes = step(way, done, end);
        good = move_back(way, done, now_bytes);
    }
    return good;
}

static bool return_run(const struct lmpi_adopted *adopted, size_t done, size_t end)
{
    struct journey way = {adopted->start, adopted->bytes, adopted->place.at, lmpi_touched_file(&adopted->place)};
    bool good = move_run(&way, done, end);
    lmpi_touched_close(&way.touched);
    return good;
}

/* `all`: what looks untouched may hold something. */
static bool move_all(const struct lmpi_adopted *adopted, char *to, bool all)
{
    struct journey way = {adopted->start, adopted->bytes, 0, {.file = -1}};
    bool good = true;
    if (!all)
        way.touched = lmpi_touched_private();
    for (size_t done = 0, now_bytes; good && done < adopted->bytes; done += now_bytes) {
        now_bytes = step(&way, done, adopted->bytes);
        good = move_out(&way, done, now_bytes, to + done);
        if (!good)
            return_run(adopted, 0, done);
    }
    if (good)
        madvise(adopted->start, adopted->bytes, MADV_DOFORK); /* a child makes its own copy */
    lmpi_touched_close(&way.touched);
    return good;
}

/* ---- where the pages lie ---- */

struct map {
    uintptr_t from, to;
    struct lmpi_place place; /* of `from` */
};

static bool next_map(FILE *maps, struct map *map)
{
    char line[512];
    unsigned major, minor;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*4s %lx %x:%x %lu", &map->from, &map->to, &map->place.at, &major, &minor,
                   &map->place.inode) == 6) {
            map->place.device = (unsigned long)major << 32 | minor;
            return true;
        }
    return false;
}

/* Finds the map that holds an address, or the first one behind it. */
static bool map_from(const char *address, struct map *map)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    while (!found && next_map(maps, map))
        found = map->to > (uintptr_t)address;
    if (maps)
        fclose(maps);
    return found;
}

static bool find_place(const char *address, struct lmpi_place *place)
{
    struct map map;
    if (!map_from(address, &map) || map.from > (uintptr_t)address)
        return false;
    *place = map.place;
    place->at += (uintptr_t)address - map.from;
    return true;
}

/* Finds the first pages from *from on that lie where they were put. The program may have unmapped some meanwhile, which it
 * should not, and may have other memory there now. */
static bool run_left(const struct lmpi_adopted *adopted, size_t *from, size_t *to)
{
    const uintptr_t start = (uintptr_t)adopted->start;
    const struct lmpi_place *ours = &adopted->place;
    struct map here;
    while (*from < adopted->bytes && map_from(adopted->start + *from, &here) && here.from < start + adopted->bytes) {
        *from = here.from > start + *from ? here.from - start : *from;
        *to = here.to - start < adopted->bytes ? here.to - start : adopted->bytes;
        if (here.place.device == ours->device && here.place.inode == ours->inode &&
            here.place.at + (start + *from - here.from) == ours->at + *from)
            return true;
        *from = *to;
    }
    return false;
}

static bool make_private(const struct lmpi_adopted *adopted)
{
    bool good = true;
    for (size_t from = 0, to; good && run_left(adopted, &from, &to); from = to)
        good = return_run(adopted, from, to);
    return good;
}

bool lmpi_adopt(const void *address, size_t bytes, struct lmpi_adopted *adopted)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct uccs_memory_attr attr;
    const char *stack = __builtin_frame_address(0);
    bool anonymous;
    char *start = (char *)((uintptr_t)address & -page);
    char *end = (char *)(((uintptr_t)address + bytes + page - 1) & -page);
    if (bytes < PAGES_LEAST * page || (stack >= start && stack < end) || !is_wanted() ||
        !movable(start, end, &anonymous) || !lmpi_faults_taken())
        return false;
    *adopted = (struct lmpi_adopted){.start = start, .bytes = (size_t)(end - start)};
    if (uccs_memory_allocate(lmpi_life.context, adopted->bytes + page, &adopted->memory) != UCCS_OK)
        return false;
    uccs_memory_query(adopted->memory, &attr);
    char *to = (char *)(((uintptr_t)attr.address + page - 1) & -page);
    adopted->offset = (size_t)(to - (char *)attr.address);
    madvise(to, adopted->bytes, MADV_NOHUGEPAGE); /* pages that nobody touched would come into being beside others */
    if (find_place(to, &adopted->place) && move_all(adopted, to, !anonymous))
        return true;
    uccs_memory_release(adopted->memory);
    return false;
}

bool lmpi_adopted_return(const struct lmpi_adopted *adopted)
{
    if (!lmpi_faults_taken())
        return false;
    if (!make_private(adopted)) {
        fprintf(stderr, "lateral-mpi: rank %d: no memory to give a window's pages back\n", lmpi_life.rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return true;
}

void lmpi_adopted_part(const struct lmpi_adopted *adopted)
{
    if (!make_private(adopted))
        _exit(127);
}
