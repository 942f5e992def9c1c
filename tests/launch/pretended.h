/* The kernel and the rest of the launcher, as verdict.c wants them for job.c: stand-ins that write down what they
 * are asked. */
#ifndef TESTS_LAUNCH_PRETENDED_H
#define TESTS_LAUNCH_PRETENDED_H

#include "cores.h"
#include "crash.h"
#include "debug.h"
#include "environment.h"
#include "input.h"
#include "job.h"
#include "loop.h"
#include "memory.h"
#include "message.h"
#include "noted.h"
#include "output.h"
#include "report.h"
#include "spawn.h"
#include "stacks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void keep_line(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

static int64_t clock_now = 1000;
static struct death {
    pid_t pid;
    int status;
} deaths[8];
static size_t ndeaths;
static struct rlimit file_limit, file_limit_set;
static int file_limit_fails;
static const char *out_of_memory; /* whose */
static unsigned files_of_output = 2, files_of_input;
static bool there, layer_is_there = true, output_fails;
static int in_of_pe = 5, layers_held;
static pid_t spawned;
static int spawn_errno;

static pid_t next_death(pid_t pid, int *status, int options, struct rusage *used)
{
    CHECK(pid == -1 && options == WNOHANG);
    if (ndeaths == 0)
        return 0;
    const struct death first = deaths[0];
    memmove(deaths, deaths + 1, --ndeaths * sizeof *deaths);
    *status = first.status;
    used->ru_maxrss = 3 << 10;
    return first.pid;
}

static int note_kill(pid_t pid, int signal)
{
    note("kill %d %d\n", (int)pid, signal);
    return 0;
}

static long note_ptrace(int request, pid_t pid)
{
    CHECK(request == PTRACE_DETACH);
    note("let %d go\n", (int)pid);
    return 0;
}

static int get_limit(struct rlimit *limit)
{
    *limit = file_limit;
    return file_limit_fails;
}

static int set_limit(const struct rlimit *limit)
{
    file_limit_set = *limit;
    return 0;
}

int64_t loop_now(void)
{
    return clock_now;
}

bool memory_ran_out(char *text, size_t room)
{
    if (out_of_memory)
        snprintf(text, room, "%s", out_of_memory);
    return out_of_memory;
}

void memory_write_size(unsigned long long bytes, char *text, size_t room)
{
    snprintf(text, room, "%llu bytes", bytes);
}

const char *memory_score(void)
{
    return "300";
}

unsigned output_files_per_pe(void)
{
    return files_of_output;
}

unsigned input_files_per_pe(void)
{
    return files_of_input;
}

int output_connect(uint32_t pe, int *out, int *err)
{
    *out = 11 + (int)pe;
    *err = 21 + (int)pe;
    errno = EMFILE;
    return output_fails ? -1 : 0;
}

void output_connected(int out, int err)
{
    note("close %d %d\n", out, err);
    errno = 0;
}

int input_connect(uint32_t pe)
{
    (void)pe;
    errno = ENFILE;
    return in_of_pe;
}

void input_connected(int in)
{
    note("close %d\n", in);
    errno = 0;
}

void cores_of_pe(uint32_t pe, struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    CPU_SET_S(pe + 40, sizeof *cpus, cpus->set);
}

bool environment_choose_layer(const struct options *options, struct layer *layer)
{
    CHECK(options != NULL);
    *layer = (struct layer){.library = "layer"};
    layers_held++;
    return layer_is_there;
}

void environment_drop_layer(struct layer *layer)
{
    CHECK(strcmp(layer->library, "layer") == 0);
    layers_held--;
}

static char *environments[2][2] = {{(char *)"first"}, {(char *)"second"}};
static const struct app *made_of[4];
static size_t made;

char **environment_make(const struct app *app, uint32_t pes, const struct layer *layer)
{
    CHECK(pes == 5 && made < 2 && strcmp(layer->library, "layer") == 0);
    made_of[made] = app;
    return environments[made++];
}

void environment_name_pe(char **list, int segment, uint32_t pe, int tether)
{
    note("name %s %d %u %d\n", *list, segment, pe, tether);
}

static struct node *node;
static struct node_crash crashes[1];
static struct node_stay stays[1];
static int segment_fails;

int segment_make(struct segment *segment, const struct options *options)
{
    CHECK(options->pes == 5);
    *segment = (struct segment){.fd = 100, .tether = 101, .node = node, .stays = stays, .crashes = crashes};
    return segment_fails;
}

pid_t spawn(const struct spawn *how)
{
    CHECK(how->signals != NULL && how->files->rlim_cur == file_limit.rlim_cur && how->segment == 100);
    CHECK(how->tether == 101 && strcmp(how->score, "300") == 0 && how->in == in_of_pe);
    note("spawn %s in %s env %s args %s files %d %d%s", how->path, how->wdir ? how->wdir : ".", how->envp[0],
         how->argv[1], how->out, how->err, how->debug ? " debug" : "");
    for (size_t cpu = 0; how->cpus && cpu < CORES_MAX_CPUS; cpu++)
        if (CPU_ISSET_S(cpu, sizeof *how->cpus, how->cpus->set))
            note(" on %zu", cpu);
    note("\n");
    errno = spawn_errno;
    return spawned < 0 ? -1 : spawned++;
}

bool debug_wants(const char *list, uint32_t pe)
{
    return list && atoi(list) == (int)pe;
}

bool debug_arrived(int status)
{
    return status >> 8 == SIGTRAP;
}

void debug_offer(uint32_t pe, pid_t pid)
{
    note("offer PE %u %d\n", pe, (int)pid);
}

void report_print(const struct view *view)
{
    CHECK(view->node == node && view->stays == stays && view->pids != NULL);
    note("report\n");
}

void stacks_print(const struct view *view)
{
    CHECK(view->node == node && view->stays == stays && view->pids != NULL);
    note("stacks\n");
}

void crash_print(const struct node *of, const struct node_crash *records)
{
    CHECK(of == node && records == crashes);
    note("crashes\n");
}

double deadlock_look(struct deadlock *deadlock, const struct view *view)
{
    CHECK(deadlock != NULL && view->node == node);
    return 2.5;
}

/* ---- a job of five PEs, the last two of a second program ---- */

static char *first_words[] = {(char *)"one", (char *)"1", 0}, *second_words[] = {(char *)"two", (char *)"2", 0};
static struct app apps[2];
static struct options options;
static struct job job;
static sigset_t signals;

static void drop_job(void)
{
    free(job.pids);
    free(job.pe_of);
    free(job.environments);
    job = (struct job){0};
}

/* Makes the job anew; the PEs with the numbers 500 to 504 run and are in the library. */
static void make_job(void)
{
    static const uint64_t nonce[2] = {1, 2};
    free(node);
    drop_job();
    CHECK(posix_memalign((void **)&node, CACHE_LINE, node_groups_at(5)) == 0);
    memset(node, 0, node_groups_at(5));
    node_format(node, 5, 2, nonce);
    apps[0] = (struct app){.count = 3, .argv = first_words, .path = (char *)"/bin/one"};
    apps[1] = (struct app){.count = 2, .argv = second_words, .path = (char *)"/bin/two", .wdir = "there"};
    options = (struct options){.apps = apps, .napps = 2, .pes = 5, .cpus = 2};
    file_limit = (struct rlimit){50, RLIM_INFINITY};
    made = 0;
    CHECK(job_prepare(&job, &options, &signals) == 0);
    for (uint32_t pe = 0; pe < 5; pe++) {
        node->pe[pe].app = pe > 2;
        node->pe[pe].state = NODE_RUNNING;
        job.pids[pe] = 500 + (pid_t)pe;
        job.pe_of[500 + pe] = pe + 1;
    }
    job.started = job.alive = 5;
    out_of_memory = NULL;
    *happened = 0;
}

static size_t numbers_room; /* of the largest table */

static void *get_memory(size_t count, size_t each)
{
    numbers_room = count * each > numbers_room ? count * each : numbers_room;
    char *memory = (calloc)(count + 1, each);
    CHECK(memory != NULL);
    memset(memory + count * each, 4, each == sizeof(uint32_t)); /* what lies behind the table is PE 3 */
    return memory;
}

#define calloc get_memory
#define wait4 next_death
#define kill note_kill
#define ptrace(request, pid, address, data) note_ptrace(request, pid)
#define getrlimit(what, limit) get_limit(limit)
#define setrlimit(what, limit) set_limit(limit)
#define access(path, mode) (there ? 0 : -1)

#endif
