/* The kernel's congestion control of connections between PEs: its default, or the one that LATERAL_TCP_CONGESTION names. Where the
 * default is BBR, which spaces out by a timer what leaves, another may be several times as fast for long messages (docs/guide/
 * tuning.md). It stays the user's choice, since between two hosts of a virtual machine Reno was slower for answers of 16 KiB. */
#include "net/tcp/inner.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns null for the default. */
static const char *chosen(void)
{
    const char *name = getenv("LATERAL_TCP_CONGESTION");
    return name && *name ? name : 0;
}

bool tcp_congestion_choose(int fd)
{
    const char *name = chosen();
    return !name || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

bool tcp_congestion_known(void)
{
    if (!chosen())
        return true;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool known = fd < 0 || tcp_congestion_choose(fd); /* without a descriptor, a call says so later */
    if (fd >= 0)
        close(fd);
    return known;
}
