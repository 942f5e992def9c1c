#include "stacks.h"

#include "base/tool.h"
#include "message.h"
#include "set.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_MS 20000 /* time for all PEs together */
#define ROOM (256u << 10)

/* One text of stacks, and the PEs that have it. */
struct stack {
    struct set pes;
    char *text;
};

struct stacks {
    struct stack *stack;
    size_t count;
};

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

/* Returns the stacks of a process, or null. */
static char *ask_tool(pid_t pid, int *ms, char *answer)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    char *const gdb[] = {"gdb", "-nx", "-batch", "-p", number, "-ex", "thread apply all backtrace", NULL};
    char *const elfutils[] = {"eu-stack", "-p", number, NULL};
    char *const *const commands[] = {gdb, elfutils, NULL};
    return tool_run(commands, ms, answer, ROOM) ? tidy(answer) : NULL;
}

/* Takes the text over. */
static void add_stack(struct stacks *stacks, const struct view *view, uint32_t index, char *text)
{
    for (size_t i = 0; i < stacks->count; i++)
        if (strcmp(stacks->stack[i].text, text) == 0) {
            set_add(&stacks->stack[i].pes, index);
            free(text);
            return;
        }
    stacks->stack = say_if_null(realloc(stacks->stack, (stacks->count + 1) * sizeof *stacks->stack));
    struct stack *stack = &stacks->stack[stacks->count++];
    *stack = (struct stack){set_make(view->node->size), text};
    set_add(&stack->pes, index);
}

static void print_stack(const struct view *view, struct stack *stack)
{
    char names[256], *rest = NULL;
    set_write(&stack->pes, view->node->first, names, sizeof names);
    say_more("stack of PE%s %s:", stack->pes.count > 1 ? "s" : "", names);
    for (char *line = strtok_r(stack->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        say_more("%s", line);
    set_free(&stack->pes);
    free(stack->text);
}

void stacks_print(const struct view *view)
{
    struct stacks stacks = {0};
    uint32_t without = 0;
    int ms = TOOL_MS;
    char *answer = say_if_null(malloc(ROOM));
    for (uint32_t index = 0; index < view->node->size; index++) {
        if (!view->pids[index] || kill(view->pids[index], 0) != 0)
            continue;
        char *text = ask_tool(view->pids[index], &ms, answer);
        if (text)
            add_stack(&stacks, view, index, text);
        else
            without++;
    }
    free(answer);
    for (size_t i = 0; i < stacks.count; i++)
        print_stack(view, &stacks.stack[i]);
    free(stacks.stack);
    if (without)
        say_more("no stacks of %u PE%s: %s", without, without > 1 ? "s" : "",
                 ms <= 0 ? "the debugger took too long"
                         : "neither gdb nor eu-stack is here, or it may not look at them");
}
