/* lateral-info: shows this installation and how it would run here: version, build, machine, transports, launchers, MPI
 * layers, and every environment variable with its value and the origin of that value. */
#include "base/env.h"
#include "base/module.h"
#include "layers.h"
#include "needed.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: lateral-info [--version | --env | --help]\n"
    "\n"
    "Prints version, build, machine, transports, launchers, MPI layers and environment variables.\n"
    "\n"
    "  --version   the version alone\n"
    "  --env       the environment variables alone\n"
    "  --help      this text\n"
    "\n"
    "examples:\n"
    "  lateral-info\n"
    "  SHMEM_SYMMETRIC_SIZE=2g lateral-info --env\n"
    "\n"
    "exit status: 0; 1 when a variable has a value that the library would refuse; 2 for a wrong option\n";

static void print_build(void)
{
    printf("Lateral " LATERAL_VERSION ", OpenSHMEM 1.6\n\n");
    printf("Build\n  compiler    " __VERSION__ "\n  target      %s\n",
#if defined(__x86_64__)
           "x86_64"
#elif defined(__aarch64__)
           "aarch64"
#else
           "other"
#endif
    );
#ifdef NDEBUG
    printf("  assertions  off\n");
#else
    printf("  assertions  on\n");
#endif
}

static void print_machine(void)
{
    char host[256] = "";
    cpu_set_t allowed;
    gethostname(host, sizeof host - 1);
    int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    printf(
        "\nMachine\n  host        %s\n  cores       %d allowed of %ld\n  memory      %.1f GiB\n  page        %ld bytes\n",
        host, cores, sysconf(_SC_NPROCESSORS_ONLN),
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1 << 30), sysconf(_SC_PAGESIZE));
}

/* Prints a module, its purpose, and the library it works with; `function` returns that library's version. */
static void print_module(const char *name, const char *serves, const char *function)
{
    const char *why = "";
    void *module = module_open(name, &why);
    const char *(*version)(void) = module ? (const char *(*)(void))dlsym(module, function) : 0;
    Dl_info library;
    if (version && dladdr((void *)version, &library))
        printf("  %-11s %s: %s, %s\n", name, serves, version(), library.dli_fname);
    else
        printf("  %-11s %s: not here: %s\n", name, serves, module ? "no version" : why);
}

static void print_transports(void)
{
    printf("\nTransports\n  shm         PEs of one node: shared memory, processor atomics\n");
    print_module("ucx", "PEs of other nodes", "ucp_get_version_string");
    printf("\nLaunchers\n  oshrun      one node\n  pmi         Hydra, srun --mpi=pmi2\n");
    print_module("pmix", "mpirun, prterun, srun --mpi=pmix", "PMIx_Get_version");
}

struct found_mpi {
    char soname[64], path[PATH_MAX];
};

static bool take_mpi(const char *name, const char *path, void *state)
{
    struct found_mpi *found = state;
    if (!layer_of_library(name))
        return false;
    snprintf(found->soname, sizeof found->soname, "%s", name);
    snprintf(found->path, sizeof found->path, "%s", path ? path : "");
    return true;
}

/* Prints for each MPI whether its one-sided functions can be Lateral's here, and the library that the layer works with. */
static void print_layers(void)
{
    printf("\nMPI layers (lateral-mpi)\n");
    for (int i = 0; layer_name(i); i++) {
        char layer[PATH_MAX];
        struct found_mpi found;
        bool taken = false;
        if (!layer_find(layer_name(i), layer, sizeof layer))
            printf("  %-11s not in this installation\n", layer_name(i));
        else if (needed_walk(layer, take_mpi, &found, &taken) == NEEDED_DYNAMIC && taken && *found.path)
            printf("  %-11s %s, %s\n", layer_name(i), found.soname, found.path);
        else
            printf("  %-11s its MPI is not where the dynamic linker looks\n", layer_name(i));
    }
}

static void print_variables(void)
{
    printf("Environment\n");
    for (int id = 0; id < ENV_COUNT; id++) {
        const struct env_variable *variable = env_describe((enum env_id)id);
        const char *from, *value = env_value((enum env_id)id, &from);
        printf("  %-24s %-14s %s%s\n  %24s %s\n", variable->name, *value ? value : "-", from ? "from " : "default",
               from ? from : "", "", variable->help);
    }
}

int main(int argc, char **argv)
{
    const char *why, *what = argc > 1 ? argv[1] : "";
    if (argc > 2 || (*what && strcmp(what, "--version") && strcmp(what, "--env") && strcmp(what, "--help"))) {
        fprintf(stderr, "lateral-info: unknown option %s; see lateral-info --help\n", argc > 2 ? argv[2] : what);
        return 2;
    }
    if (!strcmp(what, "--help"))
        return fputs(usage, stdout) < 0;
    if (!strcmp(what, "--version"))
        return printf("lateral-info " LATERAL_VERSION "\n") < 0;
    int refused = env_load(&why);
    if (!*what) {
        print_build();
        print_machine();
        print_transports();
        print_layers();
        printf("\n");
    }
    if (refused)
        fprintf(stderr, "lateral-info: %s\n", why);
    else
        print_variables();
    return refused ? 1 : 0;
}
