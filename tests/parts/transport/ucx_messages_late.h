/* Peers that an event connects while the worker is in progress: their endpoints are made, and what waits is sent, once it has ended.
 * A part of ucx_messages.c. */

enum { LATE = 3, WAITING = 8 };
static void *late[LATE];
static char late_headers[LATE][WAITING], late_data[LATE];
static int late_tokens[LATE][WAITING];

/* The number of a message is the length of its data. */
static enum transport_status late_send(int to, int number)
{
    return ucx->send(late[to], &late_headers[to][number], 1, number ? &late_data[to] : 0, (size_t)number,
                     &late_tokens[to][number]);
}

/* The address is the caller's, who changes it. */
static void connect_late_peer(int number)
{
    char at[8];
    snprintf(at, sizeof at, "late %d", number);
    late[number] = connects(first, 10 + number, at);
    CHECK(late[number] && lib_eps_asked == 0 && ucx->able(late[number]) == 0);
    memset(at, 'x', sizeof at);
}

static void connect_late_peers(void)
{
    for (int i = 0; i < LATE; i++) {
        connect_late_peer(i);
        for (int number = 0; number < i; number++)
            CHECK(late_send(i, number) == TRANSPORT_PENDING);
    }
}

static const struct ucp_ep *late_endpoint(int number)
{
    char at[8];
    snprintf(at, sizeof at, "late %d", number);
    for (unsigned i = 0; i < lib_nendpoints; i++)
        if (strcmp(lib_endpoints[i].address, at) == 0)
            return &lib_endpoints[i];
    return 0;
}

/* So many messages to a late peer have been sent, and in their order. */
static bool are_sent(int to, int count)
{
    int found = 0;
    for (unsigned i = 0; i < lib_nsends; i++) {
        const struct lib_send *one = &lib_sends[i];
        if (one->ep != late_endpoint(to))
            continue;
        CHECK(found < WAITING && one->header == &late_headers[to][found] && one->header_bytes == 1);
        CHECK(one->data == (found ? &late_data[to] : 0) && one->bytes == (size_t)found);
        found++;
    }
    return found == count;
}

/* What has waited is told of when it is done; later messages leave at once, and say so themselves. */
static void late_one_by_one(void)
{
    begin();
    lib_inside = connect_late_peers;
    lib_count = 5;
    const size_t before = owned_count;
    CHECK(ucx->progress(first) == 5 && lib_nendpoints == 1 + LATE);
    lib_count = 0;
    CHECK(owned_count == before + LATE); /* addresses and messages are gone */
    CHECK(lib_finishes == 1 + 2 && lib_failed == 0);
    for (int i = 0; i < LATE; i++) {
        CHECK(are_sent(i, i) && ucx->able(late[i]) == (TRANSPORT_KNOWN | TRANSPORT_REACHES));
        CHECK(late_send(i, i) == TRANSPORT_DONE && are_sent(i, i + 1));
    }
    CHECK(lib_finishes == 3 && ucx->progress(first) == 0 && lib_nendpoints == 1 + LATE);
    finish();
}

static void connect_with_three(void)
{
    connect_late_peer(0);
    for (int number = 0; number < 3; number++)
        CHECK(late_send(0, number) == TRANSPORT_PENDING);
}

/* Under way, or failed. */
static void late_ends(void)
{
    begin();
    lib_inside = connect_with_three;
    lib_answer = UCS_INPROGRESS;
    (void)ucx->progress(first);
    CHECK(are_sent(0, 3) && lib_finishes == 0 && lib_began == 3);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(lib_requests[i].param.user_data == &late_tokens[0][i]);
        lib_end(i, i == 1 ? UCS_ERR_CANCELED : UCS_OK);
        CHECK(lib_has_finished(&late_tokens[0][i], i == 1));
    }
    finish();
    begin();
    lib_inside = connect_with_three;
    lib_answer = UCS_ERR_NO_MEMORY;
    (void)ucx->progress(first);
    CHECK(are_sent(0, 3) && lib_finishes == 3 && lib_failed && lib_token == &late_tokens[0][2]);
    finish();
}

/* The end of the first one of three that wait. */
static void send_two_more(void)
{
    CHECK(lib_token == &late_tokens[0][0] && are_sent(0, 1));
    CHECK(late_send(0, 3) == TRANSPORT_PENDING && late_send(0, 4) == TRANSPORT_PENDING && are_sent(0, 1));
}

/* The end of the only one that waits. */
static void send_another(void)
{
    CHECK(lib_token == &late_tokens[0][0] && are_sent(0, 1));
    CHECK(late_send(0, 1) == TRANSPORT_DONE && are_sent(0, 2));
}

static void connect_with_one(void)
{
    connect_late_peer(0);
    CHECK(late_send(0, 0) == TRANSPORT_PENDING);
}

/* What an event sends goes behind what waits. */
static void late_more(void)
{
    begin();
    lib_inside = connect_with_three;
    lib_then = send_two_more;
    (void)ucx->progress(first);
    CHECK(are_sent(0, 5) && lib_finishes == 5 && lib_token == &late_tokens[0][4]);
    CHECK(late_send(0, 5) == TRANSPORT_DONE && are_sent(0, 6));
    finish();
    begin();
    lib_inside = connect_with_one;
    lib_then = send_another;
    (void)ucx->progress(first);
    CHECK(are_sent(0, 2) && lib_finishes == 1);
    finish();
}

/* What is connected in an event behind the worker's progress is so at once. */
static void connect_at_once(void)
{
    CHECK((late[1] = connects(first, 11, "late 1")) && late_endpoint(1) && late_send(1, 0) == TRANSPORT_DONE);
}

static void late_event_connects(void)
{
    begin();
    lib_inside = connect_with_one;
    lib_then = connect_at_once;
    (void)ucx->progress(first);
    CHECK(are_sent(0, 1) && are_sent(1, 1) && lib_nendpoints == 3);
    finish();
}

/* The peer, the copy of its address, and a message that waits each need memory. */
static void without_memory(void)
{
    const size_t before = owned_count;
    for (int left = 0; left < 2; left++) {
        owned_left = left;
        CHECK(!connects(first, 10, "late 0") && owned_count == before);
    }
    connect_late_peer(0);
    owned_left = 0;
    CHECK(late_send(0, 0) == TRANSPORT_FAILED);
    CHECK(late_send(0, 0) == TRANSPORT_PENDING && late_send(0, 1) == TRANSPORT_PENDING);
}

static void late_no_memory(void)
{
    begin();
    lib_inside = without_memory;
    (void)ucx->progress(first);
    CHECK(lib_nendpoints == 2 && are_sent(0, 2) && lib_finishes == 2);
    finish();
}

static void in_drained(void)
{
    begin();
    lib_inside = connect_with_one;
    CHECK(ucx->drained(first) == 1 && are_sent(0, 1) && lib_finishes == 1);
    finish();
}

/* That ends the job. */
static size_t late_owned;

static void job_ends(void)
{
    CHECK(breaks == 1 && broke_of == &owner && broke_pe == 10 && strcmp(broke_why, "status -7") == 0);
    CHECK(lib_nsends == 0 && lib_finishes == 0 && owned_count == late_owned + 2); /* not the address */
    _exit(0);
}

static void late_fails(void)
{
    begin();
    late_owned = owned_count;
    lib_inside = connect_with_one;
    lib_ep_status[0] = UCS_ERR_INVALID_ADDR;
    then_broken = job_ends;
    (void)ucx->progress(first);
    CHECK(breaks == 1); /* the job has ended */
}

static void late_peers(void)
{
    late_one_by_one();
    late_ends();
    late_more();
    late_event_connects();
    late_no_memory();
    in_drained();
    apart(late_fails);
}
