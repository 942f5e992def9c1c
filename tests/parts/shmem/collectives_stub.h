/* All PEs of a job of OpenSHMEM in one process, for collectives.c: each is a context of its own that runs until it waits. Nodes, their
 * memory, and what goes between them are the test's; parcels, puts and gets take effect some time later. */
#ifndef TESTS_TRUST_COLLECTIVES_STUB_H
#define TESTS_TRUST_COLLECTIVES_STUB_H

#include "collectives_pes.h"

/* --- What takes effect later */

static struct later {
    char *to;
    const char *from;
    size_t bytes;
    uint64_t *signal, value;
    bool add;
    uint32_t *count; /* one less then */
} later[LATER];
static size_t later_count, rooms_open, gets, swaps, parcels; /* gets, swaps and parcels of a run */
static struct {
    char *start;
    size_t bytes;
} rooms[MOST];

static void happen(size_t at)
{
    struct later *one = &later[at];
    memmove(one->to, one->from, one->bytes);
    if (one->signal)
        *one->signal = one->value + (one->add ? *one->signal : 0);
    --*one->count;
    *one = later[--later_count];
    idle = 0;
}

static void plan_later(struct later one)
{
    CHECK(later_count < LATER && one.bytes > 0);
    ++*one.count;
    later[later_count++] = one;
}

static size_t offset_in_heap(const void *address, size_t bytes)
{
    const size_t offset = (size_t)((const char *)address - heap_of(now));
    CHECK(offset < HEAP && bytes <= HEAP - offset);
    return offset;
}

struct uccs_far_place test_far_place(const char *call, const char *argument, const void *addr, int pe)
{
    CHECK(call && argument && pes[pe].node != pes[now].node);
    return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset_in_heap(addr, 0)};
}

static bool in_heap(const void *address)
{
    return (size_t)((const char *)address - heap_of(now)) < HEAP;
}

struct uccs_far_place test_place(const void *address)
{
    if (!in_heap(address))
        return (struct uccs_far_place){.segment = FAR_NOWHERE};
    return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset_in_heap(address, 0)};
}

const void *test_address(struct uccs_far_place place)
{
    CHECK(place.segment == FAR_HEAP);
    return heap_of(now) + place.offset;
}

enum uccs_segment test_find(const void *addr, size_t *offset)
{
    *offset = 0;
    if (!in_heap(addr))
        return UCCS_NOWHERE;
    *offset = offset_in_heap(addr, 0);
    return UCCS_HEAP;
}

/* Where a place lies that is the PE's: in its heap, its row, or a room that it has opened. */
static char *at_pe(int pe, struct uccs_far_place place, size_t bytes)
{
    if (place.segment == FAR_HEAP) {
        CHECK(place.offset < HEAP && bytes <= HEAP - place.offset);
        return heap_of(pe) + place.offset;
    }
    if (place.segment == FAR_ROWS) {
        CHECK(place.offset < ROWS && bytes <= ROWS - place.offset);
        return rows + (size_t)pe * ROWS + place.offset;
    }
    const size_t at = place.offset % FAR_ROOM_MOST;
    CHECK(place.segment == FAR_ROOM && place.offset / FAR_ROOM_MOST == (uint64_t)pe && rooms[pe].start);
    CHECK(at <= rooms[pe].bytes && bytes <= rooms[pe].bytes - at);
    return rooms[pe].start + at;
}

void(test_parcel)(int pe, const struct uccs_far_parcel *parcel, uint32_t *held)
{
    const struct uccs_far_with *with = &parcel->with;
    CHECK(pes[pe].node != pes[now].node && (with->what == FAR_SIGNAL_ADD || with->what == FAR_SIGNAL_SET) &&
          !with->also);
    parcels++;
    plan_later((struct later){.to = at_pe(pe, parcel->to, parcel->bytes),
                              .from = parcel->data,
                              .bytes = parcel->bytes,
                              .signal = (uint64_t *)(void *)at_pe(pe, with->place, sizeof(uint64_t)),
                              .value = with->value,
                              .add = with->what == FAR_SIGNAL_ADD,
                              .count = held});
}

struct uccs_far_place test_open_room(void *start, size_t bytes)
{
    CHECK(!rooms[now].start && owned_bytes(start) >= bytes);
    rooms[now].start = start;
    rooms[now].bytes = bytes;
    rooms_open++;
    return (struct uccs_far_place){.segment = FAR_ROOM, .offset = (uint64_t)now * FAR_ROOM_MOST};
}

void test_close_room(struct uccs_far_place room)
{
    CHECK(room.segment == FAR_ROOM && room.offset == (uint64_t)now * FAR_ROOM_MOST && rooms[now].start);
    rooms[now].start = 0;
    rooms_open--;
}

void test_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
              uccs_counter counter, uccs_request_handle *request)
{
    CHECK(!on && !counter && pes[pe].node != pes[now].node);
    gets++;
    plan_later(
        (struct later){.to = dest, .from = at_pe(pe, from, bytes), .bytes = bytes, .count = &(*request)->pending});
}

void test_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
              const struct uccs_far_with *with, uccs_request_handle *request)
{
    CHECK(!on && !with && pes[pe].node != pes[now].node);
    plan_later(
        (struct later){.to = at_pe(pe, to, bytes), .from = source, .bytes = bytes, .count = &(*request)->pending});
}

void test_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                     const struct uccs_far_blocks *blocks, bool leaves_later, const struct uccs_far_with *with,
                     uccs_request_handle *request)
{
    CHECK(!on && !with && !leaves_later && pes[pe].node != pes[now].node);
    for (size_t i = 0; i < blocks->count; i++)
        plan_later((struct later){.to = at_pe(pe, to, 0) + (ptrdiff_t)i * blocks->there,
                                  .from = (const char *)source + (ptrdiff_t)i * blocks->here,
                                  .bytes = blocks->block,
                                  .count = &(*request)->pending});
}

void test_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t nelems, size_t elem, int pe)
{
    const char *from = heap_of(pe) + offset_in_heap(source, 0);
    CHECK(call && ctx == LAT_CTX_DEFAULT);
    for (size_t i = 0; i < nelems; i++)
        memmove((char *)dest + (ptrdiff_t)(i * elem) * dst, from + (ptrdiff_t)(i * elem) * sst, elem);
}

bool test_iget_carry(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
                     ptrdiff_t sst, size_t nelems, size_t elem, int pe, uccs_request_handle *req)
{
    CHECK(*req && (*req)->pending > 0);
    test_iget(call, ctx, dest, source, dst, sst, nelems, elem, pe);
    return true;
}

/* --- Meetings. Number 0 is of all, the others are of the nodes. */

static bool alone; /* the others are not there */
static int syncs, arrived[MOST + 1];
static uint64_t meetings[MOST + 1];
static const void *things[MOST];

static void meet(int which, int members)
{
    const uint64_t mine = meetings[which];
    idle = 0;
    if (++arrived[which] == members) {
        arrived[which] = 0;
        meetings[which]++;
        return;
    }
    while (meetings[which] == mine)
        pass_turn();
}

static void meet_all(void)
{
    meet(0, size);
}

void test_sync(struct uccs_team *team)
{
    const bool all = team == &pes[now].team && team->far;
    syncs++;
    if (alone)
        return;
    meet(all ? 0 : 1 + pes[now].node, team->size);
    team->settled = team->exchange;
}

void test_nodes_sync(struct uccs_team *team)
{
    CHECK(team == &pes[now].team);
    team->nodes->swaps[0]++;
    meet_all();
}

int test_node_of(const struct uccs_nodes *nodes, int rank)
{
    const int place = place_of_rank[rank];
    int node = 0;
    CHECK(rank >= 0 && rank < size && nodes->count == nodes_count);
    while (place >= first_of[node + 1])
        node++;
    return node;
}

int test_lead_pe(const struct uccs_team *team, int node)
{
    CHECK(team->far && node >= 0 && node < nodes_count);
    return first_of[node];
}

struct uccs_far_place test_line(const struct uccs_team *team, int node, int line)
{
    CHECK(team->far && node >= 0 && node < nodes_count);
    return (struct uccs_far_place){.segment = FAR_ROWS, .offset = (uint64_t)line * CACHE_LINE};
}

void test_settle(const uint32_t *held)
{
    while (*held)
        pass_turn();
}

void test_gather(struct uccs_team *team, void *all, const void *mine, size_t bytes)
{
    things[team->rank] = mine;
    meet_all();
    for (int rank = 0; rank < size; rank++)
        memmove((char *)all + (size_t)rank * bytes, things[rank], bytes);
    meet_all();
}

void test_exchange(struct uccs_team *team, const void *mine, size_t bytes)
{
    CHECK(bytes <= POST_LARGE);
    meet_all(); /* nobody reads what was given before */
    things[team->rank] = mine;
    meet_all();
}

const void *test_given(const struct uccs_team *team, int rank, size_t bytes)
{
    CHECK(team->far && rank >= 0 && rank < size && bytes > 0);
    return things[rank];
}

void test_cast(struct uccs_team *team, void *dest, const void *source, size_t bytes, int root)
{
    CHECK(bytes > 0 && bytes <= NODES_RING_BYTES && root >= 0 && root < size);
    if (team->rank == root)
        things[root] = source;
    meet_all();
    if (team->rank != root)
        memcpy(dest, things[root], bytes);
    meet_all();
}

void test_swap_begin(struct uccs_swap *swap, struct uccs_team *team, size_t block)
{
    CHECK(block > 0 && block * (size_t)nodes_count <= NODES_BOX);
    swaps++;
    *swap = (struct uccs_swap){.team = team, .number = ++team->nodes->swaps[0], .block = block};
}

char *test_swap_box(const struct uccs_swap *swap, int distance)
{
    CHECK(distance >= 0 && distance < nodes_count);
    return boxes[swap->number & 1][swap->team->nodes->mine] + (size_t)distance * swap->block;
}

void test_swap_run(struct uccs_swap *swap)
{
    const struct uccs_nodes *nodes = swap->team->nodes;
    meet_all();
    for (int i = 1; i < nodes_count && nodes->near.rank == 0; i++)
        memcpy(test_swap_box(swap, i), boxes[swap->number & 1][uccs_nodes_around(nodes, i)], swap->block);
    meet_all();
}

/* --- Jobs */

static void start(void)
{
    become(now);
    body(&pes[now].team);
    pes[now].finished = true;
    swapcontext(&pes[now].context, &scheduler);
}

/* Makes a PE's view of the team of all. `slot` -1: it has none. */
static void join(struct pe *pe, int number, int slot)
{
    const int members = first_of[pe->node + 1] - first_of[pe->node];
    pe->rank = rank_of_place[number];
    pe->index = number - first_of[pe->node];
    pe->flags = (long *)(void *)heap_of(number);
    for (int i = 0; i < TEAM_ROUNDS + 4; i++)
        pe->flags[i] = TEAM_FLAG_AT_REST;
    pe->team = (struct uccs_team){.slot = slot,
                                  .rank = pe->rank,
                                  .size = size,
                                  .start = -first_of[pe->node],
                                  .stride = 1,
                                  .flags = pe->flags,
                                  .far = nodes_count > 1};
    if (scattered)
        pe->team.pes = place_of_rank; /* the PE of each rank is its place */
    struct uccs_nodes *nodes = pe->team.nodes = pe->nodes;
    memset(nodes, 0, sizeof *nodes);
    pe->split = (struct shmem_team_impl){.group = pe->team, .rank = pe->rank, .size = size};
    pe->split.group.nodes = nodes;
    pe->works_count = 0;
    nodes->near = (struct uccs_team){.slot = SLOT, .rank = pe->index, .size = members, .stride = 1};
    nodes->first = first_of[pe->node];
    nodes->order = scattered ? rank_of_place : 0;
    nodes->places = scattered ? place_of_rank : 0;
    nodes->count = nodes_count;
    nodes->mine = pe->node;
    nodes->narrowest = MOST;
    for (int node = 0; node <= nodes_count; node++) {
        nodes->leads[node].place = first_of[node];
        const int width = node < nodes_count ? first_of[node + 1] - first_of[node] : 0;
        nodes->widest = width > nodes->widest ? width : nodes->widest;
        nodes->narrowest = width && width < nodes->narrowest ? width : nodes->narrowest;
    }
}

/* Makes a job on nodes with so many PEs each ("21": two and one). `order`: the rank of each place, or null. */
static void make_job(const char *shape, const char *order, int slot)
{
    nodes_count = (int)strlen(shape);
    size = 0;
    for (int node = 0; node < nodes_count; node++) {
        first_of[node] = size;
        for (int i = 0; i < shape[node] - '0'; i++)
            pes[size++].node = node;
    }
    first_of[nodes_count] = size;
    scattered = order != 0;
    for (int place = 0; place < size; place++) {
        rank_of_place[place] = order ? order[place] - '0' : place;
        place_of_rank[rank_of_place[place]] = place;
    }
    uccs_core.npes = size;
    uccs_core.places = scattered ? (const uint32_t *)heaps : 0;
    memset(rows, 0, (size_t)size * ROWS);
    for (int number = 0; number < size; number++)
        join(&pes[number], number, slot);
}

/* All PEs run `what` to its end, in turns that change. */
static void run(void (*what)(struct uccs_team *team))
{
    static char stacks[MOST][STACK];
    volatile int left = size;
    body = what;
    idle = 0;
    gets = swaps = parcels = 0;
    exchanges_before = pes[0].team.exchange;
    for (int number = 0; number < size; number++) {
        struct pe *pe = &pes[number];
        getcontext(&pe->context);
        pe->context.uc_stack = (stack_t){.ss_sp = stacks[number], .ss_size = STACK};
        pe->context.uc_link = 0;
        pe->finished = false;
        makecontext(&pe->context, start, 0);
    }
    while (left) {
        const int next = (int)(next_random(&seed) % (uint64_t)size);
        if (later_count && next_random(&seed) % 3 == 0)
            happen(next_random(&seed) % later_count);
        if (pes[next].finished)
            continue;
        become(next);
        swapcontext(&scheduler, &pes[next].context);
        left -= pes[next].finished;
    }
    CHECK(later_count == 0 && rooms_open == 0 && owned_count == 0);
    for (int i = 0; i <= MOST; i++)
        CHECK(arrived[i] == 0);
    for (int number = 0; number < size; number++)
        for (int i = 0; i < TEAM_ROUNDS + 4; i++)
            CHECK(pes[number].flags[i] == TEAM_FLAG_AT_REST);
}

static void open_all(void)
{
    owns = mmap(0, MOST * NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(owns != MAP_FAILED);
    heaps = mmap(0, MOST * HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rows = mmap(0, MOST * ROWS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(heaps != MAP_FAILED && rows != MAP_FAILED);
    for (int i = 0; i < MOST; i++) {
        pes[i].nodes =
            aligned_alloc(CACHE_LINE,
                          (sizeof(struct uccs_nodes) + (MOST + 1) * sizeof(struct uccs_lead) + 63) & ~(size_t)63);
        boxes[0][i] = mmap(0, 2 * NODES_BOX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        boxes[1][i] = boxes[0][i] + NODES_BOX;
        CHECK(boxes[0][i] != MAP_FAILED);
    }
    owned_count = 0; /* these last */
}

#endif
