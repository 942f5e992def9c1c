/* Peers, and the operations that wait for them.
 *
 * Invariants: operations of a queue are posted in its order. A peer whose queues are not empty is in the worker's list
 * `waiting`. An operation is in the worker's list `under_way` from the first attempt on until its end. */
#include "net/ofi/inner.h"

#include <stdlib.h>
#include <string.h>

void ofi_peer_broken(struct peer *peer, const char *why)
{
    if (peer->broken)
        return;
    peer->broken = true;
    ofi_events->broken(peer->worker->owner, peer->pe, why);
}

struct peer *ofi_peer_find(const struct worker *worker, int pe, uint8_t number)
{
    struct peer *peer = worker->peers[pe];
    while (peer && peer->number != number)
        peer = peer->next;
    return peer;
}

struct peer *ofi_peer_add(struct worker *worker, int pe, uint8_t number, uint32_t id, const void *name)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return 0;
    peer->worker = worker;
    peer->pe = pe;
    peer->number = number;
    peer->id = id;
    peer->credit = OFI_CREDIT;
    peer->control.last = &peer->control.first;
    peer->data.last = &peer->data.first;
    if (fi_av_insert(worker->addresses, name, 1, &peer->to, 0, 0) != 1) {
        free(peer);
        return 0;
    }
    peer->next = worker->peers[pe];
    worker->peers[pe] = peer;
    return peer;
}

/* --- Operations under way */

static void count_op(struct ofi_op *op)
{
    struct worker *worker = op->peer->worker;
    op->older = worker->under_way;
    op->newer = 0;
    if (op->older)
        op->older->newer = op;
    worker->under_way = op;
}

static void discount_op(struct ofi_op *op)
{
    struct worker *worker = op->peer->worker;
    if (op->newer)
        op->newer->older = op->older;
    else
        worker->under_way = op->older;
    if (op->older)
        op->older->newer = op->newer;
}

static void end_op(struct ofi_op *op, int error)
{
    discount_op(op);
    if (op->local)
        ofi_local_end(op, error == 0);
    op->end(op, error);
}

void ofi_finish(struct ofi_op *op, int error)
{
    op->peer->worker->posted -= op->posted;
    end_op(op, error);
}

/* --- Queues */

static void queue_op(struct ofi_queue *queue, struct ofi_op *op)
{
    op->next = 0;
    *queue->last = op;
    queue->last = &op->next;
}

static struct ofi_op *take_first(struct ofi_queue *queue)
{
    struct ofi_op *op = queue->first;
    queue->first = op->next;
    if (!queue->first)
        queue->last = &queue->first;
    return op;
}

bool ofi_peer_ready(const struct peer *peer, uint32_t credit)
{
    return !peer->control.first && !peer->data.first && peer->credit >= credit;
}

enum posting { TAKEN, ENDED, LATER };

static enum posting post_op(struct ofi_op *op)
{
    struct worker *worker = op->peer->worker;
    if (worker->posted >= ofi_info->tx_attr->size)
        return LATER;
    op->posted = true; /* now, since another thread of the provider may end it */
    worker->posted++;
    const ssize_t status = op->peer->broken ? -FI_ECONNABORTED : op->post(op);
    if (status == 0)
        return TAKEN;
    if (status != -FI_EAGAIN) {
        ofi_finish(op, (int)-status);
        return ENDED;
    }
    if (op->local)
        ofi_local_end(op, false);
    op->posted = false;
    worker->posted--;
    return LATER;
}

static void note_waiting(struct peer *peer)
{
    struct worker *worker = peer->worker;
    if (peer->waits)
        return;
    peer->waits = true;
    peer->next_waiting = worker->waiting;
    worker->waiting = peer;
}

bool ofi_start(struct ofi_op *op, bool control)
{
    struct peer *peer = op->peer;
    count_op(op);
    if (control ? !peer->control.first : ofi_peer_ready(peer, op->credit)) {
        peer->credit -= op->credit;
        const enum posting posted = post_op(op);
        if (posted != LATER)
            return posted == TAKEN;
        peer->credit += op->credit;
    }
    queue_op(control ? &peer->control : &peer->data, op);
    note_waiting(peer);
    return false;
}

/* The head leaves the queue before it is posted, since its end may start other operations. */
static bool push_first(struct peer *peer, struct ofi_queue *queue)
{
    struct ofi_op *op = queue->first;
    if (peer->credit < op->credit && !peer->broken)
        return false;
    take_first(queue);
    peer->credit -= peer->broken ? 0 : op->credit;
    if (post_op(op) != LATER)
        return true;
    peer->credit += op->credit;
    op->next = queue->first;
    queue->first = op;
    if (!op->next)
        queue->last = &op->next;
    return false;
}

int ofi_peer_push(struct peer *peer)
{
    int count = 0;
    while (peer->control.first || peer->data.first) {
        if (!push_first(peer, peer->control.first ? &peer->control : &peer->data))
            break;
        count++;
    }
    return count;
}

int ofi_push_all(struct worker *worker)
{
    int count = 0;
    struct peer *list = worker->waiting;
    worker->waiting = 0;
    while (list) {
        struct peer *peer = list;
        list = peer->next_waiting;
        peer->waits = false;
        count += ofi_peer_push(peer);
        if (peer->control.first || peer->data.first)
            note_waiting(peer);
    }
    return count;
}

/* --- End */

void ofi_peers_free(struct worker *worker)
{
    while (worker->under_way)
        end_op(worker->under_way, OFI_CLOSING);
    for (int pe = 0; worker->peers && pe < ofi_npes; pe++)
        while (worker->peers[pe]) {
            struct peer *peer = worker->peers[pe];
            worker->peers[pe] = peer->next;
            free(peer->parts);
            free(peer);
        }
    free(worker->peers);
}
