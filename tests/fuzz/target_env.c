/* The environment: lines of NAME=VALUE. */
#include "fuzz/fuzz.h"

#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define ENV_ROW(id, name, alias, kind, standard, help) name,
#include "base/env.def"
#undef ENV_ROW
};

static void set_line(char *line)
{
    char *value = strchr(line, '=');
    if (!value || value == line)
        return;
    *value++ = 0;
    if (line[0] == '#') /* by number, so that few bytes reach each */
        setenv(names[(unsigned char)line[1] % (sizeof names / sizeof *names)], value, 1);
    else if (strncmp(line, "LATERAL_", 8) == 0 || strncmp(line, "SHMEM_", 6) == 0 || strncmp(line, "SMA_", 4) == 0)
        setenv(line, value, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why = 0;
    char *copy = malloc(size + 1), *rest = copy, *line;
    memcpy(copy, data, size);
    copy[size] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    while ((line = strsep(&rest, "\n")))
        set_line(line);
    if (env_load(&why) == 0) {
        (void)env_size(ENV_SYMMETRIC_SIZE);
        (void)env_number(ENV_LANES);
        (void)strlen(env_text(ENV_TRANSPORTS));
    } else {
        FUZZ_CHECK(why && *why); /* refused with a word */
    }
    free(copy);
    return 0;
}
