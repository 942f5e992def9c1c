/* The ticket lock: its numbers wrap, also under threads; who enters when. */
#include "uccs/mem/rwlock.h"

#include "unit/check.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, ROUNDS = 1000 }; /* a round costs a time slice where other programs want the processor */

static struct uccs_ticket_lock lock;
static uint64_t inside, written; /* `written` is plain: the lock orders it */

/* Leaves the lock free, with its numbers `before` steps before they wrap. */
static void set_before_wrap(uint64_t before)
{
    const uint64_t number = TICKET_NUMBER + 1 - before;
    lock.word = number * (TICKET_LEFT + TICKET_READ + TICKET_NEXT);
}

static void enter(enum uccs_lock_mode mode)
{
    uint32_t ticket;
    if (mode == UCCS_LOCK_GUEST) {
        while (!uccs_ticket_visit(&lock))
            sched_yield();
        return;
    }
    if (mode == UCCS_LOCK_SHARED && uccs_ticket_read_now(&lock))
        return;
    if (!uccs_ticket_take(&lock, mode, &ticket))
        while (!uccs_ticket_enter(&lock, ticket, mode))
            sched_yield();
}

static void *work(void *argument)
{
    for (long i = 0; i < ROUNDS; i++) {
        const enum uccs_lock_mode mode = (i + (long)argument) % 3 == 0                ? UCCS_LOCK_EXCLUSIVE
                                         : atomic_load_relaxed(&lock.guests) && i % 2 ? UCCS_LOCK_GUEST
                                                                                      : UCCS_LOCK_SHARED;
        const uint64_t step = mode == UCCS_LOCK_EXCLUSIVE ? (uint64_t)1 << 32 : 1;
        enter(mode);
        const uint64_t others = atomic_fetch_add_relaxed(&inside, step);
        CHECK(others >> 32 == 0 && (mode != UCCS_LOCK_EXCLUSIVE || others == 0));
        if (mode == UCCS_LOCK_EXCLUSIVE)
            written++;
        (void)atomic_fetch_add_relaxed(&inside, -step);
        uccs_ticket_leave(&lock, mode);
    }
    return 0;
}

/* The carries come at different rounds, as readers and writers are mixed. */
static void test_threads(uint64_t before)
{
    pthread_t threads[THREADS];
    uint64_t writes = 0;
    written = 0;
    set_before_wrap(before);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], 0, work, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    for (long i = 0; i < THREADS; i++)
        for (long round = 0; round < ROUNDS; round++)
            writes += (round + i) % 3 == 0;
    CHECK(written == writes);
    CHECK(lock.guests || uccs_ticket_next(lock.word) == ((THREADS * ROUNDS - before) & TICKET_NUMBER));
    CHECK(uccs_ticket_left(lock.word) == uccs_ticket_next(lock.word));
    CHECK(uccs_ticket_read(lock.word) == uccs_ticket_next(lock.word));
    CHECK(!(lock.word & TICKET_CARRIES));
}

/* A reader, a writer and a reader wait in line behind a writer. */
static void test_turns(uint64_t before)
{
    uint32_t reader, writer, late, none;
    set_before_wrap(before);
    CHECK(uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &none));
    CHECK(!uccs_ticket_read_now(&lock) && !uccs_ticket_visit(&lock));
    CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_SHARED, &reader));
    CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &writer));
    CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_SHARED, &late));
    CHECK(uccs_ticket_before(&lock, late, UCCS_LOCK_SHARED) == 3);
    CHECK(!uccs_ticket_enter(&lock, reader, UCCS_LOCK_SHARED));
    uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
    CHECK(!uccs_ticket_enter(&lock, writer, UCCS_LOCK_EXCLUSIVE));
    CHECK(uccs_ticket_enter(&lock, reader, UCCS_LOCK_SHARED));
    CHECK(!uccs_ticket_enter(&lock, writer, UCCS_LOCK_EXCLUSIVE));
    CHECK(!uccs_ticket_enter(&lock, late, UCCS_LOCK_SHARED));
    uccs_ticket_leave(&lock, UCCS_LOCK_SHARED);
    CHECK(uccs_ticket_enter(&lock, writer, UCCS_LOCK_EXCLUSIVE));
    uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
    CHECK(uccs_ticket_enter(&lock, late, UCCS_LOCK_SHARED));
    CHECK(uccs_ticket_read_now(&lock)); /* beside the other reader */
    uccs_ticket_leave(&lock, UCCS_LOCK_SHARED);
    uccs_ticket_leave(&lock, UCCS_LOCK_SHARED);
    CHECK(uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &none));
}

/* Guests pass writers in line, and one that waits for the writer inside goes before the next writer. */
static void test_guests(void)
{
    uint32_t first, second;
    set_before_wrap(2);
    lock.guests = TICKET_ADMITTED;
    CHECK(uccs_ticket_visit(&lock) && uccs_ticket_visit(&lock));
    CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &first));
    CHECK(uccs_ticket_visit(&lock)); /* though a writer waits, whose turn it is */
    uccs_ticket_leave(&lock, UCCS_LOCK_GUEST);
    uccs_ticket_leave(&lock, UCCS_LOCK_GUEST);
    CHECK(!uccs_ticket_enter(&lock, first, UCCS_LOCK_EXCLUSIVE));
    uccs_ticket_leave(&lock, UCCS_LOCK_GUEST);
    CHECK(uccs_ticket_enter(&lock, first, UCCS_LOCK_EXCLUSIVE));
    CHECK(!uccs_ticket_visit(&lock));
    (void)atomic_fetch_or_acqrel(&lock.guests, TICKET_GUESTS_WAIT);
    CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &second));
    uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
    CHECK(!uccs_ticket_enter(&lock, second, UCCS_LOCK_EXCLUSIVE));
    CHECK(uccs_ticket_visit(&lock));
    (void)atomic_fetch_and_acqrel(&lock.guests, ~TICKET_GUESTS_WAIT);
    CHECK(!uccs_ticket_enter(&lock, second, UCCS_LOCK_EXCLUSIVE));
    uccs_ticket_leave(&lock, UCCS_LOCK_GUEST);
    CHECK(uccs_ticket_enter(&lock, second, UCCS_LOCK_EXCLUSIVE));
    uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
    CHECK(lock.guests == TICKET_ADMITTED);
}

/* Nobody is barred while a guest is inside, and nobody visits what is barred. */
static void test_bar(void)
{
    set_before_wrap(3);
    lock.guests = TICKET_ADMITTED;
    CHECK(uccs_ticket_visit(&lock) && !uccs_ticket_bar(&lock));
    uccs_ticket_leave(&lock, UCCS_LOCK_GUEST);
    CHECK(lock.guests == TICKET_ADMITTED);
    CHECK(uccs_ticket_bar(&lock) && lock.guests == (TICKET_ADMITTED | TICKET_BARRED));
    CHECK(!uccs_ticket_bar(&lock) && !uccs_ticket_visit(&lock));
    uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
    CHECK(lock.guests == TICKET_ADMITTED && uccs_ticket_bar(&lock));
    lock.guests = 0;
}

/* Who is inside, and how many are before a ticket, at any numbers. */
static void test_hints(uint64_t before)
{
    static const int pes[] = {0, 1, 65535, 65536, 70000, 0x7ffffffe};
    uint32_t ticket, second, third;
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        set_before_wrap(before);
        CHECK(uccs_ticket_writer(&lock) == -1 && uccs_ticket_next(lock.word) == TICKET_NUMBER + 1 - before);
        CHECK(uccs_ticket_left(lock.word) == uccs_ticket_next(lock.word));
        CHECK(uccs_ticket_take(&lock, UCCS_LOCK_EXCLUSIVE, &ticket) && ticket == TICKET_NUMBER + 1 - before);
        uccs_ticket_sign(&lock, pes[i]);
        CHECK(uccs_ticket_writer(&lock) == pes[i]);
        second = uccs_ticket_draw(&lock);
        CHECK(!uccs_ticket_take(&lock, UCCS_LOCK_SHARED, &third));
        CHECK(uccs_ticket_before(&lock, second, UCCS_LOCK_EXCLUSIVE) == 1);
        CHECK(uccs_ticket_before(&lock, third, UCCS_LOCK_SHARED) == 2 && uccs_ticket_writer(&lock) == pes[i]);
        uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
        CHECK(uccs_ticket_enter(&lock, second, UCCS_LOCK_SHARED) && uccs_ticket_writer(&lock) == -1);
        CHECK(uccs_ticket_before(&lock, third, UCCS_LOCK_SHARED) == 0);
        CHECK(uccs_ticket_before(&lock, third, UCCS_LOCK_EXCLUSIVE) == 1);
        uccs_ticket_leave(&lock, UCCS_LOCK_SHARED);
        CHECK(uccs_ticket_enter(&lock, third, UCCS_LOCK_EXCLUSIVE));
        uccs_ticket_leave(&lock, UCCS_LOCK_EXCLUSIVE);
        CHECK(uccs_ticket_writer(&lock) == -1);
    }
}

int main(void)
{
    test_bar();
    test_hints(1);
    test_hints(2);
    test_hints(3);
    test_hints(TICKET_NUMBER + 1 - 70000);
    test_hints(TICKET_NUMBER + 1 - 5);
    for (uint64_t before = 0; before < 8; before++)
        test_turns(before);
    for (uint64_t before = 0; before <= ROUNDS; before += ROUNDS / 2)
        test_threads(before);
    test_guests();
    for (long round = 0; round < 2; round++)
        test_threads(3); /* with guests among the readers */
    puts("PASS");
    return 0;
}
