/* Open and close: the context, its settings, and lines that are left out. A part of ucx_messages.c. */

static void forget_settings(void)
{
    unsetenv("UCX_LOG_LEVEL");
    unsetenv("UCX_TLS");
    unsetenv("LATERAL_UCX_TLS");
    unsetenv("UCX_TCP_TX_SEG_SIZE");
    unsetenv("UCX_TCP_RX_SEG_SIZE");
}

static bool set_to(const char *send, const char *receive)
{
    const char *const sends = getenv("UCX_TCP_TX_SEG_SIZE"), *const receives = getenv("UCX_TCP_RX_SEG_SIZE");
    return strcmp(sends ? sends : "-", send) == 0 && strcmp(receives ? receives : "-", receive) == 0;
}

static void features(void)
{
    const uint64_t messages = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    for (int uses = 0; uses < 2; uses++) {
        may_use = uses;
        asked_use = 0;
        CHECK(!ucx->open(&told, 3, uses ? 7 : 5, TRANSPORT_ALONE) && asked_use == TRANSPORT_ALONE);
        CHECK(ucx_onesided == (uses != 0) && ucx_events == &told && ucx_context == &lib_context && !lib_config.open);
        CHECK(lib_params.field_mask ==
              (UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_MT_WORKERS_SHARED));
        CHECK(lib_params.features == (messages | (uses ? UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 : 0)));
        CHECK(lib_params.estimated_num_eps == (uses ? 7 : 5) && lib_params.mt_workers_shared == 1);
        finish();
    }
    may_use = false;
}

/* A network that does not open leaves the settings as they were. */
static void opens_not(void)
{
    lib_config_status = UCS_ERR_NO_ELEM;
    CHECK(strcmp(ucx->open(&told, 3, 5, 0), "status -12") == 0 && !lib_context.open && set_to("-", "-"));
    lib_config_status = UCS_OK;
    lib_init_status = UCS_ERR_NO_DEVICE;
    CHECK(strcmp(ucx->open(&told, 3, 5, 0), "status -14") == 0 && !lib_config.open && set_to("-", "-"));
    lib_init_status = UCS_OK;
    CHECK(owned_count == 0);
}

/* --- Wishes */

static void set_or_not(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static bool wished(const char *send, const char *receive)
{
    begin();
    const bool both = strcmp(lib_wishes[0], send) == 0 && strcmp(lib_wishes[1], receive) == 0;
    finish();
    return both;
}

/* Where a user's settings leave TCP out, UCX would warn of settings of TCP. */
static void over_tcp(void)
{
    static const struct {
        const char *own, *all;
        bool tcp;
    } rows[] = {{0, 0, true},          {0, "tcp", true},      {0, "self,tcp,sm", true}, {0, "all", true},
                {0, "^sm", true},      {0, "^tcp", true},     {0, "self,sm", false},    {0, "", false},
                {0, "rc,^x", false},   {"tcp", "self", true}, {"self", "tcp", false},   {"self", 0, false},
                {"^self", "sm", true}, {"all", "sm", true},   {"rc", "all", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_or_not("LATERAL_UCX_TLS", rows[i].own);
        set_or_not("UCX_TLS", rows[i].all);
        CHECK(rows[i].tcp ? wished("128k", "128k") : wished("-", "-"));
        CHECK(set_to("-", "-"));
    }
    forget_settings();
}

/* What the user has set stays, during a life and behind it. */
static void users_own(void)
{
    setenv("UCX_TCP_TX_SEG_SIZE", "8k", 1);
    CHECK(wished("8k", "128k") && set_to("8k", "-"));
    setenv("UCX_TCP_RX_SEG_SIZE", "9k", 1);
    CHECK(wished("8k", "9k") && set_to("8k", "9k"));
    unsetenv("UCX_TCP_TX_SEG_SIZE");
    CHECK(wished("128k", "9k") && set_to("-", "9k"));
    setenv("UCX_TLS", "self", 1);
    CHECK(wished("-", "9k") && set_to("-", "9k"));
    forget_settings();
}

/* --- Lines */

/* A user who asks for lines gets all, in every life of the process. */
static void asked_for_lines(void)
{
    setenv("UCX_LOG_LEVEL", "error", 1);
    begin();
    finish();
    CHECK(lib_handlers == 0);
    unsetenv("UCX_LOG_LEVEL");
    begin();
    finish();
    CHECK(lib_handlers == 0);
}

static void leaves_out(void)
{
    CHECK(lib_handlers == 0);
    lib_another = true;
    begin();
    CHECK(lib_handlers == 1 && lib_hushed() == 0 && lib_ep_hushed[0] == LIB_ERRORS);
    CHECK(ucx->progress(first) == 0 && lib_inside_hushed == LIB_SOCKETS && lib_hushed() == 0);
    lib_ep_status[0] = UCS_ERR_UNREACHABLE;
    lib_ep_hushed[0] = lib_ep_hushed[1] = 0;
    CHECK(connects(first, 1, "one") && lib_eps_asked == 2); /* there is no other way then: it says why */
    CHECK(lib_ep_hushed[0] == LIB_ERRORS && lib_ep_hushed[1] == 0 && lib_hushed() == 0);
    lib_ep_status[0] = UCS_OK;
    finish();
    lib_another = false;
    begin();
    finish();
    CHECK(lib_handlers == 1);
}

static void slots(void)
{
    CHECK(strcmp(ucx->name, "ucx") == 0 && ucx->able == ucx_able && ucx->share == ucx_share && ucx->pack == ucx_pack);
    CHECK(ucx->withdraw == ucx_withdraw && ucx->unpack == ucx_unpack && ucx->forget == ucx_forget);
    CHECK(ucx->put == ucx_put && ucx->get == ucx_get && ucx->atomics == ucx_atomics && ucx->atomic == ucx_atomic);
    CHECK(ucx->flush == ucx_flush && ucx->order == ucx_order);
    CHECK(ucx->lend == transport_lend && ucx->reach == transport_reach && ucx->leave == transport_leave);
}

static void life(void)
{
    slots();
    apart(asked_for_lines);
    leaves_out();
    features();
    opens_not();
    over_tcp();
    users_own();
}
