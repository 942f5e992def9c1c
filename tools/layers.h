/* The MPI layers of this installation: liblateral-mpi-NAME.so beside liblateral. */
#ifndef TOOLS_LAYERS_H
#define TOOLS_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the name of the MPI that a library belongs to by its SONAME, or null. */
const char *layer_of_library(const char *soname);

/* Tells whether a text is the name of an MPI that may have a layer. */
bool layer_is_name(const char *text);

/* The i-th name, or null behind the last. */
const char *layer_name(int i);

/* Writes the path of the layer for an MPI. Returns false when it is not installed. */
bool layer_find(const char *mpi, char *path, size_t bytes);

/* Like layer_find, for the library that counts what a program of the MPI does. */
bool layer_find_stats(const char *mpi, char *path, size_t bytes);

/* Writes the path of a file by its name from the folder of this program. Returns false when it is not there. */
bool layer_beside(const char *name, char *path, size_t bytes);

/* Writes the names of the layers that are installed, or "none". Returns `names`. */
const char *layer_list(char *names, size_t bytes);

#endif
