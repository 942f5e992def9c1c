#include "mpi/datatype/type.h"

#include "mpi/core/process.h"
#include "mpi/datatype/flatten.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define SLOTS 256 /* a power of two, well above the number of predefined types */

static struct {
    MPI_Datatype type;
    struct lmpi_type *known;
} table[SLOTS];
static int key = MPI_KEYVAL_INVALID;

_Thread_local struct lmpi_last_type lmpi_last_type;

/* Predefined types by their kind. Those of Fortran are null where the MPI has no Fortran. */
struct row {
    MPI_Datatype type;
    enum lmpi_kind kind;
};

static unsigned slot_of(MPI_Datatype type)
{
    return (unsigned)((uint64_t)(uintptr_t)type * 0x9E3779B97F4A7C15u >> 56) & (SLOTS - 1);
}

static const struct lmpi_type *find_predefined(MPI_Datatype type)
{
    for (unsigned at = slot_of(type); table[at].known; at = (at + 1) & (SLOTS - 1))
        if (table[at].type == type)
            return table[at].known;
    return 0;
}

static bool add_predefined(const struct row *row)
{
    int size = 0;
    MPI_Aint lb = 0, extent = 0;
    if (row->type == MPI_DATATYPE_NULL || find_predefined(row->type))
        return true;
    if (PMPI_Type_size(row->type, &size) != MPI_SUCCESS || PMPI_Type_get_extent(row->type, &lb, &extent) != MPI_SUCCESS)
        return true;
    if (size == 0 || (row->kind < LMPI_FLOAT_INT && size != extent))
        return true; /* a type that this MPI does not support */
    unsigned at = slot_of(row->type);
    while (table[at].known)
        at = (at + 1) & (SLOTS - 1);
    table[at].type = row->type;
    table[at].known = size == extent ? lmpi_type_plain(row->kind, (size_t)extent)
                                     : lmpi_type_pair(row->kind, (size_t)size, (size_t)extent);
    return table[at].known != 0;
}

static int delete_attribute(MPI_Datatype type, int which, void *known, void *state)
{
    (void)type, (void)which, (void)state;
    lmpi_type_free(known);
    return MPI_SUCCESS;
}

bool lmpi_types_begin(void)
{
    const struct row rows[] = {
        {MPI_SIGNED_CHAR, LMPI_SIGNED},
        {MPI_SHORT, LMPI_SIGNED},
        {MPI_INT, LMPI_SIGNED},
        {MPI_LONG, LMPI_SIGNED},
        {MPI_LONG_LONG, LMPI_SIGNED},
        {MPI_INT8_T, LMPI_SIGNED},
        {MPI_INT16_T, LMPI_SIGNED},
        {MPI_INT32_T, LMPI_SIGNED},
        {MPI_INT64_T, LMPI_SIGNED},
        {MPI_AINT, LMPI_SIGNED},
        {MPI_OFFSET, LMPI_SIGNED},
        {MPI_COUNT, LMPI_SIGNED},
        {MPI_INTEGER, LMPI_SIGNED},
        {MPI_INTEGER1, LMPI_SIGNED},
        {MPI_INTEGER2, LMPI_SIGNED},
        {MPI_INTEGER4, LMPI_SIGNED},
        {MPI_INTEGER8, LMPI_SIGNED},
        {MPI_UNSIGNED_CHAR, LMPI_UNSIGNED},
        {MPI_UNSIGNED_SHORT, LMPI_UNSIGNED},
        {MPI_UNSIGNED, LMPI_UNSIGNED},
        {MPI_UNSIGNED_LONG, LMPI_UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, LMPI_UNSIGNED},
        {MPI_UINT8_T, LMPI_UNSIGNED},
        {MPI_UINT16_T, LMPI_UNSIGNED},
        {MPI_UINT32_T, LMPI_UNSIGNED},
        {MPI_UINT64_T, LMPI_UNSIGNED},
        {MPI_FLOAT, LMPI_FLOATING},
        {MPI_DOUBLE, LMPI_FLOATING},
        {MPI_LONG_DOUBLE, LMPI_FLOATING},
        {MPI_REAL, LMPI_FLOATING},
        {MPI_REAL4, LMPI_FLOATING},
        {MPI_REAL8, LMPI_FLOATING},
        {MPI_DOUBLE_PRECISION, LMPI_FLOATING},
        {MPI_C_FLOAT_COMPLEX, LMPI_COMPLEX},
        {MPI_C_DOUBLE_COMPLEX, LMPI_COMPLEX},
        {MPI_C_LONG_DOUBLE_COMPLEX, LMPI_COMPLEX},
        {MPI_CXX_FLOAT_COMPLEX, LMPI_COMPLEX},
        {MPI_CXX_DOUBLE_COMPLEX, LMPI_COMPLEX},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, LMPI_COMPLEX},
        {MPI_COMPLEX, LMPI_COMPLEX},
        {MPI_COMPLEX8, LMPI_COMPLEX},
        {MPI_COMPLEX16, LMPI_COMPLEX},
        {MPI_DOUBLE_COMPLEX, LMPI_COMPLEX},
        {MPI_C_BOOL, LMPI_LOGICAL},
        {MPI_CXX_BOOL, LMPI_LOGICAL},
        {MPI_LOGICAL, LMPI_LOGICAL},
#ifdef MPI_LOGICAL1 /* of MPI 5, and Open MPI's own before */
        {MPI_LOGICAL1, LMPI_LOGICAL},
        {MPI_LOGICAL2, LMPI_LOGICAL},
        {MPI_LOGICAL4, LMPI_LOGICAL},
        {MPI_LOGICAL8, LMPI_LOGICAL},
#endif
#ifdef MPI_LOGICAL16
        {MPI_LOGICAL16, LMPI_LOGICAL},
#endif
#ifdef MPI_INTEGER16
        {MPI_INTEGER16, LMPI_SIGNED},
#endif
#ifdef MPI_REAL2
        {MPI_REAL2, LMPI_FLOATING},
#endif
#ifdef MPI_COMPLEX4
        {MPI_COMPLEX4, LMPI_COMPLEX},
#endif
#ifdef MPI_REAL16
        {MPI_REAL16, LMPI_QUAD},
#endif
#ifdef MPI_COMPLEX32
        {MPI_COMPLEX32, LMPI_QUAD_COMPLEX},
#endif
#ifdef MPIX_C_FLOAT16 /* MPICH's own */
        {MPIX_C_FLOAT16, LMPI_FLOATING},
#endif
#ifdef MPIX_BFLOAT16
        {MPIX_BFLOAT16, LMPI_BFLOAT},
#endif
        {MPI_BYTE, LMPI_BYTE},
        {MPI_CHAR, (char)-1 < 0 ? LMPI_SIGNED : LMPI_UNSIGNED}, /* both MPIs reduce it, and programs rely on that */
        {MPI_WCHAR, LMPI_TEXT},
        {MPI_CHARACTER, LMPI_TEXT},
        {MPI_PACKED, LMPI_TEXT},
        {MPI_FLOAT_INT, LMPI_FLOAT_INT},
        {MPI_DOUBLE_INT, LMPI_DOUBLE_INT},
        {MPI_LONG_INT, LMPI_LONG_INT},
        {MPI_SHORT_INT, LMPI_SHORT_INT},
        {MPI_2INT, LMPI_INT_INT},
        {MPI_2INTEGER, LMPI_INT_INT},
        {MPI_LONG_DOUBLE_INT, LMPI_LONG_DOUBLE_INT},
        {MPI_2REAL, LMPI_REAL_REAL},
        {MPI_2DOUBLE_PRECISION, LMPI_REAL_REAL},
    };
    bool good = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_attribute, &key, 0) == MPI_SUCCESS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && good; i++)
        good = add_predefined(&rows[i]);
    return good;
}

void lmpi_types_end(void)
{
    PMPI_Type_free_keyval(&key);
    for (size_t i = 0; i < SLOTS; i++) {
        lmpi_type_free(table[i].known);
        table[i].known = 0;
    }
}

static const struct lmpi_type *filled_part(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type_part(type);
    return known && known->filled ? known->filled : known;
}

static struct lmpi_type *take_apart(MPI_Datatype type)
{
    struct lmpi_type *made = lmpi_type_flatten(type, lmpi_type_part);
    if (!made || made->kind < LMPI_FLOAT_INT || made->kind > LMPI_LONG_DOUBLE_INT)
        return made;
    made->filled = lmpi_type_flatten(type, filled_part);
    if (made->filled)
        return made;
    free(made);
    return 0;
}

/* Takes a type apart once, though several threads may ask at the same time. */
static const struct lmpi_type *flatten_once(MPI_Datatype type)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *value = 0;
    int found = 0;
    struct lmpi_type *made = take_apart(type); /* it asks for inner types, so without the lock */
    pthread_mutex_lock(&lock);
    if (PMPI_Type_get_attr(type, key, &value, &found) != MPI_SUCCESS || found || !made ||
        PMPI_Type_set_attr(type, key, made) != MPI_SUCCESS) {
        lmpi_type_free(made);
        made = found ? value : 0;
    }
    pthread_mutex_unlock(&lock);
    return made;
}

const struct lmpi_type *lmpi_type_part(MPI_Datatype type)
{
    const struct lmpi_type *known = find_predefined(type);
    int found = 0;
    void *value = 0;
    if (known) {
        lmpi_last_type.type = type;
        lmpi_last_type.known = known;
        return known;
    }
    if (type == MPI_DATATYPE_NULL || PMPI_Type_get_attr(type, key, &value, &found) != MPI_SUCCESS)
        return 0;
    if (found)
        return value;
    return flatten_once(type);
}

/* Only a call that could move data tells whether a type is committed: this one sends nothing. A committed type stays
 * so. */
static bool is_committed(MPI_Datatype type, const struct lmpi_type *known)
{
    static const char unread;
    bool *seen = &((struct lmpi_type *)known)->committed;
    if (!__atomic_load_n(seen, __ATOMIC_RELAXED) &&
        PMPI_Send(&unread, 1, type, MPI_PROC_NULL, 0, lmpi_process.self) == MPI_SUCCESS)
        __atomic_store_n(seen, true, __ATOMIC_RELAXED); /* any thread finds the same */
    return __atomic_load_n(seen, __ATOMIC_RELAXED);
}

const struct lmpi_type *lmpi_type_slow(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type_part(type);
    return known && (known == lmpi_last_type.known || is_committed(type, known)) ? known : 0;
}

void lmpi_type_span(const struct lmpi_type *type, size_t count, MPI_Aint *low, MPI_Aint *high)
{
    MPI_Aint last = count ? (MPI_Aint)(count - 1) * type->extent : 0;
    *low = count ? type->low + (last < 0 ? last : 0) : 0;
    *high = count ? type->high + (last > 0 ? last : 0) : 0;
}
