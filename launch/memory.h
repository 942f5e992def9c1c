/* Memory that runs out: whether the kernel has killed a process of the job for it, and whose limit that was.
 *
 * The kernel counts such kills per memory cgroup (version 2: memory.events, version 1: memory.oom_control) and for the
 * whole machine (/proc/vmstat). PEs inherit the launcher's cgroup, so its count tells of them. Single-threaded. */
#ifndef LAUNCH_MEMORY_H
#define LAUNCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Finds this process's memory cgroup and notes how many processes have been killed so far. The files are read below
 * root: "" on a real machine, a folder in tests. */
void memory_watch(const char *root);

/* Returns whether more processes have been killed since the last call that returned true, or since memory_watch. Then
 * text says whose memory ran out, as half a sentence: "the cgroup /job may hold 256 MB (memory.max)". */
bool memory_ran_out(char *text, size_t room);

/* Writes bytes with a unit: "1.5 GB". */
void memory_write_size(unsigned long long bytes, char *text, size_t room);

/* Returns what PEs write into /proc/self/oom_score_adj so that the kernel prefers them to the launcher's processes. */
const char *memory_score(void);

#endif
