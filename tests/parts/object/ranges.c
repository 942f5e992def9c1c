/* Tables of attached ranges by themselves, in a made-up room: when a table grows, what each failure leaves behind, where ranges may touch,
 * which of them join, and what a change tells those who read meanwhile. */
#include "parts/owned.h"

#include "uccs/core/memory.h"
#include "uccs/core/wait.h"
#include "uccs/object/attach.h"

struct uccs_core uccs_core = {.me = 1, .npes = 2, .pes = 2};

/* --- The room, and what the node maps: bytes 5000 to 5999, as segment 70001, and 7000 to 7999, as segment 2 */

enum { ROOM = 65536, MAPPED = 5000, MAPPED_TOO = 7000, SEGMENT = 70001 };

static _Alignas(CACHE_LINE) char room[ROOM];
static size_t taken[16], sizes[16], takes, gives, used;
static int take_fails; /* the take that fails, counted down; 0: none */
static struct uccs_attached *table;
static uint32_t yields;

char *uccs_memory_region(uint32_t index, size_t *bytes)
{
    CHECK(index == 1);
    *bytes = sizeof room;
    return room;
}

void *uccs_region_take(enum uccs_room which, size_t bytes)
{
    CHECK(which == UCCS_ROOM_MEMORY && takes < 16 && used + bytes + CACHE_LINE <= ROOM);
    if (take_fails && --take_fails == 0)
        return NULL;
    used += CACHE_LINE; /* offset 0 is no table's */
    memset(room + used, OWNED_NOISE, bytes);
    taken[takes] = used;
    sizes[takes++] = bytes;
    used += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return room + taken[takes - 1];
}

void uccs_region_give(void *start)
{
    size_t at = 0;
    while (at < takes && room + taken[at] != (char *)start)
        at++;
    CHECK(at < takes);
    taken[at] = ROOM; /* once */
    gives++;
}

static uint32_t segment_of(uint64_t at)
{
    return at >= MAPPED && at < MAPPED + 1000           ? SEGMENT
           : at >= MAPPED_TOO && at < MAPPED_TOO + 1000 ? 2
                                                        : UCCS_UNMAPPED;
}

uint32_t uccs_region_locate(const void *start, size_t bytes, uint64_t *where)
{
    const uint64_t at = (uintptr_t)start;
    const uint32_t segment = segment_of(at);
    *where = segment == UCCS_UNMAPPED ? 0 : at % 1000;
    return segment == segment_of(at + bytes - 1) ? segment : UCCS_UNMAPPED;
}

static uint32_t near_segment;
static uint64_t near_where;

char *uccs_region_near(int owner, uint32_t segment, uint64_t where)
{
    CHECK(owner == 1);
    near_segment = segment;
    near_where = where;
    return segment == (uint32_t)UCCS_UNMAPPED ? NULL : room + where;
}

uint32_t uccs_index_in_table(int pe)
{
    return (uint32_t)pe;
}

/* The owner's change ends while a reader waits. */
uint64_t uccs_yield_slow(struct uccs_wait *wait)
{
    (void)wait;
    CHECK(table->version & 1);
    yields++;
    table->version += yields == 2;
    return 0;
}

void uccs_stay_end(struct uccs_wait *wait)
{
    wait->stay = 0;
}

#include "uccs/object/attach.c"

static int attach(uint64_t start, size_t bytes)
{
    const int status = uccs_attached_add(table, (const void *)(uintptr_t)start, bytes);
    CHECK(owned_held == 0);
    return status;
}

static int detach(uint64_t start)
{
    const int status = uccs_attached_remove(table, (const void *)(uintptr_t)start);
    CHECK(owned_held == 0);
    return status;
}

static void begin(void)
{
    takes = gives = used = 0;
    take_fails = 0;
    yields = 0;
    uccs_core.me = 1;
    table = uccs_attached_create();
    CHECK(table && takes == 2 && table->count == 0 && table->room == 62);
}

static void end(void)
{
    uccs_attached_destroy(table);
    CHECK(gives == takes);
}

/* --- Growing */

static void creates(void)
{
    for (int fails = 1; fails <= 2; fails++) {
        takes = gives = used = 0;
        take_fails = fails;
        CHECK(!uccs_attached_create() && takes == (size_t)fails - 1 && gives == takes);
    }
    begin();
    CHECK(sizes[0] == sizeof *table && sizes[1] == 63 * sizeof(struct uccs_attached_range));
    CHECK(table->spent == taken[1] && table->ranges == taken[1] + sizeof(struct uccs_attached_range));
    CHECK(*(uint64_t *)(room + taken[1]) == 0);
    end();
}

static void grows(void)
{
    begin();
    uint64_t version = table->version;
    for (uint64_t i = 0; i < 62; i++)
        CHECK(attach(10000 + 10 * i, 5) == UCCS_OK && table->version == version + 2 * (i + 1));
    CHECK(takes == 2 && table->count == 62);
    version = table->version;
    const struct uccs_attached before = *table;
    take_fails = 1;
    CHECK(attach(20000, 5) == UCCS_ERR_NO_MEMORY && memcmp(&before, table, sizeof before) == 0);
    CHECK(attach(20000, 5) == UCCS_OK && takes == 3 && table->room == 126 && table->count == 63);
    CHECK(table->version == version + 4 && sizes[2] == 127 * sizeof(struct uccs_attached_range));
    CHECK(table->spent == taken[2] && *(uint64_t *)(room + taken[2]) == taken[1]);
    CHECK(uccs_attached_covers(table, 20000, 5) && !uccs_attached_covers(table, 20000, 6));
    for (uint64_t i = 0; i < 62; i++)
        CHECK(uccs_attached_covers(table, 10000 + 10 * i, 5) && !uccs_attached_covers(table, 10000 + 10 * i, 6));
    for (uint64_t i = 0; i < 64; i++)
        CHECK(attach(30000 + 10 * i, 5) == UCCS_OK && table->room == (i < 63 ? 126 : 254));
    end();
    CHECK(gives == 4);
}

/* --- Places */

static void touches(void)
{
    begin();
    CHECK(attach(100, 10) == UCCS_OK && attach(110, 5) == UCCS_OK && attach(95, 5) == UCCS_OK);
    CHECK(attach(114, 1) == UCCS_ERR_INVALID && attach(95, 1) == UCCS_ERR_INVALID && attach(90, 6) == UCCS_ERR_INVALID);
    CHECK(attach(90, 100) == UCCS_ERR_INVALID && table->count == 3);
    CHECK(uccs_attached_covers(table, 95, 20) && !uccs_attached_covers(table, 95, 21));
    CHECK(!uccs_attached_covers(table, 94, 2) && uccs_attached_covers(table, 114, 1));
    CHECK(!uccs_attached_covers(table, 115, 1) && uccs_attached_covers(table, 115, 0));
    CHECK(detach(101) == UCCS_ERR_INVALID && detach(94) == UCCS_ERR_INVALID && detach(120) == UCCS_ERR_INVALID);
    const uint64_t version = table->version;
    CHECK(detach(100) == UCCS_OK && table->version == version + 2 && table->count == 2);
    CHECK(uccs_attached_covers(table, 95, 5) && uccs_attached_covers(table, 110, 5));
    CHECK(!uccs_attached_covers(table, 99, 2) && !uccs_attached_covers(table, 100, 1) &&
          detach(100) == UCCS_ERR_INVALID);
    CHECK(detach(110) == UCCS_OK && detach(95) == UCCS_OK && table->count == 0 && detach(95) == UCCS_ERR_INVALID);
    CHECK(!uccs_attached_covers(table, 95, 1));
    end();
}

/* A range lies in one piece of mapped memory, or outside of all. */
static void partly(void)
{
    begin();
    CHECK(attach(4990, 10) == UCCS_OK && attach(6000, 10) == UCCS_OK);          /* just outside */
    CHECK(attach(4980, 5) == UCCS_OK && attach(6900, 101) == UCCS_ERR_INVALID); /* its last byte is mapped */
    CHECK(attach(5990, 11) == UCCS_ERR_INVALID && attach(5999, 2) == UCCS_ERR_INVALID && attach(5990, 10) == UCCS_OK);
    CHECK(attach(5000, 1) == UCCS_OK && table->count == 5);
    const void *const second = (const void *)(uintptr_t)20000, *const first = (const void *)(uintptr_t)5100;
    CHECK(uccs_attached_add_as(table, second, 10, first) == UCCS_OK && owned_held == 0);
    CHECK(uccs_attached_add_as(table, (const char *)second + 10, 10, second) ==
          UCCS_ERR_INVALID); /* it is not mapped */
    end();
}

static struct uccs_attached_piece piece;

static int find_at(uint64_t start, size_t bytes)
{
    memset(&piece, OWNED_NOISE, sizeof piece);
    return uccs_attached_find(table, 1, start, bytes, &piece);
}

static void joins(void)
{
    begin();
    CHECK(attach(100, 10) == UCCS_OK && attach(110, 10) == UCCS_OK && attach(121, 9) == UCCS_OK);
    CHECK(find_at(105, 10) == UCCS_OK && piece.bytes == 10 && piece.near == (char *)105 && piece.home == 105);
    CHECK(!piece.mapped && find_at(105, 40) == UCCS_OK && piece.bytes == 15); /* there is a gap */
    CHECK(find_at(120, 1) == UCCS_ERR_BOUNDS && find_at(99, 5) == UCCS_ERR_BOUNDS &&
          find_at(130, 1) == UCCS_ERR_BOUNDS);
    CHECK(find_at(129, 1) == UCCS_OK && find_at(109, 1) == UCCS_OK && piece.bytes == 1 && piece.home == 109);
    CHECK(uccs_attached_add_as(table, (void *)20000, 10, (void *)5100) == UCCS_OK);
    CHECK(uccs_attached_add_as(table, (void *)20010, 10, (void *)5110) == UCCS_OK);
    CHECK(uccs_attached_add_as(table, (void *)20020, 10, (void *)5500) == UCCS_OK); /* elsewhere */
    CHECK(uccs_attached_add_as(table, (void *)20030, 10, (void *)7110) == UCCS_OK); /* another segment */
    CHECK(find_at(20004, 40) == UCCS_OK && piece.bytes == 16 && piece.mapped && piece.home == 5104);
    CHECK(find_at(20021, 40) == UCCS_OK && piece.bytes == 9 && piece.home == 5501);
    uccs_core.me = 0; /* a peer looks */
    CHECK(find_at(20014, 2) == UCCS_OK && near_segment == SEGMENT && near_where == 110 && piece.near == room + 114);
    CHECK(find_at(112, 2) == UCCS_OK && !piece.near && piece.home == 112);
    uccs_core.me = 1;
    struct uccs_view view;
    CHECK(uccs_attached_view(table, 1, 20039, &view) == UCCS_OK && view.start == 20030 && view.length == 10);
    CHECK(view.domain == UCCS_DOMAIN_CPU && view.address == (char *)20030 && view.seen == table->version);
    CHECK(uccs_attached_view(table, 1, 20040, &view) == UCCS_ERR_BOUNDS);
    CHECK(uccs_attached_view(table, 1, 115, &view) == UCCS_OK && view.domain == UCCS_DOMAIN_LOCKED);
    end();
}

/* Who reads during a change waits for its end. */
static void reads_meanwhile(void)
{
    begin();
    CHECK(attach(100, 10) == UCCS_OK);
    uccs_core.spin = 0;
    table->version++;
    CHECK(uccs_attached_covers(table, 100, 10) && yields == 2 && !(table->version & 1));
    end();
}

/* Addresses and sizes beyond 32 bits. */
static void large(void)
{
    const uint64_t far = UINT64_C(5) << 40, size = (UINT64_C(3) << 32) + 5;
    begin();
    CHECK(attach(far, size) == UCCS_OK && attach(far + size, 10) == UCCS_OK);
    CHECK(uccs_attached_covers(table, far, size + 10) && !uccs_attached_covers(table, far + 5, size + 6));
    CHECK(uccs_attached_covers(table, far + (UINT64_C(1) << 32) + 2, 8));
    CHECK(find_at(far + 7, size) == UCCS_OK && piece.bytes == size && piece.home == far + 7);
    CHECK(piece.near == (char *)(uintptr_t)(far + 7));
    CHECK(find_at(far + (UINT64_C(2) << 32), size + 10) == UCCS_OK && piece.bytes == (UINT64_C(1) << 32) + 15);
    CHECK(attach(2 * far, 5) == UCCS_OK && !uccs_attached_covers(table, 2 * far + (UINT64_C(1) << 32), 1));
    CHECK(!uccs_attached_covers(table, far - (UINT64_C(1) << 32), 1) && detach(2 * far) == UCCS_OK);
    end();
}

static void outside(void)
{
    static uint32_t generation = 3;
    begin();
    CHECK(attach(100, 10) == UCCS_OK);
    struct uccs_region region = {.owner = 1, .generation = 3, .now = &generation, .attached = table, .dynamic = true};
    CHECK(uccs_region_outside(&region, 100, 10) == UCCS_OK && uccs_region_outside(&region, 100, 11) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_outside(&region, UINT64_MAX - 4, 5) == UCCS_ERR_BOUNDS);
    region.attached = NULL; /* on another node: the owner looks */
    CHECK(uccs_region_outside(&region, UINT64_MAX - 4, 4) == UCCS_OK);
    CHECK(uccs_region_outside(&region, UINT64_MAX - 4, 5) == UCCS_ERR_BOUNDS);
    generation = 4;
    CHECK(uccs_region_outside(&region, 100, 10) == UCCS_ERR_STALE);
    region.dynamic = false;
    CHECK(uccs_region_outside(&region, 100, 10) == UCCS_ERR_BOUNDS);
    generation = 3;
    end();
}

int main(void)
{
    creates();
    grows();
    touches();
    partly();
    joins();
    reads_meanwhile();
    large();
    outside();
    return 0;
}
