#include "json.h"

#include <stdio.h>

#define DEPTH 8

static char closing[DEPTH + 1];
static bool filled[DEPTH + 1];
static int depth;

static void write_text(const char *text)
{
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < ' ' || *at == 127)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    putchar('"');
}

/* Starts the line of a value. */
static void begin(const char *key)
{
    if (depth)
        printf("%s\n%*s", filled[depth] ? "," : "", 2 * depth, "");
    filled[depth] = true;
    if (!key)
        return;
    write_text(key);
    printf(": ");
}

void json_open(const char *key, char bracket)
{
    begin(key);
    putchar(bracket);
    depth += depth < DEPTH;
    closing[depth] = bracket == '{' ? '}' : ']';
    filled[depth] = false;
}

void json_close(void)
{
    bool any = filled[depth];
    char bracket = closing[depth--];
    if (any)
        printf("\n%*s", 2 * depth, "");
    putchar(bracket);
    if (!depth)
        putchar('\n');
}

void json_text(const char *key, const char *text)
{
    begin(key);
    if (text)
        write_text(text);
    else
        printf("null");
}

void json_number(const char *key, double number)
{
    begin(key);
    printf("%.15g", number);
}

void json_flag(const char *key, bool flag)
{
    begin(key);
    printf(flag ? "true" : "false");
}
