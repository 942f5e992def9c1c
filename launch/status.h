/* oshrun --status PID: tells where the PEs of a running job are. The job goes on and notices nothing. */
#ifndef LAUNCH_STATUS_H
#define LAUNCH_STATUS_H

#include <sys/types.h>

/* `pid` is oshrun's, its guard's or one of the PEs'. Returns the exit status, after a line when there is no such job. */
int status_print(pid_t pid);

#endif
