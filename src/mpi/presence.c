#include "presence.h"

#include "life.h"
#include "real.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAG 32767 /* between ranks that are in MPI_Init, so no message of the program meets it */

static enum { UNKNOWN, PMI, PMIX } launcher; /* who keeps the words; UNKNOWN: nobody */
static bool told;                            /* this rank's word is there */

/* ---- PMI-1: lines over a connection that the MPI greets after us, and does not use while it is in no call ---- */

static int connection;
static char space[256];

/* Sends a line. Returns the value of a key in the answer, or null when the answer is none or tells of a failure. */
static const char *ask(const char *line, const char *key)
{
    static char answer[1024];
    size_t have = 0;
    if (TEMP_FAILURE_RETRY(send(connection, line, strlen(line), MSG_NOSIGNAL)) < 0)
        return 0;
    while (!memchr(answer, '\n', have) && have < sizeof answer - 1) {
        const ssize_t got = TEMP_FAILURE_RETRY(recv(connection, answer + have, sizeof answer - 1 - have, 0));
        if (got <= 0)
            return 0;
        have += (size_t)got;
    }
    answer[have] = 0;
    answer[strcspn(answer, "\n")] = 0;
    if (strstr(answer, "rc=-"))
        return 0;
    char *value = strstr(answer, key);
    if (!value)
        return 0;
    value += strlen(key);
    value[strcspn(value, " ")] = 0;
    return value;
}

/* Other servers of PMI-1 (Slurm's) take one greeting only. Open MPI has no use of Hydra, whose variables it may have inherited. */
static bool is_hydra(void)
{
    struct stat info;
#ifdef OPEN_MPI
    return false;
#endif
    return getenv("PMI_FD") && getenv("PMI_RANK") && getenv("MPI_LOCALNRANKS") &&
           fstat(atoi(getenv("PMI_FD")), &info) == 0 && S_ISSOCK(info.st_mode);
}

static void tell_hydra(void)
{
    const struct uccs_context_attr none = {.id = UCCS_CONTEXTS};
    char line[512];
    if (uccs_context_create(&none, 0) != UCCS_ERR_STATE)
        return; /* OpenSHMEM of this process, and so of all, talks there already */
    connection = atoi(getenv("PMI_FD"));
    const char *name =
        ask("cmd=init pmi_version=1 pmi_subversion=1\n", "rc=") ? ask("cmd=get_my_kvsname\n", "kvsname=") : 0;
    if (!name)
        return;
    launcher = PMI;
    snprintf(space, sizeof space, "%s", name);
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=lateral-mpi.%s value=1\n", space, getenv("PMI_RANK"));
    told = ask(line, "rc=");
}

static bool hydra_knows(int rank)
{
    char line[512];
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=lateral-mpi.%d\n", space, rank);
    return ask(line, "value=");
}

/* ---- PMIx: the library is loaded here, as it may come with the MPI's start only ---- */

#ifdef LMPI_PMIX
#include <dlfcn.h>
#include <pmix.h>

static struct {
    __typeof__(&PMIx_Init) init;
    __typeof__(&PMIx_Put) put;
    __typeof__(&PMIx_Commit) commit;
    __typeof__(&PMIx_Get) get;
    __typeof__(&PMIx_Finalize) finalize;
} pmix;
static pmix_proc_t me;

static bool find_pmix(void)
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
LMPI_EXPORT int PMIx_Initialized(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMIx_Initialized");
    return launcher != PMIX && next && next();
}

static void tell_pmix(void)
{
    pmix_value_t here = {.type = PMIX_BOOL, .data.flag = true};
    if (!find_pmix() || pmix.init(&me, 0, 0) != PMIX_SUCCESS)
        return;
    launcher = PMIX;
    told = pmix.put(PMIX_GLOBAL, "lateral-mpi", &here) == PMIX_SUCCESS && pmix.commit() == PMIX_SUCCESS;
}

static bool pmix_knows(int rank)
{
    pmix_info_t immediate = {.key = PMIX_IMMEDIATE, .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_proc_t peer = {.rank = (pmix_rank_t)rank};
    pmix_value_t *value = 0;
    memcpy(peer.nspace, me.nspace, sizeof peer.nspace);
    const bool known = pmix.get(&peer, "lateral-mpi", &immediate, 1, &value) == PMIX_SUCCESS;
    free(value); /* a truth value holds no more memory */
    return known;
}

static void leave_pmix(void)
{
    pmix.finalize(0, 0);
}
#else
static void tell_pmix(void) {}

static bool pmix_knows(int rank)
{
    return rank >= 0;
}

static void leave_pmix(void) {}
#endif

/* ---- both ---- */

void lmpi_presence_tell(void)
{
    if (is_hydra())
        tell_hydra();
    else
        tell_pmix();
}

static bool is_present(int rank)
{
    return launcher == PMI ? hydra_knows(rank) : pmix_knows(rank);
}

static int lower(int one, int other)
{
    return one < other ? one : other;
}

static int receive(int from)
{
    int absent = INT_MAX;
    PMPI_Recv(&absent, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return absent;
}

static void send_to(int to, int absent)
{
    PMPI_Send(&absent, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

/* The ranks form a binomial tree. Each looks for the words of its parent and its children only, sends what it has found up and down,
 * and exchanges messages only with those that have a word. Returns the lowest absent rank of this rank's part of the tree, whose other
 * members find the same; an absent rank is seen from all parts that it cuts off. INT_MAX: all are present. */
static int look_through_tree(void)
{
    const int rank = lmpi_life.rank, parent = rank & (rank - 1);
    const int64_t reach = rank ? rank - parent : INT_MAX;
    int64_t present = 0;
    int absent = INT_MAX;
    for (int64_t step = 1; step < reach && rank + step < lmpi_life.ranks; step *= 2) {
        const int child = rank + (int)step;
        const bool there = is_present(child);
        present |= there ? step : 0;
        absent = lower(absent, there ? receive(child) : child);
    }
    if (rank && is_present(parent)) {
        send_to(parent, absent);
        absent = receive(parent);
    } else if (rank) {
        absent = lower(absent, parent);
    }
    for (int64_t step = 1; step <= present; step *= 2)
        if (present & step)
            send_to(rank + (int)step, absent);
    return absent;
}

static int find_first(void)
{
    int first = 0;
    while (first < lmpi_life.rank && !is_present(first))
        first++;
    return first;
}

int lmpi_presence_lacking(bool *first)
{
    int absent = INT_MAX;
    *first = false;
    if (launcher != UNKNOWN && lmpi_life.ranks > 1)
        absent = told ? look_through_tree() : lmpi_life.rank;
    if (absent < INT_MAX && told)
        *first = find_first() == lmpi_life.rank;
    if (launcher == PMIX)
        leave_pmix();
    launcher = UNKNOWN;
    return absent < INT_MAX ? absent : -1;
}
