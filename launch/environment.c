#include "environment.h"

#include "message.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOB_BYTES 64 /* "LATERAL_JOB=<int>:<uint32>:<int>" */
#define OF_A_PE 2    /* entries that are each PE's own: LATERAL_JOB and LATERAL_PE */

extern char **environ;

/* Returns the value of a variable that asks for a layer, or NULL. */
static const char *read_wish(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0 ? text : NULL;
}

void environment_take_wishes(struct options *options)
{
    const char *check = read_wish("LATERAL_CHECK");
    if (check && strcmp(check, "race") == 0)
        options->race = true;
    else if (check)
        options->check = true;
    options->stats |= read_wish("LATERAL_STATS") != NULL;
    if (!options->trace)
        options->trace = read_wish("LATERAL_TRACE");
}

/* Returns the path, or NULL after one line when LD_PRELOAD cannot name it: that list is split at blanks and colons and
 * knows no quotes. */
static const char *check_path(const char *option, const char *path)
{
    if (!strpbrk(path, " :"))
        return path;
    say("%s: the dynamic linker cannot preload '%s': a blank or a colon is in its path; "
        "install Lateral where there is none",
        option, path);
    return NULL;
}

/* Returns the path of a file of the library, beside this oshrun, in an installed tree as in a build tree. NULL: there
 * is none. */
static const char *find_library(const char *name)
{
    static const char *const places[] = {LATERAL_LIB_FROM_BIN, "../lib"};
    static char self[PATH_MAX], path[PATH_MAX + 128];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    self[bytes > 0 ? bytes : 0] = 0;
    char *slash = strrchr(self, '/');
    *(slash ? slash : self) = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s/liblateral-%.64s.so", self, places[i], name);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

/* Adds the file of a layer, which lies beside this oshrun, behind those that are there. Returns false after one line when it
 * is missing. */
static bool add_layer(struct layer *layer, const char *option, const char *name)
{
    const char *path = find_library(name);
    char *had = layer->library;
    if (!path)
        say("%s: its layer is not installed: no liblateral-%s.so in %s from oshrun's folder", option, name,
            LATERAL_LIB_FROM_BIN);
    if (!path || !check_path(option, path))
        return false;
    if (asprintf(&layer->library, "%s%s%s", had ? had : "", had ? ":" : "", path) < 0)
        say_if_null(NULL);
    free(had);
    return true;
}

static void add_setting(struct layer *layer, const char *text)
{
    size_t used = 0;
    while (layer->settings[used])
        used++;
    layer->settings[used] = say_if_null(strdup(text));
}

/* Adds the setting of a timeline, whose path is made whole, as PEs may run in another folder. */
static void add_trace(struct layer *layer, const char *path)
{
    char here[PATH_MAX] = "", setting[2 * PATH_MAX + 32];
    if (path[0] != '/' && !getcwd(here, sizeof here))
        here[0] = 0;
    snprintf(setting, sizeof setting, "LATERAL_TRACE=%s%s%s", here, *here ? "/" : "", path);
    add_setting(layer, setting);
}

bool environment_choose_layer(const struct options *options, struct layer *layer)
{
    bool good = true;
    *layer = (struct layer){0};
    if (options->race)
        good = add_layer(layer, "--check=race", "race");
    if (options->stats || options->trace)
        good = good && add_layer(layer, options->stats ? "--stats" : "--trace", "stats");
    if (options->check)
        good = good && add_layer(layer, "--check", "check");
    if (options->race || options->check)
        add_setting(layer, options->race ? "LATERAL_CHECK=race" : "LATERAL_CHECK=1");
    if (options->stats)
        add_setting(layer, "LATERAL_STATS=1");
    if (options->trace)
        add_trace(layer, options->trace);
    return good;
}

void environment_drop_layer(struct layer *layer)
{
    for (char **setting = layer->settings; *setting; setting++)
        free(*setting);
    free(layer->library);
    *layer = (struct layer){0};
}

bool environment_has_module(const char *name)
{
    return find_library(name) != NULL;
}

/* Returns the place of NAME's entry, or the end of the list; entry is NAME=VALUE or NAME=. The list owns its
 * entries. */
static char **entry_of(char **list, const char *entry)
{
    size_t name = strcspn(entry, "=") + 1;
    while (*list && strncmp(*list, entry, name) != 0)
        list++;
    return list;
}

static void put_entry(char **list, const char *entry)
{
    char **place = entry_of(list, entry);
    free(*place);
    *place = say_if_null(strdup(entry));
}

/* Joins value and the old value into one colon-separated entry; name ends with "=". */
static void put_joined(char **list, const char *name, const char *value, bool in_front)
{
    char **place = entry_of(list, name);
    const char *old = *place ? *place + strlen(name) : "";
    const char *one = in_front ? value : old, *two = in_front ? old : value;
    char *entry;
    if (asprintf(&entry, "%s%s%s%s", name, one, *old ? ":" : "", two) < 0)
        say_if_null(NULL);
    free(*place);
    *place = entry;
}

static void put_layer(char **list, const struct layer *layer)
{
    for (char *const *setting = layer->settings; *setting; setting++)
        put_entry(list, *setting);
    put_joined(list, "LD_PRELOAD=", layer->library, true);
    /* The address sanitizer of a program would object to a library in front of its own. */
    put_joined(list, "ASAN_OPTIONS=", "verify_asan_link_order=0", false);
}

static void put_export(char **list, const char *text)
{
    if (strchr(text, '='))
        put_entry(list, text);
    else if (!getenv(text)) /* a variable of oshrun is inherited anyway */
        say("-x %s: not set in the environment of oshrun, so not passed on", text);
}

char **environment_make(const struct app *app, uint32_t pes, const struct layer *layer)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **list = say_if_null(calloc(count + app->nexports + 9, sizeof *list)), number[32];
    size_t used = OF_A_PE;
    for (size_t i = 0; i < OF_A_PE; i++)
        list[i] = say_if_null(calloc(1, JOB_BYTES));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LATERAL_JOB=", 12) != 0 && strncmp(environ[i], "LATERAL_PE=", 11) != 0)
            list[used++] = say_if_null(strdup(environ[i]));
    environment_name_pe(list, 0, 0, -1); /* so that put_entry sees names there */
    snprintf(number, sizeof number, "LATERAL_NPES=%u", pes);
    put_entry(list, number);
    for (size_t x = 0; x < app->nexports; x++)
        put_export(list, app->exports[x]);
    /* UCX would take crashes over, print a stack for each PE, and hide from the supervisor what has happened. */
    if (!*entry_of(list, "UCX_HANDLE_ERRORS="))
        put_entry(list, "UCX_HANDLE_ERRORS=none");
    if (layer->library)
        put_layer(list, layer);
    return list;
}

void environment_name_pe(char **list, int segment, uint32_t pe, int parent_pipe)
{
    snprintf(list[0], JOB_BYTES, "LATERAL_JOB=%d:%u:%d", segment, pe, parent_pipe);
    snprintf(list[1], JOB_BYTES, "LATERAL_PE=%u", pe);
}
