/* Two PEs of a node and their messages in one process: the test becomes one or the other. Memory, bells, clocks, other nodes and
 * what operations end with are the test's. */
#ifndef TESTS_TRUST_NEAR_STUB_H
#define TESTS_TRUST_NEAR_STUB_H

#include "parts/logged.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

#define log_line test_log
#define rte_abort test_abort
#define watch_fail owned_fail
static int test_sched_yield(void);
#define sched_yield test_sched_yield
#define uccs_memory_region test_region
#define uccs_region_program_bytes test_program_bytes
#define uccs_stage_get test_get
#define uccs_stage_put test_put
#define uccs_stage_sent test_sent
#define uccs_stage_expected test_expected
#define uccs_stage_collect test_collect
#define uccs_ending_begin test_begin
#define uccs_ending_cancel test_cancel
#define uccs_counter_usable test_usable
#define uccs_counter_arrive_here test_counted
#define uccs_stream_lanes test_lanes
#define uccs_stream_order test_order
#define uccs_deferred_done test_deferred_done
#define uccs_bell_ring test_ring
#define uccs_late_now test_late_now
#define uccs_late_handler test_late_handler
#define uccs_turns_take test_turns_take
#define uccs_turns_show test_turns_show
#define uccs_far_am_try test_far_try
#define uccs_far_am_take test_far_take
#define uccs_far_am_take_any test_far_take_any
#define uccs_far_am_handled test_far_handled
#define uccs_far_am_tell test_far_tell
#define uccs_far_am_done test_far_done
#define uccs_far_am_debtor test_far_debtor
#define uccs_far_am_waiting test_far_waiting
#include "uccs/core/wait.h" /* before its uccs_yield is the test's */
#define uccs_yield test_wait
static uint64_t test_wait(struct uccs_wait *wait);
#include "uccs/am/send.c"
#include "uccs/am/cell.c"
#include "uccs/am/poll.c"
#include "uccs/am/park.c"
#include "uccs/am/drop.c"
#include "uccs/am/block.c"
#include "uccs/am/keep.c"
#include "uccs/am/publish.c"
#include "uccs/am/serve.c"

enum { NPES = 4, NEAR = 2, BLOCKS = 2048, ID = 5, USER_REPLY = UCCS_RING_REPLY | UCCS_RING_USER };

#define HIGH ((size_t)5 << 30)
#define REGION ((size_t)1 << 20)

static char *regions[NEAR]; /* the blocks lie behind HIGH */
static size_t region_used[NEAR], program_bytes = 1 << 16;
static struct uccs_block *blocks_sent[BLOCKS];
static size_t blocks_out, blocks_under_way;
static int full, expects; /* so many looks find no block, and so many are told that one can come */
static enum uccs_room last_room;
static int begin_status, begun, cancelled;
static struct uccs_request ending;
static bool deferred = false, is_late;
static int ordered, rung[NEAR], yields, sched_yields, shown, turns;
static uccs_counter counted;
static int64_t counted_weight;
static void (*while_waits)(void);
uint32_t test_far_waiting;
static bool far_has_room;
static struct uccs_message far_head;
static struct uccs_far_lanes *far_on;
static int far_pe, far_debtor = -1;
static struct uccs_far_packet *far_packets[64][OWN_RINGS];
static int far_handled, far_held, far_told, far_done;
static struct uccs_context world = {.attr = {.id = 3}}; /* of both PEs */
static struct uccs_endpoint to_near, to_far, to_self;
static struct uccs_stream stream;

static int test_sched_yield(void)
{
    return 0 * sched_yields++;
}

static uint64_t test_wait(struct uccs_wait *wait)
{
    (void)wait;
    CHECK(++yields < 10000);
    if (while_waits)
        while_waits();
    return 0;
}

char *test_region(uint32_t index, size_t *bytes)
{
    CHECK(index < NEAR);
    *bytes = HIGH + REGION;
    return regions[index];
}

size_t test_program_bytes(void)
{
    return program_bytes;
}

struct uccs_block *test_get(enum uccs_room room, size_t length)
{
    const uint32_t mine = uccs_core.index;
    const size_t bytes = (sizeof(struct uccs_block) + length + 127) & ~(size_t)63; /* and a guard */
    last_room = room;
    if (full > 0) {
        full--;
        return 0;
    }
    if (blocks_out == 0)
        region_used[0] = region_used[1] = 0;
    struct uccs_block *block = (struct uccs_block *)(regions[mine] + HIGH + region_used[mine]);
    region_used[mine] += bytes;
    CHECK(region_used[mine] <= REGION && blocks_out < BLOCKS);
    memset((char *)block, OWNED_NOISE, bytes);
    *block = (struct uccs_block){.capacity = (uint32_t)length};
    blocks_out++;
    return block;
}

void test_put(struct uccs_block *block)
{
    CHECK((unsigned char)block->payload[block->capacity] == OWNED_NOISE); /* nothing lies behind it */
    blocks_out--;
}

void test_sent(struct uccs_block *block)
{
    blocks_sent[blocks_under_way++] = block;
}

bool test_expected(enum uccs_room room, int *vain)
{
    CHECK(room == last_room && *vain >= 0);
    return expects-- > 0;
}

int test_collect(void)
{
    int found = 0;
    for (size_t i = 0; i < blocks_under_way;)
        if (blocks_sent[i]->done) {
            struct uccs_block *block = blocks_sent[i];
            blocks_sent[i] = blocks_sent[--blocks_under_way];
            if (block->landed)
                block->landed(block);
            test_put(block);
            found++;
        } else {
            i++;
        }
    return found;
}

int test_begin(const struct uccs_op *op, struct uccs_request **request)
{
    CHECK(op != 0);
    begun++;
    if (begin_status == UCCS_OK)
        *request = &ending;
    return begin_status;
}

void test_cancel(const struct uccs_op *op, struct uccs_request *request, uccs_request_handle before)
{
    CHECK(op && request == &ending && (!op->request || before == UCCS_REQUEST_CLEAN));
    cancelled++;
}

bool test_usable(uccs_counter counter, int pe)
{
    CHECK(pe == uccs_pe_at(to_near.index));
    return counter != 66;
}

void test_counted(uccs_counter counter, int64_t weight)
{
    counted = counter;
    counted_weight = weight;
}

struct uccs_far_lanes *test_lanes(struct uccs_stream *of)
{
    CHECK(of == &stream || of == &world.stream);
    return (struct uccs_far_lanes *)of;
}

void test_order(struct uccs_stream *of)
{
    CHECK(of == &stream);
    ordered++;
}

bool test_deferred_done(const struct uccs_stream *of)
{
    CHECK(of == &stream);
    return !deferred;
}

void test_ring(struct uccs_own *own)
{
    rung[own == uccs_own_of(1)]++;
}

bool test_late_now(struct uccs_late *late)
{
    (void)late;
    return is_late;
}

void test_late_handler(uint32_t source, uint32_t id, uint32_t context)
{
    snprintf(logged, sizeof logged, "late %u %u %u", source, id, context);
}

bool test_turns_take(int handled)
{
    turns += handled;
    return false;
}

void test_turns_show(void)
{
    shown++;
}

bool test_far_try(struct uccs_far_lanes *on, int pe, uint32_t context, uint32_t which, const struct uccs_message *head,
                  const void *payload, struct uccs_block *block)
{
    (void)payload, (void)block, (void)which, (void)context;
    far_on = on;
    far_pe = pe;
    memcpy(&far_head, head, offsetof(struct uccs_message, payload));
    return far_has_room;
}

struct uccs_far_packet *test_far_take_any(uint32_t context, uint32_t which)
{
    struct uccs_far_packet *packet = far_packets[context][which];
    if (packet)
        far_packets[context][which] = packet->next;
    return packet;
}

struct uccs_far_packet *test_far_take(struct uccs_context *context, uint32_t which)
{
    return test_far_take_any(context->attr.id, which);
}

void test_far_handled(struct uccs_far_tally *tally, const struct uccs_message *message, struct uccs_far_packet *packet)
{
    CHECK(message->source == NEAR);
    tally->count++;
    far_handled++;
    far_held += !packet;
}

void test_far_tell(struct uccs_far_tally *tally)
{
    far_told += (int)tally->count;
    tally->count = 0;
}

void test_far_done(struct uccs_block *block)
{
    CHECK(block->kept == UCCS_KEPT_PACKET);
    far_done++;
}

int test_far_debtor(uint32_t context)
{
    CHECK(context < OWN_CONTEXTS);
    return far_debtor;
}

static int polls_of_others;
static int poll_others(void)
{
    polls_of_others++;
    return 0;
}

/* --- The two PEs */

static void become(int pe)
{
    uccs_core.me = pe;
    uccs_core.index = (uint32_t)pe;
}

static char ran[4000]; /* a letter for each handler that has run: its message's first byte, or '-' */

static void note(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const size_t at = strlen(ran);
    CHECK(uccs_handlers_running == 1 && uccs_pollers_barred == 1 && at + 1 < sizeof ran && !owned_held);
    CHECK(uccs_am_source(token) == (int)token->message->source && uccs_am_context(token) == argument);
    ran[at] = length ? *(const char *)payload : '-';
}

/* Runs what has arrived for PE 1, and compares the letters. */
static bool runs(const char *letters)
{
    ran[0] = 0;
    memset(ran, 0, sizeof ran);
    become(1);
    uccs_am_drain();
    become(0);
    if (strcmp(ran, letters) != 0)
        fprintf(stderr, "\"%s\" against \"%s\"\n", ran, letters);
    return strcmp(ran, letters) == 0;
}

static void clear(void)
{
    (void)test_collect();
    CHECK(blocks_out == 0 && blocks_under_way == 0 && owned_count == 0 && owned_held == 0);
    logged[0] = 0;
    begun = cancelled = ordered = yields = rung[0] = rung[1] = 0;
    memset(ran, 0, sizeof ran);
}

static int sends(int id, enum uccs_am_class cls, const char *text, size_t length, const struct uccs_op *op)
{
    return uccs_am_send(&to_near, id, cls, text, length, op);
}

static void handles(int id, enum uccs_am_class cls, uccs_am_handler handler)
{
    uccs_handler_write(&world.handlers[id], cls, handler, &world);
}

static char *map(size_t bytes)
{
    char *start = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(start != MAP_FAILED);
    return start;
}

static void open_all(void)
{
    uccs_core.npes = NPES;
    uccs_core.pes = NEAR;
    uccs_core.own = map(NEAR * NODE_OWN_BYTES);
    for (int i = 0; i < NEAR; i++)
        regions[i] = map(HIGH + REGION);
    to_near = (struct uccs_endpoint){.context = &world, .stream = &stream, .pe = 1, .index = 1};
    to_far = (struct uccs_endpoint){.context = &world, .stream = &stream, .pe = 3, .index = 3};
    to_self = (struct uccs_endpoint){.context = &world, .stream = &stream, .pe = 0, .index = 0};
    become(1);
    uccs_own_mine()->asleep = 1;
    uccs_am_publish(&world);
    CHECK(rung[1] == 1); /* messages may wait already */
    uccs_own_mine()->asleep = 0;
    become(0);
    uccs_own_open(0, world.attr.id);
    handles(ID, UCCS_AM_USER, note);
    handles(ID + 1, UCCS_AM_NETWORK_PROTOCOL, note);
}

#endif
