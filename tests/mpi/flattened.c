/* What the layer knows of a datatype, against the MPI's own packing: where each byte lies and in which order, that neighbouring
 * runs are one, which runs lie alike, and what both sides of a transfer have in common. It runs the layer's functions by themselves.
 * ranks: 1 */
#include "check.h"
#include "flattened_lot.h"

static int allocations_left = -1; /* none fails */

static int fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

static int alive, types_freed; /* allocations; types that the layer has freed */

static void *counted(void *made)
{
    alive += made != 0;
    return made;
}
#define malloc(bytes) (fails() ? 0 : counted(malloc(bytes)))
#define calloc(n, bytes) (fails() ? 0 : counted(calloc(n, bytes)))
#define realloc(old, bytes) (fails() ? 0 : (alive += !(old), realloc(old, bytes)))
#define free(made) (alive -= (made) != 0, free(made))
#define PMPI_Type_free(type) (types_freed++, PMPI_Type_free(type))

static int asks_before_another =
    -1; /* questions for what is known of a type before another thread knows it; negative: none does */
static void *of_another;

static int ask(MPI_Datatype type, int key, void *value, int *found)
{
    if (asks_before_another >= 0 && asks_before_another-- == 0)
        OK(PMPI_Type_set_attr(type, key, of_another));
    return PMPI_Type_get_attr(type, key, value, found);
}
#define PMPI_Type_get_attr(type, key, value, found) ask(type, key, value, found)

#include "../../src/mpi/contents.c"
#include "../../src/mpi/flatten.c"
#include "../../src/mpi/types.c"
#include "../../src/mpi/pieces.c"

#include "flattened_contents.h"

#include <stddef.h>

struct lmpi_life lmpi_life;

/* Counts the runs from one on that have its length and lie one distance apart. */
static size_t alike_from(const struct lmpi_type *known, size_t first)
{
    const struct lmpi_run *run = known->run;
    size_t n = 1;
    while (first + n < known->runs && run[first + n].bytes == run[first].bytes &&
           run[first + n].at - run[first + n - 1].at == run[first + 1].at - run[first].at)
        n++;
    return n;
}

static void check_runs(const struct lmpi_type *known)
{
    size_t total = 0;
    MPI_Aint low = 0, high = 0;
    for (size_t i = 0; i < known->runs; i++) {
        const struct lmpi_run *run = &known->run[i];
        CHECK(run->bytes > 0);
        CHECK(i == 0 || run[-1].at + (MPI_Aint)run[-1].bytes != run->at);
        CHECK_EQ(run->alike, alike_from(known, i));
        low = i == 0 || run->at < low ? run->at : low;
        high = i == 0 || run->at + (MPI_Aint)run->bytes > high ? run->at + (MPI_Aint)run->bytes : high;
        total += run->bytes;
    }
    CHECK_EQ(known->size, total);
    CHECK_EQ(known->low, low);
    CHECK_EQ(known->high, high);
    if (known->runs == 0)
        CHECK(known->run[0].at == 0 && known->run[0].bytes == 0);
}

/* Compares what is known with `places`. */
static void check_type(MPI_Datatype type, enum lmpi_kind kind, size_t unit)
{
    const struct lmpi_type *known = lmpi_type_part(type);
    MPI_Aint lb, extent;
    size_t at = 0;
    CHECK(known != 0);
    CHECK(known == lmpi_type_part(type)); /* found again */
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQ(known->lb, lb);
    CHECK_EQ(known->extent, extent);
    CHECK_EQ(known->kind, kind);
    CHECK_EQ(known->unit, unit);
    CHECK_EQ(known->predefined, 0);
    check_runs(known);
    CHECK_EQ(known->dense, known->runs == 1 && known->run[0].at == lb && (MPI_Aint)known->run[0].bytes == extent);
    CHECK_EQ(known->size, places.n);
    for (size_t i = 0; i < known->runs; i++)
        for (size_t j = 0; j < known->run[i].bytes; j++)
            CHECK_EQ(known->run[i].at + (MPI_Aint)j, places.at[at++]);
}

static void check_empty(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type_part(type);
    CHECK(known != 0);
    CHECK(known->size == 0 && known->runs == 0 && known->unit == 0 && !known->dense && !known->predefined);
    CHECK(known->low == 0 && known->high == 0 && known->run[0].at == 0 && known->run[0].bytes == 0);
}

/* Types of types of predefined ones, in turn with blocks some bytes and some gigabytes apart; the MPI is asked where a darray lies, which
 * must lie near. */
static void lot(void)
{
    const MPI_Datatype first[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT};
    const size_t unit[] = {4, 8, 1, 2};
    const enum lmpi_kind kind[] = {LMPI_SIGNED, LMPI_FLOATING, (char)-1 < 0 ? LMPI_SIGNED : LMPI_UNSIGNED, LMPI_SIGNED};
    for (int turn = 0; turn < 40 * CONSTRUCTORS; turn++) {
        const int which = draw(4), levels = 1 + turn / CONSTRUCTORS % 3;
        const MPI_Aint far = turn % 3 == 2 ? 5L << 30 : 0;
        MPI_Datatype type = first[which], made;
        inner_places.n = unit[which];
        for (size_t i = 0; i < unit[which]; i++)
            inner_places.at[i] = (MPI_Aint)i;
        for (int level = 0; level < levels; level++) {
            made = draw_type(type, level ? draw(CONSTRUCTORS - 1) : turn % CONSTRUCTORS, far);
            if (level)
                OK(MPI_Type_free(&type));
            type = made;
            if (places.n == 0)
                break;
            check_type(type, kind[which], unit[which]);
            inner_places = places;
        }
        if (places.n == 0)
            check_empty(type);
        OK(MPI_Type_free(&type));
    }
}

/* ---- what the types consist of ---- */

static void check_parts(MPI_Datatype one, MPI_Datatype other, enum lmpi_kind kind, size_t unit)
{
    const int lengths[] = {1, 2};
    const MPI_Aint at[] = {0, 64};
    const MPI_Datatype parts[] = {one, other};
    MPI_Datatype type;
    OK(MPI_Type_create_struct(2, lengths, at, parts, &type));
    const struct lmpi_type *known = lmpi_type_part(type);
    CHECK(known != 0);
    CHECK_EQ(known->kind, kind);
    CHECK_EQ(known->unit, unit);
    OK(MPI_Type_free(&type));
}

static void kinds(void)
{
    MPI_Datatype empty, mixed;
    const int one[] = {1, 1};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    OK(MPI_Type_contiguous(0, MPI_DOUBLE, &empty));
    OK(MPI_Type_create_struct(2, one, at, parts, &mixed));
    check_parts(MPI_INT, MPI_INT32_T, LMPI_SIGNED, 4);
    check_parts(MPI_INT, MPI_UNSIGNED, LMPI_MIXED, 4);
    check_parts(MPI_INT, MPI_SHORT, LMPI_MIXED, 4);
    check_parts(MPI_INT, MPI_DOUBLE, LMPI_MIXED, 4);
    check_parts(MPI_INT, empty, LMPI_SIGNED, 4);
    check_parts(empty, MPI_DOUBLE, LMPI_FLOATING, 8);
    check_parts(mixed, MPI_INT, LMPI_MIXED, 4);
    check_parts(MPI_INT, mixed, LMPI_MIXED, 4);
    OK(MPI_Type_free(&empty));
    OK(MPI_Type_free(&mixed));
}

struct gap {
    short value;
    int index;
};

static void check_pair(const struct lmpi_type *known, size_t value, size_t index, size_t all, enum lmpi_kind kind)
{
    const bool apart = value != index;
    CHECK(known != 0);
    CHECK_EQ(known->size, value + sizeof(int));
    CHECK_EQ(known->extent, all);
    CHECK(known->low == 0 && known->lb == 0 && known->unit == all && known->kind == kind && !known->dense);
    CHECK_EQ(known->high, index + sizeof(int));
    CHECK_EQ(known->runs, apart ? 2 : 1);
    CHECK_EQ(known->run[0].at, 0);
    CHECK_EQ(known->run[0].bytes, apart ? value : value + sizeof(int));
    CHECK_EQ(known->run[0].alike, 1);
    if (apart)
        CHECK(known->run[1].at == (MPI_Aint)index && known->run[1].bytes == sizeof(int) && known->run[1].alike == 1);
    CHECK(known->filled && known->filled->dense && known->filled->size == all && known->filled->kind == kind);
}

/* A type of pairs knows both: the bytes of their two parts, and for accumulates the gaps as well. */
static void pairs(void)
{
    MPI_Datatype two;
    check_pair(lmpi_type_part(MPI_SHORT_INT), sizeof(short), offsetof(struct gap, index), sizeof(struct gap),
               LMPI_SHORT_INT);
    check_pair(lmpi_type_part(MPI_DOUBLE_INT), 8, 8, 16, LMPI_DOUBLE_INT);
    CHECK(lmpi_type_part(MPI_2INT)->dense && !lmpi_type_part(MPI_2INT)->filled);
    CHECK(lmpi_type_part(MPI_FLOAT_INT)->dense && !lmpi_type_part(MPI_FLOAT_INT)->filled);
    OK(MPI_Type_contiguous(2, MPI_SHORT_INT, &two));
    const struct lmpi_type *known = lmpi_type_part(two);
    CHECK(known && known->size == 12 && known->runs == 3 && known->filled && known->filled->size == 16);
    OK(MPI_Type_free(&two));
    OK(MPI_Type_contiguous(2, MPI_FLOAT_INT, &two));
    known = lmpi_type_part(two);
    CHECK(known && known->size == 16 && known->dense && known->kind == LMPI_FLOAT_INT);
    CHECK(known->filled && known->filled->size == 16 && known->filled->dense);
    OK(MPI_Type_free(&two));
    OK(MPI_Type_contiguous(2, MPI_LONG_DOUBLE_INT, &two));
    known = lmpi_type_part(two);
    CHECK(known && known->kind == LMPI_LONG_DOUBLE_INT && known->filled);
    OK(MPI_Type_free(&two));
    OK(MPI_Type_contiguous(2, MPI_INT, &two));
    CHECK(lmpi_type_part(two) && !lmpi_type_part(two)->filled);
    OK(MPI_Type_free(&two));
}

static void check_plain(MPI_Datatype type, enum lmpi_kind kind, size_t size)
{
    const struct lmpi_type *known = lmpi_type_part(type);
    CHECK(known != 0);
    CHECK_EQ(known->kind, kind);
    CHECK_EQ(known->size, size);
    CHECK(known->predefined && known->dense && known->unit == size && known->extent == (MPI_Aint)size);
    CHECK(known->lb == 0 && known->low == 0 && known->high == (MPI_Aint)size && known->runs == 1 && !known->filled);
    CHECK(known->run[0].at == 0 && known->run[0].bytes == size && known->run[0].alike == 1);
    CHECK(lmpi_last_type.type == type && lmpi_last_type.known == known);
    CHECK(lmpi_type(type) == known);
}

static void predefined(void)
{
    check_plain(MPI_SIGNED_CHAR, LMPI_SIGNED, 1);
    check_plain(MPI_INT, LMPI_SIGNED, sizeof(int));
    check_plain(MPI_INT8_T, LMPI_SIGNED, 1);
    check_plain(MPI_AINT, LMPI_SIGNED, sizeof(MPI_Aint));
    check_plain(MPI_UINT16_T, LMPI_UNSIGNED, 2);
    check_plain(MPI_UNSIGNED_LONG_LONG, LMPI_UNSIGNED, 8);
    check_plain(MPI_FLOAT, LMPI_FLOATING, 4);
    check_plain(MPI_LONG_DOUBLE, LMPI_FLOATING, sizeof(long double));
    check_plain(MPI_C_DOUBLE_COMPLEX, LMPI_COMPLEX, 16);
    check_plain(MPI_C_BOOL, LMPI_LOGICAL, 1);
    check_plain(MPI_BYTE, LMPI_BYTE, 1);
    check_plain(MPI_WCHAR, LMPI_TEXT, sizeof(wchar_t));
    check_plain(MPI_PACKED, LMPI_TEXT, 1);
    CHECK(lmpi_type_part(MPI_DATATYPE_NULL) == 0);
    CHECK(lmpi_type(MPI_DATATYPE_NULL) == 0);
}

static void committed_or_not(void)
{
    MPI_Datatype type;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK(lmpi_type_part(type) != 0);
    CHECK(lmpi_type(type) == 0);
    CHECK(!lmpi_type_part(type)->committed);
    OK(MPI_Type_commit(&type));
    CHECK(lmpi_type(type) != 0);
    CHECK(lmpi_type(type) == lmpi_type_part(type) && lmpi_type_part(type)->committed);
    CHECK(lmpi_type_filled(type) == lmpi_type(type));
    OK(MPI_Type_free(&type));
    CHECK(lmpi_type_filled(MPI_SHORT_INT) == lmpi_type(MPI_SHORT_INT)->filled);
}

/* Two threads take a type apart at the same time: what the first one has made serves both. */
static void learned_twice(void)
{
    MPI_Datatype type, like;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_contiguous(3, MPI_INT, &like));
    const int before = alive;
    of_another = lmpi_type_flatten(like, lmpi_type_part);
    const int with_one = alive;
    CHECK(of_another && with_one > before);
    asks_before_another = 1;
    CHECK(lmpi_type_part(type) == of_another && asks_before_another == -1);
    CHECK_EQ(alive, with_one);
    CHECK(lmpi_type_part(type) == of_another);
    OK(MPI_Type_free(&type));
    CHECK_EQ(alive, before);
    OK(MPI_Type_free(&like));
}

/* An array of 64 dimensions is known, one of more is not. */
static void dimensions(void)
{
    int sizes[65], counts[65], starts[65] = {0};
    MPI_Datatype type;
    for (int i = 0; i < 65; i++)
        sizes[i] = counts[i] = 1;
    sizes[62] = 3;
    counts[62] = 2;
    OK(MPI_Type_create_subarray(64, sizes, counts, starts, MPI_ORDER_C, MPI_INT, &type));
    CHECK(lmpi_type_part(type) != 0);
    CHECK_EQ(lmpi_type_part(type)->size, 8);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_subarray(65, sizes, counts, starts, MPI_ORDER_C, MPI_INT, &type));
    CHECK(lmpi_type_part(type) == 0);
    OK(MPI_Type_free(&type));
}

/* Whichever allocation fails: the type is unknown then, and known later. */
static void no_memory(void)
{
    for (int which = 0; which < CONSTRUCTORS; which++) {
        MPI_Datatype inner, type;
        int needed = 0;
        inner_places.n = 0;
        OK(MPI_Type_vector(which == DARRAY ? 1 : 20, 1, 2, which == STRUCT ? MPI_SHORT_INT : MPI_INT, &inner));
        inner_places.n = 1;
        type = draw_type(inner, which, 0);
        do {
            allocations_left = needed++;
            const bool known = lmpi_type_part(type) != 0;
            CHECK(known == (allocations_left >= 0) || which == STRUCT); /* which asks twice for its first part */
        } while (allocations_left < 0 && needed < 1000);
        CHECK(needed > 5 && needed < 1000);
        allocations_left = -1;
        OK(MPI_Type_free(&type));
        OK(MPI_Type_free(&inner));
    }
}

static void check_span(MPI_Aint extent, size_t count, MPI_Aint low, MPI_Aint high)
{
    struct lmpi_type type = {.low = 3, .high = 7, .extent = extent};
    MPI_Aint from = -1, to = -1;
    lmpi_type_span(&type, count, &from, &to);
    CHECK_EQ(from, low);
    CHECK_EQ(to, high);
}

static void spans(void)
{
    check_span(10, 0, 0, 0);
    check_span(10, 1, 3, 7);
    check_span(10, 4, 33 - 30, 37);
    check_span(-10, 4, 3 - 30, 7);
    check_span(0, 4, 3, 7);
    check_span(1L << 31, 5, 3, (1L << 33) + 7);
    check_span(-(1L << 31), 5, 3 - (1L << 33), 7);
}

/* ---- pieces of two types ---- */

/* Expands the pieces of a transfer and compares each byte's two places. Counts the pieces' calls. */
static int check_pieces(MPI_Datatype one, size_t ones, MPI_Datatype other, size_t others)
{
    static struct places here, there;
    struct lmpi_walk a, b;
    struct lmpi_pieces next;
    size_t done = 0;
    int calls = 0;
    for (int side = 0; side < 2; side++) {
        struct places *to = side ? &there : &here;
        const struct lmpi_type *known = lmpi_type_part(side ? other : one);
        to->n = 0;
        for (size_t i = 0; i < (side ? others : ones); i++)
            for (size_t run = 0; run < known->runs; run++)
                for (size_t j = 0; j < known->run[run].bytes; j++)
                    to->at[to->n++] = (MPI_Aint)i * known->extent + known->run[run].at + (MPI_Aint)j;
    }
    CHECK_EQ(here.n, there.n);
    lmpi_walk_begin(&a, lmpi_type_part(one), ones);
    lmpi_walk_begin(&b, lmpi_type_part(other), others);
    for (; lmpi_pieces_next(&a, &b, &next); calls++) {
        CHECK(next.bytes > 0 && next.count > 0);
        CHECK(done + next.bytes * next.count <= here.n);
        for (size_t i = 0; i < next.count; i++)
            for (size_t j = 0; j < next.bytes; j++, done++) {
                CHECK_EQ(next.here + (MPI_Aint)i * next.here_step + (MPI_Aint)j, here.at[done]);
                CHECK_EQ(next.there + (MPI_Aint)i * next.there_step + (MPI_Aint)j, there.at[done]);
            }
    }
    CHECK_EQ(done, here.n);
    CHECK_EQ(lmpi_walk_look(&a, &next.here), 0);
    CHECK_EQ(lmpi_walk_look(&b, &next.there), 0);
    return calls;
}

static void common_pieces(void)
{
    MPI_Datatype type[8];
    const int lengths[] = {2, 2, 2, 3, 1}, spots[] = {0, 5, 10, 14, 30};
    OK(MPI_Type_vector(6, 1, 2, MPI_INT, &type[0]));
    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &type[1]));
    OK(MPI_Type_create_resized(MPI_INT, 0, 24, &type[2]));
    OK(MPI_Type_contiguous(4, MPI_INT, &type[3]));
    OK(MPI_Type_vector(2, 3, -7, MPI_INT, &type[4]));
    OK(MPI_Type_indexed(5, lengths, spots, MPI_INT, &type[5]));
    OK(MPI_Type_create_resized(type[1], -8, 200, &type[6]));
    OK(MPI_Type_create_hvector(12, 1, 3L << 31, MPI_INT, &type[7]));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            const size_t a = lmpi_type_part(type[i])->size, b = lmpi_type_part(type[j])->size;
            check_pieces(type[i], 2 * b, type[j], 2 * a);
            check_pieces(type[i], 0, type[j], 0);
        }
    CHECK_EQ(check_pieces(type[0], 1, type[0], 1), 1);  /* what lies alike goes at once */
    CHECK_EQ(check_pieces(type[2], 12, type[0], 2), 2); /* the second vector begins 4 bytes behind the first */
    CHECK_EQ(check_pieces(MPI_INT, 6, type[0], 1), 1);
    CHECK_EQ(check_pieces(type[2], 6, MPI_INT, 6), 1);
    CHECK_EQ(check_pieces(MPI_INT, 6, MPI_INT, 6), 1);
    CHECK_EQ(check_pieces(type[1], 1, type[1], 1), 1);
    CHECK_EQ(check_pieces(type[7], 1, type[0], 2), 2);
    for (int i = 0; i < 8; i++)
        OK(MPI_Type_free(&type[i]));
}

static void copies(void)
{
    for (size_t bytes = 1; bytes <= 20; bytes++)
        for (size_t count = 0; count < 4; count++) {
            unsigned char from[200], to[200], expected[200];
            for (int i = 0; i < 200; i++) {
                from[i] = (unsigned char)i;
                to[i] = expected[i] = 255;
            }
            for (size_t i = 0; i < count; i++)
                memcpy(expected + 100 - i * 25, from + i * 40, bytes);
            lmpi_pieces_copy((char *)to + 100, -25, (char *)from, 40, bytes, count);
            CHECK(memcmp(to, expected, sizeof to) == 0);
        }
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    lmpi_life.self = MPI_COMM_SELF;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK(lmpi_types_begin());
    lot();
    kinds();
    combiners();
    contents_freed();
    pairs();
    predefined();
    committed_or_not();
    learned_twice();
    dimensions();
    no_memory();
    spans();
    common_pieces();
    copies();
    lmpi_types_end();
    CHECK(!find_predefined(MPI_INT) && key == MPI_KEYVAL_INVALID);
    CHECK_EQ(alive, 0);
    return check_pass();
}
