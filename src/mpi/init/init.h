/* The parts of MPI_Init and MPI_Finalize (init.c). One thread, within these calls. */
#ifndef MPI_INIT_INIT_H
#define MPI_INIT_INIT_H

#include <stdbool.h>
#include <stddef.h>

/* ---- environment.c: the MPI as the substrate's environment ---- */

/* Hands the MPI to the substrate as its environment. Returns a status of uccs.h. */
int lmpi_environment_embed(void);
/* Tells a value, which all ranks can ask for behind the next fence or lmpi_environment_agree. Returns false without memory. ask copies the
 * value of a rank, of at most `room` bytes, and returns its bytes; 0: it has told none. Any thread asks. */
bool lmpi_environment_tell(const char *key, const void *value, size_t bytes);
size_t lmpi_environment_ask(int rank, const char *key, void *value, size_t room);
/* Collective: tells the other ranks whether this one has started. Another may still be in a fence of its start, which then fails, as
 * this one is not going to come. Returns whether all have. */
bool lmpi_environment_agree(bool good);
/* Returns whether a fence has said that a rank cannot start. */
bool lmpi_environment_failed(void);
void lmpi_environment_end(void); /* the MPI must not be called any more */

/* ---- presence.c: finds the ranks that run without this library, which join no collective call of it ----
 *
 * A rank leaves a word in the launcher's key space while the MPI starts, and the MPI's own start shows it to the others: over PMIx and
 * over PMI-1. Under other launchers all ranks count as present. */

/* Before the MPI starts. Once per process. */
void lmpi_presence_publish(void);

/* After the MPI has started, once: all ranks that run with this library call it. Returns -1 when all ranks do, else one that does not;
 * then all callers get such a rank, and *first is true at the lowest of them. */
int lmpi_presence_find_absent(bool *first);

/* ---- pmi.c: words in the key space of a launcher that speaks PMI-1, over the connection by which the MPI speaks to it ---- */

/* Before the MPI starts: puts a thread between it and the launcher, which leaves this rank's word before the MPI's first barrier; the
 * barrier shows the word to all ranks. Returns false, having done nothing, where no such launcher is. */
bool lmpi_pmi_begin(void);

/* After the MPI has started: gives it the connection, and ends the thread. Returns whether the MPI has met all ranks by a barrier there,
 * so that words can be asked for; *published says whether this rank's is among them. */
bool lmpi_pmi_end(bool *published);

/* Between that and the return of MPI_Init, in which the MPI does not use the connection: returns whether a rank has left its word. `ask` is that
 * of lmpi_pmix_knows, since the launcher has all words at hand. */
bool lmpi_pmi_knows(int rank, bool ask);

#endif
