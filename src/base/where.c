#include "base/where.h"

#include "base/elf.h"
#include "base/tool.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the tools of the system ---- */

#define TOOL_MS 5000 /* time for all runs of the tool together; a file with much debug information is slow to read */

/* Returns the bytes of the tool's answer. All three print "path/file.c:12", llvm's with a column behind it; of an inlined
 * function's code first its own line, then those of its callers. */
static size_t ask_tool(const char *path, uint64_t address, char *text, size_t room)
{
    static int left = TOOL_MS;
    char number[32], *file = (char *)path;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    char *const gnu[] = {"addr2line", "-i", "-e", file, number, NULL};
    char *const elfutils[] = {"eu-addr2line", "-i", "-e", file, number, NULL};
    char *const llvm[] = {"llvm-symbolizer", "--functions=none", "-e", file, number, NULL};
    char *const *const commands[] = {gnu, elfutils, llvm, NULL};
    return tool_run(commands, &left, text, room);
}

/* Writes "file.c:12" for a line of the answer, whose path may have blanks. Returns false when it tells no source line. */
static bool write_line(const char *line, char *text, size_t room)
{
    const char *behind = strstr(line, " (discriminator");
    const int bytes = (int)(behind ? (size_t)(behind - line) : strlen(line));
    const char *slash = memrchr(line, '/', (size_t)bytes), *base = slash ? slash + 1 : line;
    const char *colon = memchr(base, ':', (size_t)(line + bytes - base));
    if (!colon || colon[1] == '?' || colon[1] == '0' || base[0] == '?')
        return false;
    snprintf(text, room, "%.*s:%.*s", (int)(colon - base), base, (int)strspn(colon + 1, "0123456789"), colon + 1);
    return true;
}

/* Headers of the system, and the library's own, are inlined into programs; their callers say more. */
static bool is_of_program(const char *line)
{
    return strncmp(line, "/usr/", 5) != 0 && !strstr(line, "/uccs_classic.h:") && !strstr(line, "/shmem.h:") &&
           !strstr(line, "/shmemx.h:");
}

static bool find_line(const char *path, uint64_t address, char *text, size_t room)
{
    char answer[4096], *rest = NULL;
    bool found = false, own = false;
    if (!ask_tool(path, address, answer, sizeof answer))
        return false;
    for (char *line = strtok_r(answer, "\n", &rest); line && !own; line = strtok_r(NULL, "\n", &rest)) {
        own = is_of_program(line);
        if (own || !found)
            found |= write_line(line, text, room);
    }
    return found;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A process with C++ names has a library that reads them; the launcher loads one. The linker would warn of dlopen itself in a program that is
 * linked with -static, which has none (module.c). */
const char *symbolizer_name(const char *symbol, char *text, size_t room)
{
    typedef char *demangle(const char *, char *, size_t *, int *);
    char *plain = NULL;
    snprintf(text, room, "%.*s", (int)strcspn(symbol, "."), symbol);
    if (strncmp(symbol, "_Z", 2) != 0)
        return text;
    demangle *read = (demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *(*open)(const char *, int) = read ? NULL : (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
    void *library = open ? open("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (library)
        read = (demangle *)dlsym(library, "__cxa_demangle");
    if (read && (plain = read(text, NULL, NULL, NULL)))
        snprintf(text, room, "%s", plain);
    free(plain);
    return text;
}

bool symbolizer_place(const char *path, uint64_t address, char *text, size_t room)
{
    uint64_t start;
    if (find_line(path, address, text, room))
        return true;
    char readable[256];
    const char *name = elf_function(elf_open(path), address, &start);
    if (name)
        snprintf(text, room, "%s + 0x%llx (%s)", symbolizer_name(name, readable, sizeof readable),
                 (unsigned long long)(address - start), base_name(path));
    else
        snprintf(text, room, "%s + 0x%llx", base_name(path), (unsigned long long)address);
    return false;
}

#define FRAMES 32

/* A file that is loaded into this process. */
struct loaded {
    uint64_t base, end; /* in memory; its symbols count from base */
    char path[PATH_MAX];
};

static struct loaded program;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the symbolizer and its files */

static uint64_t end_of(const struct dl_phdr_info *info)
{
    uint64_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return end;
}

/* The first file is the program. */
static int note_program(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    program.base = info->dlpi_addr;
    program.end = end_of(info);
    return 1;
}

static void find_program(void)
{
    dl_iterate_phdr(note_program, NULL);
    ssize_t bytes = readlink("/proc/self/exe", program.path, sizeof program.path - 1);
    program.path[bytes > 0 ? bytes : 0] = 0;
}

static bool in_program(uint64_t at)
{
    pthread_once(&once, find_program);
    return at >= program.base && at < program.end;
}

uint64_t where_of(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    return in_program(at) ? at - program.base : 0;
}

void where_write(uint64_t place, char *text, size_t room)
{
    text[0] = 0;
    if (!place)
        return;
    pthread_once(&once, find_program);
    pthread_mutex_lock(&lock);
    symbolizer_place(program.path, place - 1, text, room);
    pthread_mutex_unlock(&lock);
}

void where_write_at(uint64_t place, char *text, size_t room)
{
    char line[120];
    where_write(place, line, sizeof line);
    snprintf(text, room, "%s%s", *line ? " at " : "", line);
}

bool where_variable(const void *address, char *text, size_t room)
{
    uint64_t start = 0, at = (uint64_t)(uintptr_t)address;
    if (!in_program(at))
        return false;
    pthread_mutex_lock(&lock);
    const char *name = elf_variable(elf_open(program.path), at - program.base, &start);
    pthread_mutex_unlock(&lock);
    if (!name)
        return false;
    char readable[256];
    symbolizer_name(name, readable, sizeof readable);
    if (at - program.base == start)
        snprintf(text, room, "%s", readable);
    else
        snprintf(text, room, "%s + 0x%llx", readable, (unsigned long long)(at - program.base - start));
    return true;
}

/* The program's variables, sorted; those that overlap are one. */
static struct elf_extent *extents;
static size_t extent_count;

static int compare_extents(const void *one, const void *other)
{
    const struct elf_extent *a = one, *b = other;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void read_extents(void)
{
    pthread_once(&once, find_program);
    const struct elf *elf = elf_open(program.path);
    const size_t all = elf_extents(elf, NULL, 0);
    if (!(extents = malloc((all ? all : 1) * sizeof *extents)))
        return;
    elf_extents(elf, extents, all);
    qsort(extents, all, sizeof *extents, compare_extents);
    for (size_t i = 0; i < all; i++) {
        struct elf_extent *last = extent_count ? &extents[extent_count - 1] : NULL;
        if (!last || extents[i].start >= last->end)
            extents[extent_count++] = extents[i];
        else if (extents[i].end > last->end)
            last->end = extents[i].end;
    }
}

bool where_extent(const void *address, uintptr_t *start, size_t *bytes)
{
    static pthread_once_t reading = PTHREAD_ONCE_INIT;
    pthread_once(&reading, read_extents);
    const uint64_t at = (uint64_t)(uintptr_t)address - program.base;
    size_t low = 0, high = extent_count;
    while (low < high) { /* the first that ends behind it */
        const size_t middle = (low + high) / 2;
        if (extents[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == extent_count || extents[low].start > at)
        return false;
    *start = (uintptr_t)(extents[low].start + program.base);
    *bytes = extents[low].end - extents[low].start;
    return true;
}

/* ---- the caller of the library ---- */

bool where_is_library_name(const char *name)
{
    static const char *const fronts[] = {"shmem", "pshmem", "uccs_", "lat_", "rte_", "MPI_", "PMPI_", "MPIX_"};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(name, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return false;
}

/* Procedures of the module shmem, as gfortran and flang name them. */
bool where_is_wrapper_name(const char *name)
{
    return strncmp(name, "__shmem_MOD_", 12) == 0 || strncmp(name, "_QMshmemP", 9) == 0;
}

struct search {
    uint64_t address;
    struct loaded *found;
};

static int note_around(struct dl_phdr_info *info, size_t bytes, void *state)
{
    struct search *search = state;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            search->address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz) {
            search->found->base = info->dlpi_addr;
            search->found->end = end_of(info);
            snprintf(search->found->path, sizeof search->found->path, "%s", info->dlpi_name);
            return 1;
        }
    return 0;
}

/* Finds the file around an address. Returns false when there is none. */
static bool find_around(const void *address, struct loaded *found)
{
    struct search search = {(uint64_t)(uintptr_t)address, found};
    if (in_program(search.address)) {
        *found = program;
        return true;
    }
    return dl_iterate_phdr(note_around, &search) != 0;
}

static const char *function_at(const void *frame, struct loaded *file)
{
    uint64_t start;
    const bool here = find_around(frame, file) && in_program((uint64_t)(uintptr_t)frame);
    return here ? elf_function(elf_open(file->path), where_of(frame) - 1, &start) : NULL;
}

bool where_is_library_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "liblateral", 10) == 0 || strncmp(name, "libmpi", 6) == 0;
}

/* The library's own threads, and what runs at exit, are called by libc: no line of the program has called there. */
static bool is_of_libc(const struct loaded *file)
{
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 || strncmp(name, "ld-", 3) == 0 ||
           strncmp(name, "libpthread", 10) == 0;
}

/* Under the lock. */
static bool is_in_wrapper(const void *frame)
{
    static struct loaded file;
    const char *name;
    return find_around(frame, &file) &&
           (where_is_library_file(file.path) || ((name = function_at(frame, &file)) && where_is_wrapper_name(name)));
}

/* Answers are kept: twice the address, and whether it lies in a wrapper. */
static bool is_known_wrapper(const void *frame)
{
    static uint64_t known[256]; /* relaxed: each word is whole */
    uint64_t at = (uint64_t)(uintptr_t)frame, *slot = &known[at / 4 % 256],
             word = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (word >> 1 != at) {
        pthread_mutex_lock(&lock);
        word = at << 1 | is_in_wrapper(frame);
        pthread_mutex_unlock(&lock);
        __atomic_store_n(slot, word, __ATOMIC_RELAXED);
    }
    return word & 1;
}

const void *where_behind_wrappers(const void *from)
{
    void *frames[FRAMES];
    if (!is_known_wrapper(from))
        return from;
    int depth = backtrace(frames, FRAMES), at = 0;
    while (at < depth && frames[at] != from)
        at++;
    while (at < depth && is_known_wrapper(frames[at]))
        at++;
    return at < depth ? frames[at] : from;
}

/* Returns the index of the innermost frame outside of the library, whose file it stores; `depth`: there is none. */
static int find_outside(void *const *frames, int depth, struct loaded *file)
{
    int at = 0;
    while (at < depth && find_around(frames[at], file) && where_is_library_file(file->path))
        at++;
    const bool shared = at > 0;
    /* Else the library lies in the program: the frame behind its outermost function. */
    for (int i = 0; i < depth && !shared; i++) {
        const char *name = function_at(frames[i], file);
        if (name && where_is_library_name(name))
            at = i + 1;
    }
    if (!at)
        return depth;
    for (const char *name; at < depth && (name = function_at(frames[at], file)) && where_is_wrapper_name(name);)
        at++;
    return at < depth && find_around(frames[at], file) && !(shared && is_of_libc(file)) ? at : depth;
}

bool where_called(char *text, size_t room)
{
    static struct loaded file; /* guarded by the lock; too large for a small stack */
    void *frames[FRAMES];
    int depth = backtrace(frames, FRAMES);
    pthread_mutex_lock(&lock);
    int at = find_outside(frames, depth, &file);
    if (at < depth)
        symbolizer_place(file.path, (uint64_t)(uintptr_t)frames[at] - file.base - 1, text, room);
    pthread_mutex_unlock(&lock);
    return at < depth;
}
