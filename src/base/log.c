#include "base/log.h"
#include "base/plain.h"
#include "base/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_FOR_THE_FIRST 5

static int identity = -1;
static int debugging;

void log_identity(int pe)
{
    identity = pe;
}

int log_pe(void)
{
    return identity;
}

void log_debug_enable(int on)
{
    debugging = on;
}

void log_vline(const char *format, va_list arguments)
{
    char line[1024];
    int used = identity < 0 ? snprintf(line, sizeof line, "lateral: ")
                            : snprintf(line, sizeof line, "lateral: PE %d: ", identity);
    int room = (int)sizeof line - used - 1;
    int more = vsnprintf(line + used, room, format, arguments);
    int added = more < room ? more : room - 1;
    plain_text(line + used, (size_t)added);
    used += added;
    line[used++] = '\n';
    for (int at = 0; at < used;) {
        ssize_t wrote = write(STDERR_FILENO, line + at, used - at);
        if (wrote <= 0)
            return;
        at += wrote;
    }
}

void log_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_vline(format, arguments);
    va_end(arguments);
}

/* Puts its name behind each address of a variable of the program. */
static void copy_with_names(const char *text, char *to, size_t room)
{
    char name[200], quoted[204], *end;
    size_t used = 0;
    while (*text && used + 1 < room) {
        const void *at = strncmp(text, "0x", 2) == 0 ? (const void *)strtoul(text, &end, 16) : NULL;
        const bool is_variable = at && where_variable(at, name, sizeof name);
        snprintf(quoted, sizeof quoted, "`%s`", is_variable ? name : "");
        if (!is_variable || strstr(text, quoted)) { /* some lines name it by themselves */
            to[used++] = *text++;
            continue;
        }
        used += (size_t)snprintf(to + used, room - used, "%.*s (%s)", (int)(end - text), text, name);
        text = end;
    }
    to[used < room ? used : room - 1] = 0;
}

void log_vmistake(const char *format, va_list arguments)
{
    char plain[800], text[800], place[160];
    vsnprintf(plain, sizeof plain, format, arguments);
    copy_with_names(plain, text, sizeof text);
    bool tell = where_called(place, sizeof place) && !strstr(text, place);
    log_line("%s%s%s", text, tell ? "; called at " : "", tell ? place : "");
}

void log_mistake(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_vmistake(format, arguments);
    va_end(arguments);
}

void log_alike(int pe, const char *format, ...)
{
    va_list arguments;
    if (pe != 0)
        sleep(SECONDS_FOR_THE_FIRST); /* the launcher usually ends this process meanwhile */
    va_start(arguments, format);
    log_vline(format, arguments);
    va_end(arguments);
}

void log_debug(const char *format, ...)
{
    if (!debugging)
        return;
    va_list arguments;
    va_start(arguments, format);
    log_vline(format, arguments);
    va_end(arguments);
}
