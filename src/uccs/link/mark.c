/* Marks note what a track has issued to a peer; inner.h describes them. */
#include "uccs/link/inner.h"

#include <stdlib.h>

#define FEW 8 /* heads of chains at first */

static struct link_mark **chain_of(struct link_track *track, int pe)
{
    return &track->heads[(uint32_t)pe & (track->room - 1)];
}

struct link_mark *link_mark_find(struct link_track *track, int pe)
{
    struct link_mark *mark = track->room ? *chain_of(track, pe) : 0;
    while (mark && mark->peer->pe != pe)
        mark = mark->next;
    return mark;
}

static bool grow(struct link_track *track)
{
    struct link_mark **old = track->heads;
    const uint32_t room = track->room, more = room ? 4 * room : FEW;
    struct link_mark **heads = calloc(more, sizeof(struct link_mark *));
    if (!heads)
        return false;
    track->heads = heads;
    track->room = more;
    for (uint32_t i = 0; i < room; i++)
        for (struct link_mark *next, *mark = old[i]; mark; mark = next) {
            struct link_mark **chain = chain_of(track, mark->peer->pe);
            next = mark->next;
            mark->next = *chain;
            *chain = mark;
        }
    free(old);
    return true;
}

static bool add(struct link_track *track, struct link_peer *peer)
{
    if (track->count == track->room && !grow(track))
        return false;
    struct link_mark *mark = calloc(1, sizeof *mark), **chain = chain_of(track, peer->pe);
    if (!mark)
        return false;
    mark->track = track;
    mark->peer = peer;
    mark->next = *chain;
    *chain = mark;
    track->count++;
    return true;
}

bool link_mark_reserve(struct link_track *track, struct link_peer *peer)
{
    return lat_likely(link_mark_find(track, peer->pe) != 0) || add(track, peer);
}

static struct link_mark *activate(struct link_track *track, struct link_peer *peer)
{
    if (!link_mark_reserve(track, peer))
        uccs_fail("no memory for a stream");
    struct link_mark *mark = link_mark_find(track, peer->pe);
    if (!mark->active) {
        mark->active = true;
        mark->next_active = track->active;
        track->active = mark;
    }
    return mark;
}

bool link_mark_applied(const struct link_mark *mark)
{
    return link_reaches(mark->peer->answered, mark->number);
}

/* Takes marks with nothing under way off the list. */
void link_track_tidy(struct link_track *track)
{
    struct link_mark **at = &track->active;
    while (*at) {
        struct link_mark *mark = *at;
        mark->active = !link_mark_applied(mark) || mark->asking || mark->holding || mark->refused;
        if (mark->active)
            at = &mark->next_active;
        else
            *at = mark->next_active;
    }
}

/* --- Notes of what the track issues */

void link_track_issued(struct link_track *track, struct link_peer *peer, struct link_send *send)
{
    struct link_mark *mark = activate(track, peer);
    mark->number = peer->issued;
    if (send->flag || send->buffer)
        return;
    send->mark = mark;
    mark->holding++;
}

void link_mark_left(struct link_mark *mark)
{
    mark->holding--;
}

void link_track_asks(struct link_track *track, struct link_peer *peer, struct link_ask *ask)
{
    ask->mark = activate(track, peer);
    ask->mark->asking++;
    ask->mark->reading += ask->reads;
}

bool link_mark_take_refused(struct link_mark *mark)
{
    bool refused = mark->refused;
    mark->refused = false;
    return refused;
}

static bool contains(const uint16_t *numbers, size_t count, uint16_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

void link_mark_refused(struct link_lane *lane, int pe, const uint16_t *tracks, size_t count)
{
    for (struct link_track *track = lane->tracks; track && count; track = track->next) {
        struct link_mark *mark = contains(tracks, count, track->number) ? link_mark_find(track, pe) : 0;
        if (mark)
            mark->refused = true;
    }
}

void link_mark_settled(const struct link_ask *ask)
{
    struct link_mark *mark = ask->mark;
    mark->asking--;
    mark->reading -= ask->reads;
    mark->refused |= ask->failed && !ask->request && !ask->local;
    for (struct link_wake **at = &mark->wakes; *at;) {
        struct link_wake *wake = *at;
        if (ask->number >= wake->before || --wake->left) {
            at = &wake->next;
            continue;
        }
        *at = wake->next;
        uccs_request_finish(wake->request, link_mark_take_refused(mark));
        free(wake);
    }
}
