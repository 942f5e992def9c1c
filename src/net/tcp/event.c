/* What the transport tells its owner of a connection, and what it asks epoll for. */
#include "net/tcp/inner.h"

#include <string.h>
#include <sys/epoll.h>

const struct transport_events *tcp_events;
int tcp_me, tcp_npes;

void tcp_peer_broken(struct peer *peer, int error)
{
    tcp_events->broken(peer->worker->owner, peer->pe,
                       error ? strerror(error) : "the other end has closed the connection");
}

void tcp_peer_watch(struct peer *peer)
{
    if (peer->fd < 0)
        return;
    peer->blocked = peer->first != 0;
    struct epoll_event event = {.events = peer->blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = peer};
    epoll_ctl(peer->worker->events, EPOLL_CTL_MOD, peer->fd, &event);
}
