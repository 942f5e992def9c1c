/* How a PE comes to its launcher: by the memory that oshrun hands down, alone with memory of its own, or by the module for PMIx; and what
 * each says and puts back when it cannot. The kernel's calls that fail and the modules are made up. */
#include "base/log.h"
#include "base/module.h"
#include "base/tether.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static char logged[500];
static int lines, alike = -1; /* alike: the PE that a line of all PEs named */

__attribute__((format(printf, 1, 2))) static void note_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
    lines++;
}

#define note_alike(pe, ...) (alike = (pe), note_line(__VA_ARGS__))

static int tether = -7, closed, unmapped; /* what was taken, closed; how often memory was given back */
static bool no_file, no_room, no_map, no_random;

enum { FOLDER = 5000, GONE }; /* descriptors of a folder that is long, and of a file whose state cannot be read */

static int stat_made_up(int fd, struct stat *file)
{
    if (fd != FOLDER && fd != GONE)
        return fstat(fd, file);
    *file = (struct stat){.st_mode = fd == FOLDER ? S_IFDIR : S_IFREG, .st_size = 1 << 20};
    return fd == GONE ? -1 : 0;
}

static void take_made_up(int fd)
{
    tether = fd;
}

static int memfd_made_up(const char *name, unsigned flags)
{
    return no_file || flags != MFD_CLOEXEC ? -1 : memfd_create(name, flags);
}

static int truncate_made_up(int fd, off_t bytes)
{
    return no_room ? -1 : ftruncate(fd, bytes);
}

static void *map_made_up(void *at, size_t bytes, int can, int how, int fd, off_t offset)
{
    return no_map ? MAP_FAILED : mmap(at, bytes, can, how, fd, offset);
}

static int unmap_made_up(void *at, size_t bytes)
{
    unmapped++;
    return munmap(at, bytes);
}

static ssize_t draw(void *to, size_t bytes, unsigned flags)
{
    if (no_random)
        return -1;
    memset(to, 0x11, bytes);
    return bytes == 16 && flags == 0 ? (ssize_t)bytes : -1;
}

static int close_made_up(int fd)
{
    closed = fd;
    return close(fd);
}

static void *module_made_up(const char *name, const char **why);
static void *symbol_made_up(const char *library, const char *symbol);
static void *find_made_up(void *module, const char *symbol);
static char *error_made_up(void);

#ifndef LATERAL_VERSION
#define LATERAL_VERSION "made up"
#endif
#define log_line note_line
#define log_alike note_alike
#define log_debug note_line
#define tether_take take_made_up
#define fstat stat_made_up
#include "rte/local.c"
#undef fstat
#define memfd_create memfd_made_up
#define ftruncate truncate_made_up
#define mmap map_made_up
#define munmap unmap_made_up
#define getrandom draw
#define close close_made_up
#include "rte/self.c"
#undef memfd_create
#undef ftruncate
#undef mmap
#undef munmap
#undef getrandom
#undef close
#undef log_line
#define module_open module_made_up
#define module_symbol symbol_made_up
#define dlsym find_made_up
#define dlerror error_made_up
#define PMIx_Initialized pmix_initialized
#include "rte/pmix.c"

#include "unit/check.h"

static void begin(void)
{
    rte.fd = rte.node_index = -5;
    rte.launched = false;
    *logged = 0;
    lines = unmapped = 0;
    tether = closed = alike = -7;
}

/* ---- oshrun's ---- */

static void reads(const char *text, char behind, bool good, int number)
{
    const char *at = text;
    int found = 77;
    const bool read = read_number(&at, behind, &found);
    if (read != good || found != (good ? number : 77))
        fprintf(stderr, "\"%s\": %d\n", text, found);
    CHECK(read == good && found == (good ? number : 77));
    CHECK(at == (good ? text + strspn(text, "-0123456789") + 1 : text));
}

static void numbers(void)
{
    reads("0:", ':', true, 0);
    reads("17:5", ':', true, 17);
    reads("-1", 0, true, -1);
    reads("2147483647", 0, true, 2147483647);
    reads("-2147483648:", ':', true, -2147483647 - 1);
    reads("2147483648", 0, false, 0);
    reads("-2147483649", 0, false, 0);
    reads("99999999999999999999", 0, false, 0);
    reads("-99999999999999999999", 0, false, 0);
    reads("", 0, false, 0);
    reads(":", ':', false, 0);
    reads("5", ':', false, 0);
    reads("5:", 0, false, 0);
    reads("5 ", 0, false, 0);
    reads("x", 0, false, 0);
}

static bool given(const char *format, int fd)
{
    char job[64];
    begin();
    snprintf(job, sizeof job, format, fd);
    const bool opened = rte_local_open(job) == 0;
    CHECK(opened == (lines == 0) && rte.launched == opened && (rte.fd == fd) == opened);
    CHECK(opened || (rte.node_index == -5 && tether == -7 && strstr(logged, job)));
    return opened;
}

static void inherits(void)
{
    const int file = memfd_create("job", 0);
    int ends[2];
    CHECK(file > 0 && pipe(ends) == 0 && ftruncate(file, (off_t)sizeof(struct node)) == 0);
    CHECK(given("%d:0:-1", file) && rte.node_index == 0 && tether == -1);
    CHECK(given("%d:300:9", file) && rte.node_index == 300 && tether == 9);
    CHECK(!given("%d:-1:9", file) && strstr(logged, "is not one of oshrun's"));
    CHECK(!given("%d:0", file) && strstr(logged, "is not one of oshrun's"));
    CHECK(!given("%d:x:9", file) && strstr(logged, "is not one of oshrun's"));
    CHECK(!given("%d:0:9:", file) && strstr(logged, "is not one of oshrun's"));
    CHECK(!given("x%d:0:9", file) && strstr(logged, "is not one of oshrun's"));
    CHECK(!given("%d:0:-1", ends[0]) && strstr(logged, "is not a job's memory"));
    CHECK(!given("%d:0:-1", FOLDER) && !given("%d:0:-1", GONE));
    CHECK(!given("%d:0:-1", 987654) && strstr(logged, "file descriptor 987654 is not a job's memory"));
    CHECK(ftruncate(file, (off_t)sizeof(struct node) - 1) == 0);
    CHECK(!given("%d:0:-1", file) && strstr(logged, "is not a job's memory"));
    CHECK(close(file) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* ---- alone ---- */

static void opens_alone(uint64_t word)
{
    begin();
    rte.launched = true;
    CHECK(rte_self_open() == 0 && rte.fd >= 0 && rte.node_index == 0 && !rte.launched && closed == -7 && unmapped == 1);
    CHECK(fcntl(rte.fd, F_GETFD) == FD_CLOEXEC && lseek(rte.fd, 0, SEEK_END) == (off_t)node_fixed_size(1));
    const struct node *node = mmap(0, sizeof *node, PROT_READ, MAP_SHARED, rte.fd, 0);
    CHECK(node != MAP_FAILED && node->magic == NODE_MAGIC && node->size == 1 && node->total == 1 && node->cores == 1);
    CHECK(node->nonce[0] == word && node->nonce[1] == word);
    CHECK(lines == no_random);
    CHECK(munmap((void *)(uintptr_t)node, sizeof *node) == 0 && close(rte.fd) == 0);
}

/* Nothing is left open, and one line says so. */
static void cannot_open(bool *why, bool opened)
{
    const int next = dup(STDERR_FILENO);
    CHECK(next >= 0 && close(next) == 0);
    begin();
    *why = true;
    CHECK(rte_self_open() == -1 && lines == 1 && strncmp(logged, "cannot make the job's memory: ", 30) == 0);
    CHECK(closed == (opened ? next : -7) && rte.fd == -5 && rte.node_index == -5 && !unmapped);
    CHECK(dup(STDERR_FILENO) == next && close(next) == 0);
    *why = false;
}

static void alone(void)
{
    opens_alone(0x1111111111111111);
    CHECK(lines == 0);
    no_random = true;
    opens_alone(0);
    CHECK(lines == 1 && strstr(logged, "no random numbers"));
    no_random = false;
    cannot_open(&no_file, false);
    cannot_open(&no_room, true);
    cannot_open(&no_map, true);
    CHECK(close(STDIN_FILENO) == 0); /* the file has number 0 */
    opens_alone(0x1111111111111111);
    cannot_open(&no_room, true);
}

/* ---- PMIx ---- */

static bool has_module, has_open, has_library, opens;
static int initialized, openings;
static const char *reason;
static struct rte_place place;
static const struct rte_backend backend = {.name = "made up"};

static int ask_made_up(void)
{
    return initialized;
}

static void *symbol_made_up(const char *library, const char *symbol)
{
    CHECK(strcmp(library, "libpmix.so.2") == 0 && strcmp(symbol, "PMIx_Initialized") == 0);
    return has_library ? (void *)ask_made_up : 0;
}

static const struct rte_backend *open_made_up(const struct rte_module_calls *calls, struct rte_place *to)
{
    CHECK(strcmp(calls->version, LATERAL_VERSION) == 0 && calls->log == log_line && calls->leave == rte_leave);
    CHECK(calls->orphaned == rte_end_orphans && to == &place);
    openings++;
    initialized++; /* PMIx counts */
    return opens ? &backend : 0;
}

static void *module_made_up(const char *name, const char **why)
{
    CHECK(strcmp(name, "pmix") == 0);
    *why = reason;
    return has_module ? &place : 0;
}

static void *find_made_up(void *module, const char *symbol)
{
    CHECK(module == &place && strcmp(symbol, "lateral_pmix_open") == 0);
    return has_open ? (void *)open_made_up : 0;
}

static char *error_made_up(void)
{
    static char words[] = "the linker's words";
    return words;
}

static void asks_for_pmix(void)
{
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    CHECK(!rte_pmix_is_there());
    setenv("PMIX_RANK", "3", 1);
    CHECK(!rte_pmix_is_there());
    setenv("PMIX_NAMESPACE", "job", 1);
    CHECK(rte_pmix_is_there());
    unsetenv("PMIX_RANK");
    CHECK(!rte_pmix_is_there());
}

static void pmix_runs_for_others(void)
{
    begin();
    initialized = 1; /* no library is loaded: nobody can have started it */
    CHECK(!pmix_initialized());
    has_library = true;
    CHECK(pmix_initialized());
    initialized = 0;
    CHECK(!pmix_initialized());
    has_module = has_open = true;
    CHECK(!rte_pmix_open(&place) && openings == 1 && !lines); /* the module has said why */
    CHECK(initialized == 1 && pmix_initialized());
    opens = true;
    CHECK(rte_pmix_open(&place) == &backend && pmix_initialized()); /* it ran before */
    initialized = 0;
    CHECK(rte_pmix_open(&place) == &backend && initialized == 1 && !pmix_initialized()); /* for this library alone */
    CHECK(openings == 3 && !lines);
}

static void says_why_not(const char *rank, int pe, bool module, const char *why, const char *words)
{
    begin();
    has_module = module;
    has_open = false;
    reason = why;
    CHECK((rank ? setenv("PMIX_RANK", rank, 1) : unsetenv("PMIX_RANK")) == 0);
    CHECK(!rte_pmix_open(&place) && lines == 1 && alike == pe && strstr(logged, words));
}

static void no_pmix(void)
{
    says_why_not("12", 12, false, "a reason", "there is no use of it: a reason;");
    says_why_not(0, 0, false, 0, "there is no use of it: the linker's words;");
    says_why_not("3", 3, true, 0, "there is no use of it: the linker's words;");
}

int main(void)
{
    numbers();
    inherits();
    alone();
    asks_for_pmix();
    pmix_runs_for_others();
    no_pmix();
    return 0;
}
