/* Loads a module that speaks with PMIx launchers (Open MPI's mpirun, PRRTE, Slurm), so that liblateral itself needs no
 * PMIx. */
#include "base/log.h"
#include "base/module.h"
#include "rte/backend.h"

#include <dlfcn.h>
#include <stdlib.h>

int rte_pmix_is_there(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

const struct rte_backend *rte_pmix_open(struct rte_place *place)
{
    static const struct rte_module_calls calls = {LATERAL_VERSION, log_line, rte_leave};
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
    return open(&calls, place);
}
