/* Source lines, by the addr2line, eu-addr2line or llvm-symbolizer that is in PATH. One thread. */
#ifndef LAUNCH_SYMBOLIZER_H
#define LAUNCH_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "file.c:12". Returns false when the file has no line there, when no tool is installed, or when the tool takes
 * longer than some seconds. */
bool symbolizer_line(const char *path, uint64_t address, char *text, size_t room);

#endif
