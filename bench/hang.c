/* What it takes to tell where a job hangs: all PEs but PE 0 wait, most of them in a barrier for the last one, and PE 0 asks the launcher that has
 * started it (oshrun --status). Prints the milliseconds of the fastest of TIMES. */
#include "common.h"

#include <shmem.h>

enum { TIMES = 3, SETTLE = 2 /* seconds until waits count as long */ };

static int go;

/* Returns oshrun's process: the parent of the supervisor that is this PE's parent. */
static int find_launcher(void)
{
    char path[32], line[128];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "PPid: %d", &pid) != 1)
        ;
    if (file)
        fclose(file);
    return pid;
}

/* Returns the milliseconds of a whole answer, or a negative number. */
static double ask(int launcher)
{
    char command[96], line[4096];
    int waits = 0;
    snprintf(command, sizeof command, "/proc/%d/exe --status %d 2>&1", launcher, launcher);
    const double start = bench_now();
    FILE *answer = popen(command, "re");
    while (answer && fgets(line, sizeof line, answer))
        waits |= strstr(line, "wait") != 0;
    if (!answer || pclose(answer) != 0 || !waits)
        return -1;
    return (bench_now() - start) * 1e-6;
}

int main(void)
{
    double least = -1;
    shmem_init();
    const int last = shmem_n_pes() - 1, me = shmem_my_pe();
    if (me == 0) {
        const int launcher = find_launcher();
        sleep(SETTLE);
        for (int i = 0; i < TIMES; i++) {
            const double took = ask(launcher);
            least = least < 0 || took < least ? took : least;
        }
        shmem_int_p(&go, 1, last);
    } else if (me == last) {
        shmem_int_wait_until(&go, SHMEM_CMP_EQ, 1);
    }
    shmem_barrier_all();
    if (me == 0 && least >= 0) {
        bench_result(least, "ms", "status");
        bench_results_end();
    }
    shmem_finalize();
    return me == 0 && least < 0;
}
