/* For typemap.c: random datatypes, and a list of the bytes of each from the arguments of its constructor. */
#ifndef MPI_TEST_TYPEMAP_MAKE_H
#define MPI_TEST_TYPEMAP_MAKE_H
#include "check.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { MOST = 3000, SPAN = 60000, WINDOW = 2 * SPAN + 4096, ROUNDS = 1500 };

/* The bytes of data of one element in their order, and the bounds that the next element depends on. */
struct map {
    MPI_Datatype type;
    bool predefined, darray, mixed;
    int base; /* of the predefined type that it consists of */
    size_t n;
    MPI_Aint lb, ub, at[MOST];
};

static uint64_t seed;
static struct map pool[6];
static bool many; /* this job makes large-count constructors too */

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

struct base {
    MPI_Datatype type;
    int bytes, second, second_bytes, extent; /* of a pair: where the int lies */
};
struct base_of_long_double_int {
    long double value;
    int place;
};
static struct base bases[] = {
    {MPI_BYTE, 1, 0, 0, 1},
    {MPI_SHORT, 2, 0, 0, 2},
    {MPI_INT, 4, 0, 0, 4},
    {MPI_DOUBLE, 8, 0, 0, 8},
    {MPI_LONG_DOUBLE, sizeof(long double), 0, 0, sizeof(long double)},
    {MPI_C_DOUBLE_COMPLEX, 16, 0, 0, 16},
    {MPI_2INT, 8, 0, 0, 8},
    {MPI_DOUBLE_INT, 8, 8, 4, 16},
    {MPI_LONG_INT, 8, 8, 4, 16},
    {MPI_SHORT_INT, 2, 4, 4, 8},
    {MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(struct base_of_long_double_int, place), 4,
     sizeof(struct base_of_long_double_int)},
    {MPI_DATATYPE_NULL, 4, 0, 0, 4}, /* of Fortran: six digits */
    {MPI_DATATYPE_NULL, 4, 0, 0, 4}, /* of Fortran: integers of nine digits */
};
enum { BASES = sizeof bases / sizeof *bases };

static void make_bases(void)
{
    MPI_Type_create_f90_real(6, 30, &bases[BASES - 2].type);
    MPI_Type_create_f90_integer(9, &bases[BASES - 1].type);
    for (int i = BASES - 2; i < BASES; i++) { /* an MPI without Fortran has none */
        int size = 0;
        if (bases[i].type == MPI_DATATYPE_NULL || MPI_Type_size(bases[i].type, &size) != MPI_SUCCESS || size != 4)
            bases[i].type = MPI_FLOAT;
    }
}

static void map_base(struct map *map, int base)
{
    const struct base *b = &bases[base];
    *map = (struct map){.type = b->type, .predefined = true, .base = base, .ub = b->extent};
    for (int i = 0; i < b->bytes; i++)
        map->at[map->n++] = i;
    for (int i = 0; i < b->second_bytes; i++)
        map->at[map->n++] = b->second + i;
}

/* Adds `count` elements of a part from a place on. Returns false when the map is full. */
static bool add(struct map *map, const struct map *part, MPI_Aint at, MPI_Aint count, bool *any)
{
    const MPI_Aint extent = part->ub - part->lb;
    for (MPI_Aint i = 0; i < count; i++, at += extent) {
        if (map->n + part->n > MOST || labs(at) > SPAN || labs(extent) > SPAN)
            return false;
        for (size_t k = 0; k < part->n; k++)
            map->at[map->n++] = at + part->at[k];
        map->lb = !*any || at + part->lb < map->lb ? at + part->lb : map->lb;
        map->ub = !*any || at + part->ub > map->ub ? at + part->ub : map->ub;
        *any = true;
    }
    return true;
}

static void take_kind(struct map *map, const struct map *part, bool first)
{
    map->mixed = part->mixed || (!first && (map->mixed || map->base != part->base));
    map->base = part->base;
    map->darray |= part->darray;
}

/* The places of a process in one dimension of a distributed array, in order. Returns how many. */
static int dimension(int size, int how, int argument, int process, int processes, int *place)
{
    int n = 0, block = argument;
    if (how == MPI_DISTRIBUTE_NONE)
        block = size, process = 0, processes = 1;
    else if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = how == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    for (int i = 0; i < size; i++)
        if (i / block % processes == process)
            place[n++] = i;
    return n;
}

/* Adds the places of n dimensions, the slowest first. */
static bool add_places(struct map *map, const struct map *part, int n, const int *order, const int *sizes,
                       int place[][16], const int *places, MPI_Aint at, bool *any)
{
    if (n == 0)
        return add(map, part, at, 1, any);
    const int d = order[0];
    MPI_Aint step = part->ub - part->lb;
    for (int i = 1; i < n; i++)
        step *= sizes[order[i]];
    for (int i = 0; i < places[d]; i++)
        if (!add_places(map, part, n - 1, order + 1, sizes, place, places, at + place[d][i] * step, any))
            return false;
    return true;
}

/* The bounds of an array are those of all of it. */
static void bound_array(struct map *map, const struct map *part, int n, const int *sizes)
{
    MPI_Aint all = part->ub - part->lb;
    for (int d = 0; d < n; d++)
        all *= sizes[d];
    map->lb = 0;
    map->ub = all;
}

static bool make_darray(struct map *map, const struct map *part)
{
    int n = 1 + draw(3), sizes[3], how[3], args[3], grid[3], places[3], order[3], place[3][16], all = 1, behind = 1;
    const int c_order = draw(2);
    bool any = false;
    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + draw(9);
        how[d] = (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}[draw(3)];
        grid[d] = how[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + (int)draw(3);
        args[d] = how[d] == MPI_DISTRIBUTE_NONE || draw(2) ? MPI_DISTRIBUTE_DFLT_DARG
                  : how[d] == MPI_DISTRIBUTE_CYCLIC        ? 1 + (int)draw(4)
                                                           : (sizes[d] + grid[d] - 1) / grid[d] + (int)draw(2);
        all *= grid[d];
        order[d] = c_order ? d : n - 1 - d;
    }
    const int rank = draw(all);
    for (int d = n - 1; d >= 0; d--) {
        places[d] = dimension(sizes[d], how[d], args[d], rank / behind % grid[d], grid[d], place[d]);
        behind *= grid[d];
        if (!places[d])
            return false; /* empty: MPICH 4.0 crashes when it makes some of these */
    }
    if (!add_places(map, part, n, order, sizes, place, places, 0, &any))
        return false;
    bound_array(map, part, n, sizes);
    map->darray = true;
    if (part->lb)
        return false; /* the text shifts such elements, the MPIs do not agree */
#if MPI_VERSION >= 4
    MPI_Count counts[3] = {sizes[0], n > 1 ? sizes[1] : 0, n > 2 ? sizes[2] : 0};
    if (many && draw(2))
        return MPI_Type_create_darray_c(all, rank, n, counts, how, args, grid,
                                        c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part->type,
                                        &map->type) == MPI_SUCCESS;
#endif
    return MPI_Type_create_darray(all, rank, n, sizes, how, args, grid, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                  part->type, &map->type) == MPI_SUCCESS;
}

static bool make_subarray(struct map *map, const struct map *part)
{
    int n = 1 + draw(3), sizes[3], counts[3], starts[3], order[3], place[3][16];
    const int c_order = draw(2);
    bool any = false;
    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + draw(6);
        counts[d] = 1 + draw(sizes[d]);
        starts[d] = draw(sizes[d] - counts[d] + 1);
        order[d] = c_order ? d : n - 1 - d;
        for (int i = 0; i < counts[d]; i++)
            place[d][i] = starts[d] + i;
    }
    if (part->lb || !add_places(map, part, n, order, sizes, place, counts, 0, &any))
        return false;
    bound_array(map, part, n, sizes);
#if MPI_VERSION >= 4
    MPI_Count all[3][3];
    for (int d = 0; d < n; d++)
        all[0][d] = sizes[d], all[1][d] = counts[d], all[2][d] = starts[d];
    if (many && draw(2))
        return MPI_Type_create_subarray_c(n, all[0], all[1], all[2], c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                          part->type, &map->type) == MPI_SUCCESS;
#endif
    return MPI_Type_create_subarray(n, sizes, counts, starts, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part->type,
                                    &map->type) == MPI_SUCCESS;
}

static bool make_vector(struct map *map, const struct map *part, bool bytes)
{
    const int count = 1 + draw(6), length = 1 + draw(4), step = (int)draw(12) - 3;
    const MPI_Aint stride = bytes ? step * 5 + length * (part->ub - part->lb) : step * (part->ub - part->lb);
    bool any = false;
    for (int i = 0; i < count; i++)
        if (!add(map, part, i * stride, length, &any))
            return false;
#if MPI_VERSION >= 4
    if (many && draw(2))
        return (bytes ? MPI_Type_create_hvector_c(count, length, stride, part->type, &map->type)
                      : MPI_Type_vector_c(count, length, step, part->type, &map->type)) == MPI_SUCCESS;
#endif
    return (bytes ? MPI_Type_create_hvector(count, length, stride, part->type, &map->type)
                  : MPI_Type_vector(count, length, step, part->type, &map->type)) == MPI_SUCCESS;
}

/* indexed, hindexed and their forms of one length; often with a constant distance. */
static bool make_indexed(struct map *map, const struct map *part, bool bytes, bool block)
{
    int n = 1 + draw(8), lengths[8], places[8];
    MPI_Aint at[8];
    const int length = 1 + draw(3), step = draw(3) ? 0 : 1 + (int)draw(6);
    bool any = false;
    for (int i = 0; i < n; i++) {
        lengths[i] = block || step ? length : (int)draw(4);
        places[i] = step ? i * step : (int)draw(40) - 5;
        at[i] = bytes ? places[i] * 7 : places[i] * (part->ub - part->lb);
        if (!add(map, part, at[i], lengths[i], &any))
            return false;
    }
    if (!any)
        return false;
#if MPI_VERSION >= 4
    if (many && draw(2)) {
        MPI_Count large[8], distances[8];
        for (int i = 0; i < n; i++)
            large[i] = lengths[i], distances[i] = bytes ? at[i] : places[i];
        return (bytes   ? block ? MPI_Type_create_hindexed_block_c(n, length, distances, part->type, &map->type)
                                : MPI_Type_create_hindexed_c(n, large, distances, part->type, &map->type)
                  : block ? MPI_Type_create_indexed_block_c(n, length, distances, part->type, &map->type)
                        : MPI_Type_indexed_c(n, large, distances, part->type, &map->type)) == MPI_SUCCESS;
    }
#endif
    return (bytes   ? block ? MPI_Type_create_hindexed_block(n, length, at, part->type, &map->type)
                            : MPI_Type_create_hindexed(n, lengths, at, part->type, &map->type)
              : block ? MPI_Type_create_indexed_block(n, length, places, part->type, &map->type)
                    : MPI_Type_indexed(n, lengths, places, part->type, &map->type)) == MPI_SUCCESS;
}

static bool make_struct(struct map *map, const struct map *first)
{
    int n = 1 + draw(4), lengths[4];
    MPI_Aint at[4];
    MPI_Datatype types[4];
    bool any = false;
    for (int i = 0; i < n; i++) {
        const struct map *part = i ? &pool[draw(6)] : first;
        lengths[i] = draw(4);
        at[i] = (MPI_Aint)draw(900) - 100;
        types[i] = part->type;
        if (lengths[i])
            take_kind(map, part, !any);
        if (!add(map, part, at[i], lengths[i], &any))
            return false;
    }
    if (!any)
        return false;
#if MPI_VERSION >= 4
    MPI_Count counts[4] = {0}, places[4] = {0};
    for (int i = 0; i < n; i++)
        counts[i] = lengths[i], places[i] = at[i];
    if (many && draw(2))
        OK(MPI_Type_create_struct_c(n, counts, places, types, &map->type));
    else
#endif
        OK(MPI_Type_create_struct(n, lengths, at, types, &map->type));
    return true;
}

/* MPIs round the bounds of any type to the alignment of what it consists of. The next type is made with those. */
static void take_bounds(struct map *map)
{
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(map->type, &lb, &extent));
    map->lb = lb;
    map->ub = lb + extent;
}

/* Makes a type from one of the pool. Returns false when it is larger than the test has room for. */
static bool make(struct map *map)
{
    const struct map *part = &pool[draw(6)];
    bool any = false;
    *map = (struct map){.type = MPI_DATATYPE_NULL};
    take_kind(map, part, true);
    const unsigned what = draw(12), count = 1 + draw(5);
    switch (what) {
    case 0: return add(map, part, 0, count, &any) && MPI_Type_contiguous(count, part->type, &map->type) == MPI_SUCCESS;
    case 1: return add(map, part, 0, 1, &any) && MPI_Type_dup(part->type, &map->type) == MPI_SUCCESS;
    case 2:
        if (!add(map, part, 0, 1, &any))
            return false;
        map->lb = (MPI_Aint)draw(40) - 20;
        map->ub = map->lb + part->ub - part->lb + (MPI_Aint)draw(60) - 10;
        return MPI_Type_create_resized(part->type, map->lb, map->ub - map->lb, &map->type) == MPI_SUCCESS;
    case 3: return make_vector(map, part, false);
    case 4: return make_vector(map, part, true);
    case 5:
    case 6:
    case 7:
    case 8: return make_indexed(map, part, what & 1, what > 6);
    case 9: return make_struct(map, part);
    case 10: return make_subarray(map, part);
    }
    return make_darray(map, part);
}

static void drop(struct map *map)
{
    if (!map->predefined && map->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&map->type);
}

/* Fills the pool with predefined types and types that are made of them, several times over. */
static void make_pool(void)
{
    static struct map made;
    for (int i = 0; i < 6; i++) {
        drop(&pool[i]);
        map_base(&pool[i], draw(BASES));
    }
    const bool one = draw(2); /* all of one predefined type, for accumulates */
    for (int i = 1; i < 6 && one; i++)
        map_base(&pool[i], pool[0].base);
    for (int i = 0; i < 14; i++) {
        if (make(&made)) {
            take_bounds(&made);
            const int slot = draw(6);
            drop(&pool[slot]);
            pool[slot] = made;
        } else {
            drop(&made);
        }
    }
}

#endif
