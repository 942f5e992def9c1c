/* Finds the MPI's own functions when the library is loaded. */
#include "mpi/core/real.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct lmpi_real lmpi_real;

static void *find_behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "lateral-mpi: the MPI behind this library lacks %s; is it " LMPI_MPI "?\n", name);
        abort();
    }
    return found;
}

/* Before the program's own constructors, which may call MPI. */
__attribute__((constructor(101))) static void find_all(void)
{
#define LMPI_ROW(name) lmpi_real.name = (__typeof__(lmpi_real.name))find_behind("PMPI_" #name);
#include "mpi/core/taken.def"
#undef LMPI_ROW
}
