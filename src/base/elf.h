/* What an ELF file tells: names of functions and variables, and the linker that it asks for. Any thread. */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
    char *path;
    const char *bytes; /* the file, mapped; null: it cannot be read, and nothing is found in it */
    size_t size;
    struct elf *next;
};

/* Returns the file of this path, which stays open; one that cannot be read without memory; never null. */
struct elf *elf_open(const char *path);

/* Translates a place in the file into the address that its symbols use. Returns false when no loaded part has it. */
bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *address);

/* Returns whether the file is for this machine's processor and word size. */
bool elf_is_of_machine(const struct elf *elf);

/* Returns whether it has a table for the dynamic linker; the linker that it names, or null; and whether a library whose name
 * begins so is in that table. */
bool elf_is_dynamic(const struct elf *elf);
const char *elf_interpreter(const struct elf *elf);
bool elf_needs(const struct elf *elf, const char *front);

/* Returns the contents at an address as the file has them, and how many bytes follow; null when it has none there. */
const void *elf_memory(const struct elf *elf, uint64_t address, uint64_t *bytes);

/* Returns the address of the sorted table of frames (.eh_frame_hdr), or of the frames themselves (.eh_frame) and their bytes;
 * 0 when there is none. */
uint64_t elf_frame_table(const struct elf *elf);
uint64_t elf_frames(const struct elf *elf, uint64_t *bytes);

/* Returns the name of the function or the variable around an address, and where it begins; null when there is none. */
const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start);
const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start);

/* Like elf_variable, for the thread-local variable around an offset in the file's block of such variables. */
const char *elf_thread_variable(const struct elf *elf, uint64_t offset, uint64_t *start);

/* Stores where the variables of a file that is not stripped lie, up to `room` of them. Returns how many there are. */
struct elf_extent {
    uint64_t start, end;
};
size_t elf_extents(const struct elf *elf, struct elf_extent *extents, size_t room);

/* Returns whether the file defines a symbol of this name for others. */
bool elf_exports(const struct elf *elf, const char *name);

#endif
