/* Who is connected to whom. A peer is another worker, named by its PE and its random number. Its connection is made by this worker's
 * call, or by a call of the other worker.
 *
 * Both may call at once. Then the call of the lower PE counts (of two workers of a PE, that with the lower number): that worker refuses the
 * other's call and says so, and the other one waits for the call, or takes it and gives its own up. A worker reaches itself through a
 * pair of sockets: two peers, either of which receives what the other sends. */
#include "net/tcp/inner.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct peer *find_peer(const struct worker *worker, int pe, uint64_t id)
{
    struct peer *peer = worker->peers;
    while (peer && (peer->pe != pe || peer->id != id))
        peer = peer->next;
    return peer;
}

static struct peer *add_peer(struct worker *worker, int pe, uint64_t id)
{
    struct peer *peer = malloc(sizeof *peer);
    if (!peer)
        return 0;
    *peer = (struct peer){.worker = worker, .pe = pe, .id = id, .fd = -1, .next = worker->peers};
    peer->last = &peer->first;
    worker->peers = peer;
    return peer;
}

/* Forgets the peer that was added last, so that nobody finds a connection that was never made. Returns null. */
static struct peer *take_back_peer(struct worker *worker)
{
    struct peer *peer = worker->peers;
    worker->peers = peer->next;
    tcp_peer_free(peer);
    return 0;
}

static void end_call(struct peer *peer)
{
    free(peer->call);
    peer->call = 0;
}

/* The descriptor is in epoll already. */
static void take_connection(struct peer *peer, int fd)
{
    const int on = 1;
    peer->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp_peer_watch(peer);
    peer->worker->hot = peer;
    (void)tcp_push(peer);
}

/* --- Calling */

static void judge_call(struct peer *peer)
{
    struct dialer *call = peer->call;
    const int fd = call->fd;
    switch (call->state) {
    case DIALER_CONNECTED:
        end_call(peer);
        take_connection(peer, fd);
        break;
    case DIALER_CROSSED: end_call(peer); break;
    case DIALER_FAILED: tcp_peer_broken(peer, ECONNREFUSED); break;
    default: break;
    }
}

/* Adds a peer that is connected by the descriptor. Returns null, and the descriptor is closed, without memory. */
static struct peer *add_connected(struct worker *worker, int fd)
{
    struct peer *peer = add_peer(worker, tcp_me, worker->id);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
    if (!peer) {
        close(fd);
        return 0;
    }
    peer->fd = fd;
    return epoll_ctl(worker->events, EPOLL_CTL_ADD, fd, &event) == 0 ? peer : take_back_peer(worker);
}

static struct peer *connect_to_itself(struct worker *worker)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    struct peer *one = add_connected(worker, ends[0]);
    if (!one) {
        close(ends[1]);
        return 0;
    }
    return add_connected(worker, ends[1]) ? one : take_back_peer(worker);
}

struct peer *tcp_peer_connect(struct worker *worker, int pe, const struct tcp_address *address)
{
    struct peer *peer = find_peer(worker, pe, address->id);
    if (peer)
        return peer;
    if (pe == tcp_me && address->id == worker->id)
        return connect_to_itself(worker);
    struct dialer *call = malloc(sizeof *call);
    peer = call ? add_peer(worker, pe, address->id) : 0;
    if (!peer) {
        free(call);
        return 0;
    }
    *call = (struct dialer){.events = worker->events,
                            .mark = peer,
                            .key = {address->key[0], address->key[1]},
                            .me = (uint32_t)tcp_me,
                            .pe = (uint32_t)pe,
                            .word = worker->id,
                            .to = address->routes,
                            .from = worker->here};
    peer->call = call;
    dialer_start(call);
    return call->state == DIALER_FAILED ? take_back_peer(worker) : peer;
}

/* --- Being called */

bool tcp_peer_wants(void *of, const struct handshake_hello *hello)
{
    const struct worker *worker = of;
    const struct peer *peer = find_peer(worker, (int)hello->from, hello->word);
    if (!peer)
        return true;
    const bool first = (int)hello->from == tcp_me ? hello->word < worker->id : (int)hello->from < tcp_me;
    return peer->fd < 0 && (!peer->call || first);
}

void tcp_peer_let_in(void *of, int fd, const struct handshake_hello *hello)
{
    struct worker *worker = of;
    struct peer *peer = find_peer(worker, (int)hello->from, hello->word);
    if (!peer && !(peer = add_peer(worker, (int)hello->from, hello->word))) {
        close(fd);
        return;
    }
    if (peer->call) {
        dialer_stop(peer->call, DIALER_CROSSED);
        end_call(peer);
    }
    take_connection(peer, fd);
}

/* --- News */

int tcp_peer_news(struct peer *peer, uint32_t what)
{
    if (peer->call) {
        dialer_event(peer->call);
        judge_call(peer);
        return 1;
    }
    int count = what & EPOLLOUT ? tcp_push(peer) : 0;
    if (what & ~(uint32_t)EPOLLOUT && tcp_read(peer)) {
        peer->worker->hot = peer;
        count++;
    }
    return count;
}

void tcp_peer_free(struct peer *peer)
{
    if (peer->call)
        dialer_stop(peer->call, DIALER_FAILED);
    end_call(peer);
    if (peer->fd >= 0)
        close(peer->fd);
    while (peer->first) {
        struct out *out = peer->first;
        peer->first = out->next;
        free(out);
    }
    if (peer->rest && peer->rest->placed)
        free(peer->rest);
    free(peer->part);
    free(peer);
}
