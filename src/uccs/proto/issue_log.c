/* Issue logs: what a party has issued, by peer (proto.h), and what all parties of a worker have, which is the worker's own log. Under the
 * worker's lock, unless a comment says otherwise. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

/* --- Life */

void proto_log_begin(struct proto_issue_log *log, struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->numbered = (uint16_t)(worker->numbered % (PROTO_REQUEST - 1) + 1); /* 0 is no log */
    log->number = worker->numbered;
    log->next = worker->logs;
    worker->logs = log;
    pthread_mutex_unlock(&worker->lock);
}

void proto_log_end(struct proto_issue_log *log, struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct proto_issue_log **at = &worker->logs;
    while (*at && *at != log)
        at = &(*at)->next;
    if (*at)
        *at = log->next;
    pthread_mutex_unlock(&worker->lock);
    for (struct proto_log_peer *next; log->first; log->first = next) {
        next = log->first->next;
        free(log->first);
    }
    free(log->peers);
}

static bool add_log_peer(struct proto_issue_log *log, struct proto_peer *peer)
{
    if (!log->peers && !(log->peers = calloc((size_t)uccs_core.npes, sizeof *log->peers)))
        return false;
    struct proto_log_peer *log_peer = log->peers[peer->pe] = calloc(1, sizeof *log_peer);
    if (!log_peer)
        return false;
    log_peer->peer = peer;
    log_peer->next = log->first;
    log->first = log_peer;
    return true;
}

bool proto_log_reserve(struct proto_issue_log *log, struct proto_peer *peer)
{
    return lat_likely(proto_log_peer_find(log, peer->pe) != 0) || add_log_peer(log, peer);
}

static struct proto_log_peer *activate_log_peer(struct proto_issue_log *log, struct proto_peer *peer)
{
    if (!proto_log_reserve(log, peer))
        uccs_fail("no memory for a stream");
    struct proto_log_peer *log_peer = proto_log_peer_find(log, peer->pe);
    proto_log_activate(log, log_peer);
    return log_peer;
}

bool proto_log_peer_applied(const struct proto_log_peer *log_peer)
{
    return proto_point_reaches(log_peer->peer->answered, log_peer->issued);
}

void proto_log_tidy(struct proto_issue_log *log)
{
    struct proto_log_peer **at = &log->active;
    while (*at) {
        struct proto_log_peer *log_peer = *at;
        log_peer->active =
            !proto_log_peer_applied(log_peer) || log_peer->asks.count || log_peer->holding || log_peer->refused;
        if (log_peer->active)
            at = &log_peer->next_active;
        else
            *at = log_peer->next_active;
    }
}

/* --- Messages that leave */

void proto_log_issued(struct proto_send *send)
{
    struct proto_log_peer *log_peer = activate_log_peer(send->log, send->peer);
    log_peer->issued = send->peer->all.issued;
    if (send->flag || send->buffer)
        return;
    send->log_peer = log_peer;
    log_peer->holding++;
}

bool proto_log_peer_take_nacked(struct proto_log_peer *log_peer)
{
    bool refused = log_peer->refused;
    log_peer->refused = false;
    return refused;
}

static bool contains_number(const proto_nack_number *numbers, size_t count, uint16_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

void proto_log_nacked(struct proto_worker *worker, int pe, const proto_nack_number *logs, size_t count)
{
    for (struct proto_issue_log *log = worker->logs; log && count; log = log->next) {
        struct proto_log_peer *log_peer = contains_number(logs, count, log->number) ? proto_log_peer_find(log, pe) : 0;
        if (log_peer)
            log_peer->refused = true;
    }
}

/* --- Pending requests under way */

void proto_log_asks(struct proto_issue_log *log, struct proto_peer *peer, struct proto_pending *ask)
{
    ask->log_peer = activate_log_peer(log, peer);
    ask->log_peer->asks.count++;
    ask->log_peer->reading += ask->reads;
}

bool proto_asks_watch(struct proto_log_peer *log_peer, struct uccs_request *request)
{
    struct proto_asks *asks = &log_peer->asks;
    struct proto_wake *wake = asks->count ? malloc(sizeof *wake) : 0;
    if (!wake)
        return !asks->count;
    *wake = (struct proto_wake){log_peer->peer->worker->asked, asks->count, request, asks->wakes};
    asks->wakes = wake;
    uccs_request_begin(request);
    return true;
}

void proto_log_peer_settled(struct proto_log_peer *log_peer, const struct proto_pending *ask)
{
    log_peer->asks.count--;
    for (struct proto_wake **at = &log_peer->asks.wakes; *at;) {
        struct proto_wake *wake = *at;
        if (ask->number >= wake->before || --wake->left) {
            at = &wake->next;
            continue;
        }
        *at = wake->next;
        uccs_request_finish(wake->request, proto_log_peer_take_nacked(log_peer));
        free(wake);
    }
}
