#include "uccs/comp/counter.h"

#include "base/kind.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uccs.h>

uint32_t uccs_counter_generation[NODE_JOB_COUNTERS];
int (*uccs_counter_collect)(void *unused);

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* guards the slots */

/* Free slots are a stack of released slots, then the slots that were never used. They are the same at every PE. */
static uint16_t released[NODE_JOB_COUNTERS];
static uint32_t released_count, ever_used;

bool uccs_counter_late(uccs_counter counter, int pe)
{
    uint32_t index = uccs_index(pe), slot = uccs_counter_slot(counter);
    if (index >= uccs_core.pes || !uccs_counter_named(counter))
        return false;
    atomic_fetch_add_relaxed(&uccs_counter_at(index, slot)->errors, 1); /* no partner: the errors are a statistic */
    return true;
}

/* Returns the nth slot to hand out. Even slots come first, since processors fetch lines in pairs, and two counters of a
 * pair that are used in turns would disturb each other. */
static uint32_t nth_slot(uint32_t n)
{
    return n < NODE_JOB_COUNTERS / 2 ? 2 * n : 2 * n + 1 - NODE_JOB_COUNTERS;
}

/* Returns the n of nth_slot. */
static uint32_t job_number(uint32_t slot)
{
    return slot % 2 ? (slot - 1 + NODE_JOB_COUNTERS) / 2 : slot / 2;
}

int uccs_counter_look(const void *what)
{
    const struct uccs_counter_wanted *wanted = what;
    if (wanted->counter && !uccs_counter_live(wanted->counter))
        return UCCS_ERR_STALE;
    const int64_t now = wanted->counter ? uccs_counter_get(wanted->counter)
                                        : (int64_t)atomic_load_acquire(wanted->word); /* release: signals, atomics */
    return now >= wanted->at_least ? UCCS_OK : UCCS_IN_PROGRESS;
}

void uccs_counter_reason(const void *what, struct uccs_reason *reason)
{
    const struct uccs_counter_wanted *wanted = what;
    if (!wanted->counter) {
        reason->on = uccs_reason_variable(wanted->word, KIND_I64, ">=", (uint64_t)wanted->at_least);
        reason->value = atomic_load_relaxed(wanted->word);
        return;
    }
    const struct uccs_counter_line *line = uccs_counter_mine(wanted->counter);
    const uint32_t slot = uccs_counter_slot(wanted->counter);
    reason->on = uccs_reason_variable(&line->count, KIND_I64, ">=", (uint64_t)wanted->at_least);
    reason->value = (uint64_t)uccs_counter_get(wanted->counter);
    if (uccs_counter_opened(wanted->counter))
        snprintf(reason->text, sizeof reason->text, "own counter %" PRIu32, slot - NODE_JOB_COUNTERS);
    else
        snprintf(reason->text, sizeof reason->text, "counter %" PRIu32, job_number(slot));
}

bool uccs_counter_usable(uccs_counter counter, int pe)
{
    uint32_t index = uccs_index(pe);
    if (!uccs_counter_opened(counter))
        return uccs_counter_of_job(counter);
    return index >= uccs_core.pes || uccs_counter_open_at(counter, index);
}

bool uccs_counter_is_old(uccs_counter counter)
{
    if (uccs_counter_opened(counter))
        return !uccs_counter_open_at(counter, uccs_core.index);
    uint32_t now = atomic_load_relaxed(&uccs_counter_generation[uccs_counter_slot(counter)]);
    return (int32_t)((uint32_t)(counter >> UCCS_COUNTER_SLOT_BITS) - now) < 0;
}

void uccs_counter_arrive_here(uccs_counter counter, int64_t weight)
{
    if (!uccs_counter_named(counter))
        return;
    if (uccs_counter_is_old(counter))
        uccs_counter_late(counter, uccs_core.me);
    else
        atomic_fetch_add_release(&uccs_counter_at(uccs_core.index, uccs_counter_slot(counter))->count,
                                 weight); /* acquire: uccs_counter_get */
}

/* --- Slots of the job */

/* Returns 0 when all slots are in use. */
static uccs_counter create_slot(void)
{
    if (!released_count && ever_used == NODE_JOB_COUNTERS)
        return 0;
    uint32_t slot = released_count ? released[--released_count] : nth_slot(ever_used++);
    uint64_t generation = uccs_counter_generation[slot] + 1;
    atomic_store_relaxed(&uccs_counter_generation[slot], (uint32_t)generation);
    return generation << UCCS_COUNTER_SLOT_BITS | (slot + 1);
}

uccs_counter uccs_counter_create(void)
{
    pthread_mutex_lock(&books);
    uccs_counter counter = create_slot();
    pthread_mutex_unlock(&books);
    return counter;
}

/* --- Slots that a group or one PE opens */

enum { OPEN_WORDS = NODE_OPEN_COUNTERS / 64, WINDOWS = OPEN_WORDS / UCCS_AGREE_WORDS };

static uint64_t open_taken[OPEN_WORDS]; /* a bit for each slot; written under the lock, relaxed readers */
static bool any_opened; /* in this life; most programs open none, and then their pages of the tables stay untouched */
static uint32_t last_generation[NODE_OPEN_COUNTERS]; /* even: free; grows over all lives. 0: never used */

/* Returns the generations of the opened counters of a PE of this node. */
static uint32_t *generations_at(uint32_t index)
{
    return (uint32_t *)(void *)uccs_counter_at(index, NODE_JOB_COUNTERS + NODE_OPEN_COUNTERS);
}

/* Returns the number of an opened counter's slot among those of this file. */
static uint32_t open_number(uccs_counter counter)
{
    return uccs_counter_slot(counter) - NODE_JOB_COUNTERS;
}

bool uccs_counter_open_at(uccs_counter counter, uint32_t index)
{
    return index < uccs_core.pes && uccs_counter_opened(counter) &&
           /* release: open_slot, clear; odd, as all generations that are handed out */
           atomic_load_acquire(&generations_at(index)[open_number(counter)]) == counter >> UCCS_COUNTER_SLOT_BITS;
}

bool uccs_counter_arrive_open(uccs_counter counter, int64_t weight, int pe)
{
    uint32_t index = uccs_index(pe);
    if (!uccs_counter_open_at(counter, index))
        return false;
    struct uccs_counter_line *line = uccs_counter_at(index, uccs_counter_slot(counter));
    atomic_fetch_add_release(&line->count, weight); /* acquire: uccs_counter_get at the target */
    return true;
}

/* Takes a slot. Returns 0 when another thread has it, else the next generation of its counter. Each PE begins its generations elsewhere, so that a
 * handle that goes to a wrong PE seldom names a counter there. */
static uint64_t take_slot(void *unused, uint32_t number)
{
    const uint64_t bit = UINT64_C(1) << number % 64;
    (void)unused;
    pthread_mutex_lock(&books);
    const bool free = !(open_taken[number / 64] & bit);
    atomic_store_relaxed(&open_taken[number / 64], open_taken[number / 64] | bit);
    any_opened = true;
    if (free && !last_generation[number])
        last_generation[number] = ((uint32_t)uccs_core.me * 0x9E3779B1u) >> 4 << 1;
    pthread_mutex_unlock(&books);
    return free ? last_generation[number] + 1 : 0;
}

static void give_slot_back(void *unused, uint32_t number)
{
    (void)unused;
    pthread_mutex_lock(&books);
    atomic_store_relaxed(&open_taken[number / 64], open_taken[number / 64] & ~(UINT64_C(1) << number % 64));
    pthread_mutex_unlock(&books);
}

/* Opens a slot that this thread has taken. Its count is zero already. */
static uccs_counter open_slot(uint32_t number, uint32_t generation)
{
    last_generation[number] = generation;
    atomic_store_release(&generations_at(uccs_core.index)[number], generation); /* acquire: uccs_counter_open_at */
    return (uint64_t)generation << UCCS_COUNTER_SLOT_BITS | (NODE_JOB_COUNTERS + number + 1);
}

/* Groups take slots from the front and single PEs from the back, so that groups soon find a common one. */
uccs_counter uccs_counter_open_here(void)
{
    for (uint32_t number = NODE_OPEN_COUNTERS; number-- > 0;) {
        if (atomic_load_relaxed(&open_taken[number / 64]) == UINT64_MAX) { /* a hint: take_slot looks under the lock */
            number &= ~63u;
            continue;
        }
        const uint64_t generation = take_slot(0, number);
        if (generation)
            return open_slot(number, (uint32_t)generation);
    }
    return 0;
}

static uint32_t first_window(void)
{
    uint32_t word = 0;
    while (word < OPEN_WORDS && atomic_load_relaxed(&open_taken[word]) == UINT64_MAX)
        word++;
    return word / UCCS_AGREE_WORDS;
}

static void list_slots(void *unused, uint32_t window, uint64_t *words)
{
    (void)unused;
    for (uint32_t i = 0; i < UCCS_AGREE_WORDS; i++)
        words[i] = ~atomic_load_relaxed(&open_taken[window * UCCS_AGREE_WORDS + i]);
}

/* The last round lets no member count at another one that has not opened the counter yet. */
int uccs_counter_agree(const struct uccs_members *members, uccs_counter *counter)
{
    static const struct uccs_numbers slots = {WINDOWS,   64 * UCCS_AGREE_WORDS, 0, first_window, list_slots,
                                              take_slot, give_slot_back};
    uint32_t number;
    uint64_t generation, nothing = 0;
    int status = uccs_agree(members, &slots, &number, &generation);
    if (status != UCCS_OK)
        return status;
    const uccs_counter made = open_slot(number, (uint32_t)generation);
    status = members->join(members->members, &nothing, 1, true);
    if (status == UCCS_OK)
        *counter = made;
    return status;
}

/* --- End */

/* Ends the generation first, so that later arrivals find the handle old. The next barrier, or round of agreement, publishes it
 * all. */
void uccs_counter_clear(uccs_counter counter)
{
    struct uccs_counter_line *line = uccs_counter_mine(counter);
    if (uccs_counter_opened(counter)) {
        const uint32_t number = open_number(counter);
        last_generation[number] = (uint32_t)(counter >> UCCS_COUNTER_SLOT_BITS) + 1;
        atomic_store_release(&generations_at(uccs_core.index)[number], last_generation[number]);
        atomic_store_relaxed(&line->errors, 0);
    } else {
        uint32_t *generation = &uccs_counter_generation[uccs_counter_slot(counter)];
        atomic_store_relaxed(generation, *generation + 1);
    }
    atomic_store_relaxed(&line->count, 0);
}

void uccs_counter_release(uccs_counter counter)
{
    if (uccs_counter_opened(counter)) {
        give_slot_back(0, open_number(counter));
        return;
    }
    pthread_mutex_lock(&books);
    released[released_count++] = (uint16_t)uccs_counter_slot(counter);
    pthread_mutex_unlock(&books);
}

/* Generations go on growing, so that handles of an earlier life stay old. */
static void close_opened(void)
{
    for (uint32_t number = 0; number < NODE_OPEN_COUNTERS; number++) {
        if (!last_generation[number])
            continue;
        last_generation[number] += last_generation[number] & 1;
        generations_at(uccs_core.index)[number] = 0;
        *uccs_counter_at(uccs_core.index, NODE_JOB_COUNTERS + number) = (struct uccs_counter_line){0};
    }
    memset(open_taken, 0, sizeof open_taken);
}

void uccs_counter_close(void)
{
    for (uint32_t n = 0; n < ever_used; n++) {
        uint32_t slot = nth_slot(n);
        *uccs_counter_at(uccs_core.index, slot) = (struct uccs_counter_line){0};
        uccs_counter_generation[slot] += uccs_counter_generation[slot] & 1;
    }
    released_count = ever_used = 0;
    if (any_opened)
        close_opened();
    any_opened = false;
}

struct awaited {
    struct uccs_counter_wanted what;
    struct uccs_request *request;
    struct awaited *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and whether the source is registered */
static struct awaited *list;

static void finish_threshold(struct awaited *awaited, bool failed)
{
    struct uccs_request *request = awaited->request;
    free(awaited);
    uccs_request_finish(request, failed);
}

static int look_at_thresholds(void *unused);
static struct uccs_progress_source source = {.poll = look_at_thresholds, .when = UCCS_PROGRESS_LOOK};

/* Takes off the list what is over. Returns 1 when something was, else 0. */
static int look_at_thresholds(void *unused)
{
    (void)unused;
    int found = 0;
    if (pthread_mutex_trylock(&lock) != 0)
        return 0;
    for (struct awaited **at = &list; *at;) {
        struct awaited *awaited = *at;
        const int status = uccs_counter_look(&awaited->what);
        if (status == UCCS_IN_PROGRESS) {
            at = &awaited->next;
            continue;
        }
        *at = awaited->next;
        finish_threshold(awaited, status != UCCS_OK);
        found = 1;
    }
    if (!list)
        uccs_progress_remove(&source);
    pthread_mutex_unlock(&lock);
    return found;
}

bool uccs_threshold_add(const struct uccs_counter_wanted *what, struct uccs_request *request)
{
    struct awaited *made = malloc(sizeof *made);
    if (!made)
        return false;
    *made = (struct awaited){.what = *what, .request = request};
    uccs_request_begin(request);
    const int status = uccs_counter_look(what);
    if (status != UCCS_IN_PROGRESS) {
        finish_threshold(made, status != UCCS_OK);
        return true;
    }
    pthread_mutex_lock(&lock);
    if (!list)
        (void)uccs_progress_add(&source);
    made->next = list;
    list = made;
    pthread_mutex_unlock(&lock);
    return true;
}

bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason)
{
    bool known = false;
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    for (const struct awaited *awaited = list; awaited && !known; awaited = awaited->next) {
        known = uccs_request_counts(request, awaited->request);
        if (known)
            uccs_counter_reason(&awaited->what, reason);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void uccs_threshold_close(void)
{
    pthread_mutex_lock(&lock);
    if (list)
        uccs_progress_remove(&source);
    while (list) {
        struct awaited *awaited = list;
        list = awaited->next;
        finish_threshold(awaited, true);
    }
    pthread_mutex_unlock(&lock);
}
