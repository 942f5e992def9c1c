/* The talk with a PMI launcher where the kernel does less than asked: calls that are interrupted, write in pieces or nothing, or fail; a
 * connection that is a pipe; and a launcher that is silent. The kernel's answers are made up, one list for each case. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t send_made_up(int fd, const void *data, size_t bytes, int flags);
static ssize_t write_made_up(int fd, const void *data, size_t bytes);
static ssize_t read_made_up(int fd, void *to, size_t bytes);
static int poll_made_up(struct pollfd *of, nfds_t count, int limit);
#define send send_made_up
#define write write_made_up
#define read read_made_up
#define poll poll_made_up
#include "rte/pmi_talk.c"
#undef write
#undef read

#include "unit/check.h"

/* What one call returns: bytes or descriptors, or -errno. */
static const long *sends, *polls, *reads;
static int calls, writes; /* all; those by write */
static char spoken[64];
static const char *heard; /* what read still brings */

static long next_of(const long **answers)
{
    const long answer = *(*answers)++;
    CHECK(++calls < 20);
    errno = answer < 0 ? (int)-answer : EINTR;
    return answer < 0 ? -1 : answer;
}

static ssize_t send_made_up(int fd, const void *data, size_t bytes, int flags)
{
    const long now = next_of(&sends);
    CHECK(fd == 0 && flags == MSG_NOSIGNAL && now <= (long)bytes);
    if (now > 0)
        strncat(spoken, data, (size_t)now);
    return now;
}

static ssize_t write_made_up(int fd, const void *data, size_t bytes)
{
    writes++;
    return send_made_up(fd, data, bytes, MSG_NOSIGNAL);
}

static ssize_t read_made_up(int fd, void *to, size_t bytes)
{
    const long now = next_of(&reads);
    CHECK(fd == 0 && now <= (long)bytes);
    if (now > 0) {
        memcpy(to, heard, (size_t)now);
        heard += now;
    }
    return now;
}

static int poll_made_up(struct pollfd *of, nfds_t count, int limit)
{
    CHECK(of->fd == 0 && of->events == POLLIN && count == 1 && limit == (int)env_number(ENV_PEER_TIMEOUT) * 500);
    return (int)next_of(&polls);
}

static void begin(void)
{
    memset(&pmi_talk, 0, sizeof pmi_talk);
    memset(spoken, 0, sizeof spoken);
    calls = writes = 0;
}

static bool speaks(const long *answers)
{
    begin();
    sends = answers;
    const bool spoke = pmi_speak("words\n", 6) == 0;
    CHECK(spoke == (strcmp(spoken, "words\n") == 0) && pmi_talk.broken == !spoke && spoke == !*pmi_talk.why);
    return spoke;
}

static void sends_all(void)
{
    CHECK(speaks((long[]){6}) && calls == 1);
    CHECK(speaks((long[]){2, 3, 1}) && calls == 3 && writes == 0);
    CHECK(speaks((long[]){-EINTR, 2, -EINTR, 4}) && calls == 4 && writes == 0);
    CHECK(speaks((long[]){0, 6}) && calls == 2 && writes == 0);
    CHECK(speaks((long[]){-ENOTSOCK, 2, -ENOTSOCK, -EINTR, -ENOTSOCK, 4}) && calls == 6 && writes == 3);
    CHECK(!speaks((long[]){-EPIPE}) && calls == 1 && writes == 0 && strstr(pmi_talk.why, strerror(EPIPE)));
    CHECK(!speaks((long[]){3, -ENOTSOCK, -EPIPE}) && calls == 3 && writes == 1);
    CHECK(pmi_speak("more\n", 5) == -1 && calls == 3); /* broken */
}

/* Returns whether the answer comes. */
static bool hears(const char *text, const long *ready, const long *pieces)
{
    begin();
    heard = text;
    polls = ready;
    reads = pieces;
    const char *line = pmi_expect("good");
    CHECK(!line || strcmp(line, "cmd=good rc=0") == 0);
    return line != 0;
}

static void hears_all(void)
{
    static const char answer[] = "cmd=good rc=0\n";
    CHECK(hears(answer, (long[]){1}, (long[]){14}) && calls == 2);
    CHECK(hears(answer, (long[]){1, 1}, (long[]){3, 11}) && calls == 4);
    CHECK(hears(answer, (long[]){-EINTR, 1}, (long[]){14}) && calls == 3);
    CHECK(hears(answer, (long[]){0, -EINTR, 1}, (long[]){14}) && calls == 4);
    CHECK(hears(answer, (long[]){1, 1}, (long[]){-EINTR, 14}) && calls == 4);
    CHECK(hears(answer, (long[]){-EIO}, (long[]){14}) && calls == 2); /* read tells */
    CHECK(!hears(answer, (long[]){0, 0}, 0) && calls == 2 && strstr(pmi_talk.why, "has not answered for as long"));
    CHECK(!hears(answer, (long[]){0, -EINTR, 0}, 0) && calls == 3 && strstr(pmi_talk.why, "has not answered"));
    CHECK(!hears(answer, (long[]){1}, (long[]){0}) && calls == 2 && strstr(pmi_talk.why, "it was closed"));
    CHECK(!hears(answer, (long[]){-EIO}, (long[]){-EIO}) && calls == 2 && strstr(pmi_talk.why, strerror(EIO)));
}

int main(void)
{
    const char *why = "";
    setenv("LATERAL_PEER_TIMEOUT", "30", 1);
    CHECK(env_load(&why) == 0 && env_number(ENV_PEER_TIMEOUT) == 30);
    sends_all();
    hears_all();
    return 0;
}
