/* Derived datatypes on both sides: every constructor, against what MPI_Pack and MPI_Unpack make of them.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#define BYTES 4096

static unsigned char source[BYTES], expected[BYTES], packed[BYTES * 4];

static void fill(unsigned char *to, int seed)
{
    for (int i = 0; i < BYTES; i++)
        to[i] = (unsigned char)(i * 7 + seed * 31 + i / 256);
}

/* Puts `count` of a type to the next rank and gets them back. */
static void both_ways(MPI_Win win, unsigned char *base, MPI_Datatype local, int local_count, MPI_Datatype remote,
                      int remote_count)
{
    int used = 0, at = 0;
    unsigned char back[BYTES];
    MPI_Type_commit(&local);
    MPI_Type_commit(&remote);
    fill(base, 1);
    fill(expected, 1);
    fill(source, 50 + prev_rank);
    MPI_Pack(source, local_count, local, packed, sizeof packed, &used, MPI_COMM_SELF);
    MPI_Unpack(packed, used, &at, expected, remote_count, remote, MPI_COMM_SELF);
    fill(source, 50 + me);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(source, local_count, local, next_rank, 0, remote_count, remote, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memcmp(base, expected, BYTES) == 0);
    fill(back, 9);
    OK(MPI_Get(back, local_count, local, next_rank, 0, remote_count, remote, win));
    OK(MPI_Win_fence(0, win));
    fill(expected, 9);
    used = at = 0;
    MPI_Pack(source, local_count, local, packed, sizeof packed, &used, MPI_COMM_SELF);
    MPI_Unpack(packed, used, &at, expected, local_count, local, MPI_COMM_SELF);
    CHECK(memcmp(back, expected, BYTES) == 0);
}

static MPI_Datatype make(int which)
{
    MPI_Datatype type, inner;
    int lengths[] = {2, 1, 3}, places[] = {1, 5, 9}, sizes[] = {6, 5, 4}, counts[] = {3, 2, 2}, starts[] = {1, 2, 1};
    MPI_Aint bytes[] = {4, 40, 100};
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    switch (which) {
    case 0: MPI_Type_contiguous(12, MPI_INT, &type); break;
    case 1: MPI_Type_vector(4, 3, 5, MPI_INT, &type); break;
    case 2: MPI_Type_create_hvector(6, 2, 20, MPI_INT, &type); break;
    case 3: MPI_Type_indexed(3, lengths, places, MPI_INT, &type); break; /* 6 of them */
    case 4: MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type); break;
    case 5: MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type); break;
    case 6: MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type); break;
    case 7: MPI_Type_create_struct(3, lengths, bytes, types, &type); break;
    case 8: MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_INT, &type); break;
    case 9: MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type); break;
    case 10:
        MPI_Type_vector(2, 3, 4, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 48, &type);
        MPI_Type_free(&inner);
        break;
    case 11:
        MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
        MPI_Type_vector(3, 1, 3, inner, &type);
        MPI_Type_free(&inner);
        break;
    case 12: {
        int psizes[] = {2, 2}, gsizes[] = {6, 4};
        int distribs[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, dargs[] = {1, MPI_DISTRIBUTE_DFLT_DARG};
        MPI_Type_create_darray(4, 1, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type);
        break;
    }
    default:
        MPI_Type_contiguous(6, MPI_INT, &inner);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
    }
    return type;
}

#if MPI_VERSION >= 4
enum { LARGE = 11 };

/* The constructors with large counts. */
static MPI_Datatype make_large(int which)
{
    MPI_Datatype type, inner;
    int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG},
        grid[] = {2, 2};
    MPI_Count lengths[] = {2, 1, 3}, places[] = {1, 5, 9}, bytes[] = {4, 40, 100}, sizes[] = {6, 5, 4},
              counts[] = {3, 2, 2}, starts[] = {1, 2, 1};
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    switch (which) {
    case 0: MPI_Type_contiguous_c(12, MPI_INT, &type); break;
    case 1: MPI_Type_vector_c(4, 3, 5, MPI_INT, &type); break;
    case 2: MPI_Type_create_hvector_c(6, 2, 20, MPI_INT, &type); break;
    case 3: MPI_Type_indexed_c(3, lengths, places, MPI_INT, &type); break;
    case 4: MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &type); break;
    case 5: MPI_Type_create_indexed_block_c(3, 2, places, MPI_INT, &type); break;
    case 6: MPI_Type_create_hindexed_block_c(3, 2, bytes, MPI_INT, &type); break;
    case 7: MPI_Type_create_struct_c(3, lengths, bytes, types, &type); break;
    case 8: MPI_Type_create_subarray_c(3, sizes, counts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type); break;
    case 9: MPI_Type_create_darray_c(4, 1, 2, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_INT, &type); break;
    default:
        MPI_Type_vector_c(3, 1, 2, MPI_INT, &inner);
        MPI_Type_create_resized_c(inner, 0, 40, &type);
        MPI_Type_free(&inner);
    }
    return type;
}
#else
enum { LARGE = 0 };

static MPI_Datatype make_large(int which)
{
    (void)which;
    return MPI_INT;
}
#endif

/* A pair's bytes are those of its two parts; what lies between pairs is nobody's. */
static void pairs(MPI_Win win, unsigned char *base)
{
    const MPI_Datatype pair[] = {MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INT};
    for (int i = 0; i < 4; i++) {
        MPI_Datatype row;
        int size;
        MPI_Type_size(pair[i], &size);
        MPI_Type_vector(3, 2, 3, pair[i], &row);
        both_ways(win, base, pair[i], 6, pair[i], 6);
        both_ways(win, base, MPI_BYTE, 6 * size, row, 1);
        MPI_Type_free(&row);
    }
}

/* What a program keeps in a pair's gap stays, though the pair is replaced. */
static void gap(MPI_Win win, unsigned char *base)
{
    struct {
        double value;
        int place, other;
    } mine = {1.5, 2, 3}, *there = (void *)base;
    OK(MPI_Win_fence(0, win));
    there->other = 9;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, next_rank, 0, 1, MPI_DOUBLE_INT, MPI_REPLACE, win));
    OK(MPI_Win_fence(0, win));
    CHECK(there->value == 1.5 && there->place == 2 && there->other == 9);
}

int main(void)
{
    MPI_Win win;
    unsigned char *base;
    check_start(MPI_THREAD_SINGLE);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int which = 0; which < 14 + LARGE; which++) {
        MPI_Datatype type = which < 14 ? make(which) : make_large(which - 14);
        int size;
        MPI_Type_size(type, &size);
        for (int turn = 0; turn < 2; turn++) { /* the second time with what was found the first time */
            both_ways(win, base, type, 3, type, 3);
            both_ways(win, base, MPI_INT, 3 * size / 4, type, 3);
            both_ways(win, base, type, 2, MPI_BYTE, 2 * size);
        }
        MPI_Type_free(&type);
    }
    pairs(win, base);
    gap(win, base);
    OK(MPI_Win_free(&win));
    return check_pass();
}
