/* The host as the ways see it: its interfaces, the speeds of its devices, and sockets that note what is asked of them. */
#ifndef TESTS_PARTS_TRANSPORT_WAYS_HOST_H
#define TESTS_PARTS_TRANSPORT_WAYS_HOST_H

#include "traced.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 8 };

static struct ifaddrs list[MOST];
static struct sockaddr_in four[MOST];
static char names[MOST][8];
static const char *speeds[MOST]; /* what the files hold; null: there is none */
static bool no_list;
static int freed, open_files;

static int fake_getifaddrs(struct ifaddrs **all)
{
    *all = no_list ? (void *)&no_list : list;
    return no_list ? -1 : 0;
}

static void fake_freeifaddrs(struct ifaddrs *all)
{
    CHECK(all == list);
    freed++;
}

static FILE *fake_fopen(const char *path, const char *how)
{
    CHECK(strncmp(path, "/sys/class/net/", 15) == 0 && strcmp(how, "re") == 0);
    int at = 0;
    while (at < MOST && strncmp(path + 15, names[at], strlen(names[at])) != 0)
        at++;
    CHECK(at < MOST && strcmp(path + 15 + strlen(names[at]), "/speed") == 0);
    open_files += speeds[at] != 0;
    return speeds[at] ? fmemopen((void *)(uintptr_t)speeds[at], strlen(speeds[at]), "r") : 0;
}

static int fake_fclose(FILE *file)
{
    open_files--;
    return (fclose)(file);
}

/* Interfaces ia, ib, ... with the addresses 10.9.8.1, 10.9.8.2, ... */
static void make_interfaces(int count)
{
    for (int i = 0; i < MOST; i++) {
        names[i][0] = 'i';
        names[i][1] = (char)('a' + i);
        speeds[i] = 0;
        four[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090801 + (uint32_t)i)};
        list[i] = (struct ifaddrs){.ifa_next = i + 1 < count ? &list[i + 1] : 0,
                                   .ifa_name = names[i],
                                   .ifa_flags = IFF_UP,
                                   .ifa_addr = (struct sockaddr *)&four[i]};
    }
}

/* --- Sockets */

static int new_six, new_four;            /* what the kernel opens */
static bool no_bind, no_listen, no_name; /* which call fails */
static int connect_error = EINPROGRESS;  /* 0: it connects at once */
static uint16_t given_port;              /* by the kernel */

static const char *text_of(const struct sockaddr *name, socklen_t bytes)
{
    static char text[100];
    char address[60];
    const bool six = name->sa_family == AF_INET6;
    const struct sockaddr_in *as_four = (const void *)name;
    const struct sockaddr_in6 *as_six = (const void *)name;
    CHECK((six || name->sa_family == AF_INET) && bytes == (six ? sizeof *as_six : sizeof *as_four));
    CHECK(!six || (as_six->sin6_flowinfo == 0 && as_six->sin6_scope_id == 0));
    CHECK(inet_ntop(name->sa_family, six ? (const void *)&as_six->sin6_addr : &as_four->sin_addr, address, 60));
    snprintf(text, sizeof text, "%s/%d", address, ntohs(six ? as_six->sin6_port : as_four->sin_port));
    return text;
}

static int fake_socket(int family, int type, int protocol)
{
    CHECK(type == (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC) && protocol == 0);
    CHECK(family == AF_INET || family == AF_INET6);
    note("socket %d;", family == AF_INET ? 4 : 6);
    return family == AF_INET ? new_four : new_six;
}

static int fake_setsockopt(int fd, int level, int what, const void *value, socklen_t bytes)
{
    CHECK(level == IPPROTO_IPV6 && what == IPV6_V6ONLY && bytes == sizeof(int));
    note("only six %d %d;", fd, *(const int *)value);
    return 0;
}

static int fake_bind(int fd, const struct sockaddr *name, socklen_t bytes)
{
    note("bind %d %s;", fd, text_of(name, bytes));
    return no_bind ? -1 : 0;
}

static int fake_listen(int fd, int most)
{
    CHECK(most == SOMAXCONN);
    note("listen %d;", fd);
    return no_listen ? -1 : 0;
}

static int fake_getsockname(int fd, struct sockaddr *name, socklen_t *bytes)
{
    const bool six = name->sa_family == AF_INET6;
    CHECK(*bytes == (six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)));
    if (six)
        ((struct sockaddr_in6 *)(void *)name)->sin6_port = htons(given_port);
    else
        ((struct sockaddr_in *)(void *)name)->sin_port = htons(given_port);
    note("name %d;", fd);
    return no_name ? -1 : 0;
}

static int fake_connect(int fd, const struct sockaddr *name, socklen_t bytes)
{
    note("connect %d %s;", fd, text_of(name, bytes));
    errno = connect_error;
    return connect_error ? -1 : 0;
}

static int fake_close(int fd)
{
    note("close %d;", fd);
    return 0;
}

#define getifaddrs fake_getifaddrs
#define freeifaddrs fake_freeifaddrs
#define fopen fake_fopen
#define fclose(file) fake_fclose(file)
#define socket fake_socket
#define setsockopt fake_setsockopt
#define bind fake_bind
#define listen fake_listen
#define getsockname fake_getsockname
#define connect fake_connect
#define close fake_close

#endif
