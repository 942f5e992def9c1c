/* What pmi.c wants for rte/pmi.c: a launcher that speaks PMI-1, in a thread, and what the library asks of the
 * system. */
#ifndef TESTS_UNIT_PMI_LAUNCHER_H
#define TESTS_UNIT_PMI_LAUNCHER_H

#include "rte/pmi_talk.h"

#include "base/log.h"
#include "rte/backend.h"
#include "rte/pmi_guest.h"
#include "rte/wire.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what the library asks of the system ---- */

static char logged[2048];

static void keep_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

static time_t seconds_now = 100;
static int looks, mpi_started;
static void (*each_look)(void);

static int clock_of_fence(int which, struct timespec *now)
{
    CHECK(which == CLOCK_MONOTONIC);
    *now = (struct timespec){.tv_sec = seconds_now};
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int look(struct pollfd *files, nfds_t count, int milliseconds)
{
    CHECK(count == 1 && files->events == POLLIN && files->fd == pmi_talk.fd && milliseconds == 500 && ++looks < 50);
    CHECK(pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0); /* other threads may ask meanwhile */
    seconds_now += looks % 2;
    if (each_look)
        each_look();
    return 0;
}

/* The MPI of this process: whether it has greeted; it is never let in. */
bool pmi_guest_has_greeted(void)
{
    return mpi_started;
}

int pmi_guest_admit(int fd, pmi_pass *pass)
{
    CHECK(fd == pmi_talk.fd && pass == pmi_relay);
    return fd;
}

/* ---- the launcher ---- */

enum { VALUES = 64 };
static struct value {
    char key[40], value[PMI_LINE];
} values[VALUES];
static size_t nvalues, gets, longest;
static int far_end = -1; /* of the connection */
static const char *space = "space_1", *greeting = "cmd=response_to_init rc=0\n";
static int barriers;
static char last_line[PMI_LINE];

static struct value *value_of(const char *key)
{
    for (size_t i = 0; i < nvalues; i++)
        if (strcmp(values[i].key, key) == 0)
            return &values[i];
    CHECK(nvalues < VALUES);
    strcpy(values[nvalues].key, key);
    return &values[nvalues++];
}

static void serve_line(const char *line, char *reply, size_t room)
{
    char cmd[32] = "", key[40] = "", name[64] = "";
    CHECK(pmi_value_of(line, "cmd", cmd, sizeof cmd));
    strcpy(last_line, line);
    if (pmi_value_of(line, "kvsname", name, sizeof name))
        CHECK(strcmp(name, space) == 0);
    if (strcmp(cmd, "init") == 0) {
        snprintf(reply, room, "%s", greeting);
    } else if (strcmp(cmd, "get_my_kvsname") == 0) {
        snprintf(reply, room, "cmd=my_kvsname rc=0 kvsname=%s\n", space);
    } else if (strcmp(cmd, "initack") == 0) {
        CHECK(strstr(line, "pmiid=id7"));
        snprintf(reply, room, "cmd=initack rc=0\ncmd=set size=5\ncmd=set rank=4\ncmd=set debug=0\n");
    } else if (strcmp(cmd, "put") == 0) {
        CHECK(pmi_value_of(line, "key", key, sizeof key));
        struct value *value = value_of(key);
        CHECK(pmi_value_of(line, "value", value->value, sizeof value->value));
        longest = strlen(value->value) > longest ? strlen(value->value) : longest;
        snprintf(reply, room, "cmd=put_result rc=%d\n", strstr(key, "refused") ? -1 : 0);
    } else if (strcmp(cmd, "get") == 0) {
        CHECK(pmi_value_of(line, "key", key, sizeof key));
        gets++;
        struct value *value = value_of(key);
        snprintf(reply, room, *value->value ? "cmd=get_result rc=0 value=%s\n" : "cmd=get_result rc=-1\n",
                 value->value);
    } else if (strcmp(cmd, "barrier_in") == 0) {
        barriers++; /* its end comes when the test wants it */
    } else if (strcmp(cmd, "finalize") == 0) {
        snprintf(reply, room, "cmd=finalize_ack rc=0\n");
    }
}

/* Plain reads and writes, by which the thread sanitizer sees the order of both ends. */
static void *serve(void *fd_)
{
    const int fd = (int)(intptr_t)fd_;
    char line[PMI_LINE], reply[PMI_LINE + 64];
    for (size_t used = 0; used < sizeof line && read(fd, line + used, 1) == 1; used++)
        if (line[used] == '\n') {
            line[used] = *reply = 0;
            serve_line(line, reply, sizeof reply);
            (void)!write(fd, reply, strlen(reply)); /* the library may have gone */
            used = (size_t)-1;
        }
    close(fd);
    return 0;
}

static pthread_t server;

static void serve_at(int fd)
{
    far_end = fd;
    CHECK(pthread_create(&server, 0, serve, (void *)(intptr_t)fd) == 0);
}

static void set_variables(int fd, const char *rank, const char *size)
{
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    fd >= 0 ? setenv("PMI_FD", number, 1) : unsetenv("PMI_FD");
    rank ? setenv("PMI_RANK", rank, 1) : unsetenv("PMI_RANK");
    size ? setenv("PMI_SIZE", size, 1) : unsetenv("PMI_SIZE");
}

/* Opens the way to the launcher by a descriptor. Returns the table, or null. */
static const struct rte_backend *opens(const char *rank, const char *size, struct rte_place *place)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pmi_talk = (struct pmi_talk){.fd = -1};
    *logged = 0;
    nvalues = gets = longest = 0;
    set_variables(ends[0], rank, size);
    serve_at(ends[1]);
    const struct rte_backend *found = rte_pmi_open(place);
    if (!found)
        close(ends[0]);
    return found;
}

static void closes(void)
{
    close(pmi_talk.fd);
    pthread_join(server, 0);
}

#endif
