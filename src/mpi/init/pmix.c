/* The library is loaded here, as it may come with the MPI's start only. The declarations are those of the PMIx standard, alike in
 * versions 2 to 5, so that the layer is built without PMIx's headers. */
#include "mpi/init/init.h"

#include "mpi/core/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE 10 /* seconds for another host's answer. Ranks that judge each other differently would wait for ever */

enum { SUCCESS = 0, TYPE_BOOL = 1, TYPE_STRING = 3, TYPE_INT = 6, SCOPE_GLOBAL = 3 };

struct process {
    char space[256];
    uint32_t rank;
};

struct value {
    uint16_t type;
    union {
        bool flag;
        int number;
        char *text;
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

static struct value *get_value(const struct process *peer, const char *key, const struct option *how)
{
    struct value *value = 0;
    return pmix.get(peer, key, how, 1, &value) == SUCCESS ? value : 0;
}

/* Returns the name of a process's host, which the launcher tells at its start. The caller frees it; null: not known. */
static char *name_host(const struct process *peer, const struct option *how)
{
    struct value *value = get_value(peer, "pmix.hname", how);
    char *name = value && value->type == TYPE_STRING ? value->data.text : 0;
    free(value);
    return name;
}

static bool is_elsewhere(const struct process *peer, const struct option *how)
{
    char *here = name_host(&self, how), *there = name_host(peer, how);
    const bool differ = here && there && strcmp(here, there) != 0;
    free(here);
    free(there);
    return differ;
}

/* The server of this host has the words of its own ranks, and of others where MPI_Init has collected them; Open MPI 5 does not, so
 * another host is asked, which waits for a word that is not there. */
bool lmpi_pmix_knows(int rank, bool ask)
{
    const struct option at_once = {.key = "pmix.immediate", .value = {.type = TYPE_BOOL, .data.flag = true}};
    const struct option soon = {.key = "pmix.timeout", .value = {.type = TYPE_INT, .data.number = PATIENCE}};
    struct process peer = {.rank = (uint32_t)rank};
    memcpy(peer.space, self.space, sizeof peer.space);
    struct value *value = get_value(&peer, "lateral-mpi", &at_once);
    if (!value && ask && is_elsewhere(&peer, &at_once))
        value = get_value(&peer, "lateral-mpi", &soon);
    const bool known = value;
    free(value); /* a truth value holds no more memory */
    return known;
}

void lmpi_pmix_end(void)
{
    if (pmix.runs)
        pmix.finalize(0, 0);
    pmix.runs = false;
}
