#include "symbolizer.h"

#include "tool.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TOOL_MS 5000 /* time for all runs of the tool together; a file with much debug information is slow to read */

/* Returns the bytes of the tool's answer. All three print "path/file.c:12", llvm's with a column behind it. */
static size_t ask_tool(const char *path, uint64_t address, char *text, size_t room)
{
    static int left = TOOL_MS;
    char number[32], *file = (char *)path;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    char *const gnu[] = {"addr2line", "-e", file, number, NULL};
    char *const elfutils[] = {"eu-addr2line", "-e", file, number, NULL};
    char *const llvm[] = {"llvm-symbolizer", "--functions=none", "-e", file, number, NULL};
    char *const *const commands[] = {gnu, elfutils, llvm, NULL};
    return tool_run(commands, &left, text, room);
}

bool symbolizer_line(const char *path, uint64_t address, char *text, size_t room)
{
    char answer[4096];
    if (!ask_tool(path, address, answer, sizeof answer))
        return false;
    answer[strcspn(answer, " \n")] = 0;
    const char *slash = strrchr(answer, '/'), *base = slash ? slash + 1 : answer;
    const char *colon = strchr(base, ':');
    if (!colon || colon[1] == '?' || colon[1] == '0' || base[0] == '?')
        return false;
    snprintf(text, room, "%.*s:%.*s", (int)(colon - base), base, (int)strspn(colon + 1, "0123456789"), colon + 1);
    return true;
}
