#include "rte/pmi_guest.h"

#include "base/log.h"
#include "base/process.h"
#include "rte/backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES 4096

static pmi_pass *to_launcher; /* constant while the thread runs */

/* Returns false when no such MPI is loaded; else *started says whether it has been initialised. */
static bool find_mpi(bool *started)
{
    static const char *const kin[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
    int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    int (*version)(char *, int *) = (int (*)(char *, int *))dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    char text[16384] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most in these */
    int bytes = 0, flag = 0;
    bool found = false;
    if (!initialized || !version || version(text, &bytes) != 0 || initialized(&flag) != 0)
        return false;
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
        found |= strstr(text, kin[i]) != 0;
    *started = flag;
    return found;
}

bool pmi_guest_has_greeted(void)
{
    bool started = false;
    return find_mpi(&started) && started;
}

/* What travels under the lock of exchange.c. */
struct passing {
    const char *line;
    char *answer;
};

static int pass(void *passing_)
{
    struct passing *passing = passing_;
    return to_launcher(passing->line, passing->answer, LINE_BYTES - 1) < 0 ? -1 : 0;
}

/* Writes the answer to a line of the MPI. Returns false when the launcher is lost. */
static bool answer_to(const char *line, char *answer)
{
    static const char greeting[] = "cmd=init", barrier[] = "cmd=barrier_in", farewell[] = "cmd=finalize";
    if (strncmp(line, greeting, sizeof greeting - 1) == 0)
        strcpy(answer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    else if (strncmp(line, farewell, sizeof farewell - 1) == 0)
        strcpy(answer, "cmd=finalize_ack rc=0"); /* this library takes leave of the launcher, later */
    else if (strncmp(line, barrier, sizeof barrier - 1) != 0)
        return rte_backend_locked(pass, &(struct passing){line, answer}) == 0;
    else if (rte_backend_fence(0) != 0)
        return false;
    else
        strcpy(answer, "cmd=barrier_out rc=0");
    return true;
}

static void *stand_between(void *fd)
{
    FILE *guest = fdopen((int)(intptr_t)fd, "r+");
    char line[LINE_BYTES], answer[LINE_BYTES];
    while (guest && fgets(line, sizeof line, guest) && answer_to(line, answer)) {
        size_t bytes = strlen(answer);
        answer[bytes++] = '\n';
        if (send(fileno(guest), answer, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
            break;
    }
    if (guest)
        fclose(guest);
    return 0;
}

/* Starts the thread at one end of a pair. Returns 0 or an errno. */
static int start_guest(int fd)
{
    pthread_t thread;
    int error = thread_start(&thread, stand_between, (void *)(intptr_t)fd);
    if (!error)
        pthread_detach(thread);
    return error;
}

/* Gives the MPI one end of a pair under the number that it knows, and the thread the other end. Returns the connection's new number,
 * or -1 with errno. */
static int put_between(int fd)
{
    int pair[2], real = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (real < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        if (real >= 0)
            close(real);
        return -1;
    }
    int error = start_guest(pair[1]);
    if (!error && dup2(pair[0], fd) < 0)
        error = errno;
    if (error) {
        close(real);
        real = -1;
    }
    close(pair[0]);
    return errno = error, real;
}

int pmi_guest_admit(int fd, pmi_pass *pass_on)
{
    bool started = false;
    to_launcher = pass_on;
    if (!getenv("SLURM_STEP_ID") || !find_mpi(&started) || started)
        return fd;
    int real = put_between(fd);
    if (real < 0)
        log_line("the MPI of this process cannot start after OpenSHMEM under srun --mpi=pmi2: %s; call MPI_Init first",
                 strerror(errno));
    return real < 0 ? fd : real;
}
