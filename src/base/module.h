/* Parts of the library that need other libraries: liblateral-NAME.so, loaded when they are wanted. */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

/* Returns a handle for dlsym, or null and why. Looks beside this library (a static program: beside the program, and in
 * lib/ beside its folder), where it was to be installed, and where the dynamic linker looks. Nothing unloads it. Any
 * thread. */
void *module_open(const char *name, const char **why);

#endif
