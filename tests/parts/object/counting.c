/* Counters of two PEs: which slots they get, which handles are old, who counts where, and how the members of a group agree on one, with
 * members that answer as the test wants. */
#include "uccs/core/await.h"
#include "uccs/object/counter.h"

#include "parts/pair.h"

#include <pthread.h>

#define take take_open
#define number_of number_of_open
#define books open_books
#include "uccs/object/counter_open.c"
#undef take
#undef number_of
#undef books
#include "uccs/object/counter.c"

enum { FIRST_OPEN = NODE_JOB_COUNTERS };

static uccs_counter handle_of(uint32_t slot, uint64_t generation)
{
    return generation << UCCS_COUNTER_SLOT_BITS | (slot + 1);
}

static int64_t count_at(uccs_counter counter, uint32_t index)
{
    return uccs_counter_at(index, uccs_counter_slot(counter))->count;
}

static uint64_t errors_at(uccs_counter counter, uint32_t index)
{
    return uccs_counter_at(index, uccs_counter_slot(counter))->errors;
}

/* --- Counters of the job */

/* Even slots come first; a slot that was released is the next one, with a higher generation. */
static void slots(void)
{
    static uccs_counter all[NODE_JOB_COUNTERS];
    for (uint32_t i = 0; i < NODE_JOB_COUNTERS; i++) {
        all[i] = uccs_counter_create();
        const uint32_t slot = i < NODE_JOB_COUNTERS / 2 ? 2 * i : 2 * (i - NODE_JOB_COUNTERS / 2) + 1;
        CHECK(all[i] == handle_of(slot, 1) && uccs_counter_of_job(all[i]) && number_of(slot) == i);
    }
    CHECK(uccs_counter_create() == 0);
    uccs_counter_clear(all[5]);
    CHECK(!uccs_counter_of_job(all[5]) && uccs_counter_create() == 0);
    uccs_counter_release(all[5]);
    uccs_counter_clear(all[40000]);
    uccs_counter_release(all[40000]);
    CHECK(uccs_counter_create() == handle_of(uccs_counter_slot(all[40000]), 3));
    CHECK(uccs_counter_create() == handle_of(10, 3) && uccs_counter_create() == 0);
    CHECK(uccs_counter_arrive(all[0], 4, 0) && uccs_counter_arrive(all[65535], 5, 0));
    uccs_counter_close(); /* a life ends: all is forgotten but for the generations */
    CHECK(count_at(all[0], 0) == 0 && count_at(all[65535], 0) == 0 && !uccs_counter_of_job(all[0]));
    CHECK(!uccs_counter_of_job(all[65535]) && uccs_counter_create() == handle_of(0, 3));
    CHECK(uccs_counter_create() == handle_of(2, 3) && uccs_counter_generation[10] == 4);
    uccs_counter_close();
}

static void arrivals(void)
{
    const uccs_counter counter = uccs_counter_create(), other = uccs_counter_create();
    CHECK(uccs_counter_arrive(counter, 3, 0) && uccs_counter_arrive(counter, -1, 0) &&
          uccs_counter_arrive(counter, 7, 1));
    CHECK(uccs_counter_get(counter) == 2 && count_at(counter, 0) == 2 && count_at(counter, 1) == 7 &&
          count_at(other, 0) == 0);
    static const int none[] = {2, -1, 65536, 65537, 1 << 30};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK(!uccs_counter_arrive(counter, 1, none[i]) && !uccs_counter_late(counter, none[i]));
        CHECK(!uccs_counter_line_at(counter, none[i]));
    }
    CHECK(uccs_counter_get(counter) == 2 && count_at(counter, 1) == 7 && errors_at(counter, 0) == 0);
    CHECK(uccs_counter_line_at(counter, 1) == uccs_counter_at(1, uccs_counter_slot(counter)));
    CHECK(uccs_counter_live(counter) && uccs_counter_usable(counter, 0) && uccs_counter_usable(counter, 1));
    CHECK(uccs_counter_late(counter, 1) && errors_at(counter, 1) == 1 && errors_at(counter, 0) == 0);
    CHECK(!uccs_counter_late(0, 0) && !uccs_counter_late(handle_of(FIRST_OPEN + NODE_OPEN_COUNTERS, 1), 0));
    CHECK(uccs_counter_named(handle_of(FIRST_OPEN + NODE_OPEN_COUNTERS - 1, 1)) && !uccs_counter_named(0));
    CHECK(uccs_counter_named(counter) && !uccs_counter_named(handle_of(FIRST_OPEN + NODE_OPEN_COUNTERS, 1)));
    uccs_counter_clear(counter);
    CHECK(uccs_counter_get(counter) == 0 && !uccs_counter_live(counter) && !uccs_counter_usable(counter, 1));
    CHECK(!uccs_counter_arrive(counter, 1, 0) && !uccs_counter_arrive(counter, 1, 1) && uccs_counter_get(counter) == 0);
    CHECK(!uccs_counter_line_at(counter, 0) && uccs_counter_live(other) && !uccs_counter_usable(0, 0));
    uccs_counter_at(1, uccs_counter_slot(counter))->count = 0;
    uccs_counter_at(1, uccs_counter_slot(counter))->errors = 0;
}

/* What a message brings: an old handle is an error, one that is still to come here counts. */
static void arrivals_by_message(void)
{
    const uccs_counter counter = uccs_counter_create();
    const uint32_t slot = uccs_counter_slot(counter);
    uccs_counter_arrive_here(counter, 5);
    CHECK(uccs_counter_get(counter) == 5);
    uint32_t *generation = &uccs_counter_generation[slot];
    *generation = 65539;
    uccs_counter_arrive_here(handle_of(slot, 65539), 1);
    uccs_counter_arrive_here(handle_of(slot, 65541), 10);
    CHECK(uccs_counter_get(counter) == 16 && errors_at(counter, 0) == 0);
    uccs_counter_arrive_here(handle_of(slot, 65537), 100);
    uccs_counter_arrive_here(handle_of(slot, 3), 100);
    CHECK(uccs_counter_get(counter) == 16 && errors_at(counter, 0) == 2);
    uccs_counter_arrive_here(0, 100);
    uccs_counter_arrive_here(handle_of(FIRST_OPEN + NODE_OPEN_COUNTERS, 65539), 100);
    CHECK(uccs_counter_get(counter) == 16);
    const uccs_counter open = uccs_counter_open_here();
    uccs_counter_arrive_here(open, 9);
    CHECK(uccs_counter_get(open) == 9 && errors_at(open, 0) == 0);
    uccs_counter_arrive_here(open + (UINT64_C(2) << UCCS_COUNTER_SLOT_BITS), 9); /* none of this PE's */
    CHECK(uccs_counter_get(open) == 9 && errors_at(open, 0) == 1);
}

static void tell_of(uccs_counter counter, const char *text)
{
    struct uccs_told told = {0};
    uccs_counter_tell(&(struct uccs_counter_wanted){counter, (INT64_C(1) << 40) + 12}, &told);
    CHECK(strcmp(told.text, text) == 0 && told.on.object == (uintptr_t)&uccs_counter_mine(counter)->count);
    CHECK(told.value == (uint64_t)uccs_counter_get(counter) && told.on.number == (UINT64_C(1) << 40) + 12 &&
          told.on.kind == KIND_I64);
    CHECK(told.on.compare[0] == '>' && told.on.compare[1] == '=');
}

/* --- Counters that one PE opens */

static void one_pe(void)
{
    const uint32_t last = FIRST_OPEN + NODE_OPEN_COUNTERS - 1;
    uccs_counter_close();
    const uccs_counter counter = uccs_counter_open_here(), next = uccs_counter_open_here();
    CHECK(uccs_counter_slot(counter) == last && uccs_counter_slot(next) == last - 1 && generation_of(counter) & 1);
    CHECK(uccs_counter_opened(counter) && !uccs_counter_of_job(counter) && uccs_counter_live(counter));
    CHECK(uccs_counter_open_at(counter, 0) && !uccs_counter_open_at(counter, 1) && !uccs_counter_open_at(counter, 2));
    CHECK(uccs_counter_usable(counter, 0) && !uccs_counter_usable(counter, 1) && uccs_counter_usable(counter, 2));
    CHECK(!uccs_counter_open_at(handle_of(0, generation_of(counter)), 0));
    CHECK(!uccs_counter_open_at(counter + (UINT64_C(2) << UCCS_COUNTER_SLOT_BITS), 0));
    CHECK(uccs_counter_arrive(counter, 4, 0) && uccs_counter_get(counter) == 4 && uccs_counter_get(next) == 0);
    CHECK(!uccs_counter_arrive(counter, 4, 1) && !uccs_counter_arrive(counter, 4, 2) &&
          !uccs_counter_arrive(counter, 4, 65536));
    CHECK(count_at(counter, 1) == 0 && uccs_counter_get(counter) == 4);
    uint32_t *beyond = &generations_at(2)[number_of_open(counter)], was = *beyond; /* of nobody */
    *beyond = generation_of(counter);
    CHECK(!uccs_counter_open_at(counter, 2));
    *beyond = was;
    const uint32_t slot = last - FIRST_OPEN; /* the job's counter whose number has the same lower bits */
    const uint32_t before = uccs_counter_generation[slot];
    uccs_counter_generation[slot] = generation_of(counter);
    CHECK(!uccs_counter_of_job(counter));
    uccs_counter_generation[slot] = before;
    tell_of(counter, "own counter 32767");
    uccs_counter_late(counter, 0);
    uccs_counter_clear(counter);
    CHECK(!uccs_counter_live(counter) && uccs_counter_get(counter) == 0 && errors_at(counter, 0) == 0);
    CHECK(!uccs_counter_arrive(counter, 1, 0));
    const uccs_counter third = uccs_counter_open_here(); /* the slot is not free yet */
    CHECK(uccs_counter_slot(third) == last - 2);
    uccs_counter_release(counter);
    CHECK(uccs_counter_open_here() == counter + (UINT64_C(2) << UCCS_COUNTER_SLOT_BITS));
}

static void all_slots(void)
{
    uccs_counter one = 0;
    uccs_counter_close();
    for (int i = 0; i < NODE_OPEN_COUNTERS; i++) {
        one = uccs_counter_open_here();
        CHECK(uccs_counter_slot(one) == (uint32_t)(FIRST_OPEN + NODE_OPEN_COUNTERS - 1 - i) && uccs_counter_live(one));
    }
    CHECK(uccs_counter_open_here() == 0);
    uccs_counter_release(one);
    CHECK(uccs_counter_slot(uccs_counter_open_here()) == FIRST_OPEN && uccs_counter_open_here() == 0);
    const uint32_t generation = last_generation[77];
    uccs_counter_close();
    CHECK(uccs_counter_get(one) == 0 && last_generation[77] == generation + 1 && generations_at(0)[77] == 0);
    CHECK(!(last_generation[0] & 1) && generations_at(0)[0] == 0 && generations_at(0)[SLOTS - 1] == 0);
    CHECK(taken[0] == 0 && taken[SLOTS / 64 - 1] == 0 && !any_taken);
    CHECK(uccs_counter_slot(uccs_counter_open_here()) == FIRST_OPEN + NODE_OPEN_COUNTERS - 1);
    uccs_counter_close();
}

/* --- Counters that a group opens: `join` is what the other members say */

static struct {
    int joins, fails_at; /* fails_at: the round that fails; 0: none */
    uint64_t free_at[4],
        from;            /* what is free at the others in each window; the others' first window with a free slot */
    int taken_first;     /* so many times another thread of another member was faster */
    uint64_t generation; /* that another member has */
    uint64_t widths;     /* how many words each round had, as decimal digits */
} group;

static int join(void *members, uint64_t *words, size_t n, bool maximum)
{
    CHECK(members == &group && n <= UCCS_COUNTER_WORDS);
    group.widths = group.joins < 8 ? group.widths * 10 + n : 0;
    if (++group.joins == group.fails_at)
        return UCCS_ERR_UNREACHABLE;
    if (n == 1 && group.joins == 1)
        words[0] = words[0] > group.from ? words[0] : group.from;
    if (n == UCCS_COUNTER_WORDS) {
        CHECK(!maximum);
        for (size_t i = 0; i < n; i++)
            words[i] &= group.free_at[i];
    }
    CHECK(n == UCCS_COUNTER_WORDS || maximum);
    if (n == 2) {
        words[0] |= group.taken_first > 0;
        group.taken_first--;
        words[1] = words[1] > group.generation ? words[1] : group.generation;
    }
    return UCCS_OK;
}

static void begin_group(void)
{
    uccs_counter_close();
    memset(&group, 0, sizeof group);
    memset(group.free_at, 0xff, sizeof group.free_at);
}

static int agree(uint32_t salt, uccs_counter *counter)
{
    *counter = 0;
    group.joins = 0;
    return uccs_counter_agree(&(struct uccs_counter_members){join, &group, salt}, counter);
}

static void agreed(void)
{
    uccs_counter counter, other;
    begin_group();
    CHECK(agree(0, &counter) == UCCS_OK && group.widths == 1421 && uccs_counter_slot(counter) == FIRST_OPEN);
    CHECK(generation_of(counter) & 1 && uccs_counter_open_at(counter, 0) && uccs_counter_get(counter) == 0);
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + 1);
    group.free_at[0] = UINT64_C(1) << 63 | 4 | 3; /* the first that is free at all */
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + 2);
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + 63);
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + 64);
    group.generation = 100000001;
    CHECK(agree(0, &other) == UCCS_OK && generation_of(other) == 100000001 && uccs_counter_open_at(other, 0));
    begin_group();
    group.from = 3; /* the others have nothing in the first windows */
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + 3 * WINDOW);
    begin_group();
    for (uint32_t i = 0; i < WINDOW; i++)
        CHECK(take_open(i) && !take_open(i));
    CHECK(first_window() == 1 && agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + WINDOW);
    give_back(WINDOW - 1);
    CHECK(first_window() == 0 && agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + WINDOW - 1);
    begin_group();
    group.from = SLOTS / WINDOW - 1;
    CHECK(agree(0, &other) == UCCS_OK && uccs_counter_slot(other) == FIRST_OPEN + SLOTS - WINDOW);
    group.from = SLOTS / WINDOW;
    CHECK(agree(0, &other) == UCCS_ERR_NO_MEMORY && !other && group.joins == 1);
    begin_group();
    memset(group.free_at, 0, sizeof group.free_at);
    CHECK(agree(0, &other) == UCCS_ERR_NO_MEMORY && !other && group.joins == 1 + SLOTS / WINDOW && taken[0] == 0);
}

/* Another member's thread was faster: all give back and begin elsewhere. */
static void collisions(void)
{
    uccs_counter counter;
    begin_group();
    group.taken_first = 1;
    CHECK(agree(5, &counter) == UCCS_OK && uccs_counter_slot(counter) == FIRST_OPEN + 11 && taken[0] == 1u << 11);
    CHECK(group.joins == 7);
    begin_group();
    group.taken_first = 2;
    CHECK(agree(120, &counter) == UCCS_OK && uccs_counter_slot(counter) == FIRST_OPEN + 482 % WINDOW);
    begin_group();
    group.taken_first = 999;
    CHECK(agree(0, &counter) == UCCS_OK && uccs_counter_slot(counter) == FIRST_OPEN + 999 % WINDOW);
    begin_group();
    group.taken_first = 1000;
    CHECK(agree(0, &counter) == UCCS_ERR_NO_MEMORY && !counter && group.joins == 3000 && taken[0] == 0);
    for (int round = 1; round <= 4; round++) {
        begin_group();
        group.fails_at = round;
        CHECK(agree(0, &counter) == UCCS_ERR_UNREACHABLE && !counter && group.joins == round);
        CHECK(round == 4 || taken[0] == 0);
    }
    begin_group();
    for (uint32_t i = 0; i < 3; i++)
        CHECK(take_open(i)); /* by threads of this PE */
    group.taken_first = 1;
    CHECK(agree(0, &counter) == UCCS_OK && uccs_counter_slot(counter) == FIRST_OPEN + 3 && taken[0] == 0xf);
    begin_group();
}

int main(void)
{
    pair_start();
    slots();
    arrivals();
    arrivals_by_message();
    uccs_counter_close();
    const uccs_counter first = uccs_counter_create(), second = uccs_counter_create();
    tell_of(first, "counter 0");
    tell_of(second, "counter 1");
    one_pe();
    all_slots();
    agreed();
    collisions();
    return pair_finish();
}
