/* This process, those that have started it, and threads of the library's own. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <pthread.h>
#include <sys/types.h>

/* The parent's death signal reaches children only; a program that a wrapper script starts is not one. So the launcher makes a
 * pipe, keeps the writing end, and lets its programs inherit the reading end. The kernel kills a process that follows
 * the pipe when its last writing end closes. It costs nothing before that.
 *
 * Ties this process to the pipe whose reading end it inherited as this descriptor, which it keeps from other programs.
 * Does nothing when it is no pipe, or without /proc. One thread calls it. */
void parent_death_follow(int fd);

/* Returns the closest process that is both, or has started both; 0 when /proc does not show it. Any thread. */
pid_t ancestor_common(pid_t one, pid_t other);

/* Starts a thread that leaves the program's signals to the program's threads: all are blocked but those of faults, since a fault
 * of the thread itself goes to the handler as in any thread. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
