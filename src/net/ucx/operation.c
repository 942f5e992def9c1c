/* What messages and one-sided operations share: the life's context, and how an operation of UCX ends. */
#include "net/ucx/inner.h"

ucp_context_h ucx_context;
bool ucx_onesided;
const struct transport_events *ucx_events;

static void finished(void *request, ucs_status_t status, void *token)
{
    ucp_request_free(request);
    ucx_events->finished(token, status != UCS_OK);
}

enum transport_status ucx_outcome(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request))
        return TRANSPORT_PENDING;
    return UCS_PTR_STATUS(request) == UCS_OK ? TRANSPORT_DONE : TRANSPORT_FAILED;
}

ucp_request_param_t ucx_ends(void *token)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = finished,
                                 .user_data = token};
}
