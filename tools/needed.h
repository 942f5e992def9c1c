/* The shared libraries that an ELF file names as needed, read from the files: nothing of the program is run.
 *
 * One thread. */
#ifndef TOOLS_NEEDED_H
#define TOOLS_NEEDED_H

#include <stdbool.h>
#include <stddef.h>

enum needed_kind {
    NEEDED_ABSENT,  /* the file cannot be read */
    NEEDED_FOREIGN, /* not an ELF file of this machine's word size */
    NEEDED_STATIC,  /* an executable without shared libraries */
    NEEDED_DYNAMIC
};

/* Calls `take` with the name of each needed library of the file (DT_NEEDED) and of the libraries behind it, each once,
 * nearest first, until it returns true. `path` is where the dynamic linker would find that library, or null. Returns
 * what the file is; *taken tells whether `take` has returned true. The search knows LD_LIBRARY_PATH, DT_RPATH,
 * DT_RUNPATH, $ORIGIN, the cache of ldconfig and the usual folders. */
enum needed_kind needed_walk(const char *file, bool (*take)(const char *name, const char *path, void *state),
                             void *state, bool *taken);

#endif
