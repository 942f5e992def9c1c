/* Tells when a peer is gone, which libfabric's providers do not, or only when the next message fails.
 *
 * A line is a TCP connection to the process of a peer. Nobody sends on it, so it ends with that process, whatever the provider has
 * under way. Each worker dials the peers that it knows, so it depends on no poll of theirs; both ends watch the line. Where a
 * route leads nowhere, or
 * descriptors are few, there is no line, and the job goes on without it.
 *
 * What a peer has sent may still be in the provider when its line ends. So the loss is told GRACE later, when nothing comes. */
#include "net/ofi/inner.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PENDING = 32, PENDING_SECONDS = 20 };
#define GRACE (CLOCK_SECOND / 20)

struct ofi_line {
    struct worker *worker;
    struct dialer *dialer; /* null: no call is under way */
    int fd, pe;
    uint32_t id;   /* of the worker at the other end */
    uint64_t lost; /* when it ended; 0: it has not, or that has been told */
    struct ofi_line *next;
};

/* Half of the descriptors are the program's. */
static bool has_descriptors(const struct worker *worker)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)worker->line_count < files.rlim_cur / 2;
}

static struct ofi_line *add_line(struct worker *worker, int fd, int pe, uint32_t id)
{
    struct ofi_line *line = has_descriptors(worker) ? malloc(sizeof *line) : 0;
    if (!line)
        return 0;
    *line = (struct ofi_line){.worker = worker, .fd = fd, .pe = pe, .id = id, .next = worker->lines};
    worker->lines = line;
    worker->line_count++;
    return line;
}

static void note_lost(struct ofi_line *line)
{
    line->lost = clock_nanoseconds();
    line->worker->lost_lines++;
}

/* --- Dialing */

static void judge_dialer(struct ofi_line *line)
{
    struct dialer *dialer = line->dialer;
    if (dialer->state < DIALER_CONNECTED)
        return;
    if (dialer->state == DIALER_CONNECTED)
        line->fd = dialer->fd;
    else if (!dialer->unreachable)
        note_lost(line);
    line->dialer = 0;
    free(dialer);
}

void ofi_watch_peer(const struct peer *peer, const struct ofi_watched *there)
{
    struct worker *worker = peer->worker;
    if (!there->routes.port || there->routes.count > ROUTES_MAX || peer->pe == ofi_me)
        return;
    struct ofi_line *line = add_line(worker, -1, peer->pe, peer->id);
    struct dialer *dialer = line ? malloc(sizeof *dialer) : 0;
    if (!dialer)
        return;
    *dialer = (struct dialer){.events = worker->files,
                              .mark = line,
                              .key = {there->key[0], there->key[1]},
                              .me = (uint32_t)ofi_me,
                              .pe = (uint32_t)peer->pe,
                              .word = worker->id,
                              .to = there->routes,
                              .from = worker->watched.routes};
    line->dialer = dialer;
    dialer_start(dialer);
    judge_dialer(line);
}

/* The listener calls it. */
static void accept_line(void *of, int fd, const struct handshake_hello *hello)
{
    struct worker *worker = of;
    struct ofi_line *line = add_line(worker, fd, (int)hello->from, (uint32_t)hello->word);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = line};
    if (!line)
        close(fd);
    else
        (void)epoll_ctl(worker->files, EPOLL_CTL_MOD, fd, &event); /* the listener has put it there */
}

/* --- Events */

static void read_line(struct ofi_line *line)
{
    char word;
    const ssize_t got = recv(line->fd, &word, sizeof word, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close(line->fd);
    line->fd = -1;
    note_lost(line);
}

static void serve_line(struct ofi_line *line)
{
    if (line->dialer) {
        dialer_event(line->dialer);
        judge_dialer(line);
    } else if (line->fd >= 0) {
        read_line(line);
    }
}

int ofi_watch_look(struct worker *worker)
{
    struct epoll_event events[16];
    int found = 0;
    const int count = epoll_wait(worker->files, events, sizeof events / sizeof *events, 0);
    for (int i = 0; i < count; i++) {
        void *mark = events[i].data.ptr;
        if (mark && !listener_event(&worker->listener, mark))
            serve_line(mark);
        found += mark != 0;
    }
    return found;
}

static void tell_lost(const struct ofi_line *line)
{
    static const char why[] = "the other end has closed the connection";
    struct peer *peer = line->worker->peers[line->pe];
    while (peer && peer->id != line->id)
        peer = peer->next;
    if (peer)
        ofi_peer_broken(peer, why);
    else
        ofi_events->broken(line->worker->owner, line->pe, why);
}

void ofi_watch_tell(struct worker *worker)
{
    const uint64_t now = clock_nanoseconds();
    for (struct ofi_line *line = worker->lines; line; line = line->next)
        if (line->lost && now - line->lost >= GRACE) {
            line->lost = 0;
            worker->lost_lines--;
            tell_lost(line);
        }
}

/* --- Life */

void ofi_watch_open(struct worker *worker)
{
    struct routes *routes = &worker->watched.routes;
    worker->listener = (struct listener){.fd = -1,
                                         .timer = -1,
                                         .events = worker->files,
                                         .me = (uint32_t)ofi_me,
                                         .npes = (uint32_t)ofi_npes,
                                         .max_pending = PENDING + (uint32_t)ofi_npes,
                                         .seconds = PENDING_SECONDS,
                                         .accepted = accept_line,
                                         .owner = worker};
    if (routes_find(routes) && !routes->count)
        routes_use_loopback(routes);
    if (getrandom(worker->watched.key, sizeof worker->watched.key, GRND_NONBLOCK) != sizeof worker->watched.key)
        return;
    memcpy(worker->listener.key, worker->watched.key, sizeof worker->listener.key);
    if (listener_open(&worker->listener, routes) != 0)
        routes->port = 0;
}

void ofi_watch_close(struct worker *worker)
{
    while (worker->lines) {
        struct ofi_line *line = worker->lines;
        worker->lines = line->next;
        if (line->dialer)
            dialer_stop(line->dialer, DIALER_FAILED);
        free(line->dialer);
        if (line->fd >= 0)
            close(line->fd);
        free(line);
    }
    listener_close(&worker->listener);
}
