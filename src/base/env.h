/* Environment variables: one row each in env.c, read in one place, listed by lateral-info.
 *
 * env_load is called once by the first init (single-threaded); the getters after it from any
 * thread. A variable has its own name and may have an older alias; its own name wins. */
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

/* PRESENT: on by being set, whatever the value, as the standard has it. */
enum env_kind { ENV_PRESENT, ENV_FLAG, ENV_NUMBER, ENV_SIZE, ENV_TEXT };

struct env_variable {
    const char *name;
    const char *alias; /* older spelling, or null */
    enum env_kind kind;
    const char *standard; /* the value when unset, as text */
    const char *help;
};

/* 0, or -1 with *why (static storage) naming the variable and its value when one does not parse. */
int env_load(const char **why);

bool env_flag(enum env_id id);
int64_t env_number(enum env_id id);
uint64_t env_size(enum env_id id); /* bytes */
const char *env_text(enum env_id id);

/* For lateral-info: the description, the value in force as text, and the variable it came from
 * (null when it is the default). */
const struct env_variable *env_describe(enum env_id id);
const char *env_value(enum env_id id, const char **from);

/* Reads a size as OpenSHMEM spells it: a non-negative integer or decimal number, then the end or one of
 * k m g t (powers of 1024, either case). Characters behind the suffix are ignored; the result is rounded up.
 * Returns 0, or -1 when the text is not such a size or 2^62 bytes or more. */
int env_parse_size(const char *text, uint64_t *bytes);

#endif
