#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/init/init.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The library is loaded here, as it may come with the MPI's start only. The declarations are those of the PMIx standard, alike in
 * versions 2 to 5, so that the layer is built without PMIx's headers. */

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

/* Before the MPI starts: leaves this rank's word, which the MPI's start shows to all. Does nothing where no such launcher is. */
static void lmpi_pmix_begin(void)
{
    struct value here = {.type = TYPE_BOOL, .data.flag = true};
    if (!find_library() || pmix.init(&self, 0, 0) != SUCCESS)
        return;
    pmix.runs = true;
    pmix.published = pmix.put(SCOPE_GLOBAL, "lateral-mpi", &here) == SUCCESS && pmix.commit() == SUCCESS;
}

/* After the MPI has started: returns whether words can be asked for; *published says whether this rank's is among them. */
static bool lmpi_pmix_is_there(bool *published)
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
static bool lmpi_pmix_knows(int rank, bool ask)
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

/* Behind the last question. */
static void lmpi_pmix_end(void)
{
    if (pmix.runs)
        pmix.finalize(0, 0);
    pmix.runs = false;
}

#define TAG 32767 /* between ranks that are in MPI_Init, so no message of the program meets it */

static bool (*knows)(int rank, bool ask); /* asks the launcher; null: it keeps no words */

void lmpi_presence_publish(void)
{
    if (!lmpi_pmi_begin())
        lmpi_pmix_begin();
}

static int lower_of(int one, int other)
{
    return one < other ? one : other;
}

static int receive_absent(int from)
{
    int absent = INT_MAX;
    PMPI_Recv(&absent, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return absent;
}

static void send_absent(int to, int absent)
{
    PMPI_Send(&absent, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

/* The ranks form a binomial tree. Each looks for the words of its parent and its children only, sends what it has found up and down,
 * and exchanges messages only with those that have a word. Returns the lowest absent rank of this rank's part of the tree, whose other
 * members find the same; an absent rank is seen from all parts that it cuts off. INT_MAX: all are present. */
static int look_through_tree(void)
{
    const int rank = lmpi_process.rank, parent = rank & (rank - 1);
    const int64_t reach = rank ? rank - parent : INT_MAX;
    int64_t present = 0;
    int absent = INT_MAX;
    for (int64_t step = 1; step < reach && rank + step < lmpi_process.ranks; step *= 2) {
        const int child = rank + (int)step;
        const bool there = knows(child, true);
        present |= there ? step : 0;
        absent = lower_of(absent, there ? receive_absent(child) : child);
    }
    if (rank && knows(parent, true)) {
        send_absent(parent, absent);
        absent = receive_absent(parent);
    } else if (rank) {
        absent = lower_of(absent, parent);
    }
    for (int64_t step = 1; step <= present; step *= 2)
        if (present & step)
            send_absent(rank + (int)step, absent);
    return absent;
}

/* Returns the lowest rank of those whose words are at hand, which prints the line. */
static int find_first(void)
{
    int first = 0;
    while (first < lmpi_process.rank && !knows(first, false))
        first++;
    return first;
}

/* No launcher tells which ranks are absent. A message to such a rank could be one that its program receives, so none is sent, and a
 * barrier is all that is left; it lasts for ever where a rank is absent. Rank 0 says so after a second, or rank 1, as 0 may be absent. */
static void wait_for_all(void)
{
    const double since = PMPI_Wtime();
    bool silent = lmpi_process.rank > 1;
    MPI_Request request;
    int done = 0;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return;
    while (!done && PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
        sched_yield();
        if (!done && !silent && PMPI_Wtime() - since > 1 + lmpi_process.rank) {
            lmpi_log(
                "MPI_Init waits for ranks that run without this library (start all with lateral-mpi), or are late");
            silent = true;
        }
    }
}

int lmpi_presence_find_absent(bool *first)
{
    int absent = INT_MAX;
    bool published = false;
    *first = false;
    if (lmpi_pmi_end(&published))
        knows = lmpi_pmi_knows;
    else if (lmpi_pmix_is_there(&published))
        knows = lmpi_pmix_knows;
    if (lmpi_process.ranks > 1 && !knows)
        wait_for_all();
    if (lmpi_process.ranks > 1 && knows)
        absent = published ? look_through_tree() : lmpi_process.rank;
    if (absent < INT_MAX && published)
        *first = find_first() == lmpi_process.rank;
    lmpi_pmix_end();
    return absent < INT_MAX ? absent : -1;
}
