/* Messages over UCX (UCP active messages): one worker per worker, one endpoint per worker and peer, made on first use.
 *
 * A module of its own: nothing of UCX is loaded before a peer is off the node. Works with UCP 1.13 and later.
 * Threads and events: transport.h.
 *
 * Invariants: one active-message id; short data comes with the message, long data by rendezvous, straight into
 * the place that the receiver names. Endpoints find out by themselves that a peer is gone, where UCX can tell. Workers
 * share a context that locks what they share; where UCX was built without that there is one worker. No endpoint is made
 * while its worker is in progress: UCX 1.13 may then take the connection from which it is reading. */
#include "net/ucx/inner.h"

#include <stdlib.h>
#include <string.h>
#include <ucs/debug/log_def.h>

enum { MESSAGE = 1 };

/* Not the version of the headers: where the program has loaded another libucp first, that one serves, and does. UCX
 * warns when it is older than this. */
enum { UCP_OLDEST_MAJOR = 1, UCP_OLDEST_MINOR = 13 };

static struct worker *workers; /* all, for close */
static bool alone;             /* UCX cannot serve several workers at the same time */
static bool closing;           /* connections go down on purpose */

static void finished_receive(void *request, ucs_status_t status, size_t bytes, void *token)
{
    (void)bytes;
    ucp_request_free(request);
    ucx_events->finished(token, status != UCS_OK);
}

static ucs_status_t arrived(void *to, const void *header, size_t header_bytes, void *data, size_t bytes,
                            const ucp_am_recv_param_t *param)
{
    const struct worker *worker = to;
    bool late = param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
    struct transport_message message = {.header = header,
                                        .header_bytes = header_bytes,
                                        .data = late ? 0 : data,
                                        .bytes = bytes,
                                        .rest = late ? data : 0};
    ucx_events->arrived(worker->owner, &message);
    return late ? UCS_INPROGRESS : UCS_OK;
}

static void endpoint_lost(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    (void)endpoint;
    const struct peer *peer = argument;
    if (!closing)
        ucx_events->broken(peer->worker->owner, peer->pe, ucs_status_string(status));
}

/* UCX prints a line of its own about some failures that it also returns. `hush` leaves those out, since the library's line
 * then names the PE and UCX's reason. It judges lines of a thread in a call of this file alone, and a user who sets
 * UCX_LOG_LEVEL gets every line. */
enum quiet {
    LOUD,
    IN_PROGRESS, /* a peer that is gone refuses connections */
    PROBING,     /* the endpoint is tried in another way next */
};
static _Thread_local enum quiet quiet;

static bool is_from_sockets(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    return strncmp(file, "sock", 4) == 0 || strncmp(file, "tcp", 3) == 0;
}

static ucs_log_func_rc_t hush(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                              const ucs_log_component_config_t *component, const char *format, va_list arguments)
{
    (void)line, (void)function, (void)component, (void)format, (void)arguments;
    if (quiet == LOUD || level != UCS_LOG_LEVEL_ERROR)
        return UCS_LOG_FUNC_RC_CONTINUE;
    return quiet == PROBING || is_from_sockets(file) ? UCS_LOG_FUNC_RC_STOP : UCS_LOG_FUNC_RC_CONTINUE;
}

/* Once per process, since this module is never unloaded. */
static void install_hush(void)
{
    static bool installed;
    if (!installed && !getenv("UCX_LOG_LEVEL"))
        ucs_log_push_handler(hush);
    installed = true;
}

/* Unless the user says otherwise: a message of 8 KB and more leaves in few pieces: each costs a system call. UCX reads these
 * from the environment alone, whenever a worker is made; so they stay there while it is open. */
static const char *const wishes[][2] = {{"UCX_TCP_TX_SEG_SIZE", "128k"}, {"UCX_TCP_RX_SEG_SIZE", "128k"}};
enum { WISHES = sizeof wishes / sizeof *wishes };
static bool mine[WISHES];

/* UCX reads LATERAL_UCX_TLS before UCX_TLS, and so on: a program's MPI may stand on UCX too, with other settings. */
#define OWN_SETTINGS "LATERAL"

/* UCX warns of variables that concern no transport it uses. */
static bool may_use_tcp(void)
{
    const char *own = getenv(OWN_SETTINGS "_UCX_TLS"), *chosen = own ? own : getenv("UCX_TLS");
    return !chosen || chosen[0] == '^' || strstr(chosen, "tcp") || strstr(chosen, "all");
}

static void set_wishes(void)
{
    for (int i = 0; i < WISHES; i++) {
        mine[i] = may_use_tcp() && !getenv(wishes[i][0]);
        if (mine[i])
            setenv(wishes[i][0], wishes[i][1], 1);
    }
}

static void unset_wishes(void)
{
    for (int i = 0; i < WISHES; i++)
        if (mine[i])
            unsetenv(wishes[i][0]);
}

enum { ONESIDED = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 };

static ucs_status_t open_context(int npes)
{
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(OWN_SETTINGS, 0, &config);
    if (status != UCS_OK)
        return status;
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                                               UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                                 .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (ucx_onesided ? ONESIDED : 0),
                                 .estimated_num_eps = (size_t)npes,
                                 .mt_workers_shared = 1};
    status = ucp_init_version(UCP_OLDEST_MAJOR, UCP_OLDEST_MINOR, &params, config, &ucx_context);
    ucp_config_release(config);
    return status;
}

static const char *ucx_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    (void)pe;
    ucx_events = to;
    closing = false;
    ucx_onesided = ucx_may_use(onesided);
    install_hush();
    set_wishes();
    ucs_status_t status = open_context(npes);
    if (status != UCS_OK) {
        unset_wishes();
        return ucs_status_string(status);
    }
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_THREAD_MODE};
    alone = ucp_context_query(ucx_context, &attr) != UCS_OK || attr.thread_mode != UCS_THREAD_MODE_MULTI;
    return 0;
}

static ucs_status_t open_ucp_worker(struct worker *worker)
{
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t status = ucp_worker_create(ucx_context, &params, &worker->ucp);
    if (status != UCS_OK)
        return status;
    const ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                          UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                          UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                            .id = MESSAGE,
                                            .cb = arrived,
                                            .arg = worker};
    status = ucp_worker_set_am_recv_handler(worker->ucp, &handler);
    if (status != UCS_OK)
        ucp_worker_destroy(worker->ucp);
    return status;
}

static const char *ucx_open_worker(void *owner, void **made)
{
    if (alone && workers)
        return "this UCX was built without support for threads";
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    ucs_status_t status = open_ucp_worker(worker);
    if (status != UCS_OK) {
        free(worker);
        return ucs_status_string(status);
    }
    worker->next = workers;
    workers = worker;
    *made = worker;
    return 0;
}

enum { ADDRESS = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS };

/* The ways inside of a host are half of UCX's address and of no use to other hosts. Where UCX knows no other way, the address
 * without them is what both begin with and one byte behind it; then the PE tells the whole. */
static int ucx_address(void *of, void *room, size_t *bytes)
{
    const struct worker *worker = of;
    ucp_worker_attr_t attr[] = {{.field_mask = ADDRESS},
                                {.field_mask = ADDRESS, .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY}};
    int asked = 0;
    while (asked < 2 && ucp_worker_query(worker->ucp, &attr[asked]) == UCS_OK)
        asked++;
    if (asked == 0)
        return -1;
    int told = asked == 2 && memcmp(attr[0].address, attr[1].address, attr[1].address_length - 1) != 0;
    bool fits = attr[told].address_length <= *bytes;
    if (fits)
        memcpy(room, attr[told].address, attr[told].address_length);
    *bytes = attr[told].address_length;
    while (asked > 0)
        ucp_worker_release_address(worker->ucp, attr[--asked].address);
    return fits ? 0 : -1;
}

static ucs_status_t make_endpoint(struct peer *peer, const void *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {endpoint_lost, peer}};
    quiet = PROBING;
    ucs_status_t status = ucp_ep_create(peer->worker->ucp, &params, &peer->endpoint);
    quiet = LOUD;
    if (status == UCS_ERR_UNREACHABLE) {
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE; /* UCX_TLS names what cannot tell of a lost peer: shared memory */
        status = ucp_ep_create(peer->worker->ucp, &params, &peer->endpoint);
    }
    if (status == UCS_OK)
        peer->able = TRANSPORT_KNOWN | ucx_can(peer->endpoint);
    return status;
}

/* Later, and so with a copy of the address. */
static int put_off(struct peer *peer, const void *address, size_t bytes)
{
    peer->address = malloc(bytes);
    if (!peer->address)
        return -1;
    memcpy(peer->address, address, bytes);
    peer->last = &peer->first;
    peer->next_late = peer->worker->late;
    peer->worker->late = peer;
    return 0;
}

static void *ucx_connect(void *from, int pe, const void *address, size_t bytes)
{
    struct worker *worker = from;
    struct peer *peer = malloc(sizeof *peer);
    if (!peer)
        return 0;
    *peer = (struct peer){.pe = pe, .worker = worker, .next = worker->peers};
    if (worker->inside ? put_off(peer, address, bytes) != 0 : make_endpoint(peer, address) != UCS_OK) {
        free(peer);
        return 0;
    }
    worker->peers = peer;
    return peer;
}

/* By itself UCX would send by rendezvous from some 8 KB on, as it judges the network: such a message arrives later than its
 * successors. */
static enum transport_status send_now(const struct peer *peer, const struct waiting *message)
{
    ucp_request_param_t param = ucx_ends(message->token);
    if (message->bytes <= TRANSPORT_SHORT) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_AM_SEND_FLAG_EAGER;
    }
    return ucx_outcome(ucp_am_send_nbx(peer->endpoint, MESSAGE, message->header, message->header_bytes, message->data,
                                       message->bytes, &param));
}

static enum transport_status send_later(struct peer *peer, const struct waiting *message)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    if (!waiting)
        return TRANSPORT_FAILED;
    *waiting = *message;
    *peer->last = waiting;
    peer->last = &waiting->next;
    return TRANSPORT_PENDING;
}

static enum transport_status ucx_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                      void *token)
{
    struct peer *peer = to;
    const struct waiting message = {.header = header,
                                    .header_bytes = header_bytes,
                                    .data = data,
                                    .bytes = bytes,
                                    .token = token};
    return peer->endpoint && !peer->first ? send_now(peer, &message) : send_later(peer, &message);
}

/* Then what has waited is sent in its order. An event of one may send more, which goes behind the rest. */
static void connect_late(struct peer *peer)
{
    ucs_status_t status = make_endpoint(peer, peer->address);
    free(peer->address);
    if (status != UCS_OK) {
        ucx_events->broken(peer->worker->owner, peer->pe, ucs_status_string(status));
        return;
    }
    while (peer->first) {
        struct waiting *waiting = peer->first;
        enum transport_status sent = send_now(peer, waiting);
        peer->first = waiting->next;
        if (sent != TRANSPORT_PENDING)
            ucx_events->finished(waiting->token, sent == TRANSPORT_FAILED);
        free(waiting);
    }
}

static int ucx_progress(void *of)
{
    struct worker *worker = of;
    worker->inside = true;
    quiet = IN_PROGRESS;
    int count = (int)ucp_worker_progress(worker->ucp);
    quiet = LOUD;
    worker->inside = false;
    while (worker->late) {
        struct peer *peer = worker->late;
        worker->late = peer->next_late;
        connect_late(peer);
    }
    return count;
}

static enum transport_status ucx_receive(void *on, void *rest, void *into, size_t bytes, void *token)
{
    const struct worker *worker = on;
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.recv_am = finished_receive,
                                       .user_data = token};
    return ucx_outcome(ucp_am_recv_data_nbx(worker->ucp, rest, into, bytes, &param));
}

static int ucx_descriptor(void *worker)
{
    int fd;
    return ucp_worker_get_efd(((struct worker *)worker)->ucp, &fd) == UCS_OK ? fd : -1;
}

static int ucx_arm(void *worker)
{
    return ucp_worker_arm(((struct worker *)worker)->ucp) == UCS_OK;
}

static int ucx_drained(void *of)
{
    struct worker *worker = of;
    const ucp_request_param_t param = {0};
    if (!worker->draining)
        worker->draining = ucp_worker_flush_nbx(worker->ucp, &param);
    ucx_progress(worker);
    if (UCS_PTR_IS_PTR(worker->draining)) {
        if (ucp_request_check_status(worker->draining) == UCS_INPROGRESS)
            return 0;
        ucp_request_free(worker->draining);
    }
    worker->draining = 0;
    return 1;
}

/* Everybody has drained, so endpoints are only taken down. */
static void close_endpoint(const struct peer *peer)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    void *request = ucp_ep_close_nbx(peer->endpoint, &param);
    if (!UCS_PTR_IS_PTR(request))
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(peer->worker->ucp);
    ucp_request_free(request);
}

static void close_worker(struct worker *worker)
{
    while (worker->peers) {
        struct peer *peer = worker->peers;
        worker->peers = peer->next;
        close_endpoint(peer);
        free(peer);
    }
    ucp_worker_destroy(worker->ucp);
    free(worker);
}

static void ucx_close(void)
{
    closing = true;
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        close_worker(worker);
    }
    ucp_cleanup(ucx_context);
    unset_wishes();
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "ucx",
    .open = ucx_open,
    .open_worker = ucx_open_worker,
    .address = ucx_address,
    .connect = ucx_connect,
    .send = ucx_send,
    .receive = ucx_receive,
    .progress = ucx_progress,
    .descriptor = ucx_descriptor,
    .arm = ucx_arm,
    .drained = ucx_drained,
    .close = ucx_close,
    .able = ucx_able,
    .share = ucx_share,
    .pack = ucx_pack,
    .withdraw = ucx_withdraw,
    .unpack = ucx_unpack,
    .forget = ucx_forget,
    .put = ucx_put,
    .get = ucx_get,
    .atomics = ucx_atomics,
    .atomic = ucx_atomic,
    .flush = ucx_flush,
    .order = ucx_order,
};
