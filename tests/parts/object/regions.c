/* Memory of this PE that others use: its rooms, registrations and handles' numbers, ranges that are attached and detached, the kernel's
 * copy, and blocks of messages. Each check at its edges, in a job of two PEs. */
#include "regions_world.h"

#include "regions_attached.h"
#include "regions_blocks.h"

/* --- Rooms */

static void wanted_sizes(void)
{
    struct rlimit space, file;
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), least = MB;
    CHECK(getrlimit(RLIMIT_AS, &space) == 0 && getrlimit(RLIMIT_FSIZE, &file) == 0);
    const bool limited = space.rlim_cur != RLIM_INFINITY || file.rlim_cur != RLIM_INFINITY;
    for (uint32_t size = 1; size <= 65536; size *= 4) {
        const uint64_t share = ((uint64_t)16 << 40) / size, most = limited ? 0 : memory < share ? memory : share;
        CHECK(uccs_region_want(size) == (most > least ? most : least) + least + UCCS_LIBRARY_BYTES);
    }
    CHECK(uccs_region_program_bytes() == MB);
}

static void three_rooms(void)
{
    const char *end = region + region_size, *library = end - UCCS_LIBRARY_BYTES, *program = library - MB;
    char *in_memory = uccs_region_take(UCCS_ROOM_MEMORY, 100), *in_program = uccs_region_take(UCCS_ROOM_PROGRAM, 100);
    char *in_library = uccs_region_take(UCCS_ROOM_LIBRARY, 100), *next = uccs_region_take(UCCS_ROOM_MEMORY, 100);
    CHECK(in_memory >= region && in_memory < program && in_program >= program && in_program < library);
    CHECK(in_library >= library && in_library < end && next >= in_memory + 100 && next < program);
    CHECK(((uintptr_t)in_memory | (uintptr_t)in_program | (uintptr_t)in_library | (uintptr_t)next) % CACHE_LINE == 0);
    CHECK(!uccs_region_take(UCCS_ROOM_PROGRAM, MB + 1) && !uccs_region_take(UCCS_ROOM_PROGRAM, MB));
    uccs_region_give(in_program);
    CHECK(uccs_region_take(UCCS_ROOM_PROGRAM, 200) == in_program);
    uccs_region_give(in_memory);
    uccs_region_give(in_library);
    CHECK(uccs_region_take(UCCS_ROOM_MEMORY, 100) == in_memory &&
          uccs_region_take(UCCS_ROOM_LIBRARY, 100) == in_library);
    uccs_region_give(in_memory);
    uccs_region_give(next);
    uccs_region_give(in_library);
    uccs_region_give(in_program);
}

/* Memory that was used is zeroed, in whole pages and around them. */
static void zeroed_blocks(void)
{
    static const size_t lengths[] = {1, 100, 70000, MB - 1, MB, MB + 70000, 5 * MB};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *before = uccs_region_take_zeroed(CELL), *block = uccs_region_take_zeroed(lengths[i]);
        CHECK(before && block && is_zero(block, lengths[i]));
        CHECK(!huge == (lengths[i] < 4 * MB)); /* whole pages inside of a large block */
        CHECK(!huge || (huge >= block && huge < block + 65536 && (uintptr_t)huge % 65536 == 0));
        CHECK(!huge || (huge + huge_bytes <= block + lengths[i] && huge + huge_bytes > block + lengths[i] - 65536));
        huge = NULL;
        memset(block, 0xff, lengths[i]);
        uccs_region_give(block);
        CHECK(uccs_region_take_zeroed(lengths[i]) == block && is_zero(block, lengths[i]));
        huge = NULL;
        memset(block, 0xff, lengths[i]);
        uccs_region_give(block);
        char *part = uccs_region_take_zeroed(lengths[i] / 2 + 1);
        CHECK(part == block && is_zero(part, lengths[i] / 2 + 1));
        uccs_region_give(part);
        uccs_region_give(before);
    }
    CHECK(!uccs_region_take_zeroed(region_size));
}

/* Pages of memory that the program has allocated go back to the kernel, those of the library's blocks stay. */
static void pages_given_back(void)
{
    char *blocks[] = {uccs_region_take(UCCS_ROOM_LIBRARY, 2 * MB), uccs_region_take(UCCS_ROOM_MEMORY, 2 * MB)};
    const int before = punched;
    CHECK(blocks[0] && blocks[1]);
    uccs_region_give(blocks[0]);
    CHECK(punched == before);
    uccs_region_give(blocks[1]);
    CHECK(punched == before + 1);
}

static bool lies(const void *start, size_t length, uint32_t segment, uint64_t at)
{
    uint64_t where = 77;
    return uccs_region_locate(start, length, &where) == segment && (segment == UCCS_UNMAPPED || where == at);
}

static char global[100];

static void places(void)
{
    const char *heap = (const char *)uccs_core.heap_start;
    const size_t bytes = uccs_core.heap_bytes;
    CHECK(lies(region, region_size, UCCS_IN_REGION, 0) && lies(region, region_size + 1, UCCS_UNMAPPED, 0));
    CHECK(lies(region + region_size - 1, 1, UCCS_IN_REGION, region_size - 1));
    CHECK(lies(region + region_size - 1, 2, UCCS_UNMAPPED, 0) && lies(region + region_size, 1, UCCS_UNMAPPED, 0));
    CHECK(lies(heap, bytes, UCCS_HEAP, 0) && lies(heap + 3, bytes - 3, UCCS_HEAP, 3) &&
          lies(heap, bytes + 1, UCCS_UNMAPPED, 0));
    CHECK(lies(heap + bytes - 8, 8, UCCS_HEAP, bytes - 8) && lies(heap + bytes - 8, 9, UCCS_UNMAPPED, 0));
    CHECK(lies(heap - 1, 2, UCCS_UNMAPPED, 0) && lies(private_memory, 8, UCCS_UNMAPPED, 0));
    if (uccs_memory_image_bytes()) {
        const char *image = uccs_memory_image_start();
        CHECK(lies(global, sizeof global, UCCS_IMAGE, (uint64_t)(global - image)));
        CHECK(lies(image, uccs_memory_image_bytes() + 1, UCCS_UNMAPPED, 0));
    }
    for (int pe = 0; pe < 2; pe++) {
        size_t unused;
        CHECK(uccs_region_near(pe, UCCS_HEAP, 9) == uccs_near(heap + 9, pe));
        CHECK(uccs_region_near(pe, UCCS_IN_REGION, 9) == uccs_memory_region((uint32_t)pe, &unused) + 9);
        CHECK(uccs_region_near(pe, UCCS_IMAGE, 9) == uccs_memory_image((uint32_t)pe) + 9);
        CHECK(!uccs_region_near(pe, UCCS_UNMAPPED, 9) && !uccs_region_near(pe, UCCS_NOWHERE, 9));
    }
}

/* --- Registrations */

static void registrations(void)
{
    char bytes[100], *at = bytes;
    size_t length = 0;
    struct uccs_region *one = uccs_region_describe(bytes, 100, UCCS_DOMAIN_LOCKED);
    struct uccs_region *other = uccs_region_describe(bytes + 8, 8, UCCS_DOMAIN_CPU);
    const uint64_t id = uccs_region_id(one->slot, one->generation);
    CHECK(one->near == bytes && one->address == (uintptr_t)bytes && one->length == 100 && one->owner == 0);
    CHECK(one->pid == getpid() && one->own && !one->allocated && !one->dynamic && one->domain == UCCS_DOMAIN_LOCKED);
    CHECK(one->generation & 1 && other->slot != one->slot && uccs_region_of_this_life(one));
    CHECK(uccs_region_check(one, 0, 100) == UCCS_OK && uccs_region_check(one, 100, 0) == UCCS_OK);
    CHECK(uccs_region_check(one, 100, 1) == UCCS_ERR_BOUNDS && uccs_region_check(one, 101, 0) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_check(one, 50, 51) == UCCS_ERR_BOUNDS && uccs_region_check(one, SIZE_MAX, 1) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_check(one, 1, SIZE_MAX) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_find(id, 10, 90, &at) == UCCS_OK && at == bytes + 10);
    CHECK(uccs_region_find(id, 10, 91, &at) == UCCS_ERR_BOUNDS && !at && uccs_region_find(id, 100, 0, &at) == UCCS_OK);
    CHECK(uccs_region_find(id, 101, 0, &at) == UCCS_ERR_BOUNDS &&
          uccs_region_find(id, 1, SIZE_MAX, &at) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_whole(id, &length) == bytes && length == 100 && uccs_region_locked(id, bytes));
    CHECK(!uccs_region_locked(uccs_region_id(other->slot, other->generation), bytes));
    const struct uccs_region_home home = uccs_region_home(id, bytes + 3, 5);
    CHECK(home.domain == UCCS_DOMAIN_LOCKED && home.address == (uintptr_t)bytes + 3 && home.bytes == 5);
    CHECK(uccs_region_alive(one->slot, one->generation) && !uccs_region_alive(one->slot, one->generation + 1));
    CHECK(!uccs_region_alive(one->slot, one->generation - 1) && !uccs_region_alive(one->slot, one->generation + 2));
    uint32_t *lock = &uccs_own_mine()->stripes[0].lock; /* what lies behind the last slot */
    CHECK((void *)lock == &uccs_own_mine()->registrations[OWN_REGISTRATIONS]);
    *lock = 1;
    CHECK(!uccs_region_alive(OWN_REGISTRATIONS, 1));
    *lock = 0;
    CHECK(!uccs_region_end(one->slot) && uccs_region_check(one, 0, 1) == UCCS_ERR_STALE &&
          uccs_region_find(id, 0, 1, &at) == UCCS_ERR_STALE);
    CHECK(!at && !uccs_region_whole(id, &length) && uccs_region_check(one, 101, 0) == UCCS_ERR_BOUNDS);
    CHECK(!uccs_region_end(other->slot));
    struct uccs_region *next = uccs_region_describe(bytes, 1, UCCS_DOMAIN_CPU),
                       *last = uccs_region_describe(bytes, 1, UCCS_DOMAIN_CPU);
    CHECK(next->slot == other->slot && next->generation == other->generation + 2 && last->slot == one->slot);
    *uccs_region_generation(0, next->slot) = 65537; /* after many */
    CHECK(uccs_region_find(uccs_region_id(next->slot, 65537), 0, 1, &at) == UCCS_OK && at == bytes);
    CHECK(uccs_region_whole(uccs_region_id(next->slot, 65537), &length) && length == 1);
    CHECK(uccs_region_find(uccs_region_id(next->slot, 1), 0, 1, &at) == UCCS_ERR_STALE);
    CHECK(!uccs_region_end(next->slot) && !uccs_region_end(last->slot));
    free(one), free(other), free(next), free(last);
}

static void importers(void)
{
    char bytes[8];
    struct uccs_region *one = uccs_region_describe(bytes, 8, UCCS_DOMAIN_CPU);
    const uint64_t id = uccs_region_id(one->slot, one->generation);
    const int npes = uccs_core.npes;
    uccs_core.npes = 130;
    CHECK(uccs_region_imported(id, 1) && uccs_region_imported(id, 0) && uccs_region_imported(id, 129));
    CHECK(uccs_region_imported(id, 63));
    uint64_t *who = uccs_region_end(one->slot);
    CHECK(who && who[0] == (UINT64_C(1) << 63 | 3) && who[1] == 0 && who[2] == 2);
    CHECK(!uccs_region_imported(id, 1) && !uccs_region_imported(id + 2, 5));
    free(who);
    free(one);
    one = uccs_region_describe(bytes, 8, UCCS_DOMAIN_CPU); /* of the next one nobody is an importer */
    CHECK(!uccs_region_end(one->slot));
    uccs_core.npes = npes;
    free(one);
}

static struct uccs_region imported(int owner, uint32_t slot, uint32_t generation)
{
    return (struct uccs_region){.owner = owner, .slot = slot, .generation = generation, .length = 8};
}

/* Memory of another node is there until its owner tells that it has gone. */
static void promised(void)
{
    struct uccs_region one = imported(1, 5, 7), same = one, other_owner = imported(0, 5, 7), other = imported(1, 5, 9);
    const uint64_t id = uccs_region_id(5, 7);
    CHECK(!uccs_region_expect(&one) && one.now == &one.heard && uccs_region_check(&one, 0, 8) == UCCS_OK);
    uccs_region_promised(&one);
    uccs_region_promised(&one);
    CHECK(uccs_region_expect(&same) && !uccs_region_expect(&other_owner) && !uccs_region_expect(&other));
    uccs_region_gone(1, id);
    CHECK(uccs_region_check(&one, 0, 8) == UCCS_ERR_STALE && uccs_region_check(&same, 0, 8) == UCCS_ERR_STALE);
    CHECK(uccs_region_check(&other_owner, 0, 8) == UCCS_OK && uccs_region_check(&other, 0, 8) == UCCS_OK);
    uccs_region_promised(&one); /* its end has been told meanwhile */
    struct uccs_region again = imported(1, 5, 7);
    CHECK(!uccs_region_expect(&again));
    uccs_region_forget(&other);
    uccs_region_gone(1, uccs_region_id(5, 9));
    CHECK(other.heard == 9);
    uccs_region_gone(0, id);
    CHECK(uccs_region_check(&other_owner, 0, 8) == UCCS_ERR_STALE && again.heard == 7);
    uccs_region_forget(&one);
    uccs_region_forget(&one);
    uccs_region_forget(&same);
    uccs_region_forget(&other_owner);
    uccs_region_gone(1, id);
    CHECK(again.heard == 8 && one.heard == 8);
    uccs_region_forget(&again);
}

/* --- The kernel's copy, here of this process */

static void kernel_copies(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), local[64];
    CHECK(pages != MAP_FAILED && munmap(pages + page, (size_t)page) == 0);
    struct uccs_region there = {.owner = 0, .pid = getpid(), .address = (uintptr_t)pages, .length = (size_t)page};
    memset(local, 7, sizeof local);
    CHECK(uccs_kernel_put(&there, 8, local, 16) == UCCS_OK && is_zero(pages, 8) && pages[8] == 7 && pages[23] == 7 &&
          !pages[24]);
    pages[9] = 9;
    CHECK(uccs_kernel_get(&there, 9, local, 1) == UCCS_OK && local[0] == 9 && local[1] == 7);
    CHECK(uccs_kernel_get(&there, 0, local, 0) == UCCS_OK && uccs_kernel_put(&there, 0, local, 0) == UCCS_OK);
    CHECK(uccs_kernel_get(&there, (size_t)page, local, 1) == UCCS_ERR_BOUNDS);
    CHECK(uccs_kernel_get(&there, (size_t)page - 8, local, 16) == UCCS_ERR_BOUNDS);
    memset(local, 9, sizeof local);
    CHECK(uccs_kernel_put(&there, (size_t)page - 8, local, 16) == UCCS_ERR_BOUNDS && pages[page - 8] == 9);
    there.pid = 0x7ffffff0;
    CHECK(uccs_kernel_get(&there, 0, local, 1) == UCCS_ERR_UNREACHABLE);
    munmap(pages, (size_t)page);
}

static void kernel_reach(void)
{
    const struct uccs_region here = {.owner = 0, .pid = getpid()}, there = {.owner = 1};
    struct uccs_own *own = uccs_own_mine();
    const char *why;
    setenv("LATERAL_CMA", "1", 1);
    CHECK(env_load(&why) == 0 && !uccs_kernel_reaches(&there)); /* it has offered nothing */
    peers[0] = UNKNOWN;
    own->word = 0;
    CHECK(!copy_works(0));
    uccs_kernel_offer();
    CHECK(own->word == (uintptr_t)word && own->value == word[0] && own->pid == getpid() && word[1] == 0);
    const uint64_t value = own->value;
    uccs_kernel_offer();
    CHECK(own->value == value && uccs_kernel_reaches(&here) && peers[0] == WORKS);
    CHECK(!uccs_kernel_reaches(&there) && peers[1] == REFUSED);
    own->value++;
    CHECK(!copy_works(0) && uccs_kernel_reaches(&here)); /* tried once */
    own->value--;
    word[1] = 1; /* another PE's */
    CHECK(!copy_works(0));
    word[1] = 0;
    own->pid = 0x7ffffff0;
    CHECK(!copy_works(0));
    own->pid = getpid();
    CHECK(copy_works(0));
    setenv("LATERAL_CMA", "0", 1);
    CHECK(env_load(&why) == 0 && !copy_works(0));
    unsetenv("LATERAL_CMA");
    CHECK(env_load(&why) == 0);
}

int main(void)
{
    setenv("LATERAL_MEMORY", "1048639", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1m", 1);
    pair_start();
    region = uccs_memory_region(0, &region_size);
    private_memory = mmap(NULL, CELLS * CELL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(private_memory != MAP_FAILED);
    wanted_sizes();
    three_rooms();
    zeroed_blocks();
    pages_given_back();
    places();
    registrations();
    importers();
    promised();
    attached_model();
    attached_kinds();
    attached_meanwhile();
    attached_memory(64);
    attached_memory((size_t)5 << 30);
    kernel_copies();
    kernel_reach();
    blocks();
    sent_blocks();
    full_room();
    CHECK(locked == 0);
    return pair_finish();
}
