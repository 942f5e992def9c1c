/* Threads of the library's own. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that leaves the program's signals to the program's threads: all are blocked but those of faults, since a fault
 * of the thread itself goes to the handler as in any thread. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
