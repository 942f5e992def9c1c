/* Turns of a PE's threads at a lock, in locks.c. One thread plays all: what a thread does while another one waits comes with a pause of
 * that wait. */
#ifndef TESTS_PARTS_SHMEM_LOCKS_TURNS_H
#define TESTS_PARTS_SHMEM_LOCKS_TURNS_H

static uint32_t node, other;      /* words of two locks */
static uint32_t after_pass;       /* what the word is when the turn has been passed on */
static struct turn_waiter *first; /* the waiter that is called next */

static void nobody_waits(void)
{
    CHECK(!turn_first && turn_last == &turn_first);
    CHECK(takes == gives);
}

static void turn_of_one(void)
{
    plan(0, 0, 0);
    lat_lock_turn_wait(&node);
    CHECK(node == TURN && takes == 0);
    CHECK(!lat_lock_turn_try(&node, LOCK_TAKEN) && node == TURN);
    lat_lock_turn_pass(&node, TURN);
    CHECK(node == 0 && takes == 0);
    CHECK(lat_lock_turn_try(&node, LOCK_TAKEN) && node == LOCK_TAKEN);
    lat_lock_turn_pass(&node, LOCK_TAKEN);
    CHECK(node == 0 && takes == 0);
    nobody_waits();
}

static void frees_node(void)
{
    node = 0;
}

/* Who has the turn passes it on between this thread's first look and its second one, under the mutex. */
static void turn_that_comes_free(void)
{
    plan(0, 0, 0);
    node = LOCK_TAKEN;
    when_taken = frees_node;
    lat_lock_turn_wait(&node);
    CHECK(node == TURN && takes == 1 && pauses == 0);
    nobody_waits();
    node = 0;
}

static void not_called_under_the_mutex(void)
{
    CHECK(node == after_pass); /* it is written under it */
    CHECK(first->called == 0); /* its waiter may go once it is called */
}

static void passes(uint32_t before, uint32_t after)
{
    first = turn_first;
    after_pass = after;
    when_given = not_called_under_the_mutex;
    CHECK(node == before);
    lat_lock_turn_pass(&node, before & ~(uint32_t)LOCK_CROWD);
    CHECK(node == after && !when_given && first->called == 1);
}

static void passes_to_the_last(void)
{
    CHECK(turn_first && turn_first->node == &node && !turn_first->next && !turn_first->called);
    passes(TURN | LOCK_CROWD, TURN);
}

static void turn_of_a_second(void)
{
    plan(nothing_yet, passes_to_the_last, 0);
    node = TURN;
    lat_lock_turn_wait(&node);
    CHECK(node == TURN && pauses == 2 && takes == 2 && on.about == 0);
    nobody_waits();
    lat_lock_turn_pass(&node, TURN);
    CHECK(node == 0);
}

/* The word of who has the turn may hold anything but the crowd's bit; a thread that enlists adds it and nothing else. */
static void crowd_is_marked(void)
{
    struct turn_waiter waiter = {.node = &node};
    plan(0, 0, 0);
    node = LOCK_TAKEN | 6 * LOCK_BEHIND;
    waiter.next = &waiter;
    CHECK(turn_enlist(&waiter) && node == (LOCK_TAKEN | LOCK_CROWD | 6 * LOCK_BEHIND));
    CHECK(turn_first == &waiter && turn_last == &waiter.next && !waiter.next && !waiter.called);
    lat_lock_turn_pass(&node, LOCK_TAKEN | 6 * LOCK_BEHIND);
    CHECK(node == TURN && waiter.called == 1 && takes == 1);
    nobody_waits();
    node = 0;
    CHECK(!turn_enlist(&waiter) && node == TURN);
    nobody_waits();
    node = 0;
}

/* Threads that wait for turns at two locks: 0 at `which[0]` ... Passing serves those of `node` in their order, each once. */
static void crowd_of(const bool *at_node, int count)
{
    struct turn_waiter waiters[4];
    int here = 0;
    node = other = LOCK_TAKEN;
    for (int i = 0; i < count; i++) {
        waiters[i] = (struct turn_waiter){.node = at_node[i] ? &node : &other};
        CHECK(turn_enlist(&waiters[i]));
        here += at_node[i];
    }
    for (int i = 0; i < count; i++) {
        if (!at_node[i])
            continue;
        const uint32_t crowd = --here ? LOCK_CROWD : 0;
        lat_lock_turn_pass(&node, i > 0 && node != (LOCK_TAKEN | LOCK_CROWD) ? TURN : LOCK_TAKEN);
        for (int j = 0; j < count; j++)
            CHECK(waiters[j].called == (at_node[j] && j <= i)); /* first come, first served */
        CHECK(node == (TURN | crowd));
    }
    CHECK(node == TURN || node == LOCK_TAKEN);
    int left = 0;
    struct turn_waiter *at = turn_first;
    for (int i = 0; i < count; i++)
        if (!at_node[i]) {
            CHECK(at == &waiters[i]); /* the others keep their order */
            at = at->next;
            left++;
        }
    CHECK(!at && other == (left ? LOCK_TAKEN | LOCK_CROWD : LOCK_TAKEN));
    struct turn_waiter late = {.node = &other};
    CHECK(turn_enlist(&late) && !late.next && turn_last == &late.next);
    for (int i = 0; i < count; i++)
        if (!at_node[i]) {
            lat_lock_turn_pass(&other, other & ~(uint32_t)LOCK_CROWD);
            CHECK(waiters[i].called == 1 && late.called == 0 && other == (TURN | LOCK_CROWD));
        }
    lat_lock_turn_pass(&other, other & ~(uint32_t)LOCK_CROWD);
    CHECK(late.called == 1 && other == TURN);
    nobody_waits();
    node = other = 0;
}

static void crowds(void)
{
    for (int count = 1; count <= 4; count++)
        for (int mask = 0; mask < 1 << count; mask++) {
            bool at_node[4];
            for (int i = 0; i < count; i++)
                at_node[i] = mask >> i & 1;
            plan(0, 0, 0);
            crowd_of(at_node, count);
        }
}

/* Leaving a lock hands the turn to a thread that waits, whether a PE is behind or not. That thread joins the queue anew. */
static void lock_with_a_crowd(bool behind_me)
{
    struct turn_waiter waiter = {.node = &words[ME][6].node};
    plan(0, 0, 0);
    lat_set_lock(lock_of(6));
    CHECK(turn_enlist(&waiter));
    words[0][6].node = behind_me ? TURN : 0;
    if (behind_me) {
        words[ME][6].tail = 1;
        words[ME][6].node |= 1 * LOCK_BEHIND;
    }
    CHECK(words[ME][6].node == (TURN | LOCK_CROWD | (behind_me ? LOCK_BEHIND : 0)));
    lat_clear_lock(lock_of(6));
    CHECK(waiter.called == 1);
    are(6, behind_me ? 1 : 0, TURN, behind_me ? LOCK_TAKEN : 0, 0);
    nobody_waits();
    words[ME][6] = words[0][6] = (struct words){0};
}

static struct turn_waiter crowding = {.node = &words[ME][7].node}; /* of a lock whose home is PE 2 */

static void crowd_comes(void)
{
    CHECK(words[ME][7].node & LOCK_TAKEN);
    CHECK(turn_enlist(&crowding));
}

/* A thread that comes while this one asks the home is not forgotten: not by a test that fails, and not by who leaves the lock. */
static void crowd_at_the_last_moment(void)
{
    plan(0, 0, 0);
    words[FAR][7].tail = 1;
    when_asked = crowd_comes;
    CHECK(lat_test_lock(lock_of(7)) == 1 && crowding.called == 1 && misses == 1);
    are(7, 1, TURN, 0, 0);
    words[FAR][7].tail = words[ME][7].node = crowding.called = 0;
    CHECK(lat_test_lock(lock_of(7)) == 0);
    when_asked = crowd_comes;
    lat_clear_lock(lock_of(7));
    CHECK(crowding.called == 1);
    are(7, 0, TURN, 0, 0);
    words[ME][7].node = 0;
    nobody_waits();
}

/* A test of a lock that a thread of this PE has leaves it and its crowd alone. */
static void test_with_a_crowd(void)
{
    struct turn_waiter waiter = {.node = &words[ME][6].node};
    plan(0, 0, 0);
    words[ME][6] = (struct words){.tail = MINE, .node = LOCK_TAKEN};
    CHECK(turn_enlist(&waiter));
    CHECK(lat_test_lock(lock_of(6)) == 1 && waiter.called == 0 && misses == 1);
    are(6, MINE, LOCK_TAKEN | LOCK_CROWD, 0, 0);
    lat_clear_lock(lock_of(6));
    CHECK(waiter.called == 1);
    are(6, 0, TURN, 0, 0);
    words[ME][6] = (struct words){0};
}

static void turns(void)
{
    turn_of_one();
    turn_that_comes_free();
    turn_of_a_second();
    crowd_is_marked();
    crowds();
    lock_with_a_crowd(false);
    lock_with_a_crowd(true);
    crowd_at_the_last_moment();
    test_with_a_crowd();
}

#endif
