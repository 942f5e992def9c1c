/* lateral-info --doctor: looks at what a job needs, by trying it where that is possible. */
#include "info.h"

#include "base/env.h"
#include "base/meant.h"
#include "layers.h"
#include "../launch/needed.h"
#include "net/adapters.h"

#include <fcntl.h>
#include <limits.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int wrong; /* lines that said no */

enum verdict { GOOD, NOTE, BAD };

static void tell_line(enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void tell_line(enum verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "WRONG"};
    va_list arguments;
    va_start(arguments, format);
    printf("%-6s %-16s ", words[verdict], what);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    wrong += verdict == BAD;
}

/* Stores the path of a program that a shell finds; it lives until the end. */
static bool in_path(const char *name, char **path)
{
    return program_search(AT_FDCWD, name, path) == 0;
}

static void look_at_variables(const char *refused)
{
    int odd = 0;
    if (refused)
        tell_line(BAD, "variables", "%s", refused);
    for (char **entry = environ; *entry; entry++) {
        const char *meant = meant_variable(*entry);
        if (meant)
            tell_line(NOTE, "variables", "no variable is named %.*s; did you mean %s?", (int)strcspn(*entry, "="),
                      *entry, meant);
        odd += meant != 0;
    }
    if (!refused && !odd)
        tell_line(GOOD, "variables", "all values can be read");
}

/* Another library's oshcc or oshrun would be used in place of this one's. */
static void look_at_path(void)
{
    static const char *const names[] = {"oshrun", "oshcc"};
    for (int i = 0; i < 2; i++) {
        char ours[PATH_MAX], other[PATH_MAX], *found;
        if (!layer_beside(names[i], ours, sizeof ours))
            tell_line(NOTE, names[i], "not installed beside lateral-info");
        else if (!in_path(names[i], &found))
            tell_line(NOTE, names[i], "not in PATH; call it as %s", ours);
        else if (!realpath(found, other) || strcmp(ours, other) != 0)
            tell_line(NOTE, names[i], "PATH finds %s, which is not %s", found, ours);
        else
            tell_line(GOOD, names[i], "%s", found);
    }
}

static void look_at_limits(void)
{
    struct rlimit files, space;
    struct machine machine = facts_machine();
    double heap = (double)env_size(ENV_SYMMETRIC_SIZE);
    tell_line(machine.allowed > 1 ? GOOD : NOTE, "cores", "%d allowed of %d%s", machine.allowed, machine.cores,
              machine.allowed > 1 ? "" : "; PEs take turns, so figures of speed mean little");
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && (double)space.rlim_cur < 2 * heap)
        tell_line(BAD, "address space",
                  "limited to %.1f GiB (ulimit -v): less than the heaps of two PEs; lower SHMEM_SYMMETRIC_SIZE",
                  (double)space.rlim_cur / (1 << 30));
    if (heap > machine.memory)
        tell_line(NOTE, "heap",
                  "SHMEM_SYMMETRIC_SIZE is more than the machine's memory; only pages that are used count");
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max != RLIM_INFINITY && files.rlim_max < 1024)
        tell_line(NOTE, "open files", "at most %llu (ulimit -Hn): enough for about %llu PEs",
                  (unsigned long long)files.rlim_max,
                  (unsigned long long)(files.rlim_max > 132 ? (files.rlim_max - 132) / 2 : 0));
}

/* Reads a setting of the system. Returns its bytes, without the end of the line; 0: it has none. */
static size_t read_setting(const char *path, char *words, size_t room)
{
    FILE *file = fopen(path, "re");
    words[file ? fread(words, 1, room - 1, file) : 0] = 0;
    if (file)
        fclose(file);
    words[strcspn(words, "\n")] = 0;
    return strlen(words);
}

/* What hosts of a job should have alike, besides the lines above. */
static void look_at_host(void)
{
    char words[128];
    struct rlimit locked;
    tell_line(GOOD, "version", "Lateral %s", LATERAL_VERSION);
    if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY)
        tell_line(NOTE, "locked memory",
                  "at most %llu KiB (ulimit -l): adapters for RDMA want unlimited; TCP needs none",
                  (unsigned long long)locked.rlim_cur >> 10);
    else
        tell_line(GOOD, "locked memory", "without a limit");
    if (read_setting("/sys/devices/system/clocksource/clocksource0/current_clocksource", words, sizeof words))
        tell_line(strcmp(words, "hpet") == 0 || strcmp(words, "acpi_pm") == 0 ? NOTE : GOOD, "clock", "%s%s", words,
                  strcmp(words, "hpet") == 0 || strcmp(words, "acpi_pm") == 0
                      ? ": each look at it takes a microsecond, so --stats and timed programs are slow"
                      : "");
    if (access("/proc/self/task", R_OK) != 0)
        tell_line(NOTE, "/proc", "is not mounted here: hangs and crashes are told without their places");
    if (read_setting("/proc/sys/kernel/yama/ptrace_scope", words, sizeof words) && atoi(words) > 1)
        tell_line(NOTE, "looks at PEs",
                  "ptrace is switched off (kernel.yama.ptrace_scope is %s): reports of a hang tell nothing of PEs "
                  "that are in no wait",
                  words);
}

/* The heap asks for huge pages (uccs/core/memory.c); the system's settings decide. */
static void look_at_huge_pages(void)
{
    static const char setting[] = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    char words[128];
    const size_t bytes = read_setting(setting, words, sizeof words);
    if (strstr(words, "[advise]") || strstr(words, "[within_size]") || strstr(words, "[always]") ||
        strstr(words, "[force]"))
        tell_line(GOOD, "huge pages", "heaps of more than 4 MiB have them");
    else if (bytes)
        tell_line(NOTE, "huge pages", "random access to large heaps is slower without: echo advise > %s", setting);
    else
        tell_line(NOTE, "huge pages", "this kernel has none for shared memory");
}

/* Reads a word of a child as PEs read each other's memory where it is not mapped. */
static void look_at_copies(void)
{
    volatile long word = 42;
    long copy = 0;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct iovec here = {&copy, sizeof copy}, there = {(void *)&word, sizeof word};
    bool good = child > 0 && process_vm_readv(child, &here, 1, &there, 1, 0) == sizeof copy && copy == 42;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, 0, 0);
    }
    tell_line(good ? GOOD : NOTE, "kernel copies",
              good ? "PEs may read each other's memory (process_vm_readv)"
                   : "not allowed here; copies of memory outside the heap go through messages, which is slower");
}

/* A job of two PEs, each of which runs info_doctor_pe. */
static void try_job(void)
{
    char oshrun[PATH_MAX], self[PATH_MAX], command[3 * PATH_MAX], answer[512] = "";
    if (!layer_beside("oshrun", oshrun, sizeof oshrun) || !realpath("/proc/self/exe", self))
        return;
    if (strchr(oshrun, '\'')) {
        tell_line(NOTE, "a job", "not tried: a quote is in the path of oshrun");
        return;
    }
    snprintf(command, sizeof command, "'%s' -n 2 --timeout 20 '%s' --doctor-pe 2>&1", oshrun, self);
    FILE *job = popen(command, "re");
    size_t bytes = job ? fread(answer, 1, sizeof answer - 1, job) : 0;
    answer[bytes] = 0;
    int status = job ? pclose(job) : -1;
    answer[strcspn(answer, "\n")] = 0;
    if (status == 0)
        tell_line(GOOD, "a job", "two PEs put to and get from each other");
    else
        tell_line(BAD, "a job", "oshrun -n 2 fails: %s", *answer ? answer : "no word why");
}

static void tell_library(const char *name, const struct facts_module *module)
{
    tell_line(module->path ? GOOD : NOTE, name, module->path ? "%s, %s" : "not here: %s%s",
              module->path ? module->version : module->why, module->path ? module->path : "");
}

/* A provider in software, which is what a libfabric without the adapter's own finds. */
static void tell_provider(void)
{
    bool software = false;
    const char *provider = facts_provider(&software);
    if (!provider)
        tell_line(BAD, "provider",
                  "libfabric has none with messages: see fi_info -t FI_EP_RDM, or set LATERAL_TRANSPORTS=tcp");
    else if (software)
        tell_line(
            NOTE, "provider",
            "libfabric takes %s, which is software over IP and slower than Lateral's own TCP: set LATERAL_TRANSPORTS=tcp, "
            "or install a libfabric with the adapter's provider (fi_info lists them; FI_PROVIDER names one)",
            provider);
    else
        tell_line(GOOD, "provider", "libfabric takes %s", provider);
}

/* Which network this host's jobs use, and why. */
static void tell_network(const struct facts_module *ucx, const struct facts_module *ofi)
{
    const char *chosen = getenv("LATERAL_TRANSPORTS");
    struct adapter adapter;
    const bool named = chosen && *chosen && strcmp(chosen, "auto") != 0;
    const char *network = named ? chosen : adapters_choose("/sys/class", &adapter);
    const bool is_ofi = strcmp(network, "ofi") == 0, is_ucx = strcmp(network, "ucx") == 0;
    const char *library = is_ucx ? "UCX" : "libfabric";
    const char *why = named ? "LATERAL_TRANSPORTS" : adapter.name, *driver = named ? "set" : adapter.driver;
    if (!is_ofi && !is_ucx)
        tell_line(GOOD, "network", "%s: messages go over %s",
                  named ? "LATERAL_TRANSPORTS is set" : "no adapter for RDMA", named ? chosen : "TCP");
    else if ((is_ucx ? ucx : ofi)->path)
        tell_line(GOOD, "network", "%s (%s): messages go over %s", why, *driver ? driver : "its class", library);
    else
        tell_line(BAD, "network",
                  "%s (%s) wants %s, which is not here: build Lateral where %s is, or set LATERAL_TRANSPORTS=tcp", why,
                  *driver ? driver : "its class", library, is_ucx ? "libucx-dev" : "libfabric-dev");
    if (is_ofi && ofi->path)
        tell_provider();
}

static void look_at_nodes(void)
{
    static const char *const launchers[] = {"srun", "prterun", "mpirun", "mpiexec.hydra"};
    struct facts_module tcp = facts_module(FACTS_TCP), ucx = facts_module(FACTS_UCX), ofi = facts_module(FACTS_OFI),
                        pmix = facts_module(FACTS_PMIX);
    char *path;
    int found = 0;
    tell_line(tcp.path ? GOOD : NOTE, "other nodes", tcp.path ? "over TCP%s" : "not over TCP: %s", tcp.why);
    tell_library("UCX", &ucx);
    tell_library("libfabric", &ofi);
    tell_network(&ucx, &ofi);
    if (!pmix.path)
        tell_line(NOTE, "pmix", "mpirun, prterun and srun --mpi=pmix cannot start PEs: %s", pmix.why);
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (in_path(launchers[i], &path)) {
            tell_line(GOOD, launchers[i], "%s", path);
            found++;
        }
    if (!found)
        tell_line(NOTE, "launchers", "none for other nodes in PATH (srun, prterun, mpirun, mpiexec.hydra)");
}

static void look_at_tools(void)
{
    static const char *const tools[] = {"addr2line", "eu-addr2line", "llvm-symbolizer"};
    char *path = NULL;
    bool found = false;
    for (size_t i = 0; i < sizeof tools / sizeof *tools && !found; i++)
        found = in_path(tools[i], &path);
    tell_line(found ? GOOD : NOTE, "source lines",
              found ? "%s" : "oshrun names functions alone: install binutils for addr2line%s", found ? path : "");
    found = in_path("gdb", &path) || in_path("eu-stack", &path);
    tell_line(found ? GOOD : NOTE, "stacks", found ? "%s" : "oshrun --get-stack-traces needs gdb or eu-stack%s",
              found ? path : "");
}

static void look_at_layers(void)
{
    for (int i = 0; layer_name(i); i++) {
        struct facts_layer layer = facts_layer(i);
        if (layer.installed)
            tell_line(*layer.path ? GOOD : NOTE, layer_name(i),
                      *layer.path ? "lateral-mpi works with %s" : "its MPI is not found%s", layer.path);
    }
}

int info_doctor(const char *refused)
{
    look_at_variables(refused);
    look_at_path();
    if (!refused) {
        look_at_limits();
        fflush(stdout);
        try_job();
    }
    look_at_host();
    look_at_huge_pages();
    look_at_copies();
    look_at_nodes();
    look_at_layers();
    look_at_tools();
    if (wrong)
        printf("\n%d thing%s must be mended before jobs run here\n", wrong, wrong > 1 ? "s" : "");
    return wrong ? 1 : 0;
}

int info_doctor_pe(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long *box = shmem_calloc(1, sizeof *box);
    shmem_long_p(box, me + 1, (me + 1) % pes);
    shmem_barrier_all();
    long left = (me + pes - 1) % pes;
    bool good = *box == left + 1 && shmem_long_g(box, (me + 1) % pes) == me + 1;
    shmem_finalize();
    return good ? 0 : 1;
}
