/* Messages over UCX (UCP active messages): one worker, one endpoint per peer, made on first use.
 *
 * A module of its own: nothing of UCX is loaded before a peer is off the node. Works with UCP 1.13 and later.
 * Threads and events: transport.h.
 *
 * Invariants: one active-message id; short data comes with the message, long data by rendezvous, straight into
 * the place that the receiver names. Endpoints find out by themselves that a peer is gone. */
#include "transport/transport.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { MESSAGE = 1 };

struct peer {
    ucp_ep_h endpoint;
    int pe;
    struct peer *next;
};

static ucp_context_h context;
static ucp_worker_h worker;
static const struct transport_events *events;
static struct peer *peers; /* all, for close */
static void *draining;     /* the worker's flush under way */
static bool closing;       /* connections go down on purpose */

static void finished_send(void *request, ucs_status_t status, void *token)
{
    ucp_request_free(request);
    events->finished(token, status != UCS_OK);
}

static void finished_receive(void *request, ucs_status_t status, size_t bytes, void *token)
{
    (void)bytes;
    ucp_request_free(request);
    events->finished(token, status != UCS_OK);
}

static ucs_status_t arrived(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
                            const ucp_am_recv_param_t *param)
{
    (void)unused;
    bool late = param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
    struct transport_message message = {.header = header,
                                        .header_bytes = header_bytes,
                                        .data = late ? 0 : data,
                                        .bytes = bytes,
                                        .rest = late ? data : 0};
    events->arrived(&message);
    return late ? UCS_INPROGRESS : UCS_OK;
}

static void lost(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    (void)endpoint;
    const struct peer *peer = argument;
    if (!closing)
        events->broken(peer->pe, ucs_status_string(status));
}

/* Unless the user says otherwise: a peer whose link is down is noticed within seconds, not hours. UCX reads these from
 * the environment alone; they stay there only while it does. */
static const char *const patience[][2] = {
    {"UCX_TCP_KEEPIDLE", "2s"},
    {"UCX_TCP_KEEPINTVL", "1s"},
    {"UCX_TCP_KEEPCNT", "3"},
    {"UCX_KEEPALIVE_INTERVAL", "2s"},
};
enum { PATIENCE = sizeof patience / sizeof *patience };

static void set_patience(bool mine[PATIENCE])
{
    for (int i = 0; i < PATIENCE; i++) {
        mine[i] = !getenv(patience[i][0]);
        if (mine[i])
            setenv(patience[i][0], patience[i][1], 1);
    }
}

static void unset_patience(const bool mine[PATIENCE])
{
    for (int i = 0; i < PATIENCE; i++)
        if (mine[i])
            unsetenv(patience[i][0]);
}

static ucs_status_t open_context(int npes)
{
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(0, 0, &config);
    if (status != UCS_OK)
        return status;
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                                 .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                                 .estimated_num_eps = (size_t)npes};
    status = ucp_init(&params, config, &context);
    ucp_config_release(config);
    return status;
}

static ucs_status_t open_worker(void)
{
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t status = ucp_worker_create(context, &params, &worker);
    if (status != UCS_OK)
        return status;
    const ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                            .id = MESSAGE,
                                            .cb = arrived};
    return ucp_worker_set_am_recv_handler(worker, &handler);
}

static const char *ucx_open(const struct transport_events *to, int npes)
{
    events = to;
    closing = false;
    bool mine[PATIENCE];
    set_patience(mine);
    ucs_status_t status = open_context(npes);
    if (status == UCS_OK)
        status = open_worker();
    unset_patience(mine);
    return status == UCS_OK ? 0 : ucs_status_string(status);
}

static int ucx_address(void *room, size_t *bytes)
{
    ucp_address_t *address;
    size_t length;
    if (ucp_worker_get_address(worker, &address, &length) != UCS_OK)
        return -1;
    bool fits = length <= *bytes;
    if (fits)
        memcpy(room, address, length);
    *bytes = length;
    ucp_worker_release_address(worker, address);
    return fits ? 0 : -1;
}

static void *ucx_connect(int pe, const void *address, size_t bytes)
{
    (void)bytes;
    struct peer *peer = malloc(sizeof *peer);
    if (!peer)
        return 0;
    *peer = (struct peer){.pe = pe, .next = peers};
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .address = address,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler = {lost, peer}};
    if (ucp_ep_create(worker, &params, &peer->endpoint) != UCS_OK) {
        free(peer);
        return 0;
    }
    peers = peer;
    return peer;
}

static enum transport_status outcome(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request))
        return TRANSPORT_PENDING;
    return UCS_PTR_STATUS(request) == UCS_OK ? TRANSPORT_DONE : TRANSPORT_FAILED;
}

static enum transport_status ucx_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                      void *token)
{
    const struct peer *peer = to;
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.send = finished_send,
                                       .user_data = token};
    return outcome(ucp_am_send_nbx(peer->endpoint, MESSAGE, header, header_bytes, data, bytes, &param));
}

static enum transport_status ucx_receive(void *rest, void *into, size_t bytes, void *token)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.recv_am = finished_receive,
                                       .user_data = token};
    return outcome(ucp_am_recv_data_nbx(worker, rest, into, bytes, &param));
}

static int ucx_progress(void)
{
    return (int)ucp_worker_progress(worker);
}

static int ucx_descriptor(void)
{
    int fd;
    return ucp_worker_get_efd(worker, &fd) == UCS_OK ? fd : -1;
}

static int ucx_arm(void)
{
    return ucp_worker_arm(worker) == UCS_OK;
}

static int ucx_drained(void)
{
    const ucp_request_param_t param = {0};
    if (!draining)
        draining = ucp_worker_flush_nbx(worker, &param);
    ucp_worker_progress(worker);
    if (UCS_PTR_IS_PTR(draining)) {
        if (ucp_request_check_status(draining) == UCS_INPROGRESS)
            return 0;
        ucp_request_free(draining);
    }
    draining = 0;
    return 1;
}

/* Everybody has drained, so endpoints are only taken down. */
static void close_endpoint(ucp_ep_h endpoint)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    void *request = ucp_ep_close_nbx(endpoint, &param);
    if (!UCS_PTR_IS_PTR(request))
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    ucp_request_free(request);
}

static void ucx_close(void)
{
    closing = true;
    while (peers) {
        struct peer *peer = peers;
        peers = peer->next;
        close_endpoint(peer->endpoint);
        free(peer);
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "ucx",
    .open = ucx_open,
    .address = ucx_address,
    .connect = ucx_connect,
    .send = ucx_send,
    .receive = ucx_receive,
    .progress = ucx_progress,
    .descriptor = ucx_descriptor,
    .arm = ucx_arm,
    .drained = ucx_drained,
    .close = ucx_close,
};
