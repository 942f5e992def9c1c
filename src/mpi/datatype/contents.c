#include "mpi/datatype/type.h"

#include <stdlib.h>
#include <string.h>

bool lmpi_combiner_is_plain(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

#if MPI_VERSION >= 4
/* The numbers of arguments of a constructor: integers, addresses, large counts, datatypes. */
struct envelope {
    MPI_Count integers, addresses, counts, types;
    int combiner;
};

static bool get_envelope(MPI_Datatype type, struct envelope *e)
{
    return PMPI_Type_get_envelope_c(type, &e->integers, &e->addresses, &e->counts, &e->types, &e->combiner) ==
           MPI_SUCCESS;
}

static bool get_contents(MPI_Datatype type, const struct envelope *e, int *integers, MPI_Aint *addresses,
                         MPI_Count *counts, MPI_Datatype *types)
{
    return PMPI_Type_get_contents_c(type, e->integers, e->addresses, e->counts, e->types, integers, addresses, counts,
                                    types) == MPI_SUCCESS;
}
#else
struct envelope {
    int integers, addresses, counts, types;
    int combiner;
};

static bool get_envelope(MPI_Datatype type, struct envelope *e)
{
    e->counts = 0;
    return PMPI_Type_get_envelope(type, &e->integers, &e->addresses, &e->types, &e->combiner) == MPI_SUCCESS;
}

static bool get_contents(MPI_Datatype type, const struct envelope *e, int *integers, MPI_Aint *addresses,
                         MPI_Count *counts, MPI_Datatype *types)
{
    (void)counts;
    return PMPI_Type_get_contents(type, e->integers, e->addresses, e->types, integers, addresses, types) == MPI_SUCCESS;
}
#endif

int lmpi_combiner(MPI_Datatype type)
{
    struct envelope e;
    return get_envelope(type, &e) ? e.combiner : MPI_UNDEFINED;
}

/* How many of a constructor's large counts are integers in its form of small counts; the rest are addresses. */
static size_t count_numbers(const struct envelope *e, const MPI_Count *counts)
{
    if (!e->counts)
        return 0;
    switch (e->combiner) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK: return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: return 1 + (size_t)counts[0];
    case MPI_COMBINER_RESIZED: return 0;
    }
    return (size_t)e->counts;
}

/* Writes the arguments of the form of large counts as those of the other. Arrays have some of their integers before the large
 * counts, and some behind. */
static void unify_counts(struct lmpi_contents *c, const struct envelope *e, const int *integers,
                         const MPI_Count *counts)
{
    const size_t numbers = count_numbers(e, counts), integer_count = (size_t)e->integers;
    const size_t first = e->combiner == MPI_COMBINER_DARRAY ? 3 : 1,
                 before = integer_count < first ? integer_count : first;
    for (size_t i = 0; i < before; i++)
        c->numbers[i] = integers[i];
    for (size_t i = 0; i < (size_t)e->counts; i++)
        if (i < numbers)
            c->numbers[before + i] = (MPI_Aint)counts[i];
        else
            c->addresses[i - numbers] = (MPI_Aint)counts[i];
    for (size_t i = before; i < integer_count; i++)
        c->numbers[numbers + i] = integers[i];
}

bool lmpi_contents_get(MPI_Datatype type, struct lmpi_contents *contents)
{
    struct envelope e;
    memset(contents, 0, sizeof *contents);
    if (!get_envelope(type, &e))
        return false;
    contents->combiner = e.combiner;
    contents->numbers = calloc((size_t)(e.integers + e.counts) + 1, sizeof *contents->numbers);
    contents->addresses = calloc((size_t)(e.addresses + e.counts) + 1, sizeof *contents->addresses);
    contents->types = calloc((size_t)e.types + 1, sizeof *contents->types);
    int *integers = calloc((size_t)e.integers + 1, sizeof *integers);
    MPI_Count *counts = calloc((size_t)e.counts + 1, sizeof *counts);
    bool good = contents->numbers && contents->addresses && contents->types && integers && counts &&
                get_contents(type, &e, integers, contents->addresses, counts, contents->types);
    if (good) {
        contents->n_types = (int)e.types;
        unify_counts(contents, &e, integers, counts);
    }
    free(integers);
    free(counts);
    return good;
}

void lmpi_contents_free(struct lmpi_contents *contents)
{
    for (int i = 0; i < contents->n_types; i++)
        if (!lmpi_combiner_is_plain(lmpi_combiner(contents->types[i])))
            PMPI_Type_free(&contents->types[i]);
    free(contents->numbers);
    free(contents->addresses);
    free(contents->types);
}
