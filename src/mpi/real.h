/* The MPI's own functions behind the names that this library takes over.
 *
 * The library defines MPI_X and PMPI_X of every X in LMPI_TAKEN. Open MPI's Fortran calls the PMPI_ names alone, and
 * MPICH's mixes both, so both lead here. The library finds the MPI's own ones behind its own (dlsym, RTLD_NEXT). All other
 * PMPI_ functions it calls by their names.
 *
 * LMPI_NAME(X) makes PMPI_X the same function as MPI_X; it stands behind the definition. */
#ifndef MPI_REAL_H
#define MPI_REAL_H

#include <mpi.h>

/* The large-count forms of MPI 4. */
#if MPI_VERSION >= 4
#define LMPI_TAKEN_LARGE(X)  \
    X(Win_create_c)          \
    X(Win_allocate_c)        \
    X(Win_allocate_shared_c) \
    X(Win_shared_query_c)    \
    X(Put_c) X(Get_c) X(Rput_c) X(Rget_c) X(Accumulate_c) X(Raccumulate_c) X(Get_accumulate_c) X(Rget_accumulate_c)
#else
#define LMPI_TAKEN_LARGE(X)
#endif

#define LMPI_TAKEN(X)                                                                                             \
    X(Init)                                                                                                       \
    X(Init_thread)                                                                                                \
    X(Win_create)                                                                                                 \
    X(Win_allocate)                                                                                               \
    X(Win_allocate_shared)                                                                                        \
    X(Win_create_dynamic)                                                                                         \
    X(Win_attach)                                                                                                 \
    X(Win_detach)                                                                                                 \
    X(Alloc_mem)                                                                                                  \
    X(Free_mem)                                                                                                   \
    X(Win_set_info)                                                                                               \
    X(Win_get_info)                                                                                               \
    X(Win_shared_query)                                                                                           \
    X(Win_free)                                                                                                   \
    X(Win_get_group)                                                                                              \
    X(Win_get_attr)                                                                                               \
    X(Put)                                                                                                        \
    X(Get)                                                                                                        \
    X(Rput)                                                                                                       \
    X(Rget)                                                                                                       \
    X(Accumulate)                                                                                                 \
    X(Raccumulate)                                                                                                \
    X(Get_accumulate)                                                                                             \
    X(Rget_accumulate)                                                                                            \
    X(Fetch_and_op)                                                                                               \
    X(Compare_and_swap)                                                                                           \
    LMPI_TAKEN_LARGE(X) X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) X(Win_wait) X(Win_test) X(Win_lock) \
        X(Win_lock_all) X(Win_unlock) X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local)          \
            X(Win_flush_local_all) X(Win_sync)

struct lmpi_real {
#define LMPI_MEMBER(name) __typeof__(&PMPI_##name) name;
    LMPI_TAKEN(LMPI_MEMBER)
#undef LMPI_MEMBER
};

/* Constant from the time when the library is loaded. */
extern struct lmpi_real lmpi_real;

#define LMPI_EXPORT __attribute__((visibility("default")))
#define LMPI_NAME(name) \
    extern __typeof__(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")))

#endif
