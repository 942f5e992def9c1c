#include "message.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_line(const char *line, size_t bytes)
{
    while (bytes > 0) {
        ssize_t wrote = write(STDERR_FILENO, line, bytes);
        if (wrote <= 0)
            return;
        line += wrote;
        bytes -= (size_t)wrote;
    }
}

static void (*line_sink)(const char *, size_t) = write_line;

void say_through(void (*sink)(const char *, size_t))
{
    line_sink = sink;
}

static void (*sink_before)(const char *, size_t);
static char *collected;
static size_t collected_bytes;

static void collect_line(const char *line, size_t bytes)
{
    collected = say_if_null(realloc(collected, collected_bytes + bytes + 1));
    memcpy(collected + collected_bytes, line, bytes);
    collected[collected_bytes += bytes] = 0;
}

void say_collect(void)
{
    sink_before = line_sink;
    line_sink = collect_line;
    collected = NULL;
    collected_bytes = 0;
}

char *say_collected(void)
{
    line_sink = sink_before;
    return collected;
}

void say_lines(const char *text)
{
    line_sink(text, strlen(text));
}

static const char *own_name = "oshrun: ";

void say_as(const char *name)
{
    own_name = name;
}

static void say_list(const char *head, const char *format, va_list arguments, const char *tail)
{
    char line[2048];
    size_t used = (size_t)sprintf(line, "%s", head), room = sizeof line - used - strlen(tail) - 1;
    int more = vsnprintf(line + used, room, format, arguments);
    size_t added = more < 0 ? 0 : (size_t)more < room ? (size_t)more : room - 1;
    plain_text(line + used, added);
    used += added;
    used += (size_t)sprintf(line + used, "%s\n", tail);
    line_sink(line, used);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(own_name, format, arguments, "");
    va_end(arguments);
}

void say_more(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list("", format, arguments, "");
    va_end(arguments);
}

void say_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list("oshrun: ", format, arguments, " (see oshrun --help)");
    va_end(arguments);
    exit(STATUS_USAGE);
}

void *say_if_null(void *memory)
{
    static const char line[] = "oshrun: out of memory\n";
    if (!memory) {
        (void)!write(STDERR_FILENO, line, sizeof line - 1); /* say would need memory */
        _exit(STATUS_FAILED);
    }
    return memory;
}
