/* The globals of the program: when they move onto shared pages, and onto which.
 *
 * They move when the library is loaded, before any other code of the process runs that could start a thread or store to
 * them, so that OpenSHMEM's memory model holds whatever the program does before init. Only the globals of a program that
 * is linked with the library itself move, and only where it has a launcher or an MPI: a program alone is a job of one PE,
 * whose globals are symmetric where they are, and a program that never calls the library stays as it was.
 *
 * They move into this PE's slice of the node's file, where oshrun has left one (rte/node.h), else onto a file of this
 * process's own, which the PEs of the node map at init.
 *
 * One thread calls the functions, at load and in init. */
#ifndef UCCS_CORE_GLOBALS_H
#define UCCS_CORE_GLOBALS_H

#include "base/image.h"

struct uccs_globals {
    struct image image; /* empty when they are private */
    int fd;             /* of the file that holds them; -1: they have not moved */
    off_t at;           /* where they lie there */
    bool in_slice;      /* of the node's file */
    const char *why;    /* null, or why they are private: the end of "the program ..." */
};

/* Moves the globals unless they have moved. Init calls it again, for what could not be known at load: that a program without a
 * launcher embeds the library, or a forked child becomes the PE; that works while the process has one thread. */
void uccs_globals_move(void);

/* Returns where the globals are. `alone`: in a job of one PE they need not have moved. */
const struct uccs_globals *uccs_globals_find(bool alone);

/* Maps, at a fixed address, the first bytes of the file that another process of this machine and user holds as its
 * descriptor `fd`. Returns 0 or an errno value. */
int uccs_globals_map(int pid, int fd, void *at, size_t bytes);

/* --- The layers of LATERAL_CHECK, LATERAL_STATS and LATERAL_TRACE in jobs that another launcher than oshrun starts
 *
 * Nobody has preloaded them there, and a layer must stand before the library when the loader binds the program's calls. So a
 * program that is linked with the library executes itself once more, with the layers preloaded, before anything else of it
 * runs. */

/* Returns a line about a variable that asks for a layer that is not there; null: there is none. */
const char *uccs_layers_missing(void);

#endif
