/* Payloads that come into a place of the program's, or to a handler, by each way: with the announcement, from this process, by the
 * kernel, in pieces that the sender brings, from another node; and announcements that are cut off. */
#include "announced_stub.h"

#include "uccs/am/place.c"
#include "uccs/am/keep.c"

static _Alignas(64) char dest[sizeof payload + 1];
static void *place_of; /* what the handler answers */
static int place_status, calls, done_calls, done_status;
static size_t told_header, told_length;
static bool wants_done;
static struct uccs_am_token *current;
static struct uccs_block *current_block;
static char message_bytes[UCCS_MEDIUM_MAX + 64];

static void done(void *argument, int status)
{
    CHECK(argument == &done_calls);
    done_calls++;
    done_status = status;
}

static int place(uccs_am_token_t token, const void *head, size_t head_bytes, size_t length, void **to,
                 uccs_completion *when, void **argument, void *registered)
{
    uccs_payload_t kept;
    CHECK(registered == &place_of && !*to && !*when && !*argument && token == current);
    CHECK(uccs_am_keep(token, &kept) == UCCS_ERR_STATE); /* it has no payload yet */
    CHECK(memcmp(head, header, head_bytes) == 0);
    calls++;
    told_header = head_bytes;
    told_length = length;
    *to = place_of;
    if (wants_done) {
        *when = done;
        *argument = &done_calls;
    }
    return place_status;
}

/* An announcement comes from that PE. Returns the token's outcome. */
static int comes(int from, const struct uccs_announce *announce, size_t rest, bool with_block)
{
    struct uccs_block block = {0}, *mine = malloc(sizeof *mine);
    *mine = block;
    const struct uccs_message message = {.source = (uint32_t)from};
    struct uccs_am_token token = {.context = &world, .message = &message, .block = with_block ? mine : 0};
    const size_t header_bytes = announce->header_bytes < 100 ? announce->header_bytes : 0;
    current = &token;
    current_block = mine;
    memcpy(message_bytes, announce, sizeof *announce);
    memcpy(message_bytes + sizeof *announce, header, header_bytes);
    memcpy(message_bytes + sizeof *announce + header_bytes, payload, rest > header_bytes ? rest - header_bytes : 0);
    calls = done_calls = 0;
    done_status = 99;
    memset(dest, 'd', sizeof dest);
    uccs_place_arrived(&token, message_bytes, sizeof *announce + rest, &world.places[SLOT]);
    return token.outcome;
}

static bool brought(size_t bytes)
{
    return memcmp(dest, payload, bytes) == 0 && dest[bytes] == 'd';
}

static void ends(bool failed)
{
    CHECK(current_block->failed == failed);
    free(current_block);
    current_block = 0;
}

static void test_registration(void)
{
    uccs_own_of(ME)->asleep = 1;
    CHECK(uccs_am_register(&world, SLOT, UCCS_AM_USER, uccs_long_arrived, &world) == UCCS_OK && rings == 1);
    CHECK(world.handlers[SLOT].handler == uccs_long_arrived && world.handlers[SLOT].argument == &world);
    CHECK(world.handlers[UCCS_AM_LONG + SLOT].argument == &world.handlers[SLOT] &&
          world.handlers[SLOT].cls == UCCS_AM_USER);
    CHECK(uccs_am_register_place(&world, SLOT, UCCS_AM_USER, place, &place_of) == UCCS_OK && rings == 2);
    CHECK(world.handlers[UCCS_AM_PLACE + SLOT].handler == uccs_place_arrived &&
          world.places[SLOT].argument == &place_of);
    CHECK(world.handlers[UCCS_AM_PLACE + SLOT].argument == &world.places[SLOT]);
    uccs_own_of(ME)->asleep = 0;
    CHECK(uccs_am_register(&world, 0, UCCS_AM_NETWORK_PROTOCOL, uccs_long_arrived, 0) == UCCS_OK);
    CHECK(uccs_am_register(&world, UCCS_AM_HANDLERS - 1, UCCS_AM_USER, uccs_long_arrived, 0) == UCCS_OK);
    CHECK(uccs_am_register(0, 1, UCCS_AM_USER, uccs_long_arrived, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register(&world, -1, UCCS_AM_USER, uccs_long_arrived, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register(&world, UCCS_AM_HANDLERS, UCCS_AM_USER, uccs_long_arrived, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register(&world, 1, (enum uccs_am_class)2, uccs_long_arrived, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register(&world, 1, UCCS_AM_USER, 0, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register_place(0, 1, UCCS_AM_USER, place, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register_place(&world, -1, UCCS_AM_USER, place, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register_place(&world, UCCS_AM_HANDLERS, UCCS_AM_USER, place, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register_place(&world, 1, (enum uccs_am_class)2, place, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_register_place(&world, 1, UCCS_AM_USER, 0, 0) == UCCS_ERR_INVALID);
    CHECK(!world.handlers[1].handler && !world.handlers[UCCS_AM_PLACE + 1].handler && !world.places[1].handler);
}

static void refused(struct uccs_announce announce, size_t rest, bool with_block)
{
    OWNED_FAILS((void)comes(NEAR, &announce, rest, with_block), "that is cut off");
    CHECK(calls == 0);
    free(current_block);
}

/* An announcement and what follows it must be as long as it says. */
static void test_cut(void)
{
    const struct uccs_announce eager = {.length = 20, .header_bytes = 10, .eager = 1},
                               lent = {.length = 20, .header_bytes = 10};
    wants_done = false;
    place_of = dest;
    CHECK(comes(NEAR, &eager, 30, false) == UCCS_AM_HANDLED && calls == 1 && brought(20));
    ends(false);
    refused(eager, 29, true), refused(eager, 31, true), refused(eager, 9, true), refused(eager, 0, true);
    refused(lent, 11, true), refused(lent, 9, true), refused(lent, 10, false);
    const struct uccs_message message = {.source = NEAR};
    struct uccs_am_token token = {.message = &message};
    OWNED_FAILS((void)read_announce(&token, message_bytes, sizeof eager - 1),
                "announces 0 bytes by a message of 23 that is cut off");
    struct uccs_announce longest = {.length = PTRDIFF_MAX - sizeof(struct uccs_whole)};
    place_status = UCCS_ERR_INVALID;
    CHECK(comes(NEAR, &longest, 0, true) == UCCS_AM_HANDLED && told_length == longest.length);
    ends(true);
    place_status = UCCS_OK;
    longest.length++;
    refused(longest, 0, true);
    const struct uccs_announce none = {.eager = 1};
    CHECK(comes(NEAR, &none, 0, false) == UCCS_AM_HANDLED && calls == 1 && told_header == 0 && told_length == 0);
    ends(false);
}

/* A payload comes by each way: with its announcement, from this process, by the kernel. */
static void test_ways(void)
{
    wants_done = true;
    for (int way = 0; way < 3; way++) {
        const struct uccs_announce announce = {.length = 300,
                                               .at = (uintptr_t)payload,
                                               .header_bytes = 4,
                                               .eager = way == 0};
        const int from = way == 1 ? ME : NEAR;
        const size_t rest = 4 + (way ? 0 : 300);
        kernel_reaches = true;
        place_of = dest;
        CHECK(comes(from, &announce, rest, true) == UCCS_AM_HANDLED && told_header == 4 && told_length == 300);
        CHECK(brought(300) && done_calls == 1 && done_status == UCCS_OK && kernel_gets == (way == 2));
        ends(false);
        place_of = 0; /* the program does not want it */
        CHECK(comes(from, &announce, rest, true) == UCCS_AM_HANDLED && done_calls == 1 && done_status == UCCS_OK);
        CHECK(kernel_gets == (way == 2));
        ends(false);
        place_of = dest;
        place_status = UCCS_ERR_TOO_LARGE; /* the program refuses it */
        CHECK(comes(from, &announce, rest, true) == UCCS_AM_HANDLED && done_calls == 0 && brought(0));
        ends(true);
        place_status = UCCS_OK;
        kernel_gets = 0;
    }
    const struct uccs_announce announce = {.length = 300, .at = (uintptr_t)payload}, none = {.at = 1};
    kernel_status = UCCS_ERR_BOUNDS;
    CHECK(comes(NEAR, &announce, 0, true) == UCCS_AM_HANDLED && done_calls == 1 && done_status == UCCS_ERR_FAILED);
    ends(true);
    wants_done = false;
    CHECK(comes(NEAR, &announce, 0, true) == UCCS_AM_HANDLED && done_calls == 0);
    ends(true);
    kernel_status = UCCS_OK;
    CHECK(comes(NEAR, &none, 0, true) == UCCS_AM_HANDLED && brought(0));
    ends(false);
    const struct uccs_announce eager = {.eager = 1};
    place_status = UCCS_ERR_INVALID; /* without a block nobody waits */
    CHECK(comes(NEAR, &eager, 0, false) == UCCS_AM_HANDLED);
    ends(false);
    place_status = UCCS_OK;
    clear();
}

/* From another node it comes later; then the message ends. */
static void test_far_ways(void)
{
    const struct uccs_announce announce = {.length = 300, .at = (uintptr_t)payload};
    for (int i = 0; i < 4; i++) {
        const bool fails = i & 1;
        wants_done = i & 2;
        object = (struct uccs_request){0};
        CHECK(comes(FAR, &announce, 0, true) == UCCS_AM_PENDING && done_calls == 0 && far_gets == 1 && far_ended == 0);
        CHECK(freed == 1 && object.then && brought(300));
        object.then(object.argument, fails);
        CHECK(far_ended == 1 && done_calls == wants_done &&
              (!wants_done || done_status == (fails ? UCCS_ERR_FAILED : UCCS_OK)));
        ends(fails);
        clear();
    }
    wants_done = true;
    for (int i = 0; i < 2; i++) { /* no memory for the one or the other */
        owned_left = i ? -1 : 1;
        no_requests = i;
        CHECK(comes(FAR, &announce, 0, true) == UCCS_AM_HANDLED && done_calls == 1 && done_status == UCCS_ERR_FAILED);
        ends(true);
    }
    no_requests = false;
    const struct uccs_announce eager = {.length = 30, .eager = 1};
    CHECK(comes(FAR, &eager, 30, true) == UCCS_AM_HANDLED && brought(30) && done_calls == 1 && far_gets == 0);
    ends(false);
    clear();
}

/* --- Pieces */

/* The sender answers what it was asked for. */
static void answer(void)
{
    while (asked_count) {
        struct uccs_block *block = asked[--asked_count];
        struct uccs_am_token token = {.block = block};
        CHECK(block->landed == landed);
        uccs_pull_arrived(&token, 0, 0, 0);
        block->landed(block);
        free(block);
    }
}

static void test_pieces(void)
{
    static const size_t sizes[] = {1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 7};
    CHECK(sizeof(struct piece) + PIECE == 65536);
    kernel_reaches = false;
    wants_done = true;
    place_of = dest;
    while_served = answer;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct uccs_announce announce = {.length = sizes[i], .at = (uintptr_t)payload};
        serves = 0;
        refuses = full = expects = (int)i;
        CHECK(comes(NEAR, &announce, 0, true) == UCCS_AM_HANDLED && done_status == UCCS_OK && brought(sizes[i]));
        CHECK(serves == 1 + 2 * (int)i && kernel_gets == 0);
        ends(false);
    }
    const struct uccs_announce announce = {.length = 2 * PIECE, .at = (uintptr_t)payload};
    full = 0, expects = 0;
    full = 1;
    serves = 0;
    CHECK(comes(NEAR, &announce, 0, true) == UCCS_AM_HANDLED && done_status == UCCS_ERR_FAILED && brought(0) &&
          serves == 0);
    ends(true);
    full = 0;
    while_served = 0;
    clear();
}

/* --- Long messages */

static const char *long_bytes;
static size_t long_length;
static uccs_payload_t long_kept;
static bool keeps;

static void on_long(uccs_am_token_t token, const void *bytes, size_t length, void *argument)
{
    CHECK(argument == &long_kept && token->whole->payload == bytes && token->whole->bytes == length);
    long_bytes = bytes;
    long_length = length;
    calls++;
    CHECK(memcmp(bytes, payload, length) == 0);
    if (keeps)
        CHECK(uccs_am_keep(token, &long_kept) == UCCS_OK);
}

static void comes_long(int from)
{
    const struct uccs_announce announce = {.length = 50000, .at = (uintptr_t)payload};
    struct uccs_block block = {0};
    const struct uccs_message message = {.source = (uint32_t)from};
    struct uccs_am_token token = {.context = &world, .message = &message, .block = &block};
    calls = 0;
    logged[0] = 0;
    uccs_long_arrived(&token, &announce, sizeof announce, &world.handlers[SLOT]);
    CHECK(block.failed == !calls && (logged[0] == 0) == calls && token.outcome == UCCS_AM_HANDLED);
}

static void test_long(void)
{
    CHECK(uccs_am_register(&world, SLOT, UCCS_AM_USER, on_long, &long_kept) == UCCS_OK);
    kernel_reaches = true;
    for (int from = 0; from <= FAR; from += from ? 2 : 1) {
        keeps = false;
        comes_long(from);
        CHECK(calls == 1 && long_length == 50000 && owned_count == 0);
        keeps = true;
        comes_long(from);
        CHECK(calls == 1 && memcmp(long_kept->data, payload, 50000) == 0 && long_kept->length == 50000);
        uccs_payload_done(long_kept);
        owned_left = 0;
        comes_long(from);
        CHECK(calls == 0 && strstr(logged, "a message of 50000 bytes of PE") && owned_count == 0);
    }
    far_failed = true;
    kernel_status = UCCS_ERR_UNREACHABLE;
    comes_long(FAR);
    CHECK(calls == 0 && strstr(logged, "of PE 3 is lost"));
    comes_long(NEAR);
    CHECK(calls == 0 && strstr(logged, "of PE 1 is lost"));
    clear();
}

int main(void)
{
    open_all();
    test_registration();
    test_cut();
    test_ways();
    test_far_ways();
    test_pieces();
    test_long();
    return 0;
}
