/* A handler that is taken back runs no more; messages for it wait, and come in their order to the next one of its class. So do
 * announced payloads, for place handlers and for handlers of long messages.
 * pes: 2
 * env: LATERAL_MEMORY=64k
 */
#include "check.h"

enum { TAKE = 1, MESSAGES = 40, LONG = 60000 };

static uccs_context_t context;
static uccs_endpoint_t other;
static long taken, placed;
static int closed; /* no handler may run */
static char place[LONG];

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    long number;
    (void)token;
    CHECK(!closed && argument == &context && length >= sizeof number);
    memcpy(&number, payload, sizeof number);
    CHECK_EQ(number, taken);
    taken++;
}

static int find_place(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **where,
                      uccs_completion *done, void **argument, void *registered)
{
    (void)token, (void)header, (void)header_length, (void)done, (void)argument, (void)registered;
    CHECK(!closed && length == LONG);
    *where = place;
    placed++;
    return UCCS_OK;
}

static void send_some(long from, uccs_request_t *done)
{
    static char data[LONG];
    const struct uccs_op op = {.request = done, .nonblocking = 1};
    for (long number = from; number < from + MESSAGES; number++) {
        memcpy(data, &number, sizeof number);
        OK(uccs_send(other, TAKE, UCCS_AM_USER, data, sizeof number, &op));
    }
    memset(data, 7, sizeof data);
    OK(uccs_send_place(other, TAKE, UCCS_AM_USER, 0, 0, data, sizeof data, &op));
}

static void open_handlers(void)
{
    closed = 0;
    OK(uccs_am_register(context, TAKE, UCCS_AM_USER, take, &context));
    OK(uccs_am_register_place(context, TAKE, UCCS_AM_USER, find_place, 0));
}

static void close_handlers(void)
{
    OK(uccs_am_unregister(context, TAKE));
    OK(uccs_am_unregister_place(context, TAKE));
    closed = 1;
    CHECK_EQ(uccs_am_unregister(context, TAKE), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_unregister_place(context, TAKE), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(context, TAKE, UCCS_AM_NETWORK_PROTOCOL, take, 0),
             UCCS_ERR_INVALID); /* its class stays */
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, 1 - me);
    CHECK_EQ(uccs_am_unregister(0, TAKE), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_unregister(context, -1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_unregister_place(context, UCCS_AM_HANDLERS), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_unregister(context, TAKE), UCCS_ERR_INVALID);
    for (long round = 0; round < 6; round++) {
        uccs_request_t done = UCCS_REQUEST_NULL;
        open_handlers();
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        if (round % 2)
            close_handlers();
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        send_some(round * MESSAGES, &done);
        for (int look = 0; look < 1000; look++)
            uccs_progress();
        if (round % 2) {
            CHECK_EQ(uccs_test(&done), UCCS_IN_PROGRESS);
            OK(uccs_barrier(UCCS_GROUP_WORLD)); /* the other one has looked, too */
            open_handlers();
        }
        OK(uccs_wait(&done));
        OK(uccs_request_release(&done));
        OK(uccs_stream_flush(uccs_context_stream(context), 0, 0));
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        while (taken < (round + 1) * MESSAGES || placed <= round)
            uccs_progress();
        CHECK(place[0] == 7 && place[LONG - 1] == 7);
    }
    return check_pass();
}
