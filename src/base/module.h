/* Parts of the library that need other libraries: liblateral-NAME.so, loaded when wanted. */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

#include <limits.h>
#include <stdbool.h>

/* Returns a handle for dlsym, or null with the reason in *why. Looks beside this library (for a static program, beside
 * the program and in lib/ beside its folder), in the installation's library folder, and where the dynamic linker looks.
 * Nothing unloads it. Any thread. */
void *module_open(const char *name, const char **why);

/* Finds a program of this installation: in the bin folder that belongs to this library's folder. Returns false when it is not there.
 * Any thread. */
bool module_program(const char *name, char path[PATH_MAX]);

/* Returns a function of a library that the process has loaded already, or null. Any thread. */
void *module_symbol(const char *library, const char *symbol);

#endif
