/* In a process that has an MPI the globals lie in a file before main, unless LATERAL_GLOBALS=0.
 * pes: 1
 * skip: asan-ubsan tsan
 * case: moved
 * args: lateral-globals
 * case: stay
 * env: LATERAL_GLOBALS=0
 * args: job_early
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static long word = 5;

/* Prints the mapping that holds the word, and returns whether it is of that file. */
static int lies_in(const char *file)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)&word && (unsigned long)&word < to) {
            found = strstr(line, file) != NULL;
            fprintf(stderr, "%s", line);
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    const int found = argc > 1 && lies_in(argv[1]) && word == 5;
    shmem_init();
    shmem_finalize();
    return found ? 0 : 1;
}
