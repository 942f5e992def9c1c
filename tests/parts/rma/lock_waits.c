/* Locks of the public interface among made-up neighbours: how often a waiter looks and pauses before it serves others, whom those who
 * enter and leave tell, what a wait is for, requests that wait, and locks of other nodes. */
#include "locks_waiting.h"

/* --- Which memory holds a lock */

static void places(void)
{
    begin();
    CHECK(uccs_lock(&there, &memory, 3 * UCCS_LOCK_BYTES, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && lock[0].word == 0);
    const struct uccs_ticket_lock *last = (struct uccs_ticket_lock *)(world.bytes + 3 * UCCS_LOCK_BYTES);
    CHECK(last->word == TICKET_NEXT && last->writer == 6);
    CHECK(uccs_lock(&there, &memory, 4 * UCCS_LOCK_BYTES, UCCS_LOCK_SHARED) == UCCS_ERR_BOUNDS);
    CHECK(uccs_lock_admit_guests(&memory, 2 * UCCS_LOCK_BYTES) == UCCS_OK);
    CHECK(((struct uccs_ticket_lock *)(world.bytes + 2 * UCCS_LOCK_BYTES))->guests == TICKET_ADMITTED);
    CHECK(uccs_lock_admit_guests(&memory, 4 * UCCS_LOCK_BYTES) == UCCS_ERR_BOUNDS);
    CHECK(uccs_lock(&there, &memory, 8, UCCS_LOCK_SHARED) == UCCS_ERR_INVALID);
    CHECK(uccs_lock_admit_guests(&memory, 8) == UCCS_ERR_INVALID && lock[0].guests == 0);
    memory.near = world.bytes + 16; /* place and offset together count */
    CHECK(uccs_lock(&there, &memory, 64, UCCS_LOCK_SHARED) == UCCS_ERR_INVALID);
    CHECK(uccs_lock(&there, &memory, 48, UCCS_LOCK_SHARED) == UCCS_OK);
    CHECK(((struct uccs_ticket_lock *)(world.bytes + 64))->word == TICKET_NEXT + TICKET_READ);
    CHECK(uccs_unlock(&there, &memory, 48, UCCS_LOCK_SHARED) == UCCS_OK);
    CHECK(uccs_lock_admit_guests(&memory, 48) == UCCS_OK && uccs_lock_admit_guests(&memory, 64) == UCCS_ERR_INVALID);
}

static bool none_is_there(struct uccs_endpoint *endpoint, enum uccs_lock_mode mode)
{
    uccs_request_t none = NULL;
    return uccs_lock(endpoint, &memory, 0, mode) == UCCS_ERR_INVALID &&
           uccs_unlock(endpoint, &memory, 0, mode) == UCCS_ERR_INVALID &&
           uccs_lock_nb(endpoint, &memory, 0, mode, &none) == UCCS_ERR_INVALID && lock->word == 0;
}

/* Each of these alone forbids a lock, or guests. */
static void no_places(void)
{
    begin();
    CHECK(none_is_there(NULL, UCCS_LOCK_SHARED) && none_is_there(&there, UCCS_LOCK_GUEST + 1));
    CHECK(none_is_there(&there, (enum uccs_lock_mode) - 1));
    CHECK(uccs_lock_nb(&there, &memory, 0, UCCS_LOCK_SHARED, NULL) == UCCS_ERR_INVALID && lock->word == 0);
    CHECK(uccs_lock_admit_guests(NULL, 0) == UCCS_ERR_INVALID);
    for (int i = 0; i < 5; i++) {
        begin();
        memory.own = i != 0;
        memory.dynamic = i == 1;
        memory.near = i == 2 ? NULL : world.bytes;
        memory.domain = i == 3 ? UCCS_DOMAIN_LOCKED : UCCS_DOMAIN_CPU;
        CHECK(uccs_lock_admit_guests(&memory, 0) == (i < 4 ? UCCS_ERR_INVALID : UCCS_OK));
        CHECK(lock->guests == (i < 4 ? 0 : TICKET_ADMITTED));
        CHECK(i != 3 || none_is_there(&there, UCCS_LOCK_SHARED));
    }
}

/* Ranges of dynamic memory: one that lies whole in memory that the node maps, at a lock's place. */
static void attached(void)
{
    static struct uccs_attached table;
    begin();
    memory.dynamic = true;
    memory.attached = &table;
    memory.near = NULL;
    memory.length = 0;
    memory.domain = UCCS_DOMAIN_LOCKED;
    const struct uccs_attached_piece good = {.bytes = UCCS_LOCK_BYTES, .near = world.bytes, .mapped = true};
    for (int i = 0; i < 5; i++) {
        uccs_request_t request = NULL;
        found = good;
        found.bytes -= i == 1;
        found.near += i == 2 ? 16 : 0;
        found.mapped = i != 3;
        found_status = i == 4 ? UCCS_ERR_BOUNDS : UCCS_OK;
        const int status = i == 4 ? UCCS_ERR_BOUNDS : i ? UCCS_ERR_INVALID : UCCS_OK;
        CHECK(uccs_lock(&there, &memory, 4096, UCCS_LOCK_SHARED) == status);
        CHECK(lock->word == TICKET_NEXT + TICKET_READ);
        CHECK(i == 0 || uccs_unlock(&there, &memory, 4096, UCCS_LOCK_SHARED) == status);
        CHECK(i == 0 || uccs_lock_nb(&there, &memory, 4096, UCCS_LOCK_SHARED, &request) == status);
    }
    found = good;
    found_status = UCCS_OK;
    CHECK(uccs_unlock(&there, &memory, 4096, UCCS_LOCK_SHARED) == UCCS_OK && uccs_ticket_left(lock->word) == 1);
    CHECK(uccs_lock_admit_guests(&memory, 4096) == UCCS_ERR_INVALID);
    memory.length = sizeof world.bytes;
}

/* --- Requests */

static uccs_request_t request;

static int ask(enum uccs_lock_mode mode)
{
    request = NULL;
    return uccs_lock_nb(&there, &memory, 0, mode, &request);
}

static void requests(void)
{
    begin();
    const size_t before = owned_count;
    CHECK(ask(UCCS_LOCK_SHARED) == UCCS_OK && !request && !added && lock->word == TICKET_NEXT + TICKET_READ);
    CHECK(ask(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && request == &object && added && object.pending == 2);
    CHECK(uccs_ticket_next(lock->word) == 2 && owned_count == before + 1);
    CHECK(!added->advance(added) && finished == 0);
    struct uccs_request other = {0};
    struct uccs_told told = {0};
    CHECK(!added->tell(added, &other, &told) && !told.text[0]);
    CHECK(added->tell(added, &object, &told) && strcmp(told.text, "a lock of PE 5 that others share") == 0);
    CHECK(leave(UCCS_LOCK_SHARED) == UCCS_OK && added->advance(added) && finished == 1 && object.pending == 1);
    CHECK(lock->writer == 6 && owned_count == before);
    added = NULL;
    CHECK(ask(UCCS_LOCK_SHARED) == UCCS_OK && added && !added->advance(added) && leave(UCCS_LOCK_EXCLUSIVE) == UCCS_OK);
    lock->writer = 3;
    CHECK(added->advance(added) && lock->writer == 3 && owned_count == before && leave(UCCS_LOCK_SHARED) == UCCS_OK);
}

/* Who has entered by a request, and found waiters of other nodes, is done once their owner has been told. */
static void requests_tell(void)
{
    begin();
    memory.owner = there.pe = 7;
    CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && ask(UCCS_LOCK_SHARED) == UCCS_OK && added);
    far_waiter_comes(1);
    rings_full = 2;
    CHECK(!added->advance(added) && finished == 0 && tells == 0 && rings_full == 1);
    CHECK(uccs_ticket_read(lock->word) == 2); /* it has entered */
    CHECK(!added->advance(added) && finished == 0 && tells == 0 && uccs_ticket_read(lock->word) == 2);
    CHECK(added->advance(added) && finished == 1 && tells == 1 && uccs_ticket_read(lock->word) == 2);
}

static void guests_by_request(void)
{
    begin();
    const size_t before = owned_count;
    lock->guests = TICKET_ADMITTED;
    CHECK(ask(UCCS_LOCK_GUEST) == UCCS_OK && !request && lock->guests == (TICKET_ADMITTED | 1) && lock->word == 0);
    CHECK(leave(UCCS_LOCK_GUEST) == UCCS_OK && enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK);
    const uint64_t word = lock->word;
    CHECK(ask(UCCS_LOCK_GUEST) == UCCS_OK && request && !added->advance(added) && lock->word == word);
    CHECK(leave(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && added->advance(added) && lock->guests == (TICKET_ADMITTED | 1));
    CHECK(finished == 1 && owned_count == before);
}

static void no_memory(void)
{
    for (int which = 0; which < 2; which++) {
        begin();
        const size_t before = owned_count;
        CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK);
        const uint64_t word = lock->word;
        owned_left = which ? -1 : 0;
        no_object = which;
        CHECK(ask(UCCS_LOCK_SHARED) == UCCS_ERR_NO_MEMORY && !request && lock->word == word && !added);
        CHECK(owned_count == before && owned_left == -1);
    }
    begin();
    memory.owner = there.pe = 9;
    memory.near = NULL;
    no_object = true;
    CHECK(ask(UCCS_LOCK_SHARED) == UCCS_ERR_NO_MEMORY && !far_calls[0]);
}

/* --- Locks of other nodes */

static bool refuses;

static void granted(int serve)
{
    struct uccs_told told = {.on = {.start = -1}};
    CHECK(wait_then.about == UCCS_ABOUT_TOLD && far_request->pending == 2);
    tell_lock((const void *)(uintptr_t)wait_then.object, &told);
    CHECK(strcmp(told.text, "a lock of PE 9") == 0 && told.on.start == -1);
    if (serve == 3) {
        far_request->error = refuses;
        far_request->pending--;
    }
}

static void far_locks(void)
{
    begin();
    memory.owner = there.pe = 9;
    memory.near = NULL;
    memory.slot = 6;
    meanwhile = granted;
    refuses = false;
    CHECK(uccs_lock(&there, &memory, 64, UCCS_LOCK_GUEST) == UCCS_OK && serves == 3 && far_mode == UCCS_LOCK_GUEST);
    CHECK(far_place.segment == FAR_REGION && far_place.offset == 64 && far_place.region == uccs_region_id(6, 3));
    CHECK(uccs_unlock(&there, &memory, 0, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && strcmp(far_calls, "lu") == 0);
    CHECK(far_place.offset == 0 && far_mode == UCCS_LOCK_EXCLUSIVE);
    refuses = true;
    serves = 0;
    CHECK(uccs_lock(&there, &memory, 0, UCCS_LOCK_SHARED) == UCCS_ERR_INVALID);
    serves = 0;
    meanwhile = NULL;
    request = NULL;
    CHECK(uccs_lock_nb(&there, &memory, 128, UCCS_LOCK_SHARED, &request) == UCCS_OK && request == &object);
    CHECK(far_request == &object && far_place.offset == 128 && serves == 0 && !added && strcmp(far_calls, "lull") == 0);
    CHECK(uccs_lock(&there, &memory, sizeof world.bytes, UCCS_LOCK_SHARED) == UCCS_ERR_BOUNDS && !far_calls[4]);
}

static void memory_goes(int serve)
{
    granted(serve);
    generation = 4;
}

static void far_lock_goes(void)
{
    begin();
    memory.owner = there.pe = 9;
    memory.near = NULL;
    meanwhile = memory_goes;
    refuses = true;
    CHECK(uccs_lock(&there, &memory, 0, UCCS_LOCK_SHARED) == UCCS_ERR_STALE);
    generation = 3;
}

int main(void)
{
    places();
    no_places();
    attached();
    waits();
    crowds();
    tells_of_waits();
    owner_is_told();
    guests();
    in_handlers();
    requests();
    requests_tell();
    guests_by_request();
    no_memory();
    far_locks();
    far_lock_goes();
    return 0;
}
