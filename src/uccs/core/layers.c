#include "uccs/core/globals.h"

#include "base/env.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define SONAME "liblateral.so"
#define OURS 1024 /* most entries of an environment that is copied */

/* In the order in which they stand before the library; races are looked for without the others. */
static const struct {
    enum env_id id;
    const char *variable, *file;
} layers[] = {{ENV_CHECK, "LATERAL_CHECK", "liblateral-race.so"},
              {ENV_STATS, "LATERAL_STATS", "liblateral-stats.so"},
              {ENV_TRACE, "LATERAL_TRACE", "liblateral-stats.so"},
              {ENV_CHECK, "LATERAL_CHECK", "liblateral-check.so"}};

static bool is_wanted(size_t i)
{
    const char *text = env_text(layers[i].id);
    const bool race = strcmp(env_text(ENV_CHECK), "race") == 0;
    if (layers[i].id == ENV_TRACE ? !*text : !env_flag(layers[i].id))
        return false;
    return (strstr(layers[i].file, "race") != NULL) == race;
}

static bool is_preloaded(const char *file)
{
    const char *list = getenv("LD_PRELOAD");
    return list && strstr(list, file);
}

/* Writes LD_PRELOAD= with the files of all layers that are wanted, which lie beside the library, before what it names now. Returns
 * false when there is nothing to add, or a file is missing. */
static bool name_files(char *text, size_t room)
{
    Dl_info self;
    char file[PATH_MAX];
    const char *had = getenv("LD_PRELOAD"), *slash;
    size_t used = (size_t)snprintf(text, room, "LD_PRELOAD=");
    const size_t begin = used;
    if (!dladdr(layers, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
        strncmp(slash + 1, SONAME, strlen(SONAME)) != 0)
        return false; /* a part of the program, which no layer can stand before */
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (!is_wanted(i) || is_preloaded(layers[i].file) || strstr(text, layers[i].file))
            continue;
        snprintf(file, sizeof file, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname, layers[i].file);
        if (strpbrk(file, " :") || access(file, R_OK) != 0)
            return false;
        used += (size_t)snprintf(text + used, room - used, "%s%s", used > begin ? ":" : "", file);
        if (used >= room)
            return false;
    }
    if (had && *had && used > begin)
        used += (size_t)snprintf(text + used, room - used, ":%s", had);
    return used > begin && used < room;
}

void uccs_layers_load(char **argv)
{
    static char preload[4 * PATH_MAX], sanitizer[256];
    static char *list[OURS + 3];
    struct image image;
    const char *asan = getenv("ASAN_OPTIONS");
    size_t count = 0;
    while (environ[count])
        count++;
    /* Not started by the loader as a command, and not under valgrind, which would lose the process. */
    if (count > OURS || !getauxval(AT_BASE) || is_preloaded("vgpreload") || image_find(&image, SONAME ".1") ||
        !name_files(preload, sizeof preload))
        return;
    snprintf(sanitizer, sizeof sanitizer, "ASAN_OPTIONS=%s%sverify_asan_link_order=0", asan ? asan : "",
             asan ? ":" : "");
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "ASAN_OPTIONS=", 13) != 0)
            list[used++] = environ[i];
    list[used++] = preload;
    list[used] = sanitizer;
    execve("/proc/self/exe", argv, list);
}

const char *uccs_layers_missing(void)
{
    static char text[256];
    if (is_wanted(0) && (env_flag(ENV_STATS) || *env_text(ENV_TRACE)))
        return "LATERAL_STATS and LATERAL_TRACE have no effect beside LATERAL_CHECK=race: run the program once with each";
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (is_wanted(i) && !is_preloaded(layers[i].file)) {
            snprintf(
                text, sizeof text,
                "%s has no effect: this program is linked with liblateral.a, or has loaded liblateral.so by itself; put "
                "LD_PRELOAD=%s, with its path, in front of it",
                layers[i].variable, layers[i].file);
            return text;
        }
    return NULL;
}
