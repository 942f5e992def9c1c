/* Crashes: a PE that dies of a fault writes down where, in the node's memory, so that oshrun can tell after its death. */
#ifndef RTE_CRASH_H
#define RTE_CRASH_H

/* Takes over SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, where the program has left them as they were; a handler that it
 * installs later takes its place. The process then dies of the signal as without it. Called once, by the thread that
 * initialises, after it has its seat. */
void rte_crash_watch(void);

#endif
