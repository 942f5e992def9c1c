/* Messages whose handler is never registered, or whose context their target never creates: uccs_finalize drops them,
 * says so at the target, and fails there; a request of such a message fails at its sender. The next life has nothing of it.
 * pes: 2
 */
#include "check.h"

enum { NEVER = 9, HANDLER = 1, LONG = 5000 };

static long handled;

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    handled++;
}

static void send_in_vain(uccs_request_t *request)
{
    static char long_payload[LONG];
    uccs_context_t both, mine;
    OK(uccs_context_create(0, &both));
    uccs_endpoint_t to = check_endpoint(both, 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me != 0)
        return;
    const struct uccs_op op = {.request = request};
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 2}, &mine));
    OK(uccs_am_short(both, to, NEVER, UCCS_AM_USER, "x", 1, 0));
    OK(uccs_am_short(both, to, NEVER, UCCS_AM_NETWORK_PROTOCOL, "x", 1, &op));
    OK(uccs_am_medium(both, to, NEVER, UCCS_AM_USER, long_payload, LONG, &op));
    OK(uccs_am_medium(mine, check_endpoint(mine, 1), NEVER, UCCS_AM_USER, long_payload, LONG, &op));
}

/* The line of the target, which goes to a file meanwhile. */
static int finalize_and_read(char *text, size_t room)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    CHECK(file && before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = uccs_finalize();
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    close(before);
    return status;
}

static void test_next_life(void)
{
    uccs_context_t context;
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, NEVER, UCCS_AM_USER, handle, 0));
    OK(uccs_am_register(context, HANDLER, UCCS_AM_USER, handle, 0));
    uccs_endpoint_t other = check_endpoint(context, next_pe);
    OK(uccs_am_short(context, other, HANDLER, UCCS_AM_USER, 0, 0, 0));
    OK(uccs_flush(context));
    while (handled < 1)
        uccs_progress();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(handled, 1);
    OK(uccs_context_destroy(context));
}

int main(void)
{
    char text[1000];
    uccs_request_t request = UCCS_REQUEST_NULL;
    check_start();
    send_in_vain(&request);
    int status = finalize_and_read(text, sizeof text);
    CHECK_EQ(status, me == 0 ? UCCS_OK : UCCS_ERR_FAILED);
    CHECK_EQ(strstr(text, "drops 4 messages that were not handled; the first one came from PE 0") != 0, me == 1);
    CHECK_EQ(uccs_test(&request), me == 0 ? UCCS_ERR_FAILED : UCCS_OK);
    OK(uccs_request_release(&request));
    test_next_life();
    return check_pass();
}
