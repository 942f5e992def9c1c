/* A program that is a parallel job itself: it forks its ranks, which share memory for values, and embeds the library. */
#ifndef RTE_EMBED_H
#define RTE_EMBED_H

/* Starts a rank for each number of "0,0,1": ranks of one number share memory with each other alone. Where numbers differ, each has an
 * IPC namespace of its own, which the caller must be allowed to make. Returns -1 in each rank, whose environment it is then, and in the
 * caller the status of the job: of the first rank that aborted, died or failed. */
int embed_start(const char *groups);

#endif
