#include "options.h"

#include "cores.h"
#include "message.h"
#include "rte/node.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id { COUNT, BIND, EXPORT, TAG, TIMEOUT, WDIR, CHECK, QUIET, HOST, HOSTFILE, VERSION, HELP, NOTHING };

/* Every name works with one dash and with two, its value as the next word or after "=". */
static const struct option_row {
    const char *name;
    enum option_id id;
    bool valued;
} rows[] = {
    {"n", COUNT, true},
    {"np", COUNT, true},
    {"bind-to", BIND, true},
    {"x", EXPORT, true},
    {"tag-output", TAG, false},
    {"timeout", TIMEOUT, true},
    {"wdir", WDIR, true},
    {"wd", WDIR, true},
    {"check", CHECK, false},
    {"quiet", QUIET, false},
    {"q", QUIET, false},
    {"host", HOST, true},
    {"H", HOST, true},
    {"hostfile", HOSTFILE, true},
    {"machinefile", HOSTFILE, true},
    {"version", VERSION, false},
    {"V", VERSION, false},
    {"help", HELP, false},
    {"h", HELP, false},
    /* Other launchers need these for what is always allowed here. */
    {"oversubscribe", NOTHING, false},
    {"allow-run-as-root", NOTHING, false},
};

/* Where reading stands in the words of the line. */
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
    char *end;
    double seconds = strtod(text, &end);
    bool plain = isdigit((unsigned char)text[0]) || text[0] == '.';
    if (!plain || *end || !(seconds > 0 && seconds <= 1e9))
        say_usage("%s %s: expected a number of seconds above 0", option, text);
    return seconds;
}

static bool read_binding(const char *option, const char *text)
{
    if (strcmp(text, "core") != 0 && strcmp(text, "none") != 0)
        say_usage("%s %s: expected core or none", option, text);
    return strcmp(text, "core") == 0;
}

static void read_export(struct app *app, const char *option, const char *text)
{
    size_t name = strcspn(text, "=");
    if (!(isalpha((unsigned char)text[0]) || text[0] == '_') || memchr(text, '/', name))
        say_usage("%s %s: expected VAR or VAR=VALUE", option, text);
    app->exports = say_if_null(realloc(app->exports, (app->nexports + 1) * sizeof *app->exports));
    app->exports[app->nexports++] = text;
}

static _Noreturn void print_and_exit(const char *text)
{
    bool good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    exit(good ? 0 : STATUS_FAILED);
}

static void read_hosts(struct options *options, bool file, const char *option, const char *text)
{
    if (options->hosts)
        say_usage("%s: %s has named the hosts already", option, options->hosts);
    options->hosts = option;
    *(file ? &options->host_file : &options->host_list) = text;
}

static void apply(struct options *options, struct app *app, enum option_id id, const char *option, const char *value)
{
    switch (id) {
    case COUNT: app->count = read_count(option, value); break;
    case BIND: options->bind_cores = read_binding(option, value); break;
    case EXPORT: read_export(app, option, value); break;
    case TAG: options->tag = true; break;
    case TIMEOUT: options->timeout = read_seconds(option, value); break;
    case WDIR: app->wdir = value; break;
    case CHECK: options->check = true; break;
    case QUIET: options->quiet = true; break;
    case HOST: read_hosts(options, false, option, value); break;
    case HOSTFILE: read_hosts(options, true, option, value); break;
    case VERSION: print_and_exit("oshrun (Lateral) " LATERAL_VERSION "\n");
    case HELP: print_and_exit(options_help);
    case NOTHING: break;
    }
}

/* The option at the reader, with its value. */
static void read_option(struct options *options, struct app *app, struct reader *in)
{
    char *word = in->words[in->at++];
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t bytes = strcspn(name, "=");
    const struct option_row *row = row_of(name, bytes);
    if (!row)
        say_usage("unknown option %s", word);
    const char *value = NULL;
    if (name[bytes] == '=') {
        value = name + bytes + 1;
        word[name - word + bytes] = 0; /* messages name the option alone */
        if (!row->valued)
            say_usage("%s takes no value", word);
    } else if (row->valued) {
        if (in->at == in->count)
            say_usage("%s needs a value", word);
        value = in->words[in->at++];
    }
    apply(options, app, row->id, word, value);
}

/* One program: options, then the program and its arguments up to ":" or the end. */
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
}

void options_keep_arguments(struct options *options)
{
    for (size_t i = 0; i < options->napps; i++) {
        struct app *app = &options->apps[i];
        size_t count = 0;
        while (app->argv[count])
            count++;
        char **copy = say_if_null(calloc(count + 1, sizeof *copy));
        for (size_t a = 0; a < count; a++)
            copy[a] = say_if_null(strdup(app->argv[a]));
        app->argv = copy;
        if (app->wdir)
            app->wdir = say_if_null(strdup(app->wdir));
        for (size_t x = 0; x < app->nexports; x++)
            app->exports[x] = say_if_null(strdup(app->exports[x]));
    }
}
