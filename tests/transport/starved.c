/* One call of a transport that gets no memory, no socket or no descriptor (tests/trust/failing.c), each in its turn: whatever
 * fails is told, by the slot or by an event, or nothing has failed. For a transport whose name is given:
 *
 *   starved MODULES LIST FAILING CALLS
 *
 * FAILING is the library to preload, CALLS the names that it knows, such as malloc,socket. */
#include "transport/net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 60, SECONDS = 20 };

bool net_claims(const char *what)
{
    (void)what;
    return false;
}

static bool is_told(void)
{
    for (int i = 0; i < net.pes * net.workers; i++)
        if (net_worker(i / net.workers, i % net.workers)->failed)
            return true;
    return false;
}

static void talk(void)
{
    for (int i = 0; i < 30 && !is_told(); i++) {
        struct net_worker *from = net_worker(i % 2, 0);
        net_send(from, i % 5 ? !from->pe : from->pe, 0, i % 6 ? 2000 : 100000);
        net_pump();
    }
    while (!net_settled() && !is_told())
        net_idle(net_pump());
}

/* The process in which a call fails. */
static int live(void)
{
    program_invocation_short_name = "of the test"; /* its own calls do not fail */
    net.seed = 1;
    alarm(SECONDS);
    net.may_fail = true;
    const char *why = net_open(0, 2, 2, 1);
    if (why)
        return 0;
    net_worker(1, 0)->late = 50;
    for (int i = 0; i < 300 && !net_settled(); i++)
        net_pump();
    talk();
    for (int pe = 0; pe < 2; pe++)
        net_close(pe);
    return 0;
}

/* Empties the file in which the library notes that a call has failed. */
static void empty_note(const char *hit)
{
    const int fd = open(hit, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0, "%s", hit);
    close(fd);
}

static bool is_noted(const char *hit)
{
    struct stat file;
    return stat(hit, &file) == 0 && file.st_size > 0;
}

/* Returns false when the call was made less often than that. */
static bool fails_at(char **words, const char *call, int at, const char *hit)
{
    char number[16];
    int status;
    snprintf(number, sizeof number, "%d", at);
    empty_note(hit);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_PRELOAD", words[3], 1);
        setenv("FAIL_CALL", call, 1);
        setenv("FAIL_AT", number, 1);
        setenv("FAIL_WHO", "all", 1);
        setenv("FAIL_OURS", "1", 1);
        setenv("FAIL_HIT", hit, 1);
        execl("/proc/self/exe", "suite", words[1], words[2], (char *)0);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    CHECK(status == 0, "%s over %s where %s number %d fails: status %#x", words[0], words[2], call, at, status);
    return is_noted(hit);
}

int main(int count, char **words)
{
    char hit[64], *rest;
    if (count < 3)
        return 2;
    net.modules = words[1];
    net.list = words[2];
    setenv("LATERAL_TRANSPORTS", net.list, 1);
    if (count < 5)
        return live();
    snprintf(hit, sizeof hit, "/tmp/lateral-starved-%d", getpid());
    rest = words[4];
    for (char *call; (call = strsep(&rest, ","));) {
        int at = 1;
        while (at < MOST && fails_at(words, call, at, hit))
            at++;
        printf("%s: each of %d calls has failed once over %s\n", call, at - 1, net.list);
        CHECK(at > 1, "the transport calls %s", call);
    }
    unlink(hit);
    return 0;
}
