/* UCCS: one thread-safe substrate for one-sided communication, for several programming models in one process. OpenSHMEM
 * runs on it in the same process; a PGAS language or a task runtime may.
 *
 *   context    isolates messages: it has handlers, and a stream of its own
 *   stream     the order, scope and workers of operations: what endpoints lead along, and what flush and fence concern
 *   operation  a call that names an endpoint, remote and local memory, and a struct uccs_op: one descriptor for all of
 *              them says what completes, counts, signals and orders the operation
 *   resource   a transport and device that a context can use, and what it can do
 *   group      an ordered set of processes; rank i of a group becomes an endpoint
 *   endpoint   leads from a context to one process; connected on first use
 *   memory     a range of bytes of some process that others may reach; exported as an opaque handle
 *   request    counts operations of this process that are not complete yet
 *   counter    counts operations that have arrived here
 *
 * Threads: any thread may call any function at any time between uccs_init and uccs_finalize, on any object, unless its
 * description says otherwise. No single lock serves all calls.
 *
 * Progress: operations on mapped memory of a process on the same node complete without help of the target. Active
 * messages, operations to other nodes, and operations on memory that is not mapped and that the kernel cannot copy need
 * the target in uccs_progress, in a waiting call, or with a progress thread (LATERAL_PROGRESS; jobs on several nodes have
 * one by default). The thread also moves the _nb forms of group communication on.
 *
 * Returns: a function of type int returns enum uccs_status, 0 for success and negative for an error, unless its
 * description says otherwise. It sets its outputs only on success. Sizes are bytes. A null handle is UCCS_ERR_INVALID.
 *
 * Lifetime: an object lasts from the call that makes it to the one that releases it, at most to the last uccs_finalize;
 * behind that it may still be released. What a call does on an object that this process has released is undefined;
 * counters, and imported memory whose owner has released it, are UCCS_ERR_STALE then. Local memory that an operation
 * names stays, and a source unchanged, until the call returns, or, if it is not blocking, until it is complete. */
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
    UCCS_IN_PROGRESS = 1,      /* a test: not complete yet */
    UCCS_AGAIN = 2,            /* nowait: there is no room now; the call had no effect */
    UCCS_ERR_INVALID = -1,     /* an argument is wrong; the call had no effect */
    UCCS_ERR_NO_MEMORY = -2,   /* no memory, or no slot of this kind, is left */
    UCCS_ERR_BOUNDS = -3,      /* the range is not inside the memory */
    UCCS_ERR_UNREACHABLE = -4, /* no transport leads there */
    UCCS_ERR_STALE = -5,       /* the memory or counter has been released */
    UCCS_ERR_FORGED = -6,      /* this job did not make the memory handle */
    UCCS_ERR_TOO_LARGE = -7,   /* the payload exceeds the limit of this form */
    UCCS_ERR_STATE = -8,       /* the call is not allowed outside of a life, or inside a handler */
    UCCS_ERR_FAILED = -9,      /* test, wait: an operation failed, its memory had been released */
    UCCS_ERR_NOT_FOUND = -10,  /* uccs_rte.h: nobody has set the key; there is no such receive */
};
const char *uccs_status_text(int status); /* returns a few words for a status; never null */

/* --- Life: the library counts these calls together with OpenSHMEM's init and finalize in the same process. The first
 * init starts it and the last finalize stops it; both are collective over the job. uccs_init returns UCCS_ERR_NO_MEMORY, after a line,
 * when this process cannot start, and UCCS_ERR_FAILED when another one of the node cannot. */
int uccs_init(void);
/* The last one returns UCCS_ERR_FAILED, after a line, where it drops messages whose handler is not registered. */
int uccs_finalize(void);

/* --- Embedding: a program that is a parallel job already, such as an MPI program, gives the library its own means to tell
 * and to meet, so that no launcher is asked a second time. OpenSHMEM in the same process uses them too. The idea is that
 * of a bootstrap plug-in, as NVSHMEM and GASNet's spawners have it. */
struct uccs_environment {
    size_t size;     /* sizeof this struct */
    int rank, ranks; /* of this process in the job */
    /* Functions that return int return 0, or another value for a failure. The library calls fence and put on one thread
     * at a time, get and abort on any thread, also while another waits in fence. */
    int (*put)(void *self, const char *key, const void *value, size_t bytes); /* notes a value of this process */
    int (*fence)(void *self); /* collective; then all processes can get what was put before */
    int (*get)(void *self, int rank, const char *key, void **value, size_t *bytes); /* the library frees the value */
    void (*abort)(void *self, int status);                                          /* ends all processes of the job */
    void *self;
    /* May be null. Non-zero: the owner ends the job itself, so the library says nothing when this process exits in the midst of a
     * life. While it is non-zero in uccs_init, a process that cannot start makes uccs_init fail at all of its node, and does
     * not end the job; the owner makes fence fail at the others. */
    int (*ending)(void *self);
};
/* Every process of the job calls it before the first init of the process; the library copies the table. Keys have at most
 * 64 characters. Null: the owner of the environment ends, and the library calls none of the functions again; lives of one
 * node go on to work. Returns UCCS_ERR_INVALID for a table without a function, and, after a line, for a variable of the environment that
 * is wrong, before any other process waits for this one; UCCS_ERR_STATE during a life, and when the process has had a life with another environment.
 * Any thread. */
int uccs_embed(const struct uccs_environment *environment);

/* --- Contexts ------------------------------------------------------------------------------------------ */
typedef struct uccs_context *uccs_context_t;
typedef struct uccs_group_impl *uccs_group_t;

enum uccs_scope {
    UCCS_SCOPE_PROCESS = 0, /* a flush waits for every thread's operations in the context */
    UCCS_SCOPE_THREAD = 1,  /* a flush waits for the calling thread's operations only */
};
enum uccs_thread_mode {
    UCCS_THREAD_MULTIPLE = 0,
    UCCS_THREAD_SINGLE = 1, /* one thread at a time uses the context */
};
#define UCCS_CONTEXTS 63

struct uccs_context_attr {
    uint32_t id; /* contexts of different processes with the same id talk to each other; below UCCS_CONTEXTS */
    enum uccs_scope scope;
    int ordered; /* non-zero: operations to one endpoint land in the order of their issue */
    enum uccs_thread_mode threads;
};
/* Local. A process has at most one context per id at a time (else UCCS_ERR_INVALID). attr null: id 0, process scope,
 * unordered, any threads. A message waits at its target until the target has made the context. */
int uccs_context_create(const struct uccs_context_attr *attr, uccs_context_t *context);
/* Collective over the group: makes a context whose id the members agree on, so that two libraries in one process never
 * collide; attr->id is ignored, attr may be null. Its endpoints lead to members alone (else UCCS_ERR_INVALID). Ids are
 * few: at all members together it returns UCCS_ERR_NO_MEMORY when they have no id free in common; explicit ids are best
 * low, as the agreed ones come from above. Any thread, one call at a time for each group. The idea is that of MPI's
 * context ids. */
int uccs_context_create_in(uccs_group_t group, const struct uccs_context_attr *attr, uccs_context_t *context);
/* Completes the operations that this process issued in the context and releases the context's endpoints. */
int uccs_context_destroy(uccs_context_t context);

/* --- Resources ----------------------------------------------------------------------------------------- */
enum uccs_capability {
    UCCS_CAP_PUT = 1,
    UCCS_CAP_GET = 2,
    UCCS_CAP_ATOMIC = 4,
    UCCS_CAP_AM = 8,
    UCCS_CAP_ONE_SIDED = 16, /* operations complete without the target's help */
    UCCS_CAP_MAPPED = 32,    /* by load and store */
};
enum uccs_class { UCCS_CLASS_MEMORY = 0, UCCS_CLASS_KERNEL_COPY = 1, UCCS_CLASS_RDMA = 2, UCCS_CLASS_SOCKET = 3 };

struct uccs_resource {
    char transport[16];
    char device[32];
    uint32_t capabilities; /* enum uccs_capability */
    enum uccs_class bandwidth, latency;
};
/* Fills at most *count entries and sets *count to the number of resources: mapped memory, the kernel's copies, and in a job of
 * several nodes the network, by the name that LATERAL_TRANSPORTS has for it (tcp, ucx). list may be null when *count is 0.
 * UCCS_ERR_INVALID: the context or count is null, or list is while *count is not 0. */
int uccs_resource_query(uccs_context_t context, struct uccs_resource *list, size_t *count);

/* --- Groups -------------------------------------------------------------------------------------------- */
#define UCCS_GROUP_NULL ((uccs_group_t)0)
#define UCCS_GROUP_WORLD ((uccs_group_t)1) /* all processes of the job, in order; not to be released */

/* Collective over `parent`: every member passes the same ranks of the parent, none twice. Members that are not in the
 * list get UCCS_GROUP_NULL. The call reads `ranks` before it returns. UCCS_ERR_INVALID: the parent is null, n is 0, ranks or
 * group is null, or a rank is outside of the parent or comes twice; UCCS_ERR_NO_MEMORY; UCCS_ERR_STATE: outside of a life.
 * Any thread, one collective call at a time for each parent. */
int uccs_group_create(uccs_group_t parent, size_t n, const int *ranks, uccs_group_t *group);
int uccs_group_release(uccs_group_t group); /* collective over the group; _nb operations under way go on */
/* Return my rank, the number of members, and the rank in the world of a member; -1 for a null group, a rank that the group does
 * not have, and the world outside of a life. */
int uccs_group_rank(uccs_group_t group);
int uccs_group_size(uccs_group_t group);
int uccs_group_world_rank(uccs_group_t group, int rank);

/* --- Handles of the sections below */
typedef struct uccs_stream *uccs_stream_t;
typedef struct uccs_endpoint *uccs_endpoint_t;
typedef struct uccs_region *uccs_memory_t;
typedef struct uccs_queue *uccs_queue_t;

/* --- Requests: a request counts operations that are not complete at their targets yet. Null is no request. An
 * operation that carries a null request makes one; further operations merge into it. Tests and waits leave the request
 * reusable. When an operation of a request has failed, the first test or wait that finds the request complete returns
 * UCCS_ERR_FAILED, once; any and some then set their outputs too, all does so when all requests are complete. One
 * thread at a time uses a request variable. A request of uccs_request_create is shared: any threads use it at once. */
typedef struct uccs_request *uccs_request_t;
#define UCCS_REQUEST_NULL ((uccs_request_t)0)

int uccs_request_create(uccs_request_t *request);
int uccs_request_release(uccs_request_t *request); /* pending operations go on; the request becomes null */
/* Makes `into` track the operations of all n requests; these become null. Costs O(n); a test of `into` stays O(1). */
int uccs_request_combine(uccs_request_t *into, size_t n, uccs_request_t *requests);
/* Tests make progress and return UCCS_OK, UCCS_IN_PROGRESS or an error. Waits return UCCS_OK or an error; inside a
 * handler UCCS_ERR_STATE when they would have to wait. any sets *index to a complete request, or to SIZE_MAX when n is
 * 0. some sets *count to the number of complete requests and indices to theirs. */
int uccs_test(uccs_request_t *request);
int uccs_test_all(uccs_request_t *requests, size_t n);
int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index);
int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices);
int uccs_wait(uccs_request_t *request);
int uccs_wait_all(uccs_request_t *requests, size_t n);
int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index);
int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices);

/* --- Completion queues: an operation that names a queue and a tag leaves an entry there when it is complete, with its
 * status. Any number of threads poll, wait and issue at once; each entry goes to one of them (compare LCI's completion
 * queues and libfabric's). The library takes the memory of an entry when the operation is issued, so a queue never
 * overflows. */
struct uccs_entry {
    void *tag;  /* of struct uccs_op */
    int status; /* UCCS_OK, or an error: UCCS_ERR_FAILED */
};
/* Local. Create returns UCCS_ERR_NO_MEMORY when there is none. Release drops the entries; operations under way that
 * name the queue go on. */
int uccs_queue_create(uccs_queue_t *queue);
int uccs_queue_release(uccs_queue_t queue);
/* *count holds the room in `entries` before, at least 1, and the number of entries filled after; the oldest come first.
 * poll makes progress when it finds none, and then may set *count to 0. wait returns with at least one; inside a handler
 * it returns UCCS_ERR_STATE when it would have to wait. */
int uccs_queue_poll(uccs_queue_t queue, struct uccs_entry *entries, size_t *count);
int uccs_queue_wait(uccs_queue_t queue, struct uccs_entry *entries, size_t *count);

/* --- Counters: 0 is no counter. A counter counts at the processes that have opened it, and starts at 0. Any process may
 * put the value into op->counter of operations on such a process, and a value may be sent to others. Calls on a counter that is not
 * open here return UCCS_ERR_STALE, and so do operations that carry a counter of the job that is not open here, or one of a
 * group or process that is not open at a target on this node. A target on another node does not count for one that it has not open.
 * After the counting puts of Dinan et al. 2014; own counters after Portals' event counters, waits as requests after GASNet-EX's. */
typedef uint64_t uccs_counter_t;
/* Of the job: the same value names the same counter in every process. At most 65,536 at a time, else
 * UCCS_ERR_NO_MEMORY. */
int uccs_counter_open(uccs_counter_t *counter); /* collective over the job, in one order; does not wait */
int uccs_counter_shut(uccs_counter_t counter);  /* collective over the job, in one order; synchronises */
/* Of a group: the value is the same at all members. Both are collective over the group and synchronise. Shut completes
 * the caller's own operations first. Groups and own counters share 32,768 at a time in a process. */
int uccs_counter_open_group(uccs_group_t group, uccs_counter_t *counter);
int uccs_counter_shut_group(uccs_group_t group, uccs_counter_t counter);
/* Of this process alone. Both are local. Shut it when the operations of others that carry it are complete. */
int uccs_counter_open_own(uccs_counter_t *counter);
int uccs_counter_shut_own(uccs_counter_t counter);

int uccs_counter_read(uccs_counter_t counter, int64_t *value);
int uccs_counter_test(uccs_counter_t counter, int64_t at_least); /* UCCS_OK: it is; makes progress as uccs_test does */
int uccs_counter_wait(uccs_counter_t counter, int64_t at_least);
int uccs_counter_consume(uccs_counter_t counter, int64_t value); /* waits for at least `value`, then subtracts it */
int uccs_counter_reset(uccs_counter_t counter, int64_t *old); /* takes the value, at once, and leaves 0; old: or null */
/* Add to the request an operation that completes when the counter is at least `at_least`, so that uccs_wait_any waits
 * for a counter or another request. It fails when the counter is shut first, or at the last finalize. */
int uccs_counter_wait_nb(uccs_counter_t counter, int64_t at_least, uccs_request_t *request);
/* Add an operation that completes when an aligned word of this process, which others change by atomics or signals, is at least
 * `at_least`; it counts as signed. The word must exist until the operation completes. */
int uccs_word_wait_nb(const uint64_t *word, int64_t at_least, uccs_request_t *request);

/* A word of the target that tells of an operation: it is stored, or rises, behind the data. Its memory belongs to the
 * operation's target; the word is aligned and has 8 bytes. */
enum uccs_signal_how { UCCS_SIGNAL_SET, UCCS_SIGNAL_ADD };
struct uccs_signal {
    uccs_memory_t memory;
    size_t offset;
    uint64_t value;
    enum uccs_signal_how how;
};
/* Called once for an operation, with UCCS_OK or UCCS_ERR_FAILED, on a thread in progress, which holds no lock. */
typedef void (*uccs_completion)(void *argument, int status);

/* Options of an operation; a null pointer means none. A call that returns an error or UCCS_AGAIN has left them alone.
 * A get or a fetch that carries a counter or a signal, and one on this node that its
 * target executes, may end within the call although `nonblocking` is set. */
struct uccs_op {
    uccs_request_t *request; /* completes when the operation is complete at the target */
    uccs_counter_t counter;  /* rises at the target once the data is there; of a get, once it has been read */
    int64_t weight;          /* by which the counter rises; 0 means 1 */
    int ordered;             /* non-zero: lands after all earlier operations of this thread to this endpoint */
    int nonblocking;         /* non-zero: the call may return before the local buffers are free, or hold the data */
    int nowait;              /* non-zero: return UCCS_AGAIN instead of waiting for room */
    uccs_request_t *local;   /* completes when the program may use its buffers: reuse a source, read a result */
    const struct uccs_signal *signal; /* read during the call */
    uccs_completion complete;         /* called when the operation is complete at the target; may be null */
    void *argument;
    uccs_queue_t queue; /* or: gets an entry with the tag and the status then; may be null */
    void *tag;
};

/* --- Conditions: requests, counters and words waited for at once, as long as the caller likes. The ideas are GASPI's
 * notify_waitsome, which waits for one of many notifications, and its time-outs. */
struct uccs_condition {      /* names one of the three; the others are null or 0 */
    uccs_request_t *request; /* holds when the request is complete */
    uccs_counter_t counter;  /* holds when the counter here is at least `at_least` */
    const uint64_t *word;    /* the same for an aligned word of this process, which counts as signed */
    int64_t at_least;
};
#define UCCS_FOREVER INT64_C(-1)
/* Waits until at least `least` of the n conditions hold, and tells which ones do: *count of them, in their order, in `indices`,
 * which has room for n. count and indices may be null; the call may write `indices` while it waits. nanoseconds: how long it waits
 * about; 0: it makes progress once, as a test; UCCS_FOREVER. Returns UCCS_OK; UCCS_IN_PROGRESS when the time is over;
 * UCCS_ERR_FAILED, with its outputs set, when an operation of a request that holds has failed (told once); UCCS_ERR_STALE when a
 * counter is not open here, or is shut meanwhile; UCCS_ERR_STATE inside a handler when it would have to wait;
 * UCCS_ERR_INVALID: a condition names none or several, a word is not aligned, or `least` exceeds n. Any thread; one thread at a
 * time for each request that is not shared. Costs n looks a round and no memory. */
int uccs_wait_conditions(const struct uccs_condition *conditions, size_t n, size_t least, int64_t nanoseconds,
                         size_t *count, size_t *indices);

/* --- Endpoints: an endpoint is cheap; its first operation connects it. uccs_stream_endpoint makes it; the end of the
 * stream ends its endpoints. Release returns UCCS_ERR_INVALID for null. */
int uccs_endpoint_release(uccs_endpoint_t endpoint);
int uccs_endpoint_world_rank(uccs_endpoint_t endpoint); /* returns where it leads to; -1 for null */
/* Returns the context whose messages the endpoint sends; null for null and where its stream has none. */
uccs_context_t uccs_endpoint_context(uccs_endpoint_t endpoint);

/* --- Streams: order, scope and thread mode of operations, with workers of their own to other nodes (ideas: OpenSHMEM's
 * contexts, libfabric's endpoints). A stream is local; one that has reached no other node is a few words. Flushes and
 * fences concern its operations alone: those of all threads, or in thread scope those of the calling thread. Given
 * endpoints (of any stream) they concern those peers; null and 0 mean all. The calls read the array before they return, so the
 * program may then reuse it. A flush of all peers also waits for the
 * messages of the stream's world within the scope. */
struct uccs_stream_attr {
    enum uccs_scope scope;
    int ordered; /* non-zero: operations to one endpoint land in the order of their issue */
    enum uccs_thread_mode threads;
};
/* attr null: process scope, unordered, any threads. world null: the endpoints send no messages. The stream must not
 * outlive its world. */
int uccs_stream_create(uccs_context_t world, const struct uccs_stream_attr *attr, uccs_stream_t *stream);
/* Completes the operations of all threads, and releases the stream's endpoints. UCCS_ERR_INVALID for a context's own;
 * UCCS_ERR_STATE inside a handler. No thread may use the stream meanwhile. */
int uccs_stream_release(uccs_stream_t stream);
uccs_stream_t uccs_context_stream(uccs_context_t context); /* returns the context's own stream; null for null */
/* Makes an endpoint that leads to a member of the group along the stream. UCCS_ERR_INVALID: the stream, endpoint or group is
 * null, the group has no such rank, or the process is no member of the context's group; UCCS_ERR_NO_MEMORY. */
int uccs_stream_endpoint(uccs_stream_t stream, uccs_group_t group, int rank, uccs_endpoint_t *endpoint);
/* Waits until the operations are complete at their targets. UCCS_ERR_FAILED, once, when a target has refused some of them
 * that carry no request: their memory had been released. UCCS_ERR_STATE inside a handler that would wait for messages. */
int uccs_stream_flush(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n);
/* Waits until the program may use its buffers: sources can change, results are there. */
int uccs_stream_flush_local(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n);
/* The request completes when the one-sided operations issued so far are complete at their targets. It fails where flush
 * would. */
int uccs_stream_flush_nb(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n, uccs_request_t *request);
/* Orders later operations behind earlier ones, per peer. Waits only for those that a process of this node executes. */
int uccs_stream_fence(uccs_stream_t stream, const uccs_endpoint_t *endpoints, size_t n);
/* Makes progress on the stream's workers, and runs completion functions. Returns non-zero when it found something. */
int uccs_stream_progress(uccs_stream_t stream);

/* --- Memory -------------------------------------------------------------------------------------------- */
#define UCCS_MEMORY_HANDLE_MAX 256

enum uccs_domain {                         /* executes the atomics on a memory; fixed for its life */
                   UCCS_DOMAIN_CPU = 0,    /* the processor */
                   UCCS_DOMAIN_LOCKED = 1, /* under a lock of the owner's: memory that is not mapped; and dynamic
                                            * memory, whose ranges each have the domain of their bytes */
                   UCCS_DOMAIN_NIC = 2,
};
struct uccs_memory_attr {
    void *address; /* in this process: the memory or its map; null when it is not mapped, and for dynamic memory */
    size_t length; /* 0: dynamic memory */
    int owner;     /* rank in the world */
    enum uccs_domain domain;
};
/* The context of these calls may be null. Makes new memory of this process that all processes of the node map: the
 * fastest kind. It is zeroed and begins on a cache line. It costs microseconds whatever its size, as the kernel zeroes
 * pages when they are touched. LATERAL_MEMORY bytes fit always, more as far as the machine has memory. */
int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory);
/* Registers any existing memory of this process, which stays where it is. The memory must outlive the registration.
 * UCCS_ERR_INVALID when the node maps it only in part. */
/* Allocate and register: UCCS_ERR_INVALID when the length is 0, address or memory is null, or the node maps the range only in
 * part; UCCS_ERR_NO_MEMORY when memory or slots are used up; UCCS_ERR_STATE outside of a life. */
int uccs_memory_register(uccs_context_t context, void *address, size_t length, uccs_memory_t *memory);
/* Writes an opaque handle for any process of the job. *length holds the room before and the bytes written after. */
int uccs_memory_export(uccs_memory_t memory, void *handle, size_t *length);
/* Verifies that this job made the handle (keyed hash), its bounds and owner, and that the memory is not released. */
int uccs_memory_import(uccs_context_t context, const void *handle, size_t length, uccs_memory_t *memory);
/* Own memory: later imports and operations of other processes fail as stale; operations under way must have completed.
 * Imported memory: this process forgets it. */
int uccs_memory_release(uccs_memory_t memory);
/* Dynamic memory (as of MPI's dynamic windows): one object without bytes, to which its owner attaches ranges of its
 * memory, any number of them. The offset of an operation is an address in the owner. An operation outside of the
 * attached ranges, or across a gap between two, returns UCCS_ERR_BOUNDS; to another node, where the owner looks, gets
 * and fetching atomics return that, and requests of other operations fail. Each byte keeps the domain that
 * uccs_memory_register would give it. Node peers find a range without the owner's help. */
int uccs_memory_dynamic(uccs_context_t context, uccs_memory_t *memory);
/* The owner alone, any of its threads. attach returns UCCS_ERR_INVALID when the range overlaps an attached one of this
 * object, or when the node maps it only in part. detach takes the start of an attached range, else it returns
 * UCCS_ERR_INVALID; operations on the range must have completed, and later ones find it gone. Both cost
 * the logarithm of the number of ranges. */
int uccs_memory_attach(uccs_memory_t memory, void *address, size_t length);
int uccs_memory_detach(uccs_memory_t memory, void *address);
/* A range of dynamic memory as this process sees it, for a caller that reaches it without a call for each operation. */
struct uccs_view {
    size_t start, length;    /* offsets in the memory */
    char *address;           /* of `start` in this process; null when it does not map the range */
    enum uccs_domain domain; /* of its bytes */
    const uint64_t *version; /* the view holds while this word has the value `seen`: load it with acquire order */
    uint64_t seen;
};
/* Finds the range that holds an offset of dynamic memory of a process of this node. The word of the version exists until
 * the owner has released the memory. UCCS_ERR_BOUNDS: no range holds the offset; UCCS_ERR_INVALID: no such memory. Any
 * thread. */
int uccs_memory_view(uccs_memory_t memory, size_t offset, struct uccs_view *view);
int uccs_memory_query(uccs_memory_t memory, struct uccs_memory_attr *attr);

#include <uccs_lock.h>

/* --- One-sided operations: `memory` belongs to the endpoint's process, `offset` counts from its start, `length` is any.
 * Without `nonblocking` in op the program may change the source, or the data of a get is there, when the call returns. Any
 * thread. UCCS_ERR_INVALID: a null, or the memory is not of the endpoint's process; UCCS_ERR_BOUNDS; UCCS_ERR_STALE;
 * UCCS_ERR_NO_MEMORY. */
struct uccs_stride { /* `count` blocks of `block` bytes; strides are bytes from start to start */
    size_t block, count;
    ptrdiff_t remote_stride, local_stride;
};
/* A call has read the array of pieces, or the stride, when it returns; the local bytes that they name stay, as those of other
 * operations do. */
struct uccs_piece {
    size_t offset; /* in the memory */
    void *local;
    size_t length;
};
int uccs_put(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *source, size_t length,
             const struct uccs_op *op);
int uccs_get(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest, size_t length,
             const struct uccs_op *op);
int uccs_put_blocks(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *source,
                    const struct uccs_stride *stride, const struct uccs_op *op);
int uccs_get_blocks(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
                    const struct uccs_stride *stride, const struct uccs_op *op);
int uccs_put_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                    const struct uccs_op *op);
int uccs_get_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                    const struct uccs_op *op);

/* Atomics on an aligned word of 4 or 8 bytes. `result` receives the old value and may be null. */
enum uccs_atomic {
    UCCS_ATOMIC_FETCH,
    UCCS_ATOMIC_SET,
    UCCS_ATOMIC_SWAP,
    UCCS_ATOMIC_CSWAP, /* stores `operand` if the word equals `compare` */
    UCCS_ATOMIC_ADD,
    UCCS_ATOMIC_AND,
    UCCS_ATOMIC_OR,
    UCCS_ATOMIC_XOR,
};
/* size 4 or 8; `result` has that size. */
int uccs_atomic(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t size, enum uccs_atomic what,
                uint64_t operand, uint64_t compare, void *result, const struct uccs_op *op);

#include <uccs_accumulate.h>
#include <uccs_am.h>

/* --- Progress */
/* Runs the handlers of messages that have arrived, in every context; any number of threads may call it at once. Returns
 * the number of handlers that it ran. */
int uccs_progress(void);
/* Like uccs_progress, but it never gives the core away. For a caller that holds a lock that other threads need, or that yields
 * by itself: a yield may last a time slice of some milliseconds. */
int uccs_poll(void);
/* Like uccs_progress, for the messages of one context, and whatever else others want of this process; messages of other contexts stay
 * where they are. So a library in a program runs its own handlers alone, and its caller's thread nobody else's (after UCX's
 * progress of one worker). 0 for null and inside a handler. */
int uccs_context_progress(uccs_context_t context);
/* A descriptor to sleep on, so that a program waits in its own poll() for this process's messages among other things. It belongs to
 * the library until the last finalize; no call but poll(), select() and epoll's may be made on it. It works by the progress thread,
 * which the first call starts where none runs (but LATERAL_PROGRESS=poll forbids it: UCCS_ERR_STATE, as outside of a life or in
 * a handler; UCCS_ERR_NO_MEMORY when the system has no descriptor or thread). The ideas are those of UCX's ucp_worker_arm.
 *
 *     while (!what_I_wait_for())
 *         if (uccs_progress() == 0 && uccs_event_arm() == UCCS_OK && !what_I_wait_for())
 *             poll(...);
 *
 * After uccs_event_arm has returned UCCS_OK, the descriptor becomes readable once a message has arrived whose handler
 * uccs_progress would run, once the progress thread has moved something on (an operation to another node, a message of
 * this process that its receiver has handled, an _nb form), and now and then while other threads of the process make progress; it may
 * be for nothing. It stays readable until the next uccs_event_arm. UCCS_AGAIN: there is something already, so call uccs_progress.
 * What a process of the node stores by itself, into memory or a counter, tells nobody and wakes no sleeper: let a message
 * follow it. One thread at a time arms and sleeps. A wake-up takes two switches of threads, some 10 us. */
int uccs_event_descriptor(int *descriptor);
int uccs_event_arm(void);
/* Every wait and every test of the library that found nothing, OpenSHMEM's and this header's, calls the added functions
 * with their arguments on the calling thread. So another library's messages (an MPI's) move while a thread waits here. A
 * poller returns non-zero when it found something, else 0. It may call this library, but no function that starts or ends
 * it; while it runs, its thread calls no poller. The progress thread and handlers call none, and the library holds no
 * lock meanwhile. Several threads may be in a poller at once. Pollers may be added before uccs_init, and stay when the
 * library ends. UCCS_ERR_INVALID: the pair of function and argument is there already (add) or not there (remove);
 * UCCS_ERR_NO_MEMORY: 64 pollers are there. When uccs_poller_remove returns, no other thread is in the poller.
 * (After opal_progress_register of Open MPI.) */
int uccs_poller_add(int (*poll)(void *argument), void *argument);
int uccs_poller_remove(int (*poll)(void *argument), void *argument);

#include <uccs_classic.h>
#include <uccs_waiting.h>

#include <uccs_coll.h>

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
