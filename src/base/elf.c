#include "base/elf.h"

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
    static struct elf *all, unreadable = {.path = (char *)""};
    for (struct elf *elf = all; elf; elf = elf->next)
        if (strcmp(elf->path, path) == 0)
            return elf;
    struct elf *elf = calloc(1, sizeof *elf);
    if (!elf || !(elf->path = strdup(path))) {
        free(elf);
        return &unreadable;
    }
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

const void *elf_memory(const struct elf *elf, uint64_t address, uint64_t *bytes)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Phdr *load = head ? elf_part(elf, head->e_phoff, head->e_phnum, sizeof *load) : NULL;
    for (int i = 0; load && i < head->e_phnum; i++)
        if (load[i].p_type == PT_LOAD && address - load[i].p_vaddr < load[i].p_filesz) {
            const uint64_t inside = address - load[i].p_vaddr, at = load[i].p_offset + inside;
            *bytes = load[i].p_filesz - inside;
            return at <= elf->size && *bytes <= elf->size - at ? elf->bytes + at : NULL;
        }
    return NULL;
}

/* Returns the part of this type, or null. */
static const Elf64_Phdr *part_of_type(const struct elf *elf, uint32_t type)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Phdr *part = head ? elf_part(elf, head->e_phoff, head->e_phnum, sizeof *part) : NULL;
    for (int i = 0; part && i < head->e_phnum; i++)
        if (part[i].p_type == type)
            return &part[i];
    return NULL;
}

bool elf_is_of_machine(const struct elf *elf)
{
#if defined __x86_64__
    const int machine = EM_X86_64;
#elif defined __aarch64__
    const int machine = EM_AARCH64;
#else
    const int machine = EM_NONE;
#endif
    return head_of(elf) && (machine == EM_NONE || head_of(elf)->e_machine == machine);
}

bool elf_is_dynamic(const struct elf *elf)
{
    return part_of_type(elf, PT_DYNAMIC) != NULL;
}

/* Returns the text at an address, or null when the file ends before it does. */
static const char *text_at(const struct elf *elf, uint64_t address)
{
    uint64_t bytes;
    const char *text = elf_memory(elf, address, &bytes);
    return text && memchr(text, 0, bytes) ? text : NULL;
}

const char *elf_interpreter(const struct elf *elf)
{
    const Elf64_Phdr *part = part_of_type(elf, PT_INTERP);
    return part ? text_at(elf, part->p_vaddr) : NULL;
}

bool elf_needs(const struct elf *elf, const char *front)
{
    const Elf64_Phdr *part = part_of_type(elf, PT_DYNAMIC);
    uint64_t count = part ? part->p_filesz / sizeof(Elf64_Dyn) : 0, strings = 0;
    const Elf64_Dyn *entry = part ? elf_part(elf, part->p_offset, count, sizeof *entry) : NULL;
    for (uint64_t i = 0; entry && i < count; i++)
        if (entry[i].d_tag == DT_STRTAB)
            strings = entry[i].d_un.d_ptr;
    for (uint64_t i = 0; entry && i < count; i++) {
        const char *name = entry[i].d_tag == DT_NEEDED ? text_at(elf, strings + entry[i].d_un.d_val) : NULL;
        if (name && strncmp(name, front, strlen(front)) == 0)
            return true;
    }
    return false;
}

uint64_t elf_frame_table(const struct elf *elf)
{
    const Elf64_Phdr *part = part_of_type(elf, PT_GNU_EH_FRAME);
    return part ? part->p_vaddr : 0;
}

static const char *name_in(const struct elf *elf, const Elf64_Shdr *strings, uint32_t at)
{
    if (strings->sh_offset > elf->size || strings->sh_size > elf->size - strings->sh_offset || at >= strings->sh_size)
        return NULL;
    const char *name = elf->bytes + strings->sh_offset + at;
    return memchr(name, 0, strings->sh_size - at) ? name : NULL;
}

uint64_t elf_frames(const struct elf *elf, uint64_t *bytes)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Shdr *section = head ? elf_part(elf, head->e_shoff, head->e_shnum, sizeof *section) : NULL;
    for (int i = 0; section && head->e_shstrndx < head->e_shnum && i < head->e_shnum; i++) {
        const char *name = name_in(elf, &section[head->e_shstrndx], section[i].sh_name);
        *bytes = section[i].sh_size;
        if (name && strcmp(name, ".eh_frame") == 0)
            return section[i].sh_addr;
    }
    return 0;
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

static const char *find_symbol(const struct elf *elf, int type, uint64_t address, uint64_t *start)
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
    return find_symbol(elf, STT_FUNC, address, start);
}

const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start)
{
    return find_symbol(elf, STT_OBJECT, address, start);
}

static bool defines(const struct elf *elf, const Elf64_Shdr *table, const Elf64_Shdr *strings, const char *name)
{
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbol = elf_part(elf, table->sh_offset, count, sizeof *symbol);
    for (uint64_t i = 0; symbol && i < count; i++) {
        const char *own = symbol[i].st_shndx != SHN_UNDEF ? name_in(elf, strings, symbol[i].st_name) : NULL;
        if (own && strcmp(own, name) == 0)
            return true;
    }
    return false;
}

bool elf_exports(const struct elf *elf, const char *name)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Shdr *section = head ? elf_part(elf, head->e_shoff, head->e_shnum, sizeof *section) : NULL;
    for (int i = 0; section && i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_DYNSYM && section[i].sh_link < head->e_shnum &&
            defines(elf, &section[i], &section[section[i].sh_link], name))
            return true;
    return false;
}
