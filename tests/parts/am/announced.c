/* Payloads that are announced: what goes with its announcement and what is lent, when the program has its memory back, and what is
 * refused. The receiver and the rings are the test's. */
#include "announced_stub.h"

#include "uccs/am/announce.c"

static struct uccs_endpoint to_near = {.context = &world, .stream = &stream, .pe = NEAR, .index = NEAR};
static struct uccs_endpoint to_far = {.context = &world, .stream = &stream, .pe = FAR, .index = FAR};

static struct uccs_announce announced(void)
{
    struct uccs_announce announce;
    CHECK(posted.head.length >= sizeof announce);
    memcpy(&announce, posted_bytes, sizeof announce);
    return announce;
}

/* --- Sending */

static int places(size_t header_bytes, size_t bytes, const struct uccs_op *op)
{
    return uccs_send_place(&to_near, SLOT, UCCS_AM_USER, header, header_bytes, payload, bytes, op);
}

/* The receiver is done with what was posted last. */
static void land_it(void)
{
    struct uccs_block block = {.cookie = posted.cookie};
    CHECK(posted.landed != 0);
    if (serves == 2)
        posted.landed(&block);
}

static void test_eager(void)
{
    static const size_t headers[] = {0, 1, 100, HEADER_MOST}, sizes[] = {0, 1, 4000};
    for (size_t i = 0; i < 12; i++) {
        const size_t header_bytes = headers[i / 3], bytes = i % 3 == 2 ? EAGER_MOST - header_bytes : sizes[i % 3];
        uccs_request_t local = UCCS_REQUEST_NULL;
        const struct uccs_op op = {.local = &local};
        CHECK(places(header_bytes, bytes, &op) == UCCS_OK && posts == 1 && local == UCCS_REQUEST_CLEAN);
        const struct uccs_announce announce = announced();
        CHECK(announce.length == bytes && announce.header_bytes == header_bytes && announce.eager == 1 &&
              announce.at == 0);
        CHECK(posted.head.length == sizeof announce + header_bytes + bytes && !posted.landed && !posted.request);
        CHECK(posted.head.id == UCCS_AM_PLACE + SLOT && posted.which == UCCS_RING_USER && posted.index == NEAR);
        CHECK(memcmp(posted_bytes + sizeof announce, header, header_bytes) == 0);
        CHECK(memcmp(posted_bytes + sizeof announce + header_bytes, payload, bytes) == 0);
        clear();
    }
    uccs_request_t local = UCCS_REQUEST_NULL;
    post_status = UCCS_AGAIN;
    CHECK(places(1, 1, &(struct uccs_op){.local = &local}) == UCCS_AGAIN && local == UCCS_REQUEST_NULL);
    post_status = UCCS_OK;
    CHECK(uccs_send_place(&to_near, SLOT, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0, 0, 0) == UCCS_OK && posted.which == 0);
    clear();
}

static void test_refused(void)
{
    const struct uccs_op nonblocking = {.nonblocking = 1}, blocking = {.nowait = 1};
    CHECK(uccs_send_place(&to_near, SLOT, UCCS_AM_USER, 0, 1, payload, 1, 0) == UCCS_ERR_INVALID);
    CHECK(places(HEADER_MOST + 1, 0, 0) == UCCS_ERR_TOO_LARGE);
    check_status = UCCS_ERR_UNREACHABLE;
    CHECK(places(HEADER_MOST + 1, 0, 0) == UCCS_ERR_UNREACHABLE && places(1, 1, 0) == UCCS_ERR_UNREACHABLE);
    CHECK(uccs_send_place(&to_near, SLOT, UCCS_AM_USER, 0, 1, payload, 1, 0) == UCCS_ERR_UNREACHABLE);
    CHECK(uccs_send(&to_near, SLOT, UCCS_AM_USER, payload, 1, 0) == UCCS_ERR_UNREACHABLE);
    check_status = UCCS_OK;
    uccs_handlers_running = 1; /* which must not wait for the receiver */
    CHECK(places(0, EAGER_MOST + 1, 0) == UCCS_ERR_STATE && places(0, EAGER_MOST + 1, &blocking) == UCCS_ERR_STATE);
    CHECK(uccs_send(&to_near, SLOT, UCCS_AM_USER, payload, MOST + 1, &blocking) == UCCS_ERR_STATE);
    CHECK(posts == 0 && places(0, EAGER_MOST + 1, &nonblocking) == UCCS_OK && posts == 1);
    uccs_handlers_running = 0;
    end_loan(posted.cookie, false);
    owned_left = 0;
    CHECK(places(0, EAGER_MOST + 1, 0) == UCCS_ERR_NO_MEMORY && posts == 1);
    clear();
}

/* A message up to half of the room is copied, a longer one is lent. */
static void test_lengths(void)
{
    static const size_t sizes[] = {0, UCCS_MEDIUM_MAX, UCCS_MEDIUM_MAX + 1, MOST};
    for (int i = 0; i < 4; i++)
        CHECK(uccs_send(&to_near, SLOT, UCCS_AM_USER, payload, sizes[i], 0) == UCCS_OK && eager_sends == i + 1);
    while_served = land_it;
    CHECK(uccs_send(&to_near, SLOT, UCCS_AM_NETWORK_PROTOCOL, payload, MOST + 1, 0) == UCCS_OK && serves == 2);
    while_served = 0;
    const struct uccs_announce announce = announced();
    CHECK(eager_sends == 4 && posts == 1 && posted.head.id == UCCS_AM_LONG + SLOT && posted.which == 0);
    CHECK(announce.length == MOST + 1 && announce.at == (uintptr_t)payload && !announce.eager &&
          !announce.header_bytes);
    CHECK(posted.head.length == sizeof announce && offers == 1);
    clear();
}

/* A blocking call ends when the receiver has read; another tells by its local request. */
static void test_loans(struct uccs_endpoint *to)
{
    const bool far = to == &to_far;
    const size_t bytes = EAGER_MOST - 2;
    for (int with_local = 0; with_local < 2; with_local++) {
        uccs_request_t local = UCCS_REQUEST_NULL;
        const struct uccs_op waits = {.local = with_local ? &local : 0},
                             goes = {.local = waits.local, .nonblocking = 1};
        while_served = land_it;
        CHECK(uccs_send_place(to, SLOT, UCCS_AM_USER, header, 3, payload, bytes, &waits) == UCCS_OK && serves == 2);
        while_served = 0;
        CHECK(local == (with_local ? UCCS_REQUEST_CLEAN : UCCS_REQUEST_NULL) && materialised == 0 && finished == 0);
        const struct uccs_announce announce = announced();
        CHECK(announce.at == (far ? 555 : (uintptr_t)payload) && announce.length == bytes &&
              announce.header_bytes == 3);
        CHECK(posted.head.length == sizeof announce + 3 && !announce.eager && offers == !far && owned_count == 0);
        CHECK(memcmp(posted_bytes + sizeof announce, header, 3) == 0);
        clear();
        local = UCCS_REQUEST_NULL;
        CHECK(uccs_send_place(to, SLOT, UCCS_AM_USER, header, 3, payload, bytes, &goes) == UCCS_OK && serves == 0);
        CHECK(materialised == with_local && object.pending == (uint32_t)with_local && rooms_open == far &&
              owned_count == 1);
        struct uccs_block block = {.cookie = posted.cookie, .failed = (uint32_t)with_local};
        posted.landed(&block);
        CHECK(finished == with_local && finished_badly == with_local);
        clear();
    }
}

/* A message that does not go leaves everything as it was. */
static void test_not_sent(void)
{
    const struct uccs_op op[] = {{.nonblocking = 1},
                                 {.nonblocking = 1, .local = &(uccs_request_t){UCCS_REQUEST_CLEAN}},
                                 {.nonblocking = 1, .local = &(uccs_request_t){&object}},
                                 {.nowait = 1}};
    post_status = UCCS_AGAIN;
    for (int i = 0; i < 4; i++)
        for (int far = 0; far < 2; far++) {
            const uccs_request_t before = op[i].local ? *op[i].local : UCCS_REQUEST_NULL;
            CHECK(uccs_send_place(far ? &to_far : &to_near, SLOT, UCCS_AM_USER, 0, 0, payload, EAGER_MOST + 1,
                                  &op[i]) == UCCS_AGAIN);
            CHECK(serves == 0 && finished == (i == 1 || i == 2) && finished_badly == 0 && freed == (i == 1));
            CHECK(!op[i].local || *op[i].local == before);
            clear();
        }
    post_status = UCCS_OK;
}

int main(void)
{
    open_all();
    test_eager();
    test_refused();
    test_lengths();
    test_loans(&to_near);
    test_loans(&to_far);
    test_not_sent();
    return 0;
}
