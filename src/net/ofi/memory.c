/* Memory of the provider: keys, the buffers of a worker, and what a provider asks for that reads and writes registered memory alone
 * (FI_MR_LOCAL).
 *
 * There a short operation takes a cell of its worker's registered buffers when it is posted: the source is copied into it, or it is copied
 * to the destination at the end. A longer one registers the caller's memory until its end; such providers keep a cache of
 * registrations. Without a free cell an operation waits as after -FI_EAGAIN; so it does when registering fails while operations
 * are registered that end without the peer's help. */
#include "net/ofi/message.h"

#include "base/atomic.h"

#include <stdlib.h>
#include <string.h>

#define CELL_BYTES ((size_t)40 << 10)
enum { CELLS = 64 };
_Static_assert(CELL_BYTES >= sizeof(struct head) + sizeof(struct announcement) + OFI_HEADER + TRANSPORT_SHORT,
               "a cell holds any message");

/* A cell, or a registration of the caller's memory. */
struct ofi_local {
    char *cell; /* null: a registration */
    struct fid_mr *region;
    uint64_t key; /* of the region. No peer knows it, so the next one takes it again */
    bool awaits;  /* it ends when the peer has sent */
    void *into;   /* gets `bytes` of the cell, from `at` on, when the operation ends; null: nothing does */
    const char *at;
    size_t bytes;
    struct ofi_local *next; /* not in use */
};

bool ofi_local;
static uint64_t next_key;
static uint32_t held; /* registrations that do not await a peer */

bool ofi_has_mode(uint64_t mode)
{
    return (uint64_t)ofi_info->domain_attr->mr_mode & mode;
}

void ofi_memory_open(void)
{
    ofi_local = ofi_has_mode(FI_MR_LOCAL);
    next_key = 0;
}

int ofi_register(void *start, size_t bytes, uint64_t access, uint64_t flags, struct fid_mr **region)
{
    enum { ATTEMPTS = 64 };
    const size_t size = ofi_info->domain_attr->mr_key_size;
    int status = -FI_ENOKEY;
    for (int i = 0; i < ATTEMPTS && status == -FI_ENOKEY; i++) {
        const uint64_t key = atomic_fetch_add_relaxed(&next_key, 1);
        if (size < sizeof key && key >> (8 * size) && !ofi_has_mode(FI_MR_PROV_KEY))
            return -FI_ENOKEY; /* all have been used; an old one might still be known to a peer */
        status = fi_mr_reg(ofi_domain, start, bytes, access, 0, key, flags, region, 0);
    }
    return status;
}

int ofi_bind_region(struct fid_mr *region, const struct worker *worker, bool enables)
{
    const bool binds = ofi_has_mode(FI_MR_ENDPOINT);
    const int status = binds ? fi_mr_bind(region, &worker->endpoint->fid, 0) : 0;
    return status == 0 && (binds || enables) ? fi_mr_enable(region) : status;
}

/* --- Buffers of a worker */

static int register_buffers(struct worker *worker, size_t bytes)
{
    char *cells = worker->buffers + OFI_RECEIVES * OFI_RECEIVE_BYTES;
    worker->cell_array = calloc(CELLS, sizeof *worker->cell_array);
    if (!worker->cell_array ||
        ofi_register(worker->buffers, bytes, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0, &worker->region))
        return -1;
    for (int i = 0; i < CELLS; i++) {
        worker->cell_array[i] = (struct ofi_local){.cell = cells + (size_t)i * CELL_BYTES, .next = worker->cells};
        worker->cells = &worker->cell_array[i];
    }
    worker->desc = fi_mr_desc(worker->region);
    return ofi_bind_region(worker->region, worker, false);
}

int ofi_buffers_open(struct worker *worker)
{
    const size_t bytes = OFI_RECEIVES * OFI_RECEIVE_BYTES + (ofi_local ? CELLS * CELL_BYTES : 0);
    worker->buffers = malloc(bytes);
    return worker->buffers && (!ofi_local || register_buffers(worker, bytes) == 0) ? 0 : -1;
}

void ofi_buffers_free(struct worker *worker)
{
    if (worker->region)
        (void)fi_close(&worker->region->fid);
    while (worker->spare) {
        struct ofi_local *local = worker->spare;
        worker->spare = local->next;
        free(local);
    }
    free(worker->cell_array);
    free(worker->buffers);
}

/* --- Of an operation */

char *ofi_cell(struct ofi_op *op, void **desc)
{
    struct worker *worker = op->peer->worker;
    struct ofi_local *local = worker->cells;
    if (!local)
        return 0;
    worker->cells = local->next;
    local->into = 0;
    op->local = local;
    *desc = worker->desc;
    return local->cell;
}

void ofi_cell_returns(struct ofi_op *op, const char *at, void *into, size_t bytes)
{
    op->local->at = at;
    op->local->into = into;
    op->local->bytes = bytes;
}

/* Registers the memory. Returns 0, or an error of libfabric. */
static int register_again(const struct worker *worker, struct ofi_local *local, void *start, size_t bytes,
                          uint64_t access)
{
    int status = local->key == FI_KEY_NOTAVAIL
                     ? -FI_ENOKEY
                     : fi_mr_reg(ofi_domain, start, bytes, access, 0, local->key, 0, &local->region, 0);
    if (status == -FI_ENOKEY)
        status = ofi_register(start, bytes, access, 0, &local->region);
    if (status != 0)
        return status;
    local->key = fi_mr_key(local->region);
    status = ofi_bind_region(local->region, worker, false);
    if (status != 0)
        (void)fi_close(&local->region->fid);
    return status;
}

static int register_op(struct ofi_op *op, void *start, size_t bytes, uint64_t access, void **desc)
{
    struct worker *worker = op->peer->worker;
    struct ofi_local *local = worker->spare;
    if (local)
        worker->spare = local->next;
    else if (!(local = malloc(sizeof *local)))
        return -FI_ENOMEM;
    else
        *local = (struct ofi_local){.key = FI_KEY_NOTAVAIL};
    local->awaits = access == FI_RECV;
    const int status = register_again(worker, local, start, bytes, access);
    if (status != 0) {
        local->next = worker->spare;
        worker->spare = local;
        return atomic_load_relaxed(&held) ? -FI_EAGAIN : status;
    }
    (void)atomic_fetch_add_relaxed(&held, (uint32_t)!local->awaits);
    op->local = local;
    *desc = fi_mr_desc(local->region);
    return 0;
}

int ofi_use(struct ofi_op *op, void **start, size_t bytes, uint64_t access, void **desc)
{
    const bool comes = access & (FI_READ | FI_RECV);
    if (bytes > CELL_BYTES || access == FI_RECV) /* that would keep the cell until the peer sends */
        return register_op(op, *start, bytes, access, desc);
    char *cell = ofi_cell(op, desc);
    if (!cell)
        return -FI_EAGAIN;
    if (comes)
        ofi_cell_returns(op, cell, *start, bytes);
    else
        memcpy(cell, *start, bytes);
    *start = cell;
    return 0;
}

void ofi_local_end(struct ofi_op *op, bool good)
{
    struct worker *worker = op->peer->worker;
    struct ofi_local *local = op->local, **list = local->cell ? &worker->cells : &worker->spare;
    op->local = 0;
    if (local->cell && local->into && good)
        memcpy(local->into, local->at, local->bytes);
    if (!local->cell) {
        (void)fi_close(&local->region->fid);
        (void)atomic_fetch_sub_acqrel(&held, (uint32_t)!local->awaits);
    }
    local->next = *list;
    *list = local;
}
