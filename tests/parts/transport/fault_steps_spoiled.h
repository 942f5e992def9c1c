/* Messages that arrive spoiled: where, how much, and of how many. A part of fault_steps.c. */

enum { HEADER = 40, DATA = 5 };
static char header_sent[HEADER], data_sent[DATA];

static void arrive(size_t bytes, bool later)
{
    const struct transport_message message = {.header = header_sent,
                                              .header_bytes = HEADER,
                                              .data = later ? 0 : data_sent,
                                              .bytes = bytes,
                                              .rest = later ? &owner : 0};
    arrivals = 0;
    said[0] = 0;
    inner_events->arrived(mine, &message);
    CHECK(arrivals >= 1 && owner_told == &owner && came[0].rest == message.rest);
}

static bool same_header(int number)
{
    return memcmp(came_header[number], header_sent, HEADER) == 0 && came[number].header_bytes == HEADER;
}

static bool same_data(int number)
{
    return !came[number].data || (memcmp(came_data[number], data_sent, DATA) == 0 && came[number].bytes == DATA);
}

/* One bit of all, of the data only where they are there. */
static void flipped(uint64_t where, bool later)
{
    const size_t at = where % (later ? HEADER : HEADER + DATA);
    const char bit = (char)(1 << (where >> 40) % 8);
    CHECK(arrivals == 1 && came[0].bytes == DATA && came[0].header_bytes == HEADER && strstr(said, " flipped\n"));
    for (size_t i = 0; i < HEADER; i++)
        CHECK(came_header[0][i] == (char)(header_sent[i] ^ (i == at ? bit : 0)));
    for (size_t i = 0; i < DATA && !later; i++)
        CHECK(came_data[0][i] == (char)(data_sent[i] ^ (HEADER + i == at ? bit : 0)));
}

static void cut(uint64_t where, bool later)
{
    CHECK(arrivals == 1 && strstr(said, " cut\n") && came[0].header_bytes <= HEADER);
    CHECK(memcmp(came_header[0], header_sent, came[0].header_bytes) == 0);
    CHECK(came[0].header_bytes == (later ? where % HEADER : HEADER));
    CHECK(came[0].bytes == (later ? DATA : where % DATA));
}

static void repeated(bool later)
{
    CHECK(arrivals == (later ? 1 : 2) && same_header(0) && same_data(0) && strstr(said, " repeated\n"));
    CHECK(later || (same_header(1) && same_data(1) && came[1].data == data_sent && came[1].header == header_sent));
}

/* Sixteen bytes behind the first eight, in a row that goes round. */
static void forged(uint64_t where, uint64_t state)
{
    char forgery[HEADER];
    memcpy(forgery, header_sent, HEADER);
    for (size_t i = 0; i < 16; i++)
        forgery[8 + (where + i) % (HEADER - 8)] = (char)next_random(&state);
    CHECK(arrivals == 1 && memcmp(came_header[0], forgery, HEADER) == 0 && same_data(0) && strstr(said, " forged\n"));
}

static bool cuts_next(uint64_t *state)
{
    return next_random(state) && next_random(state) % 5 == 2;
}

/* What a number of the generator says. The first draw has decided that the message is spoiled. */
static void each_kind(void)
{
    unsigned seen[5] = {0}, bits = 0;
    begin((struct fault_plan){.pe = -1, .mutate = 10000}, 3);
    for (int i = 0; i < 1500; i++) {
        const bool later = i % 3 == 0;
        for (size_t k = 0; k < HEADER; k++)
            header_sent[k] = (char)(k + (size_t)i);
        if (i == 0)
            draw_until(cuts_next);
        uint64_t state = mine->random;
        (void)next_random(&state);
        const uint64_t random = next_random(&state), where = random >> 16;
        const unsigned which = random % 5;
        arrive(DATA, later);
        CHECK((came[0].data != 0) == !later && came[0].header != header_sent && owned_count == 2);
        if (which < 2)
            flipped(where, later), bits |= 1u << (where >> 40) % 8;
        else if (which == 2)
            cut(where, later);
        else if (which == 3)
            repeated(later);
        else
            forged(where, state);
        seen[which]++;
    }
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] > 30);
    CHECK(bits == 0xff);
    finish();
}

/* Of a message without data the header is spoiled. */
static bool cuts(uint64_t *state)
{
    return next_random(state) % 5 == 2;
}

static void no_data(void)
{
    begin((struct fault_plan){.pe = -1, .mutate = 10000}, 3);
    for (int i = 0; i < 20; i++) {
        draw_until(cuts);

        const struct transport_message message = {.header = header_sent, .header_bytes = HEADER, .data = data_sent};
        arrivals = 0;
        mutate(mine, &message);
        CHECK(arrivals == 1 && came[0].header_bytes < HEADER && came[0].bytes == 0 && came[0].data && !came[0].rest);
    }
    finish();
}

/* --- Of how many */

static uint64_t border;

static bool is_border(uint64_t *state)
{
    return next_random(state) % 10000 == border;
}

static bool is_spoiled(void)
{
    arrive(DATA, false);
    CHECK((came[0].header == header_sent) == !said[0]);
    return said[0] != 0;
}

static void share(void)
{
    begin((struct fault_plan){.pe = -1, .mutate = 3}, 3);
    for (border = 1; border < 5; border++) {
        draw_until(is_border);
        CHECK(is_spoiled() == (border < 3));
    }
    finish();
    begin((struct fault_plan){.pe = -1}, 3);
    const uint64_t before = mine->random;
    CHECK(!is_spoiled() && mine->random == before); /* no number is drawn */
    finish();
}

static void at_which(void)
{
    for (int named = -1; named < 3; named++)
        for (int pe = 0; pe < 3; pe++) {
            begin((struct fault_plan){.pe = named, .mutate = 10000}, pe);
            CHECK(is_spoiled() == (named == -1 || named == pe));
            finish();
        }
}

static void spoils_without_memory(void)
{
    for (volatile int left = 0; left < 2; left++) {
        begin((struct fault_plan){.pe = -1, .mutate = 10000}, 3);
        const size_t before = owned_count;
        owned_left = left;
        OWNED_FAILS(arrive(DATA, false), "no memory");
        CHECK(owned_count == before + 1); /* the other one of the two */
        free(owned_all[before].start);
        finish();
    }
}

static void spoiled(void)
{
    each_kind();
    no_data();
    share();
    at_which();
    spoils_without_memory();
}
