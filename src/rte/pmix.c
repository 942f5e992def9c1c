/* Loads a module that speaks with PMIx launchers (Open MPI's mpirun, PRRTE, Slurm), so that liblateral itself needs no
 * PMIx. */
#include "base/atomic.h"
#include "base/log.h"
#include "base/module.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

int rte_pmix_is_there(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

static bool started; /* by this library, for nobody else */

static bool is_initialized(void)
{
    int (*ask)(void) = (int (*)(void))module_symbol("libpmix.so.2", "PMIx_Initialized");
    return ask && ask();
}

/* The first of this name in the process, so that libraries find it instead of libpmix's. Open MPI 5 asks it in MPI_Init,
 * and where PMIx runs it does not call PMIx_Init, does not learn its own name and fails. So PMIx does not run for others
 * while this library has started it. They start it once more, and PMIx counts. Any thread. */
__attribute__((visibility("default"))) int PMIx_Initialized(void);
int PMIx_Initialized(void)
{
    return !atomic_load_acquire(&started) && is_initialized(); /* release: rte_pmix_open */
}

const struct rte_backend *rte_pmix_open(struct rte_rank *place)
{
    static const struct rte_module_calls calls = {LATERAL_VERSION, log_line, rte_leave, rte_launcher_lost};
    const char *why = 0;
    void *module = module_open("pmix", &why);
    rte_module_open *open = module ? (rte_module_open *)dlsym(module, "lateral_pmix_open") : 0;
    if (!open) {
        const char *rank = getenv("PMIX_RANK");
        log_alike(rank ? atoi(rank) : 0,
                  "the launcher speaks PMIx, but there is no use of it: %s; build Lateral where pmix.h is "
                  "(Debian: libpmix-dev), or start the program with oshrun",
                  why ? why : dlerror());
        return 0;
    }
    bool before = is_initialized();
    const struct rte_backend *backend = open(&calls, place);
    atomic_store_release(&started, backend && !before); /* acquire: PMIx_Initialized */
    return backend;
}
