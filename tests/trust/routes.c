/* The addresses at which other hosts can call this PE: those of devices that the user has named for UCX come first, each in the
 * order in which the host lists them, and no more than there is room for. The host is a network namespace of this test's, with
 * the devices that it makes there; without the rights for one it is skipped. And the sockets: of the interface that the user has
 * chosen, if there is one. */
#include "base/env.h"
#include "net/auth/auth.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SKIP = 77 };

static void write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    (void)!write(fd, text, strlen(text));
    close(fd);
}

/* Runs ip(8) in the namespace. */
static bool ip(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool ip(const char *format, ...)
{
    char words[200] = "exec 2>/dev/null; ip ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words + strlen(words), sizeof words - strlen(words), format, arguments);
    va_end(arguments);
    return system(words) == 0;
}

static void enter_user_namespace(void)
{
    char map[32];
    snprintf(map, sizeof map, "0 %u 1", geteuid());
    if (unshare(CLONE_NEWUSER) != 0)
        return;
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", map);
}

/* A host with its loopback and the devices aa, ab, ... that have the addresses 10.9.0.1, 10.9.0.2, ... */
static void make_host(int devices)
{
    if (unshare(CLONE_NEWNET) != 0) {
        enter_user_namespace();
        if (unshare(CLONE_NEWNET) != 0) {
            printf("skipped: no network namespace for the test\n");
            exit(SKIP);
        }
    }
    bool made = ip("link set lo up");
    for (int i = 0; i < devices; i++)
        made = made && ip("link add name a%c type veth peer name p%c", 'a' + i, 'a' + i) &&
               ip("addr add 10.9.0.%d/32 dev a%c", i + 1, 'a' + i) && ip("link set dev a%c up", 'a' + i);
    if (!made) {
        printf("skipped: ip(8) makes no devices here\n");
        exit(SKIP);
    }
}

/* `wanted`: the last bytes of the addresses in their order. */
static bool found(const char *devices, const char *wanted)
{
    struct routes place = {0};
    setenv("UCX_NET_DEVICES", devices, 1);
    CHECK(routes_find(&place));
    bool same = place.count == (int)strlen(wanted);
    for (int i = 0; same && i < (int)place.count; i++)
        same = place.route[i].address[3] == wanted[i] - '0';
    return same;
}

static void named_devices(void)
{
    make_host(3);
    CHECK(found("none", "123"));
    CHECK(found("ac", "312"));
    CHECK(found("ab,ac", "231"));
    make_host(8);
    CHECK(found("none", "1234"));
    CHECK(found("ah", "8123"));
    CHECK(found("af:1,ag:1", "6712"));
    CHECK(found("ae,af,ag,ah", "5678"));
    CHECK(ip("link set ab down") && ip("addr del 10.9.0.3/32 dev ac"));
    CHECK(found("ad", "4156"));
    unsetenv("UCX_NET_DEVICES");
}

/* An interface that the user has chosen: its first address alone, also when it is loopback, and none when it is down. */
static void chosen_interface(void)
{
    struct routes place = {0};
    make_host(4);
    CHECK(ip("addr add 10.9.0.9/32 dev ab"));
    setenv("LATERAL_INTERFACE", "ab", 1);
    CHECK(routes_find(&place) && place.count == 1 && place.route[0].address[3] == 2);
    setenv("LATERAL_INTERFACE", "lo", 1);
    place = (struct routes){0};
    CHECK(routes_find(&place) && place.count == 1 && place.route[0].address[0] == 127);
    setenv("LATERAL_INTERFACE", "ac", 1);
    CHECK(ip("link set ac down"));
    place = (struct routes){0};
    CHECK(!routes_find(&place) && place.count == 0);
    setenv("LATERAL_INTERFACE", "none", 1);
    CHECK(!routes_find(&place) && place.count == 0);
    unsetenv("LATERAL_INTERFACE");
    CHECK(routes_find(&place) && place.count == 4);
}

/* Addresses of the sixth version, but for those that need the name of a link. */
static void kinds(void)
{
    struct routes place = {0};
    unsigned char six[16];
    make_host(1);
    if (!ip("addr add fe80::1/64 dev aa nodad") || !ip("addr add fd00::7/128 dev aa nodad"))
        return; /* a machine without IPv6 */
    CHECK(inet_pton(AF_INET6, "fd00::7", six) == 1 && routes_find(&place) && place.count == 2);
    CHECK(place.route[0].six == 0 && place.route[0].address[3] == 1);
    CHECK(place.route[1].six == 1 && memcmp(place.route[1].address, six, sizeof six) == 0);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 100; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static struct routes place_at(const char *address)
{
    struct routes place = {.count = 1};
    CHECK(inet_pton(AF_INET, address, place.route[0].address) == 1);
    return place;
}

static bool is_at(int fd, const char *address)
{
    struct sockaddr_in name;
    socklen_t bytes = sizeof name;
    struct in_addr wanted;
    CHECK(inet_pton(AF_INET, address, &wanted) == 1 && getsockname(fd, (struct sockaddr *)&name, &bytes) == 0);
    return name.sin_family == AF_INET && name.sin_addr.s_addr == wanted.s_addr;
}

/* Doors and calls from the chosen interface's address. */
static void sockets(void)
{
    const int before = open_files();
    struct routes there = place_at("127.0.0.5"), mine = place_at("127.0.0.6"), away = place_at("192.0.2.1");
    setenv("LATERAL_INTERFACE", "lo", 1);
    const int door = routes_listen(&there);
    CHECK(door >= 0 && there.port && is_at(door, "127.0.0.5") && routes_listen(&away) == -1 && !away.port);
    int call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0 && is_at(call, "127.0.0.6"));
    close(call);
    mine.count = 2;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    mine.count = 0;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    mine.count = 1;
    mine.route[0].six = 1;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    CHECK(routes_connect(&there, 0, &away) == -1); /* no address of this host */
    unsetenv("LATERAL_INTERFACE");
    call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0 && !is_at(call, "127.0.0.6"));
    close(call);
    close(door);
    struct routes any = {0};
    const int everywhere = routes_listen(&any);
    CHECK(everywhere >= 0 && any.port);
    there.port = any.port;
    call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0);
    close(call);
    close(everywhere);
    CHECK(open_files() == before);
}

/* In a program with a closed standard input: any number is good for a door, and is free again when it cannot be opened. */
static void lowest_number(void)
{
    struct routes there = place_at("127.0.0.5"), away = place_at("192.0.2.1");
    const int input = dup(0);
    setenv("LATERAL_INTERFACE", "lo", 1);
    close(0);
    CHECK(routes_listen(&away) == -1 && fcntl(0, F_GETFD) == -1);
    CHECK(routes_listen(&there) == 0 && there.port);
    CHECK(routes_connect(&there, 0, &there) > 0);
    unsetenv("LATERAL_INTERFACE");
    CHECK(dup2(input, 0) == 0);
}

int main(void)
{
    const char *why = "";
    CHECK(env_load(&why) == 0);
    named_devices();
    chosen_interface();
    kinds();
    sockets();
    lowest_number();
    return 0;
}
