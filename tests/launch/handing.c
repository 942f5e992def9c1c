/* How oshrun finds a launcher for other hosts, and what it says to it, word by word. The system, the hosts and the
 * layers are stand-ins (handed.h); so is the lack of memory.
 * flags: -D_GNU_SOURCE */
#include "handed.h"

#define access can_execute
#define asprintf print
#define execvp become
#define exit leave
#define fdopen open_fd
#define free give_back
#define memfd_create make_file
#define open_memstream open_text
#define pclose answered
#define popen ask
#define realloc more_memory
#define realpath real_path
#define say_if_null there_or_leave
#define say_usage refuse
#define setenv set_variable
#define strdup copy_text
#define vasprintf print_list
#include "handover.c"
#undef asprintf
#undef free
#undef realloc
#undef strdup
#undef vasprintf

#define OMPI4 "mpirun (Open MPI) 4.1.4\n\nReport bugs\n"
#define OMPI5 "mpirun (Open MPI) 5.0.3\n"

static char *own[12]; /* the environment */

/* The environment has these variables alone. */
static void has(const char *one, const char *two, const char *three)
{
    own[0] = (char *)(uintptr_t)one;
    own[1] = (char *)(uintptr_t)two;
    own[2] = (char *)(uintptr_t)three;
    own[3] = NULL;
    environ = own;
}

static const struct tool open_mpi[] = {{"/b/mpirun", OMPI4, NULL}, {0}}, prrte[] = {{"/b/mpirun", OMPI5, NULL}, {0}},
                         hydra[] = {{"/b/mpirun", "HYDRA build details:\n", NULL}, {0}},
                         slurm[] = {{"/b/srun", "slurm 23.11\n", "MPI plugin types are...\n\tpmix\n"}, {0}};

/* ---- finding ---- */

static void finds(const char *path, const char *name, const char *wanted, const char *looks)
{
    has(path, NULL, NULL);
    *looked = 0;
    char *found = find(name);
    CHECK(!found == !wanted && (!wanted || strcmp(found, wanted) == 0));
    CHECK(strcmp(looked, looks) == 0);
    free(found);
}

static void finding(void)
{
    static const struct tool there[] = {{"/b/x", 0, 0}, {"/c/x", 0, 0}, {"/usr/bin/y", 0, 0}, {"d/x", 0, 0}, {0}};
    tools = there;
    finds("PATH=/a:/b:/c", "x", "/b/x", "/a/x /b/x ");
    finds("PATH=:/a::/c:", "x", "/c/x", "/a/x /c/x "); /* not this folder */
    finds("PATH=/a:/d:", "x", NULL, "/a/x /d/x ");
    finds("PATH=", "x", NULL, "");
    finds("PATHS=/b", "y", "/usr/bin/y", "/usr/local/bin/y /usr/bin/y ");
    finds("PATHS=/b", "x", NULL, "/usr/local/bin/x /usr/bin/x /bin/x ");
    finds("PATH=/a", "/b/x", "/b/x", "/b/x ");
    finds("PATH=/b", "d/x", "d/x", "d/x ");
    finds("PATH=/b", "/a/x", NULL, "/a/x ");
}

static void is(const char *path, const char *name, const char *version, bool known, enum family family,
               const char *line)
{
    const struct tool there[] = {{path, version, NULL}, {0}};
    struct launcher launcher = {0};
    tools = there;
    has("PATH=/b", NULL, NULL);
    CHECK(recognise(&launcher, name) == known && running == 0);
    CHECK(launcher.family == family && strcmp(launcher.path, path) == 0 && strcmp(launcher.version, line) == 0);
}

static void recognising(void)
{
    char most[80], cut[64] = "";
    is("/b/srun", "srun", "slurm 23.11\n", true, SRUN, "slurm 23.11");
    is("/b/srun", "/b/srun", "(Open MPI) 4\n", true, SRUN, "(Open MPI) 4");
    is("/b/srun.x", "srun.x", "slurm 23.11\n", false, HYDRA, "slurm 23.11");
    is("/srun/prterun", "/srun/prterun", "? 1\n2\n", true, PRRTE, "? 1");
    is("/b/mpirun", "mpirun", OMPI4, true, OPEN_MPI, "mpirun (Open MPI) 4.1.4");
    is("/b/mpirun.openmpi", "mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4", true, OPEN_MPI,
       "mpirun.openmpi (OpenRTE) 4.1.4");
    is("/b/mpirun", "mpirun", OMPI5, true, PRRTE, "mpirun (Open MPI) 5.0.3");
    is("/b/mpirun", "mpirun", "PRRTE 3\n", true, PRRTE, "PRRTE 3");
    is("/b/mpirun", "mpirun", "\nHYDRA\n", true, HYDRA, "");
    is("/b/mpirun", "mpirun", "Intel(R) MPI\n", true, HYDRA, "Intel(R) MPI");
    is("/b/mpirun", "mpirun", "something\n", false, HYDRA, "something");
    is("/b/mpirun", "mpirun", NULL, false, HYDRA, "");
    is("/b'/mpirun", "/b'/mpirun", OMPI4, false, HYDRA, ""); /* no word for a shell */
    memset(most, 'v', sizeof most);
    most[sizeof most - 1] = 0;
    memcpy(cut, most, sizeof cut - 1);
    is("/b/prterun", "prterun", most, true, PRRTE, cut);
}

/* ---- whole lines ---- */

static char *words_p[] = {(char *)"p", (char *)"x y", NULL}, *words_q[] = {(char *)"q", NULL};
static struct app apps[3];
static struct options options;
static struct host host[2];
static struct hosts hosts;

/* Two hosts of two slots, three PEs of one program. */
static void begin(const struct tool *there)
{
    tools = there;
    has("PATH=/b", NULL, NULL);
    host[0] = host[1] = (struct host){(char *)"h", 2};
    hosts = (struct hosts){.host = host, .count = 2};
    hosts_given = &hosts;
    apps[0] = (struct app){.count = 3, .argv = words_p};
    apps[1] = (struct app){.count = 2, .argv = words_q};
    apps[2] = (struct app){.count = 1, .argv = words_p};
    options = (struct options){.apps = apps, .napps = 1, .pes = 3, .quiet = true, .hosts = "--host"};
    layer_there = (struct layer){0};
    *settings = *looked = 0;
    real = NULL;
    no_layer = has_pmix = false;
}

static void hand(void)
{
    running = held = nowned = 0;
    if (setjmp(left) == 0)
        handover(&options, &hosts);
}

static void hands_over(const char *wanted)
{
    hand();
    happens(wanted);
    CHECK(running == 0);
}

#define FAILED(name) name ": Argument list too long\nexit 126\n"
/* The line of the launcher, which cannot be started then. */
#define SAYS(path, words) hands_over(path " " words "\noshrun: " FAILED(path))
#define OPEN(words) SAYS("/b/mpirun", words)
#define SRUN_SAYS(words) SAYS("/b/srun", words)
#define RUN_OPEN "--bind-to none --quiet --host slice:0+3 -n 3 p x y"

static void choosing(void)
{
    static const struct tool all[] = {{"/b/mpiexec.hydra", "HYDRA", 0},
                                      {"/b/mpirun", OMPI4, 0},
                                      {"/b/prterun", "", 0},
                                      {0}},
                             odd[] = {{"/b/mpiexec.hydra", "HYDRA", 0}, {"/b/mpirun", "what?", 0}, {0}},
                             none[] = {{"/b/mpirun", "what?", 0}, {"/b/srun", "slurm", 0}, {0}},
                             both[] = {{"/b/srun", "slurm", "pmi2"}, {"/b/mpirun", OMPI4, 0}, {0}};
#define NONE                                                                                                        \
    ": no launcher for other hosts in PATH; install Open MPI or PRRTE (mpirun, prterun) or MPICH (mpiexec.hydra), " \
    "or run it in a Slurm allocation\nexit 127\n"
    begin(all);
    SAYS("/b/prterun", "--bind-to none --map-by slot --host slice:0+3 -n 3 p x y");
    begin(odd);
    SAYS("/b/mpiexec.hydra", "-hosts all:slots -bind-to none -n 3 p x y");
    begin(none);
    hands_over("oshrun: --host" NONE);
    CHECK(strcmp(looked, "/b/prterun /b/mpirun /b/mpiexec.hydra ") == 0);
    options.hosts = NULL;
    hands_over("oshrun: this Slurm allocation has several nodes" NONE);
    begin(both);
    OPEN(RUN_OPEN);
    hosts.slurm = true;
    SRUN_SAYS("--mpi=pmi2 --kill-on-bad-exit=1 --input=0 --distribution=block --overcommit --ntasks=3 --nodes=2 "
              "--nodelist=all --quiet p x y");
    begin(open_mpi);
    hosts.slurm = true; /* without srun */
    OPEN(RUN_OPEN);
    begin(all);
    has("PATH=/b", "LATERAL_LAUNCHER=", NULL);
    SAYS("/b/prterun", "--bind-to none --map-by slot --host slice:0+3 -x LATERAL_LAUNCHER -n 3 p x y");
    has("PATH=/b", "LATERAL_LAUNCHER=mpiexec.hydra", NULL);
    SAYS("/b/mpiexec.hydra", "-hosts all:slots -bind-to none -n 3 p x y");
    has("PATH=/b", "LATERAL_LAUNCHER=srun", NULL);
    hands_over("oshrun: LATERAL_LAUNCHER=srun: no launcher that is known here (srun, prterun, mpirun, mpiexec.hydra)\n"
               "exit 127\n");
}

static void announcing(void)
{
    static const struct tool number[] = {{"/b/prterun", "3.0\n", NULL}, {0}};
    begin(open_mpi);
    options.quiet = false;
    hands_over("oshrun: several hosts: handing over to /b/mpirun (mpirun (Open MPI) 4.1.4)\n"
               "/b/mpirun --bind-to none --host slice:0+3 -n 3 p x y\noshrun: " FAILED("/b/mpirun"));
    begin(hydra);
    options.quiet = false;
    hands_over("oshrun: several hosts: handing over to /b/mpirun (Hydra)\n"
               "/b/mpirun -hosts all:slots -bind-to none -n 3 p x y\noshrun: " FAILED("/b/mpirun"));
    begin(number);
    options.quiet = false;
    hands_over("oshrun: several hosts: handing over to /b/prterun\n"
               "/b/prterun --bind-to none --map-by slot --host slice:0+3 -n 3 p x y\noshrun: " FAILED("/b/prterun"));
}

static void refusing(void)
{
    begin(open_mpi);
    options.deadlock = 1e-9;
    hands_over("--deadlock: a host sees its own PEs alone; on several hosts use --timeout\n");
    options.race = true;
    hands_over("--check=race: races are looked for among PEs of one node; start the job on one host\n");
    options.debug = "0";
    hands_over("--debug: debuggers attach to PEs of this machine alone; start the job on one host\n");
    begin(open_mpi);
    no_layer = true;
    hands_over("drop layer\nexit 1\n");
    begin(hydra);
    options.stamp = true;
    hands_over("--timestamp-output: mpiexec.hydra has no such option\n");
    options.stamp = false;
    options.input = 1;
    hands_over("--stdin: mpiexec.hydra has no such option\n");
    options.input = OPTIONS_INPUT_ALL;
    hands_over("--stdin: mpiexec.hydra has no such option\n");
    begin(slurm);
    hosts.slurm = options.stamp = true;
    hands_over("--timestamp-output: srun has no such option\n");
    CHECK(!*looked || strcmp(looked, "/b/srun ") == 0);
}

static void limiting(void)
{
    begin(open_mpi);
    options.timeout = 90;
    hands_over("timeout --foreground --kill-after=5 90 /b/mpirun " RUN_OPEN "\noshrun: " FAILED("timeout"));
    options.timeout = 0.5;
    hands_over("timeout --foreground --kill-after=5 0.5 /b/mpirun " RUN_OPEN "\noshrun: " FAILED("timeout"));
}

#include "handing_words.h"

/* ---- no memory ---- */

/* The line takes this many requests of memory; each in turn fails. */
static void starving(void (*prepare)(void), int requests)
{
    for (int i = 0; i < requests; i++) {
        prepare();
        memory_left = i;
        hand();
        happens("out of memory\n");
        CHECK(memory_left == -1);
    }
    prepare();
    memory_left = requests;
    hand();
    CHECK(strstr(happened, ": Argument list too long\nexit 126\n") && memory_left == 0);
    memory_left = -1;
    *happened = 0;
}

static void long_line(void)
{
    begin(prrte);
    has("PATH=/a:/b", "LATERAL_X=1", NULL);
    options.timeout = 1;
}

static void wished(void)
{
    begin(hydra);
    has("PATH=/a", "LATERAL_LAUNCHER=/b/mpirun", NULL);
}

static void programs(void)
{
    begin(slurm);
    hosts.slurm = true;
    options.napps = 2;
}

static void without_memory(void)
{
    starving(long_line, 42); /* 2 paths of prterun and 2 of mpirun, its version in 2 requests, 18 words in 2 each */
    starving(wished, 23);    /* its path, its version, 10 words */
    starving(programs, 41);  /* its path, its version and its plugins, the file in 2, 17 words */
}

int main(void)
{
    static void (*const tests[])(void) = {finding, recognising,    choosing, announcing,     refusing, limiting,
                                          opening, speaking_hydra, slurming, without_memory, numbers};
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
