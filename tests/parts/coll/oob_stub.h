/* What oob_queue.c sends goes nowhere, and what comes, the test makes. */
#ifndef TESTS_TRUST_OOB_STUB_H
#define TESTS_TRUST_OOB_STUB_H

#include "parts/logged.h"

#include <stdint.h>

#define log_line test_log
#define rte_abort test_abort
#define uccs_am_try test_try
#define uccs_am_insist test_insist
#define uccs_am_hold test_hold
#define uccs_am_done test_done
#define uccs_am_source test_source
#define uccs_am_serve test_serve
#define uccs_stage_get test_get
#define uccs_stage_expected test_expected
#include "uccs/coll/oob.c"

enum { NPES = 4, ME = 1, TAG = 6 };

static int refuses; /* so many tries find no room */
static int full;    /* so many looks find no block */
static int expects; /* so many looks are told that one can come */
static int serves;
static size_t blocks_out;
static struct uccs_block *last_block; /* sent */
static size_t last_bytes;
static uint32_t last_index;
static void (*while_served)(void);
static uint64_t number_of[NPES]; /* of the next message that comes */
static struct uccs_group_impl other = {.number = 9, .size = NPES, .rank = ME};

bool test_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(id == UCCS_INNER_OOB && !payload && block && !owned_held && length + sizeof *block == owned_bytes(block));
    if (refuses > 0) {
        refuses--;
        return false;
    }
    last_block = block;
    last_bytes = length;
    last_index = index;
    return true;
}

void test_insist(const struct uccs_am_token *token, size_t length, size_t least, const uint32_t *source)
{
    CHECK(least == sizeof(struct head) && length >= least && *source == token->message->source);
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
    CHECK(room == UCCS_ROOM_PROGRAM);
    if (full > 0) {
        full--;
        return 0;
    }
    struct uccs_block *block = malloc(sizeof *block + length);
    blocks_out++;
    return block;
}

bool test_expected(enum uccs_room room, int *vain)
{
    CHECK(room == UCCS_ROOM_PROGRAM && *vain >= 0);
    return expects-- > 0;
}

void test_done(struct uccs_block *block)
{
    blocks_out--;
    free(block);
}

void test_serve(struct uccs_wait *wait)
{
    (void)wait;
    CHECK(++serves < 100 && !owned_held);
    if (while_served)
        while_served();
}

static uccs_rte_ec_t ec(int pe)
{
    return (uccs_rte_ec_t)(uintptr_t)(pe + 1);
}

static void comes_as(int source, uint64_t number, int tag, uint64_t group, const char *text, bool staged)
{
    const struct head head = {.group = group, .tag = tag, .source = source, .number = number};
    const size_t bytes = strlen(text), length = sizeof head + bytes;
    struct uccs_block *block = staged ? malloc(sizeof *block + length) : 0;
    const struct uccs_message message = {.source = (uint32_t)source};
    struct uccs_am_token token = {.message = &message, .block = block};
    char copy[sizeof head + 64], *to = staged ? block->payload : copy;
    blocks_out += staged;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, text, bytes);
    uccs_oob_arrived(&token, to, length, 0);
    memset(copy, 'x', sizeof copy);
    CHECK(!owned_held);
}

static void comes(int source, int tag, const char *text)
{
    const uint64_t number = number_of[source]++;
    comes_as(source, number, tag, 0, text, number % 2);
}

/* Takes a text with the tag; "" when there is none. */
static const char *taken(int source, int tag, uint64_t group)
{
    static char text[64];
    const struct head wanted = {.group = group, .tag = tag, .source = source};
    struct arrival *found = take(&wanted);
    CHECK(!owned_held);
    text[0] = 0;
    if (!found)
        return text;
    CHECK(found->head.tag == tag && found->head.group == group && (source == ANY || found->head.source == source));
    CHECK(owned_bytes(found) == sizeof *found + (found->block ? 0 : found->bytes));
    memcpy(text, found->data, found->bytes);
    text[found->bytes] = 0;
    drop(found);
    return text;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* --- Callbacks */

static char called[200]; /* "source tag bytes text argument;" of each */

static void note(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument)
{
    const size_t at = strlen(called);
    CHECK(status == UCCS_RTE_SUCCESS && !owned_held);
    snprintf(called + at, sizeof called - at, "%d %d %.*s %s;", (int)(uintptr_t)peer - 1, tag, (int)bytes,
             data ? (const char *)data : "", (const char *)argument);
}

/* Runs the callbacks that are due, and compares. */
static bool calls(const char *text, int count)
{
    called[0] = 0;
    const int delivered = uccs_oob_deliver();
    if (!is(called, text))
        fprintf(stderr, "%s against %s\n", called, text);
    return delivered == count && is(called, text);
}

static int posts(int source, int tag, int flags, const char *argument)
{
    return uccs_rte_recv_nbcb(source == ANY ? UCCS_RTE_ANYSOURCE : ec(source), tag, flags, UCCS_GROUP_WORLD, note,
                              (void *)(uintptr_t)argument);
}

#endif
