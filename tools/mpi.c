/* lateral-mpi: finds the MPI that a program is linked with, and becomes the program with the layer for that MPI preloaded.
 * In front of a launcher it puts itself before the launcher's program, so that the launcher has no layer in it. */
#include "layers.h"
#include "../launch/hosts.h"
#include "../launch/needed.h"
#include "base/clock.h"
#include "base/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: lateral-mpi [--mpi=NAME] [--stats] [--trace=FILE] [--timeout=TIME] [--print] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs an MPI program with Lateral's MPI layer: its one-sided functions (MPI_Put, MPI_Win_...) are\n"
    "Lateral's, all others the MPI's. The program stays as it is.\n"
    "\n"
    "  --mpi=NAME   the MPI: openmpi or mpich; default: the one that PROGRAM is linked with. An interpreter\n"
    "               such as python is linked with none, so name its MPI\n"
    "  --stats      print at the end what each rank did in calls on windows, where it waited, and who sent to whom\n"
    "  --trace=FILE write a timeline of these calls, for lateral-report, Perfetto and Chrome\n"
    "  --timeout=TIME  in front of a launcher: ends the job after 90, 90s, 1.5m or 2h, and tells what its\n"
    "               processes wait for in calls on windows, on all hosts; so does Ctrl-\\ then\n"
    "  --print      print what LD_PRELOAD would be, and run nothing\n"
    "  --version    the version\n"
    "  --help       this text\n"
    "\n"
    "examples:\n"
    "  mpirun -n 4 lateral-mpi ./program\n"
    "  lateral-mpi mpirun -n 4 ./program\n"
    "  mpirun -n 4 lateral-mpi --mpi=openmpi python3 program.py\n"
    "  lateral-mpi --timeout=60 mpirun -n 4 ./program\n"
    "  lateral-mpi --stats mpirun -n 4 ./program\n"
    "  oshrun --status PID                       (of mpirun: what its processes here wait for; the job goes on)\n"
    "  LATERAL_MPI=verbose mpirun -n 2 lateral-mpi ./program    (says who carries each window)\n"
    "\n"
    "exit status: that of PROGRAM; 124 after the time limit; 2 for a wrong option; 125 when no layer fits; 126 when PROGRAM cannot\n"
    "be run; 127 when there is no PROGRAM\n";

/* What the command line asks for. */
struct wishes {
    const char *mpi; /* null: the program's */
    bool stats, print;
    char trace[PATH_MAX]; /* empty: none */
    const char *limit;    /* null: none */
};

#define TOOLS_ROOM (4 * PATH_MAX)

enum { WRONG_OPTION = 2, NO_LAYER = 125, NOT_RUN = 126, NO_PROGRAM = 127 };

static const char *const launchers[] = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", 0};

static void fail_with(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
static void fail_with(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("lateral-mpi: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

/* Stores the path of the program, or fails as a shell does. */
static void find_program(const char *word, char **path)
{
    const int why = program_search(AT_FDCWD, word, path);
    const bool missing = why == ENOENT || why == ENOTDIR;
    if (why)
        fail_with(missing ? NO_PROGRAM : NOT_RUN, "cannot run %s: %s", word,
                  missing ? "there is no such program" : "it is not an executable file");
}

static bool take_mpi(const char *name, const char *path, void *state)
{
    (void)path;
    *(const char **)state = layer_of_library(name);
    return *(const char **)state != 0;
}

static bool take_lateral(const char *name, const char *path, void *state)
{
    (void)path;
    (void)state;
    return strncmp(name, "liblateral.so", 13) == 0;
}

/* Returns the name of the MPI that a program file is linked with, or null; *why then says why it is not known. */
static const char *mpi_of(const char *path, const char **why)
{
    const char *mpi = 0;
    bool taken;
    switch (needed_walk(path, take_mpi, &mpi, &taken)) {
    case NEEDED_ABSENT: *why = "cannot be read"; break;
    case NEEDED_FOREIGN: *why = "is a script, or made for another machine"; break;
    case NEEDED_STATIC: *why = "has no shared libraries, so that nothing can be preloaded"; break;
    default: *why = "is linked with no MPI that has a layer"; break;
    }
    return mpi;
}

static bool is_launcher(const char *word)
{
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
    for (int i = 0; launchers[i]; i++) {
        size_t length = strlen(launchers[i]);
        if (strncmp(name, launchers[i], length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

/* Tells whether a word of a launcher's command is the program that it starts. */
static bool is_started(const char *word, const char *mpi)
{
    char *path = NULL;
    const char *why;
    const bool started = *word != '-' && program_search(AT_FDCWD, word, &path) == 0 && (mpi || mpi_of(path, &why));
    free(path);
    return started;
}

/* Adds this program and the options that each rank wants. Returns how many words the command has then. */
static int add_self(char **command, int made, const struct wishes *wishes)
{
    static char self[PATH_MAX], mpi[64], trace[PATH_MAX + 16];
    if (!realpath("/proc/self/exe", self))
        fail_with(NOT_RUN, "cannot find itself");
    snprintf(mpi, sizeof mpi, "--mpi=%s", wishes->mpi ? wishes->mpi : "");
    snprintf(trace, sizeof trace, "--trace=%s", wishes->trace);
    command[made++] = self;
    if (wishes->mpi)
        command[made++] = mpi;
    if (wishes->stats)
        command[made++] = (char *)"--stats";
    if (*wishes->trace)
        command[made++] = trace;
    return made;
}

/* Becomes the launcher, with this program in front of each program that it starts; with a limit, becomes oshrun in front of the
 * launcher. */
static void become_launcher(char **words, int count, const struct wishes *wishes)
{
    char **command = calloc(5 * (size_t)count + 4, sizeof *command), *path, oshrun[PATH_MAX];
    int made = 0, programs = 0;
    if (!command)
        fail_with(NOT_RUN, "no memory");
    find_program(words[0], &path);
    if (wishes->limit) {
        command[made++] = (char *)"oshrun";
        command[made++] = (char *)FRONT_FOR_MPI;
        command[made++] = (char *)wishes->limit;
    }
    command[made++] = words[0];
    for (int i = 1, looking = 1; i < count; i++) {
        if (looking && is_started(words[i], wishes->mpi)) {
            made = add_self(command, made, wishes);
            looking = 0;
            programs++;
        } else if (strcmp(words[i], ":") == 0) {
            looking = 1;
        }
        command[made++] = words[i];
    }
    if (!programs)
        fail_with(
            NO_LAYER,
            "no program behind %s is linked with an MPI that has a layer: write %s ... lateral-mpi --mpi=NAME PROGRAM",
            words[0], words[0]);
    if (wishes->limit && !layer_beside("oshrun", oshrun, sizeof oshrun))
        fail_with(NOT_RUN, "--timeout: there is no oshrun beside lateral-mpi");
    execv(wishes->limit ? oshrun : path, command);
    fail_with(NOT_RUN, "cannot run %s: %s", path, strerror(errno));
}

static void check_path(const char *path)
{
    if (strpbrk(path, " :"))
        fail_with(
            NO_LAYER,
            "the dynamic linker cannot preload '%s': a blank or a colon is in its path; install Lateral elsewhere",
            path);
}

/* Takes a sanitizer's library of GCC. It must be the first one of the process, or it ends the program. */
static bool take_sanitizer(const char *name, const char *path, void *state)
{
    static const char *const all[] = {"libasan.so", "libhwasan.so", "libtsan.so", "liblsan.so"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(name, all[i], strlen(all[i])) == 0)
            return snprintf(state, PATH_MAX, "%s", path ? path : name) < PATH_MAX;
    return false;
}

/* Whether a library defines functions that the layer takes over, and is not the MPI, which defines their PMPI names too. */
static bool is_tool(const char *path)
{
    static const char *const taken[] = {
#define LMPI_ROW(name) "MPI_" #name,
#include "../src/mpi/core/taken.def"
#undef LMPI_ROW
    };
    const struct elf *elf = elf_open(path);
    if (elf_exports(elf, "PMPI_Init"))
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (elf_exports(elf, taken[i]))
            return true;
    return false;
}

/* Adds a tool's library to the list, and goes on. A path that cannot be preloaded is left out. */
static bool take_tool(const char *name, const char *path, void *list)
{
    (void)name;
    const size_t used = strlen(list);
    if (path && !strpbrk(path, " :") && used + strlen(path) + 2 < TOOLS_ROOM && is_tool(path))
        sprintf((char *)list + used, "%s:", path);
    return false;
}

/* Returns what to preload: a sanitizer that the program is linked with; what LD_PRELOAD has, and tools that the program is linked
 * with, so that those which define MPI_X and call PMPI_X stand in front of the layer as they do in front of an MPI; the library
 * that counts, where it is wanted; the layer. */
static char *list_preloads(const char *program, const char *mpi, bool counts)
{
    char layer[PATH_MAX], stats[PATH_MAX] = "", sanitizer[PATH_MAX] = "", tools[TOOLS_ROOM] = "", names[256];
    const char *had = getenv("LD_PRELOAD");
    char *value;
    bool taken;
    if (*program) {
        needed_walk(program, take_sanitizer, sanitizer, &taken);
        needed_walk(program, take_tool, tools, &taken);
    }
    if (!layer_find(mpi, layer, sizeof layer))
        fail_with(NO_LAYER, "there is no layer for %s here; there is: %s", mpi, layer_list(names, sizeof names));
    if (counts && !layer_find_stats(mpi, stats, sizeof stats))
        fail_with(NO_LAYER, "--stats, --trace: there is no liblateral-stats-mpi-%s.so beside the layer", mpi);
    check_path(layer);
    if (asprintf(&value, "%s%s%s%s%s%s%s%s", sanitizer, *sanitizer ? ":" : "", had ? had : "", had && *had ? ":" : "",
                 tools, stats, *stats ? ":" : "", layer) < 0)
        fail_with(NOT_RUN, "no memory");
    return value;
}

static bool is_first_of_several(const char *size, const char *number)
{
    const char *many = getenv(size), *which = getenv(number);
    return many && which && atoi(many) > 1 && strcmp(which, "0") == 0;
}

/* Says in the first process of a job that the launcher is another MPI's: the processes would not find each other. */
static void warn_lonely(const char *program, const char *mpi)
{
    const bool pmi = getenv("PMI_FD") || getenv("PMI_PORT"), pmix = getenv("PMIX_NAMESPACE") != NULL;
    const char *launcher = NULL, *right = NULL;
    if (strcmp(mpi, "mpich") == 0 && !pmi && is_first_of_several("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")) {
        launcher = "Open MPI's mpirun";
        right = "mpiexec.hydra";
    } else if (strcmp(mpi, "openmpi") == 0 && !pmix && is_first_of_several("PMI_SIZE", "PMI_RANK")) {
        launcher = "a launcher that speaks PMI, as MPICH's mpiexec does,";
        right = "Open MPI's mpirun";
    }
    if (launcher)
        fprintf(stderr,
                "lateral-mpi: %s is linked with %s, but %s has started it: each process is a job of one; use %s\n",
                program, mpi, launcher, right);
}

static void set_stats(const struct wishes *wishes)
{
    if (wishes->stats)
        setenv("LATERAL_STATS", "1", 1);
    if (*wishes->trace)
        setenv("LATERAL_TRACE", wishes->trace, 1);
}

static void become_program(char **words, const struct wishes *wishes)
{
    char *path = NULL;
    const char *why, *mpi = wishes->mpi;
    bool ours = false;
    if (wishes->print && mpi)
        (void)program_search(AT_FDCWD, words[0], &path); /* it need not be there */
    else
        find_program(words[0], &path);
    if (!mpi && !(mpi = mpi_of(path, &why)) && needed_walk(path, take_lateral, NULL, &ours) == NEEDED_DYNAMIC && ours)
        fail_with(NO_LAYER, "%s is a program of Lateral's OpenSHMEM and of no MPI: start it with oshrun", words[0]);
    if (!mpi)
        fail_with(NO_LAYER, "%s %s: name the MPI that it loads, with --mpi=openmpi or --mpi=mpich", words[0], why);
    char *value = list_preloads(path ? path : "", mpi, wishes->stats || *wishes->trace);
    if (wishes->print) {
        puts(value);
        exit(0);
    }
    warn_lonely(words[0], mpi);
    setenv("LD_PRELOAD", value, 1);
    if (wishes->stats || *wishes->trace)
        set_stats(wishes);
    execv(path, words);
    fail_with(errno == ENOENT ? NO_PROGRAM : NOT_RUN, "cannot run %s: %s", path, strerror(errno));
}

/* Stores the path of the timeline whole, as ranks may run in another folder. */
static bool take_trace(struct wishes *wishes, const char *path)
{
    char here[PATH_MAX] = "";
    if (!*path || (*path != '/' && !getcwd(here, sizeof here)))
        return false;
    return snprintf(wishes->trace, sizeof wishes->trace, "%s%s%s", here, *here ? "/" : "", path) <
           (int)sizeof wishes->trace;
}

/* LATERAL_STATS and LATERAL_TRACE do as the options. */
static void take_variables(struct wishes *wishes)
{
    const char *stats = getenv("LATERAL_STATS"), *trace = getenv("LATERAL_TRACE");
    wishes->stats = stats && *stats && strcmp(stats, "0") != 0;
    if (trace)
        take_trace(wishes, trace);
}

static bool take_option(struct wishes *wishes, const char *word)
{
    if (strcmp(word, "--print") == 0)
        return wishes->print = true;
    if (strcmp(word, "--stats") == 0)
        return wishes->stats = true;
    if (strncmp(word, "--trace=", 8) == 0)
        return take_trace(wishes, word + 8);
    double seconds;
    if (strncmp(word, "--timeout=", 10) == 0)
        return clock_read_seconds(wishes->limit = word + 10, &seconds) && seconds > 0;
    if (strncmp(word, "--mpi=", 6) != 0 || !layer_is_name(word + 6))
        return false;
    wishes->mpi = word + 6;
    return true;
}

int main(int argc, char **argv)
{
    static struct wishes wishes;
    int at = 1;
    take_variables(&wishes);
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "--help") == 0)
            return fputs(usage, stdout) < 0;
        if (strcmp(argv[at], "--version") == 0)
            return printf("lateral-mpi " LATERAL_VERSION "\n") < 0;
        if (!take_option(&wishes, argv[at]))
            fail_with(WRONG_OPTION, "unknown option %s; see lateral-mpi --help", argv[at]);
    }
    if (at == argc)
        fail_with(WRONG_OPTION, "which program? See lateral-mpi --help");
    if (is_launcher(argv[at]) && !wishes.print)
        become_launcher(argv + at, argc - at, &wishes);
    if (wishes.limit)
        fail_with(WRONG_OPTION,
                  "--timeout goes in front of a launcher: lateral-mpi --timeout=60 mpirun -n 4 ./program");
    become_program(argv + at, &wishes);
}
