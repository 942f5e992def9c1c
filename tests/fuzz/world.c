#include "fuzz/world.h"

#include "base/poison.h"
#include "rte/backend.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/core/progress.h"
#include "uccs/proto/inner.h"
#include "uccs/mem/region.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <uccs.h>

struct world_sent world_sent;
unsigned world_handled;
uint64_t world_region, world_room;
char *world_heap;

#define LOOKS_MOST 20

static char registered[WORLD_ROOM], room[WORLD_ROOM];
static uccs_context_t context;
static jmp_buf home;
static bool away; /* somebody waits for `home` */
static char line[512];
static unsigned looks; /* at the transport, since the last world_try */

/* --- The end of the job. The library says a line and asks the launcher for it, which this is. */

static _Noreturn void come_home(void)
{
    if (!away) {
        fprintf(stderr, "%s:%d: not true: nothing ends the job here: %s\n", __FILE__, __LINE__, line);
        abort();
    }
    longjmp(home, 1);
}

/* Standard error goes to a file while the library runs; sanitizers report elsewhere. */
static void hear(bool on)
{
    static int ears = -1, mouth;
    extern void __sanitizer_set_report_fd(void *) __attribute__((weak));
    if (ears < 0) {
        ears = memfd_create("line", MFD_CLOEXEC);
        mouth = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        if (__sanitizer_set_report_fd && mouth >= 0)
            __sanitizer_set_report_fd((void *)(intptr_t)mouth);
    }
    if (on) {
        (void)!ftruncate(ears, 0);
        lseek(ears, 0, SEEK_SET);
        dup2(ears, STDERR_FILENO);
        return;
    }
    const ssize_t got = pread(ears, line, sizeof line - 1, 0);
    if (got > 0)
        line[got] = 0;
    if (mouth >= 0)
        dup2(mouth, STDERR_FILENO);
    else
        close(STDERR_FILENO);
}

/* The library sets an alarm, for a launcher that does not end the process. A fuzzer has one of its own. */
static struct sigaction alarm_action;
static struct itimerval alarm_time;

static int end_job(int status)
{
    (void)status;
    setitimer(ITIMER_REAL, &alarm_time, 0);
    sigaction(SIGALRM, &alarm_action, 0);
    atomic_store_release(&rte.node->ending, NODE_GOES_ON);
    come_home();
}

/* What any other PE tells of itself. */
static int get_record(int pe, const char *key, void **value, size_t *bytes)
{
    (void)pe, (void)key;
    struct proto_record *record = calloc(1, sizeof *record);
    strncpy(record->transport, proto_transport->name, sizeof record->transport - 1);
    *value = record;
    *bytes = sizeof *record;
    return 0;
}

static void finish(void) {}

static const struct rte_backend launcher = {.name = "a test", .get = get_record, .abort = end_job, .finish = finish};

static _Noreturn void wait_for_ever(void)
{
    static const char text[] = "the library waits for a message";
    (void)!write(STDERR_FILENO, text, sizeof text);
    come_home();
}

const char *world_try(void (*run)(void *argument), void *argument)
{
    away = true;
    looks = 0;
    *line = 0;
    hear(true);
    bool failed = setjmp(home) != 0;
    if (!failed)
        run(argument);
    else
        uccs_handlers_running = uccs_progress_barred = 0;
    hear(false);
    away = false;
    return failed ? line : 0;
}

/* --- The transport */

static const char *open_worker(void *owner, void **worker)
{
    *worker = owner;
    return 0;
}

static int address(void *worker, void *to, size_t *bytes)
{
    (void)worker;
    memset(to, 7, 16);
    *bytes = 16;
    return 0;
}

static void *connect_peer(void *worker, int pe, const void *at, size_t bytes)
{
    static char peers[WORLD_PES];
    (void)worker, (void)at, (void)bytes;
    return &peers[pe];
}

static enum transport_status send_message(void *peer, const void *header, size_t header_bytes, const void *data,
                                          size_t bytes, void *token)
{
    (void)peer, (void)token;
    world_sent.count++;
    memcpy(&world_sent.header, header, header_bytes);
    world_sent.bytes = bytes;
    if (bytes)
        memcpy(world_sent.data, data, bytes < sizeof world_sent.data ? bytes : sizeof world_sent.data);
    return TRANSPORT_DONE;
}

static enum transport_status receive(void *worker, void *rest, void *into, size_t bytes, void *token)
{
    (void)worker, (void)token;
    if (bytes)
        memcpy(into, rest, bytes);
    return TRANSPORT_DONE;
}

/* A get that the library waits for is refused once: its waiter then ends as it would in a job, and frees what it holds. */
static bool refuse_get(void)
{
    const struct wire_header asked = world_sent.header;
    if (!world_sent.count || asked.kind != WIRE_GET || !away)
        return false;
    world_sent.header.kind = WIRE_KINDS;
    struct wire_header answer = {.kind = WIRE_DATA, .from = 1};
    answer.answer.handle = asked.handle;
    answer.answer.failed = 1;
    const struct transport_message message = {.header = &answer, .header_bytes = sizeof answer};
    proto_arrived(proto_service_worker(), &message);
    return true;
}

/* Nothing comes by itself, so a wait for it would have no end. */
static int progress(void *worker)
{
    (void)worker;
    if (++looks <= LOOKS_MOST)
        return 0;
    if (!refuse_get())
        wait_for_ever();
    looks = 0;
    return 1;
}

static int arm(void *worker)
{
    (void)worker;
    return 0;
}

static int descriptor(void *worker)
{
    (void)worker;
    return -1;
}

static int always(void *worker)
{
    (void)worker;
    return 1;
}

static const struct transport stub = {.name = "stub",
                                      .open_worker = open_worker,
                                      .address = address,
                                      .connect = connect_peer,
                                      .send = send_message,
                                      .receive = receive,
                                      .progress = progress,
                                      .drained = always,
                                      .arm = arm,
                                      .descriptor = descriptor};

struct delivery {
    const struct wire_header *header;
    const void *data;
    size_t bytes;
    bool rest;
};

static void deliver(void *argument)
{
    const struct delivery *d = argument;
    const struct transport_message message = {.header = d->header,
                                              .header_bytes = sizeof *d->header,
                                              .data = d->rest ? 0 : d->data,
                                              .bytes = d->bytes,
                                              .rest = d->rest ? (void *)(uintptr_t)d->data : 0};
    proto_arrived(proto_service_worker(), &message);
}

const char *world_deliver(const struct wire_header *header, const void *data, size_t bytes, bool rest)
{
    struct delivery delivery = {header, data, bytes, rest};
    proto_service_lock();
    const char *why = world_try(deliver, &delivery);
    proto_service_unlock();
    return why;
}

static void poll_all(void *argument)
{
    (void)argument;
    proto_service_lock();
    proto_coalesce_push_all(proto_service_worker());
    proto_service_unlock();
    (void)uccs_progress();
}

/* What fails under the worker's lock leaves it locked; world_reset makes a new one. */
const char *world_poll(void)
{
    return world_try(poll_all, 0);
}

/* --- Life */

static void take_message(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    unsigned sum = 0;
    (void)token, (void)argument;
    for (size_t i = 0; i < length; i++)
        sum += ((const unsigned char *)payload)[i]; /* a sanitizer sees bytes that are not there */
    world_handled += 1 + (sum > UINT32_MAX - 1);
}

static int take_place(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **place,
                      uccs_completion *done, void **argument, void *of)
{
    (void)token, (void)done, (void)argument, (void)of;
    take_message(token, header, header_length, 0);
    *place = length <= sizeof room ? room : 0;
    return UCCS_OK;
}

static void open_context(void)
{
    const struct uccs_context_attr attr = {.id = 0};
    if (uccs_init() != UCCS_OK || uccs_context_create(&attr, &context) != UCCS_OK)
        abort();
    for (int id = 0; id < 4; id++) {
        uccs_am_register(context, id, UCCS_AM_NETWORK_PROTOCOL, take_message, 0);
        uccs_am_register(context, 4 + id, UCCS_AM_USER, take_message, 0);
        uccs_am_register_place(context, id, UCCS_AM_NETWORK_PROTOCOL, take_place, 0);
    }
}

static void open_links(void)
{
    proto_transport = &stub;
    if (proto_worker_open(0))
        abort();
    world_room = proto_landing_open(room, sizeof room).offset;
}

/* The program ends without finalize, which the launcher need not know. */
static void leave(void)
{
    rte_backend = 0;
}

void world_open(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "4M", 1);
    setenv("LATERAL_PROGRESS", "poll", 1);
    setenv("LATERAL_GLOBALS", "0",
           1); /* the globals are those of the fuzzer, which a peer may write like any of a job */
    shmem_init();
    uccs_core.npes = WORLD_PES; /* uccs.h counts by PE */
    rte_backend = &launcher;
    atexit(leave);
    getitimer(ITIMER_REAL, &alarm_time);
    sigaction(SIGALRM, 0, &alarm_action);
    open_context();
    world_heap = shmem_calloc(1, WORLD_ROOM);
    poison_allow((const void *)uccs_core.heap_start,
                 uccs_core.heap_bytes); /* a message may name memory that is not given out */
    const struct uccs_region *region = uccs_region_describe(registered, sizeof registered, UCCS_DOMAIN_CPU);
    world_region = uccs_region_id(region->slot, region->generation);
    open_links();
}

void world_reset(void)
{
    pthread_mutex_init(&proto_service_worker()->lock, 0);
    proto_landing_close((struct proto_address){.segment = PROTO_LANDING, .offset = world_room});
    uccs_far_am_close();
    proto_lock_close(); /* waiters name connections */
    memset(registered, 0, sizeof registered);
    memset(room, 0, sizeof room);
    memset(world_heap, 0, WORLD_ROOM);
    proto_worker_free(proto_service_worker());
    open_links();
}
