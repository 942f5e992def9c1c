/* Reductions and scans over several nodes. Each node folds its members, in the order of their places; then nodes combine what they have
 * with the node 1, 2, 4, ... away, in log2(nodes) rounds. Where nodes are no power of two the first ones fold in pairs before, and the
 * upper one of each pair waits for the result: one round more than a barrier has. Every fold is of two runs of neighbours, the lower one at the left, and
 * the same at all nodes, so all PEs get the same bits. They depend on which PEs share a node, not on the length of the vectors.
 *
 * small  Nodes exchange all they have. A message lands in the row of the node's lead, as those of an allgather, and has its flags.
 *        The lead sends, but every member folds by itself what has come, so nobody passes anything on. A scan keeps the fold of
 *        the nodes before beside that of all.
 * long   The vector is cut into a slice for each rail: a member of each node, as many as the smallest node has. In a round two
 *        rails of different nodes share the elements that they have folded alike until then, and each sends the other its half;
 *        then results come back in the opposite order. So a rail sends less than twice its slice. Halves land in a room of the
 *        rail, whose place it tells its partners, results in its dest. Pieces of the slice go their ways one beside the other.
 *
 * Rules and threads: inner.h. */
#include "uccs/coll/inner.h"

#include "uccs/team/team.h"

#include <stdlib.h>

/* --- Which nodes combine */

/* The partners of a node. Nodes of the first pairs have one number together, and the upper one of each takes no part. */
struct partners {
    int pairs, rounds;
    int number; /* of this node */
    bool paired, upper;
};

static struct partners partners_of(const struct uccs_nodes *nodes)
{
    struct partners p = {0};
    while (2 << p.rounds <= nodes->count)
        p.rounds++;
    p.pairs = nodes->count - (1 << p.rounds);
    p.paired = nodes->mine < 2 * p.pairs;
    p.upper = p.paired && nodes->mine % 2;
    p.number = p.paired ? nodes->mine / 2 : nodes->mine - p.pairs;
    return p;
}

/* Returns the node with which this one combines in a round; of round -1 the other one of its pair. */
static int partner_in(const struct partners *p, const struct uccs_nodes *nodes, int round)
{
    if (round < 0)
        return nodes->mine ^ 1;
    const int number = p->number ^ 1 << round;
    return number < p->pairs ? 2 * number : number + p->pairs;
}

/* --- Small */

struct small {
    const struct uccs_coll *c;
    struct partners partners;
    struct uccs_node_allgather meeting;
    bool sends;
    size_t n, bytes;   /* of the piece */
    char *total, *own; /* the fold of the nodes so far, in `own` what lies before them */
    bool before;       /* a scan: something lies before them */
};

/* The lead's buffer holds what comes in each round, then the members' data, then what is sent in each round. Where no node has two
 * members, what a member gives is what it sends first, and has the same place. */
static size_t rounds_in(const struct partners *p)
{
    return (size_t)(p->rounds + (p->pairs > 0));
}

static size_t widest_of(const struct uccs_nodes *nodes)
{
    return nodes->widest > 1 ? (size_t)nodes->widest : 0;
}

size_t uccs_reduce_most(const struct uccs_nodes *nodes)
{
    const struct partners partners = partners_of(nodes);
    return NODES_GATHER_BYTES / (2 * rounds_in(&partners) + widest_of(nodes));
}

static char *part_of(const struct small *s, size_t part)
{
    return uccs_node_allgather_buffer(&s->meeting, 0) + part * s->bytes;
}

static char *data_of(const struct small *s, int index)
{
    return part_of(s, rounds_in(&s->partners) + (size_t)index);
}

/* Folds near members 0 .. count - 1 behind what `to` holds, if `has`. Returns true when `to` holds something. */
static bool fold_members(const struct small *s, char *to, bool has, int count)
{
    for (int index = 0; index < count; index++, has = true) {
        const char *theirs = data_of(s, index);
        if (has)
            s->c->fold(to, to, theirs, s->n);
        else
            memcpy(to, theirs, s->bytes);
    }
    return has;
}

static size_t part_in(const struct small *s, int round)
{
    return (size_t)round + (s->partners.pairs > 0);
}

/* Sends bytes to the partner of a round; the lead does, or first the member that was the last to arrive. */
static void send_small(struct small *s, int round, const char *from)
{
    const struct uccs_nodes *nodes = s->c->memory.team->nodes;
    const size_t part = part_in(s, round);
    if (s->sends) {
        char *copy = data_of(s, 0) + (widest_of(nodes) + part) * s->bytes;
        memcpy(copy, from, s->bytes);
        uccs_node_send(&s->meeting, partner_in(&s->partners, nodes, round), (int)part, part * s->bytes, copy, s->bytes);
    }
    s->sends = nodes->near.rank == 0;
}

static const char *await_small(struct small *s, int round)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(s->c->memory.team, s->meeting.number)};
    while (!uccs_node_has(&s->meeting, (int)part_in(s, round)))
        uccs_pause(&wait);
    return part_of(s, part_in(s, round));
}

/* Folds what a lower node has sent: it lies before this one's. */
static void fold_lower(struct small *s, const char *theirs)
{
    s->c->fold(s->total, theirs, s->total, s->n);
    if (s->own && s->before)
        s->c->fold(s->own, theirs, s->own, s->n);
    else if (s->own)
        memcpy(s->own, theirs, s->bytes);
    s->before = true;
}

static void combine_small(struct small *s)
{
    const struct partners *p = &s->partners;
    if (p->paired) {
        s->sends = s->c->memory.team->nodes->near.rank == 0;
        s->c->fold(s->total, s->total, await_small(s, -1), s->n);
    }
    for (int round = 0; round < p->rounds; round++) {
        send_small(s, round, s->total);
        const char *theirs = await_small(s, round);
        if (p->number >> round & 1)
            fold_lower(s, theirs);
        else
            s->c->fold(s->total, s->total, theirs, s->n);
    }
}

/* What the upper node of a pair gets: the result, or in a scan what lies before it, which is what lies before the pair, and the lower
 * node. */
static void find_answer(struct small *s)
{
    if (s->own && s->before)
        memcpy(s->total, s->own, s->bytes);
    if (s->own)
        (void)fold_members(s, s->total, s->before, s->c->memory.team->nodes->near.size);
}

static void ask_pair(struct small *s)
{
    send_small(s, -1, s->total);
    memcpy(s->own ? s->own : s->total, await_small(s, -1), s->bytes);
    s->before = true;
}

static void fold_small(struct uccs_coll *c, size_t at, size_t n, char *room)
{
    struct uccs_team *team = c->memory.team;
    const struct uccs_team *near = &team->nodes->near;
    char *dest = c->dest + at * c->element;
    struct small s = {.c = c,
                      .partners = partners_of(team->nodes),
                      .n = n,
                      .bytes = n * c->element,
                      .total = room ? room : dest,
                      .own = room ? dest : 0};
    uccs_node_allgather_begin(&s.meeting, team, 0, 0);
    memcpy(data_of(&s, near->rank), c->source + at * c->element, s.bytes);
    s.sends = uccs_node_arrive(&s.meeting);
    if (!s.sends)
        (void)await_small(&s, s.partners.paired ? -1 : 0); /* the near members have then arrived, too */
    (void)fold_members(&s, s.total, false, near->size);
    if (s.partners.upper)
        ask_pair(&s);
    else
        combine_small(&s);
    const bool answers = s.partners.paired && !s.partners.upper;
    if (answers)
        find_answer(&s);
    if (room && !fold_members(&s, dest, s.before, near->rank + c->memory.inclusive))
        memset(dest, 0, s.bytes);
    if (answers)
        send_small(&s, -1, s.total); /* where my data was */
    uccs_node_depart(&s.meeting);
}

static bool fold_pieces(struct uccs_coll *c)
{
    const size_t most = uccs_reduce_most(c->memory.team->nodes) / c->element;
    char *room = c->owned = c->kind == UCCS_COLL_SCAN ? uccs_coll_room(c->call, most * c->element) : 0;
    for (size_t at = 0; at < c->n; at += most)
        fold_small(c, at, c->n - at < most ? c->n - at : most, room);
    return true;
}

uccs_coll_step *const uccs_gather_fold[] = {fold_pieces, 0};

/* --- Long */

enum { PIECES = 8, PIECE_LEAST = 128 << 10, SLICE_LEAST = 64 << 10, FOLD_BLOCK = 8192 };

/* A rail's work, in `owned`. Its room holds a flag for each message of each piece, which is 1 when the message is there, then the places
 * where halves land.
 *
 * The stages of a piece, each with one message in either direction: 0 between the nodes of a pair, of which the upper one gives all it has
 * and later gets the result; 1 .. rounds halves; then results, back through the rounds. */
struct rail {
    struct partners partners;
    size_t from, to;      /* my slice */
    const char *sums;     /* my node's fold of it */
    size_t piece, pieces; /* elements of one; how many there are */
    char *room;
    struct proto_address opened;
    uint64_t
        rooms[TEAM_ROUNDS + 1]; /* the partners' rooms, one more than their offset, by round + 1; 0: not told yet */
    int stage[PIECES];
    bool sent[PIECES];
};

/* Returns the slice of a near member. It is empty where each rail would get little, or there are no more rails. */
static void slice_of(const struct uccs_coll *c, int index, size_t *from, size_t *to)
{
    const size_t most = (size_t)c->memory.team->nodes->narrowest, worth = c->bytes / SLICE_LEAST + 1;
    const size_t rails = worth < most ? worth : most, k = (size_t)index < rails ? (size_t)index : rails;
    *from = c->n * k / rails;
    *to = k < rails ? c->n * (k + 1) / rails : *from;
}

static int round_of(const struct rail *rail, int stage)
{
    return stage <= rail->partners.rounds ? stage - 1 : 2 * rail->partners.rounds - stage;
}

static bool is_result(const struct rail *rail, int stage)
{
    return stage > rail->partners.rounds;
}

/* The elements of a piece that this rail has folded after `rounds` rounds: those that both partners of the next round have. */
static void part_after(const struct rail *rail, size_t piece, int rounds, size_t *from, size_t *to)
{
    *from = piece * rail->piece;
    *to = *from + rail->piece < rail->to - rail->from ? *from + rail->piece : rail->to - rail->from;
    for (int round = 0; round < rounds; round++)
        *(rail->partners.number >> round & 1 ? from : to) = *from + (*to - *from) / 2;
}

/* The places of a flag, and of what lands in a stage, from the beginning of a room: alike at all rails. */
static size_t flag_at(const struct rail *rail, size_t piece, int stage)
{
    return (piece * (size_t)(2 * rail->partners.rounds + 1) + (size_t)stage) * sizeof(uint64_t);
}

static size_t landing_at(const struct rail *rail, size_t piece, int stage, size_t element)
{
    const size_t flags = (flag_at(rail, rail->pieces, 0) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    size_t at = piece * (2 * rail->piece + (size_t)rail->partners.rounds), half = rail->piece;
    for (int round = 0; round < (stage ? stage - 1 : rail->partners.rounds); round++)
        at += half = (half + 1) / 2;
    return flags + at * element;
}

static int rail_pe(const struct uccs_team *team, int node)
{
    return uccs_team_pe(team, uccs_nodes_rank(team->nodes, team->nodes->leads[node].place + team->nodes->near.rank));
}

/* Returns the place, in the row of a rail, of the word by which its partner of a round tells where its room is. */
static size_t room_word(const struct uccs_coll *c, int round)
{
    return (size_t)((c->memory.later ? TEAM_ROUNDS + 1 : 0) + round + 1) * sizeof(uint64_t);
}

static void tell_room(struct uccs_coll *c, int round)
{
    const struct rail *rail = c->owned;
    const struct uccs_team *team = c->memory.team;
    const int node = partner_in(&rail->partners, team->nodes, round);
    const struct proto_address word = uccs_place_plus(uccs_nodes_line(team, node, TEAM_ROOMS), room_word(c, round));
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET, .place = word, .value = rail->opened.offset + 1};
    uccs_nodes_put(rail_pe(team, node), word, rail->room, 0, &set, &c->memory.held);
}

/* Returns true when the partner of a round has told its room. It tells the next one when it has got what I send it now. */
static bool know_room(struct uccs_coll *c, int round)
{
    struct rail *rail = c->owned;
    const struct uccs_team *team = c->memory.team;
    uint64_t *word = (uint64_t *)((char *)uccs_team_line(team, team->rank, TEAM_ROOMS) + room_word(c, round));
    uint64_t *room = &rail->rooms[round + 1];
    if (!*room && (*room = atomic_load_acquire(word))) /* release: the put's signal */
        atomic_store_relaxed(word, 0);
    return *room;
}

/* Folds my slice of near members 0, 1, ... into my dest, block by block, so that the sums stay in the nearest cache. Nobody else reads
 * this slice of my source. */
static void fold_near(struct uccs_coll *c, size_t from, size_t to)
{
    const struct uccs_team *near = &c->memory.team->nodes->near;
    cache_aligned char sums[FOLD_BLOCK];
    for (size_t at = from, n; at < to; at += n) {
        n = to - at < FOLD_BLOCK / c->element ? to - at : FOLD_BLOCK / c->element;
        for (int rank = 0; rank < near->size; rank++) {
            const char *theirs = uccs_coll_peer(c->call, "source", near, c->source, rank);
            if (rank == 0)
                memcpy(sums, theirs + at * c->element, n * c->element);
            else
                c->fold(sums, sums, theirs + at * c->element, n);
        }
        memcpy(c->dest + at * c->element, sums, n * c->element);
    }
}

static void open_room(struct uccs_coll *c)
{
    struct rail *rail = c->owned;
    const struct partners *p = &rail->partners;
    const size_t n = rail->to - rail->from, least = PIECE_LEAST / c->element;
    rail->piece = n / PIECES < least ? least : n / PIECES + 1;
    rail->pieces = (n + rail->piece - 1) / rail->piece;
    const size_t bytes = landing_at(rail, rail->pieces, 1, c->element);
    rail->room = uccs_coll_room(c->call, bytes);
    memset(rail->room, 0, landing_at(rail, 0, 1, c->element));
    rail->opened = proto_landing_open(rail->room, bytes);
    for (size_t piece = 0; piece < rail->pieces; piece++)
        rail->stage[piece] = !p->paired;
    for (int round = p->paired ? -1 : 0; round < (p->upper ? 0 : p->rounds); round++)
        tell_room(c, round);
}

static void open_part(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    struct rail *rail = c->owned = uccs_coll_room(c->call, sizeof *rail);
    *rail = (struct rail){.partners = partners_of(nodes)};
    slice_of(c, nodes->near.rank, &rail->from, &rail->to);
    rail->sums = (nodes->near.size > 1 ? c->dest : c->source) + rail->from * c->element;
    if (nodes->near.size > 1)
        fold_near(c, rail->from, rail->to);
    if (rail->from < rail->to)
        open_room(c);
    c->step++;
}

static bool open_rail(struct uccs_coll *c)
{
    return uccs_coll_run_part(c, open_part);
}

/* Where the fold of this rail's elements is before a stage. */
static const char *folded_before(const struct uccs_coll *c, int stage)
{
    const struct rail *rail = c->owned;
    return stage <= !rail->partners.paired ? rail->sums : c->dest + rail->from * c->element;
}

/* Sends elements from .. to of my slice in a stage; results go to the partner's dest. */
static void send_elements(struct uccs_coll *c, size_t piece, int stage, bool result, size_t from, size_t to)
{
    const struct rail *rail = c->owned;
    const struct uccs_team *team = c->memory.team;
    const int round = round_of(rail, stage), pe = rail_pe(team, partner_in(&rail->partners, team->nodes, round));
    const struct proto_address room = {.segment = PROTO_LANDING, .offset = rail->rooms[round + 1] - 1};
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET,
                                     .place = uccs_place_plus(room, flag_at(rail, piece, stage)),
                                     .value = 1};
    char *dest = c->dest + (rail->from + from) * c->element;
    const struct proto_address at = result ? uccs_coll_place(c->call, "dest", dest, pe)
                                           : uccs_place_plus(room, landing_at(rail, piece, stage, c->element));
    uccs_nodes_put(pe, at, result ? dest : folded_before(c, stage) + from * c->element, (to - from) * c->element, &set,
                   &c->memory.held);
}

/* Sends what this rail sends in a stage. Of a pair's nodes only the upper one does, in stage 0. */
static void send_stage(struct uccs_coll *c, size_t piece, int stage)
{
    const struct rail *rail = c->owned;
    const int round = round_of(rail, stage);
    size_t from, to;
    part_after(rail, piece, stage == 0 ? 0 : is_result(rail, stage) ? round + 1 : round, &from, &to);
    if (stage == 0 && !rail->partners.upper)
        return;
    if (stage > 0 && !is_result(rail, stage)) /* the half that the partner keeps */
        *(rail->partners.number >> round & 1 ? &to : &from) = from + (to - from) / 2;
    send_elements(c, piece, stage, is_result(rail, stage), from, to);
}

/* Folds what has come in a stage with what I have of it, the lower node's at the left. Results lie in place. */
static void fold_stage(const struct uccs_coll *c, size_t piece, int stage)
{
    const struct rail *rail = c->owned;
    const char *theirs = rail->room + landing_at(rail, piece, stage, c->element), *mine = folded_before(c, stage);
    size_t from, to;
    if (rail->partners.upper || is_result(rail, stage))
        return;
    part_after(rail, piece, stage, &from, &to);
    char *sum = c->dest + (rail->from + from) * c->element;
    mine += from * c->element;
    if (stage > 0 && rail->partners.number >> (stage - 1) & 1)
        c->fold(sum, theirs, mine, to - from);
    else
        c->fold(sum, mine, theirs, to - from);
}

/* Takes a piece through its stages as far as messages have come. Returns true at the end. */
static bool advance_piece(struct uccs_coll *c, size_t piece)
{
    struct rail *rail = c->owned;
    const int stages = 2 * rail->partners.rounds + 1;
    for (int *stage = &rail->stage[piece]; *stage < stages; ++*stage) {
        if (!rail->sent[piece] && !know_room(c, round_of(rail, *stage)))
            return false;
        if (!rail->sent[piece])
            send_stage(c, piece, *stage);
        rail->sent[piece] = true;
        if (!atomic_load_acquire(
                (uint64_t *)(rail->room + flag_at(rail, piece, *stage)))) /* release: the put's signal */
            return false;
        fold_stage(c, piece, *stage);
        rail->sent[piece] = rail->partners.upper;
        if (rail->partners.upper)
            *stage = stages;
    }
    if (!rail->sent[piece] && rail->partners.paired) {
        size_t from, to;
        part_after(rail, piece, 0, &from, &to);
        send_elements(c, piece, 0, true, from, to);
    }
    rail->sent[piece] = true;
    return true;
}

static bool run_rail(struct uccs_coll *c)
{
    const struct rail *rail = c->owned;
    bool done = true;
    for (size_t piece = 0; piece < rail->pieces; piece++)
        done &= advance_piece(c, piece);
    return done;
}

/* Copies the slices of my node's other rails. */
static bool copy_slices(struct uccs_coll *c)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    for (int i = 1; i < nodes->near.size; i++) {
        const int index = uccs_coll_around(&nodes->near, nodes->near.rank, i);
        size_t from, to;
        slice_of(c, index, &from, &to);
        if (from == to)
            continue;
        const char *theirs = uccs_coll_peer(c->call, "dest", &nodes->near, c->dest, index);
        memcpy(c->dest + from * c->element, theirs + from * c->element, (to - from) * c->element);
    }
    return true;
}

static bool close_rail(struct uccs_coll *c)
{
    const struct rail *rail = c->owned;
    if (rail->room)
        proto_landing_close(rail->opened);
    free(rail->room);
    return true;
}

uccs_coll_step *const uccs_rail_reduce[] = {uccs_coll_await_turn,
                                            uccs_coll_settled,
                                            uccs_coll_meet_near,
                                            open_rail,
                                            run_rail,
                                            uccs_coll_meet_near,
                                            copy_slices,
                                            uccs_coll_meet_near,
                                            uccs_coll_settled,
                                            close_rail,
                                            uccs_coll_pass_turn,
                                            0};
