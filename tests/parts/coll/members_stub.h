/* The members of groups.c's groups in one process, and the messages between them, which wait for room and come in any order. */
#ifndef TESTS_TRUST_MEMBERS_STUB_H
#define TESTS_TRUST_MEMBERS_STUB_H

#include "parts/logged.h"

#include <sys/mman.h>

#define log_line test_log
#define rte_abort test_abort
#define uccs_am_try test_try
#define uccs_am_insist test_insist
#define uccs_am_hold test_hold
#define uccs_am_done test_done
#define uccs_am_source test_source
#define uccs_am_serve test_serve
#define uccs_am_poll_network test_poll_network
#define uccs_stage_get test_get
#define uccs_stage_put test_put
#define uccs_bell_ring test_ring
#define uccs_work_add test_add
#define uccs_request_materialise test_materialise
#define uccs_request_finish test_finish
#include "uccs/core/wait.h" /* before its uccs_yield is the test's */
#define uccs_yield test_wait
static uint64_t test_wait(struct uccs_wait *wait);
#include "uccs/coll/ranks.c"
#include "uccs/coll/letter.c"
#include "uccs/coll/schedule.c"
#undef PIECE
#include "uccs/coll/collective.c"

enum { MOST = 9, LETTERS = 512, SCHEDULE_PIECE = LETTER_PIECE - sizeof(struct uccs_letter_key) };

static struct {
    struct uccs_message head;
    struct uccs_block *block;
    size_t length;
    char copy[UCCS_SHORT_MAX];
} under_way[LETTERS];
static size_t under_way_count, staged_count, blocks_out, sent; /* sent: letters of the group */
static bool keeps;                                             /* letters stay under way */
static int refuses;                                            /* one of so many tries finds no room; 0: none */
static bool library_is_full;                                   /* its room */
static uint64_t seed = 1;
static int rings, serves, yields, network_polls, network_finds;
static struct uccs_work *works[MOST];
static struct uccs_request requests[MOST];
static bool finished[MOST];
static int member;  /* who calls */
static int members; /* of the group */
static struct uccs_group_impl groups[MOST];
static struct uccs_told told; /* by the last wait */

static bool refused(void)
{
    return refuses && next_random(&seed) % (uint64_t)refuses == 0;
}

static void deliver(size_t at)
{
    struct uccs_am_token token = {.message = &under_way[at].head, .block = under_way[at].block};
    const void *payload = token.block ? token.block->payload : under_way[at].copy;
    uccs_letter_arrived(&token, payload, under_way[at].length, 0);
    under_way[at] = under_way[--under_way_count];
}

static void deliver_some(void)
{
    while (under_way_count && !keeps && next_random(&seed) % 4)
        deliver(next_random(&seed) % under_way_count);
}

bool test_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(id == UCCS_INNER_LETTER && index <= MOST && under_way_count < LETTERS);
    CHECK(block ? !payload : length <= UCCS_SHORT_MAX);
    if (refused())
        return false;
    staged_count += block != 0;
    sent++;
    under_way[under_way_count].head = (struct uccs_message){.source = (uint32_t)uccs_core.me};
    under_way[under_way_count].block = block;
    under_way[under_way_count].length = length;
    if (!block)
        memcpy(under_way[under_way_count].copy, payload, length);
    under_way_count++;
    deliver_some();
    return true;
}

void test_insist(const struct uccs_am_token *token, size_t length, size_t least, const uint32_t *source)
{
    CHECK(least == sizeof(struct uccs_letter_key) && length >= least && *source == token->message->source);
}

struct uccs_block *test_hold(struct uccs_am_token *token)
{
    return token->block;
}

int test_source(uccs_am_token_t token)
{
    return (int)token->message->source;
}

struct uccs_block *test_get(enum uccs_room room, size_t length)
{
    if (refused() || (library_is_full && room == UCCS_ROOM_LIBRARY))
        return 0;
    struct uccs_block *block = malloc(sizeof *block + length);
    *block = (struct uccs_block){.room = room};
    blocks_out++;
    return block;
}

void test_put(struct uccs_block *block)
{
    blocks_out--;
    free(block);
}

void test_done(struct uccs_block *block)
{
    if (block->landed)
        block->landed(block);
    test_put(block);
}

void test_ring(struct uccs_own *own)
{
    CHECK(own == uccs_own_of(1));
    rings++;
}

void test_add(struct uccs_work *work)
{
    CHECK(!works[member]);
    works[member] = work;
}

struct uccs_request *test_materialise(uccs_request_handle *handle)
{
    if (owned_left == 0) {
        owned_left = -1;
        return 0;
    }
    return *handle = &requests[member];
}

void test_finish(struct uccs_request *request, bool error)
{
    CHECK(!error && request == &requests[member] && request->pending == 1);
    request->pending = 0;
}

static void become(int who)
{
    member = who;
    uccs_core.me = uccs_ranks_world(&groups[who], who);
}

/* Advances every member's work once, this one's last. */
static void advance_all(void)
{
    const int caller = member;
    for (int i = 1; i <= members; i++) {
        become((caller + i) % members);
        struct uccs_work *work = works[member];
        if (work && work->advance(work)) {
            works[member] = 0;
            finished[member] = true;
        }
    }
    become(caller);
    deliver_some();
}

static void look_at(const struct uccs_wait *wait)
{
    CHECK(wait->on.about == UCCS_ABOUT_TOLD);
    told = (struct uccs_told){0};
    ((void (*)(const void *, struct uccs_told *))(uintptr_t)wait->on.number)((const void *)(uintptr_t)wait->on.object,
                                                                             &told);
}

void test_serve(struct uccs_wait *wait)
{
    look_at(wait);
    CHECK(++serves < 100000);
    advance_all();
}

static uint64_t test_wait(struct uccs_wait *wait)
{
    look_at(wait);
    yields++;
    advance_all();
    return 0;
}

int test_poll_network(void)
{
    network_polls++;
    CHECK(network_polls < 100000);
    return network_finds-- > 0;
}

/* Makes a group of so many; `world`: where they are, or null. */
static void make_groups(int size, const int *world, uint64_t sequence)
{
    members = size;
    sent = 0;
    for (int rank = 0; rank < size; rank++) {
        groups[rank] = (struct uccs_group_impl){.number = 77,
                                                .sequence = sequence,
                                                .users = 1,
                                                .rank = rank,
                                                .size = size,
                                                .world = world};
        requests[rank] = (struct uccs_request){0};
        finished[rank] = false;
        CHECK(!works[rank]);
    }
    become(0);
}

/* All members come to the end of what they have started, and leave nothing behind. Returns how many letters that took. */
static size_t finish_all(void)
{
    int left = members;
    for (int round = 0; left; round++) {
        CHECK(round < 100000); /* it ends */
        become((int)(next_random(&seed) % (uint64_t)members));
        advance_all();
        left = 0;
        for (int rank = 0; rank < members; rank++)
            left += !finished[rank];
    }
    for (int rank = 0; rank < members; rank++)
        CHECK(groups[rank].users == 1 && requests[rank].pending == 0);
    CHECK(under_way_count == 0 && blocks_out == 0 && owned_held == 0);
    return sent;
}

#endif
