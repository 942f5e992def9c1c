/* Lanes: how many there may be, what their worker is told, their address, sleep, and what has left. A part of ucx_messages.c. */

/* Opens a lane that makes the second worker of its life, where there may be one. */
static bool has_second(void)
{
    void *lane = 0;
    open_ucx();
    CHECK(!ucx->open_lane(&owner, &first) && lib_nworkers == 1);
    const char *why = ucx->open_lane(&others, &lane);
    CHECK(why ? strcmp(why, "this UCX was built without support for threads") == 0 && !lane : lane && lane != first);
    CHECK(lib_nworkers == (why ? 1 : 2));
    finish();
    return !why;
}

static void alone_or_not(void)
{
    CHECK(has_second());
    lib_mode = UCS_THREAD_MODE_SINGLE;
    CHECK(!has_second());
    lib_mode = UCS_THREAD_MODE_SERIALIZED;
    CHECK(!has_second());
    lib_mode = UCS_THREAD_MODE_MULTI;
    CHECK(has_second());
    lib_query_status = UCS_ERR_INVALID_PARAM;
    CHECK(!has_second());
    lib_query_status = UCS_OK;
    CHECK(has_second());
}

static void opens_no_lane(void)
{
    void *lane = 0;
    open_ucx();
    owned_left = 0;
    CHECK(strcmp(ucx->open_lane(&owner, &lane), "no memory") == 0 && lib_nworkers == 0);
    lib_worker_status = UCS_ERR_EXCEEDS_LIMIT;
    CHECK(strcmp(ucx->open_lane(&owner, &lane), "status -21") == 0 && owned_count == 0);
    lib_worker_status = UCS_OK;
    lib_handler_status = UCS_ERR_UNSUPPORTED;
    CHECK(strcmp(ucx->open_lane(&owner, &lane), "status -22") == 0 && owned_count == 0);
    CHECK(lib_nworkers == 1 && !lib_workers[0].open && !lane);
    lib_handler_status = UCS_OK;
    CHECK(!ucx->open_lane(&owner, &lane) && lane && lib_workers[1].open);
    const ucp_am_handler_param_t *handler = &lib_workers[1].handler;
    CHECK(handler->cb && handler->arg == lane);
    finish();
}

static void addresses(void)
{
    char room[sizeof lib_address + 1];
    begin();
    size_t bytes = sizeof room;
    lib_address_status = UCS_ERR_NO_MEMORY;
    CHECK(ucx->address(first, room, &bytes) == -1);
    lib_address_status = UCS_OK;
    for (size_t length = sizeof lib_address - 1; length <= sizeof room; length++) {
        const bool fits = length >= sizeof lib_address;
        memset(room, 'r', sizeof room);
        bytes = length;
        CHECK(ucx->address(first, room, &bytes) == (fits ? 0 : -1) && bytes == sizeof lib_address);
        CHECK(!lib_address_open && room[sizeof lib_address] == 'r');
        CHECK(fits ? memcmp(room, &lib_address, sizeof lib_address) == 0 : room[0] == 'r' && room[6] == 'r');
    }
    finish();
}

static void sleeps(void)
{
    begin();
    CHECK(ucx->descriptor(first) == LIB_FD);
    lib_fd_status = UCS_ERR_IO_ERROR;
    CHECK(ucx->descriptor(first) == -1);
    lib_fd_status = UCS_OK;
    CHECK(ucx->arm(first) == 1);
    lib_arm_status = UCS_ERR_BUSY;
    CHECK(ucx->arm(first) == 0);
    lib_arm_status = UCS_OK;
    lib_count = 0;
    CHECK(ucx->progress(first) == 0);
    lib_count = 3;
    CHECK(ucx->progress(first) == 3);
    lib_count = 0;
    finish();
}

/* One flush covers what was sent before it began, so the next question begins another one. */
static void drains(void)
{
    begin();
    lib_looks = lib_flushes = 0;
    CHECK(ucx->drained(first) == 1 && lib_flushes == 1 && lib_looks == 1);
    lib_answer = UCS_ERR_CANCELED;
    CHECK(ucx->drained(first) == 1 && lib_flushes == 2 && lib_looks == 2);
    lib_answer = UCS_INPROGRESS;
    for (unsigned i = 0; i < 3; i++)
        CHECK(ucx->drained(first) == 0 && lib_flushes == 3 && lib_looks == 3 + i && lib_requests[0].open);
    lib_requests[0].status = UCS_OK;
    CHECK(ucx->drained(first) == 1 && lib_flushes == 3 && !lib_requests[0].open);
    CHECK(ucx->drained(first) == 0 && lib_flushes == 4);
    lib_requests[1].status = UCS_ERR_CANCELED;
    CHECK(ucx->drained(first) == 1 && lib_flushes == 4 && !lib_requests[1].open);
    lib_wakes = 1; /* it ends in the same call */
    CHECK(ucx->drained(first) == 1 && lib_flushes == 5 && !lib_requests[2].open);
    finish();
}

/* The connections of each lane go first, some only after a while; that is no loss. */
static void closes(void)
{
    void *more;
    begin();
    CHECK(!ucx->open_lane(&others, &more) && connects(more, 1, "one") && connects(more, 2, "two"));
    CHECK(lib_nendpoints == 3);
    lib_calls = true;
    finish();
    for (int i = 0; i < 3; i++)
        CHECK(!lib_endpoints[i].open);
    begin();
    lib_looks = 0;
    lib_wakes = 3;
    lib_answer = UCS_INPROGRESS;
    ucx->close();
    CHECK(lib_looks == 3 && lib_began == 1 && !lib_requests[0].open && owned_count == 0 && breaks == 0);
    begin();
    lib_answer = UCS_ERR_NO_RESOURCE;
    ucx->close();
    CHECK(!lib_endpoints[0].open && owned_count == 0);
    lib_calls = false;
}

static void lanes_of_a_life(void)
{
    alone_or_not();
    opens_no_lane();
    addresses();
    sleeps();
    drains();
    closes();
}
