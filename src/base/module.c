#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Says of a missing file that it is missing, but of a broken one what is broken. */
static void *try_path(const char *path, const char **why)
{
    if (strchr(path, '/') && access(path, R_OK) != 0)
        return 0;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        *why = dlerror();
    return module;
}

/* The folder of the file that holds this code: the shared library, or a program linked to the static one. */
static bool own_folder(char folder[PATH_MAX])
{
    Dl_info here;
    if (!dladdr((void *)&own_folder, &here) || !here.dli_fname || !strchr(here.dli_fname, '/'))
        return false;
    snprintf(folder, PATH_MAX, "%s", here.dli_fname);
    *strrchr(folder, '/') = 0;
    return true;
}

void *module_open(const char *name, const char **why)
{
    static const char *const beside[] = {"", "/../lib"}; /* of the library; of a static program in bin/ */
    char folder[PATH_MAX], file[64], path[PATH_MAX + sizeof file + 16];
    void *module = 0;
    *why = 0;
    snprintf(file, sizeof file, "liblateral-%s.so", name);
    bool known = own_folder(folder);
    for (int i = 0; known && i < 2 && !module && !*why; i++) {
        snprintf(path, sizeof path, "%s%s/%s", folder, beside[i], file);
        module = try_path(path, why);
    }
    if (!module && !*why) {
        snprintf(path, sizeof path, LATERAL_LIBDIR "/%s", file);
        module = try_path(path, why);
    }
    return module || *why ? module : try_path(file, why);
}
