/* Children of PEs: a child by fork or _Fork, in a handler of a signal too, has its own globals and heap, sees no later
 * store, and does not end the job when it ends. Every way to start another program works between init and finalize, and
 * after, and leaves the memory of parent and peers alone. With an argument the program closes all descriptors first, and opens
 * others in their place.
 *
 * timeout: 60
 * case: open
 * case: closed
 * args: closed */
#define _GNU_SOURCE
#include <shmem.h>

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long global;
static long *heap;
static int me, npes;

static void expect(pid_t pid, int code)
{
    int status;
    assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

static void child(int from_parent)
{
    char byte;
    assert(global == 100 + me && *heap == 200 + me);
    global = *heap = -1;
    assert(read(from_parent, &byte, 1) == 1); /* all PEs have stored by now */
    assert(global == -1 && *heap == -1 && heap[1] == 0);
    shmem_free(heap); /* as destructors and handlers of the parent do; the child has nothing to release */
    shmem_finalize();
    exit(11); /* runs the library's exit hook, which must leave the job alone */
}

static void fork_one(pid_t (*way)(void))
{
    int to_child[2], next = (me + 1) % npes;
    assert(pipe(to_child) == 0);
    global = 100 + me;
    *heap = 200 + me;
    heap[1] = 0;
    shmem_barrier_all();
    pid_t pid = way();
    if (pid == 0)
        child(to_child[0]);
    shmem_barrier_all(); /* every child is made: fork returned after its copies */
    shmem_long_p(&global, 300 + me, next);
    shmem_long_p(heap, 400 + me, next);
    shmem_long_p(heap + 1, 500 + me, next);
    shmem_barrier_all();
    assert(write(to_child[1], "", 1) == 1);
    expect(pid, 11);
    int before = (me + npes - 1) % npes;
    assert(global == 300 + before && heap[0] == 400 + before && heap[1] == 500 + before);
    assert(shmem_long_g(&global, next) == 300 + me);
    shmem_barrier_all(); /* everybody has looked */
    close(to_child[0]);
    close(to_child[1]);
}

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34)
static pid_t handled;

static void in_handler(int signal)
{
    (void)signal;
    handled = _Fork();
}

static pid_t fork_in_handler(void)
{
    signal(SIGUSR1, in_handler);
    raise(SIGUSR1);
    return handled;
}

static void fork_barely(void)
{
    fork_one(_Fork);
    fork_one(fork_in_handler);
}
#else
static void fork_barely(void) {}
#endif

static pid_t spawn(char *const words[])
{
    extern char **environ;
    pid_t pid;
    assert(posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == 0);
    return pid;
}

static void start_programs(void)
{
    char line[16] = "";
    char *const words[] = {"sh", "-c", "exit 8", NULL};
    const long had = global;
    FILE *from = popen("echo popen", "r");
    assert(from && fgets(line, sizeof line, from) && strcmp(line, "popen\n") == 0 && pclose(from) == 0);
    assert(WEXITSTATUS(system("exit 7")) == 7);
    expect(spawn(words), 8);
    pid_t pid = fork();
    if (pid == 0) {
        global = -3;
        execlp("sh", "sh", "-c", "exit 9", (char *)0);
        _exit(1);
    }
    expect(pid, 9);
    pid = vfork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "exit 10", (char *)0);
        _exit(1);
    }
    expect(pid, 10);
    assert(global == had);
}

/* As a daemon does, or a program that starts others with care. */
static void close_all(void)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int fd = 3; fd < 32; fd++)
        assert(open("/proc/self/exe", O_RDONLY) >= 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    heap = shmem_calloc(2, sizeof *heap);
    if (argc > 1)
        close_all();
    fork_one(fork);
    fork_barely();
    start_programs();
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    start_programs();
    pid_t pid = fork();
    if (pid == 0) {
        global = -2;
        exit(12);
    }
    expect(pid, 12);
    assert(global == 300 + (me + npes - 1) % npes); /* still the child's own copy after finalize */
    return 0;
}
