/* Source lines, by the addr2line, eu-addr2line or llvm-symbolizer that is in PATH. One thread at a time. */
#ifndef BASE_SYMBOLIZER_H
#define BASE_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "file.c:12" for an address of a file's symbols, else "function + 0x12 (file)", else "file + 0x1234". Returns true when it has
 * written a source line. */
bool symbolizer_place(const char *path, uint64_t address, char *text, size_t room);

/* Writes a symbol as its source has it, without what a compiler has put behind a point; C++'s as "app::flag", where a C++ library can be
 * loaded to read it. Returns `text`. */
const char *symbolizer_name(const char *symbol, char *text, size_t room);

#endif
