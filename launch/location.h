/* Locations in the code and the data of a PE: the file, the function, the source line. One thread. */
#ifndef LAUNCH_LOCATION_H
#define LAUNCH_LOCATION_H

#include "base/elf.h"

#include <sys/types.h>

#define LOCATION_TEXT 320 /* bytes of a place's text, at most */

/* A place that is the same for all PEs that run the same file, wherever it is mapped. */
struct code_location {
    const struct elf *elf; /* null: no file is mapped there */
    uint64_t address;
};

/* The files that a process has mapped. */
struct maps {
    struct map {
        uint64_t start, end, offset;
        const struct elf *elf;
    } * map;
    size_t count;
    const struct elf *program; /* the file that the process runs; null: not known */
    uint64_t shift;            /* from the program's symbols to its memory */
};

/* Reads the maps of a process; an ended one has none. */
void maps_read(struct maps *maps, pid_t pid);
void maps_free(struct maps *maps);

struct code_location code_location_of(const struct maps *maps, uint64_t address);

/* Writes the name that a program calls for that of a function: shmem_ and MPI_ have aliases with a p in front, the function of a call
 * without types is lat_, and a compiler names the rare part of a function "name.cold". */
void location_call(const char *name, char *text, size_t room);

/* Writes "flag" or "flag + 8 bytes" for a variable of the program, or of the file that has called: an emulator's process runs another program.
 * Returns false when there is none around. */
bool location_variable(const struct maps *maps, uint64_t caller, uint64_t address, char *text, size_t room);

/* Writes "file.c:12" for a return address, or "function" with its file where no source line is known: then returns false. It runs the
 * addr2line or llvm-symbolizer of the system, once for each place. */
bool location_line(struct code_location place, char *text, size_t room);

/* Writes where the main thread of the process is, for which it halts it for a moment: "file.c:12", or "file.c:12, in read" where it has called
 * something without lines, or "function + 0x12 (file)". Writes nothing when the system does not allow to look. */
void halt_where(pid_t pid, char *text, size_t room);

#endif
