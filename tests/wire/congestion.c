/* LATERAL_TCP_CONGESTION chooses what the connections between PEs have; what the kernel refuses ends the job with one line.
 * pes: 2
 * case: reno
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp LATERAL_TCP_CONGESTION=reno
 * case: unknown
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp LATERAL_TCP_CONGESTION=no-such
 * fails: LATERAL_TCP_CONGESTION names no congestion control that this process may choose
 */
#include "../conform/check.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { FILES = 256 };

static long word;

static int is_between_pes(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    int on = 0;
    socklen_t on_size = sizeof on;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.ss_family != AF_UNIX &&
           getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &on_size) == 0 && on;
}

int main(void)
{
    int found = 0;
    check_start();
    shmem_long_p(&word, 1, next_pe);
    shmem_barrier_all();
    for (int fd = 3; fd < FILES; fd++) {
        char name[32] = "";
        socklen_t size = sizeof name - 1;
        if (!is_between_pes(fd))
            continue;
        CHECK(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0);
        found += strcmp(name, "reno") == 0;
    }
    CHECK(found > 0);
    return check_pass();
}
