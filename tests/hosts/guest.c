/* A program that the library takes for one with an MPICH, which starts after the library and speaks PMI-1 on the library's connection
 * (src/rte/pmi_guest.h). It prints the answer to each line that its arguments name, or "end" where the connection ends. */
#include "base/env.h"
#include "rte/rte.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int PMPI_Initialized(int *flag);
int PMPI_Initialized(int *flag)
{
    return *flag = 0;
}

int PMPI_Get_library_version(char *text, int *bytes);
int PMPI_Get_library_version(char *text, int *bytes)
{
    strcpy(text, "MPICH Version: 0");
    *bytes = (int)strlen(text);
    return 0;
}

int main(int argc, char **argv)
{
    const char *why, *fd = getenv("PMI_FD");
    char line[256], answer[4096];
    assert(env_load(&why) == 0 && fd && rte_init() == 0);
    for (int i = 1; i < argc; i++) {
        int bytes = snprintf(line, sizeof line, "cmd=%s\n", argv[i]);
        assert(write(atoi(fd), line, (size_t)bytes) == bytes);
        ssize_t got = read(atoi(fd), answer, sizeof answer - 1);
        answer[got > 0 ? got : 0] = 0;
        printf("%s", got > 0 ? answer : "end\n");
    }
    fflush(stdout);
    rte_finalize();
    rte_job_barrier();
    return 0;
}
