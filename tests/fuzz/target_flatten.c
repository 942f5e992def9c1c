/* Datatypes taken apart: chains of types, each made of the ones before it, over an MPI of our own (stub/mpi.h). The same
 * bytes are laid out here element by element; what flatten.c says must be that, and so must the pieces of any two types. */
#include "fuzz/fuzz.h"

#include "mpi/pieces.h"

#include <stdio.h>
#include <stdlib.h>

enum { TYPES = 6, PARTS = 4, BYTES_MOST = 512, PIECES_MOST = 8192, NUMBERS = 20 };

struct type {
    int combiner, n_numbers, n_places, n_types;
    int numbers[NUMBERS];
    MPI_Aint places[PARTS];
    MPI_Datatype types[PARTS];
    MPI_Aint lb, extent;
    MPI_Aint at[BYTES_MOST]; /* of each byte of data, in order */
    int size;
};
static struct type types[TYPES];
static struct lmpi_type *known[TYPES];

int PMPI_Type_get_envelope(MPI_Datatype type, int *numbers, int *places, int *parts, int *combiner)
{
    const struct type *t = &types[type];
    *numbers = t->n_numbers;
    *places = t->n_places;
    *parts = t->n_types;
    *combiner = t->combiner;
    return MPI_SUCCESS;
}

int PMPI_Type_get_contents(MPI_Datatype type, int most_numbers, int most_places, int most_types, int *numbers,
                           MPI_Aint *places, MPI_Datatype *parts)
{
    const struct type *t = &types[type];
    if (most_numbers < t->n_numbers || most_places < t->n_places || most_types < t->n_types)
        return MPI_ERR_TYPE;
    memcpy(numbers, t->numbers, (size_t)t->n_numbers * sizeof *numbers);
    memcpy(places, t->places, (size_t)t->n_places * sizeof *places);
    memcpy(parts, t->types, (size_t)t->n_types * sizeof *parts);
    return MPI_SUCCESS;
}

int PMPI_Type_size(MPI_Datatype type, int *size)
{
    *size = types[type].size;
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint *low, MPI_Aint *extent)
{
    *low = types[type].lb;
    *extent = types[type].extent;
    return MPI_SUCCESS;
}

int PMPI_Type_free(MPI_Datatype *type)
{
    *type = -1;
    return MPI_SUCCESS;
}

/* --- Making types. Each function appends the bytes of a part to a type. */

static bool append(struct type *t, MPI_Aint at, const struct type *part, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < part->size; k++) {
            if (t->size == BYTES_MOST)
                return false;
            t->at[t->size++] = at + i * part->extent + part->at[k];
        }
    return true;
}

static int small(struct fuzz *fuzz, int most)
{
    return fuzz_byte(fuzz) % (most + 1);
}

static int any(struct fuzz *fuzz)
{
    return (int8_t)fuzz_byte(fuzz);
}

static void make_plain(struct type *t, struct fuzz *fuzz)
{
    t->combiner = MPI_COMBINER_NAMED;
    t->size = 1 << small(fuzz, 3);
    t->extent = t->size;
    for (int i = 0; i < t->size; i++)
        t->at[i] = i;
}

static bool make_vector(struct type *t, const struct type *part, struct fuzz *fuzz, bool bytes)
{
    bool fits = true;
    t->combiner = bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR;
    t->n_numbers = bytes ? 2 : 3;
    t->numbers[0] = small(fuzz, 9);
    t->numbers[1] = small(fuzz, 9);
    const int stride = any(fuzz);
    t->numbers[2] = stride;
    t->n_places = bytes;
    t->places[0] = stride;
    for (int i = 0; i < t->numbers[0]; i++)
        fits &= append(t, (MPI_Aint)i * stride * (bytes ? 1 : part->extent), part, t->numbers[1]);
    return fits;
}

static bool make_blocks(struct type *t, const struct type *part, struct fuzz *fuzz, bool bytes, bool one)
{
    const int n = small(fuzz, PARTS), length = small(fuzz, 5);
    bool fits = true;
    t->combiner = one     ? bytes ? MPI_COMBINER_HINDEXED_BLOCK : MPI_COMBINER_INDEXED_BLOCK
                  : bytes ? MPI_COMBINER_HINDEXED
                          : MPI_COMBINER_INDEXED;
    t->numbers[t->n_numbers++] = n;
    if (one)
        t->numbers[t->n_numbers++] = length;
    for (int i = 0; i < n && !one; i++)
        t->numbers[t->n_numbers++] = small(fuzz, 5);
    for (int i = 0; i < n; i++) {
        const int at = any(fuzz);
        if (bytes)
            t->places[t->n_places++] = at;
        else
            t->numbers[t->n_numbers++] = at;
        fits &= append(t, at * (bytes ? 1 : part->extent), part, one ? length : t->numbers[1 + i]);
    }
    return fits;
}

static bool make_struct(struct type *t, struct fuzz *fuzz, int made)
{
    const int n = small(fuzz, PARTS);
    bool fits = true;
    t->combiner = MPI_COMBINER_STRUCT;
    t->numbers[t->n_numbers++] = n;
    t->n_types = n;
    for (int i = 0; i < n; i++) {
        const int length = small(fuzz, 4), which = small(fuzz, made - 1);
        t->numbers[t->n_numbers++] = length;
        t->places[t->n_places++] = any(fuzz);
        t->types[i] = which;
        fits &= append(t, t->places[i], &types[which], length);
    }
    return fits;
}

/* Returns the place of an element in an array: `index` by dimension. */
static bool make_subarray(struct type *t, const struct type *part, struct fuzz *fuzz)
{
    const int n = 1 + small(fuzz, 2);
    const bool fortran = fuzz_byte(fuzz) & 1;
    int counts[3], starts[3], sizes[3], index[3] = {0}, elements = 1;
    t->combiner = MPI_COMBINER_SUBARRAY;
    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + small(fuzz, 5);
        counts[d] = 1 + small(fuzz, sizes[d] - 1);
        starts[d] = small(fuzz, sizes[d] - counts[d]);
        elements *= counts[d];
    }
    t->numbers[0] = n;
    memcpy(t->numbers + 1, sizes, (size_t)n * sizeof *sizes);
    memcpy(t->numbers + 1 + n, counts, (size_t)n * sizeof *counts);
    memcpy(t->numbers + 1 + 2 * n, starts, (size_t)n * sizeof *starts);
    t->numbers[3 * n + 1] = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    t->n_numbers = 3 * n + 2;
    for (int i = 0; i < elements; i++) {
        MPI_Aint at = 0;
        for (int k = 0; k < n; k++) { /* the slowest dimension first */
            const int d = fortran ? n - 1 - k : k;
            at = at * sizes[d] + starts[d] + index[d];
        }
        if (!append(t, at * part->extent, part, 1))
            return false;
        for (int k = 0; k < n; k++) {
            const int d = fortran ? k : n - 1 - k;
            if (++index[d] < counts[d])
                break;
            index[d] = 0;
        }
    }
    return true;
}

/* What a process has of an array of two dimensions that are dealt out in blocks, in C's order. */
static bool make_darray(struct type *t, const struct type *part, struct fuzz *fuzz)
{
    const int rows = 1 + small(fuzz, 6), columns = 1 + small(fuzz, 6), down = 1 + small(fuzz, 2),
              across = 1 + small(fuzz, 2);
    const int block[2] = {1 + small(fuzz, 2), 1 + small(fuzz, 2)}, rank = small(fuzz, down * across - 1);
    const MPI_Aint numbers[] = {down * across,         rank,     2,        rows, columns, MPI_DISTRIBUTE_CYCLIC,
                                MPI_DISTRIBUTE_CYCLIC, block[0], block[1], down, across,  MPI_ORDER_C};
    t->combiner = MPI_COMBINER_DARRAY;
    t->n_numbers = sizeof numbers / sizeof *numbers;
    for (int i = 0; i < t->n_numbers; i++)
        t->numbers[i] = (int)numbers[i];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            if (i / block[0] % down == rank / across && k / block[1] % across == rank % across &&
                !append(t, (i * columns + k) * part->extent, part, 1))
                return false;
    return true;
}

static bool make(int number, struct fuzz *fuzz)
{
    struct type *t = &types[number];
    memset(t, 0, sizeof *t);
    const uint8_t how = fuzz_byte(fuzz) % 12;
    const int of = number ? small(fuzz, number - 1) : 0;
    const struct type *part = &types[of];
    bool fits = true;
    t->n_types = 1;
    t->types[0] = of;
    if (!number || how == 0) {
        t->n_types = 0;
        make_plain(t, fuzz);
        return true;
    }
    switch (how) {
    case 1:
        t->combiner = MPI_COMBINER_CONTIGUOUS;
        t->n_numbers = 1;
        t->numbers[0] = small(fuzz, 20);
        fits = append(t, 0, part, t->numbers[0]);
        break;
    case 2: fits = make_vector(t, part, fuzz, false); break;
    case 3: fits = make_vector(t, part, fuzz, true); break;
    case 4: fits = make_blocks(t, part, fuzz, false, false); break;
    case 5: fits = make_blocks(t, part, fuzz, true, false); break;
    case 6: fits = make_blocks(t, part, fuzz, false, true); break;
    case 7: fits = make_blocks(t, part, fuzz, true, true); break;
    case 8: fits = make_struct(t, fuzz, number); break;
    case 9: fits = make_subarray(t, part, fuzz); break;
    case 10: fits = make_darray(t, part, fuzz); break;
    default: t->combiner = how & 1 ? MPI_COMBINER_RESIZED : MPI_COMBINER_DUP; fits = append(t, 0, part, 1);
    }
    t->lb = any(fuzz);
    t->extent = how == 11 && fuzz_byte(fuzz) & 1 ? 0 : any(fuzz) * 3;
    return fits;
}

static const struct lmpi_type *part_of(MPI_Datatype type)
{
    return known[type];
}

static void check(int number)
{
    const struct type *t = &types[number];
    struct lmpi_type *flat = known[number] = lmpi_type_flatten(number, part_of);
    FUZZ_CHECK(flat);
    struct lmpi_level levels[flat->depth + 1];
    struct lmpi_walk walk;
    MPI_Aint at = 0;
    int i = 0;
    lmpi_walk_begin(&walk, flat, 1, levels);
    for (size_t bytes; (bytes = lmpi_walk_look(&walk, &at)) != 0; lmpi_walk_over(&walk, bytes, 1))
        for (size_t k = 0; k < bytes; k++, i++)
            if (i >= t->size || at + (MPI_Aint)k != t->at[i]) {
                fprintf(stderr, "type %d, combiner %d: byte %d is at %ld, wanted %ld of %d bytes\n", number,
                        t->combiner, i, (long)(at + (MPI_Aint)k), i < t->size ? (long)t->at[i] : -1L, t->size);
                abort();
            }
    FUZZ_CHECK(i == t->size && flat->size == (size_t)t->size);
}

/* Where a byte of elements of a type lies. */
static MPI_Aint place(const struct type *t, int byte)
{
    return byte / t->size * t->extent + t->at[byte % t->size];
}

/* As many bytes of one type as of the other: every byte comes once, in order. */
static void check_pieces(int first, int second)
{
    const struct type *here = &types[first], *there = &types[second];
    struct lmpi_walk walk[2];
    struct lmpi_pieces next;
    int byte = 0;
    if (!here->size || !there->size || here->size * there->size > PIECES_MOST)
        return;
    struct lmpi_level levels[known[first]->depth + known[second]->depth + 2];
    lmpi_walk_begin(&walk[0], known[first], (size_t)there->size, levels);
    lmpi_walk_begin(&walk[1], known[second], (size_t)here->size, levels + known[first]->depth + 1);
    while (lmpi_pieces_next(&walk[0], &walk[1], &next)) {
        FUZZ_CHECK(next.count && next.bytes);
        FUZZ_CHECK(next.count * next.bytes <= (size_t)(here->size * there->size - byte));
        for (MPI_Aint i = 0; i < (MPI_Aint)next.count; i++)
            for (MPI_Aint k = 0; k < (MPI_Aint)next.bytes; k++, byte++) {
                FUZZ_CHECK(next.here + (i ? i * next.here_step : 0) + k == place(here, byte));
                FUZZ_CHECK(next.there + (i ? i * next.there_step : 0) + k == place(there, byte));
            }
    }
    FUZZ_CHECK(byte == here->size * there->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {data, size};
    int made = 0;
    while (made < TYPES && (made == 0 || fuzz.left) && make(made, &fuzz))
        check(made++);
    for (int i = 0; i < made; i++)
        check_pieces(i, made - 1);
    for (int i = 0; i < TYPES; i++) {
        free(known[i]);
        known[i] = 0;
    }
    return 0;
}
