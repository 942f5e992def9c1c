/* The runtime environment alone, under any launcher: number and place of each PE, values that PEs publish, barriers of node
 * and job. The check_*.py here start it and read the line that each PE prints.
 *
 * The argument says how it ends: "fine"; "bare": as fine, and no library of a launcher is loaded; "leave N": PE N exits
 * without finalize; "abort N"; "kill N"; "wait": all PEs wait for ever; "child": each PE starts a program, which is a job
 * of its own; "times": the program checks nothing and times the steps of the start (bench/startup.py). */
#include "base/env.h"
#include "rte/rte.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONG_BYTES 5000 /* more than a PMI server takes at once */

/* The long value of a PE; no two are alike, lengths neither. */
static size_t fill(unsigned char *value, int pe)
{
    size_t bytes = LONG_BYTES + (size_t)pe;
    for (size_t i = 0; i < bytes; i++)
        value[i] = (unsigned char)(i * 7 + (size_t)pe * 13);
    return bytes;
}

static void tell(void)
{
    unsigned char *value = malloc(LONG_BYTES + (size_t)rte.npes);
    assert(value && rte_put("number", &rte.pe, sizeof rte.pe) == 0);
    assert(rte_put("long", value, fill(value, rte.pe)) == 0);
    assert(rte_put("empty", "", 0) == 0);
    free(value);
}

static void ask(int pe)
{
    unsigned char *wanted = malloc(LONG_BYTES + (size_t)rte.npes);
    void *value;
    size_t bytes;
    assert(wanted && rte_get(pe, "number", &value, &bytes) == 0);
    assert(bytes == sizeof pe && memcmp(value, &pe, bytes) == 0);
    free(value);
    assert(rte_get(pe, "long", &value, &bytes) == 0);
    assert(bytes == fill(wanted, pe) && memcmp(value, wanted, bytes) == 0);
    free(value);
    assert(rte_get(pe, "empty", &value, &bytes) == 0 && bytes == 0);
    free(value);
    free(wanted);
}

/* What the table of nodes says of every PE fits together. */
static void check_nodes(void)
{
    int seen = 0;
    uint32_t here = 0;
    for (int pe = 0; pe < rte.npes; pe++) {
        int node = rte_node_of(pe);
        assert(node >= 0 && node <= seen && node < rte.nodes);
        if (node == seen)
            assert(rte_node_lead(seen++) == pe); /* the first PE of a node leads it */
        assert(rte_on_my_node(pe) == (node == rte.node_number));
        if (node != rte.node_number)
            continue;
        assert(rte_index_of(pe) == here && rte_pe_at(here) == pe);
        here++;
    }
    assert(seen == rte.nodes && here == (uint32_t)rte.node_size);
    assert(!rte_on_my_node(-1) && !rte_on_my_node(rte.npes));
    assert(rte_node_lead(rte.node_number) == rte.node_first && rte_pe_at(0) == rte.node_first);
    assert(rte_pe_at((uint32_t)rte.node_index) == rte.pe && rte.me->pid == getpid());
}

/* A late PE holds up all others, on its node and elsewhere. */
static void check_barrier(void)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC,
                  &before); /* not behind the barrier, where a busy machine may keep this PE from its clock */
    rte_job_barrier();
    if (rte.pe == rte.npes - 1)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, 0);
    rte_job_barrier();
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    assert(seconds > 0.15);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* What a start costs, in ms: finding each other; telling an address of a usual size; asking one far PE. */
static int show_times(void)
{
    char address[300] = "", line[128];
    void *value;
    size_t bytes;
    double begin = now();
    assert(rte_init() == 0);
    double joined = now();
    assert(rte_put("address", address, sizeof address) == 0 && rte_commit_fence() == 0);
    double told = now();
    assert(rte_get((rte.pe + rte.npes / 2) % rte.npes, "address", &value, &bytes) == 0);
    double asked = now();
    free(value);
    int used = snprintf(line, sizeof line, "times %.3f %.3f %.3f\n", joined - begin, told - joined, asked - told);
    assert(write(STDOUT_FILENO, line, (size_t)used) == used);
    rte_finalize();
    rte_job_barrier();
    return 0;
}

static void check_bare(void)
{
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert(maps);
    while (fgets(line, sizeof line, maps))
        assert(!strstr(line, "pmix") && !strstr(line, "libucp"));
    fclose(maps);
}

static void start_child(const char *program)
{
    char line[4096];
    snprintf(line, sizeof line, "'%s' fine", program);
    assert(system(line) == 0);
}

static void end(const char *program, char **how)
{
    const char *word = how[0] ? how[0] : "fine";
    if (strcmp(word, "child") == 0)
        return start_child(program);
    if (strcmp(word, "bare") == 0)
        check_bare();
    if (strcmp(word, "fine") == 0 || strcmp(word, "bare") == 0)
        return;
    bool me = how[1] && rte.pe == atoi(how[1]);
    if (me && strcmp(word, "leave") == 0)
        exit(0);
    if (me && strcmp(word, "abort") == 0)
        rte_abort(7);
    if (me && strcmp(word, "kill") == 0)
        raise(SIGKILL);
    if (me || strcmp(word, "wait") == 0)
        pause();
    rte_job_barrier(); /* for ever, unless the launcher ends the job */
}

int main(int argc, char **argv)
{
    const char *why;
    char host[256] = "";
    assert(env_load(&why) == 0);
    if (argc == 2 && strcmp(argv[1], "times") == 0)
        return show_times();
    assert(rte_init() == 0);
    tell();
    assert(rte_commit_fence() == 0);
    for (int i = 0; i < rte.npes; i++)
        ask((rte.pe + i) % rte.npes);
    check_nodes();
    check_barrier();
    gethostname(host, sizeof host - 1);
    char line[512];
    int bytes =
        snprintf(line, sizeof line, "pe %d npes %d node %d nodes %d index %d size %d busy %u key %016llx host %s\n",
                 rte.pe, rte.npes, rte.node_number, rte.nodes, rte.node_index, rte.node_size, rte.node->oversubscribed,
                 (unsigned long long)rte.node->nonce[0], host);
    assert(write(STDOUT_FILENO, line, (size_t)bytes) == bytes);
    end(argv[0], argv + 1);
    rte_finalize();
    rte_job_barrier();
    return 0;
}
