#include "spelling.h"

#include "base/meant.h"
#include "message.h"

#include <string.h>

extern char **environ;

static void check_variable(const char *entry)
{
    const char *meant = meant_variable(entry);
    if (meant)
        say("no variable is named %.*s, so it has no effect; did you mean %s?", (int)strcspn(entry, "="), entry, meant);
}

void spelling_check_variables(const struct options *options)
{
    if (options->quiet)
        return;
    for (char **entry = environ; *entry; entry++)
        check_variable(*entry);
    for (size_t i = 0; i < options->napps; i++)
        for (size_t x = 0; x < options->apps[i].nexports; x++)
            if (strchr(options->apps[i].exports[x], '=')) /* others are in the environment already */
                check_variable(options->apps[i].exports[x]);
}
