/* Counts a PE's messages and requests at its start, from outside, loaded before the library (LD_PRELOAD) under a launcher that speaks PMI-1 on the wire. When the process ends it prints a line
 *
 *   count <requests to the launcher> <bytes to it> <bytes from it>
 *         <connections to PEs> <messages to PEs> <bytes to them>
 *
 * Any thread: the counts are atomic. It knows only the sending calls of UCX's TCP, not those of other transports. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long requests, bytes_out, bytes_in, connections, messages, sent;

static int launcher(void)
{
    const char *fd = getenv("PMI_FD");
    return fd ? atoi(fd) : -1;
}

static int is_internet(int fd)
{
    int domain = 0;
    socklen_t room = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &room) == 0 && (domain == AF_INET || domain == AF_INET6);
}

static ssize_t note(int fd, ssize_t bytes)
{
    if (bytes <= 0)
        return bytes;
    if (fd == launcher()) {
        requests++;
        bytes_out += bytes;
    } else if (is_internet(fd)) {
        messages++;
        sent += bytes;
    }
    return bytes;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
    return note(fd, real(fd, data, bytes, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t (*real)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
    return note(fd, real(fd, message, flags));
}

ssize_t read(int fd, void *data, size_t bytes)
{
    ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, data, bytes);
    if (got > 0 && fd == launcher())
        bytes_in += got;
    return got;
}

int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    connections += address->sa_family == AF_INET || address->sa_family == AF_INET6;
    return real(fd, address, bytes);
}

__attribute__((destructor)) static void tell(void)
{
    char line[160];
    int used = snprintf(line, sizeof line, "count %ld %ld %ld %ld %ld %ld\n", requests, bytes_out, bytes_in,
                        connections, messages, sent);
    if (launcher() >= 0 && write(STDOUT_FILENO, line, (size_t)used) != used)
        _exit(1);
}
