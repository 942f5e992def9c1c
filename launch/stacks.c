#include "stacks.h"

#include "base/tool.h"
#include "message.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (256u << 10)

/* Writes a frame without what differs between equal stacks: "#1  0x7f.. in wait (p=0x..) at a.c:5" becomes
 * "#1 wait at a.c:5". eu-stack has no "in". */
static void write_frame(const char *line, FILE *out)
{
    int digits = 0;
    char *name;
    long number = strtol(line + 1, &name, 10);
    name += strspn(name, " ");
    if (strncmp(name, "0x", 2) == 0)
        sscanf(name, "0x%*[0-9a-f] %n", &digits);
    name += digits;
    name += strncmp(name, "in ", 3) == 0 ? 3 : 0;
    size_t bytes = strcspn(name, " (");
    const char *place = NULL;
    for (const char *at = strstr(name, " at "); at; at = strstr(at + 1, " at "))
        place = at;
    place = place ? place : strstr(name, " from ");
    fprintf(out, "    #%ld %.*s%s\n", number, (int)bytes, name, place ? place : "");
}

/* Returns the frames of the tool's answer, one a line, and a line in front of each further thread. */
static char *tidy(char *answer)
{
    char *text, *rest = NULL;
    size_t bytes;
    int threads = 0, frames = 0;
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool head = strncmp(line, "Thread ", 7) == 0 || strncmp(line, "TID ", 4) == 0;
        if (head && threads++)
            fprintf(out, "    another thread:\n");
        if (line[0] == '#')
            write_frame(line, out);
        frames += line[0] == '#';
    }
    fclose(out);
    if (frames)
        return text;
    free(text);
    return NULL;
}

char *stacks_of(pid_t pid, int *ms)
{
    static char answer[ROOM];
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    char *const gdb[] = {"gdb", "-nx", "-batch", "-p", number, "-ex", "thread apply all backtrace", NULL};
    char *const elfutils[] = {"eu-stack", "-p", number, NULL};
    char *const *const commands[] = {gdb, elfutils, NULL};
    char *text = tool_run(commands, ms, answer, ROOM) ? tidy(answer) : NULL;
    if (text)
        return text;
    return say_if_null(strdup(*ms <= 0 ? "!the debugger took too long"
                                       : "!neither gdb nor eu-stack is here, or it may not look at them"));
}
