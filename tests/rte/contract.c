/* What rte.h promises, under any launcher: number and place of each PE, values that PEs publish, barriers of node and job, the
 * end. check_contract.py starts it under each launcher, tests/hosts on hosts, and they read the line that each PE prints.
 *
 * The first arguments may be "embed GROUP,GROUP,...": the program is its own launcher (embed.h). The next says how it ends:
 * "fine"; "bare": as fine, and no library of a launcher is loaded; "leave N": PE N exits without finalize; "abort N"; "kill N";
 * "wait": all PEs wait for ever; "late N": PE N does not come to a barrier with a time limit; "claim": all PEs claim the end;
 * "missing": a PE of another node is asked for a value that it has not told; "child": each PE starts a program, which is a job of
 * its own; "refused": a call that fails ends the job in order; "times": the program checks nothing and times the steps of the
 * start (docs/guide/startup.md); "place": nothing is checked but who is where. */
#include "base/env.h"
#include "rte/rte.h"

#include "embed.h"

#include <uccs.h>

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100
#define ABORT_STATUS 7
#define CLAIMED_STATUS 5
#define LATE_STATUS 9
#define REFUSED_STATUS 3

/* Lengths of values: none, around words, more than a PMI server takes at once, a long address. PEs add their number to the last. */
static const size_t lengths[] = {0, 1, 7, 8, 9, 255, 256, 1023, 1024, 1025, 4096, 20000, 5000};
#define LENGTHS (sizeof lengths / sizeof *lengths)
#define MOST_BYTES 32768

static bool refused; /* calls of the system may fail, so calls of rte.h may, too */

/* A call of rte.h that returns 0, unless the system refuses something. */
static void must(int status)
{
    if (status != 0 && refused)
        rte_abort(REFUSED_STATUS);
    assert(status == 0);
}

/* A call of the system that this program makes itself. */
static void granted(bool good)
{
    if (!good && refused) {
        perror("contract");
        rte_abort(REFUSED_STATUS);
    }
    assert(good);
}

/* The value of a PE under a key. No two are alike. */
static size_t fill(unsigned char *value, int pe, size_t which, int round)
{
    size_t bytes = lengths[which] + (which == LENGTHS - 1 ? (size_t)pe : 0);
    for (size_t i = 0; i < bytes; i++)
        value[i] = (unsigned char)(i * 7 + (size_t)pe * 13 + which + (size_t)round * 3);
    return bytes;
}

/* Short keys, some of which begin as others do, and the longest. */
static char *name_value(char *key, size_t which, int round)
{
    int used = snprintf(key, RTE_KEY_BYTES, "%d.%zu", round, which);
    if (which != 1)
        return key;
    memset(key + used, 'k', (size_t)(RTE_KEY_BYTES - used));
    key[RTE_KEY_BYTES] = 0;
    return key;
}

static void tell(int round)
{
    unsigned char value[MOST_BYTES];
    char key[RTE_KEY_BYTES + 1];
    for (size_t i = 0; i < LENGTHS; i++) {
        size_t bytes = fill(value, rte.pe, i, round);
        must(rte_put(name_value(key, i, round), value, bytes));
    }
}

static void ask(int pe, int round)
{
    unsigned char wanted[MOST_BYTES];
    char key[RTE_KEY_BYTES + 1];
    for (size_t i = 0; i < LENGTHS; i++) {
        void *value = 0;
        size_t bytes = 0, length = fill(wanted, pe, i, round);
        must(rte_get(pe, name_value(key, i, round), &value, &bytes));
        assert(bytes == length && memcmp(value, wanted, bytes) == 0);
        free(value);
    }
}

/* A further round of values shows the new ones and keeps the old. */
static void exchange(void)
{
    for (int round = 0; round < 3; round++) {
        tell(round);
        must(rte_commit_fence());
        for (int i = 0; i < rte.npes; i++)
            ask((rte.pe + i) % rte.npes, round);
    }
    ask((rte.pe + 1) % rte.npes, 0);
    must(rte_commit_fence()); /* with nothing new */
}

/* Four lines on standard error: a key twice, a key that is too long, and on this node a key that nobody has told and one that is too
 * short by a character. What was told stays. */
static void refuse(void)
{
    static const char too_long[] = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
    void *value;
    size_t bytes;
    char key[RTE_KEY_BYTES + 1];
    _Static_assert(sizeof too_long == RTE_KEY_BYTES + 2, "one character too many");
    assert(rte_put(name_value(key, 2, 0), "other", 6) == -1);
    assert(rte_put(too_long, "x", 1) == -1);
    assert(rte_get(rte.pe, "nobody", &value, &bytes) == -1);
    name_value(key, 1, 0)[RTE_KEY_BYTES - 1] = 0;
    assert(rte_get(rte_pe_at((uint32_t)rte.node_size - 1), key, &value, &bytes) == -1);
    ask(rte.pe, 0);
    ask(rte_pe_at(0), 0);
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

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* A late PE holds up all others, on its node and elsewhere. The clock is read before the first barrier, since behind it a busy
 * machine may keep this PE from its clock. */
static void check_late_pe(void)
{
    double before = now();
    rte_job_barrier();
    if (rte.pe == rte.npes - 1)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, 0);
    rte_job_barrier();
    assert(now() - before > 150);
    assert(rte_node_barrier_within(60) && rte_job_barrier_within(60));
}

static int lasts; /* calls of grow in this process */

/* The last PE adds a page to the node's memory. */
static void grow(void *bytes)
{
    lasts++;
    granted(ftruncate(rte.fd, *(off_t *)bytes + 4096) == 0);
}

/* The node's barrier orders plain stores: each PE adds to the word of the next, round by round. The page is new, so the words are 0. */
static void check_node_barrier(void)
{
    struct stat file;
    rte_node_barrier();
    assert(fstat(rte.fd, &file) == 0);
    rte_node_barrier();
    rte_node_barrier_last(grow, &file.st_size);
    off_t at = file.st_size;
    assert(fstat(rte.fd, &file) == 0 && file.st_size == at + 4096);
    int *words = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, at);
    granted(words != MAP_FAILED);
    assert(rte.node_size < 500);
    int *last = words + 512;
    __atomic_add_fetch(last, lasts, __ATOMIC_RELAXED);
    for (int round = 0; round < ROUNDS; round++) {
        int *word = words + (rte.node_index + round) % rte.node_size;
        assert(*word == round);
        *word += 1;
        rte_node_barrier();
    }
    assert(*last == 1 && !rte_ending()); /* it ran once, at one PE */
    rte_node_barrier();
    munmap(words, 4096);
}

/* Another thread asks while this one waits for all PEs. */
static void *ask_all(void *unused)
{
    (void)unused;
    for (int pe = 0; pe < rte.npes; pe++)
        ask(pe, 1);
    return 0;
}

static void check_threads(void)
{
    pthread_t thread;
    granted(pthread_create(&thread, 0, ask_all, 0) == 0);
    if (rte.pe == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, 0);
    must(rte_commit_fence());
    pthread_join(thread, 0);
    rte_job_barrier();
}

/* A child is no PE, and its end is nothing to the job. */
static void check_child(void)
{
    int status, child = fork();
    granted(child >= 0);
    if (child == 0)
        exit(rte_is_pe() ? 1 : 4);
    assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4 && rte_is_pe());
    int launcher = rte_launcher_descriptor();
    granted(launcher < 0 || fcntl(launcher, F_GETFD) >= 0);
    assert(rte.launched || rte.npes == 1);
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

static int told_of_end;

static void note_end(void)
{
    told_of_end++;
}

/* One PE of each node wins, and it alone hears of it; the others see that the job ends, and wait for their end. */
static void claim(void)
{
    rte_on_end = note_end;
    bool won = rte_claim_end(NODE_GLOBAL_EXIT, CLAIMED_STATUS);
    assert(told_of_end == won && rte_ending() && !rte_claim_end(NODE_ABORTED, 1) && told_of_end == won);
    if (won)
        exit(CLAIMED_STATUS);
    rte_await_end();
}

/* Ends the job when the late PE has not come in a second. */
static void miss(bool late)
{
    if (late)
        pause();
    if (rte.nodes == 1)
        assert(!rte_node_barrier_within(1));
    assert(!rte_job_barrier_within(1));
    rte_abort(LATE_STATUS);
}

/* Of a PE of another node, when there is one. */
static void ask_in_vain(void)
{
    void *value;
    size_t bytes;
    for (int pe = 0; pe < rte.npes; pe++)
        if (!rte_on_my_node(pe))
            assert(rte_get(pe, "nobody", &value, &bytes) == -1);
    rte_abort(ABORT_STATUS);
}

static void end(const char *program, char **how)
{
    const char *word = how[0] ? how[0] : "fine";
    bool me = how[0] && how[1] && rte.pe == atoi(how[1]);
    if (strcmp(word, "child") == 0)
        return start_child(program);
    if (strcmp(word, "bare") == 0)
        return check_bare();
    if (strcmp(word, "fine") == 0 || strcmp(word, "refused") == 0)
        return;
    if (strcmp(word, "claim") == 0)
        claim();
    if (strcmp(word, "late") == 0)
        miss(me);
    if (strcmp(word, "missing") == 0)
        ask_in_vain();
    if (me && strcmp(word, "leave") == 0)
        exit(0);
    if (me && strcmp(word, "abort") == 0)
        rte_abort(ABORT_STATUS);
    if (me && strcmp(word, "kill") == 0)
        raise(SIGKILL);
    if (me || strcmp(word, "wait") == 0)
        pause();
    rte_job_barrier(); /* for ever, unless the launcher ends the job */
}

static void show(void)
{
    char host[256] = "", line[512];
    gethostname(host, sizeof host - 1);
    int bytes =
        snprintf(line, sizeof line, "pe %d npes %d node %d nodes %d index %d size %d busy %u key %016llx host %s\n",
                 rte.pe, rte.npes, rte.node_number, rte.nodes, rte.node_index, rte.node_size, rte.node->oversubscribed,
                 (unsigned long long)rte.node->nonce[0], host);
    assert(write(STDOUT_FILENO, line, (size_t)bytes) == bytes);
}

/* The library starts again in the same process: place and values are as they were. */
static void come_back(void)
{
    int pe = rte.pe, npes = rte.npes;
    rte_finalize();
    assert(rte_init() == 0 && rte.pe == pe && rte.npes == npes);
    ask(rte.pe, 2);
    assert(rte_host_bootstrap(&(struct uccs_environment){.size = sizeof(struct uccs_environment), .ranks = 1}) == -1);
}

int main(int argc, char **argv)
{
    const char *why;
    assert(env_load(&why) == 0);
    if (argc > 2 && strcmp(argv[1], "embed") == 0) {
        int status = embed_start(argv[2]);
        if (status >= 0)
            return status;
        argv += 2, argc -= 2;
    }
    if (argc == 2 && strcmp(argv[1], "times") == 0)
        return show_times();
    refused = argc == 2 && strcmp(argv[1], "refused") == 0;
    if (rte_init() != 0)
        return 1;
    check_nodes();
    const bool place = argc == 2 && strcmp(argv[1], "place") == 0;
    if (!place)
        exchange();
    if (!place && !refused)
        refuse();
    check_node_barrier();
    if (!place) {
        check_late_pe();
        check_threads();
        check_child();
        come_back();
    }
    show();
    if (!place)
        end(argv[0], argv + 1);
    rte_finalize();
    rte_job_barrier();
    return 0;
}
