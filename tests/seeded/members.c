/* Group communication of uccs.h in groups of any members in any order, as a seed draws them: every collective, of all lengths, several
 * under way at once, with other work in between. Every byte is looked at.
 * pes: 4
 * labels: seeded
 * timeout: 120
 * case: gather
 * env: SEED=1 LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=fault,seed=1,hold=50:tcp
 * case: nodes
 * env: SEED=2 LATERAL_NODE_SIZE=0,1,1 LATERAL_TRANSPORTS=fault,seed=2,hold=80:tcp
 */
#include "../uccs/check.h"

#include "draw.h"

enum { GROUPS = 4, AT_ONCE = 4, ROUNDS = 60, MOST = 8, BEHIND = 16 };
enum what { BARRIER, BROADCAST, ALLGATHER, ALLTOALL, ALLREDUCE, KINDS };

static uccs_group_t groups[GROUPS];

struct call {
    enum what what;
    uccs_group_t group;
    int rank, size, root;
    size_t bytes;
    bool in_place;
    uint64_t number; /* its bytes */
    unsigned char *source, *dest;
    size_t dest_bytes;
    uccs_request_t request;
};

static size_t draw_bytes(void)
{
    static const size_t around[] = {0, 8, 64, 1024, 8192, 65536};
    const size_t most = around[below(&common, 6)];
    return below(&common, 2) ? below(&common, most + 1) : most + below(&common, 3);
}

/* Each group has members of the world in a random order; every PE takes part in making it. */
static void make_groups(void)
{
    for (int g = 1; g < GROUPS; g++) {
        int ranks[MOST];
        for (int i = 0; i < npes; i++) {
            const size_t at = below(&common, (size_t)i + 1);
            ranks[i] = ranks[at];
            ranks[at] = i;
        }
        OK(uccs_group_create(UCCS_GROUP_WORLD, 1 + below(&common, (size_t)npes), ranks, &groups[g]));
    }
    groups[0] = UCCS_GROUP_WORLD;
}

static void release_groups(void)
{
    for (int g = 1; g < GROUPS; g++)
        if (groups[g] != UCCS_GROUP_NULL)
            OK(uccs_group_release(groups[g]));
}

/* All PEs draw it; those who are no members leave it. */
static struct call draw_call(void)
{
    const int g = (int)below(&common, GROUPS);
    struct call call = {.what = (enum what)below(&common, KINDS),
                        .group = groups[g],
                        .bytes = draw_bytes(),
                        .in_place = below(&common, 3) == 0,
                        .number = draw(&common)};
    const size_t root = (size_t)draw(&common);
    call.rank = uccs_group_rank(call.group);
    call.size = uccs_group_size(call.group);
    if (call.size <= 0)
        return call;
    call.root = (int)(root % (size_t)call.size);
    if (call.what == ALLREDUCE)
        call.bytes = call.bytes / 8 * 8;
    const size_t many = call.what == ALLGATHER || call.what == ALLTOALL ? (size_t)call.size : 1;
    call.dest_bytes = many * call.bytes;
    call.dest = malloc(call.dest_bytes + BEHIND);
    memset(call.dest, 0x77, call.dest_bytes + BEHIND);
    call.source = malloc(call.dest_bytes + 1);
    return call;
}

static int start(struct call *c, bool blocks)
{
    const uint64_t mine = c->number + (uint64_t)c->rank;
    const size_t n = c->bytes / 8;
    unsigned char *own_part = c->in_place && c->what == ALLGATHER ? c->dest + (size_t)c->rank * c->bytes : c->source;
    fill_with(own_part, c->what == ALLTOALL ? c->dest_bytes : c->bytes, mine);
    switch (c->what) {
    case BARRIER: return blocks ? uccs_barrier(c->group) : uccs_barrier_nb(c->group, &c->request);
    case BROADCAST:
        if (c->rank == c->root)
            fill_with(c->dest, c->bytes, c->number);
        return blocks ? uccs_broadcast(c->group, c->dest, c->bytes, c->root)
                      : uccs_broadcast_nb(c->group, c->dest, c->bytes, c->root, &c->request);
    case ALLGATHER:
        return blocks ? uccs_allgather(c->group, own_part, c->dest, c->bytes)
                      : uccs_allgather_nb(c->group, own_part, c->dest, c->bytes, &c->request);
    case ALLTOALL:
        return blocks ? uccs_alltoall(c->group, c->source, c->dest, c->bytes)
                      : uccs_alltoall_nb(c->group, c->source, c->dest, c->bytes, &c->request);
    default:
        return blocks ? uccs_allreduce(c->group, c->source, c->dest, n, UCCS_INT64, UCCS_XOR)
                      : uccs_allreduce_nb(c->group, c->source, c->dest, n, UCCS_INT64, UCCS_XOR, &c->request);
    }
}

static bool is_folded(const struct call *c)
{
    unsigned char *want = calloc(1, c->bytes + 1), *one = malloc(c->bytes + 1);
    for (int rank = 0; rank < c->size; rank++) {
        fill_with(one, c->bytes, c->number + (uint64_t)rank);
        for (size_t i = 0; i < c->bytes; i++)
            want[i] ^= one[i];
    }
    const bool same = memcmp(want, c->dest, c->bytes) == 0;
    free(want);
    free(one);
    return same;
}

static void look(struct call *c)
{
    for (int rank = 0; rank < c->size; rank++) {
        const unsigned char *block = c->dest + (size_t)rank * c->bytes;
        if (c->what == ALLGATHER)
            CHECK(is_filled_with(block, c->bytes, 0, c->number + (uint64_t)rank));
        if (c->what == ALLTOALL)
            CHECK(is_filled_with(block, c->bytes, (size_t)c->rank * c->bytes, c->number + (uint64_t)rank));
    }
    CHECK(c->what != BROADCAST || is_filled_with(c->dest, c->bytes, 0, c->number));
    CHECK(c->what != ALLREDUCE || is_folded(c));
    for (int i = 0; i < BEHIND; i++)
        CHECK(c->dest[c->dest_bytes + (size_t)i] == 0x77);
    free(c->source);
    free(c->dest);
}

static void round_of(size_t calls)
{
    struct call under_way[AT_ONCE];
    size_t count = 0;
    for (size_t i = 0; i < calls; i++) {
        const bool blocks = calls == 1 && below(&common, 2);
        struct call *call = &under_way[count];
        *call = draw_call();
        if (call->size <= 0 || call->rank < 0)
            continue;
        OK(start(call, blocks));
        count++;
        for (size_t k = below(&own, 5); k > 0; k--)
            (void)uccs_progress();
    }
    while (count > 0) {
        const size_t which = below(&own, count);
        OK(uccs_wait(&under_way[which].request));
        OK(uccs_request_release(&under_way[which].request));
        look(&under_way[which]);
        under_way[which] = under_way[--count];
    }
}

int main(void)
{
    check_start();
    CHECK(npes <= MOST);
    draw_start(me);
    for (int life = 0; life < 3; life++) {
        make_groups();
        for (int i = 0; i < ROUNDS; i++)
            round_of(1 + below(&common, AT_ONCE));
        release_groups();
    }
    return check_pass();
}
