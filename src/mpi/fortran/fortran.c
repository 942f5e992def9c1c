/* MPI_WIN_GET_ATTR and MPI_WIN_SET_ATTR of Fortran. Neither MPI's go through a C function that this library takes over, and Fortran gets
 * values where C gets addresses of values. */
#include "mpi/core/real.h"
#include "mpi/window/window.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MPI_ABI
/* Stores a predefined attribute of a window of ours. Returns false when it is not one. */
static bool get_value(MPI_Win win, int key, MPI_Aint *value)
{
    const struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return false;
    switch (key) {
    case MPI_WIN_BASE: *value = (MPI_Aint)window->base; return true;
    case MPI_WIN_SIZE: *value = window->bytes; return true;
    case MPI_WIN_DISP_UNIT: *value = window->unit; return true;
    case MPI_WIN_CREATE_FLAVOR: *value = window->flavor; return true;
    case MPI_WIN_MODEL: *value = window->model; return true;
    }
    return false;
}

static void *find_behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "lateral-mpi: the MPI behind this library lacks %s\n", name);
        abort();
    }
    return found;
}

#endif

#ifdef OPEN_MPI

#define UNKNOWN_KEY (-1)

/* Fortran's names of the predefined keys are numbers of their own. */
static int key_of(MPI_Fint key)
{
    static const int keys[] = {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key == (MPI_Fint)keys[i])
            return keys[i];
    return UNKNOWN_KEY;
}

typedef void fortran_get(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error);

LMPI_EXPORT fortran_get mpi_win_get_attr_;
void mpi_win_get_attr_(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error)
{
    static fortran_get *behind;
    if (key_of(*key) == UNKNOWN_KEY || !get_value(PMPI_Win_f2c(*win), key_of(*key), value)) {
        if (!behind)
            behind = (fortran_get *)find_behind("pmpi_win_get_attr_");
        behind(win, key, value, flag, error);
        return;
    }
    *flag = 1; /* .TRUE. of gfortran, as Open MPI was built */
    if (error)
        *error = MPI_SUCCESS;
}

/* A compiler's names of a function, and PMPI's. */
#define FORTRAN_NAME(type, name, target) LMPI_EXPORT extern type name __attribute__((alias(#target)))
#define FORTRAN_NAMES(type, lower, upper, target) \
    FORTRAN_NAME(type, mpi_##lower, target);      \
    FORTRAN_NAME(type, mpi_##lower##__, target);  \
    FORTRAN_NAME(type, MPI_##upper, target);      \
    FORTRAN_NAME(type, pmpi_##lower##_, target);  \
    FORTRAN_NAME(type, pmpi_##lower, target);     \
    FORTRAN_NAME(type, pmpi_##lower##__, target); \
    FORTRAN_NAME(type, PMPI_##upper, target)
FORTRAN_NAMES(fortran_get, win_get_attr, WIN_GET_ATTR, mpi_win_get_attr_);

typedef void fortran_set(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *error);

LMPI_EXPORT fortran_set mpi_win_set_attr_;
void mpi_win_set_attr_(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *error)
{
    static fortran_set *behind;
    lmpi_window_mark(PMPI_Win_f2c(*win));
    if (!behind)
        behind = (fortran_set *)find_behind("pmpi_win_set_attr_");
    behind(win, key, value, error);
}
FORTRAN_NAMES(fortran_set, win_set_attr, WIN_SET_ATTR, mpi_win_set_attr_);
FORTRAN_NAME(fortran_set, ompi_win_set_attr_f, mpi_win_set_attr_); /* of the module mpi_f08 */

#elif !defined MPI_ABI /* Fortran has no part in the binary interface of MPI 5 */

/* MPICH's Fortran bindings call this function of its library. `kind` says what `value` points to. */
enum { POINTER = 0, ADDRESS = 1, FORTRAN_INTEGER = 3 };

LMPI_EXPORT int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int kind);
int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int kind)
{
    static __typeof__(&MPII_Win_get_attr) behind;
    MPI_Aint number;
    /* MPICH's MPI_Win_get_attr comes here too, with POINTER, after ours. Fortran's keys are C's plus one. */
    if (kind == POINTER || (!get_value(win, key, &number) && !get_value(win, key - 1, &number))) {
        if (!behind)
            behind = (__typeof__(behind))find_behind("MPII_Win_get_attr");
        return behind(win, key, value, flag, kind);
    }
    if (kind == FORTRAN_INTEGER)
        *(MPI_Fint *)value = (MPI_Fint)number;
    else
        *(MPI_Aint *)value = number;
    *flag = 1;
    return MPI_SUCCESS;
}

LMPI_EXPORT int MPII_Win_set_attr(MPI_Win win, int key, void *value, int kind);
int MPII_Win_set_attr(MPI_Win win, int key, void *value, int kind)
{
    static __typeof__(&MPII_Win_set_attr) behind;
    lmpi_window_mark(win);
    if (!behind)
        behind = (__typeof__(behind))find_behind("MPII_Win_set_attr");
    return behind(win, key, value, kind);
}

#endif
