/* The command line of oshrun and its hosts: each line below is read in a process of its own, which then writes what it
 * has understood, or the one line of the mistake. */
#include "cores.h"
#include "hosts.h"
#include "rte/node.h"
#include "report.h"

#include "unit/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST "65536" /* NODE_MAX_PES */
#define NO_COUNT ": expected a number of PEs from 1 to " MOST
#define NO_TIME ": expected a time above 0, such as 90, 90s, 1.5m or 2h"
#define NO_HOST ": expected NAME or NAME:SLOTS between commas"
#define NO_INPUT ": expected the number of a PE, all or none"
#define NO_VARIABLE ": expected VAR or VAR=VALUE"
#define NO_OUTPUT ": expected tag, timestamp or file=NAME"
#define NO_SPREAD ": PEs fill the slots of several hosts in turn; name slots instead (--host a:2,b:2)"
#define BAD_LINE ": expected NAME, NAME:SLOTS or NAME slots=SLOTS"

const char options_help[] = "HELP\n";

int status_print(pid_t pid)
{
    printf("status of %d\n", (int)pid);
    return 5;
}

/* The machine's processors and name, as this test wants them. */
uint32_t cores_allowed(void)
{
    return 13;
}

int gethostname(char *name, size_t bytes)
{
    const char *own = getenv("OWN");
    CHECK(bytes == 255); /* of 256, the last of which stays zero */
    snprintf(name, bytes, "%s", own ? own : "own.example.org");
    return 0;
}

/* In a word "@" means the empty one. Programs: "count[/per node]: words"; "*": as many as processors. A mistake begins
 * with "!", an exit with "=". */
static const struct {
    const char *variables, *line, *wanted;
} lines[] = {
    {"", "x", "*: x"},
    {"", "-n 1 x -n 2 --tag-output", "1: x -n 2 --tag-output"},
    {"", "-n " MOST " x", MOST ": x"},
    {"", "-n 65537 x", "!-n 65537" NO_COUNT},
    {"", "-n 4294967297 x", "!-n 4294967297" NO_COUNT},
    {"", "-n 0 x", "!-n 0" NO_COUNT},
    {"", "-n -1 x", "!-n -1" NO_COUNT},
    {"", "-n +1 x", "!-n +1" NO_COUNT},
    {"", "-n 1x x", "!-n 1x" NO_COUNT},
    {"", "-n @ x", "!-n " NO_COUNT},
    {"", "--np=99999999999999999999 x", "!--np 99999999999999999999" NO_COUNT},
    {"", "-np 2 x", "2: x"},
    {"", "--ntasks 2 x", "2: x"},
    {"", "-n=4 x", "4: x"},
    {"", "-n7 x", "7: x"},
    {"", "-np12 x", "12: x"},
    {"", "-N3 x", "3/3: x"},
    {"", "-n0 x", "!-n 0" NO_COUNT},
    {"", "-N0 x", "!-N 0" NO_COUNT},
    {"", "-x3 x", "!unknown option -x3"},
    {"", "-n 1 -n 2 x", "2: x"},
    {"", "-n 65535 a : -n 1 b c", "65535: a | 1: b c"},
    {"", "-n 65535 a : -n 2 b", "!65537 PEs: at most " MOST " are possible"},
    {"", "-n 1 a : b", "!-n is missing before b: each part of a line with \":\" needs it"},
    {"", "a : -n 1 b", "!-n is missing before a: each part of a line with \":\" needs it"},
    {"", "-N 2 a : -n 1 b", "2/2: a | 1: b"},
    {"", "@", "!no program given"},
    {"", "-n 2", "!no program given"},
    {"", "-n 2 : x", "!no program given"},
    {"", "-n 2 x :", "!no program given"},
    {"", "-n 2 -- -y", "2: -y"},
    {"", "-n 2 - y", "2: - y"},
    {"", "-N 2 x", "2/2: x"},
    {"", "--npernode 2 x", "2/2: x"},
    {"", "-ppn 2 x", "2/2: x"},
    {"", "--ntasks-per-node=2 x", "2/2: x"},
    {"", "-n 1 -N 2 x", "1/2: x"},
    {"", "-n 2 -N 2 x", "2/2: x"},
    {"", "-n 3 -N 2 x", "!-N 2 -n 3: this job has one node, which has to take all PEs"},
    {"", "-n", "!-n needs a value"},
    {"", "--mca a", "!--mca needs two words"},
    {"", "--mca a b -n 1 x", "1: x"},
    {"", "--mca=a b x", "!--mca takes two words"},
    {"", "--quiet=1 x", "!--quiet takes no value"},
    {"", "--timout 3 x", "!unknown option --timout; did you mean --timeout?"},
    {"", "--versoin", "!unknown option --versoin; did you mean --version?"},
    {"", "--zz x", "!unknown option --zz"},
    {"", "-n 1 -x A=1 -x _b x", "1: x with A=1 _b"},
    {"", "-n 1 -x A=/b x", "1: x with A=/b"},
    {"", "-x 1A x", "!-x 1A" NO_VARIABLE},
    {"", "-x a/b=1 x", "!-x a/b=1" NO_VARIABLE},
    {"", "-x =1 x", "!-x =1" NO_VARIABLE},
    {"", "-x LATERAL_JOB x", "!-x LATERAL_JOB: oshrun itself sets LATERAL_JOB for each PE"},
    {"", "-x LATERAL_JOB=1 x", "!-x LATERAL_JOB=1: oshrun itself sets LATERAL_JOB for each PE"},
    {"", "-n 1 -x LATERAL_JOBS=1 -x LATERAL_JO=2 -x LATERAL_JOC=3 x",
     "1: x with LATERAL_JOBS=1 LATERAL_JO=2 LATERAL_JOC=3"},
    {"", "-n 1 --wdir d x : -n 1 -wd e y", "1: x in d | 1: y in e"},
    {"", "-n 1 --timeout 90 x", "1: x +timeout 90"},
    {"", "-n 1 --timeout 90s x", "1: x +timeout 90"},
    {"", "-n 1 --timeout 1.5m x", "1: x +timeout 90"},
    {"", "-n 1 --timeout 2h x", "1: x +timeout 7200"},
    {"", "-n 1 --timeout .5 x", "1: x +timeout 0.5"},
    {"", "-n 1 --timeout 1000000000 x", "1: x +timeout 1e+09"},
    {"", "-n 1 --deadlock 3 x", "1: x +deadlock 3"},
    {"", "--timeout 1000000001 x", "!--timeout 1000000001" NO_TIME},
    {"", "--timeout 0 x", "!--timeout 0" NO_TIME},
    {"", "--timeout -1 x", "!--timeout -1" NO_TIME},
    {"", "--timeout nan x", "!--timeout nan" NO_TIME},
    {"", "--timeout 2d x", "!--timeout 2d" NO_TIME},
    {"", "--deadlock @ x", "!--deadlock " NO_TIME},
    {"", "--status 17", "=5 status of 17"},
    {"", "--status 2147483647", "=5 status of 2147483647"},
    {"", "--status 1", "=5 status of 1"},
    {"", "--status 2147483648", "!--status 2147483648: expected the number of a process"},
    {"", "--status 4294967297", "!--status 4294967297: expected the number of a process"},
    {"", "--status 0", "!--status 0: expected the number of a process"},
    {"", "--status 1x", "!--status 1x: expected the number of a process"},
    {"", "--status +1", "!--status +1: expected the number of a process"},
    {"", "-n 1 --bind-to core x", "1: x +bind"},
    {"", "-n 1 --bind-to hwthread x", "1: x +bind"},
    {"", "-n 1 --bind-to core:overload-allowed x", "1: x +bind"},
    {"", "-n 1 --bind-to core --bind-to none x", "1: x"},
    {"", "-n 1 --bind-to socket x", "1: x"},
    {"", "--bind-to cores x", "!--bind-to cores: expected core or none"},
    {"", "-n 1 --output tag x", "1: x +tag"},
    {"", "-n 1 --tag-output x", "1: x +tag"},
    {"", "-n 1 --label x", "1: x +tag"},
    {"", "-n 1 -l x", "1: x +tag"},
    {"", "-n 1 --output timestamp x", "1: x +stamp"},
    {"", "-n 1 --timestamp-output x", "1: x +stamp"},
    {"", "-n 1 --output file=a/b x", "1: x +files a/b"},
    {"", "-n 1 --output-filename a/b x", "1: x +files a/b"},
    {"", "--output file= x", "!--output file=" NO_OUTPUT},
    {"", "--output tags x", "!--output tags" NO_OUTPUT},
    {"", "--output-filename a/ x", "!--output-filename a/: expected the name of a file"},
    {"", "--output-filename @ x", "!--output-filename : expected the name of a file"},
    {"", "--output-filename a --timestamp-output x",
     "!--timestamp-output marks lines that pass through oshrun; with --output-filename none does"},
    {"", "-n 1 --stdin all x", "1: x +input -1"},
    {"", "-n 1 --stdin none x", "1: x +input -2"},
    {"", "-n 3 --stdin 2 x", "3: x +input 2"},
    {"", "-n 3 --stdin 3 x", "!--stdin 3: this job has the PEs 0 to 2"},
    {"", "-n 3 --stdin " MOST " x", "!--stdin " MOST NO_INPUT},
    {"", "-n 3 --stdin 4294967297 x", "!--stdin 4294967297" NO_INPUT},
    {"", "--stdin 1x x", "!--stdin 1x" NO_INPUT},
    {"", "--stdin -1 x", "!--stdin -1" NO_INPUT},
    {"", "-n 1 --get-stack-traces --stats --quiet --check x", "1: x +stacks +check +stats +quiet"},
    {"", "-n 1 -q --check=race x", "1: x +race +quiet"},
    {"", "--check=other x", "!--check=other: expected race, or no value"},
    {"", "--check= x", "!--check=: expected race, or no value"},
    {"", "-n 3 --trace t.json --debug 0,2 x", "3: x +trace t.json +debug 0,2"},
    {"", "--trace t/ x", "!--trace t/: expected the name of a file"},
    {"", "-n 1 --allow-run-as-root --oversubscribe x", "1: x +crowd +root"},
    {"", "--version", "=0 oshrun (Lateral) " LATERAL_VERSION},
    {"", "-V", "=0 oshrun (Lateral) " LATERAL_VERSION},
    {"", "--help", "=0 HELP"},
    {"FULL=1", "--help", "=1"},
    {"FULL=1", "--version", "=1"},
    {"", "-n 0 -h", "!-n 0" NO_COUNT},
    /* hosts */
    {"", "--host localhost x", "*: x @localhost:1"},
    {"", "--host localhost:2 x", "2: x @localhost:2"},
    {"", "--host 127.0.0.1,own,own.example.org x", "*: x @127.0.0.1:1,own:1,own.example.org:1"},
    {"", "-n 1 --host own.other.org x", "1: x @own.other.org:1 elsewhere"},
    {"", "-n 1 --host own,a x", "1: x @own:1,a:1 elsewhere"},
    {"OWN=own", "-n 1 --host own.other.org x", "1: x @own.other.org:1"},
    {"OWN=own", "-n 1 --host owl.other.org x", "1: x @owl.other.org:1 elsewhere"},
    {"", "-H a:2,b:3 x", "5: x @a:2,b:3 elsewhere"},
    {"", "--host a,b x", "2: x @a:1,b:1 elsewhere"},
    {"", "--host a:2,a:3,b,a x", "7: x @a:6,b:1 elsewhere"},
    {"", "--host a:1:2 x", "2: x @a:1:2 elsewhere"},
    {"", "-n 1 --host a:" MOST ",a:" MOST " x", "1: x @a:" MOST " elsewhere"},
    {"", "--host a:65535,b x", MOST ": x @a:65535,b:1 elsewhere"},
    {"", "--host a:" MOST ",b x", "!--host: 65537 slots without -n: at most " MOST " PEs are possible"},
    {"", "--host a:2 -n 2 x", "2: x @a:2 elsewhere"},
    {"", "--host a:2 -n 3 x", "!--host: 3 PEs for 2 slots (--oversubscribe starts them all the same)"},
    {"", "--host a:2 -n 3 --oversubscribe x", "3: x +crowd @a:2 elsewhere"},
    {"", "--host a -n 3 x", "3: x @a:1 elsewhere"},
    {"", "--host a:5 -n 1 y : -n 2 x", "1: y | 2: x @a:5 elsewhere"},
    {"", "--host a:1 x", "1: x @a:1 elsewhere"},
    {"", "--host a:0 x", "!--host a:0" NO_HOST},
    {"", "--host a: x", "!--host a:" NO_HOST},
    {"", "--host a:x x", "!--host a:x" NO_HOST},
    {"", "--host a:1x x", "!--host a:1x" NO_HOST},
    {"", "--host a:+1 x", "!--host a:+1" NO_HOST},
    {"", "--host a:65537 x", "!--host a:65537" NO_HOST},
    {"", "--host a:4294967297 x", "!--host a:4294967297" NO_HOST},
    {"", "--host ,a x", "!--host ,a" NO_HOST},
    {"", "--host a,,b x", "!--host a,,b" NO_HOST},
    {"", "--host a,-b x", "!--host a,-b" NO_HOST},
    {"", "--host :2 x", "!--host :2" NO_HOST},
    {"", "--host a --hostfile good x", "!--hostfile: --host has named the hosts already"},
    {"", "--host a -N 2 x", "!-N" NO_SPREAD},
    {"", "--host a --map-by node x", "!--map-by" NO_SPREAD},
    {"", "-n 1 --map-by node --rank-by slot x", "1: x"},
    {"", "--hostfile good x", "6: x @a:2,b:3,c:1 elsewhere"},
    {"", "-f good x", "6: x @a:2,b:3,c:1 elsewhere"},
    {"", "--machinefile=plain -n 4 x", "4: x @a:1,b:1 elsewhere"},
    {"", "--hostfile bad x", "!--hostfile bad: line 2" BAD_LINE},
    {"", "--hostfile badslots x", "!--hostfile badslots: line 3" BAD_LINE},
    {"", "--hostfile none x", "!--hostfile none: no host in it"},
    {"", "--hostfile missing x", "!--hostfile missing: No such file or directory"},
    /* Slurm's allocations */
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2", "x", "2: x slurm elsewhere"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=4", "x", "4: x slurm elsewhere"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=4", "-n 3 x", "3: x slurm elsewhere"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=4x", "x", "!SLURM_NTASKS=4x" NO_COUNT},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2", "-N 2 x", "!-N" NO_SPREAD},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=1 SLURM_NTASKS=4", "x", "*: x"},
    {"SLURM_JOB_ID=1 SLURM_NNODES=2", "x", "*: x slurm elsewhere"},
    {"SLURM_JOB_ID=1 SLURM_NNODES=1", "x", "*: x"},
    {"SLURM_JOB_NUM_NODES=2", "x", "*: x"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 SLURM_STEP_NUM_TASKS=2", "x", "*: x"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 SLURM_STEP_NUM_TASKS=1", "x", "2: x slurm elsewhere"},
    {"SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2", "-n 1 --host localhost x", "1: x slurm @localhost:1"},
};

static void show_app(const struct app *app, const struct options *options)
{
    if (app->counted || app->count != options->cpus)
        printf("%u", app->count);
    else
        printf("*");
    if (app->per_node)
        printf("/%u", app->per_node);
    printf(":");
    for (char **word = app->argv; *word; word++)
        printf(" %s", *word);
    if (app->wdir)
        printf(" in %s", app->wdir);
    for (size_t i = 0; i < app->nexports; i++)
        printf("%s %s", i ? "" : " with", app->exports[i]);
}

static void show_options(const struct options *options)
{
    const struct {
        const char *name;
        bool on;
    } flags[] = {{"bind", options->bind_cores}, {"tag", options->tag},     {"stamp", options->stamp},
                 {"stacks", options->stacks},   {"check", options->check}, {"race", options->race},
                 {"stats", options->stats},     {"quiet", options->quiet}, {"crowd", options->oversubscribe},
                 {"root", options->root}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].on)
            printf(" +%s", flags[i].name);
    if (options->out_name)
        printf(" +files %s", options->out_name);
    if (options->input)
        printf(" +input %d", (int)options->input);
    if (options->trace)
        printf(" +trace %s", options->trace);
    if (options->debug)
        printf(" +debug %s", options->debug);
    if (options->timeout > 0)
        printf(" +timeout %g", options->timeout);
    if (options->deadlock > 0)
        printf(" +deadlock %g", options->deadlock);
}

static void show_hosts(const struct hosts *hosts, bool elsewhere)
{
    if (hosts->slurm)
        printf(" slurm");
    if (hosts->count)
        printf(" @%s", hosts_list(hosts, true));
    if (elsewhere)
        printf(" elsewhere");
}

/* Reads the line as main.c does, and writes what is known of it. */
static void read_line(char *line)
{
    struct options options;
    struct hosts hosts;
    char *words[64] = {(char *)"oshrun"}, *rest = line, *word;
    int count = 1;
    while ((word = strsep(&rest, " ")))
        words[count++] = strcmp(word, "@") == 0 ? word + 1 : word;
    options_read(&options, count, words);
    const bool elsewhere = hosts_elsewhere(&options, &hosts);
    options_settle(&options);
    uint32_t pes = 0;
    for (size_t i = 0; i < options.napps; i++) {
        printf("%s", i ? " | " : "");
        show_app(&options.apps[i], &options);
        pes += options.apps[i].count;
    }
    if (pes != options.pes)
        printf(" (together %u)", options.pes);
    show_options(&options);
    show_hosts(&hosts, elsewhere);
    hosts_free(&hosts);
}

static void set_variables(const char *variables)
{
    static const char *const names[] = {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_NTASKS",
                                        "SLURM_STEP_NUM_TASKS"};
    char *rest = strdup(variables), *one;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    while ((one = strsep(&rest, " ")))
        if (*one)
            putenv(one);
}

/* Ends the process before a sanitizer looks for what it has not freed. */
static void leave(int status, void *unused)
{
    (void)unused;
    fflush(stdout);
    _exit(status);
}

/* Returns what a process writes that reads the line; its exit status comes in front, unless it is 0 and it read all. */
static void read_apart(const char *variables, const char *line, char *text, size_t room)
{
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        on_exit(leave, 0);
        set_variables(variables);
        if (getenv("FULL"))
            dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
        read_line(strdup(line));
        exit(77);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, room - used - 1)) > 0;)
        used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    snprintf(text + used, room - used, "#%d", WEXITSTATUS(status));
}

static void test_lines(void)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[512], wanted[512];
        const char *what = lines[i].wanted;
        if (*what == '!')
            snprintf(wanted, sizeof wanted, "oshrun: %s (see oshrun --help)\n#2", what + 1);
        else if (*what == '=')
            snprintf(wanted, sizeof wanted, "%s%s#%c", what[2] ? what + 3 : "", what[2] ? "\n" : "", what[1]);
        else
            snprintf(wanted, sizeof wanted, "%s#77", what);
        read_apart(lines[i].variables, lines[i].line, text, sizeof text);
        if (strcmp(text, wanted) != 0) {
            fprintf(stderr, "%s oshrun %s\n  wanted: %s\n  is:     %s\n", lines[i].variables, lines[i].line, wanted,
                    text);
            wrong++;
        }
    }
    CHECK(wrong == 0);
}

static void slice(struct hosts *hosts, uint32_t first, uint32_t count, const char *wanted)
{
    char *text = hosts_slice(hosts, first, count);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "%u slots from %u: %s, not %s\n", count, first, text, wanted);
    CHECK(strcmp(text, wanted) == 0);
    free(text);
}

static void test_slices(void)
{
    struct host three[] = {{(char *)"a", 2}, {(char *)"b", 3}, {(char *)"c", 1}};
    struct host wide[] = {{(char *)"a", NODE_MAX_PES}, {(char *)"b", NODE_MAX_PES}, {(char *)"not one of them", 7}};
    struct hosts hosts = {.host = three, .count = 3}, two = {.host = wide, .count = 2};
    char *plain = hosts_list(&hosts, false);
    CHECK(strcmp(plain, "a,b,c") == 0);
    free(plain);
    slice(&hosts, 0, 0, "");
    slice(&hosts, 0, 2, "a:2");
    slice(&hosts, 1, 3, "a:1,b:2");
    slice(&hosts, 2, 3, "b:3");
    slice(&hosts, 3, 1, "b:1");
    slice(&hosts, 4, 2, "b:1,c:1");
    slice(&hosts, 5, 1, "c:1");
    slice(&hosts, 0, 6, "a:2,b:3,c:1");
    slice(&hosts, 0, 7, "a:2,b:3,c:1"); /* there are no more */
    slice(&two, 1, NODE_MAX_PES, "a:65535,b:1");
    slice(&two, NODE_MAX_PES, 1, "b:1");
    slice(&two, 1, 2 * NODE_MAX_PES, "a:65535,b:" MOST);
}

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

int main(void)
{
    char folder[] = "/tmp/lateral-line-XXXXXX", remove[64];
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    put_file("good", "# hosts\n\n  a slots=2\nb:3 max_slots=4 # more\n\tc\r\n");
    put_file("plain", "a\nb");
    put_file("bad", "a\nb:0\n");
    put_file("badslots", "a\n#\nb slots=x\n");
    put_file("none", "# no host\n\n");
    test_lines();
    test_slices();
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    CHECK(system(remove) == 0);
    return 0;
}
