#include "symbolizer.h"

#include "loop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL_MS 5000 /* time for all runs of the tool together; a file with much debug information is slow to read */

static int64_t spent; /* milliseconds */

/* Becomes the tool. All three print "path/file.c:12", llvm's with a column behind it. */
static _Noreturn void become_tool(const char *path, const char *address, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, 0);
    dup2(out, 1);
    dup2(null, 2);
    execlp("addr2line", "addr2line", "-e", path, address, (char *)NULL);
    execlp("eu-addr2line", "eu-addr2line", "-e", path, address, (char *)NULL);
    execlp("llvm-symbolizer", "llvm-symbolizer", "--functions=none", "-e", path, address, (char *)NULL);
    _exit(127);
}

/* Reads until the tool ends or the time is over. Returns the number of bytes. */
static size_t read_answer(int fd, char *text, size_t room)
{
    size_t used = 0;
    ssize_t bytes = 1;
    int64_t begin = loop_now();
    while (bytes > 0 && used + 1 < room) {
        struct pollfd poll_in = {.fd = fd, .events = POLLIN};
        int64_t left = TOOL_MS - spent - (loop_now() - begin);
        if (left <= 0 || poll(&poll_in, 1, (int)left) <= 0)
            break;
        bytes = read(fd, text + used, room - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    text[used] = 0;
    spent += loop_now() - begin;
    return used;
}

/* Returns the bytes of the tool's answer. */
static size_t run_tool(const char *path, uint64_t address, char *text, size_t room)
{
    char number[32];
    int ends[2];
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    if (spent >= TOOL_MS || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0)
        become_tool(path, number, ends[1]);
    close(ends[1]);
    size_t used = pid > 0 ? read_answer(ends[0], text, room) : 0;
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL); /* it has ended, or has had its time */
        waitpid(pid, NULL, 0);
    }
    return used;
}

bool symbolizer_line(const char *path, uint64_t address, char *text, size_t room)
{
    char answer[4096];
    if (!run_tool(path, address, answer, sizeof answer))
        return false;
    answer[strcspn(answer, " \n")] = 0;
    const char *slash = strrchr(answer, '/'), *base = slash ? slash + 1 : answer;
    const char *colon = strchr(base, ':');
    if (!colon || colon[1] == '?' || colon[1] == '0' || base[0] == '?')
        return false;
    snprintf(text, room, "%.*s:%.*s", (int)(colon - base), base, (int)strspn(colon + 1, "0123456789"), colon + 1);
    return true;
}
