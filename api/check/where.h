/* Places of the program: where it has called, as numbers that all PEs understand, and as "file.c:12".
 *
 * Any thread. */
#ifndef CHECK_WHERE_H
#define CHECK_WHERE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the place of a return address: its offset in the program's file, equal in all PEs that run the same file; 0 when
 * it lies in another file. */
uint64_t where_of(const void *address);

/* Writes "file.c:12", or the offset where addr2line knows no line; "" for place 0. Starts a process. */
void where_write(uint64_t place, char *text, size_t room);
/* The same behind " at ". */
void where_write_at(uint64_t place, char *text, size_t room);

#endif
