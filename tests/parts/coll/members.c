/* Group communication with all members in one process: every collective, with groups of all small sizes, data around the sizes
 * of letters and pieces, letters that find no room and come in any order. Then what a schedule promises besides: how many letters
 * are under way, what a wait tells, and what is refused. */
#include "members_stub.h"
#include "members_groups.h"
#include "members_letters.h"

static unsigned char byte_at(int rank, size_t at)
{
    return (unsigned char)(rank * 37 + (int)(at * 7 + at / 255));
}

static void fill(char *to, int rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)byte_at(rank, i);
}

static bool is_of(const char *bytes, int rank, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != (char)byte_at(rank, from + i))
            return false;
    return true;
}

static size_t pieces(size_t bytes)
{
    return bytes ? (bytes + SCHEDULE_PIECE - 1) / SCHEDULE_PIECE : 1;
}

static size_t log_of(int size)
{
    size_t rounds = 0;
    while (1 << rounds < size)
        rounds++;
    return rounds;
}

static void test_broadcast(int size, int root, size_t bytes)
{
    char *buffers[MOST];
    make_groups(size, 0, 0);
    for (int rank = 0; rank < size; rank++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        become(rank);
        buffers[rank] = malloc(bytes);
        if (rank == root)
            fill(buffers[rank], 3, bytes);
        CHECK(uccs_broadcast_nb(&groups[rank], bytes ? buffers[rank] : 0, bytes, root, &request) == UCCS_OK);
        CHECK(request == &requests[rank]);
    }
    CHECK(finish_all() == (size_t)(size - 1) * pieces(bytes));
    for (int rank = 0; rank < size; rank++) {
        CHECK(is_of(buffers[rank], 3, 0, bytes));
        free(buffers[rank]);
    }
}

static void test_allgather(int size, size_t bytes, bool in_place)
{
    char *sources[MOST], *dests[MOST];
    make_groups(size, 0, 0);
    for (int rank = 0; rank < size; rank++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        become(rank);
        dests[rank] = malloc((size_t)size * bytes);
        sources[rank] = in_place ? dests[rank] + (size_t)rank * bytes : malloc(bytes);
        fill(sources[rank], rank, bytes);
        CHECK(uccs_allgather_nb(&groups[rank], sources[rank], dests[rank], bytes, &request) == UCCS_OK);
    }
    CHECK(finish_all() == (size_t)(size * (size - 1)) * pieces(bytes));
    for (int rank = 0; rank < size; rank++) {
        for (int other = 0; other < size; other++)
            CHECK(is_of(dests[rank] + (size_t)other * bytes, other, 0, bytes));
        free(dests[rank]);
        if (!in_place)
            free(sources[rank]);
    }
}

static void test_alltoall(int size, size_t bytes)
{
    char *sources[MOST], *dests[MOST];
    make_groups(size, 0, 0);
    for (int rank = 0; rank < size; rank++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        become(rank);
        dests[rank] = malloc((size_t)size * bytes);
        sources[rank] = malloc((size_t)size * bytes);
        fill(sources[rank], rank, (size_t)size * bytes);
        CHECK(uccs_alltoall_nb(&groups[rank], sources[rank], dests[rank], bytes, &request) == UCCS_OK);
    }
    CHECK(finish_all() == (size_t)(size * (size - 1)) * pieces(bytes));
    for (int rank = 0; rank < size; rank++) {
        for (int other = 0; other < size; other++)
            CHECK(is_of(dests[rank] + (size_t)other * bytes, other, (size_t)rank * bytes, bytes));
        free(dests[rank]);
        free(sources[rank]);
    }
}

static void test_allreduce(int size, size_t n, bool in_place)
{
    int64_t *sources[MOST], *dests[MOST];
    make_groups(size, 0, 0);
    for (int rank = 0; rank < size; rank++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        become(rank);
        sources[rank] = malloc(n * sizeof(int64_t));
        dests[rank] = in_place ? sources[rank] : malloc(n * sizeof(int64_t));
        for (size_t i = 0; i < n; i++)
            sources[rank][i] = (int64_t)i * 1000 + (INT64_C(1) << (4 * rank));
        CHECK(uccs_allreduce_nb(&groups[rank], n ? sources[rank] : 0, n ? dests[rank] : 0, n, UCCS_INT64, UCCS_SUM,
                                &request) == UCCS_OK);
    }
    const bool tree = size == 1 || n * sizeof(int64_t) <= SMALL_REDUCTION;
    CHECK(finish_all() == (size_t)(2 * (tree ? 1 : size) * (size - 1)));
    for (int rank = 0; rank < size; rank++) {
        size_t good = 0;
        for (size_t i = 0; i < n; i++)
            good += dests[rank][i] == size * (int64_t)i * 1000 + ((INT64_C(1) << (4 * size)) - 1) / 15;
        CHECK(good == n);
        free(dests[rank]);
        if (!in_place)
            free(sources[rank]);
    }
}

/* Nobody leaves before all have come. */
static void test_barrier(int size, int last)
{
    make_groups(size, 0, 0);
    for (int i = 1; i <= size; i++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        for (int turn = 0; turn < 20; turn++)
            advance_all();
        for (int rank = 0; rank < size; rank++)
            CHECK(!finished[rank]);
        become((last + i) % size);
        CHECK(uccs_barrier_nb(&groups[member], &request) == UCCS_OK);
    }
    CHECK(finish_all() == (size_t)size * log_of(size));
}

static void test_sizes(void)
{
    static const size_t sizes[] = {0, 1, 7, LETTER_INLINE - 1, LETTER_INLINE, LETTER_INLINE + 1, 1000};
    static const size_t long_ones[] = {SCHEDULE_PIECE - 1, SCHEDULE_PIECE, SCHEDULE_PIECE + 1, 2 * SCHEDULE_PIECE,
                                       11 * SCHEDULE_PIECE + 5};
    for (int size = 1; size <= MOST; size++) {
        for (int rank = 0; rank < size; rank++)
            test_barrier(size, rank);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int root = 0; root < size; root++)
                test_broadcast(size, root, sizes[i]);
            test_allgather(size, sizes[i], i % 2);
            test_alltoall(size, sizes[i]);
            test_allreduce(size, sizes[i], i % 2);
        }
        test_allreduce(size, SMALL_REDUCTION / 8, false);
        test_allreduce(size, SMALL_REDUCTION / 8 + 1, true);
    }
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        test_broadcast(2 + (int)i % 2, 1, long_ones[i]);
        test_allgather(3, long_ones[i], false);
        test_alltoall(2, long_ones[i]);
    }
    test_allreduce(3, 3 * SCHEDULE_PIECE / 8, false);
}

/* --- What a schedule promises besides */

/* Starts a broadcast of two members and lets the root send what it may. Returns the letters under way. */
static size_t sends_alone(size_t bytes, uint64_t sequence)
{
    static char buffers[2][12 * SCHEDULE_PIECE];
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(2, 0, sequence);
    CHECK(uccs_broadcast_nb(&groups[0], buffers[0], bytes, 0, &request) == UCCS_OK);
    keeps = true;
    staged_count = 0;
    advance_all();
    advance_all();
    const size_t sent = under_way_count;
    keeps = false;
    become(1);
    CHECK(uccs_broadcast_nb(&groups[1], buffers[1], bytes, 0, &request) == UCCS_OK);
    finish_all();
    return sent;
}

static void test_window(void)
{
    CHECK(sends_alone(SCHEDULE_WINDOW * SCHEDULE_PIECE, 0) == SCHEDULE_WINDOW && staged_count == SCHEDULE_WINDOW);
    CHECK(sends_alone(12 * SCHEDULE_PIECE, 0) == SCHEDULE_WINDOW && staged_count == 12);
    CHECK(sends_alone(LETTER_INLINE, 0) == 1 && staged_count == 0);
    CHECK(sends_alone(LETTER_INLINE + 1, 0) == 1 && staged_count == 1);
    CHECK(sends_alone(1, SCHEDULE_LEAD - 2) == 1 && staged_count == 0);
    CHECK(sends_alone(1, SCHEDULE_LEAD - 1) == 1 && staged_count == 1); /* number 64 waits to be taken */
    CHECK(sends_alone(0, 2 * SCHEDULE_LEAD - 1) == 1 && staged_count == 1);
}

/* A letter without room is tried again soon, and the member is not finished while its letters are out. */
static void test_again(void)
{
    static char buffer[200];
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(2, 0, 0);
    CHECK(uccs_broadcast_nb(&groups[0], buffer, sizeof buffer, 0, &request) == UCCS_OK);
    refuses = 1;
    keeps = true;
    advance_all();
    CHECK(works[0]->again && !finished[0] && under_way_count == 0 && blocks_out == 0);
    CHECK(((struct uccs_schedule *)works[0])->out == 0);
    refuses = 0;
    works[0]->again = false;
    advance_all();
    CHECK(!works[0]->again && !finished[0] && under_way_count == 1);
    CHECK(((struct uccs_schedule *)works[0])->out == 1);
    keeps = false;
    become(1);
    CHECK(uccs_broadcast_nb(&groups[1], buffer, sizeof buffer, 0, &request) == UCCS_OK);
    finish_all();
}

static void test_lengths(void)
{
    static char buffer[2][8];
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(2, 0, 4);
    CHECK(uccs_broadcast_nb(&groups[0], buffer[0], 5, 0, &request) == UCCS_OK);
    advance_all();
    become(1);
    CHECK(uccs_broadcast_nb(&groups[1], buffer[1], 6, 0, &request) == UCCS_OK);
    OWNED_FAILS(finish_all(), "(of 2) called its operation number 5 with different lengths or in a different order: "
                              "5 bytes came from PE 0 where 6 were due");
    become(1);
    free(works[1]);
    works[1] = 0;
    uccs_letter_close();
    while (owned_count)
        free(owned_all[0].start); /* the letter that was taken */
}

/* What a work, and a blocking call, tells. */
static void test_told(void)
{
    static const int even[] = {1, 3, 5}, down[] = {5, 3, 1}, odd[] = {0, 1, 3}, late[] = {0, 2, 3};
    static const struct {
        const int *world;
        int size, start, stride; /* stride 0: tells of one member */
    } rows[] = {{0, 3, 0, 1}, {even, 3, 1, 2}, {down, 3, 0, 0}, {odd, 3, 0, 0}, {late, 3, 0, 0}, {even, 2, 1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        make_groups(rows[i].size, rows[i].world, 8);
        for (int rank = 1; rank < rows[i].size; rank++) {
            become(rank);
            CHECK(uccs_barrier_nb(&groups[rank], &request) == UCCS_OK);
        }
        struct uccs_told by_work = {0};
        CHECK(works[1]->tell(works[1], &requests[1], &by_work) && strcmp(by_work.text, "a collective") == 0);
        CHECK(by_work.on.about == NODE_ABOUT_PES && by_work.on.start == uccs_ranks_world(&groups[0], 0) &&
              by_work.on.size == 1);
        CHECK(!works[1]->tell(works[1], &requests[2], &by_work));
        become(0);
        finished[0] = true;
        CHECK(uccs_barrier(&groups[0]) == UCCS_OK && told.on.about == NODE_ABOUT_PES);
        if (rows[i].stride)
            CHECK(told.on.start == rows[i].start && told.on.stride == rows[i].stride && told.on.size == rows[i].size &&
                  told.on.object == ~groups[0].number && told.on.number == 9);
        else
            CHECK(told.on.size == 1 && told.on.object == 0);
        finish_all();
    }
}

static void test_told_alone(void)
{
    static const int one[] = {3, 1};
    struct uccs_schedule s = {.group = &groups[0], .sequence = 4};
    make_groups(1, one, 0);
    tell_all(&s, &told);
    CHECK(told.on.start == 3 && told.on.stride == 1 && told.on.size == 1 && told.on.number == 4);
}

static void test_rooted_told(void)
{
    static char buffer[2][4];
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(2, 0, 0);
    become(1);
    CHECK(uccs_broadcast_nb(&groups[1], buffer[1], 4, 1, &request) == UCCS_OK);
    become(0);
    finished[0] = true;
    CHECK(uccs_broadcast(&groups[0], buffer[0], 4, 1) == UCCS_OK);
    CHECK(told.on.size == 1 && told.on.start == 1 && told.on.object == 0);
    finish_all();
    make_groups(2, 0, 63);
    become(1);
    CHECK(uccs_broadcast_nb(&groups[1], buffer[1], 4, 0, &request) == UCCS_OK);
    become(0);
    finished[0] = true;
    keeps = true;
    (void)memset(&told, 0, sizeof told);
    struct uccs_schedule s = {.plan = plan_broadcast,
                              .rooted = true,
                              .group = &groups[0],
                              .dest = buffer[0],
                              .bytes = 4};
    uccs_schedule_start(&s);
    CHECK(!uccs_schedule_advance(&s)); /* all is sent, but not taken */
    uccs_schedule_tell(&s, &told);
    CHECK(told.on.about == 0);
    keeps = false;
    uccs_schedule_run(&s, true);
    finish_all();
}

/* Without the program's class a wait polls the network, and pauses when that finds nothing. */
static void test_network_alone(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    make_groups(2, 0, 0);
    become(1);
    CHECK(uccs_barrier_nb(&groups[1], &request) == UCCS_OK);
    become(0);
    finished[0] = true;
    struct uccs_schedule s = {.plan = uccs_schedule_plan_barrier, .group = &groups[0]};
    serves = yields = 0;
    network_finds = 3;
    uccs_schedule_start(&s);
    uccs_schedule_run(&s, false);
    CHECK(serves == 0 && yields > 0 && network_polls == yields + 3);
    finish_all();
    uccs_users = 0;
    const uint64_t before = library.sequence;
    uccs_coll_meet(true);
    CHECK(library.sequence == before);
    uccs_users = 1;
    uccs_coll_meet(true); /* a job of one */
    CHECK(library.sequence == before + 1);
}

int main(void)
{
    uccs_core.pes = 3;
    uccs_core.npes = 1;
    uccs_core.own =
        mmap(0, 3 * NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    uccs_users = 1;
    uccs_ranks_open();
    test_groups();
    test_letters();
    refuses = 5;
    test_sizes();
    library_is_full = true;
    test_alltoall(3, 1000);
    refuses = 0;
    library_is_full = false;
    test_window();
    test_again();
    test_told();
    test_told_alone();
    test_rooted_told();
    test_network_alone();
    test_refused();
    test_lengths();
    CHECK(owned_count == 0 && owned_held == 0);
    return 0;
}
