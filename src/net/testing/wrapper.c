#include "net/testing/wrapper.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the name behind `outer` in a list such as sim:fault:ucx; null when there is none. */
static const char *name_behind(const char *list, const char *outer)
{
    size_t bytes = strlen(outer);
    while (list && (strncmp(list, outer, bytes) != 0 || list[bytes] != ':')) {
        list = strchr(list, ':');
        list += list != 0;
    }
    return list ? list + bytes + 1 : 0;
}

const char *transport_load_behind(const char *outer, const struct transport **inner)
{
    Dl_info here;
    char path[PATH_MAX + 32];
    const char *name = name_behind(getenv("LATERAL_TRANSPORTS"), outer);
    if (!name || !dladdr((void *)&transport_load_behind, &here))
        return "there is none behind it: LATERAL_TRANSPORTS=fault:ucx, sim:ucx or sim:fault:ucx";
    const size_t bytes = strcspn(name, ":");
    const char *slash = strrchr(here.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/liblateral-%.*s.so", slash ? (int)(slash - here.dli_fname) : 1,
             slash ? here.dli_fname : ".", bytes < 16 ? (int)bytes : 16, name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *inner = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    return *inner ? 0 : "the one behind it cannot be loaded";
}

const char *transport_plan_read(const char *variable, const char *text,
                                const char *(*one)(const char *name, const char *value, void *plan), void *plan)
{
    static char malformed[64];
    char copy[256], *rest = copy, *word;
    const char *why = 0;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    while (!why && (word = strsep(&rest, ","))) {
        char *value = strchr(word, '=');
        if (!*word)
            continue;
        if (!value) {
            snprintf(malformed, sizeof malformed, "%s: words look like seed=3", variable);
            return malformed;
        }
        *value++ = 0;
        why = one(word, value, plan);
    }
    return why;
}
