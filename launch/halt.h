/* Halts a process for a moment to see where it is. One thread. */
#ifndef LAUNCH_HALT_H
#define LAUNCH_HALT_H

#include <stddef.h>
#include <sys/types.h>

/* Writes where the main thread of the process is: "file.c:12" or "function + 0x12 (file)". Writes nothing when the
 * system does not allow to look. The process goes on. */
void halt_where(pid_t pid, char *text, size_t room);

#endif
