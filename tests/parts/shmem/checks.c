/* What the checking layer asks of the library: what lies around an address, what is wrong with a handle of a counter, the lines that it
 * prints, maps of the node, what members exchange, and how long the objects of requests are kept. */
#include "refused.h"

#include "base/poison.h"
#include "shmem/check.h"
#include "shmem/coll/coll.h"
#include "shmem/mem.h"
#include "shmem/team.h"
#include "uccs/core/memory.h"
#include "uccs/object/counter.h"
#include "uccs/object/request.h"

enum { SLOT = 5, SIZE = 3, KEPT = 4096, IMAGE = 200 };

struct shmem_team_impl lat_team_world, lat_team_shared;
static _Alignas(64) char heap[256], image[IMAGE], elsewhere[8];
static struct uccs_team set; /* of an active set */
static char noted[200], taken[8], given[SIZE][8];
static const void *exchanged;
static int frees, sets;
static void *freed[4];

static enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    const char *at = addr;
    *offset = (size_t)(at - image);
    if (at >= image && at < image + sizeof image)
        return UCCS_IMAGE;
    *offset = (size_t)(at - heap);
    return at >= heap && at < heap + sizeof heap ? UCCS_HEAP : UCCS_NOWHERE;
}

/* One block of 40 bytes, from 64 on. */
bool lat_mem_around(const void *addr, uintptr_t *start, size_t *bytes)
{
    *start = (uintptr_t)heap + 64;
    *bytes = 40;
    return (const char *)addr >= heap + 64 && (const char *)addr < heap + 104;
}

static void exchange_stub(struct uccs_team *team, const void *mine, size_t bytes)
{
    CHECK(bytes <= sizeof taken);
    exchanged = team;
    memcpy(taken, mine, bytes);
}

static const void *given_stub(const struct uccs_team *team, int rank, size_t bytes)
{
    CHECK(team == exchanged && rank >= 0 && rank < team->size && bytes == 3);
    return given[rank];
}

struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync)
{
    CHECK(strcmp(call, "call") == 0 && start == 1 && logstride == 2 && size == 3 && *psync == 7);
    sets++;
    return &set;
}

static void free_stub(void *at)
{
    CHECK(refused_locked == 0);
    freed[frees++ % 4] = at;
}

static void vline_stub(const char *format, va_list arguments)
{
    vsnprintf(noted, sizeof noted, format, arguments);
}

static void poison_stub(const char *what, const void *at, size_t bytes)
{
    snprintf(noted, sizeof noted, "%s %d+%zu", what, (int)((const char *)at - heap), bytes);
}

#define uccs_memory_find(addr, offset) find_stub(addr, offset)
#define uccs_memory_image_bytes() ((size_t)IMAGE)
#define uccs_team_exchange(team, mine, bytes) exchange_stub(team, mine, bytes)
#define uccs_team_given(team, rank, bytes) given_stub(team, rank, bytes)
#define log_vline(format, arguments) vline_stub(format, arguments)
#define poison_forbid(at, bytes) poison_stub("forbid", at, bytes)
#define poison_allow(at, bytes) poison_stub("allow", at, bytes)
#define free(at) free_stub(at)
#include "shmem/check.c"
#undef free

static void lines(void)
{
    char most[600];
    REFUSED(lat_check_fail("shmem_put", "dest", "is %d of %s", 3, "four"), "shmem_put: dest: is 3 of four");
    lat_check_warn("shmem_put", "%d of %s", 5, "six");
    CHECK(strcmp(refused_line, "shmem_put: warning: 5 of six") == 0);
    lat_check_tell("%s and %d", "seven", 8);
    CHECK(strcmp(noted, "seven and 8") == 0);
    memset(most, 'x', sizeof most);
    most[sizeof most - 1] = 0;
    lat_check_warn("call", "%s", most);
    CHECK(strlen(refused_line) == strlen("call: warning: ") + 511); /* what is too long ends earlier */
}

static void states(void)
{
    static const bool after[] = {[LAT_BEFORE] = false, [LAT_RUNNING] = false, [LAT_AFTER] = true};
    for (lat_state = LAT_BEFORE; lat_state <= LAT_AFTER; lat_state++)
        CHECK(lat_check_finalized() == after[lat_state]);
    lat_state = LAT_AFTER;
    REFUSED(lat_check_running("call"), "call: called after the last shmem_finalize");
    lat_state = LAT_BEFORE;
    REFUSED(lat_check_running("call"), "call: called before shmem_init");
    lat_state = LAT_RUNNING;
    lat_check_running("call");
}

/* Fills all of it; `kind` null: there is no block. */
static void around(const char *addr, const char *kind, const char *start, size_t bytes, bool usable)
{
    struct lat_check_block block = {"none", 1, 2, !usable};
    CHECK(lat_check_find(addr, &block) == (kind != 0));
    if (!kind)
        return;
    CHECK(strcmp(block.kind, kind) == 0);
    CHECK(block.start == (uintptr_t)start);
    CHECK(block.bytes == bytes);
    CHECK(block.usable == usable);
}

static void blocks(void)
{
    around(heap + 64, "heap block", heap + 64, 40, true);
    around(heap + 103, "heap block", heap + 64, 40, true);
    around(heap + 63, "free part of the symmetric heap", 0, 0, false);
    around(heap + 104, "free part of the symmetric heap", 0, 0, false);
    around(image, "global variables", image, IMAGE, true);
    around(image + IMAGE - 1, "global variables", image, IMAGE, true);
    around(elsewhere, 0, 0, 0, false);
}

static const char *of_counter(uint64_t generation, uint32_t slot)
{
    return lat_check_counter((const void *)(uintptr_t)(generation << UCCS_COUNTER_SLOT_BITS | (slot + 1)));
}

#define SAYS(of, words) CHECK((of) && strcmp(of, words) == 0)

static void counters(void)
{
    static const char never[] = "is not a counter", freed_one[] = "is a counter that was freed";
    const uint32_t all = NODE_JOB_COUNTERS + NODE_OPEN_COUNTERS, last = NODE_JOB_COUNTERS - 1;
    uccs_counter_generation[SLOT] = 5;
    uccs_counter_generation[SLOT + 1] = 6;
    uccs_counter_generation[last] = 1;
    CHECK(!of_counter(5, SLOT) && !of_counter(1, last));
    SAYS(of_counter(1, SLOT), freed_one);
    SAYS(of_counter(3, SLOT), freed_one);
    SAYS(of_counter(5, SLOT + 1), freed_one);
    SAYS(of_counter(0, SLOT), never);
    SAYS(of_counter(4, SLOT), never);
    SAYS(of_counter(6, SLOT), never);
    SAYS(of_counter(7, SLOT), never);
    SAYS(of_counter(7, SLOT + 1), never);
    SAYS(of_counter((UINT64_C(1) << 32) + 1, SLOT), never);
    SAYS(of_counter(2, last), never);
    CHECK(!of_counter(1, last + 1) && !of_counter(3, all - 1)); /* a team's, perhaps of others */
    SAYS(of_counter(1, all), never);
    SAYS(lat_check_counter(0), never);
}

static void handles(void)
{
    CHECK(!lat_check_request_is_object(0) && !lat_check_request_is_object((void *)UCCS_REQUEST_CLEAN));
    CHECK(!lat_check_request_is_object((void *)UCCS_REQUEST_DIRTY));
    CHECK(lat_check_request_is_object((void *)(UINT64_C(1) << 32)));
    CHECK(lat_check_request_is_object((void *)((uintptr_t)UCCS_REQUEST_DIRTY + 1)) &&
          lat_check_request_is_object(heap));
}

static void maps(void)
{
    const struct lat_check_map wanted = {.heap = {1, 2, 3, 4}, .image = {5, 6, 7, 8}, .first = 9, .size = 10};
    struct lat_check_map map;
    uccs_core = (struct uccs_core){.heap_start = 1,
                                   .heap_peers = 2,
                                   .heap_stride = 3,
                                   .heap_bytes = 4,
                                   .image_start = 5,
                                   .image_peers = 6,
                                   .image_stride = 7,
                                   .image_bytes = 8,
                                   .first = 9,
                                   .size = 10};
    memset(&map, 0xff, sizeof map);
    lat_check_map(&map);
    CHECK(memcmp(&map, &wanted, sizeof map) == 0);
}

static void meetings(void)
{
    long psync = 7;
    char all[12];
    for (int rank = 0; rank < SIZE; rank++)
        memcpy(given[rank], (char[]){(char)('a' + rank), (char)('f' + rank), (char)('k' + rank), 'x'}, 4);
    lat_team_world.group.size = lat_team_shared.group.size = set.size = SIZE;
    memset(all, '.', sizeof all);
    lat_check_meet(SHMEM_TEAM_WORLD, "uvw", 3, all);
    CHECK(exchanged == &lat_team_world.group && memcmp(taken, "uvw", 4) == 0);
    CHECK(memcmp(all, "afkbglchm...", sizeof all) == 0);
    lat_check_meet(SHMEM_TEAM_SHARED, "rst", 3, all);
    CHECK(exchanged == &lat_team_shared.group && memcmp(taken, "rst", 4) == 0);
    memset(all, '.', sizeof all);
    set.slot = 0;
    CHECK(lat_check_meet_set("call", 1, 2, 3, &psync, "xyz", 3, all) && sets == 1);
    CHECK(exchanged == &set && memcmp(taken, "xyz", 4) == 0 && memcmp(all, "afkbglchm...", sizeof all) == 0);
    exchanged = 0;
    set.slot = -1;
    CHECK(!lat_check_meet_set("call", 1, 2, 3, &psync, "xyz", 3, all) && sets == 2);
    set.slot = 0;
    CHECK(!lat_check_meet_set("call", 1, 2, 1, &psync, "xyz", 3, all) && sets == 2); /* a set of one has no group */
    CHECK(!exchanged);
}

/* The oldest goes when another one comes, and the oldest alone. */
static void requests_kept(void)
{
    static char objects[2 * KEPT];
    uccs_request_discard = 0;
    lat_check_keep_requests();
    CHECK(uccs_request_discard == keep_request);
    for (int i = 0; i < 2 * KEPT; i++) {
        uccs_request_discard(&objects[i]);
        CHECK(frees == i + 1 && refused_locked == 0);
        CHECK(freed[i % 4] == (i < KEPT ? 0 : &objects[i - KEPT]));
    }
}

static void poisons(void)
{
    lat_check_forbid(heap + 3, 5);
    CHECK(strcmp(noted, "forbid 3+5") == 0);
    lat_check_allow(heap + 4, 6);
    CHECK(strcmp(noted, "allow 4+6") == 0);
}

int main(void)
{
    lines();
    states();
    blocks();
    counters();
    handles();
    maps();
    meetings();
    requests_kept();
    poisons();
    return 0;
}
