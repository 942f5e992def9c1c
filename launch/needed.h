/* Where a shell finds a program, and its shared libraries, as the dynamic linker that it asks for lists them: nothing of the program
 * is run.
 *
 * One thread. */
#ifndef LAUNCH_NEEDED_H
#define LAUNCH_NEEDED_H

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 when the file, seen from directory dir, can be executed, else an errno value. */
int program_refusal(int dir, const char *path);

/* Finds a program as a shell does; a name without a slash is looked up in PATH. Stores the path, which the caller frees. Returns 0, or the
 * errno value of the failure that says most. */
int program_search(int dir, const char *name, char **found);

enum needed_kind {
    NEEDED_ABSENT,  /* the file cannot be read */
    NEEDED_FOREIGN, /* not an ELF file of this machine */
    NEEDED_STATIC,  /* an executable without shared libraries */
    NEEDED_DYNAMIC
};

/* Calls `take` with the name of each library of the file and of the libraries behind it, each once, nearest first, until it
 * returns true. `path` is where the dynamic linker finds that library, or null. Returns what the file is; *taken tells
 * whether `take` has returned true. */
enum needed_kind needed_walk(const char *file, bool (*take)(const char *name, const char *path, void *state),
                             void *state, bool *taken);

#endif
