/* A made-up UCX for tests that include files of src/transport/ucx: its operations say what they were given, answer as the test wants,
 * and end when the test says so. The definitions below stand in place of the library's, whose headers are real. */
#ifndef TESTS_PARTS_TRANSPORT_UCX_LIBRARY_H
#define TESTS_PARTS_TRANSPORT_UCX_LIBRARY_H

#include "transport/transport.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include "../owned.h"

enum { LIB_REQUESTS = 64, LIB_ENDS = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA };

struct ucp_context {
    bool open;
};

static struct lib_request {
    bool open;
    ucs_status_t status;
    ucp_request_param_t param;
} lib_requests[LIB_REQUESTS];
static unsigned lib_began;            /* requests so far */
static ucs_status_t lib_answer;       /* of operations; UCS_INPROGRESS: they become requests */
static ucp_request_param_t lib_param; /* of the last operation */

/* Nothing of the last operations is left. */
static inline void lib_forget(void)
{
    for (unsigned i = 0; i < lib_began; i++)
        CHECK(!lib_requests[i].open);
    lib_began = 0;
    lib_answer = UCS_OK;
    memset(&lib_param, 0, sizeof lib_param);
}

static inline ucs_status_ptr_t lib_operation(const ucp_request_param_t *param)
{
    lib_param = *param;
    if (lib_answer != UCS_INPROGRESS)
        return UCS_STATUS_PTR(lib_answer);
    CHECK(lib_began < LIB_REQUESTS);
    lib_requests[lib_began] = (struct lib_request){true, UCS_INPROGRESS, *param};
    return &lib_requests[lib_began++];
}

/* The last operation ends with this token, and has so many attributes besides. */
static inline bool lib_ends_with(const void *token, uint32_t more)
{
    return lib_param.op_attr_mask == (LIB_ENDS | more) && lib_param.user_data == token && lib_param.cb.send;
}

static inline void lib_end(unsigned number, ucs_status_t status)
{
    struct lib_request *request = &lib_requests[number];
    CHECK(number < lib_began && request->open);
    request->status = status;
    request->param.cb.send(request, status, request->param.user_data);
    CHECK(!request->open); /* it has been freed */
}

void ucp_request_free(void *of)
{
    struct lib_request *request = of;
    CHECK(request >= lib_requests && request < lib_requests + lib_began && request->open);
    request->open = false;
}

const char *ucs_status_string(ucs_status_t status)
{
    static char words[128][16];
    CHECK(status <= 0 && status > -128);
    snprintf(words[-status], sizeof words[0], "status %d", status);
    return words[-status];
}

/* --- What ends */

static unsigned lib_finishes;
static void *lib_token; /* the last one's */
static int lib_failed;
static void (*lib_then)(void); /* what the next event does, once */

static inline void lib_finished(void *token, int failed)
{
    void (*const then)(void) = lib_then;
    lib_finishes++;
    lib_token = token;
    lib_failed = failed;
    lib_then = 0;
    if (then)
        then();
}

/* The last events since the last question: exactly this one. */
static inline bool lib_has_finished(const void *token, bool failed)
{
    const bool one = lib_finishes == 1 && lib_token == token && (lib_failed != 0) == failed;
    lib_finishes = 0;
    return one;
}

#endif
