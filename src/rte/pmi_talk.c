#include "rte/pmi_talk.h"

#include "base/env.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct pmi_talk pmi_talk = {.fd = -1};

int pmi_broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!pmi_talk.broken && !pmi_talk.open)
        vsnprintf(pmi_talk.why, sizeof pmi_talk.why, format, arguments);
    else if (!pmi_talk.broken && !pmi_talk.hushed)
        log_vline(format, arguments);
    va_end(arguments);
    pmi_talk.broken = true;
    return -1;
}

static const char silent[] = "it has not answered for as long as LATERAL_PEER_TIMEOUT says";

static int server_lost(const char *why)
{
    return pmi_broken("the connection to the launcher (PMI) is lost: %s", why);
}

/* Returns the seconds for which the launcher may be silent; 0: for ever. */
static int64_t patience_ms(void)
{
    const int64_t seconds = env_number(ENV_PEER_TIMEOUT);
    return seconds < 1000000 ? seconds : 1000000;
}

bool pmi_await_reader(void)
{
    int left = 0;
    for (int64_t ms = 0; pmi_talk.of_slurm && ioctl(pmi_talk.fd, SIOCOUTQ, &left) == 0 && left > 0; ms++) {
        if (patience_ms() > 0 && ms > 1000 * patience_ms())
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    }
    return true;
}

int pmi_speak(const char *line, size_t bytes)
{
    if (pmi_talk.broken)
        return -1;
    if (!pmi_await_reader())
        return server_lost(silent);
    for (size_t at = 0; at < bytes;) {
        ssize_t wrote = send(pmi_talk.fd, line + at, bytes - at, MSG_NOSIGNAL);
        if (wrote < 0 && errno == ENOTSOCK)
            wrote = write(pmi_talk.fd, line + at, bytes - at);
        if (wrote < 0 && errno != EINTR)
            return server_lost(strerror(errno));
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* Returns false when the launcher stays silent for the time that a host may be silent. It counts the time in two
 * halves: a process that was stopped together with the launcher, and goes on with it, still has the second half
 * left. */
static bool await_input(void)
{
    struct pollfd input = {.fd = pmi_talk.fd, .events = POLLIN};
    const int half = patience_ms() <= 0 ? -1 : (int)patience_ms() * 500;
    for (int halves = 0; halves < 2;) {
        int ready = poll(&input, 1, half);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* read reports the error */
        halves += ready == 0;
    }
    return false;
}

bool pmi_value_of(const char *line, const char *key, char *value, size_t room)
{
    size_t bytes = strlen(key);
    for (const char *at = line; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, bytes) == 0 && at[bytes] == '=') {
            snprintf(value, room, "%.*s", (int)strcspn(at + bytes + 1, " "), at + bytes + 1);
            return true;
        }
    }
    return false;
}

/* Returns true when the bytes can be part of a line. */
static bool is_text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\r')
            return false;
    return true;
}

/* Returns true when the line that has begun is of another kind than the wanted one, whatever follows. */
static bool begins_wrong(const char *wanted)
{
    char kind[64];
    char *end = memrchr(pmi_talk.input, ' ', pmi_talk.have); /* words before it are whole */
    if (!wanted || !end)
        return false;
    *end = 0;
    bool told = pmi_value_of(pmi_talk.input, "cmd", kind, sizeof kind);
    *end = ' ';
    return told && strcmp(kind, wanted) != 0 && strcmp(kind, "barrier_out") != 0;
}

/* Returns the bytes of the next line without its end, or of as much of it as shows that it is not the wanted answer (null:
 * any). Returns -1 when no line can come of what has come, or nothing comes. */
static long await_line(const char *wanted)
{
    for (;;) {
        const char *end = memchr(pmi_talk.input, '\n', pmi_talk.have);
        const size_t bytes = end ? (size_t)(end - pmi_talk.input) : pmi_talk.have;
        if (!is_text(pmi_talk.input, bytes))
            return pmi_broken("the launcher (PMI) answers in bytes that are no text");
        if (end || begins_wrong(wanted))
            return (long)bytes;
        if (pmi_talk.have == PMI_LINE)
            return server_lost("a line is too long");
        if (!await_input())
            return server_lost(silent);
        ssize_t got = read(pmi_talk.fd, pmi_talk.input + pmi_talk.have, PMI_LINE - pmi_talk.have);
        if (got == 0 || (got < 0 && errno != EINTR))
            return server_lost(got == 0 ? "it was closed" : strerror(errno));
        pmi_talk.have += got > 0 ? (size_t)got : 0;
    }
}

/* Returns the next line without its end, valid until the next call; null after one line. */
static const char *hear(const char *wanted)
{
    memmove(pmi_talk.input, pmi_talk.input + pmi_talk.taken, pmi_talk.have -= pmi_talk.taken);
    pmi_talk.taken = 0;
    const long bytes = pmi_talk.broken ? -1 : await_line(wanted);
    if (bytes < 0)
        return 0;
    pmi_talk.input[bytes] = 0;
    pmi_talk.taken = (size_t)bytes < pmi_talk.have ? (size_t)bytes + 1 : pmi_talk.have;
    return pmi_talk.input;
}

const char *pmi_expect(const char *kind)
{
    char word[64], rc[16];
    const char *line;
    bool told, out;
    do {
        line = hear(kind);
        told = line && pmi_value_of(line, "cmd", word, sizeof word);
        out = told && strcmp(word, "barrier_out") == 0;
        pmi_talk.out = pmi_talk.out || out;
    } while (out && strcmp(kind, word) != 0);
    if (!line)
        return 0;
    if (!told || strcmp(word, kind) != 0) {
        pmi_broken("the launcher (PMI) answered '%.200s' where %s was due", line, kind);
        return 0;
    }
    return pmi_value_of(line, "rc", rc, sizeof rc) && strcmp(rc, "0") != 0 ? 0 : line;
}

long pmi_relay(const char *line, char *answer, size_t bytes)
{
    char word[64];
    const char *heard = pmi_speak(line, strlen(line)) == 0 ? hear(0) : 0;
    while (heard && pmi_value_of(heard, "cmd", word, sizeof word) && strcmp(word, "barrier_out") == 0) {
        pmi_talk.out = true;
        heard = hear(0);
    }
    return heard ? snprintf(answer, bytes, "%s", heard) : -1;
}

const char *pmi_ask(const char *kind, const char *format, ...)
{
    char line[PMI_LINE];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (bytes < 0 || (size_t)bytes >= sizeof line)
        return errno = EMSGSIZE, (const char *)0; /* PMI_ID or the job's name is too long */
    return pmi_speak(line, (size_t)bytes) == 0 ? pmi_expect(kind) : 0;
}

bool pmi_can_hear(void)
{
    struct pollfd answer = {.fd = pmi_talk.fd, .events = POLLIN};
    return pmi_talk.have > pmi_talk.taken || poll(&answer, 1, 0) > 0;
}

/* ---- a launcher that gives an address ---- */

/* Names of hosts are resolved in programs that are linked with shared libraries alone: the linker warns of getaddrinfo in
 * others, as that loads libraries at run time. Launchers give numbers there too. */
#pragma weak getaddrinfo
#pragma weak freeaddrinfo

/* Returns a connected socket, or -1. */
static int call_address(const struct sockaddr *address, socklen_t bytes)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, address, bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int call_number(const char *host, const char *port)
{
    struct sockaddr_in old = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct sockaddr_in6 new = {.sin6_family = AF_INET6, .sin6_port = old.sin_port};
    if (inet_pton(AF_INET, host, &old.sin_addr) == 1)
        return call_address((struct sockaddr *)&old, sizeof old);
    if (inet_pton(AF_INET6, host, &new.sin6_addr) == 1)
        return call_address((struct sockaddr *)&new, sizeof new);
    return -1;
}

static int call_name(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = 0;
    if (!getaddrinfo || getaddrinfo(host, port, &hints, &found) != 0)
        return -1;
    int fd = -1;
    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = call_address(at->ai_addr, at->ai_addrlen);
    freeaddrinfo(found);
    return fd;
}

int pmi_call(const char *port)
{
    char host[256];
    const char *colon = strrchr(port, ':');
    if (!colon || colon == port || colon - port >= (int)sizeof host)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - port), port);
    int fd = call_number(host, colon + 1);
    return fd >= 0 ? fd : call_name(host, colon + 1);
}
