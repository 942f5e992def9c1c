/* The MPI reaches the launcher by a descriptor that it has inherited (PMI_FD), or calls it (PMI_PORT with PMI_ID). Some launchers take
 * one greeting from each process, so this library sends none: while the MPI starts, its descriptor is one end of a pair, whose other
 * end a thread holds:
 *
 *     MPI -- PMI_FD, one end of a pair of sockets -- thread -- launcher
 *
 * The thread copies what comes, both ways. Before the first line that begins a barrier it leaves this rank's word. */
#include "mpi/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 4096

#ifdef OPEN_MPI /* may have inherited the variables of another MPI's launcher, and has no use of them */
enum { IS_OPEN_MPI = 1 };
#else
enum { IS_OPEN_MPI = 0 };
#endif

static const char barrier[] = "cmd=barrier_in\n";

static struct {
    pthread_t thread;
    bool stands;    /* the thread is there */
    bool met;       /* the MPI has begun a barrier; the thread's until it is joined, like the rest */
    bool published; /* this rank's word is there */
    int fd, flags;  /* the number by which the MPI knows the connection, and its flags */
    int launcher, mpi;
    char port[512]; /* PMI_PORT, while the MPI finds PMI_FD instead; empty: it has inherited PMI_FD */
    char rank[16];
    char space[256];
} pmi;

static bool send_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        const ssize_t sent = TEMP_FAILURE_RETRY(send(fd, text, bytes, MSG_NOSIGNAL));
        if (sent < 0)
            return false;
        text += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

/* Reads a line of the launcher, byte by byte, since other lines behind it may be the MPI's. Returns false when the connection ends. */
static bool read_line(char line[LINE_BYTES])
{
    size_t have = 0;
    while (have < LINE_BYTES - 1 && TEMP_FAILURE_RETRY(recv(pmi.launcher, line + have, 1, 0)) == 1) {
        if (line[have++] == '\n') {
            line[have - 1] = 0;
            return true;
        }
    }
    return false;
}

/* Copies the value of a key ("rc=") of a line, up to a space. Returns false when the line has none, or no room is left. */
static bool value_of(const char *line, const char *key, char *value, size_t capacity)
{
    const char *at = strstr(line, key);
    const size_t bytes = at ? strcspn(at + strlen(key), " ") : capacity;
    if (bytes >= capacity)
        return false;
    memcpy(value, at + strlen(key), bytes);
    value[bytes] = 0;
    return true;
}

/* Sends a line and reads the answer. Returns false when it tells of a failure, or has no such key. */
static bool query_launcher(const char *line, const char *key, char *value, size_t capacity)
{
    char answer[LINE_BYTES];
    return send_all(pmi.launcher, line, strlen(line)) && read_line(answer) && !strstr(answer, "rc=-") &&
           value_of(answer, key, value, capacity);
}

static void leave_word(void)
{
    char line[512], code[16];
    pmi.met = query_launcher("cmd=get_my_kvsname\n", "kvsname=", pmi.space, sizeof pmi.space);
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=lateral-mpi.%s value=1\n", pmi.space, pmi.rank);
    pmi.published = pmi.met && query_launcher(line, "rc=", code, sizeof code);
}

/* Copies what one end has sent to the other. Returns false when the connection ends. */
static bool pass_on(int from, int to)
{
    char text[LINE_BYTES];
    const ssize_t bytes = TEMP_FAILURE_RETRY(recv(from, text, sizeof text, 0));
    if (bytes <= 0)
        return false;
    if (from == pmi.mpi && !pmi.met && (size_t)bytes >= sizeof barrier - 1 &&
        memcmp(text, barrier, sizeof barrier - 1) == 0)
        leave_word();
    return send_all(to, text, (size_t)bytes);
}

static void *stand_between(void *unused)
{
    struct pollfd end[] = {{.fd = pmi.mpi, .events = POLLIN}, {.fd = pmi.launcher, .events = POLLIN}};
    bool open = true;
    while (open) {
        if (poll(end, 2, -1) < 0)
            continue;
        open =
            (!end[0].revents || pass_on(pmi.mpi, pmi.launcher)) && (!end[1].revents || pass_on(pmi.launcher, pmi.mpi));
    }
    shutdown(pmi.mpi, SHUT_RDWR); /* where the launcher is gone, the MPI learns it */
    return unused;
}

/* No signal of the program's comes to the thread. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pmi.stands = pthread_create(&pmi.thread, 0, stand_between, 0) == 0;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    return pmi.stands;
}

/* Gives the MPI another socket under the number of its connection. */
static void give_mpi(int fd)
{
    if (dup2(fd, pmi.fd) == pmi.fd)
        (void)fcntl(pmi.fd, F_SETFD, pmi.flags);
}

static void put_between(void)
{
    int pair[2];
    pmi.flags = fcntl(pmi.fd, F_GETFD);
    pmi.launcher = fcntl(pmi.fd, F_DUPFD_CLOEXEC, 0);
    if (pmi.launcher < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        if (pmi.launcher >= 0)
            close(pmi.launcher);
        return;
    }
    pmi.mpi = pair[1];
    if (start_thread()) {
        give_mpi(pair[0]);
    } else {
        close(pmi.launcher);
        close(pmi.mpi);
    }
    close(pair[0]);
}

/* Calls the launcher. Returns the socket, or -1. */
static int call_launcher(const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = 0;
    char host[256];
    const char *colon = strrchr(port, ':');
    if (!colon || snprintf(host, sizeof host, "%.*s", (int)(colon - port), port) >= (int)sizeof host ||
        getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return -1;
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM, 0);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

/* Presents this process, as the MPI would, and learns its place: the launcher answers, and sends three lines of its own. */
static bool present_process(char size[16])
{
    char line[LINE_BYTES], answer[16];
    snprintf(line, sizeof line, "cmd=initack pmiid=%s\n", getenv("PMI_ID"));
    if (!query_launcher(line, "cmd=", answer, sizeof answer) || strcmp(answer, "initack") != 0)
        return false;
    for (int i = 0; i < 3; i++) {
        if (!read_line(line))
            return false;
        (void)value_of(line, "size=", size, 16);
        (void)value_of(line, "rank=", pmi.rank, sizeof pmi.rank);
    }
    return *size && *pmi.rank;
}

/* The MPI then finds a connection and its place as if it had inherited them. */
static void connect_launcher(const char *port)
{
    char size[16] = "", fd[16];
    pmi.launcher = call_launcher(port);
    if (pmi.launcher < 0)
        return; /* the MPI says so */
    if (!present_process(size) || strlen(port) >= sizeof pmi.port) {
        close(pmi.launcher);
        return;
    }
    strcpy(pmi.port, port);
    pmi.fd = pmi.launcher;
    snprintf(fd, sizeof fd, "%d", pmi.fd);
    setenv("PMI_FD", fd, 1);
    setenv("PMI_RANK", pmi.rank, 1);
    setenv("PMI_SIZE", size, 1);
    unsetenv("PMI_PORT");
    put_between();
}

static void restore_environment(void)
{
    if (!*pmi.port)
        return;
    setenv("PMI_PORT", pmi.port, 1);
    unsetenv("PMI_FD");
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
}

bool lmpi_pmi_begin(void)
{
    const char *fd = getenv("PMI_FD"), *rank = getenv("PMI_RANK"), *port = getenv("PMI_PORT");
    struct stat info;
    if (IS_OPEN_MPI)
        return false;
    if (!fd && port && getenv("PMI_ID")) {
        connect_launcher(port);
        return true;
    }
    if (!fd || !rank || strlen(rank) >= sizeof pmi.rank || fstat(atoi(fd), &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    pmi.fd = atoi(fd);
    strcpy(pmi.rank, rank);
    put_between();
    return true;
}

bool lmpi_pmi_end(bool *published)
{
    restore_environment();
    if (pmi.stands) {
        give_mpi(pmi.launcher); /* the MPI has the answers to all it has asked */
        shutdown(pmi.mpi, SHUT_RDWR);
        pthread_join(pmi.thread, 0);
        close(pmi.mpi);
        close(pmi.launcher);
        pmi.launcher = pmi.fd;
    }
    pmi.stands = false;
    *published = pmi.published;
    return pmi.met;
}

bool lmpi_pmi_knows(int rank, bool ask)
{
    (void)ask;
    char line[512], value[16];
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=lateral-mpi.%d\n", pmi.space, rank);
    return query_launcher(line, "value=", value, sizeof value);
}
