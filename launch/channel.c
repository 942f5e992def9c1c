#include "channel.h"

#include "message.h"
#include "net/auth/auth.h"
#include "rte/node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_BYTES (1u << 16) /* a longer line ends its channel */
#define SEND_MS 2000          /* time for the other end to take a line */
#define PENDING 256           /* connections that have not proved themselves */
#define PENDING_SECONDS 5
#define REQUESTS 16 /* that wait for answers; a further one takes the place of the oldest */

static int meetings = -1; /* an epoll descriptor: connections that have not proved themselves; it is in the loop */
static struct loop_watch meetings_watch;
static struct channel *channels;
static struct listener listener = {.fd = -1, .timer = -1};
static channel_accept *accept_far, *accept_near;
static struct routes here;

static void channel_ready(struct loop_watch *watch);

static void join_loop(struct channel *channel, int fd)
{
    channel->fd = fd;
    channel->up = true;
    channel->ended |= loop_add(fd, EPOLLIN, &channel->watch) != 0;
}

/* fd -1: it is dialed later. */
static struct channel *add_channel(int fd, int peer)
{
    struct channel *channel = say_if_null(calloc(1, sizeof *channel));
    *channel = (struct channel){.watch.ready = channel_ready,
                                .fd = -1,
                                .peer = peer,
                                .in = say_if_null(malloc(LINE_BYTES)),
                                .next = channels};
    if (fd >= 0)
        join_loop(channel, fd);
    return channels = channel;
}

/* ---- connections of the network ---- */

static void accept_party(void *unused, int fd, const struct handshake_hello *hello)
{
    (void)unused;
    epoll_ctl(meetings, EPOLL_CTL_DEL, fd, NULL);
    accept_far(add_channel(fd, (int)hello->from));
}

static void judge_dialer(struct channel *channel)
{
    const struct dialer *dialer = channel->dialer;
    if (dialer->state == DIALER_CROSSED || dialer->state == DIALER_FAILED)
        channel->ended = true;
    if (dialer->state != DIALER_CONNECTED)
        return;
    epoll_ctl(meetings, EPOLL_CTL_DEL, dialer->fd, NULL);
    join_loop(channel, dialer->fd);
    free(channel->dialer);
    channel->dialer = NULL;
    channel->heard(channel, NULL);
}

static void meetings_ready(struct loop_watch *watch)
{
    struct epoll_event ready[64];
    (void)watch;
    int count = epoll_wait(meetings, ready, sizeof ready / sizeof *ready, 0);
    for (int i = 0; i < count; i++) {
        struct channel *channel = ready[i].data.ptr;
        if ((listener.fd >= 0 && listener_event(&listener, channel)) || !channel->dialer)
            continue;
        dialer_event(channel->dialer);
        judge_dialer(channel);
    }
}

/* Routes to this process, and the descriptor for meetings. */
static void open_meetings(void)
{
    if (meetings >= 0)
        return;
    (void)routes_find(&here);
    meetings_watch.ready = meetings_ready;
    meetings = epoll_create1(EPOLL_CLOEXEC);
    if (meetings >= 0)
        (void)loop_add(meetings, EPOLLIN, &meetings_watch);
}

void channels_listen(const uint64_t key[2], uint32_t me, uint32_t parties, channel_accept *accept, struct routes *mine)
{
    open_meetings();
    accept_far = accept;
    listener = (struct listener){.fd = -1,
                                 .timer = -1,
                                 .events = meetings,
                                 .max_pending = PENDING,
                                 .seconds = PENDING_SECONDS,
                                 .key = {key[0], key[1]},
                                 .me = me,
                                 .npes = parties,
                                 .accepted = accept_party};
    if (listener_open(&listener, &here) != 0)
        here.port = 0;
    *mine = here;
}

bool channels_pending(void)
{
    for (uint32_t i = 0; listener.pending && i < listener.max_pending; i++)
        if (listener.pending[i].fd >= 0)
            return true;
    return false;
}

void channels_expect(const uint64_t key[2], uint32_t me)
{
    memcpy(listener.key, key, sizeof listener.key);
    listener.me = me;
}

struct channel *channel_dial(const uint64_t key[2], uint32_t me, uint32_t other, const struct routes *to)
{
    struct channel *channel = add_channel(-1, (int)other);
    open_meetings();
    channel->dialer = say_if_null(calloc(1, sizeof *channel->dialer));
    *channel->dialer = (struct dialer){.events = meetings,
                                       .mark = channel,
                                       .key = {key[0], key[1]},
                                       .me = me,
                                       .pe = other,
                                       .to = *to,
                                       .from = here};
    dialer_start(channel->dialer);
    channel->ended = channel->dialer->state == DIALER_FAILED;
    return channel;
}

/* ---- the place of a listener ---- */

struct place {
    uint64_t key[2];
    struct routes routes;
};
_Static_assert(sizeof NODE_FRONT + 2 * sizeof(struct place) <= NODE_FRONT_BYTES, "the word has room");

void channel_write_place(char *text, const uint64_t key[2], const struct routes *routes)
{
    struct place place;
    memset(&place, 0, sizeof place);
    memcpy(place.key, key, sizeof place.key);
    place.routes = *routes;
    text += sprintf(text, "%s", NODE_FRONT);
    for (size_t i = 0; i < sizeof place; i++)
        text += sprintf(text, "%02x", ((const unsigned char *)&place)[i]);
}

bool channel_read_place(const char *text, uint64_t key[2], struct routes *routes)
{
    struct place place;
    unsigned byte;
    if (strncmp(text, NODE_FRONT, strlen(NODE_FRONT)) != 0)
        return false;
    text += strlen(NODE_FRONT);
    for (size_t i = 0; i < sizeof place; i++, text += 2) {
        if (sscanf(text, "%2x", &byte) != 1)
            return false;
        ((unsigned char *)&place)[i] = (unsigned char)byte;
    }
    memcpy(key, place.key, sizeof place.key);
    *routes = place.routes;
    return routes->count <= ROUTES_MAX;
}

/* ---- processes of this machine ---- */

static socklen_t name_of(pid_t process, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int bytes = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "lateral-watch-%d", (int)process);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

static int door = -1;

static void door_ready(struct loop_watch *watch)
{
    (void)watch;
    int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && is_same_user(fd))
        accept_near(add_channel(fd, -1));
    else if (fd >= 0)
        close(fd);
}

void channels_listen_here(channel_accept *accept)
{
    static struct loop_watch watch = {door_ready};
    struct sockaddr_un name;
    socklen_t bytes = name_of(getpid(), &name);
    accept_near = accept;
    door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door >= 0 && (bind(door, (struct sockaddr *)&name, bytes) != 0 || listen(door, 16) != 0 ||
                      loop_add(door, EPOLLIN, &watch) != 0))
        close(door);
}

int channel_ask(pid_t process)
{
    struct sockaddr_un name;
    socklen_t bytes = name_of(process, &name);
    /* another user may listen there, and accept nobody */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, bytes) == 0 && is_same_user(fd) && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- lines ---- */

static bool send_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t sent = send(fd, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (sent < 0 && errno == EAGAIN && poll(&room, 1, SEND_MS) <= 0)
            return false;
        text += sent > 0 ? sent : 0;
        bytes -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

void channel_send(struct channel *channel, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    if (!channel || !channel->up || channel->ended)
        return;
    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0)
        say_if_null(NULL);
    if (!send_all(channel->fd, text, (size_t)bytes))
        channel->ended = true;
    free(text);
}

void channel_close(struct channel *channel)
{
    if (channel)
        channel->ended = true;
}

/* Passes on the whole lines that have come. */
static void take_lines(struct channel *channel)
{
    char *at = channel->in, *end;
    while (!channel->ended && (end = memchr(at, '\n', channel->have - (size_t)(at - channel->in)))) {
        *end = 0;
        channel->heard(channel, at);
        at = end + 1;
    }
    channel->have -= (size_t)(at - channel->in);
    memmove(channel->in, at, channel->have);
    channel->ended |= channel->have == LINE_BYTES;
}

static void channel_ready(struct loop_watch *watch)
{
    struct channel *channel = (struct channel *)watch;
    if (channel->ended)
        return;
    ssize_t got = recv(channel->fd, channel->in + channel->have, LINE_BYTES - channel->have, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        channel->ended = true;
    if (got > 0) {
        channel->have += (size_t)got;
        take_lines(channel);
    }
}

/* `closed` makes no new channel. */
void channels_sweep(void)
{
    for (struct channel **at = &channels; *at;) {
        struct channel *channel = *at;
        if (!channel->ended) {
            at = &channel->next;
            continue;
        }
        if (channel->closed)
            channel->closed(channel);
        *at = channel->next;
        if (channel->dialer)
            dialer_stop(channel->dialer, DIALER_FAILED);
        free(channel->dialer);
        if (channel->fd >= 0)
            close(channel->fd);
        free(channel->in);
        free(channel);
    }
}

/* ---- requests on their way to the root ---- */

static struct {
    struct channel *by; /* null: gone */
    int id;             /* as it has numbered the request; the node above knows the place in this table, plus 1 */
} requests[REQUESTS];
static unsigned relayed;

void relay_ask(struct channel *above, struct channel *by, int id, int status, const char *title)
{
    const unsigned number = relayed % REQUESTS;
    if (above && above->up) {
        relayed++;
        requests[number].by = by;
        requests[number].id = id;
        channel_send(above, "ask %u %d %s\n", number + 1, status, title);
    } else if (by->peer < 0)
        channel_close(by);
    else
        channel_send(by, "told %d %d\n", id, status);
}

void relay_answer(const char *line)
{
    unsigned number;
    int status, used = 0;
    if (sscanf(line, "%*s %u", &number) != 1 || number - 1 >= REQUESTS)
        return;
    const int id = requests[number - 1].id;
    struct channel *by = requests[number - 1].by;
    if (sscanf(line, "text %*u:%n", &used) == 0 && used)
        channel_send(by, "text %d:%s\n", id, line + used);
    else if (sscanf(line, "told %*u %d", &status) == 1)
        channel_send(by, "told %d %d\n", id, status);
}

void relay_forget(struct channel *by)
{
    for (unsigned i = 0; i < REQUESTS; i++)
        if (requests[i].by == by)
            requests[i].by = NULL;
}
