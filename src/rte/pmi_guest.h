/* An MPI of the same process that speaks PMI on the same connection, as MPICH and its kin do.
 *
 * Hydra answers a second greeting. Slurm's server (pmi2, which speaks PMI-1 too) takes one for each process and leaves others
 * without an answer. So who comes second must not greet: this library leaves it out when the MPI has started, and when the MPI
 * starts later, a thread stands between the MPI and the connection and answers the greeting:
 *
 *     MPI -- PMI_FD, now one end of a pair of sockets -- thread -- pmi_pass, under the lock of exchange.c -- launcher
 *
 * The thread ends when the MPI closes its end. */
#ifndef RTE_PMI_GUEST_H
#define RTE_PMI_GUEST_H

#include <stdbool.h>
#include <stddef.h>

/* True when such an MPI has started in this process, and so has greeted the launcher. */
bool pmi_guest_has_greeted(void);

/* Sends a line, which ends in a newline, and copies the answer, without one, into a room of `bytes`. Returns its length, or -1 after
 * one line. Called under the lock of exchange.c. */
typedef long pmi_pass(const char *line, char *answer, size_t bytes);

/* Under Slurm, with such an MPI that has not started: puts the thread between it and the connection. Returns the descriptor by which
 * this library reaches the launcher from now on, fd itself where nothing has changed. */
int pmi_guest_admit(int fd, pmi_pass *pass);

#endif
