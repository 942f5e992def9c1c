/* What a PE does with the map of its node's memory: what core dumps and huge pages it asks for, globals that are private or moved
 * when the library was loaded, and what happens when something fails. */
#include "memory_world.h"

/* --- Core dumps and huge pages */

static bool dumps(const char *heap, size_t end, size_t from, size_t to)
{
    const size_t huge = from > 4 * MB ? from : 4 * MB;
    called = 0;
    uccs_memory_used(end);
    if (from == to)
        return called == 0;
    return noted((struct call){ADVISED, heap + from, to - from, MADV_DODUMP, 0}) && called == 1 + (huge < to) &&
           (huge >= to || noted((struct call){ADVISED, heap + huge, to - huge, MADV_HUGEPAGE, 0}));
}

static void dumped(void)
{
    be(1, 2, 2);
    CHECK(open_map(16 * MB, 0, false) == 0);
    const char *heap = (const char *)uccs_core.heap_start;
    CHECK(dumps(heap, 0, 0, 0) && dumps(heap, 1, 0, MB) && dumps(heap, MB, 0, 0) && dumps(heap, MB + 1, MB, 2 * MB));
    CHECK(dumps(heap, 4 * MB, 2 * MB, 4 * MB) && dumps(heap, 4 * MB + 1, 4 * MB, 6 * MB));
    CHECK(dumps(heap, 6 * MB, 0, 0) && dumps(heap, 9 * MB, 6 * MB, 10 * MB) && dumps(heap, 16 * MB, 10 * MB, 16 * MB));
    CHECK(open_map(1, 0, false) == 0 && dumps(heap, 3 * MB, 0, 0)); /* a later life has the same pages */
    be(1, 2, 2);
    CHECK(open_map(16 * MB, 0, false) == 0);
    CHECK(dumps((char *)uccs_core.heap_start, 5 * MB, 0, 6 * MB));
    be(1, 2, 2);
    CHECK(open_map(100000, 0, false) == 0 && node.head.heap_stride == 2 * PAGE);
    CHECK(dumps((char *)uccs_core.heap_start, 1, 0, 2 * PAGE)); /* not beyond my heap */
    open_scattered(true);
    heap = (const char *)uccs_core.heap_start;
    CHECK(dumps(heap, 5 * MB, 0, 6 * MB));
    CHECK(dumps(heap, 5 * MB + 1, 5 * MB, 6 * MB) && dumps(heap, 8 * MB, 6 * MB, 8 * MB));
    called = 0;
    uccs_memory_ask_huge(globals, 12345);
    CHECK(called == 1 && noted((struct call){ADVISED, globals, 12345, MADV_HUGEPAGE, 0}));
}

/* --- Globals */

static void private_globals(void)
{
    size_t offset;
    be(0, 2, 2);
    CHECK(open_map(PAGE, 0, false) == 0 && strcmp(uccs_memory_why_private(), "LATERAL_GLOBALS is off") == 0);
    CHECK(rte.me->image_shared == 0 && rte.me->image_bytes == 0 && count(MOVED) == 0 && count(WATCHED) == 1);
    CHECK(uccs_core.image_bytes == 0 && uccs_memory_find(globals, &offset) == UCCS_NOWHERE &&
          !world.ranges.own[1].start);
    be(0, 2, 2);
    world.why_not = "is strange";
    CHECK(open_map(PAGE, 0, true) == 0 && strcmp(uccs_memory_why_private(), "is strange") == 0 && count(MOVED) == 0);
    CHECK(rte.me->image_shared == 0 && uccs_memory_image_bytes() == 0);
}

static void moved_early(void)
{
    be(1, 3, 3);
    world.early = 42;
    world.fd[0] = 7;
    world.fd[2] = 0;
    world.image[0] = PAGE;
    world.image[2] = 2 * PAGE;
    world.slots[0] = 2;
    world.slots[2] = 0;
    CHECK(open_map(PAGE, 0, true) == 0 && rte.me->image_fd == 42 && rte.me->image_shared == 1);
    CHECK(count(MOVED) == 0 && count(EARLY) == 2); /* mine, too */
    const struct node *head = &node.head;
    CHECK(noted((struct call){EARLY, at_slot(head->image_at, 2 * PAGE, 2), PAGE, 1000, 7}));
    CHECK(noted((struct call){EARLY, at_slot(head->image_at, 2 * PAGE, 1), 2 * PAGE, 0, 42}));
    CHECK(world.ranges.own[1].fd == 42 && world.ranges.own[1].at == 0 && world.ranges.own[1].start == globals);
    CHECK(uccs_core.image_bytes == 2 * PAGE && !uccs_memory_why_private());
    struct uccs_memory_piece pieces[UCCS_PIECES];
    uccs_memory_pieces(pieces);
    CHECK(piece_is(&pieces[UCCS_PIECE_IMAGE], 42, 0, 2 * PAGE));
    be(1, 3, 3);
    world.early = 42;
    world.fd[0] = 7;
    world.fd[2] = 8;
    world.early_fails = 1;
    CHECK(open_map(PAGE, 0, true) == 0 && count(EARLY) == 1 && strstr(uccs_memory_why_private(), "/proc"));
    CHECK(uccs_core.image_bytes == 0 && !uccs_memory_resolve(globals, 0));
}

/* --- What goes wrong */

static bool fails(const char *line)
{
    return world.lines == (line ? 1 : 0) && (!line || strstr(world.said, line));
}

static void failures(void)
{
    be(0, 2, 2);
    world.where_fails = 1;
    CHECK(open_map(PAGE, 0, true) == -1 && fails(0) && !map.base && rte.me->heap_bytes == 0);
    be(0, 2, 2);
    world.heap[1] = UINT64_C(1) << 62;
    CHECK(open_map(PAGE, 0, true) == -1 && fails("2 PEs with 4611686018427387904 bytes of heap and 70000 of"));
    CHECK(strstr(world.said, strerror(EFBIG)) && node.head.file_bytes == 0 && !map.base);
    be(0, 2, 2);
    close(rte.fd);
    rte.fd = 0;
    CHECK(open_map(PAGE, 0, true) == -1 && world.lines == 1 && node.head.file_bytes == 0);
    for (int how = 1; how <= 2; how++) {
        be(0, 2, 2);
        world.map_fails = how;
        CHECK(open_map(PAGE, 0, true) == -1 && fails("cannot map") && strstr(world.said, "(2 PEs)") && !map.base);
    }
    be(0, 2, 2);
    world.move_fails = EBUSY;
    CHECK(open_map(PAGE, 0, true) == -1 && fails("cannot share the program's global variables"));
    be(0, 2, 2);
    world.guard_fails = ENOMEM;
    CHECK(open_map(PAGE, 0, true) == -1 && fails("cannot guard the shared memory") && count(WATCHED) == 0);
    for (int which = 1; which <= 2; which++) {
        be(0, 2, 2);
        world.watch_fails = which;
        CHECK(open_map(PAGE, 0, true) == -1 && fails("cannot guard the shared memory") && count(WATCHED) == which);
        CHECK(world.barriers == 0 && uccs_core.pes == 0);
    }
}

int main(void)
{
    dumped();
    private_globals();
    moved_early();
    failures();
    be(0, 1, 1);
    return 0;
}
