#include "base/ancestor.h"

#include <stdio.h>
#include <string.h>

#define DEPTH 64 /* generations that this looks at */

/* Returns 0 when /proc does not show the process. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = 0;
    const char *name_end = strrchr(text, ')'); /* the name before it may contain any character */
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

pid_t ancestor_common(pid_t one, pid_t other)
{
    pid_t line[DEPTH];
    int count = 0;
    for (; one > 0 && count < DEPTH; one = parent_of(one))
        line[count++] = one;
    for (int i = 0; other > 0 && i < DEPTH; i++, other = parent_of(other))
        for (int k = 0; k < count; k++)
            if (line[k] == other)
                return other;
    return 0;
}
