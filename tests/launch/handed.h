/* The system, the hosts and the layers, as handing.c wants them for handover.c: stand-ins that write down what they
 * are asked. */
#ifndef TESTS_LAUNCH_HANDED_H
#define TESTS_LAUNCH_HANDED_H

#include "apart.h"
#include "environment.h"
#include "handover.h"
#include "message.h"
#include "refusing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

static char looked[512], settings[1024]; /* the paths that were looked at; the variables that were set */

static void keep_line(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

static void add_text(char *text, size_t room, const char *one, const char *two)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s ", one, two);
}

/* ---- the end ---- */

static _Noreturn void leave(int status)
{
    note("exit %d\n", status);
    longjmp(left, 1);
}

/* ---- memory ---- */

static int memory_left = -1; /* requests until one fails; none when it is below 0 */

static bool memory_ends(void)
{
    return memory_left >= 0 && memory_left-- == 0;
}

static void *there_or_leave(void *memory)
{
    if (memory)
        return memory;
    note("out of memory\n");
    longjmp(left, 1);
}

static void *owned[400]; /* words and their lists */
static int nowned, held;

static void *own_memory(void *memory)
{
    CHECK(memory && nowned < 400);
    held++;
    return owned[nowned++] = memory;
}

static void give_back(void *memory)
{
    for (int i = 0; memory && i < nowned; i++)
        if (owned[i] == memory) {
            held--;
            owned[i] = NULL;
        }
    free(memory);
}

static int print_list(char **text, const char *format, va_list arguments)
{
    if (memory_ends())
        return *text = strdup("lost"), -1;
    const int bytes = vasprintf(text, format, arguments);
    own_memory(*text);
    return bytes;
}

static int print(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes = memory_ends() ? -1 : vasprintf(text, format, arguments);
    va_end(arguments);
    if (bytes < 0)
        *text = strdup("lost");
    return bytes;
}

static void *more_memory(void *old, size_t bytes)
{
    if (memory_ends())
        return NULL;
    void *memory = own_memory(malloc(bytes));
    if (old)
        memcpy(memory, old, bytes - sizeof(char *)); /* a word more */
    give_back(old);
    return memory;
}

static char *copy_text(const char *text)
{
    return memory_ends() ? NULL : strdup(text);
}

static FILE *open_text(char **text, size_t *bytes)
{
    return memory_ends() ? NULL : open_memstream(text, bytes);
}

static int make_file(const char *name, unsigned flags)
{
    CHECK(flags == 0); /* the launcher reads it */
    return memory_ends() ? -1 : memfd_create(name, flags);
}

static FILE *open_fd(int fd, const char *mode)
{
    CHECK(fd >= 0);
    return memory_ends() ? NULL : fdopen(fd, mode);
}

/* ---- launchers ---- */

/* Writes down the words, and the text of a file among them. */
static int become(const char *file, char *const words[])
{
    int i = 0;
    CHECK(file == words[0]);
    for (int fd; words[i]; i++) {
        char text[400] = "";
        if (sscanf(words[i], "/proc/self/fd/%d", &fd) == 1)
            CHECK(pread(fd, text, sizeof text - 1, 0) > 0);
        note("%s%s", i ? " " : "", *text ? text : words[i]);
    }
    note("\n");
    CHECK(held == i + 1); /* the words and their list */
    errno = E2BIG;
    return -1;
}

struct tool {
    const char *path, *version, *plugins; /* what it says of itself; null: it cannot be run */
};
static const struct tool *tools;
static int running; /* those whose answer is not read to the end */
static const char *real;

static int can_execute(const char *path, int how)
{
    CHECK(how == X_OK);
    add_text(looked, sizeof looked, path, "");
    for (const struct tool *tool = tools; tool->path; tool++)
        if (strcmp(tool->path, path) == 0)
            return 0;
    return -1;
}

static FILE *ask(const char *command, const char *mode)
{
    CHECK(strcmp(mode, "re") == 0);
    for (const struct tool *tool = tools; tool->path; tool++) {
        const char *answer = strstr(command, "--mpi=list") ? tool->plugins : tool->version;
        char wanted[200];
        snprintf(wanted, sizeof wanted, "'%s' %s 2>&1", tool->path,
                 answer == tool->version ? "--version" : "--mpi=list");
        if (strcmp(wanted, command) != 0 || !answer)
            continue;
        running++;
        return fmemopen((void *)(uintptr_t)answer, strlen(answer), "r");
    }
    return NULL;
}

static int answered(FILE *from)
{
    running--;
    return fclose(from);
}

static char *real_path(const char *path, char *room)
{
    CHECK(!room);
    add_text(looked, sizeof looked, "real:", path);
    return real ? strdup(real) : NULL;
}

/* ---- environment, layers, hosts ---- */

static int set_variable(const char *name, const char *value, int over)
{
    CHECK(!over); /* the user's own stays */
    add_text(settings, sizeof settings, name, "=");
    settings[strlen(settings) - 1] = 0;
    add_text(settings, sizeof settings, value, "");
    return 0;
}

static struct layer layer_there;
static bool no_layer, has_pmix;

bool environment_choose_layer(const struct options *options, struct layer *layer)
{
    CHECK(options->napps > 0);
    *layer = layer_there;
    return !no_layer;
}

void environment_drop_layer(struct layer *layer)
{
    note("drop layer\n");
    *layer = (struct layer){0};
}

bool environment_has_module(const char *name)
{
    CHECK(strcmp(name, "pmix") == 0);
    return has_pmix;
}

static const struct hosts *hosts_given;

char *hosts_list(const struct hosts *hosts, bool slots)
{
    CHECK(hosts == hosts_given);
    return strdup(slots ? "all:slots" : "all");
}

char *hosts_slice(const struct hosts *hosts, uint32_t first, uint32_t count)
{
    char text[40];
    CHECK(hosts == hosts_given);
    snprintf(text, sizeof text, "slice:%u+%u", first, count);
    return strdup(text);
}

#endif
