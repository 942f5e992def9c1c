#include "mpi/init/init.h"

#include "mpi/core/process.h"

#include <limits.h>
#include <sched.h>
#include <stdint.h>

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
