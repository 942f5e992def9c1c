/* PMI-1 as Hydra (MPICH, Intel MPI) and Slurm's pmi2 plugin speak it on the wire: lines of "cmd=word key=value ...",
 * one answer to each. It needs no library.
 *
 * The launcher gives a connected descriptor (PMI_FD with PMI_RANK, PMI_SIZE), or an address and a name to present there
 * (PMI_PORT, PMI_ID). Servers write the words of an answer in different orders and limit the length of a value. So this
 * reads answers by key and sends values as text in pieces.
 *
 * One thread at a time: callers of put, get and fence hold the lock of exchange.c; only one thread starts and ends. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/node.h"
#include "rte/pmi_guest.h"
#include "rte/pmi_talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes as text that PMI servers pass on untouched: letters, digits, '-' and '_', four characters for three bytes. */
#define WIRE_TEXT(bytes) (((bytes) + 2) / 3 * 4) /* characters, without the final 0 */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Encodes 3 bytes as four characters; one byte left over as two, two bytes as three. `text` has room for WIRE_TEXT(bytes) + 1. */
static void wire_encode(char *text, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    for (; bytes > 0; from += 3) {
        size_t now = bytes < 3 ? bytes : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (i < now ? from[i] : 0);
        for (size_t i = 0; i <= now; i++)
            *text++ = digits[group >> (18 - 6 * i) & 63];
        bytes -= now;
    }
    *text = 0;
}

/* data has room for 3 bytes per 4 characters. Returns the number of bytes, or -1. */
static long wire_decode(void *data, const char *text)
{
    unsigned char *to = data;
    size_t left = strlen(text);
    if (left % 4 == 1)
        return -1;
    for (; left > 0; text += 4) {
        size_t now = left < 4 ? left : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < 4; i++) {
            const char *digit = i < now ? strchr(digits, text[i]) : digits;
            if (!digit)
                return -1;
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (size_t i = 0; i + 1 < now; i++)
            *to++ = (unsigned char)(group >> (16 - 8 * i));
        left -= now;
    }
    return to - (unsigned char *)data;
}

#define LOOK_UP_MILLISECONDS 500
#define VALUE_MOST (64u << 20) /* bytes of a value; a longer one is nonsense */
#define PIECE_BYTES 480        /* of a value in one put: 640 characters, below every server's limit */

static struct {
    int pe;
    ino_t connection;          /* identifies the socket behind the descriptor */
    char space[RTE_JOB_BYTES]; /* the key-value space of the job */
} pmi;

int rte_pmi_is_there(void)
{
    return getenv("PMI_FD") || (getenv("PMI_PORT") && getenv("PMI_ID"));
}

int rte_pmi_is_open(void)
{
    struct stat info;
    const char *fd = getenv("PMI_FD");
    return fd && fstat(atoi(fd), &info) == 0 && S_ISSOCK(info.st_mode);
}

static int pmi_put(const char *key, const void *value, size_t bytes)
{
    char text[WIRE_TEXT(PIECE_BYTES) + 1];
    size_t at = 0;
    for (int piece = 0; piece == 0 || at < bytes; piece++) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        wire_encode(text, (const char *)value + at, now);
        /* The first piece carries the length of the whole value. */
        if (!pmi_ask("put_result", "cmd=put kvsname=%s key=L%s.%d.%d value=%zu.%s\n", pmi.space, key, pmi.pe, piece,
                     bytes, text))
            return pmi_broken("the launcher (PMI) did not take %s", key);
        at += now;
    }
    return 0;
}

/* Gets one piece. Every piece carries the length of the whole value before its own bytes. data has room for PIECE_BYTES
 * + 3. Returns the bytes of this piece, or -1. */
static long get_piece(int pe, const char *key, int piece, size_t *total, char *data)
{
    char value[PMI_LINE], *end;
    const char *line = pmi_ask("get_result", "cmd=get kvsname=%s key=L%s.%d.%d\n", pmi.space, key, pe, piece);
    if (!line || !pmi_value_of(line, "value", value, sizeof value))
        return -1;
    *total = strtoul(value, &end, 10);
    return *end == '.' && strlen(end + 1) <= WIRE_TEXT(PIECE_BYTES) ? wire_decode(data, end + 1) : -1;
}

/* Puts the pieces together in memory of `total` bytes, the length in the first piece. Returns false when a piece is
 * missing, carries another length, or is longer than the rest. */
static bool get_pieces(int pe, const char *key, char *all, size_t total, char *data, long now)
{
    size_t at = 0, said = total;
    for (int piece = 1;; piece++) {
        if (now < 0 || said != total || (size_t)now > total - at || (now == 0 && total))
            return false;
        memcpy(all + at, data, (size_t)now);
        at += (size_t)now;
        if (at == total)
            return true;
        now = get_piece(pe, key, piece, &said, data);
    }
}

static int pmi_get(int pe, const char *key, void **value, size_t *bytes)
{
    char data[PIECE_BYTES + 3];
    size_t total = 0;
    long first = get_piece(pe, key, 0, &total, data);
    char *all = first >= 0 && total <= VALUE_MOST ? malloc(total ? total : 1) : 0;
    if (!all || !get_pieces(pe, key, all, total, data, first)) {
        free(all);
        return pmi_broken("PE %d has not told its %s, or the launcher (PMI) has changed it", pe, key);
    }
    *value = all;
    *bytes = total;
    return 0;
}

/* After a barrier that timed out, only the end of the job may follow. A get of another thread may read the end of the
 * barrier; then no more input comes to wake this thread. So this thread also looks at intervals. Returns 0, 1 on
 * timeout, -1 on failure. */
static int pmi_fence(int seconds, pthread_mutex_t *held)
{
    static const char line[] = "cmd=barrier_in\n";
    struct pollfd answer = {.fd = pmi_talk.fd, .events = POLLIN};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t end = now.tv_sec + seconds;
    pmi_talk.out = false;
    if (pmi_speak(line, sizeof line - 1) != 0)
        return -1;
    while (!pmi_talk.out && !pmi_can_hear()) {
        pthread_mutex_unlock(held);
        poll(&answer, 1, LOOK_UP_MILLISECONDS);
        clock_gettime(CLOCK_MONOTONIC, &now);
        pthread_mutex_lock(held);
        if (seconds && now.tv_sec > end && !pmi_talk.out && !pmi_can_hear())
            return 1;
    }
    return pmi_talk.out || pmi_expect("barrier_out") ? 0 : -1;
}

/* An MPI in the same process may share the descriptor, and closes it at its own end. The descriptor may be somebody
 * else's by now. */
static bool connection_is_ours(void)
{
    struct stat info;
    return fstat(pmi_talk.fd, &info) == 0 && info.st_ino == pmi.connection;
}

/* Expects no answer, because the launcher kills this process. It waits first, because Hydra drops output of the PEs
 * that it has not read by then. Returns 0, or -1 when the launcher cannot be reached. */
static int end_job(int status)
{
    char line[64];
    if (!connection_is_ours())
        return -1;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, 0);
    (void)pmi_await_reader();
    int bytes = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    return send(pmi_talk.fd, line, (size_t)bytes, MSG_NOSIGNAL) == bytes ? 0 : -1;
}

/* All PEs end with this status at once. Slurm's server would kill those that have not ended yet, whose status then is 137. */
static int end_by_signal(int status)
{
    return pmi_talk.of_slurm ? 0 : end_job(status);
}

static void pmi_finish(void)
{
    if (!connection_is_ours())
        return;
    /* The MPI has said goodbye for this process already, and the launcher may have hung up: no alarm. */
    pmi_talk.hushed = true;
    pmi_ask("finalize_ack", "cmd=finalize\n");
    close(pmi_talk.fd);
    pmi_talk.fd = -1;
}

static int descriptor(void)
{
    return connection_is_ours() ? pmi_talk.fd : -1;
}

static const struct rte_backend backend =
    {"a launcher that speaks PMI", pmi_put, pmi_get, pmi_fence, end_job, pmi_finish, 0, descriptor, end_by_signal};

/* ---- opening ---- */

/* Learns the place. After the greeting the server sends three lines of its own: size, rank and debug. Returns 0 or
 * -1. */
static int be_told_place(struct rte_rank *place)
{
    if (!pmi_ask("initack", "cmd=initack pmiid=%s\n", getenv("PMI_ID")))
        return -1;
    for (int i = 0; i < 3; i++) {
        char number[16];
        const char *line = pmi_expect("set");
        if (!line)
            return -1;
        if (pmi_value_of(line, "size", number, sizeof number))
            place->npes = atoi(number);
        if (pmi_value_of(line, "rank", number, sizeof number))
            place->pe = atoi(number);
    }
    return 0;
}

static int connect_launcher(struct rte_rank *place)
{
    const char *fd = getenv("PMI_FD"), *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    if (!fd) {
        pmi_talk.fd = pmi_call(getenv("PMI_PORT"));
        return pmi_talk.fd >= 0 ? be_told_place(place) : -1;
    }
    if (!rank || !size)
        return -1;
    pmi_talk.fd = atoi(fd);
    place->pe = atoi(rank);
    place->npes = atoi(size);
    (void)fcntl(pmi_talk.fd, F_SETFD, FD_CLOEXEC); /* a descriptor that is none fails when the launcher is greeted */
    return 0;
}

static int greet(struct rte_rank *place)
{
    if (!pmi_guest_has_greeted() && !pmi_ask("response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n"))
        return -1;
    const char *line = pmi_ask("my_kvsname", "cmd=get_my_kvsname\n");
    if (!line || !pmi_value_of(line, "kvsname", pmi.space, sizeof pmi.space))
        return -1;
    memcpy(place->job, pmi.space, sizeof place->job);
    return 0;
}

static void tell_why(int error)
{
    const char *why = pmi_talk.broken ? pmi_talk.why : error ? strerror(error) : "it did not answer as it should";
    log_line("the launcher speaks PMI (PMI_FD, PMI_PORT) but cannot be reached: %s; "
             "start the program with oshrun, or unset these variables",
             why);
}

const struct rte_backend *rte_pmi_open(struct rte_rank *place)
{
    *place = (struct rte_rank){.pe = -1};
    pmi_talk.of_slurm = getenv("SLURM_STEP_ID") != 0;
    if (connect_launcher(place) != 0 || greet(place) != 0 || place->pe < 0 || place->pe >= place->npes) {
        tell_why(errno);
        return 0;
    }
    pmi_talk.open = true;
    if (getenv("PMI_FD"))
        pmi_talk.fd = pmi_guest_admit(pmi_talk.fd, pmi_relay);
    struct stat info;
    pmi.connection = fstat(pmi_talk.fd, &info) == 0 ? info.st_ino : 0;
    pmi.pe = place->pe;
    return &backend;
}
