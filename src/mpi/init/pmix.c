/* The library is loaded here, as it may come with the MPI's start only. The declarations are those of the PMIx standard, alike in
 * versions 2 to 5, so that the layer is built without PMIx's headers. */
#include "mpi/init/init.h"

#include "mpi/core/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, TYPE_BOOL = 1, SCOPE_GLOBAL = 3 };

struct process {
    char space[256];
    uint32_t rank;
};

struct value {
    uint16_t type;
    union {
        bool flag;
        void *widest[3];
    } data;
};

struct option {
    char key[512];
    uint32_t flags;
    struct value value;
};
_Static_assert(offsetof(struct option, value.data) == 528, "as PMIx lays it out");

static struct {
    int (*init)(struct process *self, struct option *options, size_t n);
    int (*put)(uint8_t scope, const char *key, struct value *value);
    int (*commit)(void);
    int (*get)(const struct process *peer, const char *key, const struct option *options, size_t n,
               struct value **value);
    int (*finalize)(const struct option *options, size_t n);
    bool runs;
    bool published; /* this rank's word is there */
} pmix;
static struct process self;

static bool find_library(void)
{
    void *library = getenv("PMIX_NAMESPACE") ? dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL) : 0;
    if (!library)
        return false;
    pmix.init = (__typeof__(pmix.init))dlsym(library, "PMIx_Init");
    pmix.put = (__typeof__(pmix.put))dlsym(library, "PMIx_Put");
    pmix.commit = (__typeof__(pmix.commit))dlsym(library, "PMIx_Commit");
    pmix.get = (__typeof__(pmix.get))dlsym(library, "PMIx_Get");
    pmix.finalize = (__typeof__(pmix.finalize))dlsym(library, "PMIx_Finalize");
    return pmix.init && pmix.put && pmix.commit && pmix.get && pmix.finalize;
}

/* PMIx counts its starts. Open MPI 5 takes a PMIx that runs already for its own, so it must not see this one (src/rte/pmix.c). */
LMPI_EXPORT int PMIx_Initialized(void);
int PMIx_Initialized(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMIx_Initialized");
    return !pmix.runs && next && next();
}

void lmpi_pmix_begin(void)
{
    struct value here = {.type = TYPE_BOOL, .data.flag = true};
    if (!find_library() || pmix.init(&self, 0, 0) != SUCCESS)
        return;
    pmix.runs = true;
    pmix.published = pmix.put(SCOPE_GLOBAL, "lateral-mpi", &here) == SUCCESS && pmix.commit() == SUCCESS;
}

bool lmpi_pmix_is_there(bool *published)
{
    *published = pmix.published;
    return pmix.runs;
}

bool lmpi_pmix_knows(int rank)
{
    const struct option immediate = {.key = "pmix.immediate", .value = {.type = TYPE_BOOL, .data.flag = true}};
    struct process peer = {.rank = (uint32_t)rank};
    struct value *value = 0;
    memcpy(peer.space, self.space, sizeof peer.space);
    const bool known = pmix.get(&peer, "lateral-mpi", &immediate, 1, &value) == SUCCESS;
    free(value); /* a truth value holds no more memory */
    return known;
}

void lmpi_pmix_end(void)
{
    if (pmix.runs)
        pmix.finalize(0, 0);
    pmix.runs = false;
}
