/* A program linked statically finds modules in lib/ beside its bin/, also when it was started by its bare name through
 * PATH. A file that is no module stands for one: the reason names its path. A module beside the program comes first.
 *
 * skip: aarch64 */
#include "base/module.h"

#include "unit/check.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

static void child(const char *lib)
{
    const char *why = 0;
    CHECK(!module_open("nothing", &why) && why);
    if (strncmp(why, lib, strlen(lib)) != 0)
        fprintf(stderr, "looked elsewhere: %s\n", why);
    CHECK(strncmp(why, lib, strlen(lib)) == 0);
    void *module = module_open("real", &why);
    CHECK(module && !why && dlsym(module, "cos"));
    CHECK(!module_open("missing", &why) && why && strstr(why, "liblateral-missing.so"));
}

/* Returns the file of a library that any system has. */
static const char *real_library(void)
{
    struct link_map *map;
    void *library = dlopen(LIBM_SO, RTLD_LAZY);
    CHECK(library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/');
    return map->l_name;
}

static int shell(const char *line)
{
    return system(line);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/lateral-module.XXXXXX", line[4096];
    if (argc == 3) {
        child(argv[2]);
        return 0;
    }
    CHECK(mkdtemp(folder));
    snprintf(line, sizeof line,
             "cd %s && mkdir bin lib && cp /proc/%d/exe bin/started && echo nothing >lib/liblateral-nothing.so && "
             "cp %s bin/liblateral-real.so && "
             "PATH=%s/bin:$PATH started child %s/bin/../lib/liblateral-nothing.so",
             folder, getpid(), real_library(), folder, folder);
    int by_path = shell(line);
    snprintf(line, sizeof line, "cd %s && bin/started child bin/../lib/liblateral-nothing.so", folder);
    int by_relative = shell(line);
    snprintf(line, sizeof line, "rm -r %s", folder);
    CHECK(shell(line) == 0);
    CHECK(by_path == 0 && by_relative == 0);
    return 0;
}
