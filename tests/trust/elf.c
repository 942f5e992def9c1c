/* The launcher's reader of ELF files: places and names at the edges of segments and symbols; and files that are cut, damaged, or of
 * another kind, in which it finds nothing. */
#include "launch/location.h"

#include "../launch/apart.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* A file with two segments, of which one is loaded, two functions and a variable. */
static struct image {
    Elf64_Ehdr head;
    Elf64_Phdr segment[2];
    Elf64_Shdr section[4]; /* two are used */
    Elf64_Sym symbol[4];
    char names[32];
} good;

enum { OFFSET = 0x100, VIRTUAL = 0x400100, SIZE = 0x80 };

static void fill(void)
{
    memcpy(good.head.e_ident, ELFMAG, SELFMAG);
    good.head.e_ident[EI_CLASS] = ELFCLASS64;
    good.head.e_phoff = offsetof(struct image, segment);
    good.head.e_phnum = 2;
    good.head.e_shoff = offsetof(struct image, section);
    good.head.e_shnum = 2;
    good.segment[0] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = 0x1000};
    good.segment[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = OFFSET, .p_vaddr = VIRTUAL, .p_filesz = SIZE};
    good.section[0] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                   .sh_offset = offsetof(struct image, symbol),
                                   .sh_size = sizeof good.symbol,
                                   .sh_link = 1};
    good.section[1] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = sizeof good.names};
    memcpy(good.names, "\0first\0second\0words\0gone", 25);
    good.symbol[0] =
        (Elf64_Sym){.st_name = 20, .st_info = STT_FUNC, .st_shndx = SHN_UNDEF, .st_value = 100, .st_size = 1000};
    good.symbol[1] = (Elf64_Sym){.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 200, .st_size = 10};
    good.symbol[2] = (Elf64_Sym){.st_name = 7, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 210, .st_size = 20};
    good.symbol[3] = (Elf64_Sym){.st_name = 14, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = 205, .st_size = 8};
}

/* The first so many bytes of an image as a file. The launcher keeps what it has opened under its path. */
static const struct elf *open_image(const struct image *image, size_t bytes)
{
    char path[] = "/tmp/lateral-elf.XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, image, bytes) == (ssize_t)bytes);
    close(fd);
    const struct elf *elf = elf_open(path);
    CHECK(elf && strcmp(elf->path, path) == 0 && elf_open(path) == elf);
    unlink(path);
    return elf;
}

static void finds(const struct elf *elf, uint64_t address, const char *function, uint64_t begins)
{
    uint64_t start = 0;
    const char *name = elf_function(elf, address, &start);
    CHECK(!name == !function && (!name || (strcmp(name, function) == 0 && start == begins)));
}

static void finds_nothing(const struct image *image, size_t bytes)
{
    uint64_t address, start;
    const struct elf *elf = open_image(image, bytes);
    CHECK(!elf_address(elf, OFFSET, &address));
    CHECK(!elf_function(elf, 200, &start) && !elf_variable(elf, 205, &start));
}

static void edges(void)
{
    uint64_t address, start;
    const struct elf *elf = open_image(&good, sizeof good);
    CHECK(elf_address(elf, OFFSET, &address) && address == VIRTUAL);
    CHECK(elf_address(elf, OFFSET + SIZE - 1, &address) && address == VIRTUAL + SIZE - 1);
    CHECK(!elf_address(elf, OFFSET + SIZE, &address) && !elf_address(elf, OFFSET - 1, &address));
    finds(elf, 200, "first", 200);
    finds(elf, 209, "first", 200);
    finds(elf, 210, "second", 210);
    finds(elf, 229, "second", 210);
    finds(elf, 230, 0, 0);
    finds(elf, 199, 0, 0);
    CHECK(strcmp(elf_variable(elf, 212, &start), "words") == 0 && start == 205);
    CHECK(!elf_variable(elf, 213, &start) && !elf_variable(elf, 204, &start));
}

static void other_kinds(void)
{
    struct image bad = good;
    finds_nothing(&bad, 0);
    finds_nothing(&bad, sizeof(Elf64_Ehdr) - 1);
    bad.head.e_ident[0] = 'M';
    finds_nothing(&bad, sizeof bad);
    bad = good;
    bad.head.e_ident[EI_CLASS] = ELFCLASS32;
    finds_nothing(&bad, sizeof bad);
    bad = good;
    bad.head.e_phoff = bad.head.e_shoff = sizeof bad + 8;
    finds_nothing(&bad, sizeof bad);
    bad.head.e_phoff = bad.head.e_shoff = 1; /* not aligned */
    finds_nothing(&bad, sizeof bad);
    bad = good;
    bad.head.e_phnum = bad.head.e_shnum = UINT16_MAX; /* more than the file holds */
    finds_nothing(&bad, sizeof bad);
    uint64_t start;
    const struct elf *none = elf_open("/tmp/lateral-elf.that-does-not-exist");
    CHECK(none && !none->bytes && !elf_function(none, 200, &start));
    const int lowest = dup(2);
    CHECK(lowest >= 0 && close(lowest) == 0);
    CHECK(!elf_open("/tmp")->bytes && elf_open("/proc/self/exe")->bytes);
    CHECK(dup(2) == lowest && close(lowest) == 0); /* no file waits open */
}

/* Tables of names that lie, in part, outside the file, or end in no zero. */
static void bad_names(void)
{
    struct image bad = good;
    bad.section[0].sh_link = 2;
    finds(open_image(&bad, sizeof bad), 200, 0, 0);
    bad = good;
    bad.section[1].sh_size++;
    finds(open_image(&bad, sizeof bad), 200, 0, 0);
    bad = good;
    bad.section[1].sh_offset = sizeof bad + 1;
    finds(open_image(&bad, sizeof bad), 200, 0, 0);
    bad = good;
    bad.symbol[1].st_name = sizeof bad.names; /* behind the last */
    finds(open_image(&bad, sizeof bad), 200, 0, 0);
    bad = good;
    memset(bad.names + 7, 'x', sizeof bad.names - 7);
    finds(open_image(&bad, sizeof bad), 210, 0, 0);
    finds(open_image(&bad, sizeof bad), 200, "first", 200);
    bad = good;
    bad.section[0].sh_size = 3 * sizeof *bad.symbol + sizeof *bad.symbol - 1; /* the last symbol is cut */
    CHECK(!elf_variable(open_image(&bad, sizeof bad), 205, &(uint64_t){0}));
}

/* Tables of other kinds hold no symbols; the whole table is asked before the one that the dynamic linker uses. */
static void kinds_of_tables(void)
{
    struct image other = good;
    other.section[0].sh_type = SHT_PROGBITS;
    finds(open_image(&other, sizeof other), 200, 0, 0);
    other.section[0].sh_type = SHT_DYNSYM;
    finds(open_image(&other, sizeof other), 200, "first", 200);
    other.head.e_shnum = 4;
    other.section[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                    .sh_offset = offsetof(struct image, symbol),
                                    .sh_size = 2 * sizeof *other.symbol,
                                    .sh_link = 3};
    other.section[3] = other.section[1];
    other.section[3].sh_offset++; /* so the names have lost their first letters */
    other.section[3].sh_size--;
    finds(open_image(&other, sizeof other), 200, "irst", 200);
    finds(open_image(&other, sizeof other), 210, "second", 210); /* in one of them alone */
    other.section[2].sh_link = 4;
    finds(open_image(&other, sizeof other), 200, "first", 200);
}

/* A word of a variable that is longer than 4 GB. */
static void long_variable(void)
{
    struct image large = good;
    char text[64];
    large.symbol[3].st_size = 5ul << 30;
    struct maps maps = {.program = open_image(&large, sizeof large), .shift = 0x10000};
    CHECK(location_variable(&maps, 0, 0x10000 + 205, text, sizeof text) && strcmp(text, "words") == 0);
    CHECK(location_variable(&maps, 0, 0x10000 + 205 + (4ul << 30), text, sizeof text));
    CHECK(strcmp(text, "words + 4294967296 bytes") == 0);
    CHECK(!location_variable(&maps, 0, 0x10000 + 205 + (5ul << 30), text, sizeof text));
    CHECK(!location_variable(&(struct maps){0}, 0, 0x10000 + 205, text, sizeof text));
}

int main(void)
{
    static void (*const tests[])(void) = {long_variable, edges, other_kinds, bad_names, kinds_of_tables};
    fill();
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
