/* A PE without the library: it does the actions that its arguments name, and sets its record as the library would.
 *
 * usage: pe WORD...   each word is an action; "@3" makes the following ones PE 3's alone, "@*" all PEs'.
 * Actions: init final global:STATUS abort:STATUS arrive  the record and header
 *          exit:STATUS kill:SIGNAL sleep:MS forever ignore:SIGNAL catch:SIGNAL stop  the process
 *          out:TEXT err:TEXT (with \n) whole:COUNT torn:COUNT long:BYTES part:BYTES (no end) flood  writing
 *          child (a grandchild that sleeps, its pid on stdout) deep (one below that, its parent dead)
 *          await:PE (until that PE has initialised) read (echo standard input)
 *          header env:NAME files cpus mask limit cwd seal  show what was inherited */
#include "base/process.h"
#include "rte/node.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int job_fd = -1, parent_pipe = -1;
static unsigned me;
static struct node *node;

static void attach(void)
{
    const char *job = getenv("LATERAL_JOB");
    if (!job || sscanf(job, "%d:%u", &job_fd, &me) != 2)
        return;
    struct stat info;
    if (fstat(job_fd, &info) != 0)
        exit(90);
    node = mmap(NULL, sizeof(struct node) + (me + 1) * sizeof(struct node_pe), PROT_READ | PROT_WRITE, MAP_SHARED,
                job_fd, 0);
    if (node == MAP_FAILED || node->magic != NODE_MAGIC || (size_t)info.st_size != node_fixed_size(node->size))
        exit(91);
    node->pe[me].pid = getpid();
    if (sscanf(job, "%*d:%*u:%d", &parent_pipe) == 1)
        parent_death_follow(parent_pipe);
}

static void write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t wrote = write(fd, data, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            exit(92);
        data += wrote;
        bytes -= (size_t)wrote;
    }
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void end_from_inside(uint32_t how, int status)
{
    uint32_t none = NODE_GOES_ON;
    if (!atomic_cas_acqrel(&node->ending, &none, NODE_ENDING_CLAIMED))
        return;
    node->end_status = status;
    node->end_pe = (int)me;
    atomic_store_release(&node->ending, how); /* partner: the launcher's acquire load */
    _exit(status);
}

/* "PE 3 line 17 xxxx." with a length that varies; torn: in pieces. */
static void write_lines(long count, int pieces)
{
    static char line[4096];
    for (long i = 0; i < count; i++) {
        int bytes = snprintf(line, sizeof line, "PE %u line %ld ", me, i);
        int filler = (int)((i * 37 + me * 11) % 900);
        memset(line + bytes, 'a' + (int)(me % 26), (size_t)filler);
        bytes += filler;
        memcpy(line + bytes, ".\n", 2);
        bytes += 2;
        int half = pieces ? bytes / 3 : bytes;
        for (int at = 0; at < bytes; at += half)
            write_all(1, line + at, (size_t)(bytes - at < half ? bytes - at : half));
    }
}

static void write_long(long bytes, const char *end)
{
    char block[8192];
    memset(block, 'A' + (int)(me % 26), sizeof block);
    for (; bytes > 0; bytes -= (long)sizeof block)
        write_all(1, block, bytes < (long)sizeof block ? (size_t)bytes : sizeof block);
    write_all(1, end, strlen(end));
}

static void write_text(int fd, const char *text)
{
    for (; *text; text++) {
        char c = *text;
        if (c == '\\' && text[1] == 'n') {
            c = '\n';
            text++;
        }
        write_all(fd, &c, 1);
    }
}

/* Without stdio, whose buffer a fork would double. */
static void tell(const char *what, long value)
{
    char line[64];
    write_all(1, line, (size_t)snprintf(line, sizeof line, "%s %ld\n", what, value));
}

static void make_child(int deep)
{
    if (fork() != 0)
        return;
    if (deep && fork() != 0)
        _exit(0);
    tell(deep ? "deep" : "child", getpid());
    for (;;)
        pause();
}

static void caught(int number)
{
    tell("caught", number);
}

static void show_status_line(const char *name)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            write_all(1, line, strlen(line));
    if (file)
        fclose(file);
}

static void show_header(void)
{
    char line[256];
    int bytes =
        snprintf(line, sizeof line, "pe=%u size=%u total=%u first=%u cores=%u over=%u check=%u app=%u nonce=%llx%llx\n",
                 me, node->size, node->total, node->first, node->cores, node->oversubscribed, node->check,
                 node->pe[me].app, (unsigned long long)node->nonce[0], (unsigned long long)node->nonce[1]);
    write_all(1, line, (size_t)bytes);
}

static void show_files(void)
{
    for (int fd = 0; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            tell(fd == job_fd ? "job" : fd == parent_pipe ? "parent_pipe" : "fd", fd);
}

static void echo_input(void)
{
    char data[65536];
    for (ssize_t bytes; (bytes = read(0, data, sizeof data)) > 0;)
        write_all(1, data, (size_t)bytes);
}

static void await_pe(unsigned pe)
{
    while (atomic_load_acquire(&node->pe[pe].state) == NODE_STARTED) /* partner: its init */
        sleep_ms(2);
}

static int is(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

static void act_on_record(const char *word, long value)
{
    if (is(word, "init"))
        atomic_store_release(&node->pe[me].state, NODE_RUNNING); /* partner: the launcher */
    else if (is(word, "final"))
        atomic_store_release(&node->pe[me].state, NODE_FINALISED); /* partner: the launcher */
    else if (is(word, "arrive"))
        atomic_fetch_add_acqrel(&node->arrived, 1); /* partner: the launcher */
    else if (is(word, "global"))
        end_from_inside(NODE_GLOBAL_EXIT, (int)value);
    else if (is(word, "abort"))
        end_from_inside(NODE_ABORTED, (int)value);
    else if (is(word, "await"))
        await_pe((unsigned)value);
}

static void act_on_process(const char *word, long value)
{
    if (is(word, "exit"))
        exit((int)value);
    else if (is(word, "kill"))
        kill(getpid(), (int)value);
    else if (is(word, "stop"))
        raise(SIGSTOP);
    else if (is(word, "ignore"))
        signal((int)value, SIG_IGN);
    else if (is(word, "catch"))
        signal((int)value, caught);
    else if (is(word, "sleep"))
        sleep_ms(value);
    else if (is(word, "child") || is(word, "deep"))
        make_child(is(word, "deep"));
    while (is(word, "forever"))
        pause();
}

static void act_by_writing(const char *word, const char *text, long value)
{
    if (is(word, "out") || is(word, "err"))
        write_text(is(word, "out") ? 1 : 2, text);
    else if (is(word, "whole") || is(word, "torn"))
        write_lines(value, is(word, "torn"));
    else if (is(word, "long") || is(word, "part"))
        write_long(value, is(word, "long") ? "\n" : "");
    else if (is(word, "read"))
        echo_input();
    while (is(word, "flood"))
        write_lines(1000, 0);
}

static void show_cwd(void)
{
    char path[4096];
    if (getcwd(path, sizeof path - 1)) {
        strcat(path, "\n");
        write_all(1, path, strlen(path));
    }
}

static void show_env(const char *name)
{
    const char *value = getenv(name);
    char line[1024];
    write_all(1, line, (size_t)snprintf(line, sizeof line, "%s=%s\n", name, value ? value : "(none)"));
}

static void show(const char *word, const char *text)
{
    struct rlimit files;
    if (is(word, "header"))
        show_header();
    else if (is(word, "env"))
        show_env(text);
    else if (is(word, "files"))
        show_files();
    else if (is(word, "cpus"))
        show_status_line("Cpus_allowed_list");
    else if (is(word, "mask"))
        show_status_line("SigBlk");
    else if (is(word, "limit") && getrlimit(RLIMIT_NOFILE, &files) == 0)
        tell("limit", (long)files.rlim_cur);
    else if (is(word, "pid"))
        tell("pid", getpid());
    else if (is(word, "cwd"))
        show_cwd();
    else if (is(word, "seal"))
        tell("shrunk", ftruncate(job_fd, 4096) == 0 || errno != EPERM);
}

int main(int argc, char **argv)
{
    int mine = 1;
    attach();
    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        const char *text = colon ? colon + 1 : "";
        if (argv[i][0] == '@') {
            mine = argv[i][1] == '*' || (unsigned)atoi(argv[i] + 1) == me;
            continue;
        }
        if (colon)
            *colon = 0;
        if (!mine)
            continue;
        act_on_record(argv[i], atol(text));
        act_on_process(argv[i], atol(text));
        act_by_writing(argv[i], text, atol(text));
        show(argv[i], text);
    }
    return 0;
}
