/* Counters that a group or one PE opens; see counter_open.h.
 *
 * The slots of a PE are bits of a private table, and their generations lie in the shared lines behind the counters. The
 * members of a group agree in rounds: they look at a window of slots, each says which of them are free, each takes the
 * first slot that is free at all, and says how that went and which generation comes next. A member may fail to take the
 * slot because another thread was faster; then all give back and try again from another place. One more round at the
 * end lets no member count at another one that has not opened the counter yet. */
#include "uccs/comp/counter_open.h"

#include <pthread.h>
#include <string.h>

#define SLOTS NODE_OPEN_COUNTERS
#define WINDOW (64 * UCCS_COUNTER_WORDS) /* slots that a round looks at */
#define ATTEMPTS 1000

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* guards the two tables */
static uint64_t taken[SLOTS / 64];
static bool any_taken; /* in this life; most programs open none, and then their pages of the tables stay untouched */
static uint32_t last_generation[SLOTS]; /* even: free; grows over all lives. 0: never used */

/* Returns the generations of the opened counters of a PE of this node. */
static uint32_t *generations_at(uint32_t index)
{
    return (uint32_t *)(void *)uccs_counter_at(index, NODE_JOB_COUNTERS + SLOTS);
}

static uint32_t my_index(void)
{
    return uccs_core.index;
}

static uint32_t generation_of(uccs_counter counter)
{
    return (uint32_t)(counter >> UCCS_COUNTER_SLOT_BITS);
}

/* Returns the number of an opened counter's slot among those of this file. */
static uint32_t number_of(uccs_counter counter)
{
    return uccs_counter_slot(counter) - NODE_JOB_COUNTERS;
}

bool uccs_counter_open_at(uccs_counter counter, uint32_t index)
{
    return index < uccs_core.pes && uccs_counter_opened(counter) &&
           /* release: open_slot, clear; odd, as all generations that are handed out */
           atomic_load_acquire(&generations_at(index)[number_of(counter)]) == counter >> UCCS_COUNTER_SLOT_BITS;
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

/* Takes a slot, if it is free. */
static bool take_slot(uint32_t number)
{
    uint64_t bit = UINT64_C(1) << number % 64;
    pthread_mutex_lock(&books);
    bool free = !(taken[number / 64] & bit);
    taken[number / 64] |= bit;
    any_taken = true;
    pthread_mutex_unlock(&books);
    return free;
}

static void give_back(uint32_t number)
{
    pthread_mutex_lock(&books);
    taken[number / 64] &= ~(UINT64_C(1) << number % 64);
    pthread_mutex_unlock(&books);
}

/* Each PE begins its generations elsewhere, so that a handle that goes to a wrong PE seldom names a counter there. */
static uint32_t next_generation(uint32_t number)
{
    if (!last_generation[number])
        last_generation[number] = ((uint32_t)uccs_core.me * 0x9E3779B1u) >> 4 << 1;
    return last_generation[number] + 1;
}

/* Opens a slot that this thread has taken. Its count is zero already. */
static uccs_counter open_slot(uint32_t number, uint32_t generation)
{
    last_generation[number] = generation;
    atomic_store_release(&generations_at(my_index())[number], generation); /* acquire: uccs_counter_open_at */
    return (uint64_t)generation << UCCS_COUNTER_SLOT_BITS | (NODE_JOB_COUNTERS + number + 1);
}

/* Groups take slots from the front and single PEs from the back, so that groups soon find a common one. */
uccs_counter uccs_counter_open_here(void)
{
    for (uint32_t number = SLOTS; number-- > 0;)
        if (atomic_load_relaxed(&taken[number / 64]) == UINT64_MAX) /* only a hint: take looks under the lock */
            number &= ~63u;
        else if (take_slot(number))
            return open_slot(number, next_generation(number));
    return 0;
}

/* --- Groups */

/* Returns the first window with a free slot; SLOTS / WINDOW when there is none. */
static uint32_t first_window(void)
{
    uint32_t word = 0;
    pthread_mutex_lock(&books);
    while (word < SLOTS / 64 && taken[word] == UINT64_MAX)
        word++;
    pthread_mutex_unlock(&books);
    return word / UCCS_COUNTER_WORDS;
}

static void free_slots(uint32_t window, uint64_t *words)
{
    pthread_mutex_lock(&books);
    for (uint32_t i = 0; i < UCCS_COUNTER_WORDS; i++)
        words[i] = ~taken[window * UCCS_COUNTER_WORDS + i];
    pthread_mutex_unlock(&books);
}

/* Finds a slot that is free at all members; `begin` is the first place in a window to look at. Returns UCCS_OK,
 * UCCS_ERR_NO_MEMORY, or the error of a round. */
static int find_common(const struct uccs_counter_members *members, uint32_t begin, uint32_t *number)
{
    uint64_t words[UCCS_COUNTER_WORDS] = {first_window()};
    int status = members->join(members->members, words, 1, true);
    for (uint32_t window = (uint32_t)words[0]; status == UCCS_OK && window < SLOTS / WINDOW; window++) {
        free_slots(window, words);
        status = members->join(members->members, words, UCCS_COUNTER_WORDS, false);
        for (uint32_t i = 0; i < WINDOW && status == UCCS_OK; i++) {
            uint32_t at = (begin + i) % WINDOW;
            if (words[at / 64] >> at % 64 & 1) {
                *number = window * WINDOW + at;
                return UCCS_OK;
            }
        }
    }
    return status == UCCS_OK ? UCCS_ERR_NO_MEMORY : status;
}

/* One attempt. Returns UCCS_IN_PROGRESS when a member could not take the slot. */
static int attempt_slot(const struct uccs_counter_members *members, uint32_t begin, uccs_counter *counter)
{
    uint32_t number = 0;
    int status = find_common(members, begin, &number);
    if (status != UCCS_OK)
        return status;
    bool mine = take_slot(number);
    uint64_t words[UCCS_COUNTER_WORDS] = {!mine, mine ? next_generation(number) : 0};
    status = members->join(members->members, words, 2, true);
    if (status == UCCS_OK && !words[0]) {
        *counter = open_slot(number, (uint32_t)words[1]);
        return UCCS_OK;
    }
    if (mine)
        give_back(number);
    return status == UCCS_OK ? UCCS_IN_PROGRESS : status;
}

int uccs_counter_agree(const struct uccs_counter_members *members, uccs_counter *counter)
{
    uint64_t nothing = 0;
    uccs_counter made = 0;
    int status = UCCS_IN_PROGRESS;
    for (uint32_t i = 0; i < ATTEMPTS && status == UCCS_IN_PROGRESS; i++)
        status = attempt_slot(members, i * (members->salt * 2 + 1), &made);
    if (status == UCCS_OK)
        status = members->join(members->members, &nothing, 1, true); /* all have opened it */
    if (status == UCCS_OK)
        *counter = made;
    return status == UCCS_IN_PROGRESS ? UCCS_ERR_NO_MEMORY : status;
}

/* --- End */

/* Ends the generation first, so that later arrivals find the handle old. */
void uccs_counter_clear_open(uccs_counter counter)
{
    uint32_t number = number_of(counter);
    last_generation[number] = generation_of(counter) + 1;
    atomic_store_release(&generations_at(my_index())[number], last_generation[number]);
    struct uccs_counter_line *line = uccs_counter_mine(counter);
    atomic_store_relaxed(&line->count, 0); /* the next round of agreement publishes it */
    atomic_store_relaxed(&line->errors, 0);
}

void uccs_counter_release_open(uccs_counter counter)
{
    give_back(number_of(counter));
}

void uccs_counter_close_open(void)
{
    if (!any_taken)
        return;
    any_taken = false;
    for (uint32_t number = 0; number < SLOTS; number++) {
        if (!last_generation[number])
            continue;
        last_generation[number] += last_generation[number] & 1;
        generations_at(my_index())[number] = 0;
        *uccs_counter_at(my_index(), NODE_JOB_COUNTERS + number) = (struct uccs_counter_line){0};
    }
    memset(taken, 0, sizeof taken);
}
