/* One-sided operations as the program asks for them. Any thread. */
#ifndef MPI_OPS_OPERATION_H
#define MPI_OPS_OPERATION_H

#include "mpi/datatype/type.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

enum lmpi_what { LMPI_PUT, LMPI_GET, LMPI_ACCUMULATE, LMPI_GET_ACCUMULATE, LMPI_SWAP };

struct lmpi_buffer {
    char *address;
    MPI_Aint count; /* wide enough for the large-count forms */
    MPI_Datatype type;
};

struct lmpi_operation {
    enum lmpi_what what;
    int (*run)(struct lmpi_window *window, struct lmpi_operation *operation); /* below */
    struct lmpi_buffer origin, result; /* result: what was there, of LMPI_GET_ACCUMULATE and LMPI_SWAP */
    int rank;
    MPI_Aint disp, count; /* at the target */
    MPI_Datatype type;
    MPI_Op op;
    const void *compare;           /* of LMPI_SWAP */
    const struct uccs_op *options; /* to another node; null: the window's */
    bool later; /* an operation to another node may use the buffers until a flush; long accumulates do not */
    int id;     /* of a notification */
};

#define LMPI_RUN_PUT lmpi_move
#define LMPI_RUN_GET lmpi_move
#define LMPI_RUN_ACCUMULATE lmpi_update
#define LMPI_RUN_GET_ACCUMULATE lmpi_update
#define LMPI_RUN_SWAP lmpi_swap

/* The operation of a function, by the names of its parameters. */
#define LMPI_OPERATION(kind, ...)                                                    \
    (&(struct lmpi_operation){.what = LMPI_##kind,                                   \
                              .run = LMPI_RUN_##kind,                                \
                              .origin = {(char *)origin, origin_count, origin_type}, \
                              .rank = rank,                                          \
                              .disp = disp,                                          \
                              .count = target_count,                                 \
                              .type = target_type,                                   \
                              __VA_ARGS__})

/* Describes an operation on one element, whose old value `result` gets. */
#define LMPI_ELEMENT(kind, ...)                                    \
    (&(struct lmpi_operation){.what = LMPI_##kind,                 \
                              .run = LMPI_RUN_##kind,              \
                              .origin = {(char *)origin, 1, type}, \
                              .result = {result, 1, type},         \
                              .rank = rank,                        \
                              .disp = disp,                        \
                              .count = 1,                          \
                              .type = type,                        \
                              __VA_ARGS__})

/* Run an operation with other options to another node; null: the window's. The buffers are free, or hold the data, on return, or else
 * after a flush. They return MPI_SUCCESS or an error class, and call no error handler. move, update and swap belong to run, which has
 * looked for the target. */
int lmpi_run(struct lmpi_window *window, struct lmpi_operation *operation, const struct uccs_op *options);
int lmpi_move(struct lmpi_window *window, struct lmpi_operation *operation);   /* put, get */
int lmpi_update(struct lmpi_window *window, struct lmpi_operation *operation); /* accumulate, get_accumulate */
int lmpi_swap(struct lmpi_window *window, struct lmpi_operation *operation);

/* Runs it with `later`. */
int lmpi_call(struct lmpi_window *window, struct lmpi_operation *operation);

/* Returns whether the bytes lie together on both sides, and there are some: it is one operation of the substrate. */
bool lmpi_is_whole(struct lmpi_operation *operation);
/* Returns whether it brings data from the target. */
static inline bool lmpi_fetches(struct lmpi_operation *operation)
{
    return operation->what != LMPI_PUT && operation->what != LMPI_ACCUMULATE;
}

/* Returns MPI_SUCCESS when the target exists, is reached, and an epoch is open to it, or an error class. */
int lmpi_check_target(struct lmpi_window *window, int rank);
/* Sets *at to the bytes of a displacement. MPI_SUCCESS when `count` elements from there lie inside of the window. */
int lmpi_check_range(const struct lmpi_window *window, struct lmpi_operation *operation, const struct lmpi_type *type,
                     MPI_Aint *at);

/* Returns a target that is open, and the place of bytes in its memory, or null when the general way is due: it knows what is wrong. A
 * negative displacement is a place beyond the end. */
static inline __attribute__((always_inline)) struct lmpi_target *lmpi_plain_target(const struct lmpi_window *window,
                                                                                   int rank, MPI_Aint disp,
                                                                                   size_t bytes, size_t *at)
{
    if (__builtin_expect((unsigned)rank >= (unsigned)window->ranks, 0))
        return 0;
    struct lmpi_target *target = &window->target[rank];
    const size_t there = __atomic_load_n(&target->bytes, __ATOMIC_ACQUIRE); /* release: window/peers.c */
    if (__builtin_expect(!(target->open | window->open) ||
                             __builtin_mul_overflow((size_t)disp, (size_t)target->unit, at) || *at > there ||
                             bytes > there - *at,
                         0))
        return 0;
    return target;
}

/* An operation begins that has been found right. Returns its options for the substrate. `answered`: an answer of the target may tell that
 * it is complete. `storage` holds the options of one that may be under way when the call returns. */
const struct uccs_op *lmpi_issue(struct lmpi_window *window, struct lmpi_operation *operation, bool later,
                                 bool answered, struct uccs_op *storage);

/* intrinsic.c: returns whether MPIX_Win_op_intrinsic says so of an operation on `count` elements, and they are aligned at the
 * displacement of `at` bytes; prints a line when not. */
struct lmpi_op;
bool lmpi_promise_kept(const struct lmpi_window *window, int rank, MPI_Aint at, const struct lmpi_op *op, size_t count);

/* request.c: the request forms. They return an error class.
 * remote: it says that the operation is complete at the target; else, as MPI's, that the buffers are free. */
int lmpi_request_start(struct lmpi_window *window, struct lmpi_operation *operation, bool remote, MPI_Request *request);
/* Makes a request that is complete, unless the operation has failed. Returns an error class. */
int lmpi_request_finish(int status, MPI_Request *request);

/* notify.c: runs an operation, and raises the number at its target behind it. Returns an error class. */
int lmpi_notify(struct lmpi_window *window, struct lmpi_operation *operation);

/* ---- pending.c: requests of the program that complete when something of the layer has happened. Each is a generalized request of the
 * MPI's: its waits and tests look whether it has, and complete it ---- */

struct lmpi_pending {
    const uint64_t *word; /* it has happened once the word, which counts as signed, is at least `least` */
    int64_t least;
    const void *owner; /* for lmpi_pending_end */
    bool cancels;      /* MPI_Cancel ends it */
    int status;        /* an error class; written before the word */

    bool cancelled, ended, released; /* the rest is of pending.c */
    MPI_Request request;
    struct lmpi_pending *next, **at; /* in the list; at null: not there */
};

static inline bool lmpi_pending_is_done(const struct lmpi_pending *pending)
{
    return (int64_t)__atomic_load_n(pending->word, __ATOMIC_ACQUIRE) >=
           pending->least; /* release: who writes the word */
}

/* Finds out how the MPI can look: before the first request, and then always the same. */
bool lmpi_pending_works(void);

/* Makes the request. The structure comes from malloc, belongs to the request and is freed with it. Returns false when the
 * MPI makes no request; then it is still the caller's. */
bool lmpi_pending_start(struct lmpi_pending *pending, MPI_Request *request);

/* Completes the requests of an owner with an error class. */
void lmpi_pending_end(const void *owner, int status);

#endif
