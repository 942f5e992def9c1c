/* Places of the program: where it has called, as numbers that all PEs understand, and as "file.c:12".
 *
 * Any thread. */
#ifndef BASE_WHERE_H
#define BASE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the place of a return address: its offset in the program's file, equal in all PEs that run the same file; 0 when
 * it lies in another file. */
uint64_t where_of(const void *address);

/* Returns the return address into the program behind `from`, one of the calling thread, where that lies in a wrapper of Fortran or in the
 * MPI's library; else `from`. */
const void *where_behind_wrappers(const void *from);

/* Writes "file.c:12" for a place, or its function where no line is known; "" for place 0. Starts a process. */
void where_write(uint64_t place, char *text, size_t room);
/* Writes " at " and what where_write writes. */
void where_write_at(uint64_t place, char *text, size_t room);

/* Writes the place from which the calling thread has called the library: that of the innermost caller outside of it. Returns
 * false when there is none. Starts a process; for a thread that ends the job. */
bool where_called(char *text, size_t room);

/* Writes "flag", or "flag + 0x8", for the address of a variable of the program. Returns false when there is none. */
bool where_variable(const void *address, char *text, size_t room);

/* Stores where the variable of the program around an address begins, and its bytes. Returns false when none is known there. */
bool where_extent(const void *address, uintptr_t *start, size_t *bytes);

/* Returns whether a function of this name is the library's: for programs that it is linked into statically. */
bool where_is_library_name(const char *name);
/* Returns whether it is one that is linked into every program of its language, between the program's lines and the library. */
bool where_is_wrapper_name(const char *name);
/* Returns whether a file is a library of Lateral or of an MPI, whose Fortran calls come through it. */
bool where_is_library_file(const char *path);

/* Source lines, by the addr2line, eu-addr2line or llvm-symbolizer that is in PATH. One thread at a time. */

/* Writes "file.c:12" for an address of a file's symbols, else "function + 0x12 (file)", else "file + 0x1234". Returns true when it has
 * written a source line. */
bool symbolizer_place(const char *path, uint64_t address, char *text, size_t room);

/* Writes a symbol as its source has it, without what a compiler has put behind a point; C++'s as "app::flag", where a C++ library can be
 * loaded to read it. Returns `text`. */
const char *symbolizer_name(const char *symbol, char *text, size_t room);

#endif
