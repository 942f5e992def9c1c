#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns dlopen, or null in a program that is linked with -static, which could not use a module: glibc's static dlopen
 * brings a second libc. The name stands in a text because the linker warns of it in such programs. */
static void *(*find_dlopen(void))(const char *, int)
{
    return (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
}

/* Opens a module. Returns null and leaves *why null when the file is missing; sets *why when the file is there but does
 * not load. */
static void *try_path(const char *path, const char **why)
{
    if (strchr(path, '/') && access(path, R_OK) != 0)
        return 0;
    void *(*open)(const char *, int) = find_dlopen();
    void *module = open(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        *why = dlerror();
    return module;
}

/* Cuts a path to its folder. Returns false when it has none. */
static bool cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return slash != 0;
}

/* Finds the folder of the file that holds this code, as the dynamic linker knows it. The file is the shared library, or
 * a program linked to the static one. Returns false for a program that was found in PATH, which has no folder. A
 * relative folder is wrong after a chdir. */
static bool folder_by_linker(char folder[PATH_MAX])
{
    Dl_info here;
    if (!dladdr((void *)&folder_by_linker, &here) || !here.dli_fname)
        return false;
    snprintf(folder, PATH_MAX, "%s", here.dli_fname);
    return cut_to_folder(folder);
}

/* Finds the same folder as the kernel knows it: whole, with symbolic links resolved. Returns false when it is not
 * found. */
static bool folder_by_kernel(char folder[PATH_MAX])
{
    char line[PATH_MAX + 128];
    uintptr_t here = (uintptr_t)&folder_by_kernel;
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        int at = 0;
        bool holds = sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &at) == 2 && here >= start && here < end;
        if (!holds || line[at] != '/')
            continue;
        snprintf(folder, PATH_MAX, "%.*s", (int)strcspn(line + at, "\n"), line + at);
        found = cut_to_folder(folder);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* Looks beside this code, and in lib/ beside its bin/. */
static void *try_folder(const char *folder, const char *file, const char **why)
{
    static const char *const beside[] = {"", "/../lib"};
    char path[PATH_MAX + 128];
    void *module = 0;
    for (int i = 0; i < 2 && !module && !*why; i++) {
        snprintf(path, sizeof path, "%s%s/%s", folder, beside[i], file);
        module = try_path(path, why);
    }
    return module;
}

void *module_open(const char *name, const char **why)
{
    char folder[PATH_MAX], file[64];
    void *module = 0;
    *why = 0;
    if (!find_dlopen()) {
        *why = "a program linked with -static loads no modules; link liblateral.a without -static";
        return 0;
    }
    snprintf(file, sizeof file, "liblateral-%s.so", name);
    if (folder_by_linker(folder))
        module = try_folder(folder, file, why);
    if (!module && !*why && folder_by_kernel(folder))
        module = try_folder(folder, file, why);
    if (!module && !*why)
        module = try_folder(LATERAL_LIBDIR, file, why);
    return module || *why ? module : try_path(file, why);
}

bool module_program(const char *name, char path[PATH_MAX])
{
    static const char *const beside[] = {"../bin", "../../bin", "."};
    char folder[PATH_MAX];
    for (int how = 0; how < 2; how++)
        for (size_t i = 0;
             (how ? folder_by_kernel(folder) : folder_by_linker(folder)) && i < sizeof beside / sizeof *beside; i++)
            if (snprintf(path, PATH_MAX, "%s/%s/%s", folder, beside[i], name) < PATH_MAX && access(path, X_OK) == 0)
                return true;
    return false;
}

void *module_symbol(const char *library, const char *symbol)
{
    void *(*open)(const char *, int) = find_dlopen();
    void *loaded = open ? open(library, RTLD_LAZY | RTLD_NOLOAD) : 0; /* counts it once more; it stays loaded */
    return loaded ? dlsym(loaded, symbol) : 0;
}
