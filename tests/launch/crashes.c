/* What is told of crashes, by made-up records: which are alike, what has happened, and where. The files are made
 * up, too: in each, an address of a symbol is the place in the file and BASE.
 * flags: -D_GNU_SOURCE */
#include "crash.h"
#include "message.h"
#include "place.h"
#include "symbolizer.h"

#include "apart.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

enum { PES = 6, BASE = 0x400000 };

/* ---- files ---- */

static struct elf files[8];
static size_t nfiles;

struct elf *elf_open(const char *path)
{
    for (size_t i = 0; i < nfiles; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    CHECK(nfiles < sizeof files / sizeof *files);
    files[nfiles].path = strdup(path);
    return &files[nfiles++];
}

bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *address)
{
    if (strcmp(elf->path, "/damaged") == 0 || offset >= 0x10000)
        return false;
    *address = offset + BASE;
    return true;
}

/* A function begins at each full hundred, up to 1000; main at 500, a part of it at 600. */
const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start)
{
    static const char *const names[] = {"start_here", "inner",     "outer",    "mai",  "main2",
                                        "main",       "main.cold", "a.part.0", "maim", "nine"};
    const uint64_t offset = address - BASE;
    CHECK(elf->path != NULL);
    if (offset >= 1000)
        return NULL;
    *start = BASE + offset / 100 * 100;
    return names[offset / 100];
}

const char *elf_variable(const struct elf *elf, uint64_t address, uint64_t *start)
{
    CHECK(elf->path != NULL);
    *start = 5000;
    return address >= 5000 && address < UINT64_C(20000000000) ? "table" : NULL;
}

/* Lines are known of a library's places up to 300 and above 500. */
bool symbolizer_line(const char *path, uint64_t address, char *text, size_t room)
{
    const uint64_t offset = address - BASE;
    if (strncmp(path, "/lib/", 5) != 0 || (offset >= 300 && offset < 500) || offset >= 1000)
        return false;
    snprintf(text, room, "lib.c:%d", (int)offset);
    return true;
}

#include "crash.c"
#include "place.c"

/* ---- records ---- */

static struct node *node;
static struct node_crash records[PES];
static char told[8192];

static void keep_line(const char *line, size_t bytes)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "%.*s", (int)bytes, line);
}

static void begin(uint32_t first)
{
    static const uint64_t nonce[2] = {1, 2};
    CHECK(posix_memalign((void **)&node, CACHE_LINE, node_groups_at(PES)) == 0);
    memset(node, 0, node_groups_at(PES));
    node_format(node, PES, 2, nonce);
    node->first = first;
    say_through(keep_line);
}

/* A crash at these places of the files /lib/l.so (1), /bin/p (2) or none (0). */
static struct node_crash *crash_of(uint32_t pe, int signal, int code, uint64_t address, size_t depth,
                                   const struct node_crash_frame *frames)
{
    struct node_crash *crash = &records[pe];
    *crash =
        (struct node_crash){.state = 1, .signal = signal, .code = code, .address = address, .depth = (uint32_t)depth};
    memcpy(crash->frames, frames, depth * sizeof *frames);
    strcpy(crash->files[0], "/lib/l.so");
    strcpy(crash->files[1], "/bin/p");
    return crash;
}

#define CRASH(pe, signal, code, address, ...)                                                    \
    crash_of(pe, signal, code, address,                                                          \
             sizeof((struct node_crash_frame[]){__VA_ARGS__}) / sizeof(struct node_crash_frame), \
             (struct node_crash_frame[]){__VA_ARGS__})

static void tells(const char *wanted)
{
    *told = 0;
    crash_print(node, records);
    if (strcmp(told, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, told);
    CHECK(strcmp(told, wanted) == 0);
    memset(records, 0, sizeof records);
}

/* ---- tests ---- */

static void where(void)
{
    begin(0);
    tells("");
    CRASH(1, SIGSEGV, SEGV_MAPERR, 0x10, {9, 150, 1}, {9, 200, 1}, {9, 250, 1}, {9, 350, 1}, {9, 300, 2}, {9, 5000, 2},
          {77, 9, 0}, {78, 150, 7}, {79, 150, UINT64_C(1) << 32 | 1}, {9, 550, 1}, {9, 250, 1});
    tells("  PE 1 died of signal 11 (Segmentation fault): nothing is mapped at address 0x10\n"
          "    inner                lib.c:150\n" /* the instruction itself */
          "    inner                lib.c:199\n" /* the call is before the place of return */
          "    outer                lib.c:249\n"
          "    mai + 0x31 (l.so)\n"
          "    outer + 0x63 (p)\n"
          "    p + 0x401387\n"
          "    0x4d\n"
          "    0x4e\n"
          "    0x4f\n"
          "    main                 lib.c:549\n");
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0, {9, 100, 1}, {9, 650, 1}, {9, 250, 1});
    tells("  PE 0 died of signal 11 (Segmentation fault): nothing is mapped at address 0x0\n"
          "    inner                lib.c:100\n"
          "    main                 lib.c:649\n");
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0, {9, 750, 1}, {9, 450, 1}, {9, 850, 1}, {9, 350, 1}, {9, 501, 2}, {9, 200, 1});
    tells("  PE 0 died of signal 11 (Segmentation fault): nothing is mapped at address 0x0\n"
          "    a                    lib.c:750\n"
          "    main2 + 0x31 (l.so)\n"
          "    maim                 lib.c:849\n"
          "    mai + 0x31 (l.so)\n"
          "    main + 0x0 (p)\n");
}

/* A file that can be read no more, one with the longest path, places without end. */
static void odd_files(void)
{
    begin(0);
    struct node_crash *crash = CRASH(3, SIGSEGV, SEGV_MAPERR, 0, {33, 100, 1}, {34, 0x10000, 2}, {35, 5000, 6});
    strcpy(crash->files[0], "/damaged");
    memset(crash->files[5], 'x', NODE_CRASH_PATH);
    crash->files[5][NODE_CRASH_PATH - 3] = '/';
    crash->depth = 3;
    tells("  PE 3 died of signal 11 (Segmentation fault): nothing is mapped at address 0x0\n"
          "    0x21\n    0x22\n    xx + 0x401387\n");
    CHECK(strlen(files[nfiles - 1].path) == NODE_CRASH_PATH);
    struct node_crash_frame many[NODE_CRASH_FRAMES];
    for (int i = 0; i < NODE_CRASH_FRAMES; i++)
        many[i] = (struct node_crash_frame){(uint64_t)i + 1, 0, 0};
    crash_of(0, SIGABRT, 0, 0, NODE_CRASH_FRAMES, many)->depth = NODE_CRASH_FRAMES + 1;
    tells(
        "  PE 0 died of signal 6 (Aborted): abort was called\n"
        "    0x1\n    0x2\n    0x3\n    0x4\n    0x5\n    0x6\n    0x7\n    0x8\n    0x9\n    0xa\n    0xb\n    0xc\n    0xd\n"
        "    0xe\n    0xf\n    0x10\n");
}

static void alike(void)
{
    begin(40);
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0x10, {1, 150, 1}, {2, 201, 1});
    CRASH(2, SIGSEGV, SEGV_MAPERR, 0x10, {3, 150, 1}, {4, 201, 1});
    CRASH(3, SIGSEGV, SEGV_MAPERR, 0x10, {3, 150, 1}, {4, 201, 1});
    records[3].state = 0; /* it has not written all */
    tells("  PE 40,42 died of signal 11 (Segmentation fault): nothing is mapped at address 0x10\n"
          "    inner                lib.c:150\n    outer                lib.c:200\n");
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0x10, {1, 7, 0});
    CRASH(1, SIGSEGV, SEGV_MAPERR, 0x20, {2, 7, 0});
    CRASH(2, SIGSEGV, SEGV_MAPERR, 0x20, {3, 7, 0});
    tells("  PE 40-42 died of signal 11 (Segmentation fault): nothing is mapped at several addresses\n    0x1\n");
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0x20, {1, 7, 0}); /* killed before it had found its callers */
    CRASH(1, SIGSEGV, SEGV_MAPERR, 0x20, {2, 7, 0}, {3, 8, 0});
    CRASH(2, SIGSEGV, SEGV_MAPERR, 0x20, {4, 7, 0});
    CRASH(3, SIGSEGV, SEGV_MAPERR, 0x20, {5, 7, 0}, {6, 8, 0}, {7, 9, 0});
    tells(
        "  PE 40-42 died of signal 11 (Segmentation fault): nothing is mapped at address 0x20\n    0x2\n    0x3\n"
        "  PE 43 died of signal 11 (Segmentation fault): nothing is mapped at address 0x20\n    0x5\n    0x6\n    0x7\n");
}

/* Returns how many lines of PEs are told of two crashes. */
static size_t kinds(void)
{
    size_t lines = 0;
    *told = 0;
    crash_print(node, records);
    for (const char *at = told; (at = strstr(at, "  PE ")); at++)
        lines++;
    return lines;
}

static void not_alike(void)
{
    begin(0);
    CRASH(0, SIGSEGV, SEGV_MAPERR, 0x10, {1, 150, 1}, {2, 250, 1});
    CRASH(1, SIGSEGV, SEGV_MAPERR, 0x10, {1, 150, 1}, {2, 250, 1});
    CHECK(kinds() == 1);
    records[1].signal = SIGBUS;
    CHECK(kinds() == 2);
    records[1].signal = SIGSEGV;
    records[1].code = SEGV_ACCERR;
    CHECK(kinds() == 2);
    records[1].code = SEGV_MAPERR;
    records[1].frames[0].offset++;
    CHECK(kinds() == 2);
    records[1].frames[0].offset--;
    records[1].frames[1].offset++;
    CHECK(kinds() == 2);
    records[1].frames[1].offset--;
    records[1].frames[1].file = 2;
    CHECK(kinds() == 2);
    strcpy(records[1].files[1], records[0].files[0]); /* the same by another number */
    CHECK(kinds() == 1);
    records[1].frames[1].file = 0;
    CHECK(kinds() == 2);
    records[1].depth = 1;
    CHECK(kinds() == 1);
    records[1].depth = 0;
    CHECK(kinds() == 1);
    records[1].frames[0].file = 2;
    records[0].depth = records[1].depth = 1;
    strcpy(records[1].files[1], "/lib/l.s");
    CHECK(kinds() == 2);
}

static void what(int signal, int code, const char *words)
{
    char wanted[200];
    CRASH(0, signal, code, 0xfedcba9876543210, {1, 0, 0});
    snprintf(wanted, sizeof wanted, "  PE 0 died of signal %d (%s): %s\n    0x1\n", signal, strsignal(signal), words);
    tells(wanted);
}

#define ADDRESS "address 0xfedcba9876543210"

static void reasons(void)
{
    begin(0);
    what(SIGSEGV, SEGV_MAPERR, "nothing is mapped at " ADDRESS);
    what(SIGSEGV, SEGV_ACCERR, "no right to this access at " ADDRESS);
    what(SIGSEGV, 128, "an address that no memory can have");
    what(SIGSEGV, 0, "a process sent it");
    what(SIGSEGV, -6, "a process sent it");
    what(SIGBUS, BUS_ADRALN, ADDRESS " is not aligned");
    what(SIGBUS, BUS_ADRERR, "there is no memory behind " ADDRESS);
    what(SIGBUS, BUS_OBJERR, "at " ADDRESS);
    what(SIGFPE, FPE_INTDIV, "integer divided by zero");
    what(SIGFPE, FPE_FLTOVF, "at " ADDRESS);
    what(SIGILL, ILL_ILLOPN, "no instruction at " ADDRESS);
    what(SIGILL, ILL_PRVOPC, "at " ADDRESS);
    what(SIGABRT, -6, "abort was called");
    what(SIGABRT, 0, "abort was called");
    what(SIGABRT, 1, "abort was called");
}

/* ---- maps ---- */

static void map_lines(void)
{
    struct maps maps = {0};
    char lines[][200] = {"7f00-7f80 r-xp 00001000 08:01 1234       /lib/a b.so\n", "8000-9000 rw-p 00000000 00:00 0 \n",
                         "9000-a000 rw-p 00000000 00:00 0          [heap]\n", "no map\n",
                         "fffffffffffff000-fffffffffffff800 r--p fff00000000 08:01 1       /bin/p"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add_map(&maps, lines[i]);
    CHECK(maps.count == 2 && strcmp(maps.map[0].elf->path, "/lib/a b.so") == 0);
    CHECK(maps.map[0].start == 0x7f00 && maps.map[0].end == 0x7f80 && maps.map[0].offset == 0x1000);
    CHECK(strcmp(maps.map[1].elf->path, "/bin/p") == 0 && maps.map[1].offset == 0xfff00000000);
    CHECK(maps.map[1].start == 0xfffffffffffff000 && maps.map[1].end == 0xfffffffffffff800);
    struct code_place at = code_place_of(&maps, 0x7f00);
    CHECK(at.elf == maps.map[0].elf && at.address == BASE + 0x1000);
    at = code_place_of(&maps, 0x7f7f);
    CHECK(at.elf == maps.map[0].elf && at.address == BASE + 0x107f);
    at = code_place_of(&maps, 0x7f80);
    CHECK(!at.elf && at.address == 0x7f80);
    at = code_place_of(&maps, 0x7eff);
    CHECK(!at.elf && at.address == 0x7eff);
    at = code_place_of(&maps, 0xfffffffffffff001); /* beyond what the file says */
    CHECK(!at.elf && at.address == 0xfffffffffffff001);
    maps_free(&maps);
    CHECK(!maps.map && maps.count == 0);
}

static void own_maps(void)
{
    char own[4096] = "", text[80];
    struct maps maps;
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    /* the stand-ins of files are few: the maps of this process name a handful */
    maps_read(&maps, getpid());
    CHECK(maps.count > 1 && maps.program && strcmp(maps.program->path, own) == 0);
    size_t first = 0;
    while (maps.map[first].elf != maps.program)
        first++;
    CHECK(maps.shift == maps.map[first].start - maps.map[first].offset - BASE);
    const uint64_t at = maps.shift + 5000;
    CHECK(place_variable(&maps, at, text, sizeof text) && strcmp(text, "table") == 0);
    CHECK(place_variable(&maps, at + 1, text, sizeof text) && strcmp(text, "table + 1 bytes") == 0);
    CHECK(place_variable(&maps, at + 5000000000, text, sizeof text) && strcmp(text, "table + 5000000000 bytes") == 0);
    CHECK(!place_variable(&maps, at - 1, text, sizeof text));
    CHECK(!place_variable(&(struct maps){0}, at, text, sizeof text));
    maps_free(&maps);
    maps_read(&maps, -1);
    CHECK(maps.count == 0 && !maps.map && !maps.program);
}

int main(void)
{
    static void (*const tests[])(void) = {where, odd_files, alike, not_alike, reasons, map_lines, own_maps};
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
