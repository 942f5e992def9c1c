/* What reading the line, the hosts, the environment and the processors asks of memory and files: how much, how often,
 * and what holds when there is none.
 * flags: -D_GNU_SOURCE */
#include "apart.h"
#include "cores.h"
#include "environment.h"
#include "hosts.h"
#include "message.h"
#include "refusing.h"
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#define LATERAL_VERSION "0"
#define LATERAL_LIB_FROM_BIN "../here"

const char options_help[] = "help";
static int files_open, zeroed, freed, prints_until_failure = -1;

static void keep_line(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

static _Noreturn void leave(int status)
{
    note("leave %d\n", status);
    longjmp(left, 1);
}

int status_print(pid_t pid)
{
    return pid;
}

static int put_text(const char *text, FILE *file)
{
    CHECK(file == stdout);
    note("%s", text);
    return 0; /* any number that is not below 0 is good */
}

static void *there_or_leave(void *memory)
{
    if (memory)
        return memory;
    note("out of memory\n");
    longjmp(left, 1);
}

/* Zeros, and behind them what is none. */
static void *zeros(size_t count, size_t bytes)
{
    unsigned char *memory = malloc(count * bytes + 16);
    CHECK(memory);
    memset(memory, 0, count * bytes);
    memset(memory + count * bytes, 0xff, 16);
    zeroed++;
    return memory;
}

static size_t wanted_bytes; /* of the next request for more; 0: any */

static void *more_memory(void *old, size_t bytes)
{
    CHECK(!wanted_bytes || bytes == wanted_bytes);
    return realloc(old, bytes);
}

static void give_back(void *memory)
{
    freed += memory != NULL;
    free(memory);
}

static int print(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes = prints_until_failure-- == 0 ? -1 : vasprintf(text, format, arguments);
    va_end(arguments);
    if (bytes < 0)
        *text = strdup("lost");
    return bytes;
}

static const char *siblings(const char *path)
{
    int cpu;
    CHECK(sscanf(path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", &cpu) == 1);
    return cpu < 2 ? "8192\n" : cpu < 4 ? "-1\n" : cpu < 6 ? "8191\n" : NULL; /* names of no processor, then of one */
}

static FILE *open_file(const char *path, const char *mode)
{
    const char *text = *path == '/' ? siblings(path) : "a\nb slots=2\n";
    CHECK(strcmp(mode, "re") == 0);
    files_open += text != NULL;
    return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

static int close_file(FILE *file)
{
    files_open--;
    return fclose(file);
}

static int get_allowed(cpu_set_t *set, size_t bytes)
{
    for (size_t cpu = 0; cpu < 8; cpu++)
        CPU_SET_S(cpu, bytes, set);
    return 0;
}

static const char *self;

static ssize_t read_link(const char *path, char *text, size_t bytes)
{
    CHECK(strcmp(path, "/proc/self/exe") == 0 && bytes == PATH_MAX - 1);
    const size_t length = self ? strlen(self) : 0;
    memset(text, '/', bytes);
    if (self)
        memcpy(text, self, length);
    return self ? (ssize_t)length : -1;
}

static char looked[2 * PATH_MAX + 400];

static int can_read(const char *path, int how)
{
    CHECK(how == R_OK && strlen(looked) + strlen(path) + 2 < sizeof looked);
    strcat(strcat(looked, path), " ");
    return -1;
}

#define access can_read
#define asprintf print
#define calloc zeros
#define exit leave
#define fclose close_file
#define fopen open_file
#define fputs put_text
#define free give_back
#define readlink read_link
#define realloc more_memory
#define say_if_null there_or_leave
#define say_usage refuse
#define sched_getaffinity(pid, bytes, set) get_allowed(set, bytes)
#include "cores.c"
#include "../../launch/environment.c" /* beside this file lies its test */
#include "options.c"
#include "hosts.c"
#undef asprintf
#undef calloc
#undef exit
#undef fclose
#undef fopen
#undef fputs
#undef free
#undef realloc

/* ---- the line ---- */

static void exports(void)
{
    struct app app = {0};
    for (size_t count = 1; count < 5; count++) {
        wanted_bytes = count * sizeof(char *);
        read_export(&app, "-x", "A");
        CHECK(app.nexports == count);
    }
}

static void answers(void)
{
    if (setjmp(left) == 0)
        print_and_exit("text\n");
    happens("text\nleave 0\n");
}

static void counts(void)
{
    struct app apps[2] = {{.count = UINT32_C(1) << 31}, {.count = UINT32_C(1) << 31}};
    struct options options = {.apps = apps, .napps = 2};
    if (setjmp(left) == 0)
        settle_counts(&options);
    happens("4294967296 PEs: at most 65536 are possible\n");
    options.pes = UINT32_C(1) << 31;
    options.input = 65536;
    options_check_input(&options);
    happens("");
    apps[0] = (struct app){.count = 2, .per_node = 2};
    apps[1] = (struct app){.count = 3, .per_node = 2};
    options.napps = 1;
    keep_limits(&options); /* of the first */
    happens("");
    options.napps = 2;
    if (setjmp(left) == 0)
        keep_limits(&options);
    happens("-N 2 -n 3: this job has one node, which has to take all PEs\n");
}

static void arguments(void)
{
    char *argv[] = {(char *)"p", (char *)"x", NULL};
    struct app app = {.argv = argv};
    struct options options = {.apps = &app, .napps = 1};
    options_keep_arguments(&options);
    CHECK(app.argv != argv && strcmp(app.argv[0], "p") == 0 && strcmp(app.argv[1], "x") == 0 && !app.argv[2]);
    CHECK(app.argv[0] != argv[0] && zeroed == 1);
}

/* ---- hosts ---- */

static void host_files(void)
{
    struct hosts hosts = {0};
    read_file(&hosts, "--hostfile", "f");
    CHECK(files_open == 0 && hosts.count == 2);
    freed = 0;
    hosts_free(&hosts);
    CHECK(freed == 3 && !hosts.host && hosts.count == 0); /* two names, one list */
}

/* ---- the environment ---- */

static void libraries(void)
{
    static char deep[4000 + 20];
    self = "/b/oshrun";
    CHECK(!find_library("x"));
    CHECK(strcmp(looked, "/b/../here/liblateral-x.so /b/../lib/liblateral-x.so ") == 0);
    *looked = 0;
    self = NULL;
    CHECK(!find_library("x"));
    CHECK(strcmp(looked, "/../here/liblateral-x.so /../lib/liblateral-x.so ") == 0);
    *looked = 0;
    memset(deep, 'd', 4000);
    *deep = '/';
    strcpy(deep + 4000, "/oshrun");
    self = deep;
    CHECK(!find_library("x"));
    CHECK(strlen(looked) == 2 * 4000 + strlen("/../here/liblateral-x.so /../lib/liblateral-x.so "));
}

static void joined(void)
{
    char *list[4] = {strdup("AB=1"), strdup("A=1"), NULL};
    put(list, "A=2");
    CHECK(strcmp(list[0], "AB=1") == 0 && strcmp(list[1], "A=2") == 0 && !list[2]);
    put_joined(list, "A=", "x", true);
    CHECK(strcmp(list[1], "A=x:2") == 0);
    put_joined(list, "C=", "y", false);
    CHECK(strcmp(list[2], "C=y") == 0 && !list[3]);
    prints_until_failure = 0;
    if (setjmp(left) == 0)
        put_joined(list, "A=", "x", true);
    happens("out of memory\n");
    prints_until_failure = 0;
    if (setjmp(left) == 0)
        path_setting("T", "f");
    happens("out of memory\n");
}

static void lists(void)
{
    static char *none[] = {NULL};
    struct app app = {0};
    const struct layer layer = {0};
    environ = none;
    char **list = environment_make(&app, 2, &layer);
    CHECK(zeroed == 3); /* the list, and two entries of each PE's own */
    environment_name_pe(list, 3, 1, 4);
    CHECK(strcmp(list[0], "LATERAL_JOB=3:1:4") == 0 && strcmp(list[1], "LATERAL_PE=1") == 0);
    CHECK(strcmp(list[2], "LATERAL_NPES=2") == 0 && strcmp(list[3], "UCX_HANDLE_ERRORS=none") == 0 && !list[4]);
}

/* ---- processors ---- */

static void cores(void)
{
    struct cpus cpus;
    static const int each[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 5}, {6, 6}, {7, 7}};
    CHECK(cores_allowed() == 8);
    for (uint32_t pe = 0; pe < 14; pe++) {
        cores_of_pe(pe, &cpus);
        const int first = each[pe % 7][0], last = each[pe % 7][1];
        CHECK(CPU_COUNT_S(sizeof cpus, cpus.set) == 1 + last - first);
        CHECK(CPU_ISSET_S((size_t)first, sizeof cpus, cpus.set) && CPU_ISSET_S((size_t)last, sizeof cpus, cpus.set));
    }
    CHECK(files_open == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {exports,   answers, counts, arguments, host_files,
                                          libraries, joined,  lists,  cores};
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
