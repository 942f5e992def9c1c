/* Datatypes drawn by lot, and where plain loops find the bytes of one element of them. */
#ifndef MPI_TEST_FLATTENED_LOT_H
#define MPI_TEST_FLATTENED_LOT_H
#include "check.h"

#include <stdbool.h>

enum { ROOM = 60000, MIDDLE = ROOM / 2 };

/* Where the bytes of one element lie, in their order. */
struct places {
    MPI_Aint at[ROOM];
    size_t n;
};
static struct places inner_places, places;
static unsigned long state = 1;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned long)below);
}

/* Asks the MPI: two elements hold the low, then the high byte of each place. */
static void ask_places(MPI_Datatype type)
{
    static unsigned char source[ROOM], packed[2][ROOM];
    int size;
    MPI_Type_size(type, &size);
    CHECK(size <= ROOM);
    OK(MPI_Type_commit(&type));
    for (int half = 0; half < 2; half++) {
        int used = 0;
        for (int i = 0; i < ROOM; i++)
            source[i] = (unsigned char)(i >> 8 * half);
        OK(MPI_Pack(source + MIDDLE, 1, type, packed[half], ROOM, &used, MPI_COMM_SELF));
    }
    places.n = (size_t)size;
    for (int i = 0; i < size; i++)
        places.at[i] = (packed[0][i] | packed[1][i] << 8) - MIDDLE;
}

/* `count` inner elements follow each other. */
static void place(MPI_Aint at, MPI_Aint extent, MPI_Aint count)
{
    for (MPI_Aint i = 0; i < count; i++)
        for (size_t j = 0; j < inner_places.n; j++)
            places.at[places.n++] = at + i * extent + inner_places.at[j];
    CHECK(places.n < ROOM - 8);
}

/* The elements of a block of an array, the fastest dimension first. */
static void place_block(int n, const int *sizes, const int *counts, const int *starts, bool fortran, MPI_Aint extent)
{
    int all = 1, digit[4];
    for (int d = 0; d < n; d++)
        all *= counts[d];
    for (int i = 0; i < all; i++) {
        MPI_Aint at = 0;
        for (int k = 0, rest = i; k < n; k++) {
            int d = fortran ? k : n - 1 - k;
            digit[d] = rest % counts[d];
            rest /= counts[d];
        }
        for (int k = n - 1; k >= 0; k--) {
            int d = fortran ? k : n - 1 - k;
            at = at * sizes[d] + starts[d] + digit[d];
        }
        place(at * extent, extent, 1);
    }
}

static MPI_Datatype draw_subarray(MPI_Datatype inner, MPI_Aint extent)
{
    MPI_Datatype type;
    int n = 1 + draw(4), sizes[4], counts[4], starts[4], fortran = draw(2);
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + draw(4);
        counts[i] = 1 + draw(sizes[i]);
        starts[i] = draw(sizes[i] - counts[i] + 1);
    }
    OK(MPI_Type_create_subarray(n, sizes, counts, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, inner, &type));
    place_block(n, sizes, counts, starts, fortran, extent);
    return type;
}

static MPI_Datatype draw_darray(MPI_Datatype inner)
{
    MPI_Datatype type;
    int sizes[] = {4 + draw(3), 3 + draw(3)}, grid[] = {2, 2},
        ways[] = {MPI_DISTRIBUTE_CYCLIC, draw(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC},
        blocks[] = {1 + draw(2), MPI_DISTRIBUTE_DFLT_DARG};
    OK(MPI_Type_create_darray(4, draw(4), 2, sizes, ways, blocks, grid, draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                              inner, &type));
    ask_places(type);
    return type;
}

/* Makes a type of another one; lengths of blocks are 0 now and then. `far` lies between blocks, in bytes. */
static MPI_Datatype draw_type(MPI_Datatype inner, int constructor, MPI_Aint far)
{
    MPI_Datatype type, parts[4] = {inner, inner, inner, inner};
    const int n = 1 + draw(4), step = draw(7) - 3, length = 1 + draw(3);
    int lengths[4], spots[4];
    MPI_Aint bytes[4], lb, extent;
    MPI_Type_get_extent(inner, &lb, &extent);
    for (int i = 0; i < 4; i++) {
        lengths[i] = draw(4) ? 1 + draw(3) : 0;
        spots[i] = draw(3) ? 4 * i + draw(3) - 6 : 2 - 3 * i;
        bytes[i] = (61 + far) * i - 100 + draw(3);
    }
    places.n = 0;
    switch (constructor) {
    case 0:
        OK(MPI_Type_contiguous(length, inner, &type));
        place(0, extent, length);
        break;
    case 1:
        OK(MPI_Type_vector(n, length, step, inner, &type));
        for (int i = 0; i < n; i++)
            place(i * step * extent, extent, length);
        break;
    case 2:
        OK(MPI_Type_create_hvector(n, length, step * (17 + far), inner, &type));
        for (int i = 0; i < n; i++)
            place(i * step * (17 + far), extent, length);
        break;
    case 3:
        OK(MPI_Type_indexed(n, lengths, spots, inner, &type));
        for (int i = 0; i < n; i++)
            place(spots[i] * extent, extent, lengths[i]);
        break;
    case 4:
        OK(MPI_Type_create_hindexed(n, lengths, bytes, inner, &type));
        for (int i = 0; i < n; i++)
            place(bytes[i], extent, lengths[i]);
        break;
    case 5:
        OK(MPI_Type_create_indexed_block(n, length, spots, inner, &type));
        for (int i = 0; i < n; i++)
            place(spots[i] * extent, extent, length);
        break;
    case 6:
        OK(MPI_Type_create_hindexed_block(n, length, bytes, inner, &type));
        for (int i = 0; i < n; i++)
            place(bytes[i], extent, length);
        break;
    case 7:
        OK(MPI_Type_create_struct(n, lengths, bytes, parts, &type));
        for (int i = 0; i < n; i++)
            place(bytes[i], extent, lengths[i]);
        break;
    case 8: type = draw_subarray(inner, extent); break;
    case 9:
        OK(MPI_Type_create_resized(inner, lb - draw(2) * 8, extent + draw(3) * 4 + far, &type));
        place(0, 0, 1);
        break;
    case 10:
        OK(MPI_Type_dup(inner, &type));
        place(0, 0, 1);
        break;
    default: type = draw_darray(inner);
    }
    return type;
}

enum { CONSTRUCTORS = 12, STRUCT = 7, DARRAY = 11 };

#endif
