/* PMI-1 as Hydra (MPICH, Intel MPI) and Slurm's pmi2 plugin speak it on the wire: lines of "cmd=word key=value ...",
 * one answer to each. It needs no library.
 *
 * The launcher gives a connected descriptor (PMI_FD with PMI_RANK, PMI_SIZE), or an address and a name to present there
 * (PMI_PORT, PMI_ID). Servers write the words of an answer in different orders and limit the length of a value. So this
 * reads answers by key and sends values as text in pieces.
 *
 * One thread at a time: callers of put, get and fence hold the lock of exchange.c; only one thread starts and ends. */
#include "base/env.h"
#include "base/log.h"
#include "rte/backend.h"
#include "rte/node.h"
#include "rte/pmi_guest.h"
#include "rte/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 4096
#define LOOK_UP_MILLISECONDS 500
#define VALUE_MOST (64u << 20) /* bytes of a value; a longer one is nonsense */
#define PIECE_BYTES 480        /* of a value in one put: 640 characters, below every server's limit */

static struct {
    int fd, pe;
    ino_t connection;          /* identifies the socket behind fd */
    char space[RTE_JOB_BYTES]; /* the key-value space of the job */
    size_t have, taken;        /* bytes in input; length of the line handed out last */
    char input[LINE_BYTES + 1];
    bool broken;   /* connection lost, or nonsense heard: nothing is asked or believed any more */
    bool hushed;   /* a loss is no fault now */
    bool out;      /* the barrier is over; its line may have come in place of another answer */
    char why[320]; /* the first fault while the way to the launcher is opened; one line tells it with what to do */
    bool open;
} pmi = {.fd = -1};

int rte_pmi_is_there(void)
{
    return getenv("PMI_FD") || (getenv("PMI_PORT") && getenv("PMI_ID"));
}

int rte_pmi_is_open(void)
{
    struct stat info;
    const char *fd = getenv("PMI_FD");
    return fd && fstat(atoi(fd), &info) == 0 && S_ISSOCK(info.st_mode);
}

/* The first fault ends the talk, and is all that is printed: an answer that comes late would be taken for that of another
 * request, and a silent launcher waited for once more. Returns -1. */
static int broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!pmi.broken && !pmi.open)
        vsnprintf(pmi.why, sizeof pmi.why, format, arguments);
    else if (!pmi.broken && !pmi.hushed)
        log_vline(format, arguments);
    va_end(arguments);
    pmi.broken = true;
    return -1;
}

static int lost(const char *why)
{
    return broken("the connection to the launcher (PMI) is lost: %s", why);
}

static int speak(const char *line, size_t bytes)
{
    if (pmi.broken)
        return -1;
    for (size_t at = 0; at < bytes;) {
        ssize_t wrote = send(pmi.fd, line + at, bytes - at, MSG_NOSIGNAL);
        if (wrote < 0 && errno == ENOTSOCK)
            wrote = write(pmi.fd, line + at, bytes - at);
        if (wrote < 0 && errno != EINTR)
            return lost(strerror(errno));
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* Returns false when the launcher stays silent for the time that a host may be silent. It counts the time in two
 * halves: a process that was stopped together with the launcher, and goes on with it, still has the second half
 * left. */
static bool pmi_await_input(void)
{
    struct pollfd input = {.fd = pmi.fd, .events = POLLIN};
    int64_t seconds = env_number(ENV_PEER_TIMEOUT);
    int half = seconds <= 0 ? -1 : seconds < 1000000 ? (int)seconds * 500 : 500000000;
    for (int halves = 0; halves < 2;) {
        int ready = poll(&input, 1, half);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* read reports the error */
        halves += ready == 0;
    }
    return false;
}

/* Copies the value of a key in a line, up to the next blank, and cuts it when it does not fit. Returns false when the
 * line lacks the key. */
static bool value_of(const char *line, const char *key, char *value, size_t room)
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
    char *end = memrchr(pmi.input, ' ', pmi.have); /* words before it are whole */
    if (!wanted || !end)
        return false;
    *end = 0;
    bool told = value_of(pmi.input, "cmd", kind, sizeof kind);
    *end = ' ';
    return told && strcmp(kind, wanted) != 0 && strcmp(kind, "barrier_out") != 0;
}

/* Returns the bytes of the next line without its end, or of as much of it as shows that it is not the wanted answer (null:
 * any). Returns -1 when no line can come of what has come, or nothing comes. */
static long await_line(const char *wanted)
{
    for (;;) {
        const char *end = memchr(pmi.input, '\n', pmi.have);
        const size_t bytes = end ? (size_t)(end - pmi.input) : pmi.have;
        if (!is_text(pmi.input, bytes))
            return broken("the launcher (PMI) answers in bytes that are no text");
        if (end || begins_wrong(wanted))
            return (long)bytes;
        if (pmi.have == LINE_BYTES)
            return lost("a line is too long");
        if (!pmi_await_input())
            return lost("it has not answered for as long as LATERAL_PEER_TIMEOUT says");
        ssize_t got = read(pmi.fd, pmi.input + pmi.have, LINE_BYTES - pmi.have);
        if (got == 0 || (got < 0 && errno != EINTR))
            return lost(got == 0 ? "it was closed" : strerror(errno));
        pmi.have += got > 0 ? (size_t)got : 0;
    }
}

/* Returns the next line without its end, valid until the next call; null after one line. */
static const char *hear(const char *wanted)
{
    memmove(pmi.input, pmi.input + pmi.taken, pmi.have -= pmi.taken);
    pmi.taken = 0;
    const long bytes = pmi.broken ? -1 : await_line(wanted);
    if (bytes < 0)
        return 0;
    pmi.input[bytes] = 0;
    pmi.taken = (size_t)bytes < pmi.have ? (size_t)bytes + 1 : pmi.have;
    return pmi.input;
}

/* Returns the answer when it is of the wanted kind and has rc=0 or no rc, else null. */
static const char *expect(const char *kind)
{
    char word[64], rc[16];
    const char *line;
    bool told, out;
    do {
        line = hear(kind);
        told = line && value_of(line, "cmd", word, sizeof word);
        out = told && strcmp(word, "barrier_out") == 0;
        pmi.out = pmi.out || out;
    } while (out && strcmp(kind, word) != 0);
    if (!line)
        return 0;
    if (!told || strcmp(word, kind) != 0) {
        broken("the launcher (PMI) answered '%.200s' where %s was due", line, kind);
        return 0;
    }
    return value_of(line, "rc", rc, sizeof rc) && strcmp(rc, "0") != 0 ? 0 : line;
}

static long pass(const char *line, char *answer, size_t bytes)
{
    char word[64];
    const char *heard = speak(line, strlen(line)) == 0 ? hear(0) : 0;
    while (heard && value_of(heard, "cmd", word, sizeof word) && strcmp(word, "barrier_out") == 0) {
        pmi.out = true;
        heard = hear(0);
    }
    return heard ? snprintf(answer, bytes, "%s", heard) : -1;
}

/* Sends one request. Returns the answer when it is good, else null. */
static const char *ask(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *ask(const char *kind, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (bytes < 0 || (size_t)bytes >= sizeof line)
        return errno = EMSGSIZE, (const char *)0; /* PMI_ID or the job's name is too long */
    return speak(line, (size_t)bytes) == 0 ? expect(kind) : 0;
}

static int put(const char *key, const void *value, size_t bytes)
{
    char text[WIRE_TEXT(PIECE_BYTES) + 1];
    size_t at = 0;
    for (int piece = 0; piece == 0 || at < bytes; piece++) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        wire_encode(text, (const char *)value + at, now);
        /* The first piece carries the length of the whole value. */
        if (!ask("put_result", "cmd=put kvsname=%s key=L%s.%d.%d value=%zu.%s\n", pmi.space, key, pmi.pe, piece, bytes,
                 text))
            return broken("the launcher (PMI) did not take %s", key);
        at += now;
    }
    return 0;
}

/* Gets one piece. Every piece carries the length of the whole value before its own bytes. data has room for PIECE_BYTES
 * + 3. Returns the bytes of this piece, or -1. */
static long get_piece(int pe, const char *key, int piece, size_t *total, char *data)
{
    char value[LINE_BYTES], *end;
    const char *line = ask("get_result", "cmd=get kvsname=%s key=L%s.%d.%d\n", pmi.space, key, pe, piece);
    if (!line || !value_of(line, "value", value, sizeof value))
        return -1;
    *total = strtoul(value, &end, 10);
    return *end == '.' && strlen(end + 1) <= WIRE_TEXT(PIECE_BYTES) ? wire_decode(data, end + 1) : -1;
}

/* Puts the pieces together in memory of `total` bytes, the length in the first piece. Returns false when a piece is
 * missing, carries another length, or is longer than the rest. */
static bool get_pieces(int pe, const char *key, char *all, size_t total, char *data, long now)
{
    size_t at = 0, said = total;
    for (int piece = 1;; piece++) {
        if (now < 0 || said != total || (size_t)now > total - at || (now == 0 && total))
            return false;
        memcpy(all + at, data, (size_t)now);
        at += (size_t)now;
        if (at == total)
            return true;
        now = get_piece(pe, key, piece, &said, data);
    }
}

static int get(int pe, const char *key, void **value, size_t *bytes)
{
    char data[PIECE_BYTES + 3];
    size_t total = 0;
    long first = get_piece(pe, key, 0, &total, data);
    char *all = first >= 0 && total <= VALUE_MOST ? malloc(total ? total : 1) : 0;
    if (!all || !get_pieces(pe, key, all, total, data, first)) {
        free(all);
        return broken("PE %d has not told its %s, or the launcher (PMI) has changed it", pe, key);
    }
    *value = all;
    *bytes = total;
    return 0;
}

/* Under the lock no other request is open, so any input is the end of the barrier. */
static bool can_hear(void)
{
    struct pollfd answer = {.fd = pmi.fd, .events = POLLIN};
    return pmi.have > pmi.taken || poll(&answer, 1, 0) > 0;
}

/* After a barrier that timed out, only the end of the job may follow. A get of another thread may read the end of the
 * barrier; then no more input comes to wake this thread. So this thread also looks at intervals. Returns 0, 1 on
 * timeout, -1 on failure. */
static int fence(int seconds, pthread_mutex_t *held)
{
    static const char line[] = "cmd=barrier_in\n";
    struct pollfd answer = {.fd = pmi.fd, .events = POLLIN};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t end = now.tv_sec + seconds;
    pmi.out = false;
    if (speak(line, sizeof line - 1) != 0)
        return -1;
    while (!pmi.out && !can_hear()) {
        pthread_mutex_unlock(held);
        poll(&answer, 1, LOOK_UP_MILLISECONDS);
        clock_gettime(CLOCK_MONOTONIC, &now);
        pthread_mutex_lock(held);
        if (seconds && now.tv_sec > end && !pmi.out && !can_hear())
            return 1;
    }
    return pmi.out || expect("barrier_out") ? 0 : -1;
}

/* An MPI in the same process may share the descriptor, and closes it at its own end. The descriptor may be somebody
 * else's by now. */
static bool connection_is_ours(void)
{
    struct stat info;
    return fstat(pmi.fd, &info) == 0 && info.st_ino == pmi.connection;
}

/* Expects no answer, because the launcher kills this process. It waits first, because Hydra drops output of the PEs
 * that it has not read by then. Returns 0, or -1 when the launcher cannot be reached. */
static int end_job(int status)
{
    char line[64];
    if (!connection_is_ours())
        return -1;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, 0);
    int bytes = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    return send(pmi.fd, line, (size_t)bytes, MSG_NOSIGNAL) == bytes ? 0 : -1;
}

static void finish(void)
{
    if (!connection_is_ours())
        return;
    /* The MPI has said goodbye for this process already, and the launcher may have hung up: no alarm. */
    pmi.hushed = true;
    ask("finalize_ack", "cmd=finalize\n");
    close(pmi.fd);
    pmi.fd = -1;
}

static int descriptor(void)
{
    return connection_is_ours() ? pmi.fd : -1;
}

static const struct rte_backend backend =
    {"a launcher that speaks PMI", put, get, fence, end_job, finish, 0, descriptor};

/* ---- opening ---- */

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

static int call_port(const char *port)
{
    char host[256];
    const char *colon = strrchr(port, ':');
    if (!colon || colon == port || colon - port >= (int)sizeof host)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - port), port);
    int fd = call_number(host, colon + 1);
    return fd >= 0 ? fd : call_name(host, colon + 1);
}

/* Learns the place. After the greeting the server sends three lines of its own: size, rank and debug. Returns 0 or
 * -1. */
static int be_told_place(struct rte_place *place)
{
    if (!ask("initack", "cmd=initack pmiid=%s\n", getenv("PMI_ID")))
        return -1;
    for (int i = 0; i < 3; i++) {
        char number[16];
        const char *line = expect("set");
        if (!line)
            return -1;
        if (value_of(line, "size", number, sizeof number))
            place->npes = atoi(number);
        if (value_of(line, "rank", number, sizeof number))
            place->pe = atoi(number);
    }
    return 0;
}

static int connect_launcher(struct rte_place *place)
{
    const char *fd = getenv("PMI_FD"), *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    if (!fd) {
        pmi.fd = call_port(getenv("PMI_PORT"));
        return pmi.fd >= 0 ? be_told_place(place) : -1;
    }
    if (!rank || !size)
        return -1;
    pmi.fd = atoi(fd);
    place->pe = atoi(rank);
    place->npes = atoi(size);
    (void)fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* a descriptor that is none fails when the launcher is greeted */
    return 0;
}

static int greet(struct rte_place *place)
{
    if (!pmi_guest_has_greeted() && !ask("response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n"))
        return -1;
    const char *line = ask("my_kvsname", "cmd=get_my_kvsname\n");
    if (!line || !value_of(line, "kvsname", pmi.space, sizeof pmi.space))
        return -1;
    memcpy(place->job, pmi.space, sizeof place->job);
    return 0;
}

static void tell_why(int error)
{
    const char *why = pmi.broken ? pmi.why : error ? strerror(error) : "it did not answer as it should";
    log_line("the launcher speaks PMI (PMI_FD, PMI_PORT) but cannot be reached: %s; "
             "start the program with oshrun, or unset these variables",
             why);
}

const struct rte_backend *rte_pmi_open(struct rte_place *place)
{
    *place = (struct rte_place){.pe = -1};
    if (connect_launcher(place) != 0 || greet(place) != 0 || place->pe < 0 || place->pe >= place->npes) {
        tell_why(errno);
        return 0;
    }
    pmi.open = true;
    if (getenv("PMI_FD"))
        pmi.fd = pmi_guest_admit(pmi.fd, pass);
    struct stat info;
    pmi.connection = fstat(pmi.fd, &info) == 0 ? info.st_ino : 0;
    pmi.pe = place->pe;
    return &backend;
}
