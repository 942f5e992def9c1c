#include "info.h"

#include "base/module.h"
#include "net/transport.h"
#include "layers.h"
#include "../launch/needed.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
const char *const facts_target = "x86_64";
#elif defined(__aarch64__)
const char *const facts_target = "aarch64";
#else
const char *const facts_target = "other";
#endif
#ifdef NDEBUG
const bool facts_assertions = false;
#else
const bool facts_assertions = true;
#endif
const char *const facts_compiler = __VERSION__;

struct machine facts_machine(void)
{
    struct machine machine = {.page = sysconf(_SC_PAGESIZE), .cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct utsname names;
    cpu_set_t allowed;
    gethostname(machine.host, sizeof machine.host - 1);
    if (uname(&names) == 0)
        snprintf(machine.kernel, sizeof machine.kernel, "%s %s", names.sysname, names.release);
    machine.allowed = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    machine.memory = (double)sysconf(_SC_PHYS_PAGES) * (double)machine.page;
    return machine;
}

struct facts_module facts_module(enum facts_which which)
{
    static const struct {
        const char *name, *serves, *function;
    } modules[] = {[FACTS_TCP] = {"tcp", "PEs of other nodes", 0},
                   [FACTS_UCX] = {"ucx", "PEs of other nodes", "ucp_get_version_string"},
                   [FACTS_OFI] = {"ofi", "PEs of other nodes", "lateral_ofi_version"},
                   [FACTS_PMIX] = {"pmix", "mpirun, prterun, srun --mpi=pmix", "PMIx_Get_version"}};
    struct facts_module fact = {.name = modules[which].name, .serves = modules[which].serves};
    const char *function = modules[which].function, *why = 0;
    void *module = module_open(fact.name, &why);
    void *symbol = module ? dlsym(module, function ? function : TRANSPORT_SYMBOL) : 0;
    Dl_info library;
    if (symbol && dladdr(symbol, &library)) {
        fact.version = function ? ((const char *(*)(void))symbol)() : LATERAL_VERSION;
        fact.path = library.dli_fname;
    } else {
        snprintf(fact.why, sizeof fact.why, "%s", module ? "no version" : why ? why : "");
    }
    return fact;
}

const char *facts_provider(bool *software)
{
    const char *why;
    void *module = module_open("ofi", &why), *symbol = module ? dlsym(module, "lateral_ofi_provider") : 0;
    return symbol ? ((const char *(*)(bool *))symbol)(software) : 0;
}

static bool take_mpi(const char *name, const char *path, void *state)
{
    struct facts_layer *found = state;
    if (!layer_of_library(name))
        return false;
    snprintf(found->soname, sizeof found->soname, "%s", name);
    snprintf(found->path, sizeof found->path, "%s", path ? path : "");
    return true;
}

struct facts_layer facts_layer(int i)
{
    struct facts_layer fact = {.installed = false};
    char layer[PATH_MAX];
    bool taken = false;
    fact.installed = layer_find(layer_name(i), layer, sizeof layer);
    if (fact.installed && (needed_walk(layer, take_mpi, &fact, &taken) != NEEDED_DYNAMIC || !taken))
        *fact.path = 0;
    return fact;
}
