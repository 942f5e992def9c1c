/* A thread to which calls are delegated: for libraries of launchers that are not thread-safe, all of whose calls are
 * then made by one thread, in the order in which they were asked for.
 *
 * delegate_call: any thread but the delegate itself; delegate_start and delegate_stop: one thread, and nobody calls
 * during stop. */
#ifndef RTE_DELEGATE_H
#define RTE_DELEGATE_H

struct delegate;

/* Null when there is no memory or no thread. */
struct delegate *delegate_start(void);
/* Runs the function on the delegate and returns when it has; what it stored is visible then. */
void delegate_call(struct delegate *delegate, void (*function)(void *), void *argument);
void delegate_stop(struct delegate *delegate);

#endif
