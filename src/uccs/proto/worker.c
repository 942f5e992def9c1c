/* Opens and frees workers, makes their peers, and gives messages to the transport. */
#include "uccs/proto/inner.h"

#include "uccs/core/doorbell.h"

#include <stdlib.h>
#include <string.h>

struct proto_worker proto_workers[PROTO_WORKERS] = {[0 ... PROTO_WORKERS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
const struct transport *proto_transport;
uint32_t proto_active, proto_touched, proto_asleep, proto_reminded, proto_settled;
uint64_t proto_workers_left;

struct proto_worker *proto_service_worker(void)
{
    return &proto_workers[0];
}

void proto_service_lock(void)
{
    pthread_mutex_lock(&proto_workers[0].lock);
}

void proto_service_unlock(void)
{
    pthread_mutex_unlock(&proto_workers[0].lock);
}

struct proto_peer *proto_peer_make(struct proto_worker *worker, int pe)
{
    struct proto_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return 0;
    peer->worker = worker;
    peer->pe = pe;
    peer->origin.peer = peer->all.peer = peer;
    worker->log.peers[pe] = &peer->all;
    return peer;
}

struct proto_peer *proto_peer_of(struct proto_worker *worker, int pe)
{
    return uccs_must_have(proto_peer_try(worker, pe), "a connection to", pe);
}

void proto_count_sending(struct proto_worker *worker, int change)
{
    atomic_store_relaxed(&worker->sending, worker->sending + (uint32_t)change);
}

void proto_send_done(struct proto_sent_token *token, bool failed)
{
    struct proto_send *send = (struct proto_send *)token;
    proto_count_sending(send->worker, -1);
    if (lat_unlikely(failed))
        return; /* `broken` says why and ends the job */
    proto_send_free(send);
}

bool proto_send_reserve_slow(struct proto_worker *worker)
{
    struct proto_send **at = &worker->idle;
    for (int i = 0; i < 3; i++, at = &(*at)->next)
        if (lat_unlikely(!*at) && !(*at = calloc(1, sizeof **at)))
            return false;
    return true;
}

void proto_send_free(struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    if (send->batch && !worker->spare)
        worker->spare = send->buffer;
    else if (send->buffer)
        free(send->buffer);
    if (send->flag)
        atomic_store_release(send->flag, 1); /* acquire: proto_await */
    if (send->left)
        send->left(send->cookie);
    if (lat_unlikely(send->local != 0))
        uccs_request_finish(send->local, false);
    if (lat_unlikely(send->log_peer != 0))
        send->log_peer->holding--;
    send->next = worker->idle;
    worker->idle = send;
}

bool proto_hand_over(struct proto_coalescer *coalescer, struct proto_send *send)
{
    proto_count_sending(send->worker, 1);
    switch (proto_transport->send(coalescer->to, &send->header, sizeof send->header, send->data, send->bytes, send)) {
    case TRANSPORT_DONE: proto_count_sending(send->worker, -1), proto_send_free(send); return true;
    case TRANSPORT_PENDING: return false;
    default:
        uccs_fail_process_lost(coalescer->pe, "a message to PE %d%s failed: the connection is lost", coalescer->pe,
                               uccs_keepalive_host(coalescer->pe));
    }
}

const char *proto_worker_open(uint32_t number)
{
    struct proto_worker *worker = &proto_workers[number];
    worker->number = number;
    free(worker->log.peers); /* an attempt that failed may have left them */
    worker->log.peers = calloc((size_t)uccs_core.npes, sizeof *worker->log.peers);
    return worker->log.peers ? proto_transport->open_worker(worker, &worker->at) : "no memory";
}

/* A life that a fault ends may leave messages that have not been sent. */
static void free_coalescer(struct proto_coalescer *coalescer)
{
    if (coalescer->send)
        free(coalescer->send->buffer);
    free(coalescer->send);
    coalescer->send = 0;
}

/* A message is kept until the end when operations that it waits for have never come. */
static void free_origin(struct proto_origin *origin)
{
    for (struct proto_delayed *next; origin->kept; origin->kept = next) {
        next = origin->kept->next;
        free(origin->kept);
    }
    free_coalescer(&origin->coalescer);
    free(origin->nacks);
}

static void free_origins(struct proto_peer *peer)
{
    for (int worker = 0; peer->others && worker < PROTO_WORKERS; worker++)
        if (peer->others[worker]) {
            free_origin(peer->others[worker]);
            free(peer->others[worker]);
        }
    free_origin(&peer->origin);
    free(peer->others);
}

static void free_peer(struct proto_peer *peer)
{
    if (peer->next)
        free(peer->next->requests);
    free(peer->next);
    free_origins(peer);
    free_coalescer(&peer->coalescer);
    free(peer);
}

void proto_worker_free(struct proto_worker *worker)
{
    for (int pe = 0; worker->log.peers && pe < uccs_core.npes; pe++)
        if (worker->log.peers[pe])
            free_peer(worker->log.peers[pe]->peer);
    free(worker->log.peers);
    free(worker->spare);
    proto_handle_close(&worker->handles);
    while (worker->idle_flush) {
        struct proto_peer_flush *flush = worker->idle_flush;
        worker->idle_flush = flush->next;
        free(flush->requests);
        free(flush);
    }
    while (worker->idle) {
        struct proto_send *send = worker->idle;
        worker->idle = send->next;
        free(send);
    }
    memset((char *)worker + offsetof(struct proto_worker, at), 0, sizeof *worker - offsetof(struct proto_worker, at));
}

/* --- Waking the progress thread (progress.c) for messages of this process */

void proto_thread_remind(const struct proto_worker *worker)
{
    const uint64_t bit = UINT64_C(1) << worker->number;
    if (!atomic_load_relaxed(&uccs_progress_thread_on))
        return;
    if (worker != proto_service_worker() && !(atomic_load_seqcst(&proto_workers_left) & bit))
        (void)atomic_fetch_or_seqcst(&proto_workers_left, bit);
    if (atomic_load_seqcst(&proto_asleep) && atomic_exchange_seqcst(&proto_asleep, 0)) {
        atomic_store_seqcst(&proto_reminded, 1);
        uccs_doorbell_ring_mine();
    }
}

lat_cold void proto_touch_worker(struct proto_worker *worker)
{
    atomic_store_relaxed(&worker->some, 1);
    if (worker == proto_service_worker())
        atomic_store_relaxed(&proto_touched, 1);
}
