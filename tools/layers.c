#include "layers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MPICH's name is libmpich on Debian and libmpi.so.12 elsewhere; libraries that keep its binary interface (Intel MPI,
 * MVAPICH) have the latter too. Open MPI has 40 since its version 3.
 * MPI 5 names its common binary interface. */
static const struct {
    const char *soname, *mpi;
} layers[] = {
    {"libmpi.so.40", "openmpi"},
    {"libmpich.so.12", "mpich"},
    {"libmpi.so.12", "mpich"},
    {"libmpi_abi.so.1", "abi"},
};
static const char *const names[] = {"openmpi", "mpich", "abi", 0};

const char *layer_of_library(const char *soname)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (strcmp(layers[i].soname, soname) == 0)
            return layers[i].mpi;
    return 0;
}

const char *layer_name(int i)
{
    return names[i];
}

bool layer_is_name(const char *text)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return true;
    return false;
}

bool layer_beside(const char *name, char *path, size_t bytes)
{
    char self[PATH_MAX], joined[2 * PATH_MAX], whole[PATH_MAX];
    if (!realpath("/proc/self/exe", self))
        return false;
    snprintf(joined, sizeof joined, "%.*s%s", (int)(strrchr(self, '/') + 1 - self), self, name);
    return realpath(joined, whole) && (size_t)snprintf(path, bytes, "%s", whole) < bytes;
}

/* Finds a library whose name ends in that of the MPI, in the folder of Lateral's libraries. */
static bool find_library(const char *begin, const char *mpi, char *path, size_t bytes)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, LATERAL_LIB_FROM_BIN "/%s-%s.so", begin, mpi);
    return layer_beside(name, path, bytes);
}

bool layer_find(const char *mpi, char *path, size_t bytes)
{
    return find_library("liblateral-mpi", mpi, path, bytes);
}

bool layer_find_stats(const char *mpi, char *path, size_t bytes)
{
    return find_library("liblateral-stats-mpi", mpi, path, bytes);
}

const char *layer_list(char *list, size_t bytes)
{
    char path[PATH_MAX];
    size_t used = 0;
    snprintf(list, bytes, "none");
    for (int i = 0; names[i]; i++)
        if (layer_find(names[i], path, sizeof path) && used < bytes)
            used += (size_t)snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", names[i]);
    return list;
}
