/* Which pages of a program may move, whether it is linked with the library, and by what it is told from others: made-up headers of
 * programs, whose segments share pages, end on them, or lie behind the part that the loader protects.
 *
 * skip: asan-ubsan tsan aarch64 */
#include "../../src/base/image.c"

#include "unit/child.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, HEADERS = 8 };
#define BIAS UINT64_C(0x7f0000000000)

static ElfW(Phdr) header[HEADERS];
static struct program program;

static void begin(uintptr_t bias)
{
    memset(header, 0, sizeof header);
    program = (struct program){bias, header, 0};
}

static ElfW(Phdr) *segment(uint32_t type, uint32_t flags, uintptr_t at, size_t in_file, size_t bytes)
{
    ElfW(Phdr) *const added = &header[program.headers++];
    *added = (ElfW(Phdr)){.p_type = type, .p_flags = flags, .p_vaddr = at, .p_filesz = in_file, .p_memsz = bytes};
    return added;
}

static bool part_is(uintptr_t start, uintptr_t zero_from, uintptr_t end)
{
    struct image_part part;
    const bool some = find_part(&program, &header[0], &part);
    CHECK(some == (part.start < part.end));
    return part.start == BIAS + start && part.zero_from == BIAS + zero_from && part.end == BIAS + end;
}

static void parts(void)
{
    begin(BIAS);
    segment(PT_LOAD, PF_R | PF_W, 0x5000, 0x2000, 0x4000);
    CHECK(part_is(0x5000, 0x7000, 0x9000));
    header[0].p_filesz = 0x2001;
    header[0].p_memsz = 0x4001;
    CHECK(part_is(0x5000, 0x8000, 0xa000));
    header[0].p_vaddr = 0x5fff;
    header[0].p_filesz = 1;
    header[0].p_memsz = 2;
    CHECK(part_is(0x5000, 0x6000, 0x7000));
    header[0].p_filesz = 0;
    header[0].p_vaddr = 0x5000;
    CHECK(part_is(0x5000, 0x5000, 0x6000));
}

/* What the loader makes read-only stays: whole pages from the start. */
static void protected_parts(void)
{
    begin(BIAS);
    segment(PT_LOAD, PF_R | PF_W, 0x5800, 0x2000, 0x4000);
    segment(PT_GNU_RELRO, PF_R, 0x5800, 0, 0x0800);
    CHECK(part_is(0x6000, 0x8000, 0xa000));
    header[1].p_memsz = 0x17ff; /* its last page is ordinary data */
    CHECK(part_is(0x6000, 0x8000, 0xa000));
    header[1].p_memsz = 0x1800;
    CHECK(part_is(0x7000, 0x8000, 0xa000));
    header[1].p_memsz = 0x3800; /* also all that comes from the file */
    CHECK(part_is(0x9000, 0x9000, 0xa000));
    header[1].p_memsz = 0x4800; /* nothing is left */
    CHECK(part_is(0xa000, 0xa000, 0xa000));
    header[1].p_vaddr = 0xa000; /* of a segment behind */
    CHECK(part_is(0x5000, 0x8000, 0xa000));
    header[1].p_vaddr = 0x1000; /* of a segment before */
    header[1].p_memsz = 0x1000;
    CHECK(part_is(0x5000, 0x8000, 0xa000));
}

static const char *range(struct image *image)
{
    *image = (struct image){0};
    return find_range(&program, image);
}

static void ranges(void)
{
    struct image image;
    begin(BIAS);
    segment(PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x1000);
    segment(PT_NOTE, PF_R | PF_W, 0x1000, 0x1000, 0x1000);
    CHECK(strstr(range(&image), "has no writable data"));
    segment(PT_LOAD, PF_R | PF_W, 0x2000, 0x1000, 0x1800);
    CHECK(!range(&image) && image.parts == 1 && image.start == BIAS + 0x2000 && image.end == BIAS + 0x4000);
    segment(PT_LOAD, PF_R | PF_W, 0x3900, 0x100, 0x1000); /* on a page of the one before */
    CHECK(!range(&image) && image.parts == 2 && image.start == BIAS + 0x2000 && image.end == BIAS + 0x5000);
    CHECK(image.part[0].end == BIAS + 0x3000 && image.part[1].start == BIAS + 0x3000);
    segment(PT_LOAD, PF_R | PF_W, 0x8000, 0, 0x1000); /* apart */
    CHECK(!range(&image) && image.parts == 3 && image.end == BIAS + 0x9000 && image.part[1].end == BIAS + 0x5000);
    segment(PT_LOAD, PF_R | PF_W, 0x9000, 0, 0x1000); /* next to it */
    CHECK(!range(&image) && image.parts == 4 && image.part[2].end == BIAS + 0x9000);
    segment(PT_LOAD, PF_R | PF_W, 0xa000, 0, 0); /* empty */
    CHECK(!range(&image) && image.parts == 4 && image_bytes(&image) == 0x8000);
    header[program.headers - 1].p_memsz = 1;
    CHECK(strstr(range(&image), "too many writable segments"));
    header[3].p_flags |= PF_X;
    CHECK(strstr(range(&image), "writable code"));
}

static void contained(void)
{
    const struct image image = {.start = BIAS + 0x1000, .end = BIAS + 0x3000};
    CHECK(image_contains(&image, (void *)(BIAS + 0x1000)) && image_contains(&image, (void *)(BIAS + 0x2fff)));
    CHECK(!image_contains(&image, (void *)(BIAS + 0xfff)) && !image_contains(&image, (void *)(BIAS + 0x3000)));
    CHECK(!image_contains(&image, (void *)0) && image_bytes(&image) == 0x2000);
    CHECK(!image_contains(&(struct image){0}, &image));
    CHECK(stack_inside(&(struct image){.end = UINTPTR_MAX}) && !stack_inside(&image));
}

/* Pages 1 .. 3 of five; what lies beside them does not matter. */
static void mappings(void)
{
    char *at = mmap(0, 5 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct image image = {.start = (uintptr_t)at + PAGE, .end = (uintptr_t)at + 4 * PAGE};
    CHECK(at != MAP_FAILED && !check_mappings(&image));
    CHECK(mprotect(at, PAGE, PROT_READ) == 0 && !check_mappings(&image));
    CHECK(mmap(at + 4 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at + 4 * PAGE);
    CHECK(!check_mappings(&image));
    for (int number = 1; number <= 3; number++) {
        CHECK(mprotect(at + number * PAGE, PAGE, PROT_READ) == 0);
        CHECK(strstr(check_mappings(&image), "not plain writable"));
        CHECK(mprotect(at + number * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 && !check_mappings(&image));
    }
    CHECK(munmap(at + 2 * PAGE, PAGE) == 0 && !check_mappings(&image)); /* a gap */
    CHECK(mmap(at + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          at + 2 * PAGE);
    CHECK(strstr(check_mappings(&image), "shared pages already") && munmap(at, 5 * PAGE) == 0);
}

/* ---- linked with the library? ---- */

static void contains(void)
{
    const uintptr_t here = (uintptr_t)take_first;
    begin(BIAS);
    CHECK(!contains_this_code(&program));
    segment(PT_LOAD, PF_R | PF_X, here - BIAS, 1, 1);
    CHECK(contains_this_code(&program));
    header[0].p_vaddr++;
    CHECK(!contains_this_code(&program));
    header[0].p_vaddr -= 2;
    CHECK(!contains_this_code(&program));
    header[0].p_memsz = 2;
    CHECK(contains_this_code(&program));
    header[0].p_type = PT_NOTE;
    CHECK(!contains_this_code(&program));
    segment(PT_LOAD, PF_R, here - BIAS, 1, 1);
    CHECK(contains_this_code(&program));
    program.headers--;
    CHECK(!contains_this_code(&program));
}

static void needed(void)
{
    static struct {
        char strings[64];
        ElfW(Dyn) entries[5];
    } room = {"\0libc.so.6\0liblateral.so.1\0liblateral.so.2",
              {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
               {.d_tag = DT_NEEDED, .d_un.d_val = 11},
               {.d_tag = DT_STRTAB},
               {.d_tag = DT_NULL},
               {.d_tag = DT_NEEDED, .d_un.d_val = 27}}};
    ElfW(Dyn) *const strings = &room.entries[2];
    begin((uintptr_t)&room - 64);
    strings->d_un.d_ptr = (uintptr_t)room.strings;
    CHECK(!needs(&program, "liblateral.so.1"));
    segment(PT_DYNAMIC, PF_R, 64 + offsetof(typeof(room), entries), sizeof room.entries, sizeof room.entries);
    CHECK(needs(&program, "liblateral.so.1") && needs(&program, "libc.so.6"));
    CHECK(!needs(&program, "liblateral.so") && !needs(&program, "liblateral.so.2") && !needs(&program, ""));
    strings->d_un.d_ptr = 64; /* a loader that does not write back the address */
    CHECK(needs(&program, "liblateral.so.1") && !needs(&program, "liblateral.so.2"));
    strings->d_tag = DT_SYMTAB;
    CHECK(!needs(&program, "liblateral.so.1"));
}

/* ---- the same program? ---- */

static size_t note(char *to, uint32_t type, const char *name, const void *text, uint32_t bytes, size_t align)
{
    const ElfW(Nhdr) head = {.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = bytes, .n_type = type};
    const size_t at = (sizeof head + head.n_namesz + align - 1) & -align;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, name, head.n_namesz);
    memcpy(to + at, text, bytes);
    return (at + bytes + align - 1) & -align;
}

static _Alignas(16) char notes[512];
static const char words[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* Returns whether these bytes of notes hold an id, which is then the first letters. */
static bool has_id(size_t bytes, size_t align, size_t letters)
{
    unsigned char id[IMAGE_ID_BYTES + 1] = {0};
    begin((uintptr_t)notes - 4096);
    segment(PT_LOAD, PF_R, 0, 4096, 4096);
    segment(PT_NOTE, PF_R, 4096, bytes, bytes)->p_align = align;
    if (!read_build_id(&program, id))
        return false;
    CHECK(memcmp(id, words, letters) == 0);
    for (size_t i = letters; i < sizeof id; i++)
        CHECK(id[i] == 0);
    return true;
}

static void build_ids(size_t align)
{
    memset(notes, 0, sizeof notes);
    size_t used = note(notes, NT_GNU_BUILD_ID, "GNU", words, 20, align);
    CHECK(has_id(used, align, 20) && !has_id(sizeof(ElfW(Nhdr)) - 1, align, 0) && !has_id(0, align, 0));
    used = note(notes, NT_GNU_PROPERTY_TYPE_0, "GNU", "0123456789abcdef", 16, align);
    used += note(notes + used, NT_GNU_BUILD_ID, "Other", "xxxxx", 5, align);
    used += note(notes + used, NT_GNU_BUILD_ID, "GNV", "yyyyy", 5, align);
    CHECK(!has_id(used, align, 0));
    used += note(notes + used, NT_GNU_BUILD_ID, "GNU", words, IMAGE_ID_BYTES + 4, align);
    CHECK(has_id(used, align, IMAGE_ID_BYTES));
    note(notes, NT_GNU_BUILD_ID, "GNU", words, 3, align);
    CHECK(has_id(used, align, 3));
}

static void notes_elsewhere(void)
{
    unsigned char id[IMAGE_ID_BYTES];
    const size_t used = note(notes, NT_GNU_BUILD_ID, "GNU", words, 20, 4);
    begin((uintptr_t)notes);
    segment(PT_LOAD, PF_R, 0, used, used);
    CHECK(!read_build_id(&program, id));
    segment(PT_NOTE, PF_R, 0, used, used)->p_align = 4;
    program.headers--;
    CHECK(!read_build_id(&program, id));
}

/* The headers, and the bytes of each executable segment, in their order. */
static void hashes(void)
{
    uint64_t lane[3] = {1, 2, 3}, other[3];
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    begin(0);
    segment(PT_LOAD, PF_R, 0, 64, 64);
    segment(PT_LOAD, PF_R | PF_X, 0, 100, 200)->p_offset = 64;
    segment(PT_NOTE, PF_R | PF_X, 0, 100, 100);
    segment(PT_LOAD, PF_X, 0, 50, 50)->p_offset = 17;
    segment(PT_LOAD, PF_R | PF_X, 0, 30, 30)->p_offset = 3;
    program.headers--;
    mix(lane, header, 4 * sizeof *header);
    mix_file(lane, fd, 64, 100);
    mix_file(lane, fd, 17, 50);
    hash_program(&program, (unsigned char *)other);
    CHECK(fd >= 0 && memcmp(lane, other, sizeof lane) == 0);
    const int next = dup(fd);
    CHECK(next == fd + 1 && close(next) == 0 && close(fd) == 0); /* every file is closed again */
}

/* ---- threads ---- */

static void *sleeps(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return 0;
}

static void threads(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    CHECK(!many_tasks() && !image_threaded());
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&thread, 0, sleeps, &lock) == 0);
    CHECK(many_tasks() && image_threaded());
    image_settle_threads();
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    CHECK(image_threaded()); /* settled */
    image_settle_threads();
    while (image_threaded()) /* the kernel has seen the end of a thread that has been joined, or is about to */
        image_settle_threads();
    settled = UNSETTLED;
}

/* ---- this program ---- */

static struct image mine;
static ucontext_t outside, inside;
static char stack[1 << 16];

static void finds_on_its_data(void)
{
    CHECK(!image_find(&mine, "libnone.so") && strstr(mine.why_not, "stack among its own data"));
    CHECK(mine.start == 0 && mine.end == 0 && mine.parts == 0);
}

static void finds_itself(void)
{
    CHECK(image_find(&mine, "libnone.so") && !mine.why_not && mine.parts >= 1 && mine.start < mine.end);
    CHECK(image_contains(&mine, &mine) && image_contains(&mine, stack) && !image_contains(&mine, words));
    CHECK(mine.start % PAGE == 0 && mine.end % PAGE == 0 && mine.part[0].start == mine.start);
    unsigned char id[IMAGE_ID_BYTES] = {0};
    dl_iterate_phdr(take_first, &program);
    CHECK(!read_build_id(&program, id) || memcmp(id, mine.id, sizeof id) == 0);
    CHECK(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, finds_on_its_data, 0);
    CHECK(swapcontext(&outside, &inside) == 0);
}

static void build_ids_of_4(void)
{
    build_ids(4);
}

static void build_ids_of_8(void)
{
    build_ids(8);
}

int main(void)
{
    if (page_size() != PAGE)
        return 0;
    parts();
    protected_parts();
    ranges();
    contained();
    mappings();
    contains();
    in_a_child(needed);
    in_a_child(build_ids_of_4);
    in_a_child(build_ids_of_8);
    in_a_child(notes_elsewhere);
    in_a_child(hashes);
    in_a_child(finds_itself);
    threads();
    return 0;
}
