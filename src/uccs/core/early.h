/* Globals of a program that is an MPI program too move when the library is loaded.
 *
 * MPI_Init starts threads, and pages move safely only while one thread runs (base/image.h). So when the process has an
 * MPI, the program's globals move before main, onto a file of this process's own. The process keeps that file. At init
 * the PEs of the node map each other's files, in the places where the node's file would hold the globals.
 *
 * One thread calls the functions here, in init. */
#ifndef UCCS_CORE_EARLY_H
#define UCCS_CORE_EARLY_H

#include "base/image.h"

/* Returns the file that holds the globals of this process from offset 0 on, and writes where they are. Returns -1 when
 * they have not moved; then why_not in `image` is set if they cannot move any more. */
int uccs_early_file(struct image *image);

/* Maps the file that another process of this machine and user holds as its descriptor `fd`, at a fixed address. Returns
 * 0 or an errno value. */
int uccs_early_map(int pid, int fd, void *at, size_t bytes);

#endif
