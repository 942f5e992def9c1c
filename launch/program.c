#include "program.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 when the file, seen from directory dir, can be executed, else an errno value. */
static int refusal(int dir, const char *path)
{
    struct stat info;
    if (fstatat(dir, path, &info, 0) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return faccessat(dir, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Looks a bare name up in PATH as a shell does. Returns 0, or the errno value of the failure that says most. */
static int search(int dir, const char *name, char **found)
{
    const char *at = getenv("PATH");
    int why = ENOENT;
    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin";; at++) {
        int bytes = (int)strcspn(at, ":");
        char *candidate;
        if (asprintf(&candidate, "%.*s%s%s", bytes, at, bytes ? "/" : "./", name) < 0)
            return ENOMEM;
        int now = refusal(dir, candidate);
        if (now == 0) {
            *found = candidate;
            return 0;
        }
        why = now == EACCES ? now : why;
        free(candidate);
        at += bytes;
        if (!*at)
            return why;
    }
}

static int complain(const struct app *app, int dir, int why)
{
    const char *name = app->argv[0];
    bool missing = why == ENOENT || why == ENOTDIR;
    if (missing && !strchr(name, '/'))
        say("program %s not found in PATH%s%s%s", name, refusal(dir, name) ? "" : " (did you mean ./",
            refusal(dir, name) ? "" : name, refusal(dir, name) ? "" : "?)");
    else if (missing && app->wdir && name[0] != '/')
        say("program %s not found in %s", name, app->wdir);
    else if (missing)
        say("program %s not found", name);
    else
        say("cannot execute %s: %s", name, strerror(why));
    return missing ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

int program_find(struct app *app)
{
    int dir = open(app->wdir ? app->wdir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && app->wdir) {
        say("--wdir %s: %s", app->wdir, strerror(errno));
        return STATUS_USAGE;
    }
    int where = dir < 0 ? AT_FDCWD : dir; /* a current directory that cannot be opened is no fault */
    const char *name = app->argv[0];
    int why = strchr(name, '/') ? refusal(where, name) : search(where, name, &app->path);
    if (why == 0 && !app->path)
        app->path = say_if_null(strdup(name));
    int status = why ? complain(app, where, why) : 0;
    if (dir >= 0)
        close(dir);
    return status;
}
