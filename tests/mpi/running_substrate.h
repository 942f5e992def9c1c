/* The substrate of running.c: it notes what it is asked. */
#ifndef MPI_TEST_RUNNING_SUBSTRATE_H
#define MPI_TEST_RUNNING_SUBSTRATE_H

/* ---- the substrate ---- */

struct uccs_endpoint {
    int world;
};
struct uccs_stream {
    struct uccs_stream_attr attr;
};
struct uccs_request {
    int number;
};
static int init_status, context_status, world_rank = RANK, world_size = RANKS, endpoints_fail, streams_fail,
                                        requests_fail;
static int progress_finds, progressed, resources, resource_status, resource_slow = -1, waits_begun, waits_ended;
static uccs_context_t const the_context = (uccs_context_t)(intptr_t)64;
static struct uccs_stream own_stream;
static void (*in_progress)(void), (*in_endpoint)(void);
static struct uccs_waiting waiting;
static char waiting_object[40];
static double waiting_seconds;

int uccs_init(void)
{
    note(STARTED, 0, 0);
    return init_status;
}

int uccs_finalize(void)
{
    note(FINALIZED, 0, 0);
    return UCCS_OK;
}

int uccs_group_rank(uccs_group_t group)
{
    CHECK(group == UCCS_GROUP_WORLD);
    return world_rank;
}

int uccs_group_size(uccs_group_t group)
{
    CHECK(group == UCCS_GROUP_WORLD);
    return world_size;
}

int uccs_context_create(const struct uccs_context_attr *attr, uccs_context_t *context)
{
    CHECK(attr->id == UCCS_CONTEXTS - 1 && attr->scope == UCCS_SCOPE_PROCESS && !attr->ordered);
    note(CONTEXT, 0, 0);
    *context = the_context;
    return context_status;
}

int uccs_context_destroy(uccs_context_t context)
{
    CHECK(context == the_context);
    note(CONTEXT_GONE, 0, 0);
    return UCCS_OK;
}

uccs_stream_t uccs_context_stream(uccs_context_t context)
{
    CHECK(context == lmpi_life.context);
    return &own_stream;
}

int uccs_endpoint_create(uccs_context_t context, uccs_group_t group, int rank, uccs_endpoint_t *endpoint)
{
    CHECK(context == lmpi_life.context && group == UCCS_GROUP_WORLD && rank >= 0 && rank < RANKS);
    if (endpoints_fail)
        return UCCS_ERR_NO_MEMORY;
    *endpoint = malloc(sizeof **endpoint);
    (*endpoint)->world = rank;
    note(MADE_ENDPOINT, rank, 0);
    if (in_endpoint)
        in_endpoint();
    return UCCS_OK;
}

int uccs_endpoint_release(uccs_endpoint_t endpoint)
{
    note(GONE_ENDPOINT, endpoint->world, 0);
    free(endpoint);
    return UCCS_OK;
}

int uccs_stream_create(uccs_context_t context, const struct uccs_stream_attr *attr, uccs_stream_t *stream)
{
    CHECK(context == lmpi_life.context);
    if (streams_fail)
        return UCCS_ERR_NO_MEMORY;
    *stream = malloc(sizeof **stream);
    (*stream)->attr = *attr;
    note(MADE_STREAM, 0, 0);
    return UCCS_OK;
}

int uccs_stream_release(uccs_stream_t stream)
{
    note(GONE_STREAM, 0, 0);
    free(stream);
    return UCCS_OK;
}

static struct uccs_endpoint along[4][RANKS];

static int kind_of(uccs_stream_t stream)
{
    return stream == &own_stream ? 0 : (stream->attr.scope == UCCS_SCOPE_THREAD) + 2 * (stream->attr.ordered != 0);
}

int uccs_stream_endpoint(uccs_stream_t stream, uccs_group_t group, int rank, uccs_endpoint_t *endpoint)
{
    CHECK(group == UCCS_GROUP_WORLD && stream != &own_stream);
    note(MADE_ENDPOINT, rank, kind_of(stream));
    *endpoint = &along[kind_of(stream)][rank];
    return UCCS_OK;
}

int uccs_stream_flush(uccs_stream_t stream, const uccs_endpoint_t *to, size_t n)
{
    CHECK((to != 0) == (n == 1) && n <= 1);
    note(FLUSHED, to ? (int)(*to - along[kind_of(stream)]) : -1, kind_of(stream));
    return UCCS_OK;
}

int uccs_stream_flush_local(uccs_stream_t stream, const uccs_endpoint_t *to, size_t n)
{
    CHECK((to != 0) == (n == 1) && n <= 1);
    note(FLUSHED_HERE, to ? (int)(*to - along[kind_of(stream)]) : -1, kind_of(stream));
    return UCCS_OK;
}

int uccs_request_create(uccs_request_t *request)
{
    if (requests_fail)
        return UCCS_ERR_NO_MEMORY;
    *request = calloc(1, sizeof **request);
    note(MADE_REQUEST, 0, 0);
    return UCCS_OK;
}

int uccs_request_release(uccs_request_t *request)
{
    note(GONE_REQUEST, 0, 0);
    free(*request);
    *request = 0;
    return UCCS_OK;
}

int uccs_wait(uccs_request_t *request)
{
    CHECK(*request != 0);
    note(WAITED, request == &streams[1].pending ? 1 : request == &streams[3].pending ? 3 : 0, 0);
    return UCCS_OK;
}

int uccs_progress(void)
{
    progressed++;
    if (in_progress)
        in_progress();
    return progress_finds;
}

int uccs_poller_add(int (*poll)(void *), void *argument)
{
    CHECK(poll == serve_mpi_in_waits && !argument);
    note(POLLER_ADDED, 0, 0);
    return UCCS_OK;
}

int uccs_poller_remove(int (*poll)(void *), void *argument)
{
    CHECK(poll == serve_mpi_in_waits && !argument);
    note(POLLER_GONE, 0, 0);
    return UCCS_OK;
}

/* All are quick but for the one that a test names. */
int uccs_resource_query(uccs_context_t context, struct uccs_resource *list, size_t *count)
{
    CHECK(context == lmpi_life.context && *count == 16);
    for (int i = 0; i < 16; i++)
        list[i].latency = i == resource_slow ? UCCS_CLASS_RDMA : UCCS_CLASS_KERNEL_COPY;
    *count = (size_t)resources;
    return resource_status;
}

int uccs_waiting_begin(const struct uccs_waiting *what, double seconds)
{
    waiting = *what;
    snprintf(waiting_object, sizeof waiting_object, "%s", what->object ? what->object : "none");
    waiting_seconds = seconds;
    return ++waits_begun;
}

void uccs_waiting_end(int record)
{
    CHECK(record != 0);
    waits_ended++;
}

/* ---- symbols of the MPI ---- */

static int symbols_missing; /* bits: register, unregister, progress */
static int opal_progressed;

static int fake_register(int (*call)(void))
{
    CHECK(call == lmpi_progress_serve);
    note(REGISTERED, 0, 0);
    return 0;
}

static int fake_unregister(int (*call)(void))
{
    CHECK(call == lmpi_progress_serve);
    note(UNREGISTERED, 0, 0);
    return 0;
}

static void fake_progress(void)
{
    opal_progressed++;
}

static void *behind_fortran;

static void *fake_symbol(void *where, const char *name)
{
    if (strncmp(name, "opal_", 5) != 0) {
        CHECK(where == RTLD_NEXT);
        return strncmp(name, "ucp_", 4) == 0 ? 0 : behind_fortran;
    }
    CHECK(where == RTLD_DEFAULT);
    if (strcmp(name, "opal_progress_register") == 0)
        return symbols_missing & 1 ? 0 : (void *)fake_register;
    if (strcmp(name, "opal_progress_unregister") == 0)
        return symbols_missing & 2 ? 0 : (void *)fake_unregister;
    CHECK(strcmp(name, "opal_progress") == 0);
    return symbols_missing & 4 ? 0 : (void *)fake_progress;
}

#endif
