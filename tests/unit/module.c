/* A program linked statically finds modules in lib/ beside its bin/, also when it was started by its bare name through
 * PATH. A file that is no module stands for one: the reason names its path.
 *
 * skip: aarch64 */
#include "base/module.h"

#include "unit/check.h"

#include <string.h>
#include <unistd.h>

static void child(const char *lib)
{
    const char *why = 0;
    CHECK(!module_open("nothing", &why) && why);
    if (!strstr(why, lib))
        fprintf(stderr, "looked elsewhere: %s\n", why);
    CHECK(strstr(why, lib));
}

static int shell(const char *line)
{
    return system(line);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/lateral-module.XXXXXX", line[4096];
    if (argc == 3) {
        child(argv[2]);
        return 0;
    }
    CHECK(mkdtemp(folder));
    snprintf(line, sizeof line,
             "cd %s && mkdir bin lib && cp /proc/%d/exe bin/started && echo nothing >lib/liblateral-nothing.so && "
             "PATH=%s/bin:$PATH started child %s/bin/../lib/liblateral-nothing.so",
             folder, getpid(), folder, folder);
    int by_path = shell(line);
    snprintf(line, sizeof line, "cd %s && bin/started child bin/../lib/liblateral-nothing.so", folder);
    int by_relative = shell(line);
    snprintf(line, sizeof line, "rm -r %s", folder);
    CHECK(shell(line) == 0);
    CHECK(by_path == 0 && by_relative == 0);
    return 0;
}
