/* What the network's own operations do at their edges: memory and offsets beyond 4 GB, the second of two pieces, whom a failed one
 * concerns, who is reminded and woken, and what an atomic holds while it waits for its turn. The network does nothing until the test
 * says so. */
#include "carrier.h"

#include "uccs/core/reach.h"
#include "uccs/link/news.h"

/* --- What these files call */

static int fails_at; /* the allocation that fails, counted down; 0: none */
static unsigned rings, fences, rooms, pauses;

static bool has_memory(void)
{
    return !fails_at || --fails_at;
}

static void *get_memory(size_t bytes)
{
    return has_memory() ? malloc(bytes) : 0;
}

static void *get_zeros(size_t count, size_t bytes)
{
    return has_memory() ? calloc(count, bytes) : 0;
}

/* One thread: a lock that is taken is free, one that is released is held. */
static bool is_free(struct link_lane *lane)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return false;
    pthread_mutex_unlock(&lane->lock);
    return true;
}

static void take_lock(pthread_mutex_t *lock)
{
    const bool was_free = pthread_mutex_trylock(lock) == 0;
    CHECK(was_free);
}

static void release_lock(pthread_mutex_t *lock)
{
    const bool was_free = pthread_mutex_trylock(lock) == 0;
    CHECK(!was_free);
    pthread_mutex_unlock(lock);
}

static void pause_once(struct link_lane *lane, struct uccs_wait *wait)
{
    CHECK(is_free(lane) && ++pauses < 100);
    link_pause(lane, wait);
}

static void unlock_for_news(struct link_lane *lane)
{
    CHECK(!is_free(lane));
    link_news_unlock(lane);
}

static void make_room(struct link_lane *lane)
{
    CHECK(is_free(lane));
    rooms++;
}

#undef atomic_fence_seqcst
#define atomic_fence_seqcst() ((void)fences++)
#define malloc get_memory
#define calloc get_zeros
#define pthread_mutex_lock take_lock
#define pthread_mutex_unlock release_lock
#define link_pause pause_once
#define link_news_unlock unlock_for_news
#define link_make_room make_room
#define uccs_bell_ring_mine() ((void)rings++)
#include "uccs/link/atomic.c"
#include "uccs/link/bell.c"
#include "uccs/link/direct.c"
#undef malloc
#undef calloc
#undef pthread_mutex_lock
#undef pthread_mutex_unlock

#define START UINT64_C(0x700040000000) /* memory lies beyond 4 GB */
#define FAR_OFF (UINT64_C(3) << 32)    /* and so do places in it */
static char data[1 << 10];
static const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};

static struct link_peer *peer(void)
{
    return link_service()->peers[1];
}

static struct uccs_far_place at(uint64_t offset)
{
    return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset};
}

static void put(uint64_t offset, size_t bytes)
{
    uccs_far_put_nb(0, 1, at(offset), data, bytes, 0, 0);
}

/* Answers the last question for a key. */
static void give_key(uint64_t start)
{
    unsigned last = carrier.count;
    while (last && carrier.left[last - 1].header.kind != LINK_KEY)
        last--;
    CHECK(last);
    const struct left *asked = &carrier.left[last - 1];
    struct link_header h = carrier_answer(asked, LINK_KEYED);
    h.keyed.start = start;
    carrier_bring(&link_lanes[asked->lane], &h, "key", 3);
}

static void begin(void)
{
    carrier_reset_alone();
    carrier.puts = carrier.gets = carrier.atomics = carrier.flushes = TRANSPORT_PENDING;
    link_asleep = link_reminded = 0;
    rings = fences = rooms = pauses = 0;
    fails_at = 0;
}

/* A connection of the lanes to PE 1 with keys of two pieces, and nothing under way. */
static void get_keys(struct uccs_far_lanes *on, uint64_t offset)
{
    const struct link_lane *lane = link_lane_of(on);
    uccs_far_put_nb(on, 1, at(offset), data, 8, 0, 0); /* connects */
    uccs_far_put_nb(on, 1, at(offset), data, 8, 0, 0);
    give_key(START);
    uccs_far_put_nb(on, 1, at(offset + LINK_PIECE), data, 8, 0, 0);
    give_key(2 * START);
    carrier.look = carrier_answer_flush;
    uccs_far_quiet(on);
    carrier.look = 0;
    carrier_clear();
    CHECK(!lane->peers[1]->busy && lane->sending == 0);
}

static void begin_keyed(struct uccs_far_lanes *on, uint64_t offset)
{
    begin();
    get_keys(on, offset);
}

static bool operation_is(unsigned number, enum what what, uint64_t there, const void *here, size_t bytes)
{
    const struct left *left = &carrier.left[number];
    return number < carrier.count && left->what == what && left->pe == 1 && left->there == there &&
           left->here == here && left->bytes == bytes;
}

/* --- Places */

/* Each piece asks for its key by its own offset, and is reached at its own address. */
static void far_places(void)
{
    begin();
    put(FAR_OFF, 8);
    put(FAR_OFF + LINK_PIECE - 8, 16);
    unsigned keys = 0;
    for (unsigned i = 0; i < carrier.count; i++)
        if (carrier.left[i].header.kind == LINK_KEY)
            CHECK(carrier.left[i].header.at.offset == FAR_OFF + keys++ * LINK_PIECE);
    CHECK(keys == 2);
    begin_keyed(0, FAR_OFF);
    put(FAR_OFF + LINK_PIECE - 100, 300);
    CHECK(carrier.count == 2 && operation_is(0, PUT, START + LINK_PIECE - 100, data, 100));
    CHECK(operation_is(1, PUT, 2 * START, data + 100, 200));
    uccs_far_get_nb(0, 1, at(FAR_OFF + LINK_PIECE - 1), data, 3, 0, 0);
    CHECK(carrier.count == 4 && operation_is(2, GET, START + LINK_PIECE - 1, data, 1));
    CHECK(operation_is(3, GET, 2 * START, data + 1, 2));
    put(FAR_OFF + LINK_PIECE - 8, 8); /* up to the end of a piece */
    CHECK(carrier.count == 5 && operation_is(4, PUT, START + LINK_PIECE - 8, data, 8));
}

/* --- Completion */

/* A get of two pieces is done with the later one, and fails when either does. */
static void two_pieces(void)
{
    for (unsigned row = 0; row < 8; row++) {
        const unsigned first = row & 1;
        uccs_request_handle handle = 0;
        begin_keyed(0, 0);
        uccs_far_get_nb(0, 1, at(LINK_PIECE - 8), data, 16, 0, &handle);
        CHECK(carrier.count == 2 && handle->pending == 2 && link_service()->sending == 1);
        carrier.left[0].lane = carrier.left[1].lane = 0;
        carrier_end(carrier.left[first].token, row & 2);
        CHECK(handle->pending == 2 && link_service()->sending == 1);
        carrier_end(carrier.left[!first].token, row & 4);
        CHECK(handle->pending == 1 && handle->error == ((row & 6) != 0) && link_service()->sending == 0);
        uccs_request_free(&handle);
    }
    uccs_request_handle handle = 0;
    begin_keyed(0, 0);
    carrier.gets = TRANSPORT_FAILED; /* both at once */
    uccs_far_get_nb(0, 1, at(LINK_PIECE - 8), data, 16, 0, &handle);
    CHECK(carrier.count == 2 && handle->pending == 1 && handle->error == 1 && link_service()->sending == 0);
    uccs_request_free(&handle);
}

/* A put that fails concerns the track that has issued it, and no other. */
static void whose_failure(void)
{
    begin();
    struct link_track *track = link_track_open();
    struct uccs_far_lanes *on = link_track_lanes(track);
    get_keys(on, 0);
    struct link_peer *to = on->own->peers[1];
    uccs_far_put_nb(on, 1, at(0), data, 8, 0, 0);
    struct link_mark *mark = link_mark_find(track, 1);
    CHECK(carrier.count == 1 && mark && !mark->refused && mark->number.puts == to->issued.puts);
    carrier_end(carrier.left[0].token, false);
    CHECK(!mark->refused && !to->direct->failed);
    uccs_far_put_nb(on, 1, at(0), data, 8, 0, 0);
    carrier_end(carrier.left[1].token, true);
    CHECK(mark->refused && to->direct->failed);
    uccs_far_put_nb(on, 1, at(0), data, 8, 0, 0);
    carrier_end(carrier.left[2].token, false); /* what was refused stays so until somebody is told */
    CHECK(mark->refused && to->direct->failed);
    uccs_far_adapter_post(on, 1, &add, at(0), false, 0);
    CHECK(carrier.count == 4 && mark->number.puts == to->issued.puts && mark->active && !link_track_idle(track));
    begin_keyed(0, 0);
    put(0, 8);
    carrier_end(carrier.left[0].token, true); /* of no track */
    CHECK(peer()->direct->failed);
}

/* With its old value an atomic tells that nothing is under way any more, but only when nothing else was before it. */
static void old_values(void)
{
    uint64_t old = 0;
    CHECK(uccs_reach_open() == 0); /* it counts who has operations under way */
    memset(uccs_reach, 0, WORLD_PES * sizeof *uccs_reach);
    begin_keyed(0, 0);
    uccs_far_adapter_fetch_nb(0, 1, &add, at(8), &old, 0);
    CHECK(carrier.count == 1 && peer()->busy && uccs_reach[1].busy == 1 && link_service()->sending == 1);
    const uint64_t before = peer()->answered.puts;
    carrier_end(carrier.left[0].token, false);
    CHECK(!peer()->busy && uccs_reach[1].busy == 0 && peer()->answered.puts == before + 1);
    uccs_far_adapter_fetch_nb(0, 1, &add, at(8), &old, 0);
    uccs_far_adapter_fetch_nb(0, 1, &add, at(8), &old, 0);
    carrier_end(carrier.left[2].token, false);
    CHECK(peer()->busy && peer()->answered.puts == before + 1);
    carrier_end(carrier.left[1].token, false);
    CHECK(peer()->busy && peer()->answered.puts == before + 2); /* nobody remembers the later one */
    uccs_far_adapter_post(0, 1, &add, at(8), false, 0);
    carrier_end(carrier.left[3].token, false);
    CHECK(peer()->answered.puts == before + 2 && link_service()->sending == 0);
    uccs_reach_close(0); /* nothing was mapped */
}

/* --- The turn of an atomic */

/* Answers from the fourth look on. */
static void answer_late(struct link_lane *lane)
{
    if (carrier.looks < 4)
        return;
    carrier.able |= TRANSPORT_KNOWN | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
    for (unsigned i = 0; i < carrier.count; i++) {
        struct left *left = &carrier.left[i];
        struct link_header h = carrier_answer(left, LINK_KEYED);
        if (left->parcel == UINT32_MAX) /* answered */
            continue;
        if (left->what == FLUSH) {
            left->parcel = UINT32_MAX;
            carrier_end(left->token, false);
        } else if (left->what == MESSAGE && left->header.kind == LINK_KEY) {
            left->parcel = UINT32_MAX;
            h.keyed.start = START;
            link_arrived(lane,
                         &(struct transport_message){.header = &h, .header_bytes = sizeof h, .data = "k", .bytes = 1});
        }
    }
}

static unsigned count_of(enum what what, enum link_kind kind)
{
    unsigned count = 0;
    for (unsigned i = 0; i < carrier.count; i++)
        count += carrier.left[i].what == what && (what != MESSAGE || carrier.left[i].header.kind == kind);
    return count;
}

/* What is under way is flushed once, when an order wants it, and not while the key is awaited. */
static void turns(void)
{
    begin();
    uccs_far_count(0, 1, 0, 1); /* a message is under way */
    carrier.look = answer_late;
    uccs_far_adapter_post(0, 1, &add, at(8), false, 0);
    CHECK(pauses == 4 && count_of(ATOMIC, 0) == 1 && count_of(MESSAGE, LINK_KEY) == 1);
    CHECK(count_of(MESSAGE, LINK_FLUSH) == 0 && count_of(FLUSH, 0) == 0);
    CHECK(fences == 1 && rooms == 1 && is_free(link_service()));
    begin_keyed(0, 0);
    put(8, 8);
    carrier.look = answer_late;
    carrier.looks = fences = rooms = pauses = 0;
    const uint64_t epoch = link_service()->epoch, issued = peer()->issued.puts;
    uccs_far_adapter_post(0, 1, &add, at(8), true, 0);
    CHECK(pauses == 4 && count_of(FLUSH, 0) == 1 && count_of(ATOMIC, 0) == 1 && carrier_last()->what == ATOMIC);
    CHECK(fences == 1 && rooms == 1 && is_free(link_service()) && link_service()->epoch == epoch + 1);
    CHECK(peer()->issued.puts == issued + 1 && peer()->touched && peer()->busy && link_service()->touched);
    uccs_far_adapter_post(0, 1, &add, at(8), false, 0);
    CHECK(link_service()->epoch == epoch + 1 && fences == 2 && rooms == 2);
}

static void post_add(void *unused)
{
    (void)unused;
    uccs_far_adapter_post(0, 1, &add, at(8), false, 0);
}

/* What a connection can is not known at first; the job ends only when it is known, and not enough. */
static void unknown_connections(void)
{
    begin();
    carrier.able = 0;
    carrier.look = answer_late;
    CHECK(!world_try(post_add, 0));
    CHECK(carrier.looks >= 4);
    struct link_peer none = {.pe = 1};
    begin();
    carrier.able = TRANSPORT_KNOWN;
    CHECK(!link_direct_of(&none) && !none.direct);
}

static void find_way(struct link_lane *lane)
{
    carrier.able = carrier.looks < 3 ? 0 : TRANSPORT_KNOWN | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
    CHECK(lane == link_service());
}

/* Who asks what the adapter can holds the lane's lock only while it looks itself. */
static void adapters(void)
{
    begin();
    carrier.able = 0;
    carrier.look = find_way;
    CHECK(link_adapter() && pauses == 3 && carrier.looks == 3 && is_free(link_service()));
    CHECK(link_adapter() && pauses == 3 && is_free(link_service()));
}

/* --- Who is reminded */

static void bells(void)
{
    struct link_lane lane = {.number = 40};
    begin();
    link_left = 0;
    link_asleep = 1;
    uccs_progress_on = false;
    link_thread_remind(&lane);
    CHECK(link_left == 0 && link_asleep == 1 && rings == 0); /* there is no thread */
    uccs_progress_on = true;
    link_thread_remind(&lane);
    CHECK(link_left == UINT64_C(1) << 40 && link_asleep == 0 && link_reminded == 1 && rings == 1);
    link_reminded = 0;
    link_thread_remind(&lane);
    CHECK(link_left == UINT64_C(1) << 40 && link_reminded == 0 && rings == 1); /* it is awake */
    lane.number = 3;
    link_thread_remind(&lane);
    CHECK(link_left == (UINT64_C(1) << 40 | 8) && rings == 1);
    link_left = 0;
    link_asleep = 1;
    link_thread_remind(link_service());
    CHECK(link_left == 0 && link_asleep == 0 && link_reminded == 1 && rings == 2);
}

/* Somebody must look for operations that are under way, but on the service lane, at which the thread looks anyway. */
static void reminders(void)
{
    for (int own = 0; own < 2; own++)
        for (int done = 0; done < 2; done++) {
            struct uccs_far_lanes lanes = {0}, *on = own ? &lanes : 0;
            begin_keyed(on, 0);
            uccs_progress_on = true;
            link_left = 0;
            link_asleep = 1;
            carrier.puts = carrier.gets = done ? TRANSPORT_DONE : TRANSPORT_PENDING;
            uccs_far_put_nb(on, 1, at(0), data, 8, 0, 0);
            CHECK(carrier.count == 1 && link_left == (own && !done ? 8 : 0) && link_asleep == !(own && !done));
            CHECK(rings == (unsigned)(own && !done));
            uccs_progress_on = false;
        }
}

/* --- Memory that runs out */

static void put_one(void *unused)
{
    (void)unused;
    put(0, 8);
}

static void get_one(void *unused)
{
    (void)unused;
    uccs_far_get_nb(0, 1, at(0), data, 8, 0, 0);
}

static const char *without_memory(void (*run)(void *))
{
    fails_at = 1;
    const char *why = world_try(run, 0);
    CHECK(fails_at == 0);
    return why ? why : "nothing";
}

static void no_memory(void)
{
    begin();
    put(0, 8); /* connects */
    CHECK(strcmp(without_memory(put_one), "no memory for a connection to PE 1") == 0);
    begin_keyed(0, 0);
    CHECK(strcmp(without_memory(put_one), "no memory for an operation on PE 1") == 0);
    begin_keyed(0, 0);
    CHECK(strcmp(without_memory(get_one), "no memory for an operation on PE 1") == 0);
    begin_keyed(0, 0);
    CHECK(strcmp(without_memory(post_add), "no memory for an operation on PE 1") == 0);
    begin();
}

int main(void)
{
    carrier_open();
    far_places();
    two_pieces();
    whose_failure();
    old_values();
    turns();
    unknown_connections();
    adapters();
    bells();
    reminders();
    no_memory();
    _exit(0);
}
