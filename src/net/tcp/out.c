/* Sends. A message that the kernel does not take as a whole waits, and all later ones to this peer behind it; header and data stay
 * where they are until it has left. */
#include "net/tcp/inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define COPIED ((size_t)1 << 10) /* messages up to this size are copied together, since send costs less than sendmsg */
#define AT_ONCE 8                /* waiting messages that leave in one call at most */

static void skip_bytes(struct iovec *piece, size_t *gone)
{
    const size_t step = *gone < piece->iov_len ? *gone : piece->iov_len;
    piece->iov_base = (char *)piece->iov_base + step;
    piece->iov_len -= step;
    *gone -= step;
}

static size_t size_of(const struct out *out)
{
    return sizeof out->word + (out->word & 0xFFFF) + (out->word >> 16);
}

/* Describes what is left of a message, in three pieces. */
static void describe_pieces(const struct out *out, size_t gone, struct iovec pieces[3])
{
    pieces[0] = (struct iovec){(void *)(uintptr_t)&out->word, sizeof out->word};
    pieces[1] = (struct iovec){(void *)(uintptr_t)out->header, out->word & 0xFFFF};
    pieces[2] = (struct iovec){(void *)(uintptr_t)out->data, out->word >> 16};
    for (int i = 0; i < 3; i++)
        skip_bytes(&pieces[i], &gone);
}

/* Returns 0 when the kernel takes nothing at the moment; -1: the connection is lost. */
static ssize_t judge_error(void)
{
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == EFAULT ? 0 : -1;
}

/* Returns the bytes that the kernel took; 0: none at the moment; -1: the connection is lost. Where the program's data cannot be read, the
 * process ends as it does when it copies them to a PE on its node: by a signal that names the address. */
static ssize_t send_pieces(const struct peer *peer, struct iovec *pieces, size_t count)
{
    const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    const ssize_t sent = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (size_t i = 0; sent < 0 && errno == EFAULT && i < count; i++)
        for (size_t at = 0; at < pieces[i].iov_len; at++)
            (void)((const volatile char *)pieces[i].iov_base)[at];
    return sent >= 0 ? sent : judge_error();
}

static ssize_t send_now(const struct peer *peer, const struct out *out)
{
    const size_t header_bytes = out->word & 0xFFFF, bytes = out->word >> 16, whole = size_of(out);
    if (lat_likely(whole <= COPIED)) {
        char copy[COPIED];
        memcpy(copy, &out->word, sizeof out->word);
        memcpy(copy + sizeof out->word, out->header, header_bytes);
        if (bytes)
            memcpy(copy + sizeof out->word + header_bytes, out->data, bytes);
        const ssize_t sent = send(peer->fd, copy, whole, MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent >= 0 ? sent : judge_error();
    }
    struct iovec pieces[3];
    describe_pieces(out, 0, pieces);
    return send_pieces(peer, pieces, 3);
}

static struct out *new_out(struct worker *worker)
{
    struct out *out = worker->idle;
    if (out)
        worker->idle = out->next;
    return out ? out : malloc(sizeof *out);
}

static enum transport_status queue_out(struct peer *peer, const struct out *message, size_t gone)
{
    struct out *out = new_out(peer->worker);
    if (!out)
        return TRANSPORT_FAILED;
    *out = *message;
    if (!peer->first)
        peer->left = gone;
    *peer->last = out;
    peer->last = &out->next;
    peer->worker->queued++;
    if (!peer->blocked)
        tcp_peer_watch(peer);
    return TRANSPORT_PENDING;
}

enum transport_status tcp_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                               void *token)
{
    struct peer *peer = to;
    const struct out out = {TCP_WORD(bytes, header_bytes), header, data, token, 0};
    if (lat_unlikely(peer->fd < 0 || peer->first))
        return queue_out(peer, &out, 0);
    const ssize_t sent = send_now(peer, &out);
    if (lat_likely(sent == (ssize_t)size_of(&out)))
        return TRANSPORT_DONE;
    return sent < 0 ? TRANSPORT_FAILED : queue_out(peer, &out, (size_t)sent);
}

/* Takes off the messages that have left with the first `sent` bytes of the queue. Returns their number. An event may queue more. */
static int take_sent(struct peer *peer, size_t sent)
{
    int count = 0;
    peer->left += sent;
    while (peer->first && peer->left >= size_of(peer->first)) {
        struct out *out = peer->first;
        void *token = out->token;
        peer->left -= size_of(out);
        peer->first = out->next;
        if (!peer->first)
            peer->last = &peer->first;
        out->next = peer->worker->idle;
        peer->worker->idle = out;
        peer->worker->queued--;
        count++;
        tcp_events->finished(token, 0);
    }
    return count;
}

static ssize_t send_waiting(const struct peer *peer)
{
    struct iovec pieces[3 * AT_ONCE];
    size_t count = 0;
    for (const struct out *out = peer->first; out && count < 3 * AT_ONCE; out = out->next, count += 3)
        describe_pieces(out, count ? 0 : peer->left, &pieces[count]);
    return send_pieces(peer, pieces, count);
}

int tcp_push(struct peer *peer)
{
    int count = 0;
    while (peer->first && peer->fd >= 0) {
        const ssize_t sent = send_waiting(peer);
        if (sent < 0) {
            tcp_peer_broken(peer, errno);
            break;
        }
        if (!sent)
            break;
        count += take_sent(peer, (size_t)sent);
    }
    if (peer->blocked != (peer->first && peer->fd >= 0))
        tcp_peer_watch(peer);
    return count;
}
