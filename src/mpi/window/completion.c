/* Completion of this process's operations: stores need a fence, operations by messages a flush. */
#include "mpi/window/completion.h"

#include "mpi/core/process.h"
#include "mpi/window/window.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local bool lmpi_fence_is_due;

/* ---- streams ---- */

static struct stream {
    uccs_stream_t stream;
    uccs_endpoint_t *endpoint; /* by rank of MPI_COMM_WORLD; null: not made yet */
    uccs_request_t pending;    /* in thread scope: the operations of all threads */
    struct uccs_op op;
} streams[LMPI_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static bool make_stream(struct stream *made, unsigned kind)
{
    const struct uccs_stream_attr attr = {.scope = kind & LMPI_THREAD ? UCCS_SCOPE_THREAD : UCCS_SCOPE_PROCESS,
                                          .ordered = (kind & LMPI_ORDERED) != 0};
    if (made->stream)
        return true;
    if (!made->endpoint)
        made->endpoint = lmpi_rows_new(lmpi_process.ranks, sizeof(*made->endpoint));
    if (!made->pending && uccs_request_create(&made->pending) != UCCS_OK)
        return false;
    made->op.request = &made->pending;
    return made->endpoint && uccs_stream_create(lmpi_process.context, &attr, &made->stream) == UCCS_OK;
}

uccs_endpoint_t lmpi_endpoint_along(unsigned kind, int world)
{
    struct stream *along = &streams[kind];
    uccs_endpoint_t found = 0;
    if (!kind)
        return lmpi_endpoint(world);
    pthread_mutex_lock(&lock);
    if (make_stream(along, kind)) {
        if (!along->endpoint[world])
            uccs_stream_endpoint(along->stream, UCCS_GROUP_WORLD, world, &along->endpoint[world]);
        found = along->endpoint[world];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

const struct uccs_op *lmpi_stream_op(unsigned kind)
{
    return kind & LMPI_THREAD ? &streams[kind].op : 0;
}

static uccs_stream_t stream_of(unsigned kind)
{
    return kind ? streams[kind].stream : uccs_context_stream(lmpi_process.context);
}

void lmpi_stream_flush(unsigned kind, bool threads, uccs_endpoint_t to)
{
    if (threads && kind & LMPI_THREAD)
        uccs_wait(&streams[kind].pending);
    else
        uccs_stream_flush(stream_of(kind), to ? &to : 0, to != 0);
}

void lmpi_stream_flush_local(unsigned kind, uccs_endpoint_t to)
{
    uccs_stream_flush_local(stream_of(kind), to ? &to : 0, to != 0);
}

void lmpi_streams_end(void)
{
    for (unsigned kind = 1; kind < LMPI_KINDS; kind++) {
        struct stream *gone = &streams[kind];
        if (gone->stream)
            uccs_stream_release(gone->stream);
        if (gone->pending)
            uccs_request_release(&gone->pending);
        lmpi_rows_free(gone->endpoint, lmpi_process.ranks, sizeof(*gone->endpoint));
        *gone = (struct stream){0};
    }
}

/* ---- flushes ---- */

/* The operations to other nodes that their targets may refuse. Children share the parent's. */
struct lmpi_refusals {
    uccs_request_t request; /* shared: any thread's operations */
    struct uccs_op op;
};

bool lmpi_refusals_begin(struct lmpi_window *window)
{
    struct lmpi_refusals *refusals = calloc(1, sizeof *refusals);
    if (!refusals || uccs_request_create(&refusals->request) != UCCS_OK) {
        free(refusals);
        return false;
    }
    refusals->op.request = &refusals->request;
    window->refusals = refusals;
    window->op = &refusals->op;
    return true;
}

void lmpi_refusals_end(struct lmpi_window *window)
{
    if (window->refusals)
        uccs_request_release(&window->refusals->request);
    free(window->refusals);
    window->refusals = 0;
}

/* Returns the kinds of the operations that a flush at one target, or at all of them (-1), concerns. */
static unsigned kinds_at(const struct lmpi_window *window, int rank)
{
    bool wait = rank >= 0 && window->target[rank].far_ops;
    if (window->has_dups && !window->of_memhandle)
        return __atomic_load_n(&lmpi_window_first(window)->kinds, __ATOMIC_RELAXED);
    for (int i = rank < 0 && window->has_remote ? lmpi_listed(window) : -1; i >= 0 && !wait;
         i = lmpi_listed_after(window, i))
        wait = window->target[i].far_ops;
    return wait ? 1u << window->kind : 0;
}

/* With many threads the marks stay: a thread must not find one gone while another still waits for the operations. */
static void unmark_targets(struct lmpi_window *window, int rank)
{
    if (lmpi_process.any_thread)
        return;
    if (rank >= 0)
        window->target[rank].far_ops = 0;
    for (int i = rank < 0 ? lmpi_listed(window) : -1; i >= 0; i = lmpi_listed_after(window, i))
        window->target[i].far_ops = 0;
}

/* Its target has looked for the address that an operation names. */
static int find_refused(const struct lmpi_window *window)
{
    return window->refusals && uccs_wait(&window->refusals->request) != UCCS_OK ? MPI_ERR_RMA_RANGE : MPI_SUCCESS;
}

/* Leads to the process of a target; null: to all, since the window's words may lie elsewhere than its memory. */
static uccs_endpoint_t leads_to(const struct lmpi_window *window, unsigned kind, int rank)
{
    return rank < 0 || window->of_first || kind != window->kind ? 0 : window->target[rank].endpoint;
}

void lmpi_complete_local(const struct lmpi_window *window, int rank)
{
    unsigned kinds = kinds_at(window, rank);
    for (unsigned kind = 0; kinds >> kind; kind++)
        if (kinds >> kind & 1)
            lmpi_stream_flush_local(kind, leads_to(window, kind, rank));
}

/* At one target, or at all of them (-1). */
static int flush_targets(struct lmpi_window *window, int rank, bool threads)
{
    unsigned kinds = kinds_at(window, rank);
    if (!kinds)
        return MPI_SUCCESS;
    if (rank >= 0 && window->target[rank].far_ops == LMPI_FAR_ANSWERED)
        lmpi_complete_local(window, rank);
    unmark_targets(window, rank);
    for (unsigned kind = 0; kinds >> kind; kind++)
        if (kinds >> kind & 1)
            lmpi_stream_flush(kind, threads, leads_to(window, kind, rank));
    return find_refused(window);
}

int lmpi_complete(struct lmpi_window *window, int rank)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return flush_targets(window, rank, !(window->kind & LMPI_THREAD));
}

int lmpi_complete_threads(struct lmpi_window *window, int rank)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return lmpi_complete_stored(window, rank);
}

int lmpi_complete_stored(struct lmpi_window *window, int rank)
{
    return flush_targets(window, rank, true);
}
