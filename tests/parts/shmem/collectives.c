/* Collectives of OpenSHMEM with all PEs in one process: each by every way, on nodes of every kind, on data around the sizes of what
 * carries it, in place and not. Every byte of every dest is looked at, and what lies behind it. */
#include "collectives_stub.h"
#include "collectives_ways.h"
#include "collectives_sets.h"
#include "collectives_split.h"

enum { BEHIND = 16 };

static size_t bytes, n, elem; /* of the call */
static int root;
static bool at_root, in_place, inclusive;
static ptrdiff_t dst, sst;
static enum fold_op op;
static enum kind kind;
static bool split; /* in two phases */

static char *source_of(int pe)
{
    return heap_of(pe) + 4096;
}

static char *dest_of(int pe)
{
    return in_place ? source_of(pe) : heap_of(pe) + HEAP / 2;
}

static unsigned char byte_of(int rank, size_t at)
{
    return (unsigned char)(rank * 53 + (int)(at % 251) * 3 + (int)(at / 251));
}

/* Every PE has its own bytes in its source, and noise in its dest. */
static void fill(size_t source_bytes, size_t dest_bytes)
{
    for (int pe = 0; pe < size; pe++) {
        if (!in_place)
            memset(dest_of(pe), 0x77, dest_bytes + BEHIND);
        for (size_t i = 0; i < source_bytes; i += 251) /* as byte_of */
            for (size_t k = 0; k < 251 && i + k < source_bytes; k++)
                source_of(pe)[i + k] = (char)(pes[pe].rank * 53 + (int)k * 3 + (int)(i / 251));
    }
}

static bool is_of(const char *at, int rank, size_t from, size_t count)
{
    size_t good = 0;
    while (good < count && (unsigned char)at[good] == byte_of(rank, from + good))
        good++;
    return good == count;
}

static bool is_untouched(const char *at, size_t count)
{
    size_t good = 0;
    while (good < count && at[good] == 0x77)
        good++;
    return good == count;
}

static bool ends_at(int pe, size_t length)
{
    return in_place || is_untouched(dest_of(pe) + length, BEHIND);
}

/* On one node: so many exchanges of posts. */
static void check_exchanges(uint64_t count)
{
    if (nodes_count == 1 && size > 1 && pes[0].team.slot >= 0 && !split)
        CHECK(pes[0].team.exchange - exchanges_before == count);
}

static uint64_t pieces(size_t all, size_t most)
{
    return (all + most - 1) / most;
}

/* --- The calls */

static void broadcast_of(struct uccs_team *team)
{
    if (split) {
        shmemx_request_t request = 0;
        start_sync(6);
        CHECK(lat_broadcast_nbe("broadcast", split_team(), dest_of(now), source_of(now), bytes, root, &request) == 0);
        start_sync(7);
        finish_split();
        return;
    }
    lat_group_broadcast("broadcast", team, dest_of(now), source_of(now), bytes, root, at_root);
}

static void fcollect_of(struct uccs_team *team)
{
    if (split) {
        shmemx_request_t request = 0;
        start_sync(6);
        CHECK(lat_fcollect_nbe("fcollect", split_team(), dest_of(now), source_of(now), bytes, &request) == 0);
        start_sync(7);
        finish_split();
        return;
    }
    lat_group_fcollect("fcollect", team, dest_of(now), source_of(now), bytes);
}

/* PEs give blocks of different lengths; that of rank 1 is empty. */
static size_t length_at(int rank)
{
    return rank == 1 ? 0 : bytes - (rank & 1 ? bytes / 3 : 0);
}

static void collect_of(struct uccs_team *team)
{
    const size_t mine = length_at(team->rank);
    lat_group_collect("collect", team, dest_of(now), mine ? source_of(now) : 0, mine);
}

static void alltoall_of(struct uccs_team *team)
{
    if (split) {
        shmemx_request_t request = 0;
        start_sync(6);
        CHECK(lat_alltoall_nbe("alltoall", split_team(), dest_of(now), source_of(now), bytes, &request) == 0);
        start_sync(7);
        finish_split();
        return;
    }
    lat_group_alltoall("alltoall", team, dest_of(now), source_of(now), bytes);
}

static void alltoalls_of(struct uccs_team *team)
{
    lat_group_alltoalls("alltoalls", team, dest_of(now), source_of(now), dst, sst, n, elem);
}

static void reduce_of(struct uccs_team *team)
{
    if (split) {
        shmemx_request_t request = 0;
        start_sync(6);
        CHECK(lat_reduce_nbe("reduce", split_team(), dest_of(now), source_of(now), n, kind, op, &request) == 0);
        start_sync(7);
        finish_split();
        return;
    }
    lat_group_reduce("reduce", team, dest_of(now), source_of(now), n, kind, op);
}

static void scan_of(struct uccs_team *team)
{
    lat_group_scan("scan", team, dest_of(now), source_of(now), n, kind, inclusive);
}

/* --- What they do */

static void test_broadcast(void)
{
    for (int i = 0; i < size; i++) {
        root = i;
        at_root = split || i % 2 == 0;
        fill(bytes, bytes);
        run(broadcast_of);
        check_exchanges(way == LAT_BY_POST ? pieces(bytes, POST_LARGE) : 1);
        for (int pe = 0; pe < size; pe++)
            if (pes[pe].rank != root || at_root || in_place)
                CHECK(is_of(dest_of(pe), root, 0, bytes) && ends_at(pe, bytes));
            else
                CHECK(is_untouched(dest_of(pe), bytes + BEHIND));
    }
}

static void test_fcollect(void)
{
    fill(bytes, bytes * (size_t)size);
    run(fcollect_of);
    check_exchanges(way == LAT_BY_POST ? pieces(bytes, POST_LARGE) : 1);
    for (int pe = 0; pe < size; pe++) {
        for (int rank = 0; rank < size; rank++)
            CHECK(is_of(dest_of(pe) + (size_t)rank * bytes, rank, 0, bytes));
        CHECK(ends_at(pe, bytes * (size_t)size));
    }
}

static void test_collect(void)
{
    size_t all = 0;
    fill(bytes, bytes * (size_t)size);
    run(collect_of);
    for (int rank = 0; rank < size; all += length_at(rank++))
        for (int pe = 0; pe < size; pe++)
            CHECK(is_of(dest_of(pe) + all, rank, 0, length_at(rank)));
    for (int pe = 0; pe < size; pe++)
        CHECK(ends_at(pe, all));
}

static void test_alltoall(void)
{
    fill(bytes * (size_t)size, bytes * (size_t)size);
    run(alltoall_of);
    check_exchanges(way == LAT_BY_POST ? pieces(bytes, POST_LARGE / (size_t)size) : 1);
    for (int pe = 0; pe < size; pe++) {
        for (int rank = 0; rank < size; rank++)
            CHECK(is_of(dest_of(pe) + (size_t)rank * bytes, rank, (size_t)pes[pe].rank * bytes, bytes));
        CHECK(ends_at(pe, bytes * (size_t)size));
    }
}

static void test_alltoalls(void)
{
    const size_t to = n * elem * (size_t)dst, from = n * elem * (size_t)sst;
    fill(from * (size_t)size, to * (size_t)size);
    run(alltoalls_of);
    for (int pe = 0; pe < size; pe++)
        for (size_t rank = 0; rank < (size_t)size; rank++)
            for (size_t i = 0; i < n; i++) {
                const char *at = dest_of(pe) + rank * to + i * elem * (size_t)dst;
                CHECK(is_of(at, (int)rank, (size_t)pes[pe].rank * from + i * elem * (size_t)sst, elem));
                CHECK(is_untouched(at + elem, ((size_t)dst - 1) * elem));
            }
}

/* Doubles whose sum depends on the order of the ranks. */
static double real_of(int rank, size_t at)
{
    return (rank % 2 ? 1e16 : -1e16) + rank * 3 + (double)(at % 1000) + 0.25;
}

static int64_t whole_of(int rank, size_t at)
{
    return (int64_t)(at + 1) * 1000003 + ((int64_t)1 << (8 * rank));
}

static void fill_numbers(void)
{
    fill(n * 8, n * 8);
    for (int pe = 0; pe < size; pe++)
        for (size_t i = 0; i < n; i++)
            if (kind == KIND_DOUBLE)
                ((double *)(void *)source_of(pe))[i] = real_of(pes[pe].rank, i);
            else
                ((int64_t *)(void *)source_of(pe))[i] = whole_of(pes[pe].rank, i);
}

/* The sum of the ranks 0 .. last. */
static bool is_sum(const char *dest, size_t at, int last)
{
    double real = last < 0 ? 0 : real_of(0, at);
    int64_t whole = 0;
    for (int rank = 0; rank <= last; rank++) {
        whole += whole_of(rank, at);
        real = rank ? real + real_of(rank, at) : real;
    }
    return memcmp(dest + at * 8, kind == KIND_DOUBLE ? (void *)&real : (void *)&whole, 8) == 0;
}

static void check_sums(bool scan)
{
    for (int pe = 0; pe < size; pe++) {
        const int last = !scan ? size - 1 : pes[pe].rank - !inclusive;
        size_t good = 0;
        while (good < n && is_sum(dest_of(pe), good, last))
            good++;
        CHECK(good == n && ends_at(pe, n * 8));
    }
}

static void test_reduce(void)
{
    fill_numbers();
    run(reduce_of);
    check_exchanges(way == LAT_BY_SHARE ? 1 : pieces(n * 8, POST_LARGE) << (way == LAT_BY_LEADER));
    const bool by_pull = far_way == LAT_BY_PULL || (far_way == LAT_BY_RAIL && scattered && kind == KIND_DOUBLE);
    CHECK(nodes_count == 1 || split || (gets > 0) == by_pull);
    check_sums(false);
}

static void test_scan(void)
{
    for (int i = 0; i < 2; i++) {
        inclusive = i;
        fill_numbers();
        run(scan_of);
        check_exchanges(way == LAT_BY_SHARE ? 1 : pieces(n * 8, POST_LARGE));
        CHECK(nodes_count == 1 || (far_way == LAT_BY_PULL ? gets && !swaps : swaps && !gets));
        check_sums(true);
    }
}

/* --- */

static void test_folds(size_t elements)
{
    n = elements;
    for (int real = 0; real < 2; real++)
        for (int place = 0; place < 2; place++) {
            kind = real ? KIND_DOUBLE : KIND_I64;
            in_place = place;
            test_reduce();
            if (far_way != LAT_BY_RAIL || size == 1)
                test_scan();
        }
    in_place = false;
}

static void test_moves(size_t each)
{
    bytes = each;
    test_broadcast();
    test_fcollect();
    test_collect();
    test_alltoall();
    in_place = true;
    test_broadcast();
    in_place = false;
}

static void test_strided(size_t elements)
{
    n = elements;
    for (elem = 1; elem <= 16; elem *= 2) {
        dst = 1 + (ptrdiff_t)elem % 3;
        sst = 3 - (ptrdiff_t)elem % 3;
        test_alltoalls();
    }
}

static void test_near(const char *shape, int slot)
{
    static const enum lat_algorithm ways[] = {LAT_BY_POST, LAT_BY_PULL, LAT_BY_PUSH, LAT_BY_SHARE, LAT_BY_LEADER};
    static const size_t sizes[] = {8, 48, 49, POST_LARGE, 2 * POST_LARGE + 100};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        way = ways[i];
        make_job(shape, 0, slot);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            test_moves(sizes[k]);
        test_folds(1), test_folds(7), test_folds(8), test_folds(POST_LARGE / 8), test_folds(POST_LARGE / 8 + 1);
        if (way == LAT_BY_SHARE)
            test_folds(BLOCK / 8 * (size_t)size), test_folds(BLOCK / 8 * (size_t)size + 9);
        test_strided(1), test_strided(5);
    }
}

static void test_far(const char *shape, const char *order)
{
    static const enum lat_algorithm ways[] = {LAT_BY_MAIL, LAT_BY_RAIL, LAT_BY_PULL};
    static const size_t sizes[] = {8, 57, 9000};
    for (int i = 0; i < 3; i++) {
        far_way = ways[i];
        make_job(shape, order, SLOT);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            test_moves(sizes[k]);
        test_folds(1), test_folds(3), test_folds(2000), test_folds(8193);
        test_strided(1), test_strided(5);
    }
    make_job(shape, order, -1); /* without a slot */
    far_way = LAT_BY_PULL;
    test_moves(1), test_moves(5000);
}

/* A long broadcast goes in chunks, and in a chain. */
static void test_chunks(const char *shape, size_t least, size_t most)
{
    static const size_t sizes[] = {CHUNK_LEAST,     CHUNK_LEAST + 1, 3 * CHUNK_LEAST + 5,
                                   CHAIN_LEAST - 1, CHAIN_LEAST,     NODES_CHUNKS * CHUNK_LEAST + 100};
    make_job(shape, 0, SLOT);
    far_way = LAT_BY_RAIL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes = sizes[i];
        if (bytes >= least && bytes <= most)
            test_broadcast();
    }
}

/* The same in two phases, with progress threads or without. */
static void test_split(const char *shape, const char *order)
{
    static const size_t sizes[] = {0, 1, 900, 30000};
    make_job(shape, order, SLOT);
    memset(come, 0, sizeof come);
    for (int i = 0; i < 4; i++)
        test_split_syncs(i & 1, i & 2);
    split = true;
    for (int i = 0; i < 8; i++) {
        make_job(shape, order, SLOT);
        memset(come, 0, sizeof come);
        test_split_syncs(i & 1, 0);
        bytes = sizes[i / 2];
        test_broadcast(), test_fcollect(), test_alltoall();
        n = bytes / 3;
        for (int real = 0; real < 2; real++) {
            kind = real ? KIND_DOUBLE : KIND_I64;
            in_place = i & 4;
            test_reduce();
            in_place = false;
        }
    }
    split = false;
}

int main(void)
{
    open_all();
    op = FOLD_SUM;
    test_ways();
    test_sets();
    test_near("1", SLOT), test_near("2", SLOT), test_near("5", SLOT);
    test_near("3", -1);
    test_far("31", 0), test_far("212", 0), test_far("111", 0);
    test_far("32", "02413"), test_far("22", "0213");
    test_split("1", 0), test_split("3", 0), test_split("4", 0), test_split("21", 0), test_split("22", "0213");
    test_chunks("21", 0, CHAIN_LEAST), test_chunks("11", CHAIN_LEAST, HEAP / 2);
    return 0;
}
