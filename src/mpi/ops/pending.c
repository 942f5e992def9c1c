/* MPIs look in two ways. Open MPI's waits and tests call the functions of a list, and one of them looks at all requests.
 * MPICH's call the poll function of a request that they are about; MPI_Waitall calls the wait function, which has to
 * move all messages. (Latham et al.: Extending the MPI-2 Generalized Request Interface, EuroPVM/MPI 2007.) So the
 * threads of the program alone complete requests, and any level of thread support will do. */
#include "mpi/ops/operation.h"

#include "mpi/core/real.h"
#include "mpi/core/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define PART 5000 /* nanoseconds of a wait between two looks at requests */

typedef int poll_function(void *state, MPI_Status *status);
typedef int wait_function(int count, void **states, double timeout, MPI_Status *status);
typedef int start_function(MPI_Grequest_query_function *query_request, MPI_Grequest_free_function *free_request,
                           MPI_Grequest_cancel_function *cancel_request, poll_function *poll_request,
                           wait_function *wait, void *state, MPI_Request *request);

static start_function *start_polled; /* MPICH's, or null */
static pthread_once_t found = PTHREAD_ONCE_INIT;

static struct lmpi_pending *list; /* under lock; atomic where a look needs no lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under lock. */
static void unlink_pending(struct lmpi_pending *pending)
{
    __atomic_store_n(pending->at, pending->next, __ATOMIC_RELAXED);
    if (pending->next)
        pending->next->at = pending->at;
    pending->at = 0;
}

/* Under lock. */
static bool has_ended(const struct lmpi_pending *pending)
{
    return pending->cancelled || pending->ended || lmpi_pending_is_done(pending);
}

/* The look that completes a request and the MPI that frees it have done with the structure in either order, maybe in two threads; MPICH
 * frees in MPI_Request_free, also before the request has happened. The second one finds what the first one has written. */
static void let_go(struct lmpi_pending *pending)
{
    if (__atomic_exchange_n(&pending->released, true, __ATOMIC_ACQ_REL))
        free(pending);
}

static void complete(struct lmpi_pending *pending)
{
    PMPI_Grequest_complete(pending->request);
    let_go(pending);
}

static bool poll_pending(struct lmpi_pending *pending)
{
    pthread_mutex_lock(&lock);
    bool gone = !pending->at, done = !gone && has_ended(pending);
    if (done)
        unlink_pending(pending);
    pthread_mutex_unlock(&lock);
    if (done)
        complete(pending);
    return gone || done;
}

/* Under lock. Returns a list of those requests that have happened, or end; they are out of the list. */
static struct lmpi_pending *take_due(void)
{
    struct lmpi_pending *due = 0, *next;
    for (struct lmpi_pending *at = list; at; at = next) {
        next = at->next;
        if (has_ended(at)) {
            unlink_pending(at);
            at->next = due;
            due = at;
        }
    }
    return due;
}

static void complete_all(struct lmpi_pending *due)
{
    for (struct lmpi_pending *next; due; due = next) {
        next = due->next;
        complete(due);
    }
}

/* One thread's look is enough. */
static void poll_all(void)
{
    if (!__atomic_load_n(&list, __ATOMIC_RELAXED) || pthread_mutex_trylock(&lock) != 0)
        return;
    struct lmpi_pending *due = take_due();
    pthread_mutex_unlock(&lock);
    complete_all(due);
}

void lmpi_pending_end(const void *owner, int status)
{
    pthread_mutex_lock(&lock);
    for (struct lmpi_pending *at = list; at; at = at->next)
        if (at->owner == owner) {
            at->status = status;
            at->ended = true;
        }
    struct lmpi_pending *due = take_due();
    pthread_mutex_unlock(&lock);
    complete_all(due);
}

static int query_request(void *state, MPI_Status *status)
{
    const struct lmpi_pending *pending = state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, pending->cancelled);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return pending->status;
}

static int free_request(void *state)
{
    let_go(state);
    return MPI_SUCCESS;
}

/* MPICH holds its lock here, so the request completes at the next look. */
static int cancel_request(void *state, int is_complete)
{
    struct lmpi_pending *pending = state;
    (void)is_complete;
    pthread_mutex_lock(&lock);
    pending->cancelled = pending->cancels && pending->at;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* MPICH waits for such a request without moving its own messages, which may be what the peer waits for. */
static int poll_request(void *state, MPI_Status *status)
{
    (void)status;
    if (!poll_pending(state)) {
        lmpi_progress();
        poll_pending(state);
    }
    return MPI_SUCCESS;
}

/* Waits a little, as the substrate waits. The request's own word may go with its window meanwhile. */
static void wait_a_part(void)
{
    static const uint64_t never;
    const struct uccs_condition condition = {.word = &never, .at_least = 1};
    lmpi_calling++;
    uccs_wait_conditions(&condition, 1, 1, PART, 0, 0);
    lmpi_calling--;
}

static int wait_for(int count, void **states, double timeout, MPI_Status *status)
{
    (void)timeout, (void)status;
    for (int i = 0; i < count; i++)
        while (!poll_pending(states[i]))
            wait_a_part();
    return MPI_SUCCESS;
}

/* MPICH's own forms do not call the poll functions. */
#define POLLED(name, arguments, ...)        \
    LMPI_EXPORT int MPI_##name(__VA_ARGS__) \
    {                                       \
        poll_all();                         \
        return lmpi_real.name arguments;    \
    }                                       \
    LMPI_NAME(name)

POLLED(Request_get_status, (request, flag, status), MPI_Request request, int *flag, MPI_Status *status);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
POLLED(Request_get_status_all, (count, requests, flag, statuses), int count, const MPI_Request requests[], int *flag,
       MPI_Status statuses[]);
POLLED(Request_get_status_any, (count, requests, index, flag, status), int count, const MPI_Request requests[],
       int *index, int *flag, MPI_Status *status);
POLLED(Request_get_status_some, (incount, requests, outcount, indices, statuses), int incount,
       const MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]);
#endif

static void find_polled(void)
{
    start_polled = (start_function *)dlsym(RTLD_DEFAULT, "PMPIX_Grequest_start");
    if (!start_polled) /* MPICH 5's library of MPI's ABI */
        start_polled = (start_function *)dlsym(RTLD_DEFAULT, "MPIX_Grequest_start");
    if (lmpi_progress_inside())
        lmpi_progress_also(poll_all);
}

bool lmpi_pending_works(void)
{
    pthread_once(&found, find_polled);
    return lmpi_progress_inside() || start_polled;
}

bool lmpi_pending_start(struct lmpi_pending *pending, MPI_Request *request)
{
    int status = start_polled
                     ? start_polled(query_request, free_request, cancel_request, poll_request, wait_for, pending,
                                    &pending->request)
                     : PMPI_Grequest_start(query_request, free_request, cancel_request, pending, &pending->request);
    if (status != MPI_SUCCESS)
        return false;
    *request = pending->request;
    pthread_mutex_lock(&lock);
    pending->next = list;
    pending->at = &list;
    if (list)
        list->at = &pending->next;
    __atomic_store_n(&list, pending, __ATOMIC_RELAXED); /* poll_all may see it later */
    pthread_mutex_unlock(&lock);
    return true;
}
