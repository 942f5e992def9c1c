/* Requests, what follows their completion, queues of completions, and requests on words: counts, errors, who frees what, also without
 * memory. */
#include "objects_world.h"

static struct {
    int times, status;
    void *argument;
} done;

static void note(void *argument, int status)
{
    done.times++;
    done.status = status;
    done.argument = argument;
}

static void note_end(void *argument, bool failed)
{
    note(argument, failed);
}

/* --- Requests */

static void marks(void)
{
    uccs_request_handle h = NULL;
    CHECK(uccs_request_done(&h) && !h && uccs_request_done_locally(&h) && uccs_request_pending(h) == 0);
    uccs_request_loaded(&h);
    CHECK(h == UCCS_REQUEST_CLEAN && uccs_request_done(&h) && uccs_request_done_locally(&h));
    uccs_request_stored(&h);
    CHECK(h == UCCS_REQUEST_DIRTY && uccs_request_done_locally(&h));
    uccs_request_loaded(&h);
    CHECK(h == UCCS_REQUEST_DIRTY && uccs_request_done(&h) && h == UCCS_REQUEST_CLEAN);
    CHECK(!uccs_request_object(UCCS_REQUEST_CLEAN) && !uccs_request_object(UCCS_REQUEST_DIRTY) && blocks == 0);
    struct uccs_request *object = uccs_request_materialise(&h);
    CHECK(object && h == object && object->pending == 1 && object->sources == 1 && !object->dirty && !object->error);
    CHECK(uccs_request_materialise(&h) == object && blocks == 1 && uccs_request_object(h) == object);
    uccs_request_loaded(&h);
    CHECK(h == object && !object->dirty);
    uccs_request_stored(&h);
    CHECK(h == object && object->dirty == 1 && uccs_request_done(&h) && object->dirty == 0 && h == object);
    uccs_request_free(&h);
    CHECK(!h && blocks == 0);
    h = UCCS_REQUEST_DIRTY;
    CHECK(uccs_request_materialise(&h)->dirty == 1);
    uccs_request_free(&h);
    fails_at = 1;
    CHECK(!uccs_request_materialise(&h) && !h && blocks == 0);
    uccs_request_free(&h);
}

static struct uccs_request *to_finish;

static void finish_errand(struct uccs_errand *errand)
{
    (void)errand;
    uccs_request_finish_use(to_finish, false);
}

static void counts(void)
{
    struct uccs_errand errand = {.run = finish_errand};
    uccs_request_handle h = NULL;
    struct uccs_request *object = uccs_request_materialise(&h);
    to_finish = object;
    uccs_request_begin_use(object);
    CHECK(!uccs_request_done_locally(&h));
    object->sources = 1; /* it is done already: no look */
    uccs_errand_leave(&errand);
    CHECK(uccs_request_done_locally(&h) && object->pending == 2);
    object->sources = 2;
    CHECK(uccs_look() == 1 && object->pending == 1 && object->sources == 1);
    uccs_request_begin(object);
    CHECK(!uccs_request_done(&h) && uccs_request_pending(h) == 1 && uccs_request_done_locally(&h));
    uccs_request_begin_use(object);
    CHECK(uccs_request_pending(h) == 2 && object->sources == 2 && !uccs_request_done_locally(&h));
    uccs_request_finish_use(object, true);
    CHECK(uccs_request_pending(h) == 1 && object->sources == 1 && object->error == 1 && uccs_request_done_locally(&h));
    uccs_request_finish(object, false);
    CHECK(uccs_request_pending(h) == 0 && uccs_request_done(&h) && object->error == 1);
    uccs_request_begin_use(object); /* a look completes it */
    uccs_errand_leave(&errand);
    CHECK(uccs_request_done_locally(&h) && uccs_request_pending(h) == 0);
    uccs_request_begin_use(object);
    uccs_errand_leave(&errand);
    CHECK(uccs_request_done(&h));
    uccs_request_begin(object);
    uccs_request_begin(object);
    uccs_request_free(&h); /* what is under way continues */
    CHECK(!h && blocks == 1 && object->pending == 2 && object->sources == 0);
    uccs_request_finish(object, false);
    CHECK(blocks == 1);
    uccs_request_finish(object, false);
    CHECK(blocks == 0);
}

static void followers(void)
{
    uccs_request_handle h = NULL, top = NULL;
    struct uccs_request *object = uccs_request_materialise(&h), *parent = uccs_request_materialise(&top);
    uccs_request_then(object, note_end, &top);
    uccs_request_follow(object, parent);
    CHECK(parent->pending == 2 && parent->sources == 2 && uccs_request_counts(parent, object));
    CHECK(uccs_request_counts(object, object) && !uccs_request_counts(object, parent));
    uccs_request_begin_use(object);
    object->dirty = 1;
    uccs_request_free(&h);
    CHECK(parent->pending == 2 && parent->sources == 2 && done.times == 0);
    uccs_request_finish_use(object, true);
    CHECK(parent->pending == 1 && parent->sources == 1 && parent->error == 1 && parent->dirty == 1);
    CHECK(done.times == 0 && blocks == 2 && uccs_due_ends()); /* a thread in progress calls it */
    CHECK(uccs_look() == 1 && done.times == 1 && done.status == 1 && done.argument == &top && blocks == 1);
    object = uccs_request_materialise(&h);
    uccs_request_then(object, note_end, &h);
    uccs_request_follow(object, NULL);
    uccs_request_free(&h);
    CHECK(uccs_look() == 1 && done.times == 2 && done.status == 0 && done.argument == &h && blocks == 1);
    uccs_request_free(&top);
    CHECK(blocks == 0);
    memset(&done, 0, sizeof done);
}

static struct uccs_request *busy_request(uccs_request_handle *h)
{
    *h = NULL;
    struct uccs_request *object = uccs_request_materialise(h);
    uccs_request_begin_use(object);
    return object;
}

static void merged_marks(void)
{
    uccs_request_handle into = NULL, h[4] = {NULL, UCCS_REQUEST_CLEAN, NULL, NULL};
    uccs_request_merge(&into, 0, h);
    uccs_request_merge(&into, 1, h);
    CHECK(!into && h[1] == UCCS_REQUEST_CLEAN);
    struct uccs_request *behind = uccs_request_materialise(&h[1]); /* behind those that are merged */
    uccs_request_merge(&into, 1, h);
    CHECK(!into && h[1] == behind);
    uccs_request_free(&h[1]);
    h[1] = UCCS_REQUEST_CLEAN;
    uccs_request_merge(&into, 2, h);
    CHECK(into == UCCS_REQUEST_CLEAN && !h[1]);
    h[2] = UCCS_REQUEST_DIRTY;
    h[3] = UCCS_REQUEST_CLEAN;
    uccs_request_merge(&into, 4, h);
    CHECK(into == UCCS_REQUEST_DIRTY && !h[2] && !h[3]);
    struct uccs_request *object = uccs_request_materialise(&h[1]); /* becomes the object of what had none */
    uccs_request_merge(&into, 2, h);
    CHECK(into == object && object->dirty == 1 && !h[1] && object->pending == 1 && object->sources == 1);
    h[0] = UCCS_REQUEST_DIRTY;
    object->dirty = 0;
    uccs_request_merge(&into, 1, h);
    CHECK(into == object && object->dirty == 1 && !h[0]);
    uccs_request_free(&into);
    into = UCCS_REQUEST_CLEAN;
    object = uccs_request_materialise(&h[2]);
    uccs_request_merge(&into, 3, h);
    CHECK(into == object && object->dirty == 0 && !h[2]);
    uccs_request_free(&into);
    CHECK(blocks == 0);
}

static void merged_objects(void)
{
    uccs_request_handle h[6];
    struct uccs_request *objects[6];
    for (int i = 0; i < 6; i++)
        objects[i] = busy_request(&h[i]);
    uccs_request_handle also = h[3];
    uccs_request_merge(&h[1], 3, h); /* one of them is what they are merged into */
    CHECK(h[1] == objects[1] && !h[0] && !h[2] && objects[1]->pending == 4 && objects[1]->sources == 4);
    CHECK(objects[0]->parent == objects[1] && objects[0]->pending == 1 && objects[2]->pending == 1 &&
          !objects[1]->parent);
    uccs_request_handle twice[] = {also, h[3], h[1]};
    uccs_request_merge(&h[1], 3, twice); /* one that is there twice counts once, and itself not */
    CHECK(objects[1]->pending == 5 && objects[3]->pending == 1 && !twice[0] && !twice[1] && !twice[2]);
    uccs_request_merge(&h[5], 1, &h[1]); /* a tree */
    CHECK(objects[5]->pending == 3 && objects[1]->pending == 4 && uccs_request_counts(h[5], objects[0]));
    CHECK(!uccs_request_counts(h[5], objects[4]) && !h[1]);
    uccs_request_finish_use(objects[0], true);
    CHECK(objects[1]->error == 1 && objects[1]->pending == 3 && objects[5]->error == 0 && blocks == 5);
    for (int i = 1; i < 4; i++)
        uccs_request_finish_use(objects[i], false);
    CHECK(blocks == 2 && objects[5]->pending == 2 && objects[5]->sources == 2 && objects[5]->error == 1);
    uccs_request_finish_use(objects[5], false);
    CHECK(uccs_request_done(&h[5]) && uccs_request_done_locally(&h[5]));
    uccs_request_finish_use(objects[4], false);
    uccs_request_merge(&h[5], 1, &h[4]); /* one that is complete */
    CHECK(uccs_request_done(&h[5]) && blocks == 1 && objects[5]->sources == 1);
    uccs_request_free(&h[5]);
    CHECK(blocks == 0);
}

/* --- What follows an operation */

static void endings(uccs_queue_t queue)
{
    struct uccs_entry entries[2];
    uccs_request_handle h = NULL;
    struct uccs_op op = {0};
    struct uccs_request *request = (struct uccs_request *)&op;
    CHECK(uccs_ending_begin(&op, &request) == UCCS_OK && !request && blocks == 0);
    op.complete = note;
    op.argument = &op;
    for (int failed = 0; failed < 2; failed++) {
        CHECK(uccs_ending_begin(&op, &request) == UCCS_OK && request && !request->parent && blocks == 2);
        uccs_request_finish(request, failed);
        CHECK(done.times == failed && uccs_look() == 1 && done.times == failed + 1 && done.argument == &op);
        CHECK(done.status == (failed ? UCCS_ERR_FAILED : UCCS_OK) && blocks == 0);
    }
    op.complete = NULL;
    op.request = &h;
    CHECK(uccs_ending_begin(&op, &request) == UCCS_OK && request == h && uccs_request_pending(h) == 1 && blocks == 1);
    uccs_request_finish(request, false);
    CHECK(uccs_request_done(&h) && done.times == 2);
    op.queue = queue;
    op.tag = &h;
    CHECK(uccs_ending_begin(&op, &request) == UCCS_OK && request != h && request->parent == h && blocks == 4);
    CHECK(uccs_queue_take(queue, entries, 2) == 0 && uccs_request_pending(h) == 1);
    uccs_request_finish(request, true);
    CHECK(uccs_request_done(&h) && h->error == 1 && uccs_look() == 1 && uccs_queue_take(queue, entries, 2) == 1);
    CHECK(entries[0].tag == &h && entries[0].status == UCCS_ERR_FAILED && blocks == 1 && done.times == 2);
    uccs_request_free(&h);
}

/* The operation was not issued after all: nothing follows, and the handle is what it was. */
static void cancelled(uccs_queue_t queue)
{
    struct uccs_entry entry;
    for (int which = 0; which < 16; which++) {
        uccs_request_handle h = NULL;
        struct uccs_op op = {.tag = &h};
        struct uccs_request *request;
        if (which & 8)
            uccs_request_materialise(&h);
        const uccs_request_handle before = h;
        const int was = blocks;
        op.complete = which & 1 ? note : NULL;
        op.queue = which & 2 ? queue : NULL;
        op.request = which & 4 ? &h : NULL;
        CHECK(uccs_ending_begin(&op, &request) == UCCS_OK);
        uccs_ending_cancel(&op, request, before);
        CHECK(h == before && blocks == was && uccs_look() == 0 && done.times == 2);
        CHECK(uccs_queue_take(queue, &entry, 1) == 0 && (!h || (uccs_request_done(&h) && h->error == 0)));
        CHECK(!h || (h->sources == 1 && h->pending == 1));
        uccs_request_free(&h);
    }
    CHECK(blocks == 0);
}

/* Without memory nothing follows, and nothing is lost. */
static void no_memory(uccs_queue_t queue)
{
    static const int allocations[] = {0, 2, 3, 3, 1, 3, 4, 4}; /* of the sets of what follows */
    for (int which = 1; which < 8; which++)
        for (int at = 1; at <= allocations[which]; at++) {
            uccs_request_handle h = NULL;
            struct uccs_op op = {.complete = which & 1 ? note : NULL,
                                 .queue = which & 2 ? queue : NULL,
                                 .request = which & 4 ? &h : NULL};
            struct uccs_request *request = (struct uccs_request *)&op;
            fails_at = at;
            CHECK(uccs_ending_begin(&op, &request) == UCCS_ERR_NO_MEMORY && !request && !h);
            CHECK(fails_at == 0 && blocks == 0 && uccs_look() == 0 && done.times == 2);
        }
}

/* --- Queues */

static void queues(void)
{
    struct uccs_queue *queue = uccs_queue_make();
    struct uccs_queue_entry *expected[5];
    struct uccs_entry entries[6] = {0};
    CHECK(queue && queue->users == 1 && uccs_queue_take(queue, entries, 6) == 0);
    for (uintptr_t i = 0; i < 5; i++)
        expected[i] = uccs_queue_expect(queue, (void *)(i + 1));
    CHECK(queue->users == 6 && blocks == 5 && uccs_queue_take(queue, entries, 6) == 0);
    for (int i = 0; i < 4; i++)
        uccs_queue_push(expected[i], i);
    CHECK(queue->users == 2 && queue->some == 1 && uccs_queue_take(queue, entries, 0) == 0 && queue->some == 1);
    CHECK(uccs_queue_take(queue, entries, 2) == 2 && entries[0].tag == (void *)1 && entries[1].tag == (void *)2);
    CHECK(entries[1].status == 1 && !entries[2].tag && blocks == 3 && queue->some == 1);
    CHECK(uccs_queue_take(queue, entries, 2) == 2 && entries[0].tag == (void *)3 && entries[1].status == 3);
    CHECK(queue->some == 0 && blocks == 1 && uccs_queue_take(queue, entries, 2) == 0 && !entries[2].tag);
    struct uccs_queue_entry *again = uccs_queue_expect(queue, entries); /* behind those that are gone */
    uccs_queue_push(again, 9);
    CHECK(uccs_queue_take(queue, entries, 6) == 1 && entries[0].status == 9 && entries[0].tag == entries);
    uccs_queue_forget(expected[4]);
    CHECK(queue->users == 1 && blocks == 0 && uccs_queue_take(queue, entries, 6) == 0);
    fails_at = 1;
    CHECK(!uccs_queue_expect(queue, NULL) && queue->users == 1);
    expected[0] = uccs_queue_expect(queue, NULL);
    expected[1] = uccs_queue_expect(queue, NULL);
    expected[2] = uccs_queue_expect(queue, NULL);
    uccs_queue_push(expected[0], 0);
    const int made = blocks;
    uccs_queue_abandon(queue); /* it lives on until the last operation has completed */
    CHECK(queue->users == 2 && blocks == made);
    uccs_queue_push(expected[1], 0);
    CHECK(queue->users == 1 && blocks == made);
    uccs_queue_forget(expected[2]);
    CHECK(blocks == -1); /* the queue too, which was allocated otherwise */
    blocks = 0;
}

/* --- Requests on words and counters */

static void words(void)
{
    uint64_t word = 4, other = (uint64_t)-9;
    struct uccs_told told = {0};
    uccs_request_handle h = NULL, single = NULL;
    struct uccs_request *request = uccs_request_materialise(&h), *alone = uccs_request_materialise(&single);
    const uint32_t due = uccs_due;
    CHECK(uccs_awaited_word(&word, 4, request) && uccs_request_done(&h) && uccs_due == due); /* at once */
    CHECK(uccs_awaited_word(&word, 5, request) && uccs_request_pending(h) == 1 && uccs_due == due + 1);
    CHECK(uccs_awaited_word(&other, -8, request) && uccs_request_pending(h) == 2 && uccs_due == due + 1);
    CHECK(uccs_awaited_word(&word, 7, alone) && !uccs_request_done(&single));
    CHECK(uccs_awaited_tell(request, &told) && told.on.object == (uintptr_t)&other && told.on.number == (uint64_t)-8);
    CHECK(told.value == (uint64_t)-9 && told.on.about == NODE_ABOUT_VARIABLE && told.on.kind == KIND_I64);
    CHECK(uccs_awaited_tell(alone, &told) && told.on.object == (uintptr_t)&word && told.on.number == 7 &&
          told.value == 4);
    CHECK(told.on.compare[0] == '>' && told.on.compare[1] == '=');
    other = (uint64_t)-8;
    CHECK(uccs_look() == 1 && uccs_request_pending(h) == 1 && uccs_look() == 0);
    word = 6;
    CHECK(uccs_look() == 1 && uccs_request_pending(h) == 0 && uccs_request_pending(single) == 1 && h->error == 0);
    CHECK(!uccs_awaited_tell(request, &told) && uccs_due == due + 1);
    word = 7;
    CHECK(uccs_look() == 1 && uccs_request_done(&single) && uccs_due == due && blocks == 2);
    fails_at = 1;
    CHECK(!uccs_awaited_word(&word, 8, alone) && uccs_request_pending(single) == 0 && uccs_due == due);
    CHECK(uccs_awaited_word(&word, 8, alone) && uccs_awaited_word(&word, 9, alone) && uccs_due == due + 1);
    uccs_awaited_close(); /* the life ends: they fail */
    CHECK(uccs_request_done(&single) && single->error == 2 && uccs_due == due && blocks == 2);
    uccs_awaited_close();
    CHECK(uccs_due == due);
    uccs_request_free(&h);
    uccs_request_free(&single);
}

static void awaited_counters(void)
{
    uccs_request_handle h = NULL;
    struct uccs_told told = {0};
    struct uccs_request *request = uccs_request_materialise(&h);
    uccs_counter counter = uccs_counter_open_here();
    CHECK(counter && uccs_awaited_counter(counter, 0, request) && uccs_request_done(&h));
    CHECK(uccs_awaited_counter(counter, 3, request) && uccs_awaited_tell(request, &told));
    CHECK(told.on.object == (uintptr_t)&uccs_counter_mine(counter)->count && told.on.number == 3 && told.value == 0);
    CHECK(uccs_counter_arrive(counter, 2, 0) && uccs_look() == 0 && uccs_counter_arrive(counter, 1, 0) &&
          uccs_look() == 1);
    CHECK(uccs_request_done(&h) && h->error == 0 && uccs_awaited_counter(counter, 4, request));
    uccs_counter_clear(counter);
    CHECK(uccs_look() == 1 && uccs_request_done(&h) && h->error == 1); /* it is shut first */
    CHECK(uccs_awaited_counter(counter, 0, request) && uccs_request_done(&h) && h->error == 2);
    uccs_counter_release(counter);
    uccs_request_free(&h);
    CHECK(blocks == 0);
}

/* --- What a wait for handles is for */

static bool tell_second(const struct uccs_request *request, struct uccs_told *told)
{
    strcpy(told->text, "second");
    return request->argument == &done;
}

static bool tell_first(const struct uccs_request *request, struct uccs_told *told)
{
    strcpy(told->text, "first");
    return request->argument == &blocks;
}

static const char *told_of(const uccs_request_handle *handles, size_t n, const int *left_out)
{
    static struct uccs_told told;
    told = (struct uccs_told){0};
    uccs_tell_handles(&(struct uccs_tell_handles){handles, n, left_out}, &told);
    return told.text;
}

static void told(void)
{
    uint64_t word = 0;
    uccs_request_handle h[4] = {NULL, UCCS_REQUEST_DIRTY};
    struct uccs_request *one, *other;
    memset(tellers, 0, sizeof tellers);
    CHECK(*told_of(h, 2, NULL) == 0 && *told_of(h, 0, NULL) == 0);
    h[2] = NULL;
    one = uccs_request_materialise(&h[2]);
    other = busy_request(&h[3]);
    CHECK(strcmp(told_of(h, 4, NULL), "1 operation") == 0 && *told_of(h, 3, NULL) == 0);
    uccs_request_begin(other);
    CHECK(strcmp(told_of(h, 4, NULL), "2 operations") == 0);
    uccs_request_begin(one);
    CHECK(strcmp(told_of(h, 4, NULL), "1 operation") == 0); /* the first */
    CHECK(strcmp(told_of(h, 4, (const int[]){0, 0, 1, 0}), "2 operations") == 0);
    CHECK(*told_of(h, 4, (const int[]){0, 0, 1, 1}) == 0 && *told_of(h, 3, (const int[]){1, 1, 1}) == 0);
    CHECK(strcmp(told_of(h, 4, (const int[]){1, 1, 0, 1}), "1 operation") == 0);
    uccs_teller_add(tell_first);
    uccs_teller_add(tell_first); /* once */
    CHECK(tellers[0] == tell_first && !tellers[1]);
    other->argument = &done;
    CHECK(strcmp(told_of(&h[3], 1, NULL), "2 operations") == 0);
    uccs_teller_add(tell_second);
    uccs_teller_add(tell_second);
    CHECK(strcmp(told_of(&h[3], 1, NULL), "second") == 0);
    other->argument = &blocks;
    CHECK(strcmp(told_of(&h[3], 1, NULL), "first") == 0);
    CHECK(uccs_awaited_word(&word, 1, other) && *told_of(&h[3], 1, NULL) == 0); /* a word has no name */
    word = 1;
    CHECK(uccs_look() == 1 && strcmp(told_of(&h[3], 1, NULL), "first") == 0);
    uccs_request_finish(other, false);
    uccs_request_finish_use(other, false);
    uccs_request_finish(one, false);
    uccs_request_free(&h[2]);
    uccs_request_free(&h[3]);
    CHECK(blocks == 0);
}

/* One life at a time, and the adapter's part of the heap where the network may do atomics. */
static void life_of_library(void)
{
    const char *why;
    CHECK(users == 1 && uccs_life_embed(NULL) == -1 && users == 1 && locked == 0);
    const size_t heap = env_size(ENV_SYMMETRIC_SIZE);
    CHECK(adapter_bytes() == (heap < ADAPTER_MOST ? heap : ADAPTER_MOST));
    setenv("SHMEM_SYMMETRIC_SIZE", "3g", 1);
    CHECK(env_load(&why) == 0 && adapter_bytes() == (size_t)1 << 30);
    setenv("SHMEM_SYMMETRIC_SIZE", "5m", 1);
    CHECK(env_load(&why) == 0 && adapter_bytes() == 5 << 20);
    setenv("LATERAL_WIRE", "messages", 1);
    CHECK(env_load(&why) == 0 && adapter_bytes() == 0);
    unsetenv("LATERAL_WIRE");
    unsetenv("SHMEM_SYMMETRIC_SIZE");
    CHECK(env_load(&why) == 0);
}

int main(void)
{
    pair_start();
    life_of_library();
    uccs_queue_t queue = uccs_queue_make();
    CHECK(queue && blocks == 0);
    queues();
    counts();
    marks();
    followers();
    merged_objects();
    merged_marks();
    endings(queue);
    cancelled(queue);
    no_memory(queue);
    words();
    awaited_counters();
    told();
    CHECK(locked == 0);
    uccs_queue_abandon(queue);
    return pair_finish();
}
