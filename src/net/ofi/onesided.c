/* One-sided operations over libfabric. What a provider can do is asked, never guessed from its name: RMA and atomics by
 * fi_getinfo and fi_query_atomic, whether the target's processor takes part by the way the domain makes progress, order by
 * msg_order, else by FI_FENCE.
 *
 * A flush waits until puts complete, which tell by that that they are in the target's memory (FI_DELIVERY_COMPLETE). Where writes stay in
 * order (FI_ORDER_WAW), only the last one of several need tell, so the flush sends an empty one behind them; a put that is likely to be the
 * only one before its flush tells by itself. The puts to a peer between two flushes are an epoch.
 *
 * Keys are small numbers unless the provider makes them. A region is bound to worker 0, to which peers connect.
 *
 * A provider that has counters (cntr_cnt) and FI_RMA_EVENT counts the puts to a region by a counter that is bound to it for
 * FI_REMOTE_WRITE: proto/key.c has the paper. Such a counter counts all writes to its region, so each use of share_counting makes a region and
 * a counter of its own over the same memory. Of libfabric 1.17's providers that run without hardware, sockets does so; shm and rxd
 * have FI_RMA_EVENT, and refuse to bind a counter to a region (they take one for a whole endpoint). */
#include "net/ofi/inner.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { COPIED = 1 << 10 }; /* sources up to this size are copied: they are free at once */

struct ofi_epoch {
    uint64_t left; /* puts and atomics that are not complete yet */
    bool flushed, failed;
    void *token; /* of the flush */
    struct ofi_epoch *next;
};

struct share {
    struct fid_mr *region;
    struct fid_cntr *counter; /* null: nobody counts */
    uint64_t base;            /* what peers subtract from an address */
    struct share *next, **at;
};

struct key {
    uint64_t key, base;
    uint64_t counts; /* 1: each write is counted */
};

enum what { PUT, GET, ATOMIC };

struct move {
    struct ofi_op op;
    enum what what;
    void *token;             /* null: the origin has been told */
    struct ofi_epoch *epoch; /* of a put, or an atomic whose old value nobody wants; else null */
    uint64_t key, there;
    void *here; /* source; place of a get or an old value */
    size_t bytes;
    struct transport_word word;
    bool tells; /* a put is complete when it is in place */
    char copy[];
};

static struct share *shares;
static unsigned able;       /* set of enum transport_able */
static unsigned atomics[2]; /* of 4 and 8 bytes */

static const enum fi_op names[] =
    {[TRANSPORT_SWAP] = FI_ATOMIC_WRITE, [TRANSPORT_CSWAP] = FI_CSWAP, [TRANSPORT_ADD] = FI_SUM,
     [TRANSPORT_AND] = FI_BAND,          [TRANSPORT_OR] = FI_BOR,      [TRANSPORT_XOR] = FI_BXOR};

/* --- What the provider can do */

static bool has_atomic(enum transport_atomic what, enum fi_datatype type)
{
    struct fi_atomic_attr attr;
    const uint64_t fetches = what == TRANSPORT_CSWAP ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
    if (fi_query_atomic(ofi_domain, type, names[what], &attr, fetches) != 0)
        return false;
    return what <= TRANSPORT_CSWAP || fi_query_atomic(ofi_domain, type, names[what], &attr, 0) == 0;
}

static unsigned find_atomics(enum fi_datatype type)
{
    unsigned found = 0;
    for (enum transport_atomic what = TRANSPORT_SWAP; what <= TRANSPORT_XOR; what++)
        found |= has_atomic(what, type) ? 1u << what : 0;
    return found;
}

void ofi_find_able(unsigned wanted)
{
    able = TRANSPORT_KNOWN;
    atomics[0] = atomics[1] = 0;
    if (!(ofi_info->caps & FI_RMA))
        return;
    able |= TRANSPORT_ONESIDED | (ofi_orders_writes() || ofi_info->caps & FI_FENCE ? TRANSPORT_ORDERS : 0) |
            (ofi_info->tx_attr->msg_order & FI_ORDER_SAW ? TRANSPORT_BEHIND : 0);
    if (ofi_info->caps & FI_ATOMIC && !ofi_is_rxd()) { /* its fetching atomics crash up to libfabric 2.4 */
        atomics[0] = find_atomics(FI_UINT32);
        atomics[1] = find_atomics(FI_UINT64);
    }
    if (!ofi_is_rxd())
        able |= TRANSPORT_CHEAPER;
    if (ofi_info->domain_attr->data_progress == FI_PROGRESS_AUTO)
        able |= TRANSPORT_ALONE | (atomics[0] && atomics[1] ? TRANSPORT_ATOMICS_ALONE : 0);
    if (!(able & wanted))
        able = TRANSPORT_KNOWN;
    else if (ofi_counts())
        able |= TRANSPORT_COUNTS;
}

unsigned ofi_able(void *peer)
{
    (void)peer;
    return able;
}

unsigned ofi_atomics(void *peer, size_t bytes)
{
    (void)peer;
    return bytes == 4 ? atomics[0] : bytes == 8 ? atomics[1] : 0;
}

/* --- Memory and keys */

static const struct worker *first_worker(void)
{
    const struct worker *first = ofi_workers;
    while (first->next)
        first = first->next;
    return first;
}

static int bind_counter(struct share *share)
{
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    const int status = fi_cntr_open(ofi_domain, &attr, &share->counter, 0);
    return status == 0 ? fi_mr_bind(share->region, &share->counter->fid, FI_REMOTE_WRITE) : status;
}

/* Registers the memory and binds the region. Returns 0, or an error of libfabric, after which free_share frees what there is. */
static int open_share(struct share *share, void *start, size_t bytes, bool counts)
{
    const bool told = counts && ofi_has_mode(FI_MR_RMA_EVENT);
    const uint64_t access = counts ? FI_REMOTE_WRITE : FI_REMOTE_READ | FI_REMOTE_WRITE;
    int status = ofi_register(start, bytes, access, told ? FI_RMA_EVENT : 0, &share->region);
    if (status == 0 && counts)
        status = bind_counter(share);
    return status == 0 ? ofi_bind_region(share->region, first_worker(), told) : status;
}

static void free_share(struct share *share)
{
    if (share->region)
        (void)fi_close(&share->region->fid);
    if (share->counter)
        (void)fi_close(&share->counter->fid);
    free(share);
}

static void *share_memory(void *start, size_t bytes, bool counts)
{
    struct share *share = calloc(1, sizeof *share);
    if (!share)
        return 0;
    if (open_share(share, start, bytes, counts) != 0) {
        free_share(share);
        return 0;
    }
    share->base = ofi_has_mode(FI_MR_VIRT_ADDR) ? 0 : (uint64_t)(uintptr_t)start;
    share->next = shares;
    share->at = &shares;
    if (shares)
        shares->at = &share->next;
    shares = share;
    return share;
}

void *ofi_share(void *start, size_t bytes)
{
    return share_memory(start, bytes, false);
}

void *ofi_share_counting(void *start, size_t bytes)
{
    return ofi_counts() ? share_memory(start, bytes, true) : 0;
}

uint64_t ofi_counted(void *shared)
{
    return fi_cntr_read(((const struct share *)shared)->counter);
}

int ofi_pack(void *shared, void *buffer, size_t *bytes)
{
    const struct share *share = shared;
    const struct key key = {fi_mr_key(share->region), share->base, share->counter != 0};
    const bool fits = sizeof key <= *bytes && key.key != FI_KEY_NOTAVAIL;
    if (fits)
        memcpy(buffer, &key, sizeof key);
    *bytes = sizeof key;
    return fits ? 0 : -1;
}

void ofi_withdraw(void *shared)
{
    struct share *share = shared;
    *share->at = share->next;
    if (share->next)
        share->next->at = share->at;
    free_share(share);
}

void ofi_shares_close(void)
{
    while (shares)
        ofi_withdraw(shares);
}

void *ofi_unpack(void *peer, const void *packed, size_t bytes)
{
    struct key *key = bytes == sizeof *key ? malloc(sizeof *key) : 0;
    (void)peer;
    return key ? memcpy(key, packed, bytes) : 0;
}

void ofi_forget(void *key)
{
    free(key);
}

/* --- Epochs */

/* Returns the epoch of the next put; null without memory. */
static struct ofi_epoch *open_epoch(struct peer *peer)
{
    struct ofi_epoch *last = peer->epochs;
    while (last && last->next)
        last = last->next;
    if (last && !last->flushed)
        return last;
    struct ofi_epoch *made = calloc(1, sizeof *made);
    if (made)
        *(last ? &last->next : &peer->epochs) = made;
    return made;
}

/* Ends flushes whose puts, and all before, are done. */
static void end_epochs(struct peer *peer)
{
    while (peer->epochs && peer->epochs->left == 0) {
        struct ofi_epoch *epoch = peer->epochs;
        void *token = epoch->token;
        const bool flushed = epoch->flushed, failed = epoch->failed;
        peer->epochs = epoch->next;
        free(epoch);
        if (flushed)
            ofi_events->finished(token, failed);
        else
            peer->put_failed |= failed;
    }
}

/* --- Operations */

static uint64_t fence_for(struct peer *peer)
{
    const bool behind = peer->orders != peer->worker->orders;
    peer->orders = peer->worker->orders;
    return behind && ofi_info->caps & FI_FENCE ? FI_FENCE : 0;
}

static ssize_t post_atomic(struct move *move, uint64_t flags)
{
    const struct transport_word *word = &move->word;
    struct peer *peer = move->op.peer;
    struct fid_ep *endpoint = peer->worker->endpoint;
    struct {
        uint64_t operand, compare, old;
    } *cell = 0;
    void *desc = 0;
    if (ofi_local) {
        cell = (void *)ofi_cell(&move->op, &desc);
        if (!cell)
            return -FI_EAGAIN;
        cell->operand = word->operand;
        cell->compare = word->compare;
        if (move->here)
            ofi_cell_returns(&move->op, (const char *)&cell->old, move->here, word->size);
    }
    const struct fi_ioc operand = {cell ? &cell->operand : (void *)(uintptr_t)&word->operand, 1},
                        compare = {cell ? &cell->compare : (void *)(uintptr_t)&word->compare, 1};
    struct fi_ioc result = {cell ? &cell->old : move->here, 1};
    const struct fi_rma_ioc there = {move->there, 1, move->key};
    const struct fi_msg_atomic what = {.msg_iov = &operand,
                                       .desc = &desc,
                                       .iov_count = 1,
                                       .addr = peer->to,
                                       .rma_iov = &there,
                                       .rma_iov_count = 1,
                                       .datatype = word->size == 4 ? FI_UINT32 : FI_UINT64,
                                       .op = names[word->what],
                                       .context = &move->op.context};
    if (word->what == TRANSPORT_CSWAP)
        return fi_compare_atomicmsg(endpoint, &what, &compare, &desc, 1, &result, &desc, 1, flags);
    if (move->here)
        return fi_fetch_atomicmsg(endpoint, &what, &result, &desc, 1, flags);
    return fi_atomicmsg(endpoint, &what, flags | FI_DELIVERY_COMPLETE);
}

static ssize_t post_rma(struct move *move, uint64_t flags)
{
    struct peer *peer = move->op.peer;
    struct iovec here = {move->here, move->bytes};
    void *desc = 0;
    const int status =
        ofi_local ? ofi_use(&move->op, &here.iov_base, here.iov_len, move->what == PUT ? FI_WRITE : FI_READ, &desc) : 0;
    if (status != 0)
        return status;
    const struct fi_rma_iov there = {move->there, move->bytes, move->key};
    const struct fi_msg_rma what = {.msg_iov = &here,
                                    .desc = &desc,
                                    .iov_count = 1,
                                    .addr = peer->to,
                                    .rma_iov = &there,
                                    .rma_iov_count = 1,
                                    .context = &move->op.context};
    if (move->what == GET)
        return fi_readmsg(peer->worker->endpoint, &what, 0);
    return fi_writemsg(peer->worker->endpoint, &what, flags | (move->tells ? FI_DELIVERY_COMPLETE : 0));
}

static ssize_t post_move(struct ofi_op *op)
{
    struct move *move = (struct move *)op;
    struct peer *peer = op->peer;
    const uint64_t before = peer->orders, flags = move->what == GET ? 0 : fence_for(peer);
    const ssize_t status = (move->what == ATOMIC ? post_atomic : post_rma)(move, flags);
    if (status != 0)
        peer->orders = before;
    return status;
}

static void end_move(struct ofi_op *op, int error)
{
    struct move *move = (struct move *)op;
    struct ofi_epoch *epoch = move->epoch;
    struct peer *peer = op->peer;
    void *token = move->token;
    free(move);
    if (epoch) {
        epoch->left--;
        epoch->failed |= error != 0 && !token;
    }
    if (error < 0)
        return;
    if (token)
        ofi_events->finished(token, error != 0);
    if (epoch)
        end_epochs(peer);
}

static struct move *new_move(struct peer *peer, enum what what, const struct key *key, uint64_t there, size_t own)
{
    struct move *move = malloc(sizeof *move + own);
    if (move)
        *move = (struct move){.op = {.post = post_move, .end = end_move, .peer = peer},
                              .what = what,
                              .key = key->key,
                              .there = there - key->base};
    return move;
}

/* Counts it for the next flush. Returns false without memory. */
static bool join_epoch(struct move *move)
{
    move->epoch = open_epoch(move->op.peer);
    if (move->epoch)
        move->epoch->left++;
    return move->epoch != 0;
}

/* Starts a put, or an atomic. When it has a copy of its source, and libfabric has the put, the origin is told. */
static enum transport_status start_put(struct move *move, bool copied)
{
    if (!ofi_start(&move->op, false) || !copied)
        return TRANSPORT_PENDING;
    move->token = 0;
    return TRANSPORT_DONE;
}

/* Decides whether the put tells, or the flush asks behind it. An empty write must not be counted. */
static void choose_teller(struct move *move, const struct key *key)
{
    struct peer *peer = move->op.peer;
    const bool others = peer->puts++ || peer->had_many;
    move->tells = !others || key->counts || !ofi_orders_writes();
    peer->untold = !move->tells;
    peer->untold_key = move->key;
    peer->untold_at = move->there;
}

/* Starts an empty write behind puts that do not tell. Returns false without memory. */
static bool ask_behind(struct peer *peer)
{
    struct move *move = new_move(peer, PUT, &(struct key){.key = peer->untold_key}, peer->untold_at, 0);
    if (!move || !join_epoch(move)) {
        free(move);
        return false;
    }
    move->here = move->copy;
    move->tells = true;
    peer->untold = false;
    ofi_start(&move->op, false);
    return true;
}

enum transport_status ofi_put(void *to, void *key, uint64_t there, const void *source, size_t bytes, void *token)
{
    struct peer *peer = to;
    const bool copies = bytes <= COPIED;
    if (!bytes)
        return TRANSPORT_DONE;
    struct move *move = new_move(peer, PUT, key, there, copies ? bytes : 0);
    if (!move || !join_epoch(move)) {
        free(move);
        return TRANSPORT_FAILED;
    }
    move->bytes = bytes;
    move->here = copies ? memcpy(move->copy, source, bytes) : (void *)(uintptr_t)source;
    move->token = token;
    choose_teller(move, key);
    return start_put(move, copies);
}

enum transport_status ofi_get(void *to, void *key, uint64_t from, void *dest, size_t bytes, void *token)
{
    if (!bytes)
        return TRANSPORT_DONE;
    struct move *move = new_move(to, GET, key, from, 0);
    if (!move)
        return TRANSPORT_FAILED;
    move->bytes = bytes;
    move->here = dest;
    move->token = token;
    ofi_start(&move->op, false);
    return TRANSPORT_PENDING;
}

enum transport_status ofi_atomic(void *to, void *key, uint64_t at, const struct transport_word *word, void *old,
                                 void *token)
{
    struct move *move = new_move(to, ATOMIC, key, at, 0);
    if (!move || (!old && !join_epoch(move))) {
        free(move);
        return TRANSPORT_FAILED;
    }
    move->word = *word;
    move->here = old;
    move->token = token;
    return start_put(move, !old);
}

enum transport_status ofi_flush(void *to, void *token)
{
    struct peer *peer = to;
    if (peer->puts)
        peer->had_many = peer->puts > 1;
    peer->puts = 0;
    if (peer->untold && !ask_behind(peer))
        return TRANSPORT_FAILED;
    const bool failed = peer->put_failed;
    peer->put_failed = false;
    if (!peer->epochs)
        return failed ? TRANSPORT_FAILED : TRANSPORT_DONE;
    struct ofi_epoch *epoch = open_epoch(peer);
    if (!epoch)
        return TRANSPORT_FAILED;
    epoch->flushed = true;
    epoch->failed |= failed;
    epoch->token = token;
    return TRANSPORT_PENDING;
}

void ofi_order(void *of)
{
    struct worker *worker = of;
    worker->orders++;
}
