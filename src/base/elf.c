#include "base/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
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

/* Under the lock of the list. */
static struct elf *find_elf(struct elf **all, const char *path)
{
    static struct elf unreadable = {.path = (char *)""};
    for (struct elf *elf = *all; elf; elf = elf->next)
        if (strcmp(elf->path, path) == 0)
            return elf;
    struct elf *elf = calloc(1, sizeof *elf);
    if (!elf || !(elf->path = strdup(path))) {
        free(elf);
        return &unreadable;
    }
    elf->next = *all;
    *all = elf;
    map_elf(elf);
    return elf;
}

struct elf *elf_open(const char *path)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct elf *all;
    pthread_mutex_lock(&lock);
    struct elf *elf = find_elf(&all, path);
    pthread_mutex_unlock(&lock);
    return elf;
}

/* Returns the first of the parts that the program's table lists, and how many there are. */
static const Elf64_Phdr *parts_of(const struct elf *elf, int *count)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Phdr *part = head ? elf_part(elf, head->e_phoff, head->e_phnum, sizeof *part) : NULL;
    *count = part ? head->e_phnum : 0;
    return part;
}

static const Elf64_Shdr *sections_of(const struct elf *elf, int *count)
{
    const Elf64_Ehdr *head = head_of(elf);
    const Elf64_Shdr *section = head ? elf_part(elf, head->e_shoff, head->e_shnum, sizeof *section) : NULL;
    *count = section ? head->e_shnum : 0;
    return section;
}

bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *address)
{
    int count;
    const Elf64_Phdr *load = parts_of(elf, &count);
    for (; count; count--, load++)
        if (load->p_type == PT_LOAD && offset - load->p_offset < load->p_filesz) {
            *address = offset - load->p_offset + load->p_vaddr;
            return true;
        }
    return false;
}

const void *elf_memory(const struct elf *elf, uint64_t address, uint64_t *bytes)
{
    int count;
    const Elf64_Phdr *load = parts_of(elf, &count);
    for (; count; count--, load++)
        if (load->p_type == PT_LOAD && address - load->p_vaddr < load->p_filesz) {
            const uint64_t inside = address - load->p_vaddr, at = load->p_offset + inside;
            *bytes = load->p_filesz - inside;
            return at <= elf->size && *bytes <= elf->size - at ? elf->bytes + at : NULL;
        }
    return NULL;
}

/* Returns the part of this type, or null. */
static const Elf64_Phdr *part_of_type(const struct elf *elf, uint32_t type)
{
    int count;
    const Elf64_Phdr *part = parts_of(elf, &count);
    while (count && part->p_type != type)
        count--, part++;
    return count ? part : NULL;
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
    int count;
    const Elf64_Shdr *section = sections_of(elf, &count);
    const int names = count ? head_of(elf)->e_shstrndx : 0;
    for (int i = 0; names < count && i < count; i++) {
        const char *name = name_in(elf, &section[names], section[i].sh_name);
        *bytes = section[i].sh_size;
        if (name && strcmp(name, ".eh_frame") == 0)
            return section[i].sh_addr;
    }
    return 0;
}

size_t elf_extents(const struct elf *elf, struct elf_extent *extents, size_t room)
{
    int sections;
    size_t found = 0;
    const Elf64_Shdr *section = sections_of(elf, &sections);
    for (int i = 0; i < sections; i++) {
        const uint64_t count = section[i].sh_type == SHT_SYMTAB ? section[i].sh_size / sizeof(Elf64_Sym) : 0;
        const Elf64_Sym *symbol = elf_part(elf, section[i].sh_offset, count, sizeof *symbol);
        for (uint64_t k = 0; symbol && k < count; k++)
            if (ELF64_ST_TYPE(symbol[k].st_info) == STT_OBJECT && symbol[k].st_size &&
                symbol[k].st_shndx != SHN_UNDEF) {
                if (found < room)
                    extents[found] = (struct elf_extent){symbol[k].st_value, symbol[k].st_value + symbol[k].st_size};
                found++;
            }
    }
    return found;
}

/* The symbol that somebody looks for: of a type, around an address; or a definition of a name. */
struct wanted {
    int type;
    uint64_t address;
    const char *name;
};

static bool is_near(const Elf64_Sym *symbol, const struct wanted *wanted)
{
    return symbol->st_shndx != SHN_UNDEF && (wanted->name || (ELF64_ST_TYPE(symbol->st_info) == wanted->type &&
                                                              wanted->address - symbol->st_value < symbol->st_size));
}

/* Returns the name of the first such symbol of the tables of this type, and where it begins; null when there is none. */
static const char *find_symbol(const struct elf *elf, uint32_t table, const struct wanted *wanted, uint64_t *start)
{
    int sections;
    const Elf64_Shdr *section = sections_of(elf, &sections);
    for (int i = 0; i < sections; i++) {
        if (section[i].sh_type != table || section[i].sh_link >= (uint32_t)sections)
            continue;
        const uint64_t count = section[i].sh_size / sizeof(Elf64_Sym);
        const Elf64_Sym *symbol = elf_part(elf, section[i].sh_offset, count, sizeof *symbol);
        for (uint64_t k = 0; symbol && k < count; k++) {
            const char *name =
                is_near(&symbol[k], wanted) ? name_in(elf, &section[section[i].sh_link], symbol[k].st_name) : NULL;
            if (!name || (wanted->name && strcmp(name, wanted->name) != 0))
                continue;
            *start = symbol[k].st_value;
            return name;
        }
    }
    return NULL;
}

/* Looks at all symbols, or at those for the loader where the file has been stripped. */
static const char *find_around(const struct elf *elf, int type, uint64_t address, uint64_t *start)
{
    const struct wanted wanted = {.type = type, .address = address};
    const char *name = find_symbol(elf, SHT_SYMTAB, &wanted, start);
    return name ? name : find_symbol(elf, SHT_DYNSYM, &wanted, start);
}

const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start)
{
    return find_around(elf, STT_FUNC, address, start);
}

const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start)
{
    return find_around(elf, STT_OBJECT, address, start);
}

const char *elf_thread_variable(const struct elf *elf, uint64_t offset, uint64_t *start)
{
    return find_around(elf, STT_TLS, offset, start);
}

bool elf_exports(const struct elf *elf, const char *name)
{
    uint64_t start;
    return find_symbol(elf, SHT_DYNSYM, &(struct wanted){.name = name}, &start) != NULL;
}
