/* Of lock_waits.c: who waits for a lock, how, and what for; whom those who enter and leave tell. */
#ifndef TESTS_PARTS_LOCKS_WAITING_H
#define TESTS_PARTS_LOCKS_WAITING_H

#include "locks_world.h"

static void writer_leaves(int serve)
{
    if (serve == 3)
        (void)uccs_ticket_leave(lock, UCCS_LOCK_EXCLUSIVE);
}

static const struct node_awaited *awaited(const char *text, int writer)
{
    static struct uccs_told told;
    told = (struct uccs_told){.on = {.about = NODE_ABOUT_PES, .start = -1}};
    CHECK(wait_then.about == UCCS_ABOUT_TOLD);
    tell_lock((const void *)(uintptr_t)wait_then.object, &told);
    CHECK(strcmp(told.text, text) == 0 && told.on.about == NODE_ABOUT_PES && told.on.start == writer);
    return &told.on;
}

/* A waiter looks 32 times and pauses 7 times behind each look when one ticket is before its own; then it serves. */
static void waits(void)
{
    begin();
    CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && lock->writer == 6 && pauses == 0);
    meanwhile = writer_leaves;
    lock->writer = 8;
    CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && serves == 3 && pauses == 32 * 7 && looks_then == 2);
    CHECK(lock->writer == 6 && tells == 0 && uccs_ticket_writer(lock) == 5);
    serves = pauses = 0;
    uccs_core.spin = 0;
    CHECK(enter(UCCS_LOCK_SHARED) == UCCS_OK && serves == 3 && pauses == 0 && lock->writer == 6);
    CHECK(leave(UCCS_LOCK_SHARED) == UCCS_OK);
}

/* Hands the lock on from ticket to ticket until two, or three, or four are before that of this thread. */
static uint32_t crowd;
static uint32_t looks_in_crowd, looks_behind;

static void crowd_leaves(int serve)
{
    if (serve == 1)
        looks_in_crowd = looks_then;
    if (serve == 2)
        looks_behind = looks_then;
    if ((uint32_t)serve > 1 && (uint32_t)serve <= crowd + 1)
        (void)uccs_ticket_leave(lock, UCCS_LOCK_EXCLUSIVE);
}

static void crowds(void)
{
    static const struct {
        uint32_t before;
        int pauses;
        uint32_t looks, then; /* of the wait, at the first turn and at the second one */
    } rows[] = {{1, 32 * 7, 0, 1}, {2, 32 * 15, 0, 1}, {3, 32 * 23, 0, 1}, {4, 0, 100, 101}, {5, 0, 100, 101}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        crowd = rows[i].before;
        for (uint32_t n = 0; n < crowd; n++)
            uccs_ticket_draw(lock);
        meanwhile = crowd_leaves;
        CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && pauses == rows[i].pauses && serves == (int)crowd + 1);
        CHECK(looks_in_crowd == rows[i].looks && looks_behind == rows[i].then);
        CHECK(uccs_ticket_writer(lock) == 5 && uccs_ticket_next(lock->word) == crowd + 1);
    }
    begin();
    crowd = 65537; /* tickets */
    lock->word = TICKET_NEXT * crowd;
    bool tell;
    CHECK(!enter_soon(lock, crowd, UCCS_LOCK_EXCLUSIVE, &tell) && pauses == 0);
    lock->word = TICKET_NEXT;
    CHECK(enter_soon(lock, 0, UCCS_LOCK_EXCLUSIVE, &tell) && pauses == 0); /* its turn has come meanwhile */
}

/* What the wait is for: the writer inside, or those who share the lock. */
static int shared_by;

static void look_at_wait(int serve)
{
    (void)serve;
    awaited(shared_by ? "a lock of PE 5 that others share" : "a lock of PE 5", shared_by ? -1 : 0);
    CHECK(shared_by || wait_then.about == UCCS_ABOUT_TOLD);
    (void)uccs_ticket_leave(lock, shared_by ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
}

static void tells_of_waits(void)
{
    begin();
    meanwhile = look_at_wait;
    shared_by = 1;
    CHECK(enter(UCCS_LOCK_SHARED) == UCCS_OK && enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && serves == 1);
    shared_by = 0;
    uccs_ticket_sign(lock, 0);
    CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && serves == 2);
}

/* A reader who enters and finds others of other nodes behind it tells the owner's process; so does who leaves. */
static void far_waiter_comes(int serve)
{
    if (serve == 1) {
        (void)uccs_ticket_draw(lock);
        (void)__atomic_fetch_or(&lock->word, TICKET_FAR, __ATOMIC_ACQ_REL);
        (void)uccs_ticket_leave(lock, UCCS_LOCK_EXCLUSIVE);
    }
}

static void owner_is_told(void)
{
    for (int mine = 0; mine < 2; mine++) {
        begin();
        memory.owner = there.pe = mine ? 5 : 7;
        CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && tells + grants == 0);
        meanwhile = far_waiter_comes;
        CHECK(enter(UCCS_LOCK_SHARED) == UCCS_OK && tells == !mine && grants == mine && serves == 1);
        CHECK(mine || told_index == 3);
        CHECK(leave(UCCS_LOCK_SHARED) == UCCS_OK && tells == 2 * !mine && grants == 2 * mine);
        (void)uccs_ticket_leave(lock, UCCS_LOCK_EXCLUSIVE); /* the other node's */
        begin();
        memory.owner = there.pe = mine ? 5 : 7;
        lock->word = TICKET_FAR;
        CHECK(uccs_lock_mapped(&there, lock, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && tells + grants == 0);
        CHECK(lock->writer == 6);
        rings_full = 2;
        CHECK(uccs_unlock_mapped(&there, lock, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && tells == !mine && grants == mine);
        CHECK(serves == (mine ? 0 : 2)); /* it serves others until the ring has room */
        rings_full = 0;
        lock->guests = TICKET_ADMITTED | 1;
        CHECK(leave(UCCS_LOCK_GUEST) == UCCS_OK && tells == 2 * !mine && grants == 2 * mine);
    }
    uccs_lock_left(NULL, NULL, 0, NULL);
    CHECK(grants == 3);
}

static void guest_waits(int serve)
{
    awaited("a lock of PE 5", 5);
    if (serve == 2)
        (void)uccs_ticket_leave(lock, UCCS_LOCK_EXCLUSIVE);
}

static void guests(void)
{
    begin();
    CHECK(enter(UCCS_LOCK_GUEST) == UCCS_ERR_INVALID && uccs_lock_admit_guests(&memory, 0) == UCCS_OK);
    CHECK(enter(UCCS_LOCK_EXCLUSIVE) == UCCS_OK && lock->guests == (TICKET_ADMITTED | TICKET_BARRED));
    meanwhile = guest_waits;
    CHECK(enter(UCCS_LOCK_GUEST) == UCCS_OK && serves == 2 && lock->guests == (TICKET_ADMITTED | 1));
    CHECK(lock->word == TICKET_NEXT + TICKET_READ + TICKET_LEFT && leave(UCCS_LOCK_GUEST) == UCCS_OK);
    CHECK(lock->guests == TICKET_ADMITTED);
}

static void in_handlers(void)
{
    begin();
    uccs_handlers_running = 1;
    CHECK(enter(UCCS_LOCK_SHARED) == UCCS_ERR_STATE && lock->word == 0);
    CHECK(uccs_lock_mapped(&there, lock, UCCS_LOCK_SHARED) == UCCS_ERR_STATE && lock->word == 0);
    CHECK(uccs_lock(&there, &memory, 8, UCCS_LOCK_SHARED) == UCCS_ERR_INVALID);
    uccs_handlers_running = 0;
}

#endif
