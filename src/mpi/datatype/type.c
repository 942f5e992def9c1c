#include "mpi/datatype/type.h"

#include "mpi/core/process.h"

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

/* Predefined types of a kind, up to the first 0. Those of Fortran are null where the MPI has no Fortran. */
struct row {
    enum lmpi_kind kind;
    MPI_Datatype type[18];
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

static bool add_predefined(MPI_Datatype type, enum lmpi_kind kind)
{
    int size = 0;
    MPI_Aint lb = 0, extent = 0;
    if (type == MPI_DATATYPE_NULL || find_predefined(type))
        return true;
    if (PMPI_Type_size(type, &size) != MPI_SUCCESS || PMPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS)
        return true;
    if (size == 0 || (kind < LMPI_FLOAT_INT && size != extent))
        return true; /* a type that this MPI does not support */
    unsigned at = slot_of(type);
    while (table[at].known)
        at = (at + 1) & (SLOTS - 1);
    table[at].type = type;
    table[at].known =
        size == extent ? lmpi_type_plain(kind, (size_t)extent) : lmpi_type_pair(kind, (size_t)size, (size_t)extent);
    return table[at].known != 0;
}

static uint64_t derived_age = 1; /* of the derived types that are there */

static int delete_attribute(MPI_Datatype type, int which, void *known, void *state)
{
    (void)type, (void)which, (void)state;
    __atomic_fetch_add(&derived_age, 1, __ATOMIC_RELEASE); /* acquire: lmpi_type_slow; its handle may come again */
    lmpi_type_free(known);
    return MPI_SUCCESS;
}

bool lmpi_types_begin(void)
{
    const struct row rows[] = {
        {LMPI_SIGNED,
         {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
          MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4,
          MPI_INTEGER8}},
        {LMPI_UNSIGNED,
         {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
          MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}},
        {LMPI_FLOATING, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION}},
        {LMPI_COMPLEX,
         {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
          MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16,
          MPI_DOUBLE_COMPLEX}},
        {LMPI_LOGICAL, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL}},
        {LMPI_BYTE, {MPI_BYTE}},
        {(char)-1 < 0 ? LMPI_SIGNED : LMPI_UNSIGNED, {MPI_CHAR}}, /* both MPIs reduce it, and programs rely on that */
        {LMPI_TEXT, {MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}},
        {LMPI_FLOAT_INT, {MPI_FLOAT_INT}},
        {LMPI_DOUBLE_INT, {MPI_DOUBLE_INT}},
        {LMPI_LONG_INT, {MPI_LONG_INT}},
        {LMPI_SHORT_INT, {MPI_SHORT_INT}},
        {LMPI_INT_INT, {MPI_2INT, MPI_2INTEGER}},
        {LMPI_LONG_DOUBLE_INT, {MPI_LONG_DOUBLE_INT}},
        {LMPI_REAL_REAL, {MPI_2REAL, MPI_2DOUBLE_PRECISION}},
#ifdef MPI_LOGICAL1 /* of MPI 5, and Open MPI's own before */
        {LMPI_LOGICAL, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8}},
#endif
#ifdef MPI_LOGICAL16
        {LMPI_LOGICAL, {MPI_LOGICAL16}},
#endif
#ifdef MPI_INTEGER16
        {LMPI_SIGNED, {MPI_INTEGER16}},
#endif
#ifdef MPI_REAL2
        {LMPI_FLOATING, {MPI_REAL2}},
#endif
#ifdef MPI_COMPLEX4
        {LMPI_COMPLEX, {MPI_COMPLEX4}},
#endif
#ifdef MPI_REAL16
        {LMPI_QUAD, {MPI_REAL16}},
#endif
#ifdef MPI_COMPLEX32
        {LMPI_QUAD_COMPLEX, {MPI_COMPLEX32}},
#endif
#ifdef MPIX_C_FLOAT16 /* MPICH's own */
        {LMPI_FLOATING, {MPIX_C_FLOAT16}},
#endif
#ifdef MPIX_BFLOAT16
        {LMPI_BFLOAT, {MPIX_BFLOAT16}},
#endif
    };
    bool good = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_attribute, &key, 0) == MPI_SUCCESS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && good; i++)
        for (const MPI_Datatype *type = rows[i].type; *type && good; type++)
            good = add_predefined(*type, rows[i].kind);
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

/* Each thread keeps the last derived type: the MPI finds an attribute under a lock. */
const struct lmpi_type *lmpi_type_slow(MPI_Datatype type)
{
    static _Thread_local struct lmpi_last_type last;
    static _Thread_local uint64_t last_age;
    const uint64_t age = __atomic_load_n(&derived_age, __ATOMIC_ACQUIRE); /* release: delete_attribute */
    if (last_age == age && last.type == type)
        return last.known;
    const struct lmpi_type *known = lmpi_type_part(type);
    if (!known || known == lmpi_last_type.known)
        return known;
    if (!is_committed(type, known))
        return 0;
    last = (struct lmpi_last_type){type, known};
    last_age = age;
    return known;
}

void lmpi_type_span(const struct lmpi_type *type, size_t count, MPI_Aint *low, MPI_Aint *high)
{
    MPI_Aint last = count ? (MPI_Aint)(count - 1) * type->extent : 0;
    *low = count ? type->low + (last < 0 ? last : 0) : 0;
    *high = count ? type->high + (last > 0 ? last : 0) : 0;
}
