/* Names of functions and variables, from the symbol tables of an ELF file. One thread. */
#ifndef LAUNCH_ELF_H
#define LAUNCH_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
    char *path;
    const char *bytes; /* the file, mapped; null: it cannot be read, and nothing is found in it */
    size_t size;
    struct elf *next;
};

/* Returns the file of this path, which stays open; never null. */
struct elf *elf_open(const char *path);

/* Translates a place in the file into the address that its symbols use. Returns false when no loaded part has it. */
bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *address);

/* Returns the name of the function or the variable around an address, and where it begins; null when there is none. */
const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start);
const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start);

#endif
