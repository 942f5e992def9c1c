#include "mpi/init/presence.h"

#include "mpi/core/process.h"
#include "mpi/init/pmi.h"
#include "mpi/init/pmix.h"

#include <limits.h>
#include <sched.h>
#include <stdint.h>

#define TAG 32767 /* between ranks that are in MPI_Init, so no message of the program meets it */

static bool (*knows)(int rank); /* asks the launcher; null: it keeps no words */

void lmpi_presence_tell(void)
{
    if (!lmpi_pmi_begin())
        lmpi_pmix_begin();
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
        const bool there = knows(child);
        present |= there ? step : 0;
        absent = lower(absent, there ? receive(child) : child);
    }
    if (rank && knows(parent)) {
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
    while (first < lmpi_life.rank && !knows(first))
        first++;
    return first;
}

/* No launcher tells which ranks are absent. A message to such a rank could be one that its program receives, so none is sent, and a
 * barrier is all that is left; it lasts for ever where a rank is absent. Rank 0 says so after a second, or rank 1, as 0 may be absent. */
static void wait_for_all(void)
{
    const double since = PMPI_Wtime();
    bool silent = lmpi_life.rank > 1;
    MPI_Request request;
    int done = 0;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return;
    while (!done && PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
        sched_yield();
        if (!done && !silent && PMPI_Wtime() - since > 1 + lmpi_life.rank) {
            lmpi_say(
                "MPI_Init waits for ranks that run without this library (start all with lateral-mpi), or are late");
            silent = true;
        }
    }
}

int lmpi_presence_lacking(bool *first)
{
    int absent = INT_MAX;
    bool told = false;
    *first = false;
    if (lmpi_pmi_end(&told))
        knows = lmpi_pmi_knows;
    else if (lmpi_pmix_is_there(&told))
        knows = lmpi_pmix_knows;
    if (lmpi_life.ranks > 1 && !knows)
        wait_for_all();
    if (lmpi_life.ranks > 1 && knows)
        absent = told ? look_through_tree() : lmpi_life.rank;
    if (absent < INT_MAX && told)
        *first = find_first() == lmpi_life.rank;
    lmpi_pmix_end();
    return absent < INT_MAX ? absent : -1;
}
