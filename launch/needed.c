#include "needed.h"

#include "base/elf.h"
#include "base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOOL_MS 5000
#define ROOM (64u << 10)

int program_refusal(int dir, const char *path)
{
    struct stat info;
    if (fstatat(dir, path, &info, 0) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return faccessat(dir, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int program_search(int dir, const char *name, char **found)
{
    const bool named = strchr(name, '/') != NULL;
    const char *at = named ? "" : getenv("PATH");
    int why = ENOENT;
    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin";; at++) {
        const int bytes = (int)strcspn(at, ":");
        if (asprintf(found, "%.*s%s%s", bytes, at, named ? "" : bytes ? "/" : "./", name) < 0)
            return ENOMEM;
        const int now = program_refusal(dir, *found);
        if (now == 0)
            return 0;
        free(*found);
        *found = NULL;
        why = named || now == EACCES ? now : why;
        at += bytes;
        if (!*at)
            return why;
    }
}

/* Returns the linker that lists the file's libraries: the one that it names, or for a library the one of this process. */
static const char *linker_of(const struct elf *elf)
{
    const char *own = elf_interpreter(elf);
    return own ? own : elf_interpreter(elf_open("/proc/self/exe"));
}

/* A line is "name => path (0x...)", "name => not found" or "path (0x...)". */
static bool take_line(char *line, bool (*take)(const char *name, const char *path, void *state), void *state)
{
    char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => "), *path = NULL;
    if (arrow) {
        *arrow = 0;
        path = arrow + 4;
        path[strcspn(path, " ")] = 0;
    }
    name[strcspn(name, " ")] = 0;
    return *name && take(name, path && *path == '/' ? path : NULL, state);
}

enum needed_kind needed_walk(const char *file, bool (*take)(const char *name, const char *path, void *state),
                             void *state, bool *taken)
{
    static char answer[ROOM];
    int ms = TOOL_MS;
    char *rest = NULL, path[PATH_MAX];
    *taken = false;
    if (access(file, R_OK) != 0 || !realpath(file, path))
        return NEEDED_ABSENT;
    const struct elf *elf = elf_open(path);
    if (!elf_is_of_machine(elf))
        return NEEDED_FOREIGN;
    const char *linker = linker_of(elf);
    if (!elf_is_dynamic(elf) || !linker)
        return NEEDED_STATIC;
    char *const list[] = {(char *)linker, (char *)"--list", path, NULL};
    char *const *const commands[] = {list, NULL};
    tool_run(commands, &ms, answer, sizeof answer);
    for (char *line = strtok_r(answer, "\n", &rest); line && !*taken; line = strtok_r(NULL, "\n", &rest))
        *taken = take_line(line, take, state);
    return NEEDED_DYNAMIC;
}
