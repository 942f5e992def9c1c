/* Put and get, the far half: peers on other nodes, and mistakes, which place.c names. */
#include "shmem/rma.h"

#include "shmem/place.h"

#define LONG_DATA 4096 /* bytes */

void lat_move_more(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    if (bytes >= LONG_DATA)
        atomic_settle();
}

void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    if (lat_moves_nothing(call, bytes, pe))
        return;
    if (uccs_far_pe(pe))
        lat_put_with_far(call, ctx, dest, source, bytes, pe, 0, true, 0);
    else
        memcpy(lat_resolve(call, "dest", dest, pe), source, bytes);
}

void lat_put_nb_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                    uccs_request_handle *req)
{
    if (bytes && uccs_far_pe(pe)) {
        lat_put_with_far(call, ctx, dest, source, bytes, pe, 0, false, req);
        return;
    }
    lat_put_far(call, ctx, dest, source, bytes, pe);
    if (req)
        uccs_request_stored(req);
}

void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    if (lat_moves_nothing(call, bytes, pe))
        return;
    if (uccs_far_pe(pe))
        lat_get_with_far(call, ctx, dest, source, bytes, pe, 0, true, 0);
    else
        memcpy(dest, lat_resolve(call, "source", source, pe), bytes);
}

void lat_get_nb_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                    uccs_request_handle *req)
{
    if (bytes && uccs_far_pe(pe)) {
        lat_get_with_far(call, ctx, dest, source, bytes, pe, 0, false, req);
        return;
    }
    lat_get_far(call, ctx, dest, source, bytes, pe);
    if (req)
        uccs_request_loaded(req);
}

void lat_put_with_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                      int pe, const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    struct proto_op op = {.kind = PROTO_PUT,
                          .nonblocking = !blocking,
                          .pe = pe,
                          .on = lat_ctx_workers(ctx),
                          .at.segment = PROTO_HEAP,
                          .source = source,
                          .bytes = bytes,
                          .with = with,
                          .request = req};
    if (bytes)
        op.at = lat_remote_address(call, "dest", dest, pe);
    (void)proto_rma_or_end(&op);
}

void lat_get_with_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                      int pe, const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    struct proto_op op = {.kind = PROTO_GET,
                          .nonblocking = !blocking,
                          .pe = pe,
                          .on = lat_ctx_workers(ctx),
                          .at.segment = PROTO_HEAP,
                          .dest = dest,
                          .bytes = bytes,
                          .with = with,
                          .request = req};
    if (bytes)
        op.at = lat_remote_address(call, "source", source, pe);
    (void)proto_rma_or_end(&op);
}
