#include "base/tool.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ms(void)
{
    return (int64_t)(clock_nanoseconds() / 1000000);
}

/* Returns the environment without LD_PRELOAD, whose layers are for programs; null: no memory. Its words are environ's. */
static char **plain_environment(void)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            list[used++] = environ[i];
    return list;
}

pid_t tool_start(char *const *const *commands, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid = -1;
    char **environment = plain_environment();
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    if (in < 0)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    for (bool started = false; environment && *commands && !started; commands++)
        started = posix_spawnp(&pid, (*commands)[0], &files, &how, *commands, environment) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    free(environment);
    return pid;
}

/* Reads until the tool ends or the time is over. Returns the number of bytes. */
static size_t read_answer(int fd, int ms, char *text, size_t room)
{
    size_t used = 0;
    ssize_t bytes = 1;
    int64_t end = now_ms() + ms;
    while (bytes > 0 && used + 1 < room) {
        struct pollfd poll_in = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_ms();
        if (left <= 0 || poll(&poll_in, 1, (int)left) <= 0)
            break;
        bytes = read(fd, text + used, room - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    return used;
}

size_t tool_run(char *const *const *commands, int *ms, char *text, size_t room)
{
    int ends[2];
    int64_t begin = now_ms();
    text[0] = 0;
    if (*ms <= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t pid = tool_start(commands, -1, ends[1]);
    close(ends[1]);
    size_t used = pid > 0 ? read_answer(ends[0], *ms, text, room) : 0;
    text[used] = 0;
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL); /* it has ended, or has had its time */
        waitpid(pid, NULL, 0);
    }
    *ms -= (int)(now_ms() - begin);
    return used;
}
