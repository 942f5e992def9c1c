/* A message under a class other than its handler's ends the job with a line that names both ends, whichever class it is.
 * pes: 2
 * status: 1
 * case: user
 * args: user
 * fails: uccs: PE 0 sent a message to handler 5 of context [0-9]+ under a class other than that under which
 * case: network
 * args: network
 * fails: uccs: PE 0 sent a message to handler 5 of context [0-9]+ under a class other than that under which
 */
#include "check.h"

enum { HANDLER = 5 };

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    CHECK(0); /* it must not run */
}

int main(int argc, char **argv)
{
    uccs_context_t context;
    int user = argc > 1 && strcmp(argv[1], "user") == 0;
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, HANDLER, user ? UCCS_AM_NETWORK_PROTOCOL : UCCS_AM_USER, handle, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0)
        OK(uccs_am_short(context, check_endpoint(context, 1), HANDLER, user ? UCCS_AM_USER : UCCS_AM_NETWORK_PROTOCOL,
                         0, 0, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    return check_pass();
}
