/* Parts of the library that need other libraries: liblateral-NAME.so, loaded when they are wanted. */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

/* A handle for dlsym, or null and why. Looked up beside this library, where it was to be installed, and
 * where the dynamic linker looks. Never unloaded. Any thread. */
void *module_open(const char *name, const char **why);

#endif
