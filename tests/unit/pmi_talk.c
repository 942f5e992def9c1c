/* The talk with a launcher that speaks PMI-1: lines whole, cut, several at once and wrong ones; the first fault ends it and is told
 * once. This program is the launcher, too. Links no job. */
#include "rte/pmi_talk.h"

#include "base/env.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int launcher = -1; /* the other end */

static void begin(bool open)
{
    int ends[2];
    if (launcher >= 0)
        close(launcher);
    if (pmi_talk.fd >= 0)
        close(pmi_talk.fd);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pmi_talk = (struct pmi_talk){.fd = ends[0], .open = open};
    launcher = ends[1];
}

static void says(const char *text)
{
    CHECK(write(launcher, text, strlen(text)) == (ssize_t)strlen(text));
}

static const char *answer_at_once; /* to the next look for it */
static int waited;                 /* milliseconds that look may take */

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    if (answer_at_once) {
        waited = milliseconds;
        says(answer_at_once);
        answer_at_once = 0;
    }
    return ppoll(files, count, milliseconds < 0 ? 0 : &limit, 0);
}

static void same(const char *found, const char *wanted)
{
    if (!found != !wanted || (found && strcmp(found, wanted) != 0))
        fprintf(stderr, "found \"%s\" instead of \"%s\"\n", found ? found : "(null)", wanted ? wanted : "(null)");
    CHECK(!found == !wanted && (!found || strcmp(found, wanted) == 0));
}

/* ---- words of a line ---- */

static void value(const char *line, const char *key, size_t room, const char *wanted)
{
    char text[64] = "untouched";
    const bool found = pmi_value_of(line, key, text, room);
    same(found ? text : 0, wanted);
    CHECK(found || strcmp(text, "untouched") == 0);
}

static void values(void)
{
    static const char *const line = "cmd=get  xkey=1 keys=2 key=three=3 rc=0 empty= last=end";
    value(line, "cmd", 64, "get");
    value(line, "key", 64, "three=3");
    value(line, "key", 4, "thr");
    value(line, "rc", 64, "0");
    value(line, "empty", 64, "");
    value(line, "last", 64, "end");
    value(line, "ke", 64, 0);
    value(line, "end", 64, 0);
    value(line, "get", 64, 0);
    value("", "cmd", 64, 0);
    value(" ", "cmd", 64, 0);
    value(" cmd=a cmd=b", "cmd", 64, "a");
}

/* ---- answers ---- */

static void answers(void)
{
    begin(true);
    says("cmd=one rc=0 a=b\ncmd=two\ncmd=thr");
    same(pmi_expect("one"), "cmd=one rc=0 a=b");
    CHECK(pmi_can_hear());
    same(pmi_expect("two"), "cmd=two");
    CHECK(pmi_can_hear()); /* a part of a line */
    says("ee x=\t\r\n");
    same(pmi_expect("three"), "cmd=three x=\t\r");
    CHECK(!pmi_can_hear());
    says("cmd=four rc=-1\n"); /* no, but no fault of the talk */
    CHECK(pmi_can_hear());
    same(pmi_expect("four"), 0);
    CHECK(!pmi_talk.broken && !pmi_talk.out);
    says("cmd=five rc=00\n");
    same(pmi_expect("five"), 0);
    CHECK(!pmi_talk.broken);
}

/* The end of a barrier may come before an answer, also while its line is not whole. */
static void barriers(void)
{
    begin(true);
    says("cmd=barrier_out rc=0\ncmd=one\n");
    same(pmi_expect("one"), "cmd=one");
    CHECK(pmi_talk.out);
    begin(true);
    says("cmd=barrier_out rc=0\ncmd=one\n");
    same(pmi_expect("barrier_out"), "cmd=barrier_out rc=0");
    CHECK(pmi_talk.out && pmi_can_hear());
    same(pmi_expect("one"), "cmd=one");
}

static pthread_t talker; /* the main thread */

static void nothing(int number)
{
    (void)number;
}

/* Interrupts what the main thread waits in; it goes on. */
static void interrupt(void)
{
    pthread_kill(talker, SIGUSR1);
}

static void *say_later(void *text)
{
    for (int i = 0; i < 4; i++) {
        poll(0, 0, 5);
        interrupt();
    }
    says(text);
    return 0;
}

static void in_parts(void)
{
    pthread_t thread;
    begin(true);
    says("cmd=barrier_out r");
    CHECK(pthread_create(&thread, 0, say_later, "c=0\ncmd=one value=it\n") == 0);
    same(pmi_expect("one"), "cmd=one value=it");
    CHECK(pmi_talk.out && !pmi_talk.broken);
    pthread_join(thread, 0);
    says("cmd=two val");
    CHECK(pthread_create(&thread, 0, say_later, "ue=it\n") == 0);
    same(pmi_expect("two"), "cmd=two value=it");
    pthread_join(thread, 0);
}

/* ---- faults ---- */

/* What is said where kind `wanted` is due breaks the talk, with these words. */
static void breaks(const char *text, const char *wanted, const char *why)
{
    begin(false);
    says(text);
    same(pmi_expect(wanted), 0);
    CHECK(pmi_talk.broken && pmi_talk.taken <= pmi_talk.have);
    same(pmi_talk.why, why);
    same(pmi_expect(wanted), 0); /* nothing is heard any more, nor said */
    CHECK(pmi_speak("cmd=x\n", 6) == -1 && recv(launcher, (char[8]){0}, 8, MSG_DONTWAIT) == -1);
    same(pmi_talk.why, why);
}

static void wrong_answers(void)
{
    breaks("cmd=two rc=0\n", "one", "the launcher (PMI) answered 'cmd=two rc=0' where one was due");
    breaks("rc=0\n", "one", "the launcher (PMI) answered 'rc=0' where one was due");
    breaks("cmd=two and more", "one",
           "the launcher (PMI) answered 'cmd=two and more' where one was due"); /* no end of the line */
    breaks("cmd=one\x01\n", "one", "the launcher (PMI) answers in bytes that are no text");
    breaks("\x01md=one\n", "one", "the launcher (PMI) answers in bytes that are no text");
    breaks("\n", "one", "the launcher (PMI) answered '' where one was due");
    breaks("cmd=one2\n", "one", "the launcher (PMI) answered 'cmd=one2' where one was due");
}

static void long_lines(void)
{
    static char line[PMI_LINE + 2];
    memset(line, 'x', PMI_LINE);
    memcpy(line, "cmd=one a=", 10);
    line[PMI_LINE - 1] = '\n'; /* as long as a line may be */
    begin(false);
    says(line);
    const char *heard = pmi_expect("one");
    CHECK(heard && strlen(heard) == PMI_LINE - 1 && !pmi_can_hear());
    line[PMI_LINE - 1] = 'x';
    line[PMI_LINE] = '\n';
    breaks(line, "one", "the connection to the launcher (PMI) is lost: a line is too long");
}

static void closed(void)
{
    begin(false);
    says("cmd=one\n");
    close(launcher);
    launcher = -1;
    same(pmi_expect("one"), "cmd=one");
    same(pmi_expect("two"), 0);
    same(pmi_talk.why, "the connection to the launcher (PMI) is lost: it was closed");
    begin(false);
    close(launcher);
    launcher = -1;
    CHECK(pmi_speak("cmd=x\n", 6) == -1 && pmi_talk.broken); /* no signal ends this program */
    same(pmi_talk.why, "the connection to the launcher (PMI) is lost: Broken pipe");
}

/* The launcher may be silent for LATERAL_PEER_TIMEOUT seconds. */
static void silent(void)
{
    struct timespec from, to;
    begin(false);
    clock_gettime(CLOCK_MONOTONIC, &from);
    same(pmi_expect("one"), 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    same(pmi_talk.why,
         "the connection to the launcher (PMI) is lost: it has not answered for as long as LATERAL_PEER_TIMEOUT says");
    CHECK((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec) > 0.99);
}

/* It waits for half of that time, twice. */
static void patience(const char *seconds, int half)
{
    const char *why;
    setenv("LATERAL_PEER_TIMEOUT", seconds, 1);
    CHECK(env_load(&why) == 0);
    begin(false);
    answer_at_once = "cmd=one\n";
    waited = 0;
    same(pmi_expect("one"), "cmd=one");
    if (waited != half)
        fprintf(stderr, "%s seconds: %d ms\n", seconds, waited);
    CHECK(waited == half);
}

/* Lines on stderr: one of the first fault once the talk is open; none while it is hushed. */
static void told_once(void)
{
    char text[512] = "";
    const int kept = dup(STDERR_FILENO), file = memfd_create("stderr", 0);
    CHECK(kept >= 0 && file >= 0);
    begin(true);
    dup2(file, STDERR_FILENO);
    const int first = pmi_broken("first %d", 1), second = pmi_broken("second");
    dup2(kept, STDERR_FILENO);
    CHECK(first == -1 && second == -1 && pread(file, text, sizeof text - 1, 0) >= 0);
    same(text, "lateral: first 1\n");
    same(pmi_talk.why, "");
    begin(true);
    pmi_talk.hushed = true;
    CHECK(ftruncate(file, 0) == 0);
    dup2(file, STDERR_FILENO);
    CHECK(pmi_broken("first") == -1);
    dup2(kept, STDERR_FILENO);
    CHECK(pmi_talk.broken && lseek(file, 0, SEEK_END) == 0);
    close(file);
    close(kept);
}

/* ---- requests ---- */

static void heard(const char *wanted)
{
    char text[PMI_LINE + 1] = "";
    CHECK(recv(launcher, text, sizeof text - 1, MSG_DONTWAIT) == (ssize_t)strlen(wanted));
    same(text, wanted);
}

static void requests(void)
{
    char answer[16] = "";
    begin(false);
    says("cmd=one rc=0\n");
    same(pmi_ask("one", "cmd=%s a=%d\n", "ask", 5), "cmd=one rc=0");
    heard("cmd=ask a=5\n");
    begin(false);
    says("cmd=barrier_out\ncmd=whatever rc=5\ncmd=next\n");
    CHECK(pmi_relay("cmd=other\n", answer, sizeof answer) == 17 && pmi_talk.out);
    same(answer, "cmd=whatever rc");
    heard("cmd=other\n");
    same(pmi_expect("next"), "cmd=next");
    close(launcher);
    launcher = -1;
    CHECK(pmi_relay("cmd=other\n", answer, sizeof answer) == -1);
}

/* A line that is one byte too long to be asked, and the longest. */
static void longest_request(void)
{
    static char line[PMI_LINE + 1];
    memset(line, 'n', PMI_LINE);
    begin(false);
    errno = 0;
    same(pmi_ask("one", "%s", line), 0);
    CHECK(errno == EMSGSIZE && !pmi_talk.broken && recv(launcher, (char[8]){0}, 8, MSG_DONTWAIT) == -1);
    line[PMI_LINE - 1] = 0;
    says("cmd=one\n");
    same(pmi_ask("one", "%s", line), "cmd=one");
    heard(line);
}

/* More than a socket takes at once, to a launcher that reads slowly; and through a pipe, as some launchers give. */
enum { MUCH = 1 << 20 };
static char much[MUCH], arrived[MUCH];

static void *read_all(void *from)
{
    size_t used = 0;
    for (ssize_t got; used < MUCH && (got = read(*(int *)from, arrived + used, 3000)) > 0;) {
        used += (size_t)got;
        if (used < MUCH / 2)
            interrupt();
    }
    CHECK(used == MUCH);
    return 0;
}

static void speaks_much(int *from)
{
    pthread_t thread;
    memset(arrived, 0, sizeof arrived);
    CHECK(pthread_create(&thread, 0, read_all, from) == 0);
    CHECK(pmi_speak(much, MUCH) == 0);
    pthread_join(thread, 0);
    CHECK(memcmp(much, arrived, MUCH) == 0);
}

static void much_to_say(void)
{
    int ends[2];
    for (size_t i = 0; i < MUCH; i++)
        much[i] = (char)('a' + i % 23);
    begin(true);
    speaks_much(&launcher);
    CHECK(pipe(ends) == 0);
    close(pmi_talk.fd);
    pmi_talk.fd = ends[1];
    speaks_much(&ends[0]);
    close(ends[0]);
}

int main(void)
{
    const char *why;
    alarm(50);
    talker = pthread_self();
    CHECK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = nothing}, 0) == 0); /* calls are not restarted */
    setenv("LATERAL_PEER_TIMEOUT", "1", 1);
    CHECK(env_load(&why) == 0);
    values();
    answers();
    barriers();
    wrong_answers();
    long_lines();
    closed();
    told_once();
    silent();
    patience("20", 10000);
    patience("999999", 499999500);
    patience("1000000", 500000000);
    patience("4294967297", 500000000);
    patience("0", -1);
    setenv("LATERAL_PEER_TIMEOUT", "0", 1); /* for ever */
    CHECK(env_load(&why) == 0);
    in_parts();
    requests();
    longest_request();
    much_to_say();
    return 0;
}
