/* Ends every process that descends from this one.
 *
 * The caller is a child subreaper (PR_SET_CHILD_SUBREAPER): a descendant whose parent dies becomes
 * its child. So killing children until there are none ends all descendants, however they nest. */
#ifndef LAUNCH_SWEEP_H
#define LAUNCH_SWEEP_H

/* Kills and reaps until no child is left. Gives up after patience_ms on processes that do not die (stuck in the kernel,
 * or of another user). The caller has blocked SIGCHLD. */
void sweep_descendants(int patience_ms);

#endif
