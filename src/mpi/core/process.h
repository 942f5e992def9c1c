/* What all files know of this process, its endpoints, and lines on standard error.
 *
 * MPI_Init fills struct lmpi_process on one thread (init/init.c), and the delete callback of MPI_COMM_SELF within MPI_Finalize clears it.
 * Between the two only `aborting` changes. */
#ifndef MPI_CORE_PROCESS_H
#define MPI_CORE_PROCESS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

struct lmpi_process {
    bool running;           /* windows may be ours */
    const char *why_not;    /* else: why they are the MPI's */
    bool aborting;          /* the program, or a fatal error, ends the job */
    int rank, ranks;        /* in MPI_COMM_WORLD and in the substrate's world */
    bool any_thread;        /* MPI_THREAD_MULTIPLE */
    bool checked;           /* LATERAL_CHECK: broken promises are errors */
    bool any_calls;         /* a thread in the substrate may call the MPI: not MPI_THREAD_SERIALIZED */
    bool crowded;           /* more ranks than cores: waits yield at once */
    bool one_node;          /* every rank maps the others' memory */
    MPI_Comm comm;          /* this library's own, of all ranks */
    MPI_Comm self;          /* of this process alone, for handle windows and null requests */
    MPI_Group world;        /* the group of MPI_COMM_WORLD */
    int foreign_key;        /* attribute of a communicator: whether processes of another MPI_COMM_WORLD are in it */
    uccs_context_t context; /* in which windows issue their operations */
};

extern struct lmpi_process lmpi_process;

/* Returns the endpoint that leads to a rank of MPI_COMM_WORLD, or null without memory. Endpoints are made at first use
 * and live as long as the substrate. Any thread. */
uccs_endpoint_t lmpi_endpoint(int world_rank);
/* Room for each of n ranks, zeroed, of which only pages that are touched take memory. new returns null when there is none. */
void *lmpi_rows_new(int n, size_t row_bytes);
void lmpi_rows_free(void *rows, int n, size_t row_bytes);

/* Before the first and after the last endpoint. begin returns false without memory. One thread. */
bool lmpi_endpoints_begin(int ranks);
void lmpi_endpoints_end(void);

/* Prints that something of a rank, such as "the lock", cannot be reached, and ends the job. `status`: of uccs.h. Any thread. */
void lmpi_unreachable(const char *what, int world_rank, int status) __attribute__((cold));

/* Returns whether LATERAL_MPI=verbose asks for a line about each window. Any thread. */
int lmpi_verbose(void);
/* Prints a line that begins with this rank's number. Any thread. */
void lmpi_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns whether every rank maps the others' memory. The context exists. */
bool lmpi_is_on_one_node(void);

/* ---- progress.c: waits of the layer move the MPI's messages, and waits of the MPI move the substrate's ---- */

/* Register with the MPI and the substrate, and unregister. The thread of MPI_Init and MPI_Finalize. */
void lmpi_progress_begin(void);
void lmpi_progress_end(void);

/* Makes one progress call of the substrate. Returns the number of messages that it moved. The MPI's waits call it, on any thread. */
int lmpi_progress_poll(void);

/* This thread begins or ends MPI_Init: UCX workers that it makes meanwhile are the MPI's. */
void lmpi_workers_record(bool on);

/* Returns whether the MPI has a list of progress functions (Open MPI), so that its waits and tests call lmpi_progress_poll. */
bool lmpi_progress_inside(void);

/* Adds the one function that lmpi_progress_poll also calls. Once. */
void lmpi_progress_also(void (*poll)(void));

/* Above 0: this thread is in a call of the program's, so a wait of the substrate may move the MPI's messages. */
extern _Thread_local int lmpi_calling;

/* Makes one progress call of the substrate and one of the MPI. Called by a thread of the program that is inside a call. */
void lmpi_progress(void);

#endif
