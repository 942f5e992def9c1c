/* Environment variables. Each has one row in env.def; env.c reads them all and lateral-info lists them.
 *
 * The first init calls env_load once, single-threaded. Any thread may call the getters after that. A variable has its
 * own name and may have an older alias; its own name wins. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum env_id {
#define ENV_ROW(id, name, alias, kind, standard, help) ENV_##id,
#include "base/env.def"
#undef ENV_ROW
    ENV_COUNT
};

/* A PRESENT variable is on when it is set, whatever its value, as the standard requires. A WORD is one of a list in env.c, or its default. A
 * TIME is read as text; empty: none. */
enum env_kind { ENV_PRESENT, ENV_FLAG, ENV_NUMBER, ENV_SIZE, ENV_TEXT, ENV_WORD, ENV_TIME };

struct env_variable {
    const char *name;
    const char *alias; /* older spelling, or null */
    enum env_kind kind;
    const char *standard; /* the value when unset, as text */
    const char *help;
};

/* Returns 0. Returns -1 when a value does not parse; *why (static storage) then names the variable and its value. */
int env_load(const char **why);

bool env_flag(enum env_id id);
int64_t env_number(enum env_id id);
uint64_t env_size(enum env_id id); /* bytes */
const char *env_text(enum env_id id);

/* For lateral-info: the description; the value in force as text, with the variable it came from (null for the
 * default). */
const struct env_variable *env_describe(enum env_id id);
const char *env_value(enum env_id id, const char **from);

/* Reads a size as OpenSHMEM spells it: a non-negative integer or decimal number, then the end of the text or one of k m
 * g t (powers of 1024, either case). Ignores characters after the suffix and rounds the result up. Returns 0, or -1
 * when the text is not such a size or the size is 2^62 bytes or more. */
int env_parse_size(const char *text, uint64_t *bytes);

#endif
