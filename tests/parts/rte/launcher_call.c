/* How a process calls its launcher by HOST:PORT: numbers of both kinds of address, names with several addresses, and what is closed and
 * given back. The network and the resolver are made up. */
#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static int socket_made_up(int family, int type, int protocol);
static int connect_made_up(int fd, const struct sockaddr *address, socklen_t bytes);
static int close_made_up(int fd);
static int resolve_made_up(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found);
static void give_back_made_up(struct addrinfo *found);
static int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = resolve_made_up;
#define socket socket_made_up
#define connect connect_made_up
#define close close_made_up
#define getaddrinfo resolver
#define freeaddrinfo give_back_made_up
#include "rte/pmi_call.c"
#undef close

#include "unit/check.h"

enum { MOST = 4 };

static int next_fd, sockets, connects, closes, resolved, given_back; /* calls */
static int refusals;                                                 /* so many connections fail */
static struct sockaddr_storage called[MOST];
static socklen_t called_bytes[MOST];
static struct sockaddr_in places[3];
static struct addrinfo addresses[3];
static int names; /* addresses of the name; 0: it is not known */
static char host_asked[256], port_asked[16];

static int socket_made_up(int family, int type, int protocol)
{
    CHECK((family == AF_INET || family == AF_INET6) && type == (SOCK_STREAM | SOCK_CLOEXEC) && protocol == 0);
    sockets++;
    return next_fd;
}

static int connect_made_up(int fd, const struct sockaddr *address, socklen_t bytes)
{
    CHECK(fd == next_fd && fd >= 0 && connects < MOST && bytes <= sizeof *called);
    memcpy(&called[connects], address, bytes);
    called_bytes[connects++] = bytes;
    return refusals-- > 0 ? -1 : 0;
}

static int close_made_up(int fd)
{
    CHECK(fd == next_fd);
    closes++;
    return 0;
}

static int resolve_made_up(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    CHECK(hints->ai_socktype == SOCK_STREAM && hints->ai_family == 0 && !*found);
    snprintf(host_asked, sizeof host_asked, "%s", host);
    snprintf(port_asked, sizeof port_asked, "%s", port);
    resolved++;
    for (int i = 0; i < names; i++) {
        places[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)(100 + i))};
        addresses[i] = (struct addrinfo){.ai_addr = (struct sockaddr *)&places[i],
                                         .ai_addrlen = sizeof places[i],
                                         .ai_next = i + 1 < names ? &addresses[i + 1] : 0};
    }
    *found = names ? addresses : 0;
    return names ? 0 : EAI_NONAME;
}

static void give_back_made_up(struct addrinfo *found)
{
    CHECK(found == addresses);
    given_back++;
}

/* Calls where so many connections fail. */
static int calls(const char *port, int fd, int failures)
{
    next_fd = fd;
    refusals = failures;
    sockets = connects = closes = resolved = given_back = 0;
    return pmi_call(port);
}

static void numbers(void)
{
    const struct sockaddr_in *old = (struct sockaddr_in *)&called[0];
    const struct sockaddr_in6 *new = (struct sockaddr_in6 *)&called[0];
    names = 0;
    CHECK(calls("10.1.2.3:4711", 0, 0) == 0 && connects == 1 && !closes && !resolved && called_bytes[0] == sizeof *old);
    CHECK(old->sin_family == AF_INET && old->sin_port == htons(4711) && old->sin_addr.s_addr == htonl(0x0a010203));
    CHECK(calls("fe80::1:65535", 7, 0) == 7 && connects == 1 && !closes && called_bytes[0] == sizeof *new);
    CHECK(new->sin6_family == AF_INET6 &&new->sin6_port == htons(65535) && new->sin6_addr.s6_addr[0] == 0xfe);
    CHECK(new->sin6_addr.s6_addr[15] == 1);
    CHECK(calls("10.1.2.3:4711", 0, 1) == -1 && connects == 1 && closes == 1 && resolved == 1 && !given_back);
    CHECK(calls("10.1.2.3:4711", -1, 0) == -1 && sockets == 1 && !connects && !closes);
}

static void hosts(void)
{
    names = 1;
    CHECK(calls("head.cluster:80", 5, 0) == 5 && resolved == 1 && connects == 1 && given_back == 1 && !closes);
    CHECK(strcmp(host_asked, "head.cluster") == 0 && strcmp(port_asked, "80") == 0);
    names = 3;
    CHECK(calls("head:80", 0, 1) == 0 && connects == 2 && closes == 1 && given_back == 1);
    for (int i = 0; i < 2; i++)
        CHECK(((struct sockaddr_in *)&called[i])->sin_port == htons((uint16_t)(100 + i)));
    CHECK(calls("head:80", 5, 3) == -1 && connects == 3 && closes == 3 && given_back == 1);
    names = 0;
    CHECK(calls("head:80", 5, 0) == -1 && resolved == 1 && !sockets && !given_back);
    resolver = 0; /* a program that is linked statically */
    CHECK(calls("head:80", 5, 0) == -1 && !sockets && calls("10.1.2.3:80", 5, 0) == 5);
    resolver = resolve_made_up;
}

static void no_ports(void)
{
    char text[300];
    names = 1;
    CHECK(calls("head", 5, 0) == -1 && calls(":80", 5, 0) == -1 && calls("", 5, 0) == -1 && !resolved && !sockets);
    memset(text, 'h', sizeof text);
    strcpy(text + 255, ":80");
    CHECK(calls(text, 5, 0) == 5 && strlen(host_asked) == 255);
    strcpy(text + 255, "h:80"); /* one letter more than there is room for */
    CHECK(calls(text, 5, 0) == -1 && !resolved && !sockets);
}

int main(void)
{
    numbers();
    hosts();
    no_ports();
    return 0;
}
