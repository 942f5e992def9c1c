/* What is held back, and when it moves on. A part of fault_steps.c. */

static int tokens[40];
static char body[TRANSPORT_SHORT + 1];
static const struct fault_plan one_step = {.pe = -1, .hold = 100, .steps = 1};

/* A run repeats what its seed has drawn. */
static void draws(void)
{
    for (uint32_t hold = 0; hold <= 100; hold += 25) {
        begin((struct fault_plan){.pe = -1, .hold = hold, .steps = 9}, 3);
        uint64_t state = mine->random;
        mine->step = 100;
        unsigned most = 0, none = 0;
        for (int i = 0; i < 2000; i++) {
            const uint64_t random = next_random(&state), later = random % 100 < hold ? 1 + (random >> 8) % 9 : 0;
            CHECK(draw_due(mine) == 100 + later && mine->random == state);
            most += later == 9;
            none += later == 0;
        }
        CHECK((hold == 0) == (most == 0) && (hold == 100) == (none == 0));
        finish();
    }
    begin((struct fault_plan){.pe = -1, .hold = 100}, 3);
    CHECK(draw_due(mine) == 0);
    finish();
}

static struct op *last_of(struct op *first)
{
    while (first->next)
        first = first->next;
    return first;
}

/* The number is the header's first byte. */
static void send(struct peer *to, int number, size_t bytes, uint64_t due)
{
    static char headers[40][8];
    headers[number][0] = (char)number;
    CHECK(fault->send(to, headers[number], 8, bytes ? body : 0, bytes, &tokens[number]) == TRANSPORT_PENDING);
    last_of(to->first)->due = due;
    owned_good(last_of(to->first));
    CHECK(owned_bytes(last_of(to->first)) == sizeof(struct op));
}

static bool sent_so_far(const char *numbers)
{
    bool same = nsent == strlen(numbers);
    for (unsigned i = 0; same && i < nsent; i++)
        same = all_sent[i].copy[0] == numbers[i] - '0';
    return same;
}

/* Short messages hold their successors up, long ones do not. */
static void in_order(void)
{
    begin(one_step, 3);
    inner_answer = TRANSPORT_PENDING;
    send(peer, 0, TRANSPORT_SHORT + 1, 4);
    send(peer, 1, TRANSPORT_SHORT, 2);
    send(peer, 2, 600, 0);
    send(peer, 3, TRANSPORT_SHORT + 1, 0);
    CHECK(fault->progress(mine) == 0 && sent_so_far(""));
    CHECK(fault->progress(mine) == 3 && sent_so_far("123"));
    CHECK(fault->progress(mine) == 0 && fault->progress(mine) == 1 && sent_so_far("1230") && !peer->first);
    CHECK(peer->last == &peer->first && ends == 0);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(all_sent[i].data == body && all_sent[i].peer == mine && all_sent[i].header_bytes == 8);
        inner_events->finished(all_sent[i].token, i == 1);
    }
    CHECK(ends == 0 && fault->progress(mine) == 4 && ends == 4);
    ends = 0;
    finish();
}

/* The last of a queue leaves it, and others come behind the rest. */
static void last_leaves(void)
{
    begin(one_step, 3);
    inner_answer = TRANSPORT_PENDING;
    send(peer, 0, TRANSPORT_SHORT + 1, 9);
    send(peer, 1, TRANSPORT_SHORT + 1, 0);
    CHECK(fault->progress(mine) == 1 && sent_so_far("1"));
    send(peer, 2, TRANSPORT_SHORT + 1, 0);
    CHECK(fault->progress(mine) == 1 && sent_so_far("12"));
    peer->first->due = 0;
    CHECK(fault->progress(mine) == 1 && sent_so_far("120") && !peer->first);
    for (unsigned i = 0; i < 3; i++)
        inner_events->finished(all_sent[i].token, 0);
    CHECK(fault->progress(mine) == 3);
    ends = 0;
    finish();
}

/* Receives and completions move on out of their order, at their step and not before. */
static void rest_moves(void)
{
    begin(one_step, 3);
    inner_answer = TRANSPORT_PENDING;
    for (int i = 0; i < 3; i++) {
        CHECK(fault->receive(mine, &tokens[10 + i], &tokens[20 + i], 7, &tokens[i]) == TRANSPORT_PENDING);
        last_of(mine->first)->due = (uint64_t)(i == 1 ? 1 : 3);
    }
    CHECK(fault->progress(mine) == 1 && fetched.count == 1 && fetched.rest == &tokens[11]);
    CHECK(fetched.into == &tokens[21] && fetched.bytes == 7);
    inner_events->finished(fetched.token, 1);
    CHECK(ends == 0 && last_of(mine->first)->due == 2 && fault->progress(mine) == 1 && only_end(&tokens[1], true));
    last_of(mine->first)->due = 3;
    inner_answer = TRANSPORT_FAILED;
    CHECK(fault->progress(mine) == 2 && fetched.count == 3 && fetched.rest == &tokens[12]);
    mine->first->due = 4; /* of its end */
    last_of(mine->first)->due = 5;
    CHECK(fault->progress(mine) == 1 && only_end(&tokens[0], true));
    CHECK(fault->progress(mine) == 1 && only_end(&tokens[2], true));
    finish();
}

static void so_many(void)
{
    begin((struct fault_plan){.pe = -1}, 3);
    struct peer *const other = fault->connect(mine, 4, "here", 5);
    inner_answer = TRANSPORT_PENDING;
    for (int i = 0; i < 33; i++)
        send(i % 2 ? peer : other, i, 600, 0);
    CHECK(fault->progress(mine) == 16 && fault->progress(mine) == 16 && fault->progress(mine) == 1 && nsent == 33);
    for (unsigned i = 0; i < 33; i++)
        inner_events->finished(all_sent[i].token, 0);
    CHECK(fault->progress(mine) == 16 && ends == 16 && fault->progress(mine) == 16 && fault->progress(mine) == 1);
    CHECK(ends == 33 && !other->first);
    ends = 0;
    finish();
}

/* --- Copies */

/* What is sent from a copy is done at once: its caller may change it, and hears no more of it. */
static void copies(void)
{
    static const size_t sizes[] = {0, 1, 511, 512, 513};
    unsigned copied[5] = {0};
    char header[8] = "header";
    begin(one_step, 3);
    for (int i = 0; i < 100; i++) {
        const size_t bytes = sizes[i % 5];
        nsent = 0;
        memset(body, 'b', bytes);
        strcpy(header, "header");
        const enum transport_status status = fault->send(peer, header, 7, bytes ? body : 0, bytes, &tokens[0]);
        const struct op *op = peer->first;
        CHECK(owned_bytes(op) == sizeof *op + (status == TRANSPORT_DONE ? 7 + bytes : 0));
        owned_good(op);
        copied[i % 5] += status == TRANSPORT_DONE;
        memset(body, 'x', bytes);
        memset(header, 'x', sizeof header);
        const bool own = status == TRANSPORT_DONE;
        peer->first->due = 0;
        inner_answer = TRANSPORT_PENDING;
        (void)fault->progress(mine);
        const struct sent *sent = &all_sent[0];
        CHECK(nsent == 1 && sent->header_bytes == 7 && sent->bytes == bytes);
        CHECK(strncmp(sent->copy, own ? "header" : "xxxxxx", 6) == 0 && (sent->header == header) == !own);
        CHECK(bytes ? ((const char *)sent->data)[bytes - 1] == (own ? 'b' : 'x') : !sent->data);
        inner_events->finished(sent->token, 0);
        (void)fault->progress(mine);
        CHECK(own ? ends == 0 && !mine->first : only_end(&tokens[0], false));
    }
    for (int i = 0; i < 4; i++)
        CHECK(copied[i] > 2 && copied[i] < 18);
    CHECK(copied[4] == 0);
    finish();
}

/* --- What an event begins */

static void send_in_event(void)
{
    send(peer, 1, 600, 0);
}

static void begun_in_event(void)
{
    begin(one_step, 3);
    send(peer, 0, 600, 0);
    CHECK(fault->progress(mine) == 1 && mine->first->due == mine->step + 1);
    then = send_in_event;
    CHECK(fault->progress(mine) == 2 && only_end(&tokens[0], false) && sent_so_far("01"));
    CHECK(fault->progress(mine) == 1 && only_end(&tokens[1], false));
    finish();
}

static void without_memory(void)
{
    begin(one_step, 3);
    owned_left = 0;
    OWNED_FAILS(fault->receive(mine, said, &owner, 7, &owner), "no memory");
    finish();
}

static bool copies_next(uint64_t *state)
{
    return next_random(state) % 2;
}

/* A message that fails in the end is not sent, and breaks the connection. One that has been reported done does not fail. */
static void done_fails_not(void)
{
    begin((struct fault_plan){.pe = -1, .fails = FAULT_FINISH, .at = 1}, 3);
    draw_until(copies_next);
    CHECK(fault->send(peer, "header", 7, body, 8, &tokens[0]) == TRANSPORT_DONE && !mine->breaking);
    CHECK(fault->progress(mine) == 1 && nsent == 1 && ends == 0 && breaks == 0);
    CHECK(fault->send(peer, "header", 7, body, 600, &tokens[1]) == TRANSPORT_PENDING && mine->breaking == peer);
    CHECK(fault->progress(mine) == 1 && nsent == 1 && only_end(&tokens[1], true) && breaks == 1);
    finish();
}

static void fails_in_the_end(void)
{
    begin((struct fault_plan){.pe = -1, .hold = 100, .steps = 1, .fails = FAULT_FINISH, .at = 1}, 3);
    CHECK(fault->send(peer, "header", 7, body, 600, &tokens[0]) == TRANSPORT_PENDING && mine->breaking == peer);
    CHECK(!peer->first && mine->first && ends == 0 && breaks == 0);
    CHECK(fault->progress(mine) == 1 && only_end(&tokens[0], true) && breaks == 1 && nsent == 0);
    finish();
}

static void held(void)
{
    draws();
    in_order();
    last_leaves();
    rest_moves();
    so_many();
    copies();
    begun_in_event();
    without_memory();
    done_fails_not();
}
