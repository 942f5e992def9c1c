/* Workers, their progress, and the slots of transport.h over libfabric; see inner.h. */
#include "net/ofi/message.h"

#include "base/atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { LOOK = 128 }; /* polls from one look at the descriptors to the next, which costs as much as some of them */
enum { EVENTS = 32, TICK = 200000 /* nanoseconds */ };

struct address {
    uint32_t id;
    uint8_t number, unused[3];
    struct ofi_watched watched;
    char name[OFI_NAME];
};

static uint8_t opened; /* workers of this life */

static const char *ofi_open(const struct transport_events *events, int pe, int npes, unsigned onesided)
{
    ofi_events = events;
    ofi_me = pe;
    ofi_npes = npes;
    opened = 0;
    const char *why = ofi_provider_open(onesided != 0);
    if (why)
        ofi_provider_close();
    else
        ofi_find_able(onesided);
    return why;
}

/* --- Workers */

static int open_completions(struct worker *worker)
{
    struct fi_cq_attr attr = {.size = 2 * ofi_info->tx_attr->size + 4096,
                              .format = FI_CQ_FORMAT_DATA,
                              .wait_obj = FI_WAIT_FD};
    if (fi_cq_open(ofi_domain, &attr, &worker->completions, 0) == 0) {
        if (fi_control(&worker->completions->fid, FI_GETWAIT, &worker->wait) == 0)
            return 0;
        fi_close(&worker->completions->fid);
    }
    worker->wait = -1;
    worker->completions = 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(ofi_domain, &attr, &worker->completions, 0);
}

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

static void close_endpoint(struct worker *worker)
{
    close_fid(worker->endpoint ? &worker->endpoint->fid : 0);
    close_fid(worker->completions ? &worker->completions->fid : 0);
    close_fid(worker->addresses ? &worker->addresses->fid : 0);
    worker->endpoint = 0;
    worker->completions = 0;
    worker->addresses = 0;
}

static int try_endpoint(struct worker *worker)
{
    struct fi_av_attr addresses = {.type = FI_AV_UNSPEC};
    int status = fi_endpoint(ofi_domain, ofi_info, &worker->endpoint, 0);
    status = status ? status : fi_av_open(ofi_domain, &addresses, &worker->addresses, 0);
    status = status ? status : open_completions(worker);
    status = status ? status : fi_ep_bind(worker->endpoint, &worker->addresses->fid, 0);
    status = status ? status : fi_ep_bind(worker->endpoint, &worker->completions->fid, FI_TRANSMIT | FI_RECV);
    return status ? status : fi_enable(worker->endpoint);
}

/* The name of an endpoint may be taken by one that a dead process has left, whose number the kernel has given to this process (shm). The
 * next endpoint has another name. */
static int open_endpoint(struct worker *worker)
{
    enum { NAMES = 256 };
    int status = -FI_EBUSY;
    for (int i = 0; i < NAMES && status == -FI_EBUSY; i++) {
        close_endpoint(worker);
        status = try_endpoint(worker);
    }
    return status;
}

static bool open_files(struct worker *worker)
{
    struct epoll_event event = {.events = EPOLLIN};
    worker->files = epoll_create1(EPOLL_CLOEXEC);
    worker->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return worker->files >= 0 && worker->timer >= 0 &&
           epoll_ctl(worker->files, EPOLL_CTL_ADD, worker->timer, &event) == 0 &&
           (worker->wait < 0 || epoll_ctl(worker->files, EPOLL_CTL_ADD, worker->wait, &event) == 0);
}

static void free_worker(struct worker *worker)
{
    ofi_watch_close(worker);
    close_fid(worker->endpoint ? &worker->endpoint->fid : 0);
    worker->endpoint = 0;
    ofi_longs_free(worker);
    ofi_receives_free(worker);
    ofi_peers_free(worker);
    ofi_buffers_free(worker);
    close_endpoint(worker);
    if (worker->files >= 0)
        close(worker->files);
    if (worker->timer >= 0)
        close(worker->timer);
    free(worker);
}

static const char *prepare_worker(struct worker *worker)
{
    worker->peers = calloc((size_t)ofi_npes, sizeof *worker->peers);
    if (!worker->peers || getrandom(&worker->id, sizeof worker->id, GRND_NONBLOCK) != sizeof worker->id)
        return "no memory, or no random numbers";
    const int status = open_endpoint(worker);
    if (status != 0)
        return ofi_provider_refuse("an endpoint", status);
    if (!open_files(worker))
        return "no descriptor is left (ulimit -n)";
    ofi_watch_open(worker);
    return ofi_receives_open(worker) == 0 ? 0 : "libfabric takes no buffers for messages";
}

static const char *ofi_open_worker(void *owner, void **made)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    worker->number = opened;
    worker->files = worker->timer = worker->wait = worker->listener.fd = worker->listener.timer = -1;
    const char *why = prepare_worker(worker);
    if (why) {
        free_worker(worker);
        return why;
    }
    opened++;
    worker->next = ofi_workers;
    *made = ofi_workers = worker;
    return 0;
}

static int ofi_address(void *of, void *buffer, size_t *bytes)
{
    const struct worker *worker = of;
    struct address address = {.id = worker->id, .number = worker->number, .watched = worker->watched};
    size_t name = sizeof address.name;
    if (fi_getname(&worker->endpoint->fid, address.name, &name) != 0) {
        *bytes = sizeof address;
        return -1;
    }
    const size_t whole = offsetof(struct address, name) + name;
    const bool fits = whole <= *bytes;
    if (fits)
        memcpy(buffer, &address, whole);
    *bytes = whole;
    return fits ? 0 : -1;
}

static void *ofi_connect(void *from, int pe, const void *address, size_t bytes)
{
    struct worker *worker = from;
    struct address there = {0};
    if (bytes <= offsetof(struct address, name) || bytes >= sizeof there)
        return 0;
    memcpy(&there, address, bytes);
    struct peer *peer = ofi_peer_find(worker, pe, there.number);
    if (peer)
        return peer;
    peer = ofi_peer_add(worker, pe, there.number, there.id, there.name);
    if (peer && ofi_say_hello(peer) != 0) {
        worker->peers[pe] = peer->next; /* nobody has seen it */
        free(peer);
        return 0;
    }
    if (peer)
        ofi_watch_peer(peer, &there.watched);
    return peer;
}

static enum transport_status ofi_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                      void *token)
{
    struct peer *peer = to;
    if (peer->broken || header_bytes > OFI_HEADER)
        return TRANSPORT_FAILED;
    return (bytes <= TRANSPORT_SHORT ? ofi_send_short : ofi_send_long)(peer, header, header_bytes, data, bytes, token);
}

/* --- Progress */

static void complete_op(const struct fi_cq_data_entry *entry)
{
    struct ofi_op *op = entry->op_context;
    if (!op)
        return;
    if (op->peer)
        ofi_finish(op, 0);
    else
        ofi_take((struct ofi_receive *)op, entry->buf, entry->flags & FI_RECV ? entry->len : 0,
                 entry->flags & FI_MULTI_RECV);
}

/* A message that is longer than any is nobody's; its buffer goes on. */
static int complete_failed(struct worker *worker)
{
    struct fi_cq_err_entry error = {0};
    if (fi_cq_readerr(worker->completions, &error, 0) < 1 || !error.op_context)
        return 0;
    struct ofi_op *op = error.op_context;
    if (op->peer)
        ofi_finish(op, error.err > 0 ? error.err : FI_EOTHER);
    else if (error.err != FI_ECANCELED)
        ofi_take((struct ofi_receive *)op, 0, 0, error.flags & FI_MULTI_RECV);
    return 1;
}

static int ofi_progress(void *of)
{
    struct worker *worker = of;
    struct fi_cq_data_entry entries[EVENTS];
    const ssize_t count = fi_cq_read(worker->completions, entries, EVENTS);
    int happened = 0;
    for (ssize_t i = 0; i < count; i++, happened++)
        complete_op(&entries[i]);
    if (count == -FI_EAVAIL)
        happened += complete_failed(worker);
    if (++worker->polls >= LOOK) {
        worker->polls = 0;
        happened += ofi_watch_look(worker);
    }
    if (lat_unlikely(worker->lost_lines && !happened))
        ofi_watch_tell(worker);
    return worker->waiting ? happened + ofi_push_all(worker) : happened;
}

static int ofi_descriptor(void *of)
{
    return ((struct worker *)of)->files;
}

/* The timer wakes where libfabric has no descriptor, or does not tell when it takes what it has refused, and for a loss that is to be
 * told. The next poll looks at what has woken the caller. */
static int ofi_arm(void *of)
{
    struct worker *worker = of;
    struct fid *const queue = &worker->completions->fid;
    struct fid *fids[] = {queue};
    const bool ticks = worker->wait < 0 || worker->waiting || worker->lost_lines;
    const struct itimerspec once = {.it_value.tv_nsec = ticks ? TICK : 0};
    worker->polls = LOOK;
    if (worker->wait >= 0 && fi_trywait(ofi_fabric, fids, 1) != 0)
        return 0;
    return timerfd_settime(worker->timer, 0, &once, 0) == 0;
}

static int ofi_drained(void *of)
{
    struct worker *worker = of;
    (void)ofi_progress(worker);
    return ofi_confirm(worker);
}

static void ofi_close(void)
{
    ofi_shares_close();
    while (ofi_workers) {
        struct worker *worker = ofi_workers;
        ofi_workers = worker->next;
        free_worker(worker);
    }
    ofi_provider_close();
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "ofi",
    .open = ofi_open,
    .open_worker = ofi_open_worker,
    .address = ofi_address,
    .connect = ofi_connect,
    .send = ofi_send,
    .receive = ofi_receive,
    .progress = ofi_progress,
    .descriptor = ofi_descriptor,
    .arm = ofi_arm,
    .drained = ofi_drained,
    .close = ofi_close,
    .able = ofi_able,
    .share = ofi_share,
    .share_counting = ofi_share_counting,
    .counted = ofi_counted,
    .pack = ofi_pack,
    .withdraw = ofi_withdraw,
    .unpack = ofi_unpack,
    .forget = ofi_forget,
    .put = ofi_put,
    .get = ofi_get,
    .atomics = ofi_atomics,
    .atomic = ofi_atomic,
    .flush = ofi_flush,
    .order = ofi_order,
};
