/* How a program's data is found, told and hashed, at the edges: the first header and none behind the last, files that are closed again
 * whatever their number, the value of the hash, and each reason why data cannot move. The loader's list is made up.
 *
 * skip: asan-ubsan tsan aarch64 */
#include <link.h>
#include <stddef.h>

static int list_made_up(int (*take)(struct dl_phdr_info *, size_t, void *), void *data);
#define dl_iterate_phdr list_made_up
#include "base/image.c"

#include "unit/child.h"

#include <sys/mman.h>

enum { PAGE = 4096, HEADERS = 6 };

static ElfW(Phdr) header[HEADERS];
static struct program program;

static int list_made_up(int (*take)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_phdr_info info = {.dlpi_addr = program.bias,
                                .dlpi_phdr = header,
                                .dlpi_phnum = (uint16_t)program.headers};
    CHECK(take(&info, sizeof info, data) == 1);
    return 1;
}

static void begin(uintptr_t bias)
{
    memset(header, 0, sizeof header);
    program = (struct program){bias, header, 0};
}

static ElfW(Phdr) *segment(uint32_t type, uint32_t flags, uintptr_t at, size_t bytes)
{
    ElfW(Phdr) *const added = &header[program.headers++];
    *added = (ElfW(Phdr)){.p_type = type, .p_flags = flags, .p_vaddr = at, .p_filesz = bytes, .p_memsz = bytes};
    return added;
}

/* ---- headers ---- */

static void first_and_last(void)
{
    static _Alignas(16) struct {
        ElfW(Nhdr) head;
        char name[4], id[8];
    } note = {{4, 8, NT_GNU_BUILD_ID}, "GNU", "abcdefg"};
    unsigned char id[IMAGE_ID_BYTES] = {0};
    struct image image = {0};
    begin(0x10000);
    segment(PT_LOAD, PF_R | PF_W, 0x1000, 0x1000);
    segment(PT_LOAD, PF_R | PF_W, 0x5000, 0x1000);
    segment(PT_GNU_RELRO, PF_R, 0x5000, 0x1000);
    CHECK(find_header(&program, PT_LOAD) == header && find_header(&program, PT_GNU_RELRO) == &header[2]);
    program.headers = 2;
    CHECK(!find_header(&program, PT_GNU_RELRO));
    CHECK(!find_range(&program, &image) && image.parts == 2 && image.start == 0x11000 && image.end == 0x16000);
    program.headers = 1;
    image = (struct image){0};
    CHECK(!find_range(&program, &image) && image.parts == 1 && image.end == 0x12000);
    begin((uintptr_t)&note);
    segment(PT_NOTE, PF_R, 0, sizeof note)->p_align = 4;
    CHECK(read_build_id(&program, id) && memcmp(id, "abcdefg", 8) == 0);
}

/* The names lie where the program begins. */
static void names_at_the_start(void)
{
    static struct {
        char names[64];
        ElfW(Dyn) entries[3];
    } room = {"\0liblateral.so.1", {{.d_tag = DT_NEEDED, .d_un.d_val = 1}, {.d_tag = DT_STRTAB}, {.d_tag = DT_NULL}}};
    begin((uintptr_t)&room);
    room.entries[1].d_un.d_ptr = (uintptr_t)&room;
    segment(PT_DYNAMIC, PF_R, offsetof(typeof(room), entries), sizeof room.entries);
    CHECK(needs(&program, "liblateral.so.1"));
}

/* ---- the hash ---- */

static uint64_t turned(uint64_t lane, uint64_t factor, const uint64_t *words, int count, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        lane = (lane ^ words[i]) * factor;
        lane = (lane << 29 | lane >> 35) + bytes;
    }
    return lane;
}

static void hash_is(size_t bytes, int count)
{
    static const uint64_t factors[3] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u};
    uint64_t words[4] = {0}, lane[4] = {1, 2, 3, 77};
    unsigned char data[32];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(200 - i);
    memcpy(words, data, bytes);
    mix(lane, data, bytes);
    for (int i = 0; i < 3; i++)
        CHECK(lane[i] == turned((uint64_t)i + 1, factors[i], words, count, bytes));
    CHECK(lane[3] == 77);
}

static void hashes(void)
{
    hash_is(0, 0);
    hash_is(1, 1);
    hash_is(8, 1);
    hash_is(9, 2);
    hash_is(24, 3);
}

/* The program's file has number 0 where that is free. */
static void hashes_by_file_0(void)
{
    unsigned char usual[IMAGE_ID_BYTES], now[IMAGE_ID_BYTES] = {0};
    begin(0);
    segment(PT_LOAD, PF_R | PF_X, 0, 100);
    hash_program(&program, usual);
    close(STDIN_FILENO);
    hash_program(&program, now);
    CHECK(memcmp(now, usual, sizeof now) == 0);
    CHECK(dup(STDERR_FILENO) == STDIN_FILENO); /* it was closed again */
}

/* ---- each reason ---- */

static char *pages;

static bool refused(struct image *image, const char *words)
{
    const int next = dup(STDERR_FILENO);
    CHECK(next > 0 && close(next) == 0);
    memset(image, 0xee, sizeof *image);
    CHECK(!image_find(image, "libnone.so") && strstr(image->why_not, words));
    CHECK(dup(STDERR_FILENO) == next && close(next) == 0); /* every file is closed again */
    return image->start == 0 && image->end == 0 && image->parts == 0;
}

static void finds(void)
{
    static struct image image;
    unsigned char id[IMAGE_ID_BYTES];
    pages = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    begin(0);
    segment(PT_LOAD, PF_R | PF_W, (uintptr_t)pages, 2 * PAGE);
    hash_program(&program, id);
    CHECK(refused(&image, "is not linked with the library") && memcmp(image.id, id, sizeof id) == 0);
    segment(PT_LOAD, PF_R, (uintptr_t)take_first, 1);
    hash_program(&program, id);
    settled = SINGLE;
    CHECK(image_find(&image, "libnone.so") && !image.why_not && image.parts == 1);
    CHECK(image.start == (uintptr_t)pages && image.end == image.start + 2 * PAGE);
    CHECK(memcmp(image.id, id, sizeof id) == 0);
    settled = THREADED;
    CHECK(refused(&image, "has started threads already"));
    CHECK(mprotect(pages, PAGE, PROT_READ) == 0 && refused(&image, "not plain writable ones"));
    header[0].p_flags |= PF_X;
    CHECK(refused(&image, "has writable code"));
    CHECK(munmap(pages, 3 * PAGE) == 0);
}

int main(void)
{
    if (page_size() != PAGE)
        return 0;
    first_and_last();
    names_at_the_start();
    hashes();
    in_a_child(hashes_by_file_0);
    in_a_child(finds);
    return 0;
}
