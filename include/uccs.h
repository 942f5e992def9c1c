/* UCCS: one thread-safe substrate for one-sided communication, for several programming models in one
 * process (seed 001). OpenSHMEM and the MPI layer of this project are its users; a PGAS language or a
 * task runtime can be the next.
 *
 *   context    an isolated world of communication: its handlers, its order, its scope
 *   resource   what a context can communicate over (transport, device, what it can do)
 *   group      an ordered set of processes; rank i of a group is an endpoint
 *   endpoint   the way from a context to one process; connected on first use
 *   memory     a range of bytes of some process that others may reach; exported as an opaque handle
 *   request    have my operations completed?   counter   has data arrived here?
 *
 * Threads: any thread may call any function at any time between uccs_init and uccs_finalize, on any object,
 * unless its comment says otherwise. No lock is shared by all.
 *
 * Progress: operations on mapped memory of a node peer complete without anybody's help. Active messages, and
 * memory that is not mapped where the kernel cannot copy it, need the target in uccs_progress (or in any
 * waiting call), or its progress thread (LATERAL_PROGRESS=thread).
 *
 * Errors: functions return enum uccs_status; outputs are set only on success. Sizes are bytes. */
#ifndef UCCS_H
#define UCCS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum uccs_status {
    UCCS_OK = 0,
    UCCS_IN_PROGRESS = 1,      /* test: not yet */
    UCCS_ERR_INVALID = -1,     /* an argument is wrong; nothing happened */
    UCCS_ERR_NO_MEMORY = -2,   /* memory, or the kind of slot in question, is exhausted */
    UCCS_ERR_BOUNDS = -3,      /* the range does not lie in the memory */
    UCCS_ERR_UNREACHABLE = -4, /* no transport leads there */
    UCCS_ERR_STALE = -5,       /* the memory or counter has been released */
    UCCS_ERR_FORGED = -6,      /* a memory handle that this job did not make */
    UCCS_ERR_TOO_LARGE = -7,   /* payload over the limit of this form */
    UCCS_ERR_STATE = -8,       /* not between uccs_init and uccs_finalize, or not from inside a handler */
    UCCS_ERR_FAILED = -9,      /* test, wait: an operation of the request failed, its memory had been released */
};
const char *uccs_status_text(int status); /* a few words; never null */

/* --- Life: counted together with OpenSHMEM's init and finalize in the same process; the first one starts
 * and the last one stops, both collective over the job. */
int uccs_init(void);
int uccs_finalize(void);

/* --- Contexts ------------------------------------------------------------------------------------------ */
typedef struct uccs_context *uccs_context_t;

enum uccs_scope {
    UCCS_SCOPE_PROCESS = 0, /* a flush waits for every thread's operations in the context */
    UCCS_SCOPE_THREAD = 1,  /* for the calling thread's alone (seed 004, section 2.1) */
};
enum uccs_thread_mode {
    UCCS_THREAD_MULTIPLE = 0,
    UCCS_THREAD_SINGLE = 1, /* one thread at a time uses the context */
};
#define UCCS_CONTEXTS 15

struct uccs_context_attr {
    uint32_t id; /* contexts of different processes with the same id talk to each other; below UCCS_CONTEXTS */
    enum uccs_scope scope;
    int ordered; /* operations to one endpoint land in the order of their issue (seed 004, section 2.2) */
    enum uccs_thread_mode threads;
};
/* Local. One context per id and process at a time (UCCS_ERR_INVALID). attr null: id 0, process scope, unordered,
 * any threads. A message for a context that its target has not made yet waits at the target. */
int uccs_context_create(const struct uccs_context_attr *attr, uccs_context_t *context);
/* Completes the context's own operations, releases its endpoints. */
int uccs_context_destroy(uccs_context_t context);

/* --- Resources ----------------------------------------------------------------------------------------- */
enum uccs_capability {
    UCCS_CAP_PUT = 1,
    UCCS_CAP_GET = 2,
    UCCS_CAP_ATOMIC = 4,
    UCCS_CAP_AM = 8,
    UCCS_CAP_ONE_SIDED = 16, /* completes without the target's help */
    UCCS_CAP_MAPPED = 32,    /* load and store */
};
enum uccs_class { UCCS_CLASS_MEMORY = 0, UCCS_CLASS_KERNEL_COPY = 1, UCCS_CLASS_RDMA = 2, UCCS_CLASS_SOCKET = 3 };

struct uccs_resource {
    char transport[16];
    char device[32];
    uint32_t capabilities; /* enum uccs_capability */
    enum uccs_class bandwidth, latency;
};
/* Fills up to *count entries; *count becomes how many there are. list may be null when *count is 0. */
int uccs_resource_query(uccs_context_t context, struct uccs_resource *list, size_t *count);

/* --- Groups -------------------------------------------------------------------------------------------- */
typedef struct uccs_group_impl *uccs_group_t;
#define UCCS_GROUP_NULL ((uccs_group_t)0)
#define UCCS_GROUP_WORLD ((uccs_group_t)1) /* all processes of the job, in order; needs no release */

/* Collective over `parent`: every member passes the same ranks (of the parent, none twice). Those not in
 * the list get UCCS_GROUP_NULL. */
int uccs_group_create(uccs_group_t parent, size_t n, const int *ranks, uccs_group_t *group);
int uccs_group_release(uccs_group_t group); /* collective over the group */
int uccs_group_rank(uccs_group_t group);    /* mine, or -1 */
int uccs_group_size(uccs_group_t group);
int uccs_group_world_rank(uccs_group_t group, int rank); /* or -1 */

/* --- Requests: a count of operations not yet complete, everywhere visible. Null is none; an operation
 * that carries a null request makes one, further ones merge into it. Testing and waiting leave it reusable.
 * When an operation of a request has failed, whoever finds the request complete first is told so (UCCS_ERR_FAILED, once;
 * any and some: with their outputs set, all: when all are complete).
 * One thread at a time per request variable, except a shared one (uccs_request_create): any threads at once. */
typedef struct uccs_request *uccs_request_t;
#define UCCS_REQUEST_NULL ((uccs_request_t)0)

int uccs_request_create(uccs_request_t *request);
int uccs_request_release(uccs_request_t *request); /* what is pending goes on; becomes null */
/* `into` stands for all of them afterwards; they become null. O(n), and a test of `into` stays O(1). */
int uccs_request_combine(uccs_request_t *into, size_t n, uccs_request_t *requests);
int uccs_test(uccs_request_t *request); /* UCCS_OK or UCCS_IN_PROGRESS; makes progress */
int uccs_test_all(uccs_request_t *requests, size_t n);
int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index); /* n 0: UCCS_OK, index SIZE_MAX */
int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices);
int uccs_wait(uccs_request_t *request);
int uccs_wait_all(uccs_request_t *requests, size_t n);
int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index);
int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices);

/* --- Counters: 0 is none; the same value names the same counter in every process. */
typedef uint64_t uccs_counter_t;
int uccs_counter_open(uccs_counter_t *counter); /* collective over the job, in the same order; does not wait */
int uccs_counter_shut(uccs_counter_t counter);  /* collective, synchronising */
int uccs_counter_read(uccs_counter_t counter, int64_t *value);
int uccs_counter_wait(uccs_counter_t counter, int64_t at_least);
int uccs_counter_consume(uccs_counter_t counter, int64_t value); /* waits for so many, then subtracts */

/* What an operation may carry; null for nothing. */
struct uccs_op {
    uccs_request_t *request; /* completes when the operation is complete at the target */
    uccs_counter_t counter;  /* rises at the target once the data is there (or has been read) */
    int64_t weight;          /* by so much; 0 means 1 */
    int ordered;             /* after all earlier operations of this thread to this endpoint */
};

/* --- Endpoints: cheap; nothing is connected before the first operation. */
typedef struct uccs_endpoint *uccs_endpoint_t;
int uccs_endpoint_create(uccs_context_t context, uccs_group_t group, int rank, uccs_endpoint_t *endpoint);
int uccs_endpoint_release(uccs_endpoint_t endpoint);

/* --- Memory -------------------------------------------------------------------------------------------- */
typedef struct uccs_region *uccs_memory_t;
#define UCCS_MEMORY_HANDLE_MAX 256

enum uccs_domain {                         /* who executes atomics on it, fixed for its life */
                   UCCS_DOMAIN_CPU = 0,    /* the processor */
                   UCCS_DOMAIN_LOCKED = 1, /* under a lock of the owner's: memory that is not mapped */
                   UCCS_DOMAIN_NIC = 2,
};
struct uccs_memory_attr {
    void *address; /* here: the memory itself or its map; null when it is not mapped */
    size_t length;
    int owner; /* rank in the world */
    enum uccs_domain domain;
};
/* New memory of this process that its node peers map: the fastest kind. Zeroed; on a cache line. */
int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory);
/* Memory that exists, anywhere in this process. It must outlive the registration. */
int uccs_memory_register(uccs_context_t context, void *address, size_t length, uccs_memory_t *memory);
/* An opaque handle that any process of the job can import; in: room, out: bytes written. */
int uccs_memory_export(uccs_memory_t memory, void *handle, size_t *length);
/* Verifies that this job made it (keyed hash), its bounds, owner, and that it has not been released. */
int uccs_memory_import(uccs_context_t context, const void *handle, size_t length, uccs_memory_t *memory);
/* Own memory: later imports and operations of others fail as stale; those under way must have completed.
 * Imported memory: forgets it here. */
int uccs_memory_release(uccs_memory_t memory);
int uccs_memory_query(uccs_memory_t memory, struct uccs_memory_attr *attr);

/* --- One-sided operations: `memory` is the endpoint's, `offset` counts from its start.
 *   short, medium  the source may be changed on return (limits below)
 *   large          blocking: so too; _nb: the source is the operation's until `desc` completes
 * Gets have their data on return, _nb ones when `desc` completes. */
#define UCCS_SHORT_MAX 128
#define UCCS_MEDIUM_MAX 8192

int uccs_put_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              const void *source, size_t length, const struct uccs_op *op);
int uccs_put_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               const void *source, size_t length, const struct uccs_op *op);
int uccs_put_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              const void *source, size_t length, const struct uccs_op *op);
int uccs_put_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                 const void *source, size_t length, uccs_request_t *desc);
int uccs_get_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              void *dest, size_t length, const struct uccs_op *op);
int uccs_get_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               void *dest, size_t length, const struct uccs_op *op);
int uccs_get_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              void *dest, size_t length, const struct uccs_op *op);
int uccs_get_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                 void *dest, size_t length, uccs_request_t *desc);

struct uccs_stride { /* `count` blocks of `block` bytes, so many bytes from start to start */
    size_t block, count;
    ptrdiff_t remote_stride, local_stride;
};
int uccs_put_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                     const void *source, const struct uccs_stride *stride, const struct uccs_op *op);
int uccs_get_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
                     const struct uccs_stride *stride, const struct uccs_op *op);

struct uccs_piece {
    size_t offset; /* in the memory */
    void *local;
    size_t length;
};
int uccs_put_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op);
int uccs_get_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op);

/* Atomics on an aligned word of 4 or 8 bytes. `result` gets the old value; null: not wanted. */
enum uccs_atomic {
    UCCS_ATOMIC_FETCH,
    UCCS_ATOMIC_SET,
    UCCS_ATOMIC_SWAP,
    UCCS_ATOMIC_CSWAP, /* stores where it finds `compare` */
    UCCS_ATOMIC_ADD,
    UCCS_ATOMIC_AND,
    UCCS_ATOMIC_OR,
    UCCS_ATOMIC_XOR,
};
int uccs_atomic32(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint32_t operand, uint32_t compare, uint32_t *result,
                  const struct uccs_op *op);
int uccs_atomic64(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint64_t operand, uint64_t compare, uint64_t *result,
                  const struct uccs_op *op);

/* --- Active messages: a handler runs at the target on a thread that is in progress there, holding
 * nothing: it guards what it shares itself. The payload is the handler's until it returns. A handler may
 * reply once or not at all; it must not wait and not send. Messages of one thread to one endpoint of the same class and form
 * arrive in order; handlers of different threads overlap. A sender whose receiver is full makes progress
 * itself while it waits, so two full processes cannot block each other; memory is bounded by the rings. */
enum uccs_am_class {
    UCCS_AM_NETWORK_PROTOCOL = 0, /* short, no resource of its own; any thread, the progress thread too */
    UCCS_AM_USER = 1,             /* only threads that the program itself put into progress */
};
#define UCCS_AM_HANDLERS 256

typedef struct uccs_am_token *uccs_am_token_t; /* valid while the handler runs */
typedef void (*uccs_am_handler)(uccs_am_token_t token, const void *payload, size_t length, void *argument);

int uccs_am_register(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_handler handler, void *argument);
/* `cls` is the class under which the target registers `id`; the payload may be changed on return. The request of op completes
 * when the handler has returned, the counter rises then. short: UCCS_SHORT_MAX, medium: UCCS_MEDIUM_MAX. */
int uccs_am_short(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op);
int uccs_am_medium(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                   const void *payload, size_t length, const struct uccs_op *op);
int uccs_am_large(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op);
/* To the sender, from inside its handler: runs the sender's handler `id` of class `cls`. At most
 * UCCS_MEDIUM_MAX. A handler of a reply cannot reply. */
int uccs_am_reply(uccs_am_token_t token, int id, enum uccs_am_class cls, const void *payload, size_t length);
int uccs_am_source(uccs_am_token_t token); /* world rank of the sender */
uccs_context_t uccs_am_context(uccs_am_token_t token);

/* --- Completion of many, order, progress --------------------------------------------------------------
 * flush_local: sources of the context's operations to these endpoints may be reused. flush: the context's operations
 * (in its scope) are complete at their targets. fence: earlier ones before later ones, per endpoint. */
int uccs_flush_local(uccs_context_t context, const uccs_endpoint_t *endpoints, size_t n);
int uccs_flush(uccs_context_t context);
int uccs_fence(uccs_context_t context);
/* Runs what there is to run, of every context; any number of threads at once. Returns how many handlers it ran. */
int uccs_progress(void);

/* --- Group communication: members call the same ones in the same order; buffers are any memory of the
 * caller; _nb forms complete through `desc`, which keeps the buffers until then. */
enum uccs_type { UCCS_INT32, UCCS_UINT32, UCCS_INT64, UCCS_UINT64, UCCS_FLOAT, UCCS_DOUBLE };
enum uccs_reduction { UCCS_AND, UCCS_OR, UCCS_XOR, UCCS_MIN, UCCS_MAX, UCCS_SUM, UCCS_PROD };
int uccs_barrier(uccs_group_t group);
int uccs_barrier_nb(uccs_group_t group, uccs_request_t *desc);
int uccs_broadcast(uccs_group_t group, void *buffer, size_t length, int root);
int uccs_broadcast_nb(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc);
int uccs_allgather(uccs_group_t group, const void *source, void *dest, size_t length);
int uccs_allgather_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc);
int uccs_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how);
int uccs_allreduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                      enum uccs_reduction how, uccs_request_t *desc);
int uccs_alltoall(uccs_group_t group, const void *source, void *dest, size_t length);
int uccs_alltoall_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
