#include "options.h"

#include "base/clock.h"
#include "base/meant.h"
#include "cores.h"
#include "message.h"
#include "rte/node.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB "LATERAL_JOB"

enum option_id {
    COUNT,
    PER_NODE,
    BIND,
    EXPORT,
    OUTPUT,
    OUT_NAME,
    INPUT,
    TIMEOUT,
    DEADLOCK,
    STATUS,
    WDIR,
    CHECK,
    TRACE,
    DEBUG,
    HOST,
    HOSTFILE,
    PLACE,
    VERSION,
    HELP,
    NOTHING,
    FLAG /* and the offset of a truth value in struct options */
};

#define VALUE_BEHIND_SIGN (-1) /* a value may follow "=" */

/* Every name works with one dash or two; its value is the next word or follows "=". */
static const struct option_row {
    const char *name;
    size_t id;
    int values; /* number of words that follow */
} rows[] = {
    {"n", COUNT, 1},
    {"np", COUNT, 1},
    {"ntasks", COUNT, 1},
    {"N", PER_NODE, 1},
    {"npernode", PER_NODE, 1},
    {"ppn", PER_NODE, 1},
    {"ntasks-per-node", PER_NODE, 1},
    {"bind-to", BIND, 1},
    {"x", EXPORT, 1},
    {"tag-output", FLAG + offsetof(struct options, tag), 0},
    {"label", FLAG + offsetof(struct options, tag), 0},
    {"l", FLAG + offsetof(struct options, tag), 0},
    {"output", OUTPUT, 1},
    {"timestamp-output", FLAG + offsetof(struct options, stamp), 0},
    {"output-filename", OUT_NAME, 1},
    {"stdin", INPUT, 1},
    {"get-stack-traces", FLAG + offsetof(struct options, stacks), 0},
    {"timeout", TIMEOUT, 1},
    {"deadlock", DEADLOCK, 1},
    {"status", STATUS, 1},
    {"wdir", WDIR, 1},
    {"wd", WDIR, 1},
    {"check", CHECK, VALUE_BEHIND_SIGN},
    {"stats", FLAG + offsetof(struct options, stats), 0},
    {"trace", TRACE, 1},
    {"debug", DEBUG, 1},
    {"quiet", FLAG + offsetof(struct options, quiet), 0},
    {"q", FLAG + offsetof(struct options, quiet), 0},
    {"host", HOST, 1},
    {"H", HOST, 1},
    {"hostfile", HOSTFILE, 1},
    {"machinefile", HOSTFILE, 1},
    {"f", HOSTFILE, 1},
    {"version", VERSION, 0},
    {"V", VERSION, 0},
    {"help", HELP, 0},
    {"h", HELP, 0},
    /* Options that place PEs. On one machine no program can see a difference. */
    {"map-by", PLACE, 1},
    {"rank-by", PLACE, 1},
    {"oversubscribe", FLAG + offsetof(struct options, oversubscribe), 0},
    {"allow-run-as-root", FLAG + offsetof(struct options, root), 0}, /* Open MPI and PRRTE need it: delegate.c */
    /* Other launchers need these options for things that always hold here, or use them to tune parts that do not exist
     * here. An option that would change the job must not be in this list. */
    {"mca", NOTHING, 2},
    {"gmca", NOTHING, 2},
    {"omca", NOTHING, 2},
    {"prtemca", NOTHING, 2},
    {"pmixmca", NOTHING, 2},
    {"cpu-bind", NOTHING, 1},
    {"mpi", NOTHING, 1},
    {"prefix", NOTHING, 1},
    {"use-hwthread-cpus", NOTHING, 0},
    {"report-bindings", NOTHING, 0},
    {"display-map", NOTHING, 0},
    {"display-allocation", NOTHING, 0},
    {"unbuffered", NOTHING, 0},
    {"verbose", NOTHING, 0},
    {"v", NOTHING, 0},
};

/* The reader's position in the words of the line. */
struct reader {
    char **words;
    int at, count;
};

static const struct option_row *row_of(const char *word, size_t bytes)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == bytes && memcmp(rows[i].name, word, bytes) == 0)
            return &rows[i];
    return NULL;
}

static uint32_t read_count(const char *option, const char *text)
{
    char *end;
    errno = 0;
    long count = strtol(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || count < 1 || count > NODE_MAX_PES)
        say_usage("%s %s: expected a number of PEs from 1 to %d", option, text, NODE_MAX_PES);
    return (uint32_t)count;
}

static double read_seconds(const char *option, const char *text)
{
    double seconds;
    if (!clock_read_seconds(text, &seconds) || seconds == 0)
        say_usage("%s %s: expected a time above 0, such as 90, 90s, 1.5m or 2h", option, text);
    return seconds;
}

static pid_t read_pid(const char *option, const char *text)
{
    char *end;
    long pid = strtol(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || pid < 1 || pid > INT32_MAX)
        say_usage("%s %s: expected the number of a process", option, text);
    return (pid_t)pid;
}

/* Returns true for binding to a core. Accepts Open MPI's names; for anything wider than a core the kernel places the
 * PE. Text after ":" tells Open MPI how to treat too few cores; here PEs always share them. */
static bool read_binding(const char *option, const char *text)
{
    static const char *const names[] = {"core",    "hwthread", "none",    "socket", "package",
                                        "l1cache", "l2cache",  "l3cache", "numa",   "board"};
    size_t bytes = strcspn(text, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == bytes && memcmp(names[i], text, bytes) == 0)
            return i < 2;
    say_usage("%s %s: expected core or none", option, text);
}

static void read_export(struct app *app, const char *option, const char *text)
{
    size_t name = strcspn(text, "=");
    if (!(isalpha((unsigned char)text[0]) || text[0] == '_') || memchr(text, '/', name))
        say_usage("%s %s: expected VAR or VAR=VALUE", option, text);
    if (name == strlen(JOB) && memcmp(text, JOB, name) == 0)
        say_usage("%s %s: oshrun itself sets " JOB " for each PE", option, text);
    app->exports = say_if_null(realloc(app->exports, (app->nexports + 1) * sizeof *app->exports));
    app->exports[app->nexports++] = text;
}

/* Reads what PRRTE calls its ways of output. */
static void read_output(struct options *options, const char *option, const char *text)
{
    if (strcmp(text, "tag") == 0)
        options->tag = true;
    else if (strcmp(text, "timestamp") == 0)
        options->stamp = true;
    else if (strncmp(text, "file=", 5) == 0 && text[5])
        options->out_name = text + 5;
    else
        say_usage("%s %s: expected tag, timestamp or file=NAME", option, text);
}

static const char *read_name(const char *option, const char *text)
{
    if (!*text || text[strlen(text) - 1] == '/')
        say_usage("%s %s: expected the name of a file", option, text);
    return text;
}

static int64_t read_input(const char *option, const char *text)
{
    char *end;
    long pe = strtol(text, &end, 10);
    if (strcmp(text, "all") == 0)
        return OPTIONS_INPUT_ALL;
    if (strcmp(text, "none") == 0)
        return OPTIONS_INPUT_NONE;
    if (!isdigit((unsigned char)text[0]) || *end || pe >= NODE_MAX_PES)
        say_usage("%s %s: expected the number of a PE, all or none", option, text);
    return pe;
}

static _Noreturn void print_and_exit(const char *text)
{
    bool good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    exit(good ? 0 : STATUS_FAILED);
}

static void read_check(struct options *options, const char *option, const char *what)
{
    if (what && strcmp(what, "race") != 0)
        say_usage("%s=%s: expected race, or no value", option, what);
    *(what ? &options->race : &options->check) = true;
}

static void read_hosts(struct options *options, bool file, const char *option, const char *text)
{
    if (options->hosts)
        say_usage("%s: %s has named the hosts already", option, options->hosts);
    options->hosts = option;
    *(file ? &options->host_file : &options->host_list) = text;
}

static void apply_option(struct options *options, struct app *app, const struct option_row *row, const char *option,
                         const char *value)
{
    switch (row->id) {
    case COUNT: app->count = read_count(option, value); break;
    case PLACE: options->placing = option; break;
    case PER_NODE:
        app->per_node = read_count(option, value);
        options->placing = option;
        break;
    case BIND: options->bind_cores = read_binding(option, value); break;
    case EXPORT: read_export(app, option, value); break;
    case OUTPUT: read_output(options, option, value); break;
    case OUT_NAME: options->out_name = read_name(option, value); break;
    case INPUT: options->input = read_input(option, value); break;
    case TIMEOUT: options->timeout = read_seconds(option, value); break;
    case DEADLOCK: options->deadlock = read_seconds(option, value); break;
    case STATUS: exit(status_print(read_pid(option, value)));
    case WDIR: app->wdir = value; break;
    case CHECK: read_check(options, option, value); break;
    case TRACE: options->trace = read_name(option, value); break;
    case DEBUG: options->debug = value; break;
    case HOST: read_hosts(options, false, option, value); break;
    case HOSTFILE: read_hosts(options, true, option, value); break;
    case VERSION: print_and_exit("oshrun (Lateral) " LATERAL_VERSION "\n");
    case HELP: print_and_exit(options_help);
    case NOTHING: break;
    default: *(bool *)((char *)options + row->id - FLAG) = true; break;
    }
}

/* Returns the value of an option: the text after its "=", or the next word. When two words follow, returns the
 * first. */
static const char *read_value(struct reader *in, const struct option_row *row, const char *option, const char *given)
{
    if (row->values == VALUE_BEHIND_SIGN)
        return given;
    if (given && row->values != 1)
        say_usage(row->values ? "%s takes two words" : "%s takes no value", option);
    if (given || !row->values)
        return given;
    if (in->count - in->at < row->values)
        say_usage(row->values == 1 ? "%s needs a value" : "%s needs two words", option);
    in->at += row->values;
    return in->words[in->at - row->values];
}

/* Returns the name of the option that a misspelt one means, or null. */
static const char *meant_option(const char *name, size_t bytes)
{
    const char *nearest = NULL;
    unsigned most = meant_mistakes(bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned mistakes = meant_distance(rows[i].name, strlen(rows[i].name), name, bytes);
        if (mistakes > most || strlen(rows[i].name) < 3)
            continue;
        nearest = rows[i].name;
        most = mistakes ? mistakes - 1 : 0;
    }
    return nearest;
}

static _Noreturn void refuse_option(const char *word, const char *name, size_t bytes)
{
    const char *meant = meant_option(name, bytes);
    if (meant)
        say_usage("unknown option %s; did you mean --%s?", word, meant);
    say_usage("unknown option %s", word);
}

/* Returns the row of a number that follows its option without a blank, such as -n2, and sets *number; else null. */
static const struct option_row *row_of_number(const char *word, const char **number)
{
    size_t letters = strcspn(word + 1, "0123456789");
    const struct option_row *row = row_of(word + 1, letters);
    *number = word + 1 + letters;
    return row && **number && (row->id == COUNT || row->id == PER_NODE) ? row : NULL;
}

/* Reads the option at the reader, with its value. */
static void read_option(struct options *options, struct app *app, struct reader *in)
{
    char *word = in->words[in->at++];
    char *name = word + (word[1] == '-' ? 2 : 1);
    size_t bytes = strcspn(name, "=");
    const char *given = name[bytes] ? name + bytes + 1 : NULL;
    const struct option_row *row = row_of(name, bytes);
    if (!row && (row = row_of_number(word, &given))) {
        apply_option(options, app, row, row->id == COUNT ? "-n" : "-N", given);
        return;
    }
    if (!row)
        refuse_option(word, name, bytes);
    name[bytes] = 0; /* messages name the option without its value */
    apply_option(options, app, row, word, read_value(in, row, word, given));
}

/* Reads one program: options, then the program and its arguments up to ":" or the end. */
static void read_app(struct options *options, struct app *app, struct reader *in)
{
    while (in->at < in->count && in->words[in->at][0] == '-' && in->words[in->at][1]) {
        if (strcmp(in->words[in->at], "--") == 0) {
            in->at++;
            break;
        }
        read_option(options, app, in);
    }
    app->argv = in->words + in->at;
    while (in->at < in->count && strcmp(in->words[in->at], ":") != 0)
        in->at++;
    if (app->argv == in->words + in->at || !app->argv[0][0])
        say_usage("no program given");
}

static void settle_counts(struct options *options)
{
    uint64_t pes = 0;
    for (size_t i = 0; i < options->napps; i++) {
        struct app *app = &options->apps[i];
        if (!app->count)
            app->count = app->per_node;
        app->counted = app->count != 0;
        if (!app->count && options->napps > 1)
            say_usage("-n is missing before %s: each part of a line with \":\" needs it", app->argv[0]);
        if (!app->count)
            app->count = options->cpus;
        pes += app->count;
    }
    if (pes > NODE_MAX_PES)
        say_usage("%llu PEs: at most %d are possible", (unsigned long long)pes, NODE_MAX_PES);
    options->pes = (uint32_t)pes;
}

/* Variables stand for options that are not given, as in jobs that another launcher starts. */
static void settle_limits(struct options *options)
{
    const char *timeout = getenv("LATERAL_TIMEOUT"), *deadlock = getenv("LATERAL_DEADLOCK");
    if (!options->timeout && timeout && *timeout && strcmp(timeout, "0") != 0)
        options->timeout = read_seconds("LATERAL_TIMEOUT", timeout);
    if (!options->deadlock && deadlock && *deadlock && strcmp(deadlock, "0") != 0)
        options->deadlock = read_seconds("LATERAL_DEADLOCK", deadlock);
}

void options_read(struct options *options, int argc, char **argv)
{
    struct reader in = {argv, 1, argc};
    *options = (struct options){.cpus = cores_allowed()};
    do {
        size_t bytes = (options->napps + 1) * sizeof *options->apps;
        options->apps = say_if_null(realloc(options->apps, bytes));
        struct app *app = &options->apps[options->napps++];
        *app = (struct app){0};
        read_app(options, app, &in);
        in.words[in.at] = NULL; /* ends this program's arguments, in place of ":" */
    } while (in.at++ < in.count);
    settle_counts(options);
    settle_limits(options);
    if (options->out_name && options->stamp)
        say_usage("--timestamp-output marks lines that pass through oshrun; with --output-filename none does");
}

/* Finds out which PEs wait for a debugger: a list of numbers, or all. */
static void read_debug(struct options *options)
{
    const char *list = options->debug, *all = strcmp(list, "all") == 0 ? "0-" : "";
    char text[16];
    struct set *pes = &options->debugged;
    *pes = set_make(options->pes);
    snprintf(text, sizeof text, "%s%u", all, options->pes - 1);
    if (!set_read(pes, *all ? text : list) || (!pes->count && !pes->beyond) || strchr(list, '.'))
        say_usage("--debug %s: expected PEs such as 1,3 or 0-2, or all", list);
    if (pes->beyond)
        say_usage("--debug %s: this job has the PEs 0 to %u", list, options->pes - 1);
}

void options_settle(struct options *options)
{
    if (options->debug)
        read_debug(options);
    if (options->input >= (int64_t)options->pes)
        say_usage("--stdin %lld: this job has the PEs 0 to %u", (long long)options->input, options->pes - 1);
}
