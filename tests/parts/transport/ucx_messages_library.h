/* The part of a made-up UCX that has contexts, workers, endpoints and messages, and which asks at each call which of its lines would be
 * left out; see ucx_library.h. */
#ifndef TESTS_PARTS_TRANSPORT_UCX_MESSAGES_LIBRARY_H
#define TESTS_PARTS_TRANSPORT_UCX_MESSAGES_LIBRARY_H

#include "ucx_library.h"

enum { LIB_WORKERS = 8, LIB_ENDPOINTS = 16, LIB_SENDS = 64, LIB_FD = 77 };

struct ucp_config {
    bool open;
};
struct ucp_worker {
    bool open, inside;
    ucp_am_handler_param_t handler;
};
struct ucp_ep {
    bool open;
    ucp_worker_h worker;
    ucp_ep_params_t params;
    char address[8];
};
struct ucp_address {
    char text[8];
};

static struct ucp_config lib_config;
static struct ucp_context lib_context;
static struct ucp_worker lib_workers[LIB_WORKERS];
static struct ucp_ep lib_endpoints[LIB_ENDPOINTS];
static ucp_address_t lib_address = {"address"};
static ucp_worker_h lib_address_open; /* whose address has been asked for and not given back */
static unsigned lib_nworkers, lib_nendpoints;

/* What a call answers. */
static ucs_status_t lib_config_status, lib_init_status, lib_query_status, lib_worker_status, lib_handler_status,
    lib_address_status, lib_fd_status, lib_arm_status, lib_ep_status[2];
static ucs_thread_mode_t lib_mode = UCS_THREAD_MODE_MULTI;

static ucp_params_t lib_params;     /* of the last context */
static char lib_wishes[2][16];      /* in the environment when the last worker was made */
static void (*lib_inside)(void);    /* what the next call of progress does */
static unsigned lib_count;          /* what it returns */
static unsigned lib_looks;          /* calls of progress */
static unsigned lib_eps_asked;      /* calls of ucp_ep_create since the last ucx->connect */
static bool lib_again;              /* the last such call has found no way */
static unsigned lib_flushes;        /* of workers */
static unsigned lib_wakes;          /* calls of progress until a request ends by itself; 0: none does */
static unsigned lib_ep_hushed[2];   /* lines left out in those calls */
static unsigned lib_inside_hushed;  /* and in progress */
static ucs_log_func_t lib_handler;  /* for lines */
static unsigned lib_handlers;       /* that have been pushed */
static bool lib_another, lib_calls; /* another thread asks too; each endpoint that is closed is lost */

/* --- Lines */

static const struct {
    const char *file;
    ucs_log_level_t level;
} lib_lines[] = {{"/src/uct/tcp/tcp_ep.c", UCS_LOG_LEVEL_ERROR},
                 {"sock.c", UCS_LOG_LEVEL_ERROR},
                 {"tcp/sockcm.c", UCS_LOG_LEVEL_ERROR},
                 {"tcp", UCS_LOG_LEVEL_ERROR},
                 {"/sys/soc.c", UCS_LOG_LEVEL_ERROR},
                 {"/tcp/tc.c", UCS_LOG_LEVEL_ERROR},
                 {"tcp/rdma.c", UCS_LOG_LEVEL_ERROR},
                 {"a/ptcp.c", UCS_LOG_LEVEL_ERROR},
                 {"a/tcp_ep.c", UCS_LOG_LEVEL_WARN},
                 {"a/tcp_ep.c", UCS_LOG_LEVEL_FATAL},
                 {"a/rdma.c", UCS_LOG_LEVEL_WARN},
                 {"a/sock.c", UCS_LOG_LEVEL_DIAG}};
enum { LIB_SOCKETS = 0xf, LIB_ERRORS = 0xff, LIB_LINES = sizeof lib_lines / sizeof *lib_lines };

/* Returns a set of the lines. */
static unsigned lib_ask(int nothing, ...)
{
    unsigned left_out = 0;
    va_list arguments;
    va_start(arguments, nothing);
    for (unsigned i = 0; i < LIB_LINES && lib_handler; i++)
        if (lib_handler(lib_lines[i].file, 1, "f", lib_lines[i].level, 0, "line", arguments) == UCS_LOG_FUNC_RC_STOP)
            left_out |= 1u << i;
    va_end(arguments);
    return left_out;
}

static void *lib_ask_other(void *left_out)
{
    *(unsigned *)left_out = lib_ask(0);
    return 0;
}

/* Another thread is in no call of UCX, so it prints every line. */
static unsigned lib_hushed(void)
{
    pthread_t other;
    unsigned others = 0;
    if (lib_another) {
        CHECK(pthread_create(&other, 0, lib_ask_other, &others) == 0 && pthread_join(other, 0) == 0);
        CHECK(others == 0);
    }
    return lib_ask(0);
}

void ucs_log_push_handler(ucs_log_func_t handler)
{
    lib_handler = handler;
    lib_handlers++;
}

/* --- Contexts and workers */

ucs_status_t ucp_config_read(const char *prefix, const char *file, ucp_config_t **made)
{
    CHECK(strcmp(prefix, "LATERAL") == 0 && !file && !lib_config.open && lib_hushed() == 0);
    *made = &lib_config;
    lib_config.open = lib_config_status == UCS_OK;
    return lib_config_status;
}

void ucp_config_release(ucp_config_t *config)
{
    CHECK(config == &lib_config && config->open);
    config->open = false;
}

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params, const ucp_config_t *config,
                              ucp_context_h *made)
{
    CHECK(major == 1 && minor == 13 && config == &lib_config && config->open && !lib_context.open);
    lib_params = *params;
    *made = &lib_context;
    lib_context.open = lib_init_status == UCS_OK;
    return lib_init_status;
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attr)
{
    CHECK(context == &lib_context && context->open && attr->field_mask == UCP_ATTR_FIELD_THREAD_MODE);
    attr->thread_mode = lib_mode;
    return lib_query_status;
}

void ucp_cleanup(ucp_context_h context)
{
    CHECK(context == &lib_context && context->open);
    for (unsigned i = 0; i < lib_nworkers; i++)
        CHECK(!lib_workers[i].open);
    context->open = false;
    lib_nworkers = lib_nendpoints = 0;
}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *made)
{
    CHECK(context == &lib_context && context->open && lib_nworkers < LIB_WORKERS);
    CHECK(params->field_mask == UCP_WORKER_PARAM_FIELD_THREAD_MODE);
    CHECK(params->thread_mode == UCS_THREAD_MODE_SERIALIZED && lib_hushed() == 0);
    snprintf(lib_wishes[0], sizeof lib_wishes[0], "%s", getenv("UCX_TCP_TX_SEG_SIZE") ?: "-");
    snprintf(lib_wishes[1], sizeof lib_wishes[1], "%s", getenv("UCX_TCP_RX_SEG_SIZE") ?: "-");
    if (lib_worker_status != UCS_OK)
        return lib_worker_status;
    lib_workers[lib_nworkers] = (struct ucp_worker){.open = true};
    *made = &lib_workers[lib_nworkers++];
    return UCS_OK;
}

void ucp_worker_destroy(ucp_worker_h worker)
{
    CHECK(worker >= lib_workers && worker < lib_workers + lib_nworkers && worker->open);
    for (unsigned i = 0; i < lib_nendpoints; i++)
        CHECK(lib_endpoints[i].worker != worker || !lib_endpoints[i].open);
    worker->open = false;
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *handler)
{
    CHECK(worker->open);
    CHECK(handler->field_mask ==
          (UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG));
    worker->handler = *handler;
    return lib_handler_status;
}

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *bytes)
{
    CHECK(worker->open && !lib_address_open);
    if (lib_address_status != UCS_OK)
        return lib_address_status;
    *address = &lib_address;
    *bytes = sizeof lib_address;
    lib_address_open = worker;
    return UCS_OK;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    CHECK(worker == lib_address_open && address == &lib_address);
    lib_address_open = 0;
}

/* A request changes in calls of progress alone. */
static bool lib_asked; /* since the last one, in vain */

ucs_status_t ucp_request_check_status(void *of)
{
    const struct lib_request *request = of;
    CHECK(request->open && !lib_asked);
    lib_asked = request->status == UCS_INPROGRESS;
    return request->status;
}

static void lib_wake(void)
{
    if (lib_wakes > 0 && --lib_wakes == 0)
        lib_requests[lib_began - 1].status = UCS_OK;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    void (*const inside)(void) = lib_inside;
    CHECK(worker->open && !worker->inside);
    worker->inside = true;
    lib_inside = 0;
    lib_inside_hushed = lib_hushed();
    lib_looks++;
    lib_asked = false;
    lib_wake();
    if (inside)
        inside();
    worker->inside = false;
    return lib_count;
}

ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd)
{
    CHECK(worker->open);
    *fd = LIB_FD;
    return lib_fd_status;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    CHECK(worker->open);
    return lib_arm_status;
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t *param)
{
    CHECK(worker->open && param->op_attr_mask == 0);
    lib_flushes++;
    return lib_operation(param);
}

/* --- Endpoints */

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *made)
{
    CHECK(worker->open && !worker->inside && lib_nendpoints < LIB_ENDPOINTS);
    CHECK(params->field_mask ==
          (UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER));
    lib_eps_asked++;
    lib_ep_hushed[lib_again] = lib_hushed();
    const ucs_status_t status = lib_ep_status[lib_again];
    lib_again = !lib_again && status == UCS_ERR_UNREACHABLE;
    struct ucp_ep *ep = &lib_endpoints[lib_nendpoints];
    *ep = (struct ucp_ep){.open = status == UCS_OK, .worker = worker, .params = *params};
    snprintf(ep->address, sizeof ep->address, "%s", (const char *)params->address);
    if (status == UCS_OK) {
        *made = ep;
        lib_nendpoints++;
    }
    return status;
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    CHECK(ep >= lib_endpoints && ep < lib_endpoints + lib_nendpoints && ep->open && ep->worker->open);
    CHECK(param->op_attr_mask == UCP_OP_ATTR_FIELD_FLAGS && param->flags == UCP_EP_CLOSE_FLAG_FORCE);
    ep->open = false;
    if (lib_calls)
        ep->params.err_handler.cb(ep->params.err_handler.arg, ep, UCS_ERR_CANCELED);
    return lib_operation(param);
}

/* --- Messages */

static struct lib_send {
    ucp_ep_h ep;
    unsigned id;
    const void *header, *data;
    size_t header_bytes, bytes;
} lib_sends[LIB_SENDS];
static unsigned lib_nsends;

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_bytes, const void *data,
                                 size_t bytes, const ucp_request_param_t *param)
{
    CHECK(ep->open && lib_nsends < LIB_SENDS);
    lib_sends[lib_nsends++] = (struct lib_send){ep, id, header, data, header_bytes, bytes};
    return lib_operation(param);
}

static struct {
    ucp_worker_h worker;
    void *rest, *into;
    size_t bytes;
} lib_received;

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *rest, void *into, size_t bytes,
                                      const ucp_request_param_t *param)
{
    CHECK(worker->open);
    lib_received.worker = worker;
    lib_received.rest = rest;
    lib_received.into = into;
    lib_received.bytes = bytes;
    return lib_operation(param);
}

#endif
