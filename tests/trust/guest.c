/* What the host of a meeting sends to a guest: the guest's index and one descriptor, of which anything may be missing or be
 * something else. A host that cannot tell who has come does not wait for ever. It lets in more guests than the process might open, and
 * what a meeting has opened is closed behind it. A name that somebody holds is left to him. */
#include <time.h>

static int pauses; /* counted, and none is made */
static int sleep_made_up(const struct timespec *time, struct timespec *left);
#define nanosleep sleep_made_up
#include "../../src/rte/meet.c"
#undef nanosleep

#include "unit/errors.h"

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

/* ---- names ---- */

static int sleep_made_up(const struct timespec *time, struct timespec *left)
{
    CHECK(time->tv_sec == 0 && !left);
    pauses++;
    return 0;
}

static bool same_name(const char *job, int number, const char *other_job, int other_number)
{
    struct sockaddr_un one, other;
    const socklen_t bytes = name_meeting(job, number, &one),
                    other_bytes = name_meeting(other_job, other_number, &other);
    CHECK(bytes == other_bytes && bytes == offsetof(struct sockaddr_un, sun_path) + 1 + 8 + 32);
    CHECK(one.sun_path[0] == 0 && memcmp(one.sun_path + 1, "lateral-", 8) == 0);
    return memcmp(&one, &other, bytes) == 0;
}

/* All of a job's name counts, also of the longest. */
static void names(void)
{
    char job[RTE_JOB_BYTES], other[RTE_JOB_BYTES];
    CHECK(same_name("a", 0, "a", 0) && !same_name("a", 0, "b", 0) && !same_name("a", 0, "a", 1));
    memset(job, 'j', sizeof job);
    job[sizeof job - 1] = 0;
    strcpy(other, job);
    CHECK(same_name(job, 3, other, 3) && !same_name(job, 3, other, 2));
    other[sizeof other - 2] = 'k';
    CHECK(!same_name(job, 3, other, 3));
}

/* Runs it in a child, whose standard input is closed. */
static void in_a_child(void (*body)(void))
{
    int status;
    forget_errors();
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(errors, STDERR_FILENO);
        close(STDIN_FILENO);
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        tell_errors();
    CHECK(status == 0);
}

static char job[64];

/* Takes the name, and does not listen. Returns the socket. */
static int hold(int number)
{
    struct sockaddr_un address;
    const socklen_t bytes = name_meeting(job, number, &address);
    const int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    CHECK(end >= 0 && bind(end, (const struct sockaddr *)&address, bytes) == 0);
    return end;
}

/* Names 0 and 1 are held; the meeting takes the next, by the same descriptor. */
static void finds_a_name(void)
{
    struct sockaddr_un address, found;
    int end = -1, held[2];
    const int first = dup(STDERR_FILENO);
    CHECK(first == STDIN_FILENO); /* descriptor 0 is one as any other */
    held[0] = hold(0);
    held[1] = hold(1);
    close(first);
    CHECK(take_part_somewhere(job, &end) == 1 && end == first && pauses == 2 * TRIES);
    socklen_t bytes = name_meeting(job, 2, &address), room = sizeof found;
    CHECK(getsockname(end, (struct sockaddr *)&found, &room) == 0 && room == bytes &&
          memcmp(&found, &address, room) == 0);
    CHECK(says("somebody who does not answer holds name 0 of this job's meeting on this node"));
    CHECK(says("holds name 1 of this job's") && !says("holds name 2"));
    CHECK(close(held[0]) == 0 && close(held[1]) == 0 && close(end) == 0);
}

static void finds_none(void)
{
    const struct rte_place place = {.pe = 0, .npes = 2};
    int end = -1;
    for (int number = 0; number < NAMES; number++)
        hold(number);
    CHECK(take_part_somewhere(job, &end) == -1 && errno == EPERM && end >= 0 && close(end) == 0);
    CHECK(says("holds name 3 of this job's") && place.npes == 2);
}

/* ---- descriptors ---- */

enum { GUESTS = 12 };

static int door, guests[GUESTS];

static void let_come(int number, int pe)
{
    struct sockaddr_un address;
    const struct hello hello = {.magic = HELLO_MAGIC, .pe = pe, .npes = GUESTS + 1};
    const socklen_t bytes = name_meeting(job, 0, &address);
    guests[number] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    CHECK(connect(guests[number], (const struct sockaddr *)&address, bytes) == 0);
    CHECK(send(guests[number], &hello, sizeof hello, 0) == sizeof hello);
}

/* Guests 1 .. come to a door, from the last to the first. */
static void let_all_come(void)
{
    const int first = dup(STDERR_FILENO);
    door = hold(0);
    CHECK(listen(door, GUESTS) == 0);
    for (int i = 0; i < GUESTS; i++)
        let_come(i, GUESTS - i);
    close(first);
}

/* More than the soft limit, which is what it was afterwards; one of them gets descriptor 0. */
static void lets_many_in(void)
{
    struct rlimit limit, now;
    struct party party = {0};
    let_all_come();
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max > 100);
    limit.rlim_cur = (rlim_t)guests[GUESTS - 1] + 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(gather(&party, door, GUESTS + 1) == 0 && party.count == GUESTS && party.guests[0].socket == 0);
    for (int i = 0; i < GUESTS; i++)
        CHECK(party.guests[i].hello.pe == GUESTS - i && fcntl(party.guests[i].socket, F_GETFD) == FD_CLOEXEC);
    CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == limit.rlim_cur && now.rlim_max == limit.rlim_max);
    free(party.guests);
}

/* Every guest gets the memory, then the end of the connection; the host keeps the memory alone. */
static void closes_behind_it(void)
{
    const struct rte_place place = {.pe = 0, .npes = GUESTS + 1};
    struct hello mine;
    char byte;
    let_all_come();
    introduce_myself(&place, &mine);
    CHECK(be_host(door, &place, &mine) == 0 && rte.node_index == 0);
    const int next = dup(STDERR_FILENO);
    CHECK((rte.fd == 0 && next > guests[GUESTS - 1]) || next == 0);
    for (int i = 0; i < GUESTS; i++) {
        int32_t index = -1;
        struct stat here, there;
        const int fd = receive_file(guests[i], &index);
        CHECK(fd >= 0 && index == GUESTS - i && fstat(fd, &there) == 0 && fstat(rte.fd, &here) == 0);
        CHECK(here.st_ino == there.st_ino && close(fd) == 0);
        CHECK(recv(guests[i], &byte, 1, MSG_DONTWAIT) == 0);
    }
}

static int fence_answers;

static int fence(int seconds, pthread_mutex_t *held)
{
    CHECK(seconds == 0 && held);
    return fence_answers;
}

static bool maps_memory(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "memfd:lateral") != 0;
    fclose(maps);
    return found;
}

/* A PE that is alone on its node. */
static void meets_itself(void)
{
    static const struct rte_backend made_up = {.fence = fence};
    struct rte_place place = {.pe = 4, .npes = 9};
    struct node head;
    strcpy(place.job, job);
    rte_backend = &made_up;
    const int next = dup(STDERR_FILENO);
    close(next);
    fence_answers = -1;
    CHECK(rte_meet(&place) == -1 && dup(STDERR_FILENO) == next && close(next) == 0);
    fence_answers = 0;
    CHECK(rte_meet(&place) == 0 && rte.launched && rte.node_index == 0 && !maps_memory());
    CHECK(pread(rte.fd, &head, sizeof head, 0) == sizeof head && head.first == 4 && head.total == 9 && head.size == 1);
    CHECK(!head.scattered && head.nodes == 0 && (head.nonce[0] || head.nonce[1]));
    CHECK(dup(STDERR_FILENO) == (rte.fd == next ? next + 1 : next));
}

/* The index of a guest has more than 16 bits. */
static void hands_out_to_many(void)
{
    enum { MANY = 40000 };
    struct party party = {.guests = calloc(MANY, sizeof *party.guests), .count = MANY};
    int ends[2];
    int32_t index = 0;
    CHECK(party.guests && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    for (int i = 0; i < MANY; i++) {
        party.guests[i].hello = (struct hello){.pe = i, .npes = MANY};
        party.guests[i].socket = i == MANY - 1 ? ends[0] : -1;
    }
    CHECK(serve(&party) == 0 && receive_file(ends[1], &index) >= 0 && index == MANY - 1);
    free(party.guests);
}

int main(void)
{
    open_errors();
    snprintf(job, sizeof job, "test-guest-%d", (int)getpid());
    all_come();
    nobody_comes();
    in_a_child(names);
    in_a_child(finds_a_name);
    in_a_child(finds_none);
    in_a_child(lets_many_in);
    in_a_child(closes_behind_it);
    in_a_child(meets_itself);
    in_a_child(hands_out_to_many);
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 1) == 1);
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 0) == 0);
    CHECK(sent(sizeof(int32_t), SCM_RIGHTS, 2) == 0);
    CHECK(sent(2, SCM_RIGHTS, 1) == 0);
    CHECK(sent(2, SCM_RIGHTS, 0) == 0);
    CHECK(sent(0, SCM_RIGHTS, 0) == 0);
    return 0;
}
