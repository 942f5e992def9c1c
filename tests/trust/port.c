/* The launcher's address as PMI_PORT tells it. A number needs no resolver, which a program linked without shared libraries lacks. */
#include "rte/pmi_talk.h"

#include "unit/check.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    (void)host, (void)port, (void)hints, (void)found;
    return EAI_FAIL;
}

static int listen_at(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof *address;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(bind(door, (struct sockaddr *)address, bytes) == 0 && listen(door, 4) == 0);
    CHECK(getsockname(door, (struct sockaddr *)address, &bytes) == 0);
    return door;
}

int main(void)
{
    struct sockaddr_in address;
    char text[400];
    int door = listen_at(&address);
    snprintf(text, sizeof text, "127.0.0.1:%d", ntohs(address.sin_port));
    int fd = pmi_call(text);
    CHECK(fd >= 0);
    close(fd);
    snprintf(text, sizeof text, "launcher.invalid:%d", ntohs(address.sin_port));
    CHECK(pmi_call(text) == -1);
    memset(text, '1', sizeof text - 1);
    strcpy(text + 300, ":1");
    CHECK(pmi_call(text) == -1 && pmi_call(":1") == -1 && pmi_call("127.0.0.1") == -1);
    close(door);
    return 0;
}
