/* Strided put and get. A stride of one on both sides is a plain copy. Any thread. */
#include "shmem/rma.h"

struct strided {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step; /* bytes */
};

/* One loop per element size, so that the copy of an element is one move. */
static void copy_elements(struct strided s, size_t count, size_t size)
{
#define EACH(bytes)                                                      \
    case bytes:                                                          \
        for (; count; count--, s.to += s.to_step, s.from += s.from_step) \
            memcpy(s.to, s.from, bytes);                                 \
        break;
    switch (size) {
        EACH(1)
        EACH(2) EACH(4) EACH(8) EACH(16) default : for (; count; count--, s.to += s.to_step, s.from += s.from_step)
                                                       memcpy(s.to, s.from, size);
    }
#undef EACH
}

static void copy(char *to, const char *from, ptrdiff_t dst, ptrdiff_t sst, size_t count, size_t block, size_t size)
{
    if (dst == sst && (size_t)dst * size == block) {
        memcpy(to, from, count * block);
        return;
    }
    struct strided s = {to, from, dst * (ptrdiff_t)size, sst * (ptrdiff_t)size};
    copy_elements(s, count, block);
}

/* The peer's address; null when there is nothing to move. */
static void *peer(const char *call, const char *argument, const void *addr, size_t bytes, int pe)
{
    void *near = uccs_near(addr, pe);
    if (lat_likely(near))
        return near;
    lat_require(call);
    if (bytes == 0 && pe >= 0 && pe < uccs_core.npes)
        return 0;
    return lat_resolve(call, argument, addr, pe);
}

void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    (void)ctx;
    char *to = peer(call, "dest", dest, nelems, pe);
    if (to && nelems)
        copy(to, source, dst, sst, nelems, size, size);
}

void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    (void)ctx;
    const char *from = peer(call, "source", source, nelems, pe);
    if (from && nelems)
        copy(dest, from, dst, sst, nelems, size, size);
}

void lat_ibput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    (void)ctx;
    char *to = peer(call, "dest", dest, bsize * nblocks, pe);
    if (to && bsize && nblocks)
        copy(to, source, dst, sst, nblocks, bsize * size, size);
}

void lat_ibget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    (void)ctx;
    const char *from = peer(call, "source", source, bsize * nblocks, pe);
    if (from && bsize && nblocks)
        copy(dest, from, dst, sst, nblocks, bsize * size, size);
}
