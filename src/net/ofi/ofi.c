/* The provider, workers, and the slots of transport.h over libfabric; see inner.h.
 *
 * The first of libfabric's providers that has what messages need is taken, as fi_info lists them; FI_PROVIDER chooses another,
 * and LATERAL_INTERFACE one of a provider's network interfaces. One-sided operations are asked for in a second step, so
 * that they do not change the choice. */
#include "net/ofi/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Of the interface that is used. A newer library serves, too. */
#define VERSION FI_VERSION(1, 14)

enum { EVENTS = 32, TICK = 200000 /* nanoseconds */ };

struct address {
    uint32_t id;
    uint8_t number, unused[3];
    char name[OFI_NAME];
};

const struct transport_events *ofi_events;
struct fi_info *ofi_info;
struct fid_fabric *ofi_fabric;
struct fid_domain *ofi_domain;
struct worker *ofi_workers;
int ofi_me, ofi_npes;
unsigned ofi_able;

static uint8_t opened; /* workers of this life */
static char reason[256];

void ofi_peer_broken(struct peer *peer, int error)
{
    if (peer->broken)
        return;
    peer->broken = true;
    ofi_events->broken(peer->worker->owner, peer->pe, fi_strerror(error));
}

/* --- The provider */

static struct fi_info *hints_for(uint64_t caps, uint64_t order)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return 0;
    hints->caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV | caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS | order;
    hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return hints;
}

/* Returns false for another interface than the one of LATERAL_INTERFACE. */
static bool is_chosen(const struct fi_info *info)
{
    const char *interface = getenv("LATERAL_INTERFACE"), *name = info->domain_attr->name;
    return !interface || !*interface || (info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6) ||
           (name && strcmp(name, interface) == 0);
}

/* Returns the first that is chosen, alone; frees the list. */
static struct fi_info *pick(struct fi_info *list)
{
    struct fi_info *at = list;
    while (at && !is_chosen(at))
        at = at->next;
    struct fi_info *picked = at ? fi_dupinfo(at) : 0;
    fi_freeinfo(list);
    return picked;
}

static int ask(uint64_t caps, uint64_t order, const struct fi_info *same, struct fi_info **found)
{
    struct fi_info *hints = hints_for(caps, order), *list = 0;
    if (!hints)
        return -FI_ENOMEM;
    if (same) {
        hints->addr_format = same->addr_format;
        hints->fabric_attr->prov_name = strdup(same->fabric_attr->prov_name);
        hints->fabric_attr->name = same->fabric_attr->name ? strdup(same->fabric_attr->name) : 0;
        hints->domain_attr->name = same->domain_attr->name ? strdup(same->domain_attr->name) : 0;
        hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    }
    const int status = fi_getinfo(VERSION, 0, 0, 0, hints, &list);
    fi_freeinfo(hints);
    *found = status == 0 ? pick(list) : 0;
    return status == 0 && !*found ? -FI_ENODATA : status;
}

/* Chooses the provider for messages: one that reaches other hosts, if there is one. */
static const char *choose_provider(void)
{
    const char *provider = getenv("FI_PROVIDER");
    int status = ask(FI_LOCAL_COMM | FI_REMOTE_COMM, 0, 0, &ofi_info);
    if (status != 0)
        status = ask(0, 0, 0, &ofi_info);
    if (status == 0)
        return 0;
    if (status == -FI_ENOSYS)
        return "this libfabric is older than 1.14; set LATERAL_TRANSPORTS=tcp";
    snprintf(reason, sizeof reason,
             "libfabric has no provider%s%.64s with messages (%s): see fi_info -t FI_EP_RDM, or set "
             "LATERAL_TRANSPORTS=tcp",
             provider ? " named in FI_PROVIDER=" : "", provider ? provider : "", fi_strerror(-status));
    return reason;
}

/* Takes the same provider with as much of what one-sided operations want as it has. */
static void add_onesided(void)
{
    static const struct {
        uint64_t caps, order;
    } wishes[] = {{FI_RMA | FI_ATOMIC, FI_ORDER_WAW},
                  {FI_RMA | FI_ATOMIC | FI_FENCE, 0},
                  {FI_RMA | FI_ATOMIC, 0},
                  {FI_RMA, FI_ORDER_WAW},
                  {FI_RMA, 0}};
    struct fi_info *more = 0;
    for (size_t i = 0; !more && i < sizeof wishes / sizeof *wishes; i++)
        (void)ask(wishes[i].caps, wishes[i].order, ofi_info, &more);
    if (!more)
        return;
    fi_freeinfo(ofi_info);
    ofi_info = more;
    ofi_info->tx_attr->op_flags = 0; /* each operation says what it wants */
}

static const char *refuse(const char *what, int status)
{
    snprintf(reason, sizeof reason,
             "libfabric's provider %.64s cannot open %s: %s; choose another by FI_PROVIDER, or set "
             "LATERAL_TRANSPORTS=tcp",
             ofi_info->fabric_attr->prov_name, what, fi_strerror(-status));
    return reason;
}

static void close_domain(void)
{
    if (ofi_domain)
        fi_close(&ofi_domain->fid);
    if (ofi_fabric)
        fi_close(&ofi_fabric->fid);
    if (ofi_info)
        fi_freeinfo(ofi_info);
    ofi_domain = 0;
    ofi_fabric = 0;
    ofi_info = 0;
}

static const char *open_domain(unsigned onesided)
{
    const char *why = choose_provider();
    if (why)
        return why;
    if (onesided)
        add_onesided();
    int status = fi_fabric(ofi_info->fabric_attr, &ofi_fabric, 0);
    if (status != 0)
        return refuse("the network", status);
    status = fi_domain(ofi_fabric, ofi_info, &ofi_domain, 0);
    return status == 0 ? 0 : refuse("its device", status);
}

static const char *ofi_open(const struct transport_events *events, int pe, int npes, unsigned onesided)
{
    ofi_events = events;
    ofi_me = pe;
    ofi_npes = npes;
    opened = 0;
    const char *why = open_domain(onesided);
    if (why)
        close_domain();
    else
        ofi_able = ofi_find_able(onesided);
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

static int open_endpoint(struct worker *worker)
{
    struct fi_av_attr addresses = {.type = FI_AV_UNSPEC};
    int status = fi_endpoint(ofi_domain, ofi_info, &worker->endpoint, 0);
    status = status ? status : fi_av_open(ofi_domain, &addresses, &worker->addresses, 0);
    status = status ? status : open_completions(worker);
    status = status ? status : fi_ep_bind(worker->endpoint, &worker->addresses->fid, 0);
    status = status ? status : fi_ep_bind(worker->endpoint, &worker->completions->fid, FI_TRANSMIT | FI_RECV);
    return status ? status : fi_enable(worker->endpoint);
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

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

static void free_worker(struct worker *worker)
{
    close_fid(worker->endpoint ? &worker->endpoint->fid : 0);
    ofi_messages_free(worker);
    ofi_peers_free(worker);
    close_fid(worker->completions ? &worker->completions->fid : 0);
    close_fid(worker->addresses ? &worker->addresses->fid : 0);
    if (worker->files >= 0)
        close(worker->files);
    if (worker->timer >= 0)
        close(worker->timer);
    free(worker);
}

static const char *prepare(struct worker *worker)
{
    worker->peers = calloc((size_t)ofi_npes, sizeof *worker->peers);
    if (!worker->peers || getrandom(&worker->id, sizeof worker->id, GRND_NONBLOCK) != sizeof worker->id)
        return "no memory, or no random numbers";
    const int status = open_endpoint(worker);
    if (status != 0)
        return refuse("an endpoint", status);
    if (!open_files(worker))
        return "no descriptor is left (ulimit -n)";
    return ofi_receives_open(worker) == 0 ? 0 : "libfabric takes no buffers for messages";
}

static const char *ofi_open_worker(void *owner, void **made)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    worker->number = opened;
    worker->files = worker->timer = worker->wait = -1;
    const char *why = prepare(worker);
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
    struct address address = {.id = worker->id, .number = worker->number};
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
    return peer;
}

/* --- Progress */

static void complete(const struct fi_cq_data_entry *entry)
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
        complete(&entries[i]);
    if (count == -FI_EAVAIL)
        happened += complete_failed(worker);
    return worker->waiting ? happened + ofi_push_all(worker) : happened;
}

static int ofi_descriptor(void *of)
{
    return ((struct worker *)of)->files;
}

/* The timer wakes where libfabric has no descriptor, or does not tell when it takes what it has refused. */
static int ofi_arm(void *of)
{
    struct worker *worker = of;
    struct fid *const queue = &worker->completions->fid;
    struct fid *fids[] = {queue};
    const bool ticks = worker->wait < 0 || worker->waiting;
    const struct itimerspec once = {.it_value.tv_nsec = ticks ? TICK : 0};
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
    close_domain();
}

/* Returns the version of the libfabric that has been loaded, such as 1.17. For lateral-info. */
__attribute__((visibility("default"))) const char *lateral_ofi_version(void);
const char *lateral_ofi_version(void)
{
    static char text[16];
    const uint32_t version = fi_version();
    snprintf(text, sizeof text, "%u.%u", FI_MAJOR(version), FI_MINOR(version));
    return text;
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
    .able = ofi_able_of,
    .share = ofi_share,
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
