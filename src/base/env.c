#include "base/env.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct env_variable variables[ENV_COUNT] = {
#define ENV_ROW(id, name, alias, kind, standard, help) {name, alias, kind, standard, help},
#include "base/env.def"
#undef ENV_ROW
};

static struct {
    const char *text;
    const char *from;
    uint64_t number;
} values[ENV_COUNT];

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The standard ignores any text after a suffix. Without a suffix the number must end the text. */
static bool parse_suffix(const char *at, int *shift)
{
    static const char suffixes[] = "kmgt";
    const char *suffix = *at ? strchr(suffixes, tolower((unsigned char)*at)) : 0;
    *shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    return suffix || !*skip_blanks(at);
}

/* Reads a number without a sign that is neither hexadecimal, nan nor inf, in the locale of the thread. Returns its end, or null. A long
 * double holds every whole number below 2^62. */
static const char *parse_decimal(const char *at, long double *number)
{
    char *end;
    if (!isdigit((unsigned char)at[*at == '.']) || (at[0] == '0' && tolower((unsigned char)at[1]) == 'x'))
        return 0;
    *number = strtold(at, &end);
    return end;
}

int env_parse_size(const char *text, uint64_t *bytes)
{
    long double number;
    int shift;
    const char *at = parse_decimal(skip_blanks(text), &number);
    if (!at || !parse_suffix(at, &shift))
        return -1;
    number *= (long double)(UINT64_C(1) << shift);
    if (number > 0x1p62L - 1)
        return -1;
    *bytes = (uint64_t)number;
    *bytes += (long double)*bytes < number; /* rounded up, without libm */
    return 0;
}

static int parse_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return -1;
    *number = (uint64_t)value;
    return 0;
}

/* 0, n, no, false and off switch a flag off; any other text switches it on. */
static int parse_flag(const char *text, uint64_t *number)
{
    static const char *const off[] = {"0", "n", "no", "false", "off"};
    *number = 1;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcasecmp(text, off[i]) == 0)
            *number = 0;
    return 0;
}

static const char *const words[ENV_COUNT] = {
    [ENV_PROGRESS] = "auto, poll, thread",
    [ENV_TRANSPORTS] = "auto, tcp, ucx, ofi",
    [ENV_WIRE] = "auto, messages, rdma",
};

/* Tests put networks of their own around a transport, with colons: the last word counts. */
static int parse_word(enum env_id id)
{
    const char *text = values[id].text;
    if (strcmp(text, variables[id].standard) == 0)
        return 0;
    const char *colon = id == ENV_TRANSPORTS ? strrchr(text, ':') : 0;
    const char *word = colon ? colon + 1 : text;
    const size_t bytes = strlen(word);
    for (const char *at = words[id]; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ",");
        if (length == bytes && strncmp(at, word, bytes) == 0)
            return 0;
        at += length;
    }
    return -1;
}

static int parse(enum env_id id)
{
    double seconds;
    switch (variables[id].kind) {
    case ENV_FLAG: return parse_flag(values[id].text, &values[id].number);
    case ENV_NUMBER: return parse_number(values[id].text, &values[id].number);
    case ENV_SIZE: return env_parse_size(values[id].text, &values[id].number);
    case ENV_PRESENT: values[id].number = values[id].from != 0; break;
    case ENV_WORD: return parse_word(id);
    case ENV_TIME: return *values[id].text && !clock_read_seconds(values[id].text, &seconds) ? -1 : 0;
    case ENV_TEXT: break;
    }
    return 0;
}

static void find_variable(enum env_id id)
{
    const struct env_variable *variable = &variables[id];
    values[id].from = variable->name;
    values[id].text = getenv(variable->name);
    if (!values[id].text && variable->alias) {
        values[id].from = variable->alias;
        values[id].text = getenv(variable->alias);
    }
    if (!values[id].text) {
        values[id].from = 0;
        values[id].text = variable->standard;
    }
}

int env_load(const char **why)
{
    static char message[256];
    static const char *const wanted[] = {[ENV_FLAG] = "0 or 1",
                                         [ENV_NUMBER] = "a whole number",
                                         [ENV_SIZE] = "a size such as 512m or 1.5g",
                                         [ENV_WORD] = "one of ",
                                         [ENV_TIME] = "a time such as 90, 90s, 1.5m or 2h"};
    const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", 0)); /* the program's may write 1,5 */
    *why = 0;
    for (int id = 0; id < ENV_COUNT && !*why; id++) {
        find_variable(id);
        if (parse(id) == 0)
            continue;
        snprintf(message, sizeof message, "%s=%s is not %s%s", values[id].from, values[id].text,
                 wanted[variables[id].kind], words[id] ? words[id] : "");
        *why = message;
    }
    uselocale(before);
    return *why ? -1 : 0;
}

bool env_flag(enum env_id id)
{
    return values[id].number != 0;
}

int64_t env_number(enum env_id id)
{
    return (int64_t)values[id].number;
}

uint64_t env_size(enum env_id id)
{
    return values[id].number;
}

const char *env_text(enum env_id id)
{
    return values[id].text;
}

const struct env_variable *env_describe(enum env_id id)
{
    return &variables[id];
}

const char *env_value(enum env_id id, const char **from)
{
    *from = values[id].from;
    return values[id].text;
}
