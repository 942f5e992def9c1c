/* The substrate under the program's MPI: begun within MPI_Init, ended by a delete callback of MPI_COMM_SELF within
 * MPI_Finalize, with the MPI as its environment (uccs_embed).
 *
 * One thread begins and ends. Between, all is constant. */
#ifndef MPI_LIFE_H
#define MPI_LIFE_H

#include <mpi.h>
#include <stdbool.h>
#include <uccs.h>

struct lmpi_life {
    bool running;           /* windows may be ours */
    const char *why_not;    /* else: why they are the MPI's */
    bool aborting;          /* the program, or a fatal error, ends the job */
    int rank, ranks;        /* in MPI_COMM_WORLD and in the substrate's world */
    bool any_thread;        /* MPI_THREAD_MULTIPLE */
    bool checked;           /* LATERAL_CHECK: broken promises are errors */
    bool any_calls;         /* a thread in the substrate may call the MPI: not MPI_THREAD_SERIALIZED */
    bool crowded;           /* more ranks than cores: waits yield at once */
    MPI_Comm comm;          /* this library's own, of all ranks */
    MPI_Comm self;          /* of this process alone, for shadow windows and null requests */
    MPI_Group world;        /* the group of MPI_COMM_WORLD */
    uccs_context_t context; /* in which windows issue their operations */
};

extern struct lmpi_life lmpi_life;

/* Returns the endpoint that leads to a rank of MPI_COMM_WORLD, or null without memory. Endpoints are made at first use
 * and live as long as the substrate. Any thread. */
uccs_endpoint_t lmpi_endpoint(int world_rank);
/* endpoint.c: before the first and after the last endpoint. begin returns false without memory. */
bool lmpi_endpoints_begin(int ranks);
void lmpi_endpoints_end(void);

/* environment.c: hands the MPI to the substrate as its environment. Returns a status of uccs.h. */
int lmpi_environment_give(void);
/* Collective: tells the other ranks whether this one has started. Another may still be in a fence of its start, which then fails, as
 * this one is not going to come. Returns whether all have. */
bool lmpi_environment_started(bool good);
/* Returns whether a fence has said that a rank cannot start. */
bool lmpi_environment_failed(void);
void lmpi_environment_end(void); /* the MPI must not be called any more */

#endif
