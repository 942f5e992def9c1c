#include "tool.h"

#include "loop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become(char *const *const *commands, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, 0);
    dup2(out, 1);
    dup2(null, 2);
    for (; *commands; commands++)
        execvp((*commands)[0], *commands);
    _exit(127);
}

/* Reads until the tool ends or the time is over. Returns the number of bytes. */
static size_t read_answer(int fd, int ms, char *text, size_t room)
{
    size_t used = 0;
    ssize_t bytes = 1;
    int64_t end = loop_now() + ms;
    while (bytes > 0 && used + 1 < room) {
        struct pollfd poll_in = {.fd = fd, .events = POLLIN};
        int64_t left = end - loop_now();
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
    int64_t begin = loop_now();
    text[0] = 0;
    if (*ms <= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0)
        become(commands, ends[1]);
    close(ends[1]);
    size_t used = pid > 0 ? read_answer(ends[0], *ms, text, room) : 0;
    text[used] = 0;
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL); /* it has ended, or has had its time */
        waitpid(pid, NULL, 0);
    }
    *ms -= (int)(loop_now() - begin);
    return used;
}
