/* Each allocation of the operations on peers of other nodes fails once: the job ends with a line that says so, and nobody goes on
 * without the memory. And what is over, or never will be, is freed with the lanes. */
#define CARRIER_MALLOC carrier_malloc
void *carrier_malloc(unsigned long bytes);
void *__libc_malloc(unsigned long bytes);
void *__libc_calloc(unsigned long n, unsigned long bytes);
void *__libc_realloc(void *old, unsigned long bytes);
void __libc_free(void *memory);

#include "uccs/link/use.c"

#include "carrier.h"

#include <signal.h>

enum { NONE = 1000000 };
static int fails_at = NONE, allocations; /* the first number is 0 */
static const char *operation = "none";
static int live; /* allocations that have not been freed */

/* The record of a peer is the test's own (fuzz/world.c). */
static bool fails(size_t bytes)
{
    return fails_at != NONE && bytes != sizeof(struct link_record) && allocations++ == fails_at;
}

void *malloc(size_t bytes)
{
    void *made = fails(bytes) ? 0 : __libc_malloc(bytes);
    live += made != 0;
    return made;
}

void *calloc(size_t n, size_t bytes)
{
    void *made = fails(n * bytes) ? 0 : __libc_calloc(n, bytes);
    live += made != 0;
    return made;
}

void *realloc(void *old, size_t bytes)
{
    void *made = fails(bytes) ? 0 : __libc_realloc(old, bytes);
    live += made != 0 && !old;
    return made;
}

void free(void *memory)
{
    live -= memory != 0;
    __libc_free(memory);
}

/* Of what has left, which does not fail. */
void *carrier_malloc(unsigned long bytes)
{
    live++;
    return __libc_malloc(bytes);
}

/* The library has used memory that it has not got. */
static void no_line(int signal)
{
    char text[200];
    const int bytes = snprintf(text, sizeof text, "not true: %s ends the job when allocation %d fails (signal %d)\n",
                               operation, fails_at, signal);
    _exit(write(STDERR_FILENO, text, (size_t)bytes) == bytes ? 1 : 2);
}

/* --- Operations */

static char data[65536];
static struct uccs_request request;
static struct uccs_far_lanes lanes;
static struct link_track *track;
static const struct uccs_far_with counts = {.what = FAR_COUNT, .weight = 1};
static const struct uccs_far_blocks blocks = {8, 2, 16, 8};
static const struct uccs_change change = {UCCS_INT32, UCCS_SUM, 2};
static const struct uccs_far_place region = {FAR_REGION, 0, 77};

static void small_put(void)
{
    uccs_far_put_nb(0, 1, in_heap(0), data, 8, 0, 0);
}

static void with_request(void)
{
    uccs_request_handle handle = 0;
    uccs_far_put_nb(0, 1, in_heap(0), data, 9000, 0, &handle);
}

static void put_blocks(void)
{
    uccs_far_put_blocks(0, 1, in_heap(0), data, &blocks, true, &counts, 0);
}

static void get(void)
{
    uccs_far_get_local(0, 1, in_heap(0), data, 8, &counts, false, 0, 0);
}

static void watch(void)
{
    uccs_far_flush(0, &request);
}

static void change_there(void)
{
    uccs_far_change(0, 1, region, &change, data, 0, false, &counts, 0, 0);
}

static void flush(void)
{
    uccs_far_flush(0, &request);
}

static void open_track(void)
{
    track = link_track_open();
}

static void put_in_track(void)
{
    uccs_far_put_nb(link_track_lanes(track), 1, in_heap(0), data, 8, 0, 0);
    uccs_far_get_nb(link_track_lanes(track), 1, in_heap(0), data, 8, 0, 0);
    link_track_flush(track, 0, 0, &request);
}

static void hello(void)
{
    uccs_far_put_nb(&lanes, 1, in_heap(0), data, 8, 0, 0);
}

static void new_peer(void)
{
    (void)link_peer_of(link_service(), 2);
}

static void tokens(void)
{
    struct link_tokens table = {0};
    for (int i = 0; i < 20; i++)
        (void)link_token_give(&table, data, 1, LINK_DATA);
    link_token_close(&table);
}

/* They stay open, so that each call needs more memory. */
static void rooms(void)
{
    for (int i = 0; i < 9; i++)
        (void)uccs_far_open_room(data, 8);
}

static void connected(void)
{
    uccs_far_flag(1, 64, 0, false);
}

/* All lanes are open; where one cannot be, the service lane takes its place. */
static void opened(void)
{
    connected();
    for (int i = 0; i < 3; i++)
        (void)link_lane_of(&(struct uccs_far_lanes){0});
}

static void tracked(void)
{
    opened();
    open_track();
}

/* A connection, and nothing that could be used again. */
static void bare(void)
{
    connected();
    while (link_service()->idle) {
        struct link_send *send = link_service()->idle;
        link_service()->idle = send->next;
        free(send);
    }
}

static void asking(void)
{
    bare();
    uccs_far_get_nb(0, 1, in_heap(0), data, 8, 0, 0);
}

static void putting(void)
{
    bare();
    small_put();
}

/* --- Messages of peers */

static struct link_header from(enum link_kind kind)
{
    return (struct link_header){.kind = (uint8_t)kind, .from = 1, .segment = FAR_HEAP, .at.offset = in_heap(0).offset};
}

static void arrive(const struct link_header *h, size_t bytes, bool rest)
{
    const struct transport_message message = {.header = h,
                                              .header_bytes = sizeof *h,
                                              .data = rest ? 0 : data,
                                              .bytes = bytes,
                                              .rest = rest ? data : 0};
    link_arrived(link_service(), &message);
}

static void keep(void)
{
    struct link_header h = from(LINK_PUT);
    h.after = 1;
    arrive(&h, 8, false);
}

static void fetch(void)
{
    struct link_header h = from(LINK_PUT_BLOCKS); /* by a buffer */
    h.put_blocks.block = 8;
    h.put_blocks.stride = 8;
    arrive(&h, 64, true);
}

static void of_lane(void)
{
    struct link_header h = from(LINK_HELLO);
    h.lane = 4;
    arrive(&h, 8, false);
}

static void refuse(void)
{
    struct link_header h = from(LINK_PUT);
    h.segment = FAR_REGION;
    h.at.region = 99;
    h.number = 5;
    arrive(&h, 8, false);
    h = (struct link_header){.kind = LINK_FLUSH, .from = 1, .flush.asker = 1};
    arrive(&h, 0, false);
}

static void serve(void)
{
    struct link_header h = from(LINK_GET);
    const struct link_notice notice = {.what = FAR_NOTHING};
    memcpy(data, &notice, sizeof notice);
    h.get.asker = 1;
    h.get.bytes = 8;
    h.get.notices = 1;
    arrive(&h, sizeof notice, false);
    h = from(LINK_GET_BLOCKS);
    h.get_blocks.asker = 1;
    h.get_blocks.block = 8;
    h.get_blocks.count = 2;
    h.get_blocks.stride = 16;
    arrive(&h, 0, false);
    h = from(LINK_CHANGE);
    h.segment = FAR_REGION;
    h.at = (struct link_memory){0, world_region};
    h.change.asker = 1;
    h.change.n = 2;
    h.change.type = UCCS_INT32;
    h.change.how = UCCS_SUM;
    arrive(&h, 8, false);
    h = from(LINK_LOCK);
    h.at.offset += (64 - (uintptr_t)world_heap % 64) % 64;
    h.amo.asker = 1;
    h.amo.what = UCCS_LOCK_EXCLUSIVE;
    arrive(&h, 0, false);
}

static void tell_importers(void)
{
    const uint64_t none = 0;
    uccs_far_memory_gone(7, &none);
}

static void know(struct link_lane *lane)
{
    struct left *left = carrier_last();
    if (left->header.kind != LINK_GONE || left->key)
        return;
    struct link_header h = carrier_answer(left, LINK_AMO_ANSWER);
    const struct transport_message message = {.header = &h, .header_bytes = sizeof h};
    left->key = left; /* answered */
    link_arrived(lane, &message);
}

static void tell_importer(void)
{
    const uint64_t importers = 2;
    carrier.look = know;
    uccs_far_memory_gone(7, &importers);
}

/* --- Signed messages */

static void sealing(void)
{
    connected();
    link_sealed = true;
}

static void seal(void)
{
    uccs_far_put_nb(0, 1, in_heap(0), data, 9000, 0, 0);
    link_sealed = false;
}

static void number(void)
{
    static struct link_seen seen;
    const struct link_header h = from(LINK_PUT);
    seen = (struct link_seen){0};
    for (uint64_t i = 2; i < 80; i += 2)
        link_seal_number(&h, &(struct link_seal){.number = i}, &seen);
    free(seen.missing);
}

/* --- Operations of the network */

static void able(void)
{
    link_has_direct = true;
    link_wire = TRANSPORT_ALONE;
    carrier.able = TRANSPORT_ALONE | TRANSPORT_KNOWN;
    bare();
}

static void direct_put(void)
{
    uccs_far_put_nb(0, 1, region, data, 8, 0, 0);
}

static void give_keys(void)
{
    for (unsigned i = 0; i < carrier.count; i++)
        if (carrier.left[i].header.kind == LINK_KEY) {
            const struct link_header h = carrier_answer(&carrier.left[i], LINK_KEYED);
            arrive(&h, 8, false);
        }
}

static void keyed(void)
{
    able();
    direct_put();
    give_keys();
}

/* A put that is under way, and a message behind it, whose data is copied. */
static void direct_behind(void)
{
    carrier.flushes = TRANSPORT_PENDING;
    direct_put();
    uccs_far_fence(0);
    uccs_far_change(0, 1, region, &change, data, 0, true, 0, 0, 0);
    uccs_far_flush(0, &request);
}

static void share(void)
{
    (void)link_share(world_heap, 64);
}

static const struct {
    const char *name;
    void (*begin)(void), (*run)(void);
    int least;  /* allocations */
    bool stays; /* some of it is under way when the lanes end */
} operations[] = {
    {"a put", bare, small_put, 2, false},
    {"a put with a request", bare, with_request, 3, true},
    {"a put of blocks", bare, put_blocks, 3, false},
    {"a get", bare, get, 3, true},
    {"a flush of gets", asking, watch, 1, true},
    {"a change", bare, change_there, 3, false},
    {"a flush", putting, flush, 2, true},
    {"a stream", opened, open_track, 1, true},
    {"a put in a stream", tracked, put_in_track, 5, true},
    {"a hello", opened, hello, 4, true},
    {"a connection", connected, new_peer, 1, false},
    {"a question", connected, tokens, 2, false},
    {"a room", connected, rooms, 1, false},
    {"a message that waits", connected, keep, 1, false},
    {"long data", connected, fetch, 2, false},
    {"another lane", connected, of_lane, 2, false},
    {"a refusal", connected, refuse, 2, false},
    {"answers", connected, serve, 5, false},
    {"memory that is gone", connected, tell_importers, 1, false},
    {"memory that a peer has imported", bare, tell_importer, 3, false},
    {"a signature", sealing, seal, 1, false},
    {"a number", connected, number, 2, false},
    {"a key", able, direct_put, 3, false},
    {"a put of the network", keyed, direct_behind, 5, true},
    {"memory with a key", connected, share, 1, false},
};

static void run(void *argument)
{
    ((void (*)(void))(uintptr_t)argument)();
}

/* Returns null, or the line that ends the job. */
static const char *try_at(size_t which, int at)
{
    fails_at = NONE;
    link_sealed = link_has_direct = false;
    link_never_waits = false;
    pthread_mutex_init(&records, 0); /* a line leaves it locked */
    carrier_reset();
    lanes = (struct uccs_far_lanes){0};
    request = (struct uccs_request){.pending = 1};
    operations[which].begin();
    allocations = 0;
    fails_at = at;
    const char *why = world_try(run, (void *)(uintptr_t)operations[which].run);
    fails_at = NONE;
    return why;
}

static void end_all(void)
{
    link_sealed = false;
    carrier_reset();
}

static void frees(size_t which)
{
    end_all();
    const int before = live;
    (void)try_at(which, NONE);
    (void)link_poll(link_service());
    end_all();
    if (live != before)
        fprintf(stderr, "%s: %d allocations stay\n", operation, live - before);
    CHECK(live == before || operations[which].stays);
}

int main(void)
{
    carrier_open();
    signal(SIGSEGV, no_line);
    carrier.receives = TRANSPORT_PENDING;
    for (size_t which = 0; which < sizeof operations / sizeof *operations; which++) {
        operation = operations[which].name;
        const char *why = try_at(which, NONE - 1);
        if (why || allocations < operations[which].least)
            fprintf(stderr, "%s: %d allocations; %s\n", operation, allocations, why ? why : "good");
        CHECK(!why && allocations >= operations[which].least);
        const int all = allocations;
        frees(which);
        for (int at = 0; at < all; at++) {
            why = try_at(which, at);
            const bool says = why && (strstr(why, "no memory") || strstr(why, "no connection to PE 1"));
            if (!says)
                fprintf(stderr, "%s, allocation %d: %s\n", operation, at, why ? why : "goes on");
            CHECK(says);
        }
    }
    _exit(0);
}
