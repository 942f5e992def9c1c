#include "hosts.h"

#include "base/clock.h"
#include "base/tool.h"
#include "environment.h"
#include "message.h"
#include "needed.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Starts the launcher that can reach the hosts of the job, and translates our options for it.
 *
 * Options of one program of the line (-x, the checking layer, --wdir under srun) become an env(1) in front of that
 * program, because env means the same to every launcher. oshrun
 * itself stays in front of the launcher (front.c). */
extern char **environ;

#define TOOL_MS 20000 /* for a launcher to tell its version */

enum family { SRUN, PRRTE, OPEN_MPI, HYDRA };

struct launcher {
    enum family family;
    char *path;
    char version[64]; /* the first line of its --version */
};

struct words {
    char **word;
    size_t count;
};

/* Takes the word. */
static void append_word(struct words *words, char *word)
{
    words->word = say_if_null(realloc(words->word, (words->count + 2) * sizeof *words->word));
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

static void add_word(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct words *words, const char *format, ...)
{
    va_list arguments;
    char *word;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0)
        say_if_null(NULL);
    va_end(arguments);
    append_word(words, word);
}

/* Adds an option and its value, a word each. */
static void add_pair(struct words *words, const char *option, const char *value)
{
    append_word(words, say_if_null(strdup(option)));
    append_word(words, say_if_null(strdup(value)));
}

static void free_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
}

/* ---- choosing the launcher ---- */

/* Returns what the command prints, empty when it cannot be run. */
static const char *output_of(const char *name, const char *argument)
{
    static char text[1u << 16];
    int ms = TOOL_MS;
    char *const words[] = {"/bin/sh", "-c", "exec \"$0\" \"$1\" 2>&1", (char *)name, (char *)argument, NULL};
    char *const *const commands[] = {words, NULL};
    tool_run(commands, &ms, text, sizeof text);
    return text;
}

/* Returns false when there is no such launcher. Several launchers are named mpirun; their --version tells them
 * apart. */
static bool recognise_launcher(struct launcher *launcher, const char *name)
{
    if (program_search(AT_FDCWD, name, &launcher->path) != 0)
        return false;
    const char *text = output_of(launcher->path, "--version");
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    launcher->family = strcmp(base, "srun") == 0      ? SRUN
                       : strcmp(base, "prterun") == 0 ? PRRTE
                       : strstr(text, "(Open MPI) 4") ? OPEN_MPI
                       : strstr(text, "(OpenRTE)")    ? OPEN_MPI /* by another name, such as mpirun.openmpi */
                       : strstr(text, "(Open MPI)")   ? PRRTE
                       : strstr(text, "PRRTE")        ? PRRTE
                                                      : HYDRA;
    bool known = launcher->family != HYDRA || strstr(text, "HYDRA") || strstr(text, "Intel");
    snprintf(launcher->version, sizeof launcher->version, "%.*s", (int)strcspn(text, "\n"), text);
    return known;
}

static struct launcher choose_launcher(const struct options *options, const struct hosts *hosts)
{
    static const char *const usual[] = {"prterun", "mpirun", "mpiexec.hydra"};
    struct launcher launcher;
    const char *wish = getenv("LATERAL_LAUNCHER");
    if (wish && *wish) {
        if (recognise_launcher(&launcher, wish))
            return launcher;
        say("LATERAL_LAUNCHER=%s: no launcher that is known here (srun, prterun, mpirun, mpiexec.hydra)", wish);
        exit(STATUS_NOT_FOUND);
    }
    if (hosts->slurm && recognise_launcher(&launcher, "srun"))
        return launcher;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (recognise_launcher(&launcher, usual[i]))
            return launcher;
    say("%s: no launcher for other hosts in PATH; install Open MPI or PRRTE (mpirun, prterun) or MPICH "
        "(mpiexec.hydra), or run it in a Slurm allocation",
        options->hosts ? options->hosts : "this Slurm allocation has several nodes");
    exit(STATUS_NOT_FOUND);
}

/* ---- our options in the launcher's words ---- */

static bool is_ours(const char *entry)
{
    static const char *const fronts[] = {"SHMEM_", "SMA_", "LATERAL_", "UCX_", "FI_"};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(entry, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return false;
}

/* Open MPI's family passes no variables on by itself; the others pass all. */
static void pass_variables(struct words *words)
{
    for (char **entry = environ; *entry; entry++) {
        if (!is_ours(*entry))
            continue;
        add_word(words, "-x");
        add_word(words, "%.*s", (int)strcspn(*entry, "="), *entry);
    }
}

static void add_exports(struct words *words, const struct app *app)
{
    for (size_t i = 0; i < app->nexports; i++) {
        const char *text = app->exports[i], *value = getenv(text);
        if (strchr(text, '='))
            add_word(words, "%s", text);
        else if (value)
            add_word(words, "%s=%s", text, value);
        else
            say("-x %s: not set in the environment of oshrun, so not passed on", text);
    }
}

/* Adds the program, behind env(1) when there is something to set. */
static void add_program(struct words *words, const struct app *app, const struct layer *layer, bool go_there)
{
    struct words env = {0};
    add_word(&env, "env");
    if (go_there && app->wdir)
        add_word(&env, "--chdir=%s", app->wdir);
    add_exports(&env, app);
    for (char *const *setting = layer->settings; *setting; setting++)
        add_word(&env, "%s", *setting);
    if (layer->library)
        add_word(&env, "LD_PRELOAD=%s", layer->library);
    for (size_t i = 0; env.count > 1 && i < env.count; i++)
        add_word(words, "%s", env.word[i]);
    free_words(&env);
    for (char **word = app->argv; *word; word++)
        add_word(words, "%s", *word);
}

static bool enough_slots(const struct options *options, const struct hosts *hosts)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < hosts->count; i++)
        slots += hosts->host[i].slots;
    return slots >= options->pes;
}

/* Writes which PEs read standard input. */
static const char *input_name(const struct options *options)
{
    static char number[16];
    snprintf(number, sizeof number, "%d", (int)options->input);
    return options->input >= 0 ? number : options->input == OPTIONS_INPUT_ALL ? "all" : "none";
}

/* Says of an option that the launcher has nothing like it. */
static void refuse_where(bool given, const char *option, const char *launcher)
{
    if (given)
        say_usage("%s: %s has no such option", option, launcher);
}

/* Adds the programs, which ":" separates. PRRTE would begin at the first host for each program, so each gets its own share of the
 * slots. */
static void add_programs(struct words *words, const struct options *options, const struct hosts *hosts, bool hydra,
                         const struct layer *layer)
{
    const bool crowded = !enough_slots(options, hosts);
    uint32_t first = 0;
    char count[16];
    for (size_t i = 0; i < options->napps; i++) {
        const struct app *app = &options->apps[i];
        if (i)
            add_word(words, ":");
        if (!hydra && hosts->count) {
            add_word(words, "--host");
            append_word(words, crowded ? hosts_list(hosts, true) : hosts_slice(hosts, first, app->count));
        }
        first += app->count;
        if (!hydra)
            pass_variables(words);
        if (app->wdir)
            add_pair(words, hydra ? "-wdir" : "--wdir", app->wdir);
        snprintf(count, sizeof count, "%u", app->count);
        add_pair(words, "-n", count);
        add_program(words, app, layer, false);
    }
}

/* Speaks to Open MPI (old), or to PRRTE. */
static void speak_open(struct words *words, const struct options *options, const struct hosts *hosts, bool old)
{
    const bool crowded = !enough_slots(options, hosts);
    if (options->root)
        add_word(words, "--allow-run-as-root");
    add_pair(words, "--bind-to", options->bind_cores ? "core" : "none");
    if (old && crowded)
        add_word(words, "--oversubscribe");
    if (old && options->quiet)
        add_word(words, "--quiet");
    if (!old)
        add_pair(words, "--map-by", crowded ? "slot:OVERSUBSCRIBE" : "slot");
    if (options->tag)
        add_word(words, "%s", old ? "--tag-output" : "--output=tag");
    if (options->stamp)
        add_word(words, "%s", old ? "--timestamp-output" : "--output=timestamp");
    if (options->out_name) {
        add_word(words, "%s", old ? "--output-filename" : "--output");
        add_word(words, "%s%s", old ? "" : "file=", options->out_name);
    }
    if (options->input != 0) /* which is every launcher's own choice */
        add_pair(words, "--stdin", input_name(options));
}

static void speak_hydra(struct words *words, const struct options *options, const struct hosts *hosts)
{
    if (hosts->count) {
        add_word(words, "-hosts");
        append_word(words, hosts_list(hosts, true));
    }
    add_pair(words, "-bind-to", options->bind_cores ? "core" : "none");
    if (options->tag)
        add_word(words, "-prepend-rank");
    refuse_where(options->stamp, "--timestamp-output", "mpiexec.hydra");
    if (options->out_name) {
        add_word(words, "-outfile-pattern=%s.%%r", options->out_name);
        add_word(words, "-errfile-pattern=%s.%%r", options->out_name);
    }
    refuse_where(options->input != 0, "--stdin", "mpiexec.hydra");
}

/* Quotes a word for a shell; srun's file of programs follows a shell's rules. */
static void print_quoted(FILE *file, const char *word)
{
    fputs(" '", file);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", file);
        else
            putc(*word, file);
    putc('\'', file);
}

/* srun takes several programs only from a file, with a line of task numbers and words for each. It reads the file
 * before it starts anything, so a file in memory suffices. */
static void add_multi_prog(struct words *words, const struct options *options, const struct layer *layer)
{
    int fd = memfd_create("programs", 0);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    uint32_t first = 0;
    say_if_null(file);
    for (size_t i = 0; i < options->napps; i++) {
        struct words program = {0};
        add_program(&program, &options->apps[i], layer, true);
        fprintf(file, "%u-%u", first, first + options->apps[i].count - 1);
        for (size_t w = 0; w < program.count; w++)
            print_quoted(file, program.word[w]);
        putc('\n', file);
        free_words(&program);
        first += options->apps[i].count;
    }
    fflush(file);
    add_word(words, "--multi-prog");
    add_word(words, "/proc/self/fd/%d", fd);
}

static void speak_slurm(struct words *words, const struct options *options, const struct hosts *hosts, const char *srun,
                        const struct layer *layer)
{
    /* PMIx needs a plugin of srun and a module of ours; the plugin for PMI-2 needs no module. */
    const bool pmix = strstr(output_of(srun, "--mpi=list"), "pmix") && environment_has_module("pmix");
    add_word(words, "--mpi=%s", pmix ? "pmix" : "pmi2");
    add_word(words, "--kill-on-bad-exit=1");
    add_word(words, "--input=%s", input_name(options));
    refuse_where(options->stamp, "--timestamp-output", "srun");
    if (options->out_name)
        add_word(words, "--output=%s.%%t", options->out_name);
    if (options->bind_cores)
        add_word(words, "--cpu-bind=cores");
    add_word(words, "--distribution=block");
    add_word(words, "--overcommit");
    add_word(words, "--ntasks=%u", options->pes);
    if (hosts->count) {
        char *names = hosts_list(hosts, false);
        add_word(words, "--nodes=%zu", hosts->count);
        add_word(words, "--nodelist=%s", names);
        free(names);
    }
    if (options->tag)
        add_word(words, "--label");
    if (options->quiet)
        add_word(words, "--quiet");
    if (options->napps > 1)
        add_multi_prog(words, options, layer);
    else
        add_program(words, &options->apps[0], layer, true);
}

static void set_number(const char *front, const char *name, int number)
{
    char variable[64], value[16];
    snprintf(variable, sizeof variable, "%soob_tcp_keepalive_%s", front, name);
    snprintf(value, sizeof value, "%d", number);
    setenv(variable, value, 0);
}

/* Open MPI and PRRTE take many minutes to notice that a host is gone, and never notice after they have sent it the
 * message that the job ends. So this sets their keepalive to notice soon after the PEs do (LATERAL_PEER_TIMEOUT). The
 * PEs wait for that before they abort. */
static void set_patience(void)
{
    static const char *const fronts[] = {"OMPI_MCA_", "PRTE_MCA_"};
    const char *text = getenv("LATERAL_PEER_TIMEOUT");
    int seconds = text && *text ? atoi(text) : 20;
    struct patience p = patience_after(patience_of(seconds));
    for (size_t i = 0; i < 2 && seconds > 0; i++) {
        set_number(fronts[i], "time", p.idle);
        set_number(fronts[i], "intvl", p.between);
        set_number(fronts[i], "probes", p.probes);
    }
}

/* PyPI's PRRTE finds its own files only when --prefix names their place. */
static void add_prefix(struct words *words, const char *path)
{
    char *real = realpath(path, NULL);
    char *slash = real ? strstr(real, "/bin/prterun") : NULL;
    if (slash && slash > real) {
        *slash = 0;
        add_pair(words, "--prefix", real);
    }
    free(real);
}

/* Names a program that other hosts will hardly find, since each host has folders of these names for itself. */
static void warn_of_place(const struct app *app)
{
    static const char *const fronts[] = {"/tmp/", "/var/tmp/", "/dev/shm/"};
    const char *name = app->argv[0];
    char *path = strchr(name, '/') && (*name == '/' || !app->wdir) ? realpath(name, NULL) : NULL;
    for (size_t i = 0; path && i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(path, fronts[i], strlen(fronts[i])) == 0)
            say("%s lies in %.*s, which each host has for itself: where it is missing, put it into a folder that all hosts share",
                path, (int)strlen(fronts[i]) - 1, fronts[i]);
    free(path);
}

static void announce_launcher(const struct options *options, const struct launcher *launcher)
{
    const char *version = launcher->family == HYDRA ? "Hydra" : launcher->version;
    if (options->quiet)
        return;
    for (size_t i = 0; i < options->napps; i++)
        warn_of_place(&options->apps[i]);
    if (isalpha((unsigned char)version[0]))
        say("several hosts: handing over to %s (%s)", launcher->path, version);
    else
        say("several hosts: handing over to %s", launcher->path);
}

static void set_seconds(const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%g", seconds);
    setenv(name, text, 1);
}

_Noreturn void delegate(const struct options *options, const struct hosts *hosts)
{
    if (options->debug)
        say_usage("--debug: debuggers attach to PEs of this machine alone; start the job on one host");
    if (options->race)
        say_usage("--check=race: races are looked for among PEs of one node; start the job on one host");
    struct launcher launcher = choose_launcher(options, hosts);
    struct words words = {0};
    struct layer layer;
    if (!environment_choose_layer(options, &layer)) {
        environment_drop_layer(&layer);
        exit(STATUS_FAILED);
    }
    announce_launcher(options, &launcher);
    set_patience();
    front_open("shmem_init or uccs_init");
    if (options->deadlock > 0)
        set_seconds("LATERAL_DEADLOCK", options->deadlock);
    add_word(&words, "%s", launcher.path);
    switch (launcher.family) {
    case SRUN: speak_slurm(&words, options, hosts, launcher.path, &layer); break;
    case PRRTE: add_prefix(&words, launcher.path); __attribute__((fallthrough));
    case OPEN_MPI: speak_open(&words, options, hosts, launcher.family == OPEN_MPI); break;
    case HYDRA: speak_hydra(&words, options, hosts); break;
    }
    if (launcher.family != SRUN)
        add_programs(&words, options, hosts, launcher.family == HYDRA, &layer);
    exit(front_run(words.word, options));
}

/* Open MPI's family passes no variables on but those that it is told of. */
_Noreturn void front_for_mpi(char **words)
{
    struct options options = {0};
    if (!clock_read_seconds(words[0], &options.timeout))
        say_usage("%s %s: expected a time", FRONT_FOR_MPI, words[0]);
    struct launcher launcher;
    say_as("lateral-mpi: ");
    front_open("MPI_Init");
    const bool names =
        recognise_launcher(&launcher, words[1]) && (launcher.family == OPEN_MPI || launcher.family == PRRTE);
    struct words command = {0};
    for (char **word = words + 1; *word; word++) {
        add_word(&command, "%s", *word);
        if (names && (command.count == 1 || strcmp(*word, ":") == 0))
            add_pair(&command, "-x", FRONT_VARIABLE);
    }
    exit(front_run(command.word, &options));
}
