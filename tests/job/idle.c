/* The progress thread of a PE that nobody asks for anything sleeps long.
 * pes: 2
 * env: LATERAL_PROGRESS=thread
 * cores: 1
 */
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads the first line of a thread's file that begins with `name`; the rest of it goes to `rest`. Returns whether there is one. */
static int read_line(const char *thread, const char *file, const char *name, char *rest, int room)
{
    char path[300];
    int found = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, file);
    FILE *lines = fopen(path, "r");
    while (lines && !found && fgets(rest, room, lines)) {
        found = strncmp(rest, name, strlen(name)) == 0;
        if (found)
            memmove(rest, rest + strlen(name), strlen(rest + strlen(name)) + 1);
    }
    if (lines)
        fclose(lines);
    return found;
}

/* How often the progress thread has slept; -1: there is none. */
static long sleeps(void)
{
    char line[256];
    long count = -1;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && count < 0 && (entry = readdir(threads));)
        if (read_line(entry->d_name, "comm", "lateral-serve", line, sizeof line) &&
            read_line(entry->d_name, "status", "voluntary_ctxt_switches:", line, sizeof line))
            sscanf(line, "%ld", &count);
    if (threads)
        closedir(threads);
    return count;
}

int main(void)
{
    shmem_init();
    usleep(300000); /* it settles */
    const long before = sleeps();
    usleep(500000);
    const long naps = sleeps() - before;
    fprintf(stderr, "%ld naps in half a second\n", naps);
    shmem_barrier_all();
    shmem_finalize();
    return before < 0 || naps > 50;
}
