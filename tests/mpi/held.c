/* Pieces of memory that windows hold, by themselves: parts, users, pages that go back late, a child's memory; views of dynamic memory; and
 * which pages hold something.
 * ranks: 1 */
#include "moved_stub.h"

#include "../../src/mpi/view.c"

static struct lmpi_hold *hold_of(char *at, size_t bytes, size_t parts)
{
    struct lmpi_hold *hold = 0;
    size_t all = 0;
    RETURNS(hold = lmpi_memory_hold(at, bytes));
    CHECK(hold && hold->address == at);
    CHECK_EQ(hold->n, parts);
    for (size_t i = 0; i < parts; i++) {
        CHECK(hold->part[i].address == at + all);
        all += hold->part[i].bytes;
    }
    CHECK_EQ(all, bytes);
    return hold;
}

static int count_pieces(void)
{
    int n = 0;
    for (const struct lmpi_piece *at = pieces; at; at = at->next)
        n++;
    return n;
}

static void check_part(const struct lmpi_part *part, size_t bytes, uccs_memory_t memory, size_t offset)
{
    CHECK_EQ(part->bytes, bytes);
    CHECK(part->memory == memory);
    CHECK_EQ(part->offset, offset);
}

/* A range over made memory and what lies beside it consists of parts. */
static void parts(void)
{
    char *at = room(40);
    uccs_memory_t memory;
    next_map_at = at + 10 * page;
    CHECK(lmpi_memory_make(5 * page - OFF, &memory) == at + 10 * page);
    const size_t length = 5 * page - OFF;
    struct lmpi_hold *whole = hold_of(at + 10 * page, length, 1);
    check_part(&whole->part[0], length, memory, 0);
    CHECK_EQ(whole->part[0].piece->users, 2);
    struct lmpi_hold *inside = hold_of(at + 10 * page + 8, length - 8, 1);
    check_part(&inside->part[0], length - 8, memory, 8);
    struct lmpi_hold *around = hold_of(at + 8 * page, 8 * page, 3);
    check_part(&around->part[0], 2 * page, 0, 0);
    check_part(&around->part[1], length, memory, 0);
    check_part(&around->part[2], 8 * page - 2 * page - length, 0, 0);
    struct lmpi_hold *before = hold_of(at + 9 * page, page, 1), *behind = hold_of(at + 10 * page + length, 16, 1);
    check_part(&before->part[0], page, 0, 0);
    check_part(&behind->part[0], 16, 0, 0);
    struct lmpi_hold *edge = hold_of(at + 10 * page - 1, 2, 2), *last = hold_of(at + 10 * page + length - 1, 2, 2);
    check_part(&edge->part[1], 1, memory, 0);
    check_part(&last->part[0], 1, memory, length - 1);
    CHECK_EQ(whole->part[0].piece->users, 6);
    struct lmpi_hold *nothing = hold_of(at, 0, 0);
    struct lmpi_hold *const all[] = {whole, inside, around, before, behind, edge, last, nothing, 0};
    CHECK_EQ(lmpi_memory_drop(memory), 1);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(objects, i < 7);
        RETURNS(lmpi_memory_let_go(all[i]));
    }
    CHECK_EQ(count_pieces(), 0);
    CHECK(!lmpi_memory_drop(memory) && !lmpi_memory_drop(0));
    struct lmpi_hold *plain = hold_of(at, 64, 1);
    CHECK_EQ(lmpi_memory_drop(0), 0); /* bytes that stay have no object either */
    RETURNS(lmpi_memory_let_go(plain));
    next_map_at = 0;
    munmap(at, 40 * page);
}

/* Pages do not move while a window uses some of their bytes as they are. */
static void used_bytes(void)
{
    char *at = room(40);
    const struct {
        size_t from, bytes;
        bool moves;
    } rows[] = {{2 * page - 8, 8, true}, {2 * page - 8, 9, false},  {2 * page, 8, false},
                {5 * page, 8, false},    {12 * page - 8, 8, false}, {12 * page, 8, true},
                {12 * page, 8, true},    {2 * page - 8, 8, true},   {2 * page - 8, 8, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lmpi_hold *small = hold_of(at + rows[i].from, rows[i].bytes, 1);
        CHECK(!small->part[0].memory);
        const size_t less = i % 2 ? 0 : 8; /* whole pages, or a part of the first and last one */
        struct lmpi_hold *large = hold_of(at + 2 * page + less, 10 * page - 2 * less, 1);
        CHECK_EQ(large->part[0].memory != 0, rows[i].moves);
        CHECK_EQ(large->part[0].piece->kind, rows[i].moves ? ADOPTED : PLAIN);
        RETURNS(lmpi_memory_let_go(small));
        if (rows[i].moves) {
            struct lmpi_hold *again = hold_of(at + 3 * page, page, 1);
            CHECK(again->part[0].piece == large->part[0].piece);
            CHECK_EQ(again->part[0].offset, large->part[0].piece->offset + page);
            RETURNS(lmpi_memory_let_go(large));
            CHECK_EQ(objects, 1);
            RETURNS(lmpi_memory_let_go(again));
        } else {
            RETURNS(lmpi_memory_let_go(large));
        }
        CHECK_EQ(objects, 0);
        CHECK_EQ(count_pieces(), 0);
    }
    munmap(at, 40 * page);
}

/* While a thread blocks SIGSEGV pages stay where they are; later they go back. */
static void late(void)
{
    char *at = room(40);
    fill(at, 40 * page, 2);
    struct lmpi_hold *one = hold_of(at, 10 * page, 1), *two = hold_of(at + 20 * page, 10 * page, 1);
    CHECK_EQ(objects, 2);
    taken = false;
    RETURNS(lmpi_memory_let_go(one));
    RETURNS(lmpi_memory_let_go(two));
    CHECK_EQ(objects, 2);
    one = hold_of(at + page, page, 1); /* still there */
    CHECK(one->part[0].memory && one->part[0].piece->users == 1);
    taken = true;
    struct lmpi_hold *other = hold_of(at + 35 * page, page, 1);
    CHECK_EQ(objects, 1);
    CHECK_EQ(count_pieces(), 2);
    RETURNS(lmpi_memory_let_go(one));
    RETURNS(lmpi_memory_let_go(other));
    CHECK_EQ(objects, 0);
    CHECK_EQ(count_pieces(), 0);
    CHECK(is_filled(at, 40 * page, 2));
    munmap(at, 40 * page);
}

/* A child's stores are its own. */
static void child(void)
{
    char *at = room(12);
    int status;
    fill(at, 12 * page, 1);
    struct lmpi_hold *small = hold_of(at, 8, 1), *hold = hold_of(at + page, 10 * page, 1);
    CHECK(hold->part[0].memory);
    pid_t pid = fork();
    if (pid == 0) {
        bool good = is_filled(at, 12 * page, 1);
        fill(at, 12 * page, 7);
        _exit(good && is_filled(at, 12 * page, 7) ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
    CHECK(is_filled(at, 12 * page, 1));
    RETURNS(lmpi_memory_let_go(hold));
    RETURNS(lmpi_memory_let_go(small));
    munmap(at, 12 * page);
}

/* Memory for the program: ours while the layer runs, else the MPI's. */
static void allocations(void)
{
    char *made = 0;
    lmpi_life.running = false;
    OK(layer_alloc(8, MPI_INFO_NULL, &made));
    CHECK_EQ(reals, 1);
    lmpi_life.running = true;
    OK(layer_alloc(0, MPI_INFO_NULL, &made));
    CHECK_EQ(reals, 2);
    OK(layer_alloc(1, MPI_INFO_NULL, &made));
    CHECK(reals == 2 && made && objects == 1);
    CHECK_EQ(pieces->bytes, 1);
    CHECK_EQ(layer_free(made + 1), MPI_ERR_BASE);
    CHECK_EQ(layer_free(0), MPI_ERR_BASE);
    CHECK_EQ(reals, 4);
    struct lmpi_hold *plain = hold_of(made + page, 8, 1);
    CHECK_EQ(layer_free(made + page), MPI_ERR_BASE);
    OK(layer_free(made));
    CHECK(reals == 5 && objects == 0);
    RETURNS(lmpi_memory_let_go(plain));
    no_object = true;
    OK(layer_alloc(8, MPI_INFO_NULL, &made));
    CHECK_EQ(reals, 6);
    no_object = false;
    uccs_memory_t memory = 0;
    CHECK(lmpi_memory_make(0, &memory) && pieces->bytes == 1);
    CHECK_EQ(lmpi_memory_drop(memory), 1);
    CHECK_EQ(objects, 0);
}

/* ---- views of dynamic memory ---- */

enum { RANGES = 40, APART = 3 << 16, LENGTH = 1000 };

static int asked;
static uint64_t version;
static char bytes_of_views[RANGES];
uint64_t lmpi_windows_age = 5 + (1ull << 32);

/* Ranges that lie apart; the third one is not mapped, the fourth one is of another domain. */
int uccs_memory_view(uccs_memory_t memory, size_t offset, struct uccs_view *view)
{
    const size_t which = offset / APART;
    (void)memory;
    asked++;
    if (which >= RANGES || offset % APART >= LENGTH)
        return UCCS_ERR_BOUNDS;
    *view = (struct uccs_view){.start = which * APART,
                               .length = LENGTH,
                               .address = which == 2 ? 0 : &bytes_of_views[which],
                               .domain = which == 3 ? UCCS_DOMAIN_CPU + 1 : UCCS_DOMAIN_CPU,
                               .version = &version,
                               .seen = version};
    return UCCS_OK;
}

/* Looks twice: the thread keeps what it has found, in the slot that the next look takes. */
static void look_at_view(const struct lmpi_target *target, size_t at, size_t bytes, const char *expected, int asks)
{
    bool direct = false;
    asked = 0;
    CHECK(lmpi_view(target, at, bytes, &direct) == expected);
    CHECK_EQ(asked, asks);
    CHECK(lmpi_view(target, at, bytes, &direct) == expected);
    CHECK_EQ(asked, asks);
    CHECK_EQ(direct, (target->offset + at) / APART != 3);
}

static void views(void)
{
    static struct lmpi_target targets[3];
    bool direct;
    for (int i = 0; i < 3; i++)
        targets[i].offset = i == 1 ? APART : 0;
    for (int turn = 0; turn < 3; turn++, turn == 1 ? version++ : lmpi_windows_age++)
        for (int i = 0; i < 3; i++)
            for (size_t which = 0; which < RANGES - 1; which++) {
                const size_t range = which + targets[i].offset / APART;
                const char *first = range == 2 ? 0 : &bytes_of_views[range];
                const struct lmpi_view *kept = lmpi_view_slow(&targets[i], range * APART);
                CHECK(kept >= lmpi_views && kept < lmpi_views + LMPI_VIEWS);
                CHECK_EQ(kept - lmpi_views, ((uintptr_t)&targets[i] / sizeof *targets ^ range * 3) % LMPI_VIEWS);
                look_at_view(&targets[i], which * APART, 1, first, 0);
                look_at_view(&targets[i], which * APART, LENGTH, first, 0);
                look_at_view(&targets[i], which * APART + LENGTH - 1, 1, first ? first + LENGTH - 1 : 0, 0);
                look_at_view(&targets[i], which * APART, LENGTH + 1, 0, 0);
                look_at_view(&targets[i], which * APART + 8, LENGTH - 7, 0, 0);
            }
    asked = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(lmpi_view(&targets[0], LENGTH, 1, &direct) == 0);
        CHECK(lmpi_view(&targets[0], RANGES * (size_t)APART, 1, &direct) == 0);
    }
    CHECK_EQ(asked, 4);
    look_at_view(&targets[0], 8, 8, bytes_of_views + 8, 1);
    version++;
    look_at_view(&targets[0], 8, 8, bytes_of_views + 8, 1);
    lmpi_windows_age++;
    look_at_view(&targets[0], 8, 8, bytes_of_views + 8, 1);
}

/* ---- pages that hold something ---- */

/* What the kernel would tell of pages: those from `first` to `end` hold something. */
static int file_of_entries(size_t first, size_t end)
{
    static uint64_t entries[3000];
    for (size_t i = 0; i < 3000; i++) /* present, or swapped */
        entries[i] = i >= first && i < end ? UINT64_C(1) << (i % 2 ? 63 : 62) : UINT64_C(1) << 61;
    const int file = memfd_create("entries", 0);
    CHECK(file >= 0 && write(file, entries, sizeof entries) == sizeof entries);
    return file;
}

/* Runs of pages that are alike, however the reads of the kernel's table cut them. */
static void alike_pages(void)
{
    const size_t lengths[] = {1, 511, 512, 513, 1024, 1025, 1500};
    bool touched;
    for (int i = 0; i < 7; i++) {
        const size_t n = lengths[i];
        const int file = file_of_entries(700, 700 + n);
        CHECK(count_alike(file, 700 * page, 2000, &touched) == n && touched);
        CHECK(count_alike(file, 700 * page, n, &touched) == n && touched);
        CHECK(count_alike(file, 701 * page, 2000, &touched) == (n > 1 ? n - 1 : 2000) && touched == (n > 1));
        CHECK(count_alike(file, (700 + n) * page, 700, &touched) == 700 && !touched);
        CHECK(count_alike(file, (700 - 600) * page, 2000, &touched) == 600 && !touched);
        CHECK_EQ(count_alike(file, 2900 * page, 200, &touched), 100); /* the kernel tells no more */
        CHECK_EQ(count_alike(file, 3000 * page, 200, &touched), 0);
        size_t from = 0, to = 0;
        CHECK(next_private(file, (char *)(100 * page), 2000 * page, &from, &to));
        CHECK(from == 600 * page && to == (n < 1400 ? 600 + n : 2000) * page);
        from = to;
        CHECK(!next_private(file, (char *)(100 * page), 2000 * page, &from, &to));
        from = 0;
        CHECK(!next_private(file, (char *)(100 * page), 600 * page, &from, &to)); /* nothing before that */
        from = 2950 * page;
        CHECK(!next_private(file, (char *)0, 3000 * page, &from, &to));
        from = 3000 * page; /* the kernel does not say: all of it */
        CHECK(next_private(file, (char *)0, 3010 * page, &from, &to) && from == 3000 * page && to == 3010 * page);
        close(file);
    }
}

/* A descriptor of 0 is one too, when the program has closed its own. */
static void first_descriptor(void)
{
    const int own = dup(0), file = file_of_entries(10, 20);
    CHECK(file > 0 && dup2(file, 0) == 0);
    struct lmpi_touched touched = {.file = 0, .pages = true};
    size_t from = 0, to = 0;
    CHECK(lmpi_touched_next(&touched, 0, 0, 100 * page, &from, &to) && from == 10 * page && to == 20 * page);
    RETURNS(lmpi_touched_close(&touched));
    CHECK(fcntl(0, F_GETFD) < 0);
    if (own >= 0) {
        CHECK(dup2(own, 0) == 0);
        close(own);
    }
    close(file);
}

int main(void)
{
    begin();
    parts();
    used_bytes();
    late();
    child();
    allocations();
    views();
    alike_pages();
    first_descriptor();
    return check_pass();
}
