#include "mpi/window/stream.h"

#include "mpi/core/process.h"
#include "mpi/window/window.h"

#include <pthread.h>
#include <stdlib.h>

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
        made->endpoint = calloc((size_t)lmpi_process.ranks, sizeof *made->endpoint);
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
        free(gone->endpoint);
        *gone = (struct stream){0};
    }
}
