/* What the host of a meeting sends to a guest: the guest's index and one descriptor, of which anything may be missing or be
 * something else. A host that cannot tell who has come does not wait for ever. */
#include "../../src/rte/meet.c"

#include "unit/check.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INDEX = 5 };

/* Sends this much of the index, and a control message of this type with so many descriptors. Returns the descriptor that the
 * guest takes for the memory, or -1. */
static int send_and_receive(size_t bytes, int type, int descriptors)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    int ends[2], given[2];
    int32_t words[2] = {INDEX, 0}, index = -1;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && pipe(given) == 0);
    struct iovec data = {words, bytes};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptors) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof(int));
        control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                          .cmsg_type = type,
                                          .cmsg_len = CMSG_LEN((size_t)descriptors * sizeof(int))};
        memcpy(CMSG_DATA(&control.header), given, (size_t)descriptors * sizeof(int));
    }
    CHECK(sendmsg(ends[0], &message, 0) == (ssize_t)bytes);
    close(ends[0]); /* what comes too short is followed by the end */
    int got = receive_file(ends[1], &index);
    if (got >= 0)
        CHECK(index == INDEX && got != given[0] && fcntl(got, F_GETFD) == FD_CLOEXEC && lseek(got, 0, SEEK_CUR) < 0);
    close(ends[1]);
    close(given[0]);
    close(given[1]);
    return got;
}

/* The same in a process of its own. Returns whether the guest took it; -1: the guest crashed. */
static int sent(size_t bytes, int type, int descriptors)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(send_and_receive(bytes, type, descriptors) >= 0);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void nobody_comes(void)
{
    struct party party = {0};
    int ends[2];
    CHECK(gather(&party, -1, 2) == -1); /* it could wait for ever */
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    CHECK(gather(&party, ends[0], 2) == -1); /* nobody can be let in */
    int door = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CHECK(bind(door, (struct sockaddr *)&address, sizeof address.sun_family) == 0 && listen(door, 1) == 0);
    CHECK(gather(&party, door, 2) == 0 && party.count == 0);
    close(door);
    close(ends[0]);
    close(ends[1]);
}

/* Returns whether the node's memory has room for so many PEs, and tells of them. */
static bool holds_all(uint32_t size)
{
    struct party party = {.guests = calloc(size, sizeof *party.guests), .count = size};
    struct node head;
    CHECK(party.guests);
    for (uint32_t i = 0; i < size; i++)
        party.guests[i].hello = (struct hello){.pe = (int32_t)i, .npes = (int32_t)size};
    int fd = make_file(&party);
    return pread(fd, &head, sizeof head, 0) == sizeof head && lseek(fd, 0, SEEK_END) == (off_t)node_fixed_size(size) &&
           head.size == size && head.total == size && head.nodes == 1 && !head.scattered;
}

/* The most PEs that a node may hold. */
static void all_come(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(!holds_all(NODE_MAX_PES));
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

int main(void)
{
    all_come();
    nobody_comes();
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 1) == 1);
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 0) == 0);
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 2) == 0);
    CHECK(sent(2, SCM_RIGHTS, 1) == 0);
    CHECK(sent(2, SCM_RIGHTS, 0) == 0);
    CHECK(sent(0, SCM_RIGHTS, 0) == 0);
    return 0;
}
