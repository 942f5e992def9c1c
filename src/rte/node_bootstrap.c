/* The one place that decides which PEs are on the same node, for jobs whose launcher is not ours.
 *
 * PEs are on one node when they can reach each other: same user, same network, IPC and pid namespaces, same job. They
 * meet at an abstract socket whose name is a hash of these with a key that PE 0 has drawn and told through the launcher. So
 * this trusts no launcher's claim about places, leaves nothing behind, and nobody else can guess the name. The first PE to
 * take the name is the host. The others connect and introduce themselves. Then all PEs of the job fence, so that the host
 * knows that all its members have come. The host sorts them by number, makes one memory file, and passes the file over the
 * connection. That also proves that they can share the file.
 *
 * Other users see the name once it is taken, and may connect. No call here waits for them: connecting does not block, the
 * host hears the job's own user alone, and it leaves what strangers have sent to a child that ends (leave_strangers).
 *
 * One thread calls it once, in rte_init. */
#include "base/file.h"
#include "base/log.h"
#include "base/siphash.h"
#include "rte/backend.h"
#include "rte/node_bootstrap.h"
#include "rte/rte.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEY "meeting"
#define STRANGER (-1) /* in place of a PE */
#define TRIES 2000    /* of 1 ms, between the host's bind and listen, or when many PEs connect at once */

struct member {
    int socket; /* -1: this process itself */
    struct rte_hello hello;
};

struct party {
    struct member *members;
    size_t count, room;
    bool strangers; /* other users have connected */
};

static ino_t namespace_of(const char *name)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

/* PE 0 draws the key of the meeting, and all get it from the launcher. Returns 0, or -1 after one line. */
static int agree_on_key(const struct rte_rank *place, uint64_t key[2])
{
    size_t bytes = 2 * sizeof *key;
    void *value = place->pe == 0 ? malloc(bytes) : 0;
    if (place->pe == 0 && (!value || getrandom(value, bytes, 0) != (ssize_t)bytes)) {
        log_line("cannot draw a key for this job: %s", strerror(errno));
        free(value);
        return -1;
    }
    int status = place->npes == 1 ? 0 : rte_spread(KEY, place->pe, place->npes, true, &value, &bytes);
    if (status == 0 && bytes == 2 * sizeof *key) {
        memcpy(key, value, bytes);
    } else if (status == 0) {
        log_line("PE 0 tells no key of this job's meeting; do all PEs run the same version of Lateral?");
        status = -1;
    }
    free(value);
    return status;
}

static socklen_t name_meeting(const uint64_t key[2], struct sockaddr_un *address)
{
    char text[128];
    size_t bytes = (size_t)snprintf(text, sizeof text, "%u/%llu/%llu", getuid(),
                                    (unsigned long long)namespace_of("ipc"), (unsigned long long)namespace_of("pid"));
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int used = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "lateral-%016llx",
                        (unsigned long long)siphash(key, text, bytes));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used);
}

static void introduce_myself(const struct rte_rank *place, struct rte_hello *hello)
{
    *hello = (struct rte_hello){.magic = RTE_HELLO_MAGIC, .pe = place->pe, .npes = place->npes};
    _Static_assert(sizeof hello->cpus == 512, "as many processors as the kernel is asked for");
    if (sched_getaffinity(0, sizeof hello->cpus, (cpu_set_t *)hello->cpus) != 0)
        hello->cpus[0] = 1;
}

/* Returns the user at the other end; (uid_t)-1 when the kernel does not tell. */
static uid_t user_of(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.uid : (uid_t)-1;
}

static bool same_user(int socket)
{
    return user_of(socket) == geteuid();
}

/* Returns 1 when this process is the host, 0 when it is connected to the host, and -1 with errno on failure: EPERM when another user
 * holds the name, EAGAIN when the host's queue stays full. The socket does not block. */
static int take_part(int socket, const struct sockaddr_un *address, socklen_t bytes)
{
    for (int i = 0; i < TRIES; i++) {
        if (bind(socket, (const struct sockaddr *)address, bytes) == 0)
            return listen(socket, 65535) == 0 ? 1 : -1;
        if (errno != EADDRINUSE)
            return -1;
        if (connect(socket, (const struct sockaddr *)address, bytes) == 0)
            return same_user(socket) ? 0 : (errno = EPERM, -1);
        if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    }
    return -1;
}

/* Prints why this PE cannot take part; the name is no secret any more. */
static void tell_why(int socket, int error, const struct sockaddr_un *address)
{
    const char *name = address->sun_path + 1;
    if (error == EPERM)
        log_line("cannot meet the other PEs of this node: user %u holds @%s; start the job again", user_of(socket),
                 name);
    else if (error == EAGAIN)
        log_line("cannot meet the other PEs of this node: the queue of @%s stays full, by more PEs than "
                 "net.core.somaxconn, or by another user's processes",
                 name);
    else
        log_line("cannot meet the other PEs of this node at @%s: %s", name, strerror(error));
}

/* Opens the socket. Returns 1 or 0 as take_part does, or -1 after one line. */
static int meet_enter(const uint64_t key[2], int *end)
{
    struct sockaddr_un address;
    socklen_t bytes = name_meeting(key, &address);
    *end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int role = *end < 0 ? -1 : take_part(*end, &address, bytes);
    if (role == 0 && fcntl(*end, F_SETFL, 0) != 0)
        role = -1;
    if (role < 0)
        tell_why(*end, errno, &address);
    return role;
}

/* ---- the member's side ---- */

/* Receives the file, and this PE's index on the node. Returns the descriptor, or -1. */
static int receive_file(int socket, int32_t *index)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {index, sizeof *index};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t got;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    struct cmsghdr *header = got == sizeof *index ? CMSG_FIRSTHDR(&message) : 0;
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return -1;
    int fd;
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

static int be_member(int socket)
{
    int32_t index;
    int fd = receive_file(socket, &index);
    if (fd < 0) {
        log_line("the PE that makes this node's memory did not hand it over; it may have said why");
        return -1;
    }
    rte.fd = fd;
    rte.node_index = index;
    return 0;
}

/* ---- the host's side ---- */

/* Returns 0, or -1 after one line. */
static int add_member(struct party *party, int socket, const struct rte_hello *hello)
{
    if (party->count == party->room) {
        size_t room = party->room ? 2 * party->room : 64;
        struct member *more = realloc(party->members, room * sizeof *more);
        if (!more) {
            log_line("no memory is left to meet PE %d of this node", hello->pe);
            return -1;
        }
        party->members = more;
        party->room = room;
    }
    party->members[party->count++] = (struct member){.socket = socket, .hello = *hello};
    return 0;
}

/* Adds a member. Closes the connection of a process of another job, and keeps that of another user: who closes it drops what waits
 * in it. */
static void welcome(struct party *party, int socket, int npes)
{
    struct rte_hello hello;
    if (!same_user(socket)) {
        party->strangers = add_member(party, socket, &(struct rte_hello){.pe = STRANGER}) == 0 || party->strangers;
        return;
    }
    bool known = recv(socket, &hello, sizeof hello, 0) == sizeof hello && hello.magic == RTE_HELLO_MAGIC &&
                 hello.npes == npes && hello.pe >= 0 && hello.pe < npes;
    if (!known || add_member(party, socket, &hello) != 0)
        close(socket);
}

/* Collects the members. All PEs of this node connected before the fence, so the listener is shut first: who is in the queue now has come,
 * and nobody else comes. Returns 0, or -1 after one line. */
static int gather_node(struct party *party, int listener, int npes)
{
    struct rlimit before, wide;
    bool raised = getrlimit(RLIMIT_NOFILE, &before) == 0;
    wide = (struct rlimit){.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
    raised = raised && setrlimit(RLIMIT_NOFILE, &wide) == 0;
    int failed = shutdown(listener, SHUT_RDWR) == 0 ? 0 : errno;
    while (!failed) {
        int socket = accept4(listener, 0, 0, SOCK_CLOEXEC);
        if (socket >= 0)
            welcome(party, socket, npes);
        else if (errno != EINTR && errno != ECONNABORTED)
            failed = errno;
    }
    if (raised)
        setrlimit(RLIMIT_NOFILE, &before);
    if (failed == EAGAIN || failed == EINVAL) /* the queue of a shut listener is empty */
        return 0;
    log_line("cannot meet the other PEs of this node: %s", strerror(failed));
    return -1;
}

/* Closes the connections of other users. They may hold descriptors of lingering connections, and who drops the last one of such
 * sleeps in the kernel. A process that ends does not linger, so a child holds the connections, too, and ends when this process has
 * closed its own. The child shares nothing and calls nothing but the system. */
static void leave_strangers(struct party *party)
{
    int wait[2];
    char byte;
    if (!party->strangers || pipe2(wait, O_CLOEXEC) != 0)
        return;                                           /* without a pipe they stay open until this process ends */
    const long child = syscall(SYS_clone, 0, 0, 0, 0, 0); /* its end sends no signal */
    if (child == 0) {
        syscall(SYS_close, wait[1]);
        syscall(SYS_read, wait[0], &byte, 1);
        syscall(SYS_exit_group, 0);
    }
    size_t kept = 0;
    for (size_t i = 0; i < party->count; i++)
        if (party->members[i].hello.pe != STRANGER)
            party->members[kept++] = party->members[i];
        else if (child > 0)
            close(party->members[i].socket);
    party->count = kept;
    close(wait[0]);
    close(wait[1]);
    while (child > 0 && waitpid((pid_t)child, 0, __WCLONE) < 0 && errno == EINTR)
        continue;
}

static int by_pe(const void *one, const void *other)
{
    return ((const struct member *)one)->hello.pe - ((const struct member *)other)->hello.pe;
}

/* Counts the cores of all PEs here together, because a launcher may have given each PE a core of its own. */
static uint32_t count_cores(const struct party *party)
{
    uint32_t cores = 0;
    for (int word = 0; word < RTE_CPU_WORDS; word++) {
        uint64_t any = 0;
        for (size_t i = 0; i < party->count; i++)
            any |= party->members[i].hello.cpus[word];
        cores += (uint32_t)__builtin_popcountll(any);
    }
    return cores ? cores : 1;
}

/* Writes the head of the node's memory. */
static void format_head(struct node *node, const struct party *party, const uint64_t nonce[2])
{
    uint32_t cores = count_cores(party), size = (uint32_t)party->count;
    int first = party->members[0].hello.pe, last = party->members[size - 1].hello.pe;
    node_format(node, size, cores, nonce);
    node->first = (uint32_t)first;
    node->total = (uint32_t)party->members[0].hello.npes;
    node->nodes = size == node->total;
    node->scattered = last - first != (int)size - 1;
    for (uint32_t i = 0; node->scattered && i < size; i++)
        node->pe[i].number = (uint32_t)party->members[i].hello.pe;
}

/* Makes and formats the file. Returns its descriptor, or -1 after one line. */
static int make_file(const struct party *party)
{
    uint64_t nonce[2];
    uint32_t size = (uint32_t)party->count;
    size_t head = node_groups_at(size);
    int fd = memfd_create("lateral", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || file_resize(fd, node_fixed_size(size)) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0 ||
        getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        goto err_file;
    struct node *node = mmap(0, head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        goto err_file;
    format_head(node, party, nonce);
    munmap(node, head);
    return fd;

err_file:
    log_line("cannot make the memory of %u PEs: %s", size, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int send_file(int socket, int fd, int32_t index)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec data = {&index, sizeof index};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof index ? 0 : -1;
}

/* Returns 0, or -1 after one line when two members say that they are the same PE. */
static int check_numbers(const struct party *party)
{
    for (size_t i = 1; i < party->count; i++)
        if (party->members[i].hello.pe == party->members[i - 1].hello.pe) {
            log_line("two processes say that they are PE %d: a PE started another OpenSHMEM program",
                     party->members[i].hello.pe);
            return -1;
        }
    return 0;
}

/* Makes the file, hands it to the members, and keeps it. Returns 0, or -1 after one line. */
static int serve(const struct party *party)
{
    if (check_numbers(party) != 0)
        return -1;
    int fd = make_file(party);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < party->count; i++) {
        const struct member *member = &party->members[i];
        if (member->socket < 0) {
            rte.fd = fd;
            rte.node_index = (int)i;
        } else if (send_file(member->socket, fd, (int32_t)i) != 0) {
            log_line("cannot hand the node's memory to PE %d: %s", member->hello.pe, strerror(errno));
        }
    }
    return 0;
}

static int be_host(int listener, const struct rte_rank *place, const struct rte_hello *mine)
{
    struct party party = {0};
    int status = add_member(&party, -1, mine);
    if (status == 0)
        status = gather_node(&party, listener, place->npes);
    leave_strangers(&party);
    if (status == 0) {
        qsort(party.members, party.count, sizeof *party.members, by_pe);
        status = serve(&party);
    }
    for (size_t i = 0; i < party.count; i++)
        if (party.members[i].socket >= 0)
            close(party.members[i].socket);
    free(party.members);
    return status;
}

int rte_node_bootstrap(const struct rte_rank *place)
{
    struct rte_hello hello;
    uint64_t key[2];
    int end = -1, role = agree_on_key(place, key) == 0 ? meet_enter(key, &end) : -1;
    introduce_myself(place, &hello);
    if (role == 0 && send(end, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
        log_line("cannot meet the other PEs of this node: %s", strerror(errno));
        role = -1;
    }
    int status = role < 0 ? -1 : rte_backend_fence(0);
    if (status == 0)
        status = role ? be_host(end, place, &hello) : be_member(end);
    if (end >= 0)
        close(end);
    rte.launched = true;
    return status;
}
