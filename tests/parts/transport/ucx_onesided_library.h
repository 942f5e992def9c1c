/* The part of a made-up UCX that has memory, keys and one-sided operations; see ucx_library.h. */
#ifndef TESTS_PARTS_TRANSPORT_UCX_ONESIDED_LIBRARY_H
#define TESTS_PARTS_TRANSPORT_UCX_ONESIDED_LIBRARY_H

#include "ucx_library.h"

struct ucp_ep {
    int nothing;
};
struct ucp_mem {
    void *start;
    size_t bytes;
    bool open;
};
struct ucp_rkey {
    bool open;
};
struct ucp_worker {
    unsigned fences;
};

static struct ucp_context lib_context;
static struct ucp_mem lib_memory;
static struct ucp_rkey lib_key;
static struct ucp_ep lib_ep;
static char lib_packed[24];
static bool lib_packed_open;
static ucs_status_t lib_status; /* of what is no operation */

/* Of the last operation. */
static enum { NOTHING, PUT, GET, ATOMIC, FLUSH } lib_what;
static const void *lib_buffer;
static size_t lib_count;
static uint64_t lib_at;
static ucp_atomic_op_t lib_op;

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *made)
{
    CHECK(context == &lib_context);
    CHECK(params->field_mask == (UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH));
    *made = &lib_memory;
    if (lib_status == UCS_OK)
        lib_memory = (struct ucp_mem){params->address, params->length, true};
    return lib_status;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory)
{
    CHECK(context == &lib_context && memory == &lib_memory && memory->open);
    memory->open = false;
    return UCS_OK;
}

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memory, void **packed, size_t *bytes)
{
    CHECK(context == &lib_context && memory == &lib_memory);
    if (lib_status != UCS_OK)
        return lib_status;
    for (size_t i = 0; i < sizeof lib_packed; i++)
        lib_packed[i] = (char)(i + 1);
    lib_packed_open = true;
    *packed = lib_packed;
    *bytes = sizeof lib_packed;
    return UCS_OK;
}

void ucp_rkey_buffer_release(void *packed)
{
    CHECK(packed == lib_packed && lib_packed_open);
    lib_packed_open = false;
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *packed, ucp_rkey_h *made)
{
    CHECK(ep == &lib_ep && memcmp(packed, "key", 4) == 0);
    *made = &lib_key;
    lib_key.open = lib_status == UCS_OK;
    return lib_status;
}

void ucp_rkey_destroy(ucp_rkey_h key)
{
    CHECK(key == &lib_key && key->open);
    key->open = false;
}

/* --- Operations */

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t at, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    CHECK(ep == &lib_ep && key == &lib_key);
    lib_what = PUT;
    lib_buffer = buffer;
    lib_count = count;
    lib_at = at;
    return lib_operation(param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count, uint64_t at, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    CHECK(ep == &lib_ep && key == &lib_key);
    lib_what = GET;
    lib_buffer = buffer;
    lib_count = count;
    lib_at = at;
    return lib_operation(param);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t op, const void *buffer, size_t count, uint64_t at,
                                   ucp_rkey_h key, const ucp_request_param_t *param)
{
    CHECK(ep == &lib_ep && key == &lib_key);
    lib_what = ATOMIC;
    lib_op = op;
    lib_buffer = buffer;
    lib_count = count;
    lib_at = at;
    return lib_operation(param);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    CHECK(ep == &lib_ep);
    lib_what = FLUSH;
    return lib_operation(param);
}

ucs_status_t ucp_worker_fence(ucp_worker_h worker)
{
    worker->fences++;
    return UCS_OK;
}

#endif
