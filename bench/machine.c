/* What the machine takes without any library:
 *
 *   machine hop [--quick]   the time until one core sees another core's store, the floor of every message on a node: two processes on
 *                           two cores exchange numbers, each in a line that only the other reads; half a round trip
 *   machine spawn N         starts N processes that do nothing, copies of itself, and waits for all of them
 *   machine barrier N       the time of a barrier of N processes by ceil(log2 N) messages of each over TCP of this machine, the floor of
 *                           one over pretended nodes; a process that waits gives its core away
 *
 * A reader that looks less often disturbs the writer less, and the best rate differs between processors. So a hop is measured with and
 * without a pause between looks, and the faster one counts. With only one core there is no hop, and nothing is printed. */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { MOST_BATCHES = 101, WARM = 1000, HOPS = 2000 };
enum { MOST_PROCESSES = 512, MOST_ROUNDS = 9, BARRIER_BATCHES = 11, MESSAGE = 72 };

static struct shared {
    _Alignas(256) long line[2][32];
} * shared;

static void pin(const cpu_set_t *allowed, int which)
{
    cpu_set_t one;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* Side 0 writes an odd number to one line, and side 1 the next one to the other. */
static void exchange(int side, int relax, long from, long n)
{
    long *mine = shared->line[side], *theirs = shared->line[1 - side];
    for (long number = 2 * from + 1; number < 2 * (from + n) + 1; number += 2) {
        if (side == 0)
            __atomic_store_n(theirs, number, __ATOMIC_RELEASE);
        while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < number + (side == 0))
            if (relax)
                bench_relax();
        if (side == 1)
            __atomic_store_n(theirs, number + 1, __ATOMIC_RELEASE);
    }
}

/* Both sides call it. Side 0's result counts. */
static double measure(int side, int relax, int batches)
{
    double each[MOST_BATCHES];
    exchange(side, relax, 0, WARM);
    for (int i = 0; i < batches; i++) {
        double start = bench_now();
        exchange(side, relax, WARM + i * HOPS, HOPS);
        each[i] = (bench_now() - start) / HOPS / 2;
    }
    return bench_median(each, batches);
}

/* Runs both sides with and without pauses. Returns the median of half round trips of the faster way. */
static double hop(const cpu_set_t *allowed, int batches)
{
    double best = 1e9;
    for (int relax = 0; relax < 2; relax++) {
        memset(shared, 0, sizeof *shared);
        pid_t child = fork();
        if (child < 0) {
            perror("machine: fork");
            exit(1);
        }
        pin(allowed, child == 0);
        double result = measure(child == 0, relax, batches);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        best = result < best ? result : best;
    }
    return best;
}

static int print_hop(int batches)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < 2)
        return 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("machine: mmap");
        return 1;
    }
    bench_result(hop(&allowed, batches), "ns", "hop");
    bench_results_end();
    return 0;
}

static int spawn(char *program, int processes)
{
    char *nothing[] = {program, NULL};
    int status, wrong = 0;
    for (int i = 0; i < processes; i++) {
        pid_t pid;
        int error = posix_spawn(&pid, program, NULL, NULL, nothing, environ);
        if (error != 0) {
            fprintf(stderr, "machine: %s: %s\n", program, strerror(error));
            return 1;
        }
    }
    while (wait(&status) > 0)
        wrong |= status != 0;
    return wrong;
}

static void check(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static int listen_here(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    check(listener, "machine: socket");
    check(bind(listener, (struct sockaddr *)address, size), "machine: bind");
    check(listen(listener, MOST_ROUNDS), "machine: listen");
    check(getsockname(listener, (struct sockaddr *)address, &size), "machine: getsockname");
    return listener;
}

static void connect_rounds(int listener, int me, int processes, int rounds, const struct sockaddr_in *addresses,
                           int *out, int *in)
{
    for (int i = 0, on = 1; i < rounds; i++) {
        const char round = (char)i;
        out[i] = socket(AF_INET, SOCK_STREAM, 0);
        check(connect(out[i], (const struct sockaddr *)&addresses[(me + (1 << i)) % processes], sizeof *addresses),
              "machine: connect");
        setsockopt(out[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        check((int)send(out[i], &round, 1, 0), "machine: send");
    }
    for (int i = 0; i < rounds; i++) {
        char round = 0;
        int from = accept(listener, NULL, NULL);
        check((int)recv(from, &round, 1, 0), "machine: recv");
        in[(int)round] = from;
    }
}

static void barrier(int rounds, const int *out, const int *in)
{
    char message[MESSAGE] = {0};
    for (int i = 0; i < rounds; i++) {
        check((int)send(out[i], message, sizeof message, 0), "machine: send");
        for (size_t got = 0; got < sizeof message;) {
            ssize_t more = recv(in[i], message, sizeof message - got, MSG_DONTWAIT);
            if (more == 0)
                exit(1); /* the other has died */
            if (more < 0)
                sched_yield();
            got += more > 0 ? (size_t)more : 0;
        }
    }
}

static int print_barrier(int processes)
{
    static struct sockaddr_in addresses[MOST_PROCESSES];
    int listeners[MOST_PROCESSES], out[MOST_ROUNDS], in[MOST_ROUNDS], me = 0, rounds = 0, wrong = 0, status;
    double each[BARRIER_BATCHES];
    const int barriers = 8 * MOST_PROCESSES / processes;
    while (1 << rounds < processes)
        rounds++;
    for (int i = 0; i < processes; i++)
        listeners[i] = listen_here(&addresses[i]);
    for (int i = 1; i < processes && me == 0; i++) {
        const pid_t child = fork();
        check(child, "machine: fork");
        me = child == 0 ? i : 0;
    }
    connect_rounds(listeners[me], me, processes, rounds, addresses, out, in);
    for (int batch = -1; batch < BARRIER_BATCHES; batch++) {
        double start = bench_now();
        for (int i = 0; i < barriers; i++)
            barrier(rounds, out, in);
        each[batch < 0 ? 0 : batch] = (bench_now() - start) / barriers;
    }
    if (me != 0)
        _exit(0);
    while (wait(&status) > 0)
        wrong |= status != 0;
    bench_result(bench_median(each, BARRIER_BATCHES), "ns", "floor");
    bench_results_end();
    return wrong;
}

int main(int argc, char **argv)
{
    if (bench_has(argc, argv, "hop"))
        return print_hop(bench_has(argc, argv, "--quick") ? 11 : MOST_BATCHES);
    if (argc <= 2)
        return 0;
    return bench_has(argc, argv, "barrier") ? print_barrier(atoi(argv[2])) : spawn(argv[0], atoi(argv[2]));
}
