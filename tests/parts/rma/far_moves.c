/* What one-sided operations ask of the network for memory of another node: which messages, in which order, with which notice, and when
 * they wait. The network is made up: it writes down what it is asked for, and moves bytes when it is told to. */
#include "far_moves_network.h"

static uint32_t generation = 7;
static struct uccs_region memory = {.length = 1 << 24, .owner = PE, .slot = 5, .generation = 7, .now = &generation};
static struct uccs_endpoint endpoint = {.pe = PE};
static char bytes[1 << 20];
static struct uccs_op op;

static int run(struct uccs_rma rma)
{
    rma.endpoint = &endpoint;
    rma.memory = &memory;
    rma.op = &op;
    rma.request = op.request;
    times = fences = change_fences = waits = looks = pauses = 0;
    memset(asked, 0, sizeof asked);
    return uccs_rma_far(&rma);
}

static bool is(int i, const char *what, uint64_t offset, const void *local, size_t length)
{
    const struct asked *one = &asked[i];
    return one->what && strcmp(one->what, what) == 0 && one->at.segment == FAR_REGION && one->at.offset == offset &&
           one->at.region == uccs_region_id(5, 7) && one->local == local && one->bytes == length;
}

/* Only this message brings these notices. */
static bool only_last_tells(int last, bool counts, bool signals)
{
    for (int i = 0; i < times; i++)
        if (asked[i].counts != (i == last && counts) || asked[i].signals != (i == last && signals))
            return false;
    return true;
}

static struct uccs_signal signal_there = {.memory = &memory, .offset = 64, .value = 9, .how = UCCS_SIGNAL_ADD};

static void with(bool counter, bool signal, bool nonblocking)
{
    op = (struct uccs_op){.nonblocking = nonblocking,
                          .counter = counter ? 77 : 0,
                          .signal = signal ? &signal_there : NULL};
}

static bool is_count(const struct uccs_far_with *one, int64_t weight)
{
    return one->what == FAR_COUNT && one->value == 77 && one->weight == weight && !one->also;
}

static bool is_signal(const struct uccs_far_with *one, enum uccs_far_what what)
{
    return one->what == what && one->value == 9 && one->place.segment == FAR_REGION && one->place.offset == 64 &&
           one->place.region == uccs_region_id(5, 7);
}

static void puts_of_bytes(void)
{
    const struct uccs_rma put = {.kind = RMA_PUT, .offset = 10, .local = bytes, .length = 20};
    for (int later = 0; later < 2; later++) {
        const char *name = later ? "put later" : "put";
        with(false, false, later);
        CHECK(run(put) == UCCS_OK && times == 1 && is(0, name, 10, bytes, 20) && only_last_tells(0, false, false));
        with(true, false, later);
        CHECK(run(put) == UCCS_OK && times == 1 && is(0, name, 10, bytes, 20) && is_count(&asked[0].with, 1));
        op.weight = 4;
        CHECK(run(put) == UCCS_OK && is_count(&asked[0].with, 4) && only_last_tells(0, true, false));
        with(false, true, later);
        CHECK(run(put) == UCCS_OK && times == 1 && is(0, name, 10, bytes, 20) &&
              is_signal(&asked[0].with, FAR_SIGNAL_ADD));
        CHECK(only_last_tells(0, false, true) && !asked[0].with.also);
        with(true, true, later); /* as a block: a put has room for one notice */
        CHECK(run(put) == UCCS_OK && times == 1 && is(0, "put blocks", 10, bytes, 20) && asked[0].count == 1);
        CHECK(!asked[0].later && is_signal(&asked[0].with, FAR_SIGNAL_ADD) && is_count(&asked[0].also, 1));
        struct uccs_rma none = put;
        none.length = 0;
        CHECK(run(none) == UCCS_OK && times == 2 && fences == 2 && strcmp(asked[0].what, "behind") == 0);
        CHECK(asked[0].signals && asked[1].counts && asked[0].bytes == 0 && asked[1].at.segment == FAR_HEAP);
        with(true, false, later);
        CHECK(run(none) == UCCS_OK && times == 1 && is(0, name, 10, bytes, 0) && asked[0].counts);
    }
    signal_there.how = UCCS_SIGNAL_SET;
    with(false, true, false);
    CHECK(run(put) == UCCS_OK && is_signal(&asked[0].with, FAR_SIGNAL_SET) && fences == 0 && change_fences == 0);
}

/* When the program may use its buffers again. */
static void freed_buffers(void)
{
    const struct uccs_rma put = {.kind = RMA_PUT, .local = bytes, .length = 8};
    uccs_request_t here = NULL;
    with(false, false, false);
    op.local = &here;
    CHECK(run(put) == UCCS_OK && here == UCCS_REQUEST_CLEAN && !asked[0].here);
    here = NULL;
    op.nonblocking = 1;
    CHECK(run(put) == UCCS_OK && uccs_request_object(here) && asked[0].here == here);
    uccs_request_free(&here);
    with(true, true, true); /* a block is copied */
    op.local = &here;
    CHECK(run(put) == UCCS_OK && here == UCCS_REQUEST_CLEAN);
    here = NULL;
    const struct uccs_rma get = {.kind = RMA_GET, .local = bytes, .length = 8};
    with(false, false, true);
    op.local = &here;
    CHECK(run(get) == UCCS_OK && asked[0].here == here && uccs_request_object(here));
    uccs_request_free(&here);
    op.nonblocking = 0;
    CHECK(run(get) == UCCS_OK && here == UCCS_REQUEST_CLEAN);
}

static void pieces(void)
{
    const struct uccs_piece some[] = {{0, bytes, 0},
                                      {10, bytes + 1, 4},
                                      {20, bytes + 2, 0},
                                      {30, bytes + 3, 5},
                                      {40, bytes, 0}};
    struct uccs_rma put = {.kind = RMA_PUT, .pieces = some, .n = 5};
    with(true, false, true);
    CHECK(run(put) == UCCS_OK && times == 2 && is(0, "put later", 10, bytes + 1, 4) &&
          is(1, "put later", 30, bytes + 3, 5));
    CHECK(only_last_tells(1, true, false) && fences == 1); /* the last one stays behind the others */
    put.n = 2;
    CHECK(run(put) == UCCS_OK && times == 1 && only_last_tells(0, true, false));
    put.pieces = some + 1;
    put.n = 1; /* it is the first one, too */
    CHECK(run(put) == UCCS_OK && times == 1 && fences == 0 && only_last_tells(0, true, false));
    put.pieces = some;
    put.n = 1; /* without a byte */
    CHECK(run(put) == UCCS_OK && times == 1 && asked[0].counts && strcmp(asked[0].what, "behind") == 0 && fences == 1);
    put.n = 5;
    with(false, false, false);
    CHECK(run(put) == UCCS_OK && times == 2 && fences == 0 && is(0, "put", 10, bytes + 1, 4));
    put.kind = RMA_GET;
    CHECK(run(put) == UCCS_OK && times == 2 && is(0, "get later", 10, bytes + 1, 4) &&
          is(1, "get later", 30, bytes + 3, 5));
    CHECK(pauses == 1 && only_last_tells(0, false, false)); /* it waits for both */
    good = false;
    CHECK(run(put) == UCCS_ERR_STALE && times == 2);
    good = true;
    with(true, false, false);
    CHECK(run(put) == UCCS_OK && times == 3 && asked[2].counts && strcmp(asked[2].what, "behind") == 0);
    with(true, false, true); /* it waits, as it has to tell of many */
    CHECK(run(put) == UCCS_OK && times == 3 && pauses == 1 && only_last_tells(2, true, false));
    with(false, false, true);
    CHECK(run(put) == UCCS_OK && times == 2 && pauses == 0 && !asked[0].here);
}

/* Small blocks go in packs of 256 kB. */
static void packs(void)
{
    const size_t most = PACK_BYTES / 1000;
    const struct uccs_stride two = {1000, most + 3, 2000, -5}, one = {1000, most, 2000, 1000},
                             large = {PACK_BYTES, 2, -(ptrdiff_t)PACK_BYTES, 8};
    struct uccs_rma put = {.kind = RMA_PUT, .offset = 1 << 20, .local = bytes + 500000, .blocks = &two};
    with(true, true, true);
    CHECK(run(put) == UCCS_OK && times == 2 && is(0, "put blocks", 1 << 20, bytes + 500000, 1000) &&
          asked[0].count == most);
    CHECK(is(1, "put blocks", (1 << 20) + most * 2000, bytes + 500000 - 5 * most, 1000) && asked[1].count == 3);
    CHECK(only_last_tells(1, true, true) && fences == 1 && asked[0].later && asked[1].later);
    put.blocks = &one;
    CHECK(run(put) == UCCS_OK && times == 1 && fences == 0 && only_last_tells(0, true, true));
    put.blocks = &large;
    with(false, false, false);
    CHECK(run(put) == UCCS_OK && times == 2 && asked[0].count == 1 && !asked[0].later && fences == 0);
    CHECK(is(1, "put blocks", (1 << 20) - PACK_BYTES, bytes + 500008, PACK_BYTES));
    for (int none = 0; none < 2; none++) {
        const struct uccs_stride empty = {none ? 0 : 8, none ? 3 : 0, 8, 8};
        put.blocks = &empty;
        put.kind = RMA_PUT;
        with(true, false, false);
        CHECK(run(put) == UCCS_OK && times == 1 && asked[0].counts && strcmp(asked[0].what, "behind") == 0);
        put.kind = RMA_GET;
        CHECK(run(put) == UCCS_OK && times == 1 && asked[0].counts && strcmp(asked[0].what, "behind") == 0);
        with(false, false, false);
        CHECK(run(put) == UCCS_OK && times == 0);
    }
    put.kind = RMA_GET;
    put.blocks = &two;
    CHECK(run(put) == UCCS_OK && times == 2 && is(0, "get blocks", 1 << 20, bytes + 500000, 1000) && pauses == 1);
    CHECK(is(1, "get blocks", (1 << 20) + most * 2000, bytes + 500000 - 5 * most, 1000) && asked[1].count == 3);
}

static void gets(void)
{
    const struct uccs_rma get = {.kind = RMA_GET, .offset = 10, .local = bytes, .length = 20};
    struct uccs_rma none = get;
    uccs_request_t request = NULL;
    none.length = 0;
    with(false, false, false);
    CHECK(run(get) == UCCS_OK && times == 1 && is(0, "get", 10, bytes, 20));
    good = false;
    CHECK(run(get) == UCCS_ERR_STALE && times == 1);
    memory.dynamic = true;
    CHECK(run(get) == UCCS_ERR_BOUNDS); /* it is there, but not that range */
    generation++;
    CHECK(run(get) == UCCS_ERR_STALE);
    generation--;
    memory.dynamic = false;
    good = true;
    for (int which = 1; which < 4; which++) { /* the notice follows the data */
        with(which & 1, which & 2, false);
        CHECK(run(get) == UCCS_OK && times == (which == 3 ? 3 : 2) && strcmp(asked[1].what, "behind") == 0);
        CHECK(asked[1].signals == (which > 1) && asked[times - 1].counts == (which & 1) && fences == times - 1);
        with(which & 1, which & 2, true);
        CHECK(run(get) == UCCS_OK && times == (which == 3 ? 3 : 1)); /* one notice goes with the message */
        CHECK(which == 3 || (is(0, "get later", 10, bytes, 20) && only_last_tells(0, which & 1, which & 2)));
        CHECK(run(none) == UCCS_OK && asked[times - 1].counts == (which & 1) &&
              strcmp(asked[times - 1].what, "behind") == 0);
    }
    with(false, false, true);
    op.request = &request;
    CHECK(run(get) == UCCS_OK && times == 1 && asked[0].request == &request && request == UCCS_REQUEST_CLEAN);
    request = NULL;
    CHECK(run(none) == UCCS_OK && times == 0 && request == UCCS_REQUEST_CLEAN); /* nothing comes */
}

static void atomics(void)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 5, 6}, set = {UCCS_ATOMIC_SET, 4, 5, 6},
                                fetch_it = {UCCS_ATOMIC_FETCH, 4, 5, 6};
    struct uccs_rma rma = {.kind = RMA_ATOMIC, .offset = 16, .atomic = &add};
    uint64_t result = 0x7777777777777777u;
    old_value = 0x1122334455667788u;
    for (int later = 0; later < 2; later++) {
        with(true, false, later);
        rma.result = NULL;
        rma.atomic = &add;
        CHECK(run(rma) == UCCS_OK && times == 1 && is(0, "atomic", 16, NULL, 8) && asked[0].count == UCCS_ATOMIC_ADD);
        CHECK(asked[0].later == later && only_last_tells(0, true, false));
        rma.result = &result;
        rma.atomic = &set; /* a set that fetches is a swap */
        CHECK(run(rma) == UCCS_OK && is(0, later ? "fetch atomic" : "atomic now", 16, later ? &result : NULL, 4));
        CHECK(asked[0].count == UCCS_ATOMIC_SWAP && times == 2 - later && only_last_tells(times - 1, true, false));
        CHECK(result == 0x7777777755667788u);
        rma.result = NULL;
        CHECK(run(rma) == UCCS_OK && asked[0].count == UCCS_ATOMIC_SET && strcmp(asked[0].what, "atomic") == 0);
        rma.atomic = &fetch_it; /* an operation that only fetches does so even for nobody */
        CHECK(run(rma) == UCCS_OK && is(0, later ? "fetch atomic" : "atomic now", 16, NULL, 4));
    }
    good = false;
    with(false, false, false);
    rma.result = &result;
    result = 3;
    CHECK(run(rma) == UCCS_ERR_STALE && result == 3 && times == 1);
    good = true;
}

static void changes(void)
{
    struct uccs_change change = {UCCS_DOUBLE, UCCS_SUM, 3};
    struct uccs_rma rma = {.kind = RMA_CHANGE, .offset = 16, .local = bytes, .change = &change};
    double result[3];
    for (int later = 0; later < 2; later++) {
        with(true, false, later);
        rma.result = NULL;
        change.n = 3;
        CHECK(run(rma) == UCCS_OK && times == 1 && is(0, "change", 16, bytes, 0) && asked[0].count == 3);
        CHECK(asked[0].later == later && only_last_tells(0, true, false));
        rma.result = result;
        CHECK(run(rma) == UCCS_OK && is(0, later ? "fetch change" : "change now", 16, bytes, 0) && times == 2 - later);
        CHECK(only_last_tells(times - 1, true, false));
        change.n = 0; /* no message: the notice goes by itself */
        CHECK(run(rma) == UCCS_OK && times == 2 && asked[1].counts && strcmp(asked[1].what, "behind") == 0);
        rma.result = NULL;
        CHECK(run(rma) == UCCS_OK && times == 2 && asked[1].counts && strcmp(asked[1].what, "behind") == 0);
    }
    with(false, false, false);
    CHECK(run(rma) == UCCS_OK && times == 1);
    good = false;
    rma.result = result;
    CHECK(run(rma) == UCCS_ERR_STALE);
    good = true;
}

/* Operations that keep their order wait only where a long get still reads what they change. */
static void ordered(void)
{
    const struct uccs_rma put = {.kind = RMA_PUT, .local = bytes, .length = 8},
                          get = {.kind = RMA_GET, .local = bytes, .length = 8};
    for (int which = 0; which < 2; which++) {
        with(false, false, false);
        op.ordered = which;
        endpoint.ordered = !which;
        CHECK(run(put) == UCCS_OK && change_fences == 1 && waits == 0 && fences == 0 && times == 1);
        reads = true;
        CHECK(run(put) == UCCS_OK && change_fences == 1 && waits == 1 && times == 1);
        CHECK(run(get) == UCCS_OK && change_fences == 0 && waits == 0 && fences == 1 && asked[0].ordered &&
              pauses == 1);
        reads = false;
    }
    endpoint.ordered = 0;
    with(false, false, false);
    reads = true;
    CHECK(run(put) == UCCS_OK && change_fences == 0 && waits == 0);
    reads = false;
}

/* With nowait nothing is issued while it would wait. */
static void nowait(void)
{
    const struct uccs_rma put = {.kind = RMA_PUT, .local = bytes, .length = 8},
                          get = {.kind = RMA_GET, .local = bytes, .length = 8};
    with(false, false, true);
    CHECK(run(put) == UCCS_OK && !never_waited);
    op.nowait = 1;
    CHECK(run(put) == UCCS_OK && times == 1 && never_waited && !link_never_waits && looks == 0);
    busy = true;
    CHECK(run(put) == UCCS_AGAIN && times == 0);
    busy = false;
    reads = true;
    CHECK(run(put) == UCCS_OK && looks == 0);
    op.ordered = 1;
    CHECK(run(put) == UCCS_AGAIN && times == 0 && looks == 1 && change_fences == 0);
    CHECK(run(get) == UCCS_OK && times == 1);
    reads = false;
    CHECK(run(put) == UCCS_OK && times == 1 && looks == 0);
}

/* A lock of another node is its owner's to grant; a refusal says why. */
static void locks(void)
{
    static struct uccs_ticket_lock here __attribute__((aligned(CACHE_LINE)));
    static char room[UCCS_LOCK_BYTES] __attribute__((aligned(CACHE_LINE)));
    struct uccs_region near = memory;
    uccs_core.npes = PE + 1;
    uccs_core.pes = 1;
    here.guests = TICKET_ADMITTED + TICKET_GUEST;
    memcpy(room, &here, sizeof here);
    near.near = room; /* one that is mapped needs no message */
    near.length = sizeof room;
    CHECK(uccs_unlock(&endpoint, &near, 0, UCCS_LOCK_GUEST) == UCCS_OK && times == 0);
    CHECK(uccs_lock(&endpoint, &near, 0, UCCS_LOCK_GUEST) == UCCS_OK && times == 0 &&
          memcmp(room, &here, sizeof here) == 0);
    for (int mode = UCCS_LOCK_SHARED; mode <= UCCS_LOCK_GUEST; mode++) {
        const enum uccs_lock_mode how = (enum uccs_lock_mode)mode;
        uccs_request_t request = NULL;
        times = pauses = 0;
        CHECK(uccs_lock(&endpoint, &memory, 128, how) == UCCS_OK && times == 1 && pauses == 3);
        CHECK(is(0, "lock", 128, NULL, 0) && asked[0].count == (size_t)mode);
        CHECK(uccs_unlock(&endpoint, &memory, 128, how) == UCCS_OK && times == 2 && is(1, "unlock", 128, NULL, 0));
        CHECK(asked[1].count == (size_t)mode && pauses == 3);
        times = 0;
        CHECK(uccs_lock_nb(&endpoint, &memory, 256, how, &request) == UCCS_OK && times == 1 &&
              is(0, "lock", 256, NULL, 0));
        CHECK(asked[0].here == request && uccs_request_pending(request) == 1 && asked[0].count == (size_t)mode);
        uccs_request_finish(request, false);
        uccs_request_free(&request);
        good = false;
        times = pauses = 0;
        CHECK(uccs_lock(&endpoint, &memory, 128, how) == UCCS_ERR_INVALID && times == 1);
        good = true;
        uccs_handlers_running = 1;
        CHECK(uccs_lock(&endpoint, &memory, 128, how) == UCCS_ERR_STATE && times == 1);
        uccs_handlers_running = 0;
        CHECK(uccs_lock(&endpoint, &memory, memory.length - 127, how) == UCCS_ERR_BOUNDS && times == 1);
        CHECK(uccs_unlock(&endpoint, &memory, memory.length - 127, how) == UCCS_ERR_BOUNDS && times == 1);
        CHECK(uccs_lock_nb(&endpoint, &memory, memory.length - 127, how, &request) == UCCS_ERR_BOUNDS && !request);
        CHECK(uccs_lock(&endpoint, &memory, 128, UCCS_LOCK_GUEST + 1) == UCCS_ERR_INVALID && times == 1);
        generation++;
        CHECK(uccs_lock(&endpoint, &memory, 128, how) == UCCS_ERR_STALE &&
              uccs_unlock(&endpoint, &memory, 128, how) == UCCS_ERR_STALE);
        generation--;
    }
    CHECK(times == 1);
    times = pauses = 0;
    memory.now = &memory.heard; /* released while it is waited for */
    memory.heard = 7;
    good = false;
    released_meanwhile = true;
    CHECK(uccs_lock(&endpoint, &memory, 128, UCCS_LOCK_SHARED) == UCCS_ERR_STALE && times == 1 && pauses == 3);
    good = true;
    released_meanwhile = false;
    memory.now = &generation;
}

/* Who leaves a lock, or passes it on, makes the owner's process look when a waiter of another node may have its turn. */
static void owners_told(void)
{
    static char room[UCCS_LOCK_BYTES] __attribute__((aligned(CACHE_LINE)));
    struct uccs_ticket_lock *lock = (struct uccs_ticket_lock *)(void *)room;
    struct uccs_region near = memory;
    near.near = room;
    near.length = sizeof room;
    for (int mine = 0; mine < 2; mine++)
        for (int full_rings = 0; full_rings < 3; full_rings += 2)
            for (int how = 0; how < 3; how++) {
                uccs_core.me = mine ? PE : 0;
                memset(room, 0, sizeof room);
                lock->guests = how == 2 ? TICKET_ADMITTED : 0;
                times = grants = tries = pauses = 0;
                full = full_rings;
                const enum uccs_lock_mode mode = how == 2 ? UCCS_LOCK_GUEST : UCCS_LOCK_EXCLUSIVE;
                CHECK(uccs_lock(&endpoint, &near, 0, mode) == UCCS_OK &&
                      uccs_unlock(&endpoint, &near, 0, mode) == UCCS_OK);
                CHECK(grants == 0 && tries == 0); /* nobody waits */
                CHECK(uccs_lock(&endpoint, &near, 0, mode) == UCCS_OK);
                (void)uccs_ticket_draw(lock);
                lock->word |= TICKET_FAR;
                CHECK((how == 1 ? uccs_unlock_mapped(&endpoint, room, mode) : uccs_unlock(&endpoint, &near, 0, mode)) ==
                      UCCS_OK);
                CHECK(grants == mine && tries == (mine ? 0 : 1 + full_rings) && pauses == (mine ? 0 : full_rings));
            }
    CHECK(times == 0);
    uccs_core.me = 0;
}

int main(void)
{
    locks();
    owners_told();
    atomics();
    puts_of_bytes();
    freed_buffers();
    pieces();
    packs();
    gets();
    changes();
    ordered();
    nowait();
    return 0;
}
