/* Takes datatypes apart by envelope and contents into runs of bytes. Neighbouring runs become one. */
#include "flatten.h"

#include "contents.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Runs under construction. */
struct draft {
    struct lmpi_run *run;
    size_t runs, room;
    enum lmpi_kind kind;
    size_t unit; /* 0: no predefined type yet */
    bool failed;
    const struct lmpi_type *(*part_of)(MPI_Datatype);
};

static void add_run(struct draft *draft, MPI_Aint at, size_t bytes)
{
    struct lmpi_run *last = draft->runs ? &draft->run[draft->runs - 1] : 0;
    if (draft->failed || !bytes)
        return;
    if (last && last->at + (MPI_Aint)last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    if (draft->runs == draft->room) {
        size_t room = draft->room ? 2 * draft->room : 16;
        struct lmpi_run *more = realloc(draft->run, room * sizeof *more);
        draft->failed = !more;
        if (!more)
            return;
        draft->run = more;
        draft->room = room;
    }
    draft->run[draft->runs++] = (struct lmpi_run){at, bytes, 1};
}

static void add_kind(struct draft *draft, const struct lmpi_type *type)
{
    if (!type->size)
        return;
    if (!draft->unit) {
        draft->kind = type->kind;
        draft->unit = type->unit;
    } else if (draft->kind != type->kind || draft->unit != type->unit) {
        draft->kind = LMPI_MIXED;
    }
}

/* Adds `count` elements from a place on. */
static void add_block(struct draft *draft, MPI_Aint at, const struct lmpi_type *type, MPI_Aint count)
{
    if (count <= 0)
        return;
    add_kind(draft, type);
    if (type->dense) {
        add_run(draft, at + type->lb, type->size * (size_t)count);
        return;
    }
    for (MPI_Aint i = 0; i < count && !draft->failed; i++)
        for (size_t run = 0; run < type->runs; run++)
            add_run(draft, at + i * type->extent + type->run[run].at, type->run[run].bytes);
}

static void add_blocks(struct draft *draft, const struct lmpi_contents *c, const struct lmpi_type *type, bool bytes,
                       bool one_length)
{
    MPI_Aint n = c->numbers[0];
    for (MPI_Aint i = 0; i < n; i++) {
        MPI_Aint length = one_length ? c->numbers[1] : c->numbers[1 + i];
        MPI_Aint at = bytes ? c->places[i] : c->numbers[(one_length ? 2 : 1 + n) + i] * type->extent;
        add_block(draft, at, type, length);
    }
}

/* A block of an array of n dimensions: rows along the fastest one, walked like the digits of a number. */
static void add_subarray(struct draft *draft, const struct lmpi_contents *c, const struct lmpi_type *type)
{
    int n = (int)c->numbers[0];
    const MPI_Aint *sizes = c->numbers + 1, *counts = sizes + n, *starts = counts + n;
    bool fortran = c->numbers[3 * n + 1] == MPI_ORDER_FORTRAN;
    MPI_Aint stride[64], digit[64] = {0}, at = 0, step = type->extent;
    if (n > 64) {
        draft->failed = true;
        return;
    }
    for (int i = 0; i < n; i++) {
        int d = fortran ? i : n - 1 - i;
        if (counts[d] == 0)
            return;
        stride[d] = step;
        at += starts[d] * step;
        step *= sizes[d];
    }
    for (int i = 0; i < n && !draft->failed;) {
        int fastest = fortran ? 0 : n - 1;
        add_block(draft, at, type, counts[fastest]);
        for (i = 1; i < n; i++) {
            int d = fortran ? i : n - 1 - i;
            at += stride[d];
            if (++digit[d] < counts[d])
                break;
            at -= counts[d] * stride[d];
            digit[d] = 0;
        }
    }
}

/* Any other type: the MPI packs buffers whose bytes tell their own places, a byte of the place at a time. `type` is committed. */
static void add_packed(struct draft *draft, MPI_Datatype type, int size)
{
    MPI_Aint low, bytes;
    int used = 0, room = 0;
    if (PMPI_Type_get_true_extent(type, &low, &bytes) != MPI_SUCCESS || bytes > INT32_MAX ||
        PMPI_Pack_size(1, type, MPI_COMM_SELF, &room) != MPI_SUCCESS) {
        draft->failed = true;
        return;
    }
    unsigned char *source = malloc((size_t)bytes + 1), *packed = malloc((size_t)room + 1);
    uint32_t *places = calloc((size_t)size + 1, sizeof *places);
    draft->failed |= !source || !packed || !places;
    for (int digit = 0; digit < 4 && !draft->failed; digit++) {
        for (MPI_Aint i = 0; i < bytes; i++)
            source[i] = (unsigned char)(i >> 8 * digit);
        used = 0;
        draft->failed |= PMPI_Pack(source - low, 1, type, packed, room, &used, MPI_COMM_SELF) != MPI_SUCCESS;
        for (int i = 0; i < size && !draft->failed; i++)
            places[i] |= (uint32_t)packed[i] << 8 * digit;
    }
    for (int i = 0; i < size && !draft->failed; i++)
        add_run(draft, low + places[i], 1);
    free(source);
    free(packed);
    free(places);
}

/* A part of another type need not be committed, and the MPI packs no such type: a copy is. */
static void add_by_packing(struct draft *draft, MPI_Datatype type, int size)
{
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (PMPI_Type_dup(type, &copy) == MPI_SUCCESS && PMPI_Type_commit(&copy) == MPI_SUCCESS)
        add_packed(draft, copy, size);
    else
        draft->failed = true;
    if (copy != MPI_DATATYPE_NULL)
        PMPI_Type_free(&copy);
}

/* Adds the structure of a type whose parts may all differ. */
static void add_struct(struct draft *draft, const struct lmpi_contents *c)
{
    for (int i = 0; i < c->numbers[0]; i++) {
        const struct lmpi_type *part = draft->part_of(c->types[i]);
        draft->failed |= !part;
        if (part)
            add_block(draft, c->places[i], part, c->numbers[1 + i]);
    }
}

static void add_any(struct draft *draft, MPI_Datatype whole, const struct lmpi_contents *c, int size)
{
    const struct lmpi_type *type = c->n_types ? draft->part_of(c->types[0]) : 0;
    if (c->combiner == MPI_COMBINER_STRUCT) {
        add_struct(draft, c);
        return;
    }
    if (!type) {
        draft->failed = true;
        return;
    }
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: add_block(draft, 0, type, 1); break;
    case MPI_COMBINER_CONTIGUOUS: add_block(draft, 0, type, c->numbers[0]); break;
    case MPI_COMBINER_VECTOR:
        for (MPI_Aint i = 0; i < c->numbers[0]; i++)
            add_block(draft, i * c->numbers[2] * type->extent, type, c->numbers[1]);
        break;
    case MPI_COMBINER_HVECTOR:
        for (MPI_Aint i = 0; i < c->numbers[0]; i++)
            add_block(draft, i * c->places[0], type, c->numbers[1]);
        break;
    case MPI_COMBINER_INDEXED: add_blocks(draft, c, type, false, false); break;
    case MPI_COMBINER_HINDEXED: add_blocks(draft, c, type, true, false); break;
    case MPI_COMBINER_INDEXED_BLOCK: add_blocks(draft, c, type, false, true); break;
    case MPI_COMBINER_HINDEXED_BLOCK: add_blocks(draft, c, type, true, true); break;
    case MPI_COMBINER_SUBARRAY: add_subarray(draft, c, type); break;
    default: add_kind(draft, type); add_by_packing(draft, whole, size);
    }
}

/* Returns true for a real of so many digits that C's long double has no room for them. MPI_UNDEFINED is a negative number. */
static bool is_quad(MPI_Datatype type)
{
    struct lmpi_contents contents;
    const bool quad = lmpi_contents_get(type, &contents) && contents.numbers[0] > LDBL_DIG;
    lmpi_contents_free(&contents);
    return quad;
}

/* A predefined type that the table does not know. */
static struct lmpi_type *plain_of(int combiner, MPI_Datatype type, size_t size)
{
    switch (combiner) {
    case MPI_COMBINER_F90_INTEGER: return lmpi_type_plain(LMPI_SIGNED, size);
    case MPI_COMBINER_F90_REAL: return lmpi_type_plain(is_quad(type) ? LMPI_QUAD : LMPI_FLOATING, size);
    case MPI_COMBINER_F90_COMPLEX: return lmpi_type_plain(is_quad(type) ? LMPI_QUAD_COMPLEX : LMPI_COMPLEX, size);
    }
    return lmpi_type_plain(LMPI_TEXT, size);
}

struct lmpi_type *lmpi_type_plain(enum lmpi_kind kind, size_t size)
{
    struct lmpi_type *made = malloc(sizeof *made + sizeof *made->run);
    if (!made)
        return 0;
    *made = (struct lmpi_type){.size = size,
                               .extent = (MPI_Aint)size,
                               .high = (MPI_Aint)size,
                               .kind = kind,
                               .unit = size,
                               .predefined = true,
                               .dense = true,
                               .runs = 1};
    made->run[0] = (struct lmpi_run){0, size, 1};
    return made;
}

/* The int lies at its alignment behind the value. */
struct lmpi_type *lmpi_type_pair(enum lmpi_kind kind, size_t size, size_t extent)
{
    const size_t value = size - sizeof(int), at = (value + _Alignof(int) - 1) & -_Alignof(int);
    struct lmpi_type *made = malloc(sizeof *made + 2 * sizeof *made->run), *filled = lmpi_type_plain(kind, extent);
    if (!made || !filled) {
        free(made);
        free(filled);
        return 0;
    }
    *made = *filled;
    made->size = size;
    made->high = (MPI_Aint)(at + sizeof(int));
    made->dense = false;
    made->filled = filled;
    made->runs = at == value ? 1 : 2;
    made->run[0] = (struct lmpi_run){0, at == value ? size : value, 1};
    made->run[1] = (struct lmpi_run){(MPI_Aint)at, sizeof(int), 1};
    return made;
}

void lmpi_type_free(struct lmpi_type *type)
{
    if (type)
        free(type->filled);
    free(type);
}

/* Counts from the last run to the first how many lie alike. */
static void count_alike(struct lmpi_run *run, size_t runs)
{
    for (size_t i = runs; i-- > 1;) {
        const struct lmpi_run *next = &run[i];
        const bool goes_on = next->alike == 1 || next->at - run[i - 1].at == next[1].at - next->at;
        run[i - 1].alike = run[i - 1].bytes != next->bytes ? 1 : goes_on ? next->alike + 1 : 2;
    }
}

/* Completes the runs by what the MPI says of the whole. Frees them. */
static struct lmpi_type *settle(struct draft *draft, MPI_Datatype type)
{
    struct lmpi_type *made = draft->failed ? 0 : malloc(sizeof *made + (draft->runs + 1) * sizeof *made->run);
    if (made) {
        *made = (struct lmpi_type){.kind = draft->kind, .unit = draft->unit, .runs = draft->runs};
        for (size_t i = 0; i < draft->runs; i++) {
            const struct lmpi_run *run = &draft->run[i];
            made->size += run->bytes;
            made->low = !i || run->at < made->low ? run->at : made->low;
            made->high =
                !i || run->at + (MPI_Aint)run->bytes > made->high ? run->at + (MPI_Aint)run->bytes : made->high;
        }
        PMPI_Type_get_extent(type, &made->lb, &made->extent);
        count_alike(draft->run, draft->runs);
        if (draft->runs)
            memcpy(made->run, draft->run, draft->runs * sizeof *made->run);
        else
            made->run[0] = (struct lmpi_run){0, 0, 1};
        made->dense = draft->runs == 1 && made->run[0].at == made->lb && made->extent == (MPI_Aint)made->size;
    }
    free(draft->run);
    return made;
}

struct lmpi_type *lmpi_type_flatten(MPI_Datatype type, const struct lmpi_type *(*part_of)(MPI_Datatype))
{
    struct lmpi_contents contents;
    struct draft draft = {.part_of = part_of};
    const int combiner = lmpi_combiner(type);
    int size = 0;
    if (combiner == MPI_UNDEFINED || PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return 0;
    if (lmpi_combiner_is_plain(combiner))
        return plain_of(combiner, type, (size_t)size);
    draft.failed = !lmpi_contents_get(type, &contents);
    if (!draft.failed)
        add_any(&draft, type, &contents, size);
    lmpi_contents_free(&contents);
    return settle(&draft, type);
}
