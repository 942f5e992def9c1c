/* Peers that are connected at once: endpoints, messages both ways, what is lost. A part of ucx_messages.c. */

static bool is_endpoint_of(const struct ucp_ep *ep, const char *address, ucp_err_handling_mode_t mode)
{
    return ep->open && ep->worker == &lib_workers[0] && strcmp(ep->address, address) == 0 &&
           ep->params.err_mode == mode && ep->params.err_handler.cb && ep->params.err_handler.arg;
}

static void connected(void)
{
    begin();
    CHECK(is_endpoint_of(&lib_endpoints[0], "four", UCP_ERR_HANDLING_MODE_PEER) && lib_eps_asked == 1);
    CHECK(ucx->able(second) == (TRANSPORT_KNOWN | TRANSPORT_REACHES) && asked_can == &lib_endpoints[0]);
    lib_ep_status[0] = UCS_ERR_UNREACHABLE;
    void *third = connects(first, 3, "three");
    CHECK(third && third != second && lib_eps_asked == 2);
    CHECK(is_endpoint_of(&lib_endpoints[1], "three", UCP_ERR_HANDLING_MODE_NONE));
    CHECK(ucx->able(third) == (TRANSPORT_KNOWN | TRANSPORT_REACHES) && asked_can == &lib_endpoints[1]);
    lib_ep_status[0] = UCS_OK;
    finish();
}

static void connected_not(void)
{
    begin();
    const size_t before = owned_count;
    owned_left = 0;
    CHECK(!connects(first, 3, "three") && lib_eps_asked == 0);
    asked_can = 0;
    lib_ep_status[0] = UCS_ERR_INVALID_ADDR;
    CHECK(!connects(first, 3, "three") && lib_eps_asked == 1 && owned_count == before);
    lib_ep_status[0] = UCS_ERR_UNREACHABLE;
    lib_ep_status[1] = UCS_ERR_UNREACHABLE;
    CHECK(!connects(first, 3, "three") && lib_eps_asked == 2 && owned_count == before && !asked_can);
    lib_ep_status[0] = lib_ep_status[1] = UCS_OK;
    CHECK(connects(first, 3, "three") && lib_nendpoints == 2);
    finish();
}

static void loses(void)
{
    for (int life = 0; life < 2; life++) { /* the end of one has no effect on the next */
        begin();
        CHECK(connects(first, 2, "two"));
        const ucp_err_handler_t *handler = &lib_endpoints[0].params.err_handler;
        handler->cb(handler->arg, &lib_endpoints[0], UCS_ERR_CONNECTION_RESET);
        CHECK(breaks == 1 && broke_of == &owner && broke_pe == 4 && strcmp(broke_why, "status -25") == 0);
        handler = &lib_endpoints[1].params.err_handler;
        handler->cb(handler->arg, &lib_endpoints[1], UCS_ERR_ENDPOINT_TIMEOUT);
        CHECK(breaks == 2 && broke_pe == 2 && strcmp(broke_why, "status -80") == 0);
        breaks = 0;
        finish();
    }
}

/* --- Messages */

static char header[8], data[TRANSPORT_SHORT + 1];
static int token;

static enum transport_status sends(size_t bytes)
{
    const unsigned number = lib_nsends;
    const enum transport_status status = ucx->send(second, header, 5, data, bytes, &token);
    const struct lib_send *sent = &lib_sends[number];
    CHECK(lib_nsends == number + 1 && sent->ep == &lib_endpoints[0] && sent->id == lib_workers[0].handler.id);
    CHECK(sent->header == header && sent->header_bytes == 5 && sent->data == data && sent->bytes == bytes);
    CHECK(lib_ends_with(&token, bytes <= TRANSPORT_SHORT ? UCP_OP_ATTR_FIELD_FLAGS : 0));
    CHECK(bytes > TRANSPORT_SHORT || lib_param.flags == UCP_AM_SEND_FLAG_EAGER);
    return status;
}

static enum transport_status receives(size_t bytes)
{
    const enum transport_status status = ucx->receive(first, header, data, bytes, &token);
    CHECK(lib_received.worker == &lib_workers[0] && lib_received.rest == header && lib_received.into == data);
    CHECK(lib_received.bytes == bytes && lib_param.op_attr_mask == LIB_ENDS && lib_param.user_data == &token);
    return status;
}

static void finish_receive(unsigned number, ucs_status_t status)
{
    struct lib_request *request = &lib_requests[number];
    request->param.cb.recv_am(request, status, 7, request->param.user_data);
    CHECK(!request->open);
}

static void sent(void)
{
    static const size_t sizes[] = {0, 1, TRANSPORT_SHORT - 1, TRANSPORT_SHORT, TRANSPORT_SHORT + 1};
    begin();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lib_answer = UCS_OK;
        CHECK(sends(sizes[i]) == TRANSPORT_DONE);
        lib_answer = UCS_ERR_NO_MEMORY;
        CHECK(sends(sizes[i]) == TRANSPORT_FAILED && lib_finishes == 0);
        lib_answer = UCS_INPROGRESS;
        CHECK(sends(sizes[i]) == TRANSPORT_PENDING && lib_finishes == 0);
        lib_end(lib_began - 1, i % 2 ? UCS_ERR_CANCELED : UCS_OK);
        CHECK(lib_has_finished(&token, i % 2));
    }
    finish();
}

static void received(void)
{
    begin();
    CHECK(receives(9) == TRANSPORT_DONE);
    lib_answer = UCS_ERR_MESSAGE_TRUNCATED;
    CHECK(receives(10) == TRANSPORT_FAILED && lib_finishes == 0);
    lib_answer = UCS_INPROGRESS;
    CHECK(receives(11) == TRANSPORT_PENDING && receives(12) == TRANSPORT_PENDING && lib_finishes == 0);
    finish_receive(0, UCS_OK);
    CHECK(lib_has_finished(&token, false) && lib_requests[1].open);
    finish_receive(1, UCS_ERR_CONNECTION_RESET);
    CHECK(lib_has_finished(&token, true));
    finish();
}

static void arrives(void)
{
    begin();
    const ucp_am_handler_param_t *handler = &lib_workers[0].handler;
    ucp_am_recv_param_t param = {.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP | UCP_AM_RECV_ATTR_FLAG_DATA};
    CHECK(handler->cb(handler->arg, header, 6, data, 40, &param) == UCS_OK && arrivals == 1 && came_to == &owner);
    CHECK(came.header == header && came.header_bytes == 6 && came.data == data && came.bytes == 40 && !came.rest);
    param.recv_attr = UCP_AM_RECV_ATTR_FLAG_RNDV;
    CHECK(handler->cb(handler->arg, header, 7, data, 41, &param) == UCS_INPROGRESS && arrivals == 2);
    CHECK(came.header == header && came.header_bytes == 7 && !came.data && came.bytes == 41 && came.rest == data);
    finish();
}

static void peers_of_a_lane(void)
{
    connected();
    connected_not();
    loses();
    sent();
    received();
    arrives();
}
