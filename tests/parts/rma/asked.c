/* Operations that the owner of memory executes when it is asked, step by step: what each piece asks for, which piece may wait, what is
 * counted while it is under way and taken back, and what comes home. And operations on attached ranges, which go range by range. Blocks,
 * messages and tables of ranges are made up. */
#include "uccs/am/stream.h"
#include "uccs/rma/inner.h"

#include "uccs/am/inner.h"
#include "uccs/object/attach.h"

#include "unit/check.h"

#include <string.h>

/* --- What these files call */

static unsigned serves, tries, gets, puts_back, begun, ended, failed, destroyed, kernel_calls;
static int blocks_left, room_left; /* so many blocks, messages; negative: all */
static int answer_status;          /* of the owner */
static bool expects, answers;      /* a block may come back; the owner answers while this process serves */
static struct uccs_block *flying[8];
static unsigned flights;
static size_t lengths[8];
static struct uccs_part *const part = (struct uccs_part *)(void *)&serves;
static struct uccs_region the_memory = {.owner = 3, .slot = 5, .generation = 7};
static char bytes_there[3 << 16];
static uint64_t changed_at;

static struct uccs_block *get(size_t length)
{
    gets++;
    if (blocks_left == 0)
        return 0;
    blocks_left -= blocks_left > 0;
    struct uccs_block *block = aligned_alloc(64, (sizeof *block + length + 127) & ~(size_t)63);
    memset(block, 0xa5, sizeof *block + length);
    block->failed = 0;
    return block;
}

static void give(struct uccs_block *block)
{
    CHECK(!block->landed && !block->request);
    puts_back++;
    free(block);
}

static bool send(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(index == 3 && id == UCCS_INNER_REMOTE && !payload && ++tries < 100);
    if (room_left == 0)
        return false;
    room_left -= room_left > 0;
    lengths[flights] = length;
    flying[flights++] = block;
    return true;
}

static void end_part(struct uccs_part *which, bool fails)
{
    CHECK(which == part);
    ended++;
    failed += fails;
}

static int find(uint64_t id, uint64_t offset, size_t bytes, char **at)
{
    CHECK(id == uccs_region_id(5, 7) && offset + bytes <= sizeof bytes_there);
    *at = bytes_there + offset;
    return answer_status;
}

static void change(const struct uccs_change *what, const struct uccs_change_place *place, const void *operand,
                   void *old)
{
    CHECK(place->domain == UCCS_DOMAIN_LOCKED && place->address == (uintptr_t)place->here);
    changed_at = (uint64_t)((char *)place->here - bytes_there);
    if (old)
        memcpy(old, place->here, uccs_change_bytes(what));
    if (operand && what->how != UCCS_NO_OP)
        memcpy(place->here, operand, uccs_change_bytes(what));
}

static uint64_t apply(const struct uccs_atomic_op *op, void *here)
{
    uint64_t old, now;
    memcpy(&old, here, sizeof old);
    now = old + op->operand;
    memcpy(here, &now, sizeof now);
    return old;
}

/* The owner executes the first message, and its answer comes home. */
static void answer(void);

static void serve(void)
{
    CHECK(++serves < 100);
    if (answers && flights)
        answer();
    if (room_left == 0)
        room_left = -1;
    if (blocks_left == 0)
        blocks_left = -1;
}

#define uccs_stage_get(room, length) get(length)
#define uccs_stage_put(block) give(block)
#define uccs_stage_expected(room, vain) ((void)(vain), expects)
#define uccs_am_try(index, id, payload, length, block) send(index, id, payload, length, block)
#define uccs_am_serve(wait) ((void)(wait), serve())
#define uccs_deferred_begin(stream) ((void)(stream), begun++, part)
#define uccs_deferred_end(which, fails) end_part(which, fails)
#define uccs_region_find(id, offset, bytes, at) find(id, offset, bytes, at)
#define uccs_change_apply(what, place, operand, old) change(what, place, operand, old)
#define uccs_atomic_apply_locked(op, here) apply(op, here)
#define move move_remote
#define begin begin_call
#include "uccs/rma/remote.c"
#undef move
#undef begin

static void answer(void)
{
    struct uccs_block *block = flying[0];
    struct uccs_am_token token = {.block = block};
    uccs_remote_arrived(&token, 0, 0, 0);
    CHECK(block->failed == (answer_status != UCCS_OK));
    memmove(flying, flying + 1, sizeof flying - sizeof *flying);
    flights--;
    if (block->landed)
        block->landed(block);
    if (block->request)
        uccs_request_finish(block->request, block->failed);
    free(block);
}

static const struct call *call_at(unsigned number)
{
    CHECK(number < flights && flying[number]->landed == landed);
    return (const struct call *)flying[number]->payload;
}

static char local_bytes[3 << 16];

static void begin(void)
{
    serves = tries = gets = puts_back = begun = ended = failed = 0;
    blocks_left = room_left = -1;
    answer_status = UCCS_OK;
    expects = answers = true;
    memset(bytes_there, 'o', sizeof bytes_there);
    memset(local_bytes, 'l', sizeof local_bytes);
}

static void land_all(void)
{
    while (flights)
        answer();
    CHECK(begun == ended);
}

/* --- Pieces */

static void pieces(void)
{
    static const struct {
        size_t length, pieces, last;
    } rows[] = {{0, 0, 0},         {1, 1, 1},         {PIECE - 1, 1, PIECE - 1},
                {PIECE, 1, PIECE}, {PIECE + 1, 2, 1}, {2 * PIECE, 2, PIECE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int puts = 0; puts < 2; puts++) {
            struct uccs_request request = {.pending = 1};
            const struct uccs_rma_later later = {.request = &request};
            begin();
            CHECK((puts ? uccs_remote_put(0, &the_memory, 10, local_bytes, rows[i].length, &later)
                        : uccs_remote_get(0, &the_memory, 10, local_bytes, rows[i].length, &later)) == UCCS_OK);
            CHECK(flights == rows[i].pieces && begun == flights && request.pending == 1 + flights && serves == 0);
            for (unsigned k = 0; k < flights; k++) {
                const struct call *call = call_at(k);
                CHECK(call->kind == (puts ? PUT : GET) && call->offset == 10 + k * PIECE && !call->wait && !call->done);
                CHECK(call->length == (k + 1 < flights ? PIECE : rows[i].last) && call->slot == 5 &&
                      call->generation == 7);
                CHECK(lengths[k] == sizeof *call + call->length && flying[k]->request == &request);
            }
            land_all();
            CHECK(request.pending == 1 && request.error == 0 && failed == 0);
            const char *changed = puts ? bytes_there + 10 : local_bytes, to = puts ? 'l' : 'o';
            for (size_t at = 0; at < rows[i].length; at++)
                CHECK(changed[at] == to);
            CHECK(changed[rows[i].length] != to && bytes_there[9] == 'o');
        }
}

/* The first piece alone may return without room; the later ones wait for it, for a block and for a message. */
static void first_and_later_pieces(void)
{
    for (int message = 0; message < 2; message++)
        for (int first = 0; first < 3; first++) { /* pieces that find room at once */
            struct uccs_request request = {.pending = 1}, local = {.pending = 1};
            const struct uccs_rma_later later = {.request = &request, .local = &local, .nowait = true};
            begin();
            *(message ? &room_left : &blocks_left) = first;
            const int status = uccs_remote_get(0, &the_memory, 0, local_bytes, 2 * PIECE, &later);
            CHECK(status == (first ? UCCS_OK : UCCS_AGAIN) && serves == (first == 1));
            if (!first) {
                CHECK(flights == 0 && request.pending == 1 && local.pending == 1 && !request.error && !local.error);
                CHECK(puts_back == (unsigned)message && begun == ended && failed == 0);
                continue;
            }
            CHECK(puts_back == 0);
            land_all();
            CHECK(request.pending == 1 && local.pending == 1);
        }
    static const struct uccs_change sum = {UCCS_INT64, UCCS_SUM, 2 * (PIECE / 24)};
    for (int first = 0; first < 2; first++) {
        const struct uccs_rma_later later = {.nowait = true};
        begin();
        room_left = first;
        CHECK(uccs_remote_change(0, &the_memory, 0, &sum, local_bytes, 0, &later) == (first ? UCCS_OK : UCCS_AGAIN));
        CHECK(serves == (unsigned)first);
        land_all();
    }
}

/* Who must wait and can hope for no block says so; it does not go on. */
static void no_blocks(void)
{
    const struct uccs_rma_later waits = {.nowait = false};
    begin();
    expects = false;
    blocks_left = 0;
    CHECK(uccs_remote_put(0, &the_memory, 0, local_bytes, 2 * PIECE, &waits) == UCCS_ERR_NO_MEMORY && gets == 1);
    CHECK(uccs_remote_put(0, &the_memory, 0, local_bytes, 8, 0) == UCCS_ERR_NO_MEMORY && gets == 2 && serves == 0);
    expects = true;
    CHECK(uccs_remote_put(0, &the_memory, 0, local_bytes, 8, &waits) == UCCS_OK && serves == 1 && gets == 4);
    land_all();
}

/* A call without a request returns when the owner has answered, with what it says. */
static void blocking(void)
{
    const struct uccs_atomic_op add = {.what = UCCS_ATOMIC_ADD, .size = 8, .operand = 4};
    uint64_t old = 1, word = 9;
    begin();
    memcpy(bytes_there + 8, &word, sizeof word);
    CHECK(uccs_remote_atomic(0, &the_memory, 8, &add, &old, 0) == UCCS_OK && old == 9 && serves == 1 && flights == 0);
    memcpy(&word, bytes_there + 8, sizeof word);
    CHECK(word == 13 && begun == 1 && ended == 1);
    CHECK(uccs_remote_get(0, &the_memory, 8, local_bytes, 2 * PIECE, 0) == UCCS_OK && serves == 3 && flights == 0);
    CHECK(uccs_remote_get(0, &the_memory, 0, local_bytes, 0, 0) == UCCS_OK && serves == 3);
    answer_status = UCCS_ERR_STALE;
    old = 1;
    memset(local_bytes, 'l', 16);
    CHECK(uccs_remote_atomic(0, &the_memory, 8, &add, &old, 0) == UCCS_ERR_STALE && old == 1);
    CHECK(uccs_remote_get(0, &the_memory, 8, local_bytes, 8, 0) == UCCS_ERR_STALE && local_bytes[0] == 'l');
    CHECK(uccs_remote_put(0, &the_memory, 8, local_bytes, 8, 0) == UCCS_ERR_STALE && failed == 0 && begun == ended);
}

/* A failure is told once: by the call, by a request, or else by the stream. */
static void who_is_told(void)
{
    for (unsigned row = 0; row < 4; row++) {
        struct uccs_request request = {.pending = 1}, local = {.pending = 1};
        const struct uccs_rma_later later = {.request = row & 1 ? &request : 0, .local = row & 2 ? &local : 0};
        begin();
        answer_status = UCCS_ERR_STALE;
        CHECK(uccs_remote_get(0, &the_memory, 0, local_bytes, 8, &later) == UCCS_OK);
        CHECK(request.pending == 1 + (row & 1) && local.pending == 1 + (row >> 1));
        land_all();
        CHECK(failed == (row == 0) && request.error == (row & 1) && local.error == row >> 1);
        CHECK(request.pending == 1 && local.pending == 1);
    }
}

/* --- Accumulates */

static void changes(void)
{
    const size_t most = PIECE / 3 / 8;
    static const uint8_t ways[] = {UCCS_SUM, UCCS_NO_OP};
    for (size_t n = most - 1; n <= most + 1; n++)
        for (int way = 0; way < 2; way++)
            for (int wants = 0; wants < 2; wants++) {
                const struct uccs_change what = {UCCS_INT64, ways[way], n};
                const bool operand = ways[way] != UCCS_NO_OP;
                begin();
                static char old[3 << 16];
                memset(old, 'x', sizeof old);
                CHECK(uccs_remote_change(0, &the_memory, 16, &what, operand ? local_bytes : 0, wants ? old : 0,
                                         &(struct uccs_rma_later){0}) == UCCS_OK);
                CHECK(flights == (n > most ? 2u : 1u) && call_at(0)->change.n == (n > most ? most : n));
                CHECK(call_at(0)->length == call_at(0)->change.n * (operand ? 16 : 8) && call_at(0)->offset == 16);
                CHECK(flights == 1 || (call_at(1)->offset == 16 + most * 8 && call_at(1)->change.n == 1));
                land_all();
                CHECK(changed_at == 16 + (n > most ? most * 8 : 0));
                CHECK(old[0] == (wants ? 'o' : 'x') && old[n * 8 - 1] == old[0] && old[n * 8] == 'x');
                CHECK(bytes_there[16] == (operand ? 'l' : 'o') && bytes_there[15 + n * 8] == bytes_there[16]);
                CHECK(bytes_there[15] == 'o' && bytes_there[16 + n * 8] == 'o');
            }
}

/* --- Attached ranges */

static char near_bytes[16];
static struct asked {
    bool put, kernel;
    size_t offset, bytes, at;
} asked[8];
static unsigned asks;
static bool kernel_reaches, described, of_this_life = true;
static uint64_t found_from[8];
static unsigned finds;
static int left_table;

static int find_piece(uint64_t start, size_t bytes, struct uccs_attached_piece *piece)
{
    found_from[finds++] = start;
    if (start >= 140)
        return UCCS_ERR_BOUNDS;
    piece->bytes = bytes < 16 ? bytes : 16; /* ranges of 16 bytes, the second one mapped */
    piece->near = start == 116 ? near_bytes : 0;
    return UCCS_OK;
}

static int ask(bool put, bool kernel, size_t offset, const char *at, size_t bytes)
{
    asked[asks++] = (struct asked){put, kernel, offset, bytes, (size_t)(at - local_bytes)};
    return UCCS_OK;
}

#define uccs_attached_find(table, owner, start, bytes, piece) find_piece(start, bytes, piece)
#define uccs_kernel_reaches(region) ((void)(region), kernel_reaches)
#define uccs_kernel_put(region, offset, at, bytes) ask(true, true, offset, at, bytes)
#define uccs_kernel_get(region, offset, at, bytes) ask(false, true, offset, at, bytes)
#define uccs_remote_put(stream, region, offset, at, bytes, later) \
    ((void)(stream), (void)(region), ask(true, false, offset, at, bytes))
#define uccs_remote_get(stream, region, offset, at, bytes, later) \
    ((void)(stream), (void)(region), ask(false, false, offset, at, bytes))
#define uccs_running() true
#define uccs_attached_create() ((struct uccs_attached *)(void *)&left_table)
#define uccs_attached_destroy(table) (CHECK((void *)(table) == &left_table), (void)destroyed++)
#define uccs_kernel_offer() ((void)kernel_calls++)
#define uccs_region_describe_dynamic(table) (described ? &the_memory : 0)
#define uccs_region_of_this_life(region) ((void)(region), of_this_life)
#define uccs_attached_add(table, address, length) ((void)(table), (int)(length))
#define uccs_attached_view(table, owner, offset, view) ((void)(view), (int)(offset))
#include "uccs/rma/dynamic.c"

static void ranges(void)
{
    for (int row = 0; row < 4; row++) {
        const bool put = row & 1;
        begin();
        asks = finds = 0;
        kernel_reaches = row & 2;
        memset(near_bytes, 'n', sizeof near_bytes);
        CHECK((put ? uccs_dynamic_put(0, &the_memory, 100, local_bytes, 40)
                   : uccs_dynamic_get(0, &the_memory, 100, local_bytes, 40)) == UCCS_OK);
        CHECK(finds == 3 && found_from[0] == 100 && found_from[1] == 116 && found_from[2] == 132 && asks == 2);
        for (unsigned i = 0; i < 2; i++)
            CHECK(asked[i].put == put && asked[i].kernel == kernel_reaches && asked[i].offset == 100 + 32 * i &&
                  asked[i].at == 32 * i && asked[i].bytes == (i ? 8 : 16));
        CHECK(near_bytes[0] == (put ? 'l' : 'n') && near_bytes[15] == near_bytes[0]);
        CHECK(local_bytes[15] == 'l' && local_bytes[16] == (put ? 'l' : 'n') && local_bytes[32] == 'l');
        finds = 0;
        CHECK(uccs_dynamic_put(0, &the_memory, 132, local_bytes, 40) == UCCS_ERR_BOUNDS && finds == 2);
    }
}

/* Nothing is left of a table whose object cannot be made; and a range may end where the address space does, not behind it. */
static void objects(void)
{
    uccs_memory_t made = 0;
    CHECK(uccs_memory_dynamic(0, &made) == UCCS_ERR_NO_MEMORY && destroyed == 1 && !made && kernel_calls == 1);
    described = true;
    CHECK(uccs_memory_dynamic(0, &made) == UCCS_OK && destroyed == 1 && made == &the_memory);
    void *last = (void *)(UINTPTR_MAX - 15);
    the_memory.own = the_memory.dynamic = true;
    CHECK(uccs_memory_attach(&the_memory, last, 15) == 15 &&
          uccs_memory_attach(&the_memory, last, 17) == UCCS_ERR_INVALID);
}

/* Only memory of this life and node can be viewed. */
static void views(void)
{
    static const uint32_t now = 7;
    struct uccs_view view;
    the_memory.now = &now;
    the_memory.attached = (struct uccs_attached *)(void *)&left_table;
    uccs_core.npes = uccs_core.pes = 4;
    CHECK(uccs_memory_view(&the_memory, 77, &view) == 77);
    uccs_core.pes = 3; /* its owner is no more of this node */
    CHECK(uccs_memory_view(&the_memory, 77, &view) == UCCS_ERR_INVALID);
    uccs_core.pes = 4;
    of_this_life = false;
    CHECK(uccs_memory_view(&the_memory, 77, &view) == UCCS_ERR_INVALID);
}

int main(void)
{
    pieces();
    first_and_later_pieces();
    no_blocks();
    blocking();
    who_is_told();
    changes();
    ranges();
    objects();
    views();
    return 0;
}
