/* Says what lies at an address of this process, for the line about an argument that is not symmetric. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes what the address is and what to use in its place, such as "`table` is a variable of libfoo.so, and those of shared
 * libraries are not shared; link that library statically, or use shmem_malloc". Returns true when it is a variable of the
 * executable, for which the caller knows why it is not shared. Any thread; it may allocate. */
bool address_describe(const void *address, char *text, size_t room);

#endif
