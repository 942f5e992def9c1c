/* How the reader of a TCP connection learns that it has ended: the other end has closed it, or has reset it, between messages or
 * within one. A connection without news has not ended. */
#include "../../src/transport/tcp/in.c"

#include "unit/check.h"

#include <sys/socket.h>
#include <unistd.h>

const struct transport_events *tcp_events;
int tcp_me, tcp_npes = 2;

static int ends, error_of_end;

void tcp_peer_broken(struct peer *peer, int error)
{
    CHECK(peer->pe == 1);
    ends++;
    error_of_end = error;
}

/* The other end sends so much of a message's first word, then goes away or not; `unread`: it has not read what came. Returns the
 * error with which the connection ended, or -1 when it has not. */
static int read_after(size_t bytes, bool goes, bool unread)
{
    static const char word[sizeof(uint32_t)] = {4};
    struct lane lane = {.buffer = malloc(TCP_BUFFER)};
    int pair[2];
    CHECK(lane.buffer && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct peer peer = {.lane = &lane, .pe = 1, .fd = pair[0]};
    CHECK(write(pair[1], word, bytes) == (ssize_t)bytes);
    if (unread)
        CHECK(write(pair[0], word, 1) == 1);
    if (goes)
        close(pair[1]);
    ends = 0;
    for (int i = 0; i < 3 && !ends; i++)
        (void)tcp_read(&peer);
    if (!goes)
        close(pair[1]);
    close(pair[0]);
    free(peer.part);
    free(lane.spare);
    free(lane.buffer);
    return ends ? error_of_end : -1;
}

int main(void)
{
    CHECK(read_after(0, false, false) == -1);
    CHECK(read_after(2, false, false) == -1);
    CHECK(read_after(0, true, false) == 0);
    CHECK(read_after(2, true, false) == 0);
    CHECK(read_after(0, true, true) == ECONNRESET);
    return 0;
}
