/* Where modules are looked for: beside the file that holds this code, as the dynamic linker knows it, unless it knows none or no folder of
 * it. The linker's answers are made up. */
#include <dlfcn.h>
#include <stddef.h>

static int tell_made_up(const void *address, Dl_info *info);
#define dladdr tell_made_up
#include "base/module.c"

#include "unit/check.h"

static const char *file;
static int answer;

static int tell_made_up(const void *address, Dl_info *info)
{
    CHECK(address == (const void *)&folder_by_linker);
    info->dli_fname = file;
    return answer;
}

static bool knows(const char *name, int known, char folder[PATH_MAX])
{
    file = name;
    answer = known;
    memset(folder, 0, PATH_MAX);
    return folder_by_linker(folder);
}

int main(void)
{
    char folder[PATH_MAX];
    CHECK(knows("/opt/lateral/lib/liblateral.so.1", 1, folder) && strcmp(folder, "/opt/lateral/lib") == 0);
    CHECK(knows("bin/program", 1, folder) && strcmp(folder, "bin") == 0);
    CHECK(knows("/program", 1, folder) && !*folder);
    CHECK(!knows("program", 1, folder)); /* found in PATH */
    CHECK(!knows("/opt/lateral/lib/liblateral.so.1", 0, folder));
    CHECK(!knows(NULL, 1, folder) && !*folder);
    CHECK(!knows(NULL, 0, folder) && !*folder);
    return 0;
}
