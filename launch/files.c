#include "files.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Keeps errno when it is none. */
static bool is_folder(const char *path)
{
    struct stat info;
    int why = errno;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    errno = why;
    return folder;
}

bool files_make_folder(const char *name)
{
    char *path = say_if_null(strdup(name));
    bool good = true;
    for (char *slash = strchr(path + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        good = mkdir(path, 0777) == 0 || is_folder(path);
        if (!good)
            say("--output-filename %s: %s: %s", name, path, strerror(errno));
        *slash = '/';
    }
    free(path);
    return good;
}

int files_open(const char *name, uint32_t pe, uint32_t pes)
{
    char *path;
    int digits = snprintf(NULL, 0, "%u", pes - 1);
    if (asprintf(&path, "%s.%0*u", name, digits, pe) < 0)
        say_if_null(NULL);
    /* appending, so that processes of one PE that open it by /proc do not overwrite each other */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    int why = errno;
    if (fd < 0)
        say("--output-filename: %s: %s", path, strerror(why));
    free(path);
    errno = EIO; /* the line above has told; ENOENT would mean that the program is missing */
    return fd;
}
