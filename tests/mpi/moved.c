/* Pages of the program that move onto shared memory and back, by themselves: which ones may, stores meanwhile, what the kernel refuses,
 * what the program unmaps.
 * ranks: 1 */
#include "moved_stub.h"

static void map_at(char *at, size_t bytes, int protection, int flags, int file)
{
    CHECK(mmap(at, bytes, protection, flags | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0) == at);
}

/* ---- which memory may move ---- */

static void which_may_move(void)
{
    bool anonymous = false;
    char *at = room(20);
    char stack[64];
    int file = memfd_create("file", 0);
    CHECK(ftruncate(file, (off_t)(4 * page)) == 0);
    CHECK(movable(at, at + 20 * page, &anonymous) && anonymous);
    CHECK(movable(at + page, at + 19 * page, &anonymous) && anonymous);
    CHECK_EQ(movable(at - page, at + 2 * page, &anonymous), 0);      /* a hole before */
    CHECK_EQ(movable(at + page, at + 20 * page + 1, &anonymous), 0); /* and behind */
    CHECK_EQ(movable((char *)((uintptr_t)stack & -page), (char *)((uintptr_t)stack & -page) + page, &anonymous), 0);
    map_at(at + 10 * page, page, PROT_READ, MAP_PRIVATE, -1);
    CHECK_EQ(movable(at, at + 10 * page, &anonymous), 1);
    CHECK_EQ(movable(at, at + 10 * page + 1, &anonymous), 0);
    CHECK_EQ(movable(at + 10 * page, at + 11 * page, &anonymous), 0);
    CHECK_EQ(movable(at + 11 * page, at + 20 * page, &anonymous), 1); /* a page that may be read is no guard */
    map_at(at + 10 * page, page, PROT_NONE, MAP_PRIVATE, -1);
    CHECK_EQ(movable(at + 11 * page, at + 20 * page, &anonymous), 0); /* the stack of a thread looks so */
    CHECK_EQ(movable(at + 15 * page, at + 20 * page, &anonymous), 0);
    CHECK_EQ(movable(at, at + 10 * page, &anonymous), 1);
    munmap(at + 11 * page, page);
    CHECK_EQ(movable(at + 12 * page, at + 20 * page, &anonymous), 1); /* the guard is not right below */
    map_at(at + 10 * page, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, -1);
    CHECK_EQ(movable(at + 9 * page, at + 13 * page, &anonymous), 0);
    map_at(at + 10 * page, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
    CHECK(movable(at + 9 * page, at + 13 * page, &anonymous) && !anonymous);
    CHECK(movable(at + 10 * page, at + 11 * page, &anonymous) && !anonymous);
    CHECK(movable(at + 12 * page, at + 13 * page, &anonymous) && anonymous);
    CHECK(movable(at + 9 * page, at + 10 * page, &anonymous) && anonymous);
    close(file);
    munmap(at, 20 * page);
}

/* ---- stores while pages move ---- */

static int passed_info, passed_plain;

static void with_info(int number, siginfo_t *info, void *context)
{
    CHECK(number == SIGSEGV && info && context);
    passed_info++;
}

static void without_info(int number)
{
    CHECK_EQ(number, SIGSEGV);
    passed_plain++;
}

static void (*handler_now(void))(int)
{
    struct sigaction now;
    sigaction(SIGSEGV, 0, &now);
    return now.sa_handler;
}

static void (*handler_info(void))(int, siginfo_t *, void *)
{
    struct sigaction now;
    sigaction(SIGSEGV, 0, &now);
    return now.sa_flags & SA_SIGINFO ? now.sa_sigaction : 0;
}

/* A store that is not the layer's goes to the handler that was there. */
static void foreign_stores(void)
{
    siginfo_t info = {0};
    int context;
    const struct sigaction ways[] = {{.sa_sigaction = with_info, .sa_flags = SA_SIGINFO},
                                     {.sa_handler = without_info},
                                     {.sa_handler = SIG_IGN},
                                     {.sa_handler = SIG_DFL}};
    for (int i = 0; i < 4; i++) {
        CHECK(sigaction(SIGSEGV, &ways[i], 0) == 0);
        watch_stores();
        CHECK(handler_info() == wait_and_retry);
        watch_stores(); /* once is enough: the handler before it stays known */
        CHECK(handler_info() == wait_and_retry);
        pass_on(SIGSEGV, &info, &context);
        CHECK_EQ(passed_info, 1);
        CHECK_EQ(passed_plain, i > 0);
        CHECK((handler_now() == SIG_DFL) == (i > 1));
    }
}

static void own_stores(void)
{
    char *at = room(3);
    siginfo_t info = {.si_code = SEGV_ACCERR};
    int context;
    passed_info = 0;
    CHECK(is_writable(at) && is_writable(at + 5) && is_writable(at + page - 1));
    begin_move(at + page, page);
    earlier = (struct sigaction){.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    CHECK(handler_info() == wait_and_retry);
    CHECK(range.start == at + page && range.end == at + 2 * page && range.moving == 1);
    CHECK(!is_writable(at + page) && !is_writable(at + 2 * page - 1));
    CHECK(is_writable(at + page - 1) && is_writable(at + 2 * page));
    info.si_addr = at + page - 1; /* its neighbours need not wait */
    errno = 77;
    RETURNS(wait_and_retry(SIGSEGV, &info, &context));
    CHECK_EQ(errno, 77);
    CHECK_EQ(passed_info, 0);
    info.si_addr = at + 2 * page;
    RETURNS(wait_and_retry(SIGSEGV, &info, &context));
    CHECK_EQ(passed_info, 0);
    end_move();
    CHECK_EQ(range.moving, 0);
    info.si_addr = at + page; /* still read-only: no store of ours */
    RETURNS(wait_and_retry(SIGSEGV, &info, &context));
    CHECK_EQ(passed_info, 1);
    info.si_addr = at;
    info.si_code = SEGV_MAPERR;
    RETURNS(wait_and_retry(SIGSEGV, &info, &context));
    CHECK_EQ(passed_info, 2);
    munmap(at, 3 * page);
    CHECK(!is_writable(at));
    CHECK_EQ(handler_info() == wait_and_retry, 1);
}

/* A store is tried a hundred times, and anew when another place fails or pages have moved. */
static void tries(void)
{
    char *at = room(1);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < TRIES; i++)
            CHECK(is_worth_a_try(at));
        CHECK(!is_worth_a_try(at));
        CHECK(!is_worth_a_try(at));
        if (turn == 0)
            CHECK(is_worth_a_try(at + 8));
        else
            range.moves++;
    }
    CHECK(is_worth_a_try(at));
    munmap(at, page);
    CHECK(!is_worth_a_try(at + 8));
}

static void *store(void *place)
{
    *(volatile char *)place = 9;
    return 0;
}

/* A thread that stores to pages which move waits, whichever byte it is. */
static void waiting_stores(void)
{
    char *at = room(2);
    char *const places[] = {at, at + 2 * page - 1};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        passed_info = 0;
        begin_move(at, 2 * page);
        CHECK(pthread_create(&thread, 0, store, places[i]) == 0);
        usleep(3000);
        CHECK_EQ(*places[i], 0);
        CHECK(mprotect(at, 2 * page, PROT_READ | PROT_WRITE) == 0);
        usleep(1000);
        end_move();
        RETURNS(pthread_join(thread, 0));
        CHECK_EQ(*places[i], 9);
        CHECK_EQ(passed_info, 0);
    }
    munmap(at, 2 * page);
}

/* ---- moves ---- */

static char *other_map(const struct lmpi_adopted *adopted)
{
    return adopted->memory->map + OFF + adopted->offset;
}

/* Moves pages there and back; the program's `bytes` at `at` are in whole pages from `start` to `end`. */
static void there_and_back(char *at, size_t bytes, char *start, const char *end)
{
    struct lmpi_adopted adopted;
    fill(start, (size_t)(end - start), 3);
    CHECK_EQ(lmpi_adopt(at, bytes, &adopted), 1);
    CHECK(adopted.start == start && adopted.bytes == (size_t)(end - start));
    char *other = other_map(&adopted);
    CHECK((uintptr_t)other % page == 0);
    CHECK(is_filled(start, adopted.bytes, 3) && is_filled(other, adopted.bytes, 3));
    fill(other, adopted.bytes, 4);
    CHECK(is_filled(start, adopted.bytes, 4));
    fill(start, adopted.bytes, 5);
    taken = false;
    CHECK_EQ(lmpi_adopted_return(&adopted), 0);
    CHECK(is_filled(other, adopted.bytes, 5));
    *other = 1;
    CHECK_EQ(*start, 1);
    *other = *start = (char)5;
    taken = true;
    CHECK_EQ(lmpi_adopted_return(&adopted), 1);
    CHECK(is_filled(start, adopted.bytes, 5));
    fill(start, adopted.bytes, 6); /* it may be written, and is the program's alone */
    CHECK(is_filled(other, adopted.bytes, 5));
    uccs_memory_release(adopted.memory);
    CHECK_EQ(objects, 0);
    CHECK(is_filled(start, adopted.bytes, 6));
}

static void moves(void)
{
    struct lmpi_adopted adopted;
    char *at = room(1100);
    there_and_back(at, 1100 * page, at, at + 1100 * page); /* more than 512 pages, and than STEP */
    there_and_back(at + 2 * page, 8 * page, at + 2 * page, at + 10 * page);
    there_and_back(at + 2 * page + 1, 8 * page, at + 2 * page, at + 11 * page);
    there_and_back(at + 3 * page - 1, 8 * page + 1, at + 2 * page, at + 11 * page);
    there_and_back(at, STEP + page, at, at + STEP + page);
    CHECK_EQ(lmpi_adopt(at, 8 * page - 1, &adopted), 0);
    CHECK_EQ(lmpi_adopt(at, 1101 * page, &adopted), 0);
    taken = false;
    CHECK_EQ(lmpi_adopt(at, 9 * page, &adopted), 0);
    taken = true;
    no_object = true;
    CHECK_EQ(lmpi_adopt(at, 9 * page, &adopted), 0);
    no_object = false;
    setenv("LATERAL_MPI_SHARE", "0", 1);
    CHECK_EQ(lmpi_adopt(at, 9 * page, &adopted), 0);
    setenv("LATERAL_MPI_SHARE", "1", 1);
    there_and_back(at, 9 * page, at, at + 9 * page);
    unsetenv("LATERAL_MPI_SHARE");
    char *stack = (char *)((uintptr_t)&adopted & -page);
    CHECK_EQ(lmpi_adopt(stack - 8 * page, 16 * page, &adopted), 0);
    CHECK_EQ(objects, 0);
    munmap(at, 1100 * page);
}

/* Each step is a move: the first page, those between, the last page. */
static void counted(void)
{
    struct lmpi_adopted adopted;
    char *at = room(9);
    fill(at, 9 * page, 1);
    const unsigned before = range.moves;
    CHECK_EQ(lmpi_adopt(at, 9 * page, &adopted), 1);
    CHECK_EQ(range.moves - before, 3);
    CHECK_EQ(range.moving, 0);
    CHECK(range.start == at + 8 * page && range.end == at + 9 * page);
    CHECK_EQ(lmpi_adopted_return(&adopted), 1);
    CHECK_EQ(range.moves - before, 6);
    CHECK_EQ(range.moving, 0);
    uccs_memory_release(adopted.memory);
    munmap(at, 9 * page);
}

/* When the kernel does not map a step, all is as before. */
static void refused(void)
{
    struct lmpi_adopted adopted;
    char *at = room(9);
    for (int which = 0; which < 3; which++) {
        fill(at, 9 * page, which);
        maps_left = which;
        CHECK_EQ(lmpi_adopt(at, 9 * page, &adopted), 0);
        CHECK_EQ(maps_left, -1);
        CHECK_EQ(objects, 0);
        CHECK_EQ(range.moving, 0);
        CHECK(is_filled(at, 9 * page, which));
        for (size_t i = 0; i < 9; i++)
            CHECK(is_writable(at + i * page));
        fill(at, 9 * page, 77);
        CHECK(is_filled(at, 9 * page, 77));
    }
    munmap(at, 9 * page);
}

/* Pages that nobody has touched do not come into being by the move, here or there. */
static void sparse(void)
{
    struct lmpi_adopted adopted;
    unsigned char in[2000];
    const size_t n = 2000, hold[] = {0, 3, 700, 701, 1300, 1999};
    char *at = room(n);
    for (int i = 0; i < 6; i++)
        fill(at + hold[i] * page, page, i);
    CHECK_EQ(lmpi_adopt(at, n * page, &adopted), 1);
    struct stat file;
    CHECK(fstat(adopted.memory->file, &file) == 0);
    CHECK_EQ((size_t)file.st_blocks * 512 / page, 6);
    for (int i = 0; i < 6; i++)
        CHECK(is_filled(at + hold[i] * page, page, i));
    at[1500 * page + 5] = 9;
    CHECK_EQ(lmpi_adopted_return(&adopted), 1);
    CHECK(mincore(at, n * page, in) == 0);
    for (size_t i = 0; i < n; i++) {
        bool expected = i == 1500;
        for (int k = 0; k < 6; k++)
            expected |= hold[k] == i;
        CHECK_EQ(in[i] & 1, expected);
    }
    for (int i = 0; i < 6; i++)
        CHECK(is_filled(at + hold[i] * page, page, i));
    CHECK_EQ(at[1500 * page + 5], 9);
    uccs_memory_release(adopted.memory);
    munmap(at, n * page);
}

/* What the program has unmapped meanwhile, or has put other memory at, stays so. */
static void unmapped(void)
{
    struct lmpi_adopted adopted;
    struct lmpi_place place;
    const int gone[] = {0, 7, 8, 19};
    char *at = room(20);
    CHECK(!find_place(at - page, &place));
    fill(at, 20 * page, 1);
    CHECK_EQ(lmpi_adopt(at, 20 * page, &adopted), 1);
    CHECK(find_place(at + 5 * page, &place));
    CHECK(place.inode == adopted.place.inode && place.device == adopted.place.device);
    CHECK_EQ(place.at, adopted.place.at + 5 * page);
    for (int i = 0; i < 4; i++)
        munmap(at + (size_t)gone[i] * page, page);
    map_at(at + 12 * page, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1);              /* its own */
    map_at(at + 15 * page, page, PROT_READ | PROT_WRITE, MAP_SHARED, adopted.memory->file); /* from another place */
    fill(at + 12 * page, 2 * page, 9);
    const size_t runs[][2] = {{1, 7}, {9, 12}, {14, 15}, {16, 19}};
    size_t from = 0, to = 0;
    for (int i = 0; i < 4; i++, from = to) {
        CHECK_EQ(run_left(&adopted, &from, &to), 1);
        CHECK_EQ(from, runs[i][0] * page);
        CHECK_EQ(to, runs[i][1] * page);
    }
    CHECK_EQ(run_left(&adopted, &from, &to), 0);
    CHECK_EQ(lmpi_adopted_return(&adopted), 1);
    char *other = other_map(&adopted);
    for (size_t i = 0; i < 20; i++) {
        bool away = i == 0 || i == 7 || i == 8 || i == 19;
        CHECK_EQ(is_writable(at + i * page), !away);
        if (away || i == 15)
            continue;
        const int seed = i == 12 || i == 13 ? 9 : 1;
        const size_t first = seed == 9 ? 12 : 0;
        CHECK_EQ(at[i * page + 3], (char)(((i - first) * page + 3) * 7 + i - first + (size_t)seed));
        at[i * page + 3] ^= 1;
        CHECK(at[i * page + 3] != other[i * page + 3]);
    }
    uccs_memory_release(adopted.memory);
    munmap(at, 20 * page);
}

/* How many bytes move at once. */
static void steps(void)
{
    struct journey way = {.bytes = 2000 * page, .touched = {.file = -1}};
    const size_t most = STEP;
    CHECK_EQ(step(&way, 0, way.bytes), page);
    CHECK_EQ(step(&way, page, way.bytes), most);
    CHECK_EQ(step(&way, page + most, way.bytes), most);
    CHECK_EQ(step(&way, 1990 * page, way.bytes), 9 * page);
    CHECK_EQ(step(&way, 1999 * page, way.bytes), page);
    CHECK_EQ(step(&way, 1998 * page, way.bytes), page);
    CHECK_EQ(step(&way, 5 * page, 9 * page), 4 * page);
    CHECK_EQ(step(&way, 5 * page, 5 * page + most), most);
    CHECK_EQ(step(&way, 5 * page, 5 * page + most + page), most);
}

int main(void)
{
    begin();
    const int free_file = dup(0);
    close(free_file);
    which_may_move();
    foreign_stores();
    own_stores();
    tries();
    waiting_stores();
    moves();
    counted();
    refused();
    sparse();
    unmapped();
    steps();
    CHECK_EQ(dup(0), free_file); /* none stays open */
    return check_pass();
}
