/* How this library stands between an MPI and the launcher of srun: the MPI's descriptor leads to this process, and a new one to
 * the launcher; when no thread can be started, all is as before. And what a PE notes when another one has said why the job ends. */
#include <dlfcn.h>

#include "rte/backend.h"

static void *find_symbol(const char *name);
static int meet(int seconds);
#define rte_backend_fence meet
#define rte_backend_locked(call, ...) call(__VA_ARGS__)
#define dlsym(where, name) find_symbol(name)
#define log_line keep_line
static void keep_line(const char *format, ...);
#include "rte/pmi_guest.c"
#undef log_line
#undef rte_backend_fence

#include "base/log.h"
#include "rte/node.h"
#include "rte/rte.h"
#include "unit/check.h"

#include <dirent.h>
#include <stdarg.h>

static int theirs, fails_with;
static bool starts; /* threads for good */

int __real_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);
int __real_pthread_detach(pthread_t thread);
int __wrap_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);
int __wrap_thread_start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    CHECK(thread && body == stand_between);
    if (starts)
        return __real_thread_start(thread, body, argument);
    theirs = (int)(intptr_t)argument;
    *thread = pthread_self();
    return fails_with;
}

int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread)
{
    if (starts)
        return __real_pthread_detach(thread);
    CHECK(pthread_equal(thread, pthread_self()));
    return 0;
}

static int descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    CHECK(all != 0);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

/* What is written to one comes out of the other. */
static bool leads(int from, int to)
{
    char byte = 0;
    return write(from, "b", 1) == 1 && recv(to, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'b';
}

static void test_between(void)
{
    int launcher[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, launcher) == 0);
    const int before = descriptors();
    const int real = put_between(launcher[0]);
    CHECK(real >= 0 && real != launcher[0] && descriptors() == before + 2);
    CHECK(leads(launcher[0], theirs) && leads(theirs, launcher[0]));
    CHECK(leads(real, launcher[1]) && leads(launcher[1], real));
    CHECK(fcntl(real, F_GETFD) == FD_CLOEXEC && fcntl(theirs, F_GETFD) == FD_CLOEXEC);
    close(real);
    close(theirs);
    close(launcher[0]);
    close(launcher[1]);
}

static void test_no_thread(void)
{
    int launcher[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, launcher) == 0);
    const int before = descriptors();
    fails_with = EAGAIN;
    CHECK(put_between(launcher[0]) == -1 && errno == EAGAIN);
    close(theirs); /* it is the thread's that was to be */
    CHECK(descriptors() == before && leads(launcher[0], launcher[1]));
    CHECK(put_between(-1) == -1 && errno == EBADF && descriptors() == before);
    close(launcher[0]);
    close(launcher[1]);
}

/* The launcher then tells nothing of this PE's own end. */
static void test_expected_end(void)
{
    static struct node *node;
    node = aligned_alloc(CACHE_LINE, 65536);
    CHECK(node != 0);
    memset(node, 0, 65536);
    rte.node = node;
    rte.pe = 7;
    rte_expect_end();
    CHECK(alarm(0) == 0); /* under our launcher, whose guard ends this process */
    CHECK(node->ending == NODE_ABORTED && node->end_status == LAT_EXIT && node->end_pe == 7);
    rte.pe = 8;
    rte_expect_end(); /* the first one counts */
    CHECK(node->end_pe == 7);
    rte.node = 0;
    free(node);
}

/* ---- an MPI that talks ---- */

static char logged[512];

static void keep_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

static int mpi_started, mpi_fails, no_mpi;
static const char *mpi = "MPICH";

static int is_initialized(int *flag)
{
    *flag = mpi_started;
    return mpi_fails == 2;
}

static int version_of(char *text, int *bytes)
{
    *bytes = (int)strlen(strcpy(text, mpi));
    return mpi_fails == 1;
}

static void *find_symbol(const char *name)
{
    if (strcmp(name, "PMPI_Initialized") == 0)
        return no_mpi & 1 ? 0 : (void *)is_initialized;
    CHECK(strcmp(name, "PMPI_Get_library_version") == 0);
    return no_mpi & 2 ? 0 : (void *)version_of;
}

static int fences, fence_result;

static int meet(int seconds)
{
    CHECK(seconds == 0);
    fences++;
    return fence_result;
}

static void test_find_mpi(void)
{
    static const struct {
        const char *name;
        int started, fails, missing;
        bool wanted;
    } rows[] = {{"MPICH Version: 4.0.2", 1, 0, 0, true},
                {"MVAPICH2 2.3", 1, 0, 0, true},
                {"Intel(R) MPI Library", 1, 0, 0, true},
                {"Open MPI v4.1.4", 1, 0, 0, false},
                {"MPICH", 0, 0, 0, false},
                {"MPICH", 1, 1, 0, false},
                {"MPICH", 1, 2, 0, false},
                {"MPICH", 1, 0, 1, false},
                {"MPICH", 1, 0, 2, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mpi = rows[i].name;
        mpi_started = rows[i].started;
        mpi_fails = rows[i].fails;
        no_mpi = rows[i].missing;
        CHECK(pmi_guest_has_greeted() == rows[i].wanted);
    }
    mpi = "MPICH";
    mpi_started = mpi_fails = no_mpi = 0;
}

static char passed[LINE_BYTES];
static long pass_result;

static long pass_on(const char *line, char *answer, size_t bytes)
{
    CHECK(bytes == LINE_BYTES - 1); /* there is room for the end of the line */
    strcpy(passed, line);
    strcpy(answer, "cmd=answer rc=0");
    return pass_result;
}

static void talks(FILE *to, FILE *from, const char *line, const char *wanted)
{
    char answer[LINE_BYTES] = "";
    *passed = 0;
    CHECK(fputs(line, to) >= 0 && fflush(to) == 0 && (fgets(answer, sizeof answer, from) || !*wanted));
    if (strcmp(answer, wanted) != 0)
        fprintf(stderr, "%s: %s\n", line, answer);
    CHECK(strcmp(answer, wanted) == 0);
    CHECK(!*wanted || strcmp(passed, strstr(wanted, "cmd=answer") ? line : "") == 0);
}

/* Returns the MPI's ends of a connection that this library has come between. */
static void come_between(FILE **to, FILE **from, int *launcher)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    *launcher = ends[1];
    const int real = pmi_guest_admit(ends[0], pass_on);
    CHECK(real >= 0 && real != ends[0] && write(real, "r", 1) == 1 && read(*launcher, &(char){0}, 1) == 1);
    close(real);
    *to = fdopen(ends[0], "w");
    *from = fdopen(dup(ends[0]), "r");
}

static void test_guest(void)
{
    FILE *to, *from;
    int launcher;
    setenv("SLURM_STEP_ID", "0", 1);
    come_between(&to, &from, &launcher);
    talks(to, from, "cmd=init pmi_version=1 pmi_subversion=1\n",
          "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    talks(to, from, "cmd=get_maxes\n", "cmd=answer rc=0\n");
    talks(to, from, "cmd=barrier_in\n", "cmd=barrier_out rc=0\n");
    CHECK(fences == 1);
    talks(to, from, "cmd=put kvsname=a key=b value=c\n", "cmd=answer rc=0\n");
    talks(to, from, "cmd=finalize\n", "cmd=finalize_ack rc=0\n");
    talks(to, from, "cmd=finalize and more\n", "cmd=finalize_ack rc=0\n");
    pass_result = -1;
    talks(to, from, "cmd=get key=b\n", ""); /* the launcher is lost, so the connection ends */
    fclose(to), fclose(from), close(launcher);
    pass_result = 0;
    come_between(&to, &from, &launcher);
    fence_result = -1;
    talks(to, from, "cmd=barrier_in\n", "");
    CHECK(fences == 2);
    fence_result = 0;
    fclose(to), fclose(from), close(launcher);
}

static void test_no_guest(void)
{
    setenv("SLURM_STEP_ID", "0", 1);
    mpi_started = 1;
    CHECK(pmi_guest_admit(77, pass_on) == 77);
    mpi_started = 0;
    mpi = "Open MPI";
    CHECK(pmi_guest_admit(77, pass_on) == 77);
    mpi = "MPICH";
    *logged = 0;
    CHECK(pmi_guest_admit(777, pass_on) == 777); /* none that is open */
    CHECK(strcmp(logged,
                 "the MPI of this process cannot start after OpenSHMEM under srun --mpi=pmi2: Bad file descriptor; "
                 "call MPI_Init first") == 0);
    unsetenv("SLURM_STEP_ID");
    CHECK(pmi_guest_admit(77, pass_on) == 77);
}

/* Any number is good for a connection. */
static void test_lowest_numbers(void)
{
    int ends[2];
    close(0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ends[0] == 0);
    setenv("SLURM_STEP_ID", "0", 1);
    const int real = pmi_guest_admit(0, pass_on);
    CHECK(real > 0 && write(real, "r", 1) == 1 && recv(ends[1], &(char){0}, 1, MSG_DONTWAIT) == 1);
    const int moved = dup(real);
    close(0); /* the thread ends */
    close(real);
    const int again = pmi_guest_admit(moved, pass_on);
    CHECK(again == 0 && write(again, "r", 1) == 1 && recv(ends[1], &(char){0}, 1, MSG_DONTWAIT) == 1);
    close(moved);
    close(again);
    close(ends[1]);
    unsetenv("SLURM_STEP_ID");
}

int main(void)
{
    test_between();
    test_no_thread();
    test_expected_end();
    starts = true;
    test_find_mpi();
    test_guest();
    test_no_guest();
    test_lowest_numbers();
    return 0;
}
