/* The record of a crash: which signal, which address, and in which file each frame lies, from lines of /proc/self/maps that are
 * cut where the file was read in pieces; and which functions have called the one that crashed.
 *
 * skip: aarch64 */
#include <stdint.h>
#include <unistd.h>

static size_t piece = SIZE_MAX; /* so much is read at once */

static ssize_t read_in_pieces(int fd, void *to, size_t bytes)
{
    return read(fd, to, bytes < piece ? bytes : piece);
}

#define read read_in_pieces
#include "rte/crash.c"

#include "unit/check.h"

#include <stdio.h>

static struct node_crash record;

static void reads_hex(void)
{
    static const struct {
        const char *text;
        uint64_t number;
        int digits;
    } rows[] = {{"0", 0, 1},
                {"9-", 9, 1},
                {"a", 10, 1},
                {"f g", 15, 1},
                {"7f0c-", 0x7f0c, 4},
                {"", 0, 0},
                {"g", 0, 0},
                {"/1", 0, 0},
                {":1", 0, 0},
                {"`1", 0, 0},
                {"A1", 0, 0},
                {"1A", 1, 1},
                {"1/", 1, 1},
                {"1:", 1, 1},
                {"1`", 1, 1},
                {"1g", 1, 1},
                {"-1", 0, 0},
                {"10 ", 16, 2},
                {"ffffffffff600000-", 0xffffffffff600000, 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t number = 77;
        const char *end = read_hex(rows[i].text, &number);
        if (number != rows[i].number || end != rows[i].text + rows[i].digits)
            fprintf(stderr, "\"%s\" is 0x%llx\n", rows[i].text, (unsigned long long)number);
        CHECK(number == rows[i].number && end == rows[i].text + rows[i].digits);
    }
}

static void reads_lines(void)
{
    struct mapping m = parse_line("55d0c0a00000-55d0c0a01000 r-xp 0000a000 08:02 1234567      /usr/bin/some thing");
    CHECK(m.start == 0x55d0c0a00000 && m.end == 0x55d0c0a01000 && m.offset == 0xa000);
    CHECK(strcmp(m.path, "/usr/bin/some thing") == 0);
    m = parse_line("1-2 rw-p 00000003 00:00 0 ");
    CHECK(m.start == 1 && m.end == 2 && m.offset == 3 && !*m.path);
    m = parse_line("7ffe00000000-7fff00000000 rw-p 00000000 00:00 0                   [stack]");
    CHECK(m.start == 0x7ffe00000000 && m.end == 0x7fff00000000 && m.offset == 0 && !*m.path);
}

static void clear(void)
{
    memset(&record, 0, sizeof record);
    crash = &record;
}

/* Six files, each once; a path that does not fit is left out. */
static void numbers_files(void)
{
    char path[NODE_CRASH_PATH + 1];
    clear();
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[NODE_CRASH_PATH] = 0;
    CHECK(file_of(path) == 0 && !*record.files[0]);
    path[NODE_CRASH_PATH - 1] = 0;
    CHECK(file_of(path) == 1 && strcmp(record.files[0], path) == 0);
    CHECK(!*record.files[1]);
    for (uint64_t i = 2; i <= NODE_CRASH_FILES; i++) {
        snprintf(path, sizeof path, "/file-%d", (int)i);
        CHECK(file_of(path) == i && strcmp(record.files[i - 1], path) == 0 && file_of(path) == i);
    }
    CHECK(file_of("/file-2") == 2 && file_of("/file-6") == 6);
    CHECK(file_of("/another") == 0 && strcmp(record.files[0] + 1, "another") != 0);
}

static void places_addresses(void)
{
    static const uint64_t at[] = {0xfff, 0x1000, 0x1fff, 0x2000, 0x1800};
    clear();
    for (uint32_t i = 0; i < 5; i++)
        record.frames[i].address = at[i];
    apply_line("1000-2000 rw-p 00000000 00:00 0    [heap]", 0, 5);
    for (int i = 0; i < 5; i++)
        CHECK(record.frames[i].file == 0 && record.frames[i].offset == 0);
    apply_line("1000-2000 r-xp 00070000 00:00 0    /lib/first", 1, 4);
    CHECK(record.frames[0].file == 0 && record.frames[1].file == 1 && record.frames[2].file == 1);
    CHECK(record.frames[3].file == 0 && record.frames[4].file == 0 && record.frames[4].offset == 0);
    CHECK(record.frames[1].offset == 0x70000 && record.frames[2].offset == 0x70fff);
    apply_line("2000-3000 r-xp 00001000 00:00 0    /lib/second", 0, 5);
    CHECK(record.frames[3].file == 2 && record.frames[3].offset == 0x1000 && record.frames[2].file == 1);
    apply_line("0-1000 r-xp 00000000 00:00 0    /lib/first", 0, 5);
    CHECK(record.frames[0].file == 1 && record.frames[0].offset == 0xfff);
}

/* The places in files of so many addresses are those that whole lines tell. */
static void compare_with_maps(FILE *maps, uint32_t count)
{
    char line[LINE_BYTES];
    struct node_crash_frame wanted[NODE_CRASH_FRAMES] = {{0}};
    rewind(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        int path = 0;
        CHECK(sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) == 3 && path);
        line[strcspn(line, "\n")] = 0;
        for (uint32_t i = 0; line[path] == '/' && i < count; i++)
            if (record.frames[i].address >= start && record.frames[i].address < end) {
                wanted[i].offset = record.frames[i].address - start + offset;
                wanted[i].file = record.frames[i].file;
                CHECK(wanted[i].file && strcmp(record.files[wanted[i].file - 1], line + path) == 0);
            }
    }
    for (uint32_t i = 0; i < count; i++)
        CHECK(record.frames[i].offset == wanted[i].offset && record.frames[i].file == wanted[i].file);
}

enum { MAPPINGS = 15 * NODE_CRASH_FRAMES };
static char *mapped[MAPPINGS];

/* An address of each part of the list, however much is read at once. */
static void places_all(FILE *maps)
{
    for (int i = 0; i < MAPPINGS; i += NODE_CRASH_FRAMES) {
        clear();
        piece = i % 3 == 0 ? SIZE_MAX : i % 3 == 1 ? 37 : 1000;
        for (int k = 0; k < NODE_CRASH_FRAMES; k++)
            record.frames[k].address = (uint64_t)mapped[i + k] + (uint64_t)k;
        place_frames(0, NODE_CRASH_FRAMES);
        compare_with_maps(maps, NODE_CRASH_FRAMES);
    }
    piece = SIZE_MAX;
}

static void places_some(FILE *maps)
{
    clear();
    record.frames[0].address = (uint64_t)(uintptr_t)places_some;
    record.frames[1].address = (uint64_t)(uintptr_t)mapped[7];
    record.frames[2].address = (uint64_t)(uintptr_t)&record;
    record.frames[3].address = (uint64_t)(uintptr_t)&maps;
    place_frames(1, 4);
    CHECK(!record.frames[0].file && record.frames[1].file == 1 && !record.frames[3].file);
    record.frames[0].address = 0;
    compare_with_maps(maps, 4);
}

/* Maps so much that the lines are several times what is read at once. Every file is closed again. */
static void reads_maps(void)
{
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), next = dup(file);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(file >= 0 && next >= 0 && maps && close(next) == 0);
    for (int i = 0; i < MAPPINGS; i++) /* alternately, so that no two become one */
        mapped[i] = mmap(NULL, page, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE, file, 0);
    places_all(maps);
    places_some(maps);
    for (int i = 0; i < MAPPINGS; i++)
        CHECK(munmap(mapped[i], page) == 0);
    CHECK(fclose(maps) == 0 && dup(file) == next && close(next) == 0 && close(file) == 0);
}

/* ---- callers ---- */

static void *called_from[NODE_CRASH_FRAMES + 8];
static uint64_t stack[2] = {0x1234, 0};

static ucontext_t context_at(uint64_t counter, uint64_t stack_at)
{
    ucontext_t context;
    memset(&context, 0, sizeof context);
#if defined __x86_64__
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)counter;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)stack_at;
#endif
    return context;
}

/* Calls itself, then adds the callers of its frame number `skip`. Returns their number. */
__attribute__((noinline)) static int callers_of(int deeper, int skip)
{
    volatile int depth;
    if (deeper > 0) {
        depth = callers_of(deeper - 1, skip);
        return depth;
    }
    depth = backtrace(called_from, NODE_CRASH_FRAMES + 8);
    const ucontext_t context = context_at((uint64_t)called_from[skip], (uint64_t)(uintptr_t)stack);
    clear();
    record.frames[0].address = (uint64_t)called_from[skip];
    place_frames(0, 1);
    add_callers(&context);
    return depth;
}

/* All frames behind that of the crash, and no other; as many as fit. */
static void tells_callers(void)
{
    const int depth = callers_of(1, 1);
    CHECK(depth >= 4 && depth < NODE_CRASH_FRAMES && record.depth == (uint32_t)depth - 1);
    for (int i = 1; i < (int)record.depth; i++)
        CHECK(record.frames[i].address == (uint64_t)called_from[i + 1] && record.frames[i].file);
    CHECK(!record.frames[record.depth].address);
    CHECK(callers_of(1, depth - 2) == depth && record.depth == 2);
    CHECK(record.frames[1].address == (uint64_t)called_from[depth - 1]);
    CHECK(callers_of(1, depth - 1) == depth && record.depth == 1); /* nobody called it */
    CHECK(callers_of(30, 1) == NODE_CRASH_FRAMES + 8 && record.depth == NODE_CRASH_FRAMES);
    for (int i = 1; i < NODE_CRASH_FRAMES; i++)
        CHECK(record.frames[i].address == (uint64_t)called_from[i + 1]);
}

/* A jump into nothing has one caller, the word on top of the stack; a place in a file that no frame is at has none. */
static void jumps_into_nothing(void)
{
    ucontext_t context = context_at(0x55, (uint64_t)(uintptr_t)stack);
    CHECK(counter_of(&context) == 0x55 && caller_of(&context) == 0x1234);
    clear();
    record.frames[0].address = 0x55;
    stack[0] = (uint64_t)(uintptr_t)jumps_into_nothing;
    add_callers(&context);
    CHECK(record.depth == 2 && record.frames[1].address == stack[0] && record.frames[1].file == 1);
    clear();
    record.frames[0].file = 1;
    add_callers(&context);
    CHECK(record.depth == 1 && !record.frames[1].address);
    context = context_at(UINT64_MAX, (uint64_t)(uintptr_t)stack + 4);
    CHECK(counter_of(&context) == UINT64_MAX && caller_of(&context) == 0); /* such a stack may not be read */
}

/* Returns 0. In a child, which would die. */
static int reads_the_whole_address(void)
{
    uint64_t word = 0x4321;
    const ucontext_t context = context_at(1, (uint64_t)(uintptr_t)&word);
    CHECK((uintptr_t)&word > UINT32_MAX);
    return caller_of(&context) != 0x4321;
}

static void reads_high_stacks(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0)
        _exit(reads_the_whole_address());
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    reads_hex();
    reads_lines();
    numbers_files();
    places_addresses();
    reads_maps();
    tells_callers();
    reads_high_stacks();
    jumps_into_nothing();
    return 0;
}
