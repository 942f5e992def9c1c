/* The map of a node's memory: sizes and places, and which addresses are whose, to the byte. */
#include "memory_world.h"

/* --- Sizes */

static void alignments(void)
{
    CHECK(heap_alignment(1) == PAGE && heap_alignment(PAGE) == PAGE && heap_alignment(PAGE + 1) == 2 * PAGE);
    CHECK(heap_alignment(3 * PAGE) == 4 * PAGE && heap_alignment(MAX_ALIGNMENT) == MAX_ALIGNMENT);
    CHECK(heap_alignment(MAX_ALIGNMENT + 1) == MAX_ALIGNMENT && MAX_ALIGNMENT == UINT64_C(1) << 30);
    CHECK(round_up(0, 8) == 0 && round_up(1, 8) == 8 && round_up(8, 8) == 8 && round_up(9, 8) == 16);
}

/* The parts follow each other and do not overlap, up to the largest file that there may be. */
static void layout(void)
{
    struct node head = {.size = 3};
    const uint64_t bytes = lay_out(&head, 3 * PAGE, 100000, 70000);
    CHECK(head.heap_at == round_up(node_fixed_size(3), 4 * PAGE) && head.heap_stride == 4 * PAGE);
    CHECK(head.image_at == head.heap_at + 3 * 4 * PAGE && head.image_stride == 2 * PAGE);
    CHECK(head.region_at == head.image_at + 3 * 2 * PAGE && head.region_stride == 2 * PAGE);
    CHECK(bytes == head.region_at + 3 * 2 * PAGE);
    head.placed = 1;
    head.total = PAGE;
    CHECK(lay_out(&head, PAGE, 0, 0) == round_up(node_fixed_size(3) + 4 * PAGE, PAGE) + 3 * PAGE);
    struct node large = {.size = 2};
    CHECK(lay_out(&large, PAGE, 0, 0) != 0);
    const uint64_t most = ((INT64_MAX - large.heap_at) / 2 & ~(uint64_t)(PAGE - 1)) - PAGE;
    CHECK(lay_out(&large, PAGE, 0, most) == large.heap_at + 2 * (most + PAGE));
    CHECK(lay_out(&large, PAGE, most, 0) == large.heap_at + 2 * (most + PAGE));
    CHECK(lay_out(&large, PAGE, most, PAGE) == 0 && lay_out(&large, PAGE, PAGE, most) == 0);
    CHECK(lay_out(&large, PAGE, most + PAGE, 0) == 0 && lay_out(&large, PAGE, 0, most + PAGE) == 0);
    CHECK(lay_out(&large, UINT64_C(1) << 62, 0, 0) == 0 && lay_out(&large, UINT64_C(1) << 61, 0, 0) != 0);
}

/* --- A node whose PEs all share memory and globals */

static void open_three(int me)
{
    be(me, 3, 3);
    world.heap[(me + 1) % 3] = 3 * PAGE;
    world.image[(me + 2) % 3] = 3 * PAGE;
    CHECK(open_map(100000, 5 * PAGE, true) == 0 && world.barriers == 1 && world.lines == 0);
}

static void sizes_of_three(void)
{
    const struct node *head = &node.head;
    CHECK(rte.me->heap_bytes == 2 * PAGE && rte.me->image_shared == 1 && rte.me->image_bytes == 2 * PAGE);
    CHECK(rte.me->image_fd == 0 && rte.me->image_id[0] == 'i' && rte.me->image_id[IMAGE_ID_BYTES - 1] == 'i');
    CHECK(head->heap_stride == 4 * PAGE && head->image_stride == 3 * PAGE && head->region_stride == 2 * PAGE);
    CHECK(head->file_bytes == head->region_at + 3 * 2 * PAGE && map.bytes == head->file_bytes);
    CHECK((uintptr_t)map.base % HUGE_PAGE == 0 && lseek(rte.fd, 0, SEEK_END) == (off_t)map.bytes);
    map.base[map.bytes - 1] = 1; /* the whole is mapped, and of the file */
    CHECK(lseek(rte.fd, 0, SEEK_DATA) >= 0);
}

static void core_of_three(int me)
{
    const struct uccs_core *core = &uccs_core;
    const struct node *head = &node.head;
    CHECK(core->first == 0 && core->size == 3 && core->pes == 3 && core->index == (uint32_t)me && core->me == me);
    CHECK(core->npes == 3 && !core->places && !core->numbers && core->naps == 8 && core->spin == 77);
    CHECK(core->quick_looks == 16 && core->stingy == 1 && core->oversubscribed == 0);
    CHECK(core->heap_bytes == 100000 && core->heap_stride == 4 * PAGE && core->image_stride == 3 * PAGE);
    CHECK(core->heap_peers == (uintptr_t)map.base + head->heap_at);
    CHECK(core->heap_start == core->heap_peers + (unsigned)me * 4 * PAGE);
    CHECK(core->image_start == (uintptr_t)globals && core->image_bytes == 2 * PAGE);
    CHECK(core->image_peers == (uintptr_t)map.base + head->image_at);
    CHECK(core->groups == map.base + node_groups_at(3) && core->counters == map.base + node_counters_at(3));
    CHECK(core->own == map.base + node_own_at(3));
}

/* The range checks, to the byte. */
static void edges(void)
{
    const char *heap = (const char *)uccs_core.heap_start, *before = (const char *)((uintptr_t)globals - 1);
    size_t offset = 0;
    CHECK(uccs_memory_find(heap, &offset) == UCCS_HEAP && offset == 0);
    CHECK(uccs_memory_find(heap + 99999, &offset) == UCCS_HEAP && offset == 99999);
    CHECK(uccs_memory_find(heap + 100000, &offset) == UCCS_NOWHERE);
    CHECK(uccs_memory_find(heap - 1, &offset) == UCCS_NOWHERE);
    CHECK(uccs_memory_find(globals, &offset) == UCCS_IMAGE && offset == 0);
    CHECK(uccs_memory_find(globals + 2 * PAGE - 1, &offset) == UCCS_IMAGE && offset == 2 * PAGE - 1);
    CHECK(uccs_memory_find(globals + 2 * PAGE, &offset) == UCCS_NOWHERE);
    CHECK(uccs_memory_find(before, &offset) == UCCS_NOWHERE && uccs_memory_find(&offset, &offset) == UCCS_NOWHERE);
    CHECK(uccs_near(heap + 99999, 0) && !uccs_near(heap + 100000, 0) && !uccs_near(heap - 1, 0));
    CHECK(uccs_near(globals, 0) && uccs_near(globals + 2 * PAGE - 1, 0) && !uccs_near(globals + 2 * PAGE, 0));
    CHECK(!uccs_near(heap + FAR_AWAY, 0) && !uccs_near((const char *)((uintptr_t)globals + FAR_AWAY), 0));
    CHECK(uccs_memory_find(heap + FAR_AWAY, &offset) == UCCS_NOWHERE);
    CHECK(uccs_memory_find((const char *)((uintptr_t)globals + FAR_AWAY), &offset) == UCCS_NOWHERE);
    CHECK(!uccs_near(before, 0) && !uccs_near(heap, 3) && !uccs_near(heap, -1) && !uccs_near(globals, 3));
}

static void everybodys(void)
{
    const char *heap = (const char *)uccs_core.heap_start;
    size_t bytes = 0;
    for (int pe = 0; pe < 3; pe++) {
        char *there = at_slot(node.head.heap_at, 4 * PAGE, (unsigned)pe);
        CHECK(uccs_near(heap + 9, pe) == there + 9 && uccs_memory_resolve(heap + 99999, pe) == there + 99999);
        there = at_slot(node.head.image_at, 3 * PAGE, (unsigned)pe);
        CHECK(uccs_near(globals + 7, pe) == there + 7 && uccs_memory_resolve(globals + 8, pe) == there + 8);
        CHECK(uccs_memory_image((unsigned)pe) == there && uccs_memory_same_image(pe));
        there = at_slot(node.head.region_at, 2 * PAGE, (unsigned)pe);
        CHECK(uccs_memory_region((unsigned)pe, &bytes) == there && bytes == 2 * PAGE);
    }
    CHECK(!uccs_memory_resolve(heap, 3) && !uccs_memory_resolve(heap, -1) && !uccs_memory_resolve(heap + 100000, 0));
    CHECK(!uccs_memory_resolve(globals + 2 * PAGE, 0) && !uccs_memory_resolve(globals, 3));
    CHECK(uccs_memory_heap(&bytes) == heap && bytes == 100000 && uccs_memory_heap_whole() == 100000);
    CHECK(uccs_memory_adapter(&bytes) == 0 && !uccs_memory_of_adapter(heap) &&
          !uccs_memory_of_adapter(heap + 2 * PAGE));
    CHECK(uccs_memory_image_bytes() == 2 * PAGE && uccs_memory_image_start() == globals && !uccs_memory_why_private());
    CHECK(uccs_memory_region_start() == (uintptr_t)uccs_memory_region(uccs_core.index, &bytes));
}

static void pieces_of_three(uint64_t me)
{
    struct uccs_memory_piece pieces[UCCS_PIECES];
    const struct node *head = &node.head;
    const size_t counters = (size_t)NODE_COUNTERS * CACHE_LINE;
    uint64_t first, step;
    uccs_memory_pieces(pieces);
    CHECK(piece_is(&pieces[UCCS_PIECE_HEAP], rte.fd, head->heap_at + me * 4 * PAGE, 100000));
    CHECK(piece_is(&pieces[UCCS_PIECE_IMAGE], rte.fd, head->image_at + me * 3 * PAGE, 2 * PAGE));
    CHECK(piece_is(&pieces[UCCS_PIECE_COUNTERS], rte.fd, node_counters_at(3) + me * counters, counters));
    CHECK(piece_is(&pieces[UCCS_PIECE_ROWS], rte.fd, node_groups_at(3), 3 * GROUP_BYTES));
    CHECK(piece_is(&pieces[UCCS_PIECE_REGION], rte.fd, head->region_at + me * 2 * PAGE, 2 * PAGE));
    node.head.size = 500; /* rows of many PEs are more than 4 GB */
    uccs_memory_pieces(pieces);
    node.head.size = 3;
    CHECK(pieces[UCCS_PIECE_ROWS].bytes == 500 * GROUP_BYTES && pieces[UCCS_PIECE_ROWS].bytes > UINT32_MAX);
    uccs_memory_rows(&first, &step);
    CHECK(first == me * NODE_GROUP_LINES * CACHE_LINE && step == UINT64_C(3) * NODE_GROUP_LINES * CACHE_LINE);
}

/* A child keeps my heap and globals; bus errors are watched for; core dumps leave out the whole. */
static void guards_of_three(uint64_t me)
{
    const struct uccs_fork_ranges *r = &world.ranges;
    const uint64_t heap = node.head.heap_at + me * 4 * PAGE, own = node.head.image_at + me * 3 * PAGE;
    CHECK(r->fd == rte.fd && r->shared == map.base && r->shared_bytes == map.bytes);
    CHECK(r->own[0].start == map.base + heap && r->own[0].bytes == 4 * PAGE && r->own[0].at == (off_t)heap);
    CHECK(r->own[1].start == globals && r->own[1].bytes == 2 * PAGE && r->own[1].at == (off_t)own);
    CHECK(r->own[0].fd == 0 && r->own[1].fd == 0);
    CHECK(world.facts.heap_bytes == 100000 && world.facts.pes == 3 && count(WATCHED) == 2);
    CHECK(noted((struct call){WATCHED, map.base, map.bytes, 0, 0}));
    CHECK(noted((struct call){WATCHED, globals, 2 * PAGE, 0, 0}));
    CHECK(count(MOVED) == 1 && noted((struct call){MOVED, globals, 2 * PAGE, (off_t)own, rte.fd}));
    CHECK(count(ADVISED) == 1 && noted((struct call){ADVISED, map.base, map.bytes, MADV_DONTDUMP, 0}));
    CHECK(count(PROTECTED) == 0 && count(EARLY) == 0);
}

/* Address space around the map is given back: what lies before its start, and behind its end. */
static void space_around(void)
{
    size_t around = 0;
    for (int i = 0; i < called; i++)
        if (calls[i].what == UNMAPPED) {
            around += calls[i].bytes;
            CHECK(calls[i].at + calls[i].bytes == map.base || calls[i].at == map.base + map.bytes);
        }
    CHECK(around == HUGE_PAGE);
}

static void three(void)
{
    for (int me = 0; me < 3; me++) {
        open_three(me);
        space_around();
        sizes_of_three();
        guards_of_three((unsigned)me);
        core_of_three(me);
        edges();
        everybodys();
        pieces_of_three((unsigned)me);
    }
    const struct uccs_core before = uccs_core;
    const char *heap = (const char *)uccs_core.heap_start;
    size_t offset;
    uccs_memory_close();
    CHECK(uccs_core.pes == 0 && uccs_core.heap_bytes == 0 && !uccs_near(heap, 2) && !uccs_near(globals, 2));
    CHECK(uccs_core.me == 2 && uccs_core.npes == 3 && uccs_core.spin == 77 && uccs_core.image_bytes == 0);
    CHECK(uccs_memory_find(heap, &offset) == UCCS_NOWHERE && uccs_memory_find(globals, &offset) == UCCS_NOWHERE);
    called = 0;
    CHECK(open_map(1, 1, false) == 0 && called == 0 && world.barriers == 2); /* a later life */
    CHECK(memcmp(&uccs_core, &before, sizeof before) == 0);
}

/* PEs with other globals, or without shared ones: everybody's heap, and the globals of those that have the same. */
static void other_images(void)
{
    open_three(1);
    CHECK(images_agree(3));
    node.pe[2].image_id[IMAGE_ID_BYTES - 1] = 'x';
    CHECK(!uccs_memory_same_image(2) && uccs_memory_same_image(0) && !images_agree(3) && images_agree(2));
    CHECK(!uccs_memory_resolve(globals, 2) && uccs_memory_resolve(globals, 0) &&
          uccs_memory_resolve((void *)uccs_core.heap_start, 2));
    node.pe[2].image_id[IMAGE_ID_BYTES - 1] = 'i';
    node.pe[2].image_shared = 0;
    CHECK(!uccs_memory_same_image(2));
    node.pe[2].image_shared = 1;
    rte.me->image_shared = 0;
    CHECK(!uccs_memory_same_image(2) && !uccs_memory_same_image(0));
    rte.me->image_shared = 1;
    map.why_private = "made up";
    CHECK(!uccs_memory_same_image(2));
    map.why_private = 0;
    CHECK(uccs_memory_same_image(2));
    node.pe[0].image_id[0] = 'x';
    CHECK(!images_agree(3) && !images_agree(1));
    publish_core(100000);
    CHECK(uccs_core.image_bytes == 0 && uccs_core.image_start == 0 && uccs_core.heap_bytes == 100000);
    CHECK(!uccs_near(globals, 2) && uccs_memory_resolve(globals, 2) == uccs_memory_image(2));
}

/* --- Pretended nodes */

static void scattered(void)
{
    const struct node *head = &node.head;
    open_scattered(false);
    const char *heap = (const char *)uccs_core.heap_start;
    CHECK(uccs_core.size == 0 && uccs_core.pes == 2 && uccs_core.index == 1 && uccs_core.first == 1);
    CHECK(uccs_core.spin == 0 && uccs_core.oversubscribed == 1 && uccs_core.places && uccs_core.numbers);
    CHECK(heap == at_slot(head->heap_at, 8 * MB, 2) && head->heap_stride == 8 * MB);
    CHECK(uccs_core.heap_peers == (uintptr_t)heap - 8 * MB && (uintptr_t)map.base % (8 * MB) == 0);
    CHECK(uccs_core.image_peers == (uintptr_t)at_slot(head->image_at, head->image_stride, 1));
    CHECK(!uccs_near(heap, 1) && uccs_memory_resolve(heap + 3, 1) == heap - 8 * MB + 3);
    CHECK(uccs_memory_resolve(heap, 3) == heap && !uccs_memory_resolve(heap, 0) && !uccs_memory_resolve(heap, 2));
    CHECK(uccs_memory_resolve(globals, 1) == at_slot(head->image_at, head->image_stride, 1));
    CHECK(uccs_core.image_bytes == 2 * PAGE); /* all of my node have the same */
    CHECK(uccs_core.groups == map.base + node_groups_at(4) + GROUP_BYTES);
    CHECK(uccs_core.counters == map.base + node_counters_at(4) + (size_t)NODE_COUNTERS * CACHE_LINE);
    CHECK(uccs_core.own == map.base + node_own_at(4) + NODE_OWN_BYTES);
    uint64_t first, step;
    uccs_memory_rows(&first, &step);
    CHECK(first == GROUP_BYTES + NODE_GROUP_LINES * CACHE_LINE && step == 2 * NODE_GROUP_LINES * CACHE_LINE);
}

/* PEs 1 and 2 of 3 are mine; PE 0 has other globals. */
static void row_of_two(void)
{
    be(2, 3, 3);
    world.where = (struct uccs_where){.first = 1, .pes = 2, .index = 1, .slot = 1};
    CHECK(open_map(PAGE, 0, true) == 0);
    node.pe[0].image_id[0] = 'x';
    publish_core(PAGE);
    CHECK(uccs_core.first == 1 && uccs_core.size == 2 && uccs_core.pes == 2 && uccs_core.index == 1);
    CHECK(uccs_core.image_start == (uintptr_t)globals && uccs_core.image_bytes == 2 * PAGE);
    CHECK(uccs_near(globals, 1) == at_slot(node.head.image_at, 2 * PAGE, 1) && !uccs_near(globals, 0));
    CHECK(uccs_near((void *)uccs_core.heap_start, 1) == at_slot(node.head.heap_at, PAGE, 1));
    CHECK(!uccs_near((void *)uccs_core.heap_start, 0) && !uccs_near((void *)uccs_core.heap_start, 3));
    CHECK(uccs_memory_resolve(globals, 1) == uccs_memory_image(0));
}

/* Numbers of PEs, and sizes, that need more than half a word. */
static void large_numbers(void)
{
    be(1, 2, 70010);
    rte.pe = 70001;
    rte.node_first = 70000;
    node.head.first = 70000;
    world.where.first = 70000;
    world.heap[0] = UINT64_C(3) << 30;
    CHECK(open_map(PAGE, 0, true) == 0 && uccs_core.first == 70000 && uccs_core.me == 70001 && uccs_core.npes == 70010);
    CHECK(uccs_core.heap_stride == UINT64_C(3) << 30 && node.head.file_bytes > UINT64_C(6) << 30);
    CHECK(map.bytes == node.head.file_bytes && lseek(rte.fd, 0, SEEK_END) == (off_t)map.bytes);
    CHECK(uccs_near(globals, 70000) == uccs_memory_image(0) && !uccs_near(globals, 70000 - 65536));
    CHECK(uccs_memory_resolve((void *)uccs_core.heap_start, 70000) ==
          (char *)uccs_core.heap_start - uccs_core.heap_stride);
}

/* The memory of PEs on other nodes is shut out, and no other. */
static void shut_others_out(void)
{
    const struct node *head = &node.head;
    open_scattered(false);
    CHECK(count(PROTECTED) == 4);
    for (unsigned slot = 0; slot < 4; slot += 3) {
        CHECK(noted((struct call){PROTECTED, at_slot(head->heap_at, 8 * MB, slot), 8 * MB, PROT_NONE, 0}));
        CHECK(noted((struct call){PROTECTED, at_slot(head->image_at, 2 * PAGE, slot), 2 * PAGE, PROT_NONE, 0}));
    }
    called = 0;
    node.head.image_stride = 0;
    shut_out();
    CHECK(count(PROTECTED) == 2);
}

static void adapters_part(void)
{
    size_t at = 0, offset;
    open_scattered(true);
    const char *heap = (const char *)uccs_core.heap_start;
    CHECK(rte.me->heap_bytes == 8 * MB && node.head.heap_stride == 8 * MB);
    CHECK(uccs_memory_adapter(&at) == 3 * MB && at == 5 * MB && uccs_memory_heap_whole() == 8 * MB);
    CHECK(uccs_core.heap_bytes == 5 * MB && uccs_memory_of_adapter(heap + 5 * MB));
    CHECK(uccs_memory_of_adapter(heap + 8 * MB - 1) && !uccs_memory_of_adapter(heap + 8 * MB));
    CHECK(!uccs_memory_of_adapter(heap + 5 * MB - 1) && !uccs_memory_of_adapter(heap));
    CHECK(uccs_memory_find(heap + 5 * MB, &offset) == UCCS_HEAP && offset == 5 * MB);
    CHECK(uccs_memory_find(heap + 8 * MB, &offset) == UCCS_NOWHERE);
    CHECK(uccs_memory_resolve(heap + 6 * MB, 1) == heap - 2 * MB);
    uccs_memory_close();
    CHECK(!uccs_memory_of_adapter((char *)0 + at) && uccs_memory_find((char *)0 + at, &offset) == UCCS_NOWHERE);
}

int main(void)
{
    alignments();
    layout();
    row_of_two();
    three();
    other_images();
    scattered();
    shut_others_out();
    large_numbers();
    adapters_part();
    be(0, 1, 1);
    return 0;
}
