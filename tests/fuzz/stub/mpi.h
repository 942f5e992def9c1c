/* As much of an MPI as src/mpi/flatten.c, contents.c and handles.c need. target_flatten.c fills it with types of its own. */
#ifndef TESTS_FUZZ_MPI_H
#define TESTS_FUZZ_MPI_H

#include <stdint.h>

typedef intptr_t MPI_Aint;
typedef long long MPI_Count;
typedef int MPI_Datatype; /* number of a type */
typedef int MPI_Comm;
typedef int MPI_Win; /* number of a window */
typedef int MPI_Info;
typedef int MPI_Group;
typedef int MPI_Op;
typedef int MPI_Request;

enum { MPI_SUCCESS, MPI_ERR_TYPE, MPI_COMM_SELF, MPI_ORDER_C, MPI_ORDER_FORTRAN, MPI_INFO_NULL };
enum { MPI_DISTRIBUTE_NONE = 1, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG = -1 };
enum {
    MPI_ERR_ARG = 20,
    MPI_ERR_DISP,
    MPI_ERR_NO_MEM,
    MPI_ERR_RANK,
    MPI_ERR_RMA_ATTACH,
    MPI_ERR_SIZE,
    MPI_ERR_WIN,
    MPI_UNDEFINED,
    MPI_DATATYPE_NULL = -1,
};
enum {
    MPI_COMBINER_NAMED,
    MPI_COMBINER_DUP,
    MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR,
    MPI_COMBINER_HVECTOR,
    MPI_COMBINER_INDEXED,
    MPI_COMBINER_HINDEXED,
    MPI_COMBINER_INDEXED_BLOCK,
    MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_STRUCT,
    MPI_COMBINER_SUBARRAY,
    MPI_COMBINER_RESIZED,
    MPI_COMBINER_DARRAY,
    MPI_COMBINER_F90_INTEGER,
    MPI_COMBINER_F90_REAL,
    MPI_COMBINER_F90_COMPLEX
};

int PMPI_Type_get_envelope(MPI_Datatype type, int *numbers, int *places, int *types, int *combiner);
int PMPI_Type_get_contents(MPI_Datatype type, int most_numbers, int most_places, int most_types, int *numbers,
                           MPI_Aint *places, MPI_Datatype *types);
int PMPI_Type_size(MPI_Datatype type, int *size);
int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint *low, MPI_Aint *extent);
int PMPI_Type_free(MPI_Datatype *type);

#endif
