#include "elf.h"

#include "message.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every table is used only after it was found to lie within the file, which may be damaged. */
static const void *elf_part(const struct elf *elf, uint64_t at, uint64_t count, uint64_t each)
{
    if (at % _Alignof(uint64_t) != 0 || at > elf->size || (each && count > (elf->size - at) / each))
        return NULL;
    return elf->bytes + at;
}

static const Elf64_Ehdr *head_of(const struct elf *elf)
{
    const Elf64_Ehdr *head =
        elf->bytes && elf->size >= sizeof *head ? (const Elf64_Ehdr *)(const void *)elf->bytes : NULL;
    bool good = head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64;
    return good ? head : NULL;
}

static void map_elf(struct elf *elf)
{
    struct stat info;
    int fd = open(elf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        elf->bytes = bytes == MAP_FAILED ? NULL : bytes;
        elf->size = elf->bytes ? (size_t)info.st_size : 0;
    }
    if (fd >= 0)
        close(fd);
}

struct elf *elf_open(const char *path)
{
    static struct elf *all;
    for (struct elf *elf = all; elf; elf = elf->next)
        if (strcmp(elf->path, path) == 0)
            return elf;
    struct elf *elf = say_if_null(calloc(1, sizeof *elf));
    elf->path = say_if_null(strdup(path));
    elf->next = all;
    all = elf;
    map_elf(elf);
    return elf;
}

bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *address)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Phdr *load = head ? elf_part(elf, head->e_phoff, head->e_phnum, sizeof *load) : NULL;
    for (int i = 0; load && i < head->e_phnum; i++)
        if (load[i].p_type == PT_LOAD && offset - load[i].p_offset < load[i].p_filesz) {
            *address = offset - load[i].p_offset + load[i].p_vaddr;
            return true;
        }
    return false;
}

/* Returns the symbol of this type around an address in one table, or null. Of several, one with a size is right. */
static const Elf64_Sym *find_in(const struct elf *elf, const Elf64_Shdr *table, int type, uint64_t address)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbol = elf_part(elf, table->sh_offset, count, sizeof *symbol);
    for (uint64_t i = 0; symbol && i < count; i++)
        if (ELF64_ST_TYPE(symbol[i].st_info) == type && symbol[i].st_shndx != SHN_UNDEF &&
            address - symbol[i].st_value < symbol[i].st_size)
            return &symbol[i];
    return NULL;
}

static const char *name_in(const struct elf *elf, const Elf64_Shdr *strings, uint32_t at)
{
    if (strings->sh_offset > elf->size || strings->sh_size > elf->size - strings->sh_offset || at >= strings->sh_size)
        return NULL;
    const char *name = elf->bytes + strings->sh_offset + at;
    return memchr(name, 0, strings->sh_size - at) ? name : NULL;
}

static const char *find(const struct elf *elf, int type, uint64_t address, uint64_t *start)
{
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Shdr *section = head ? elf_part(elf, head->e_shoff, head->e_shnum, sizeof *section) : NULL;
    for (int t = 0; section && t < 2; t++)
        for (int i = 0; i < head->e_shnum; i++) {
            if (section[i].sh_type != tables[t] || section[i].sh_link >= head->e_shnum)
                continue;
            const Elf64_Sym *symbol = find_in(elf, &section[i], type, address);
            const char *name = symbol ? name_in(elf, &section[section[i].sh_link], symbol->st_name) : NULL;
            if (!name)
                continue;
            *start = symbol->st_value;
            return name;
        }
    return NULL;
}

const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start)
{
    return find(elf, STT_FUNC, address, start);
}

const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start)
{
    return find(elf, STT_OBJECT, address, start);
}
