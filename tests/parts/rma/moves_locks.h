/* Of moves.c: locks. Which memory holds one, who enters at once, and what a wait for one tells. */
#ifndef TESTS_TRUST_MOVES_LOCKS_H
#define TESTS_TRUST_MOVES_LOCKS_H

#include "moves_world.h"

#include "uccs/core/work.h"

static bool lock_is(uccs_memory_t memory, size_t offset, int mode, int status)
{
    uccs_request_t request = NULL;
    const enum uccs_lock_mode how = (enum uccs_lock_mode)mode;
    return uccs_lock(self, memory, offset, how) == status && uccs_unlock(self, memory, offset, how) == status &&
           uccs_lock_nb(self, memory, offset, how, &request) == status;
}

static void no_locks_there(void)
{
    const uccs_memory_t m = kinds[MAPPED].memory;
    struct uccs_region other = *m, stale = *m, foreign = *m;
    other.owner = 1;
    stale.generation += 2;
    foreign.own = false;
    CHECK((uintptr_t)kinds[PRIVATE].bytes % 64 == 0);
    CHECK(lock_is(kinds[PRIVATE].memory, 0, UCCS_LOCK_SHARED, UCCS_ERR_INVALID));
    for (int mode = UCCS_LOCK_SHARED; mode <= UCCS_LOCK_EXCLUSIVE; mode++) {
        CHECK(lock_is(&other, 0, mode, UCCS_ERR_INVALID));
        CHECK(lock_is(&stale, 0, mode, UCCS_ERR_STALE) && lock_is(m, 32, mode, UCCS_ERR_INVALID));
        CHECK(lock_is(m, SIZE - SIZE % 64, mode, UCCS_ERR_BOUNDS) && lock_is(m, SIZE_MAX - 63, mode, UCCS_ERR_BOUNDS));
        for (int kind = PRIVATE; kind <= BY_OWNER; kind++)
            CHECK(lock_is(kinds[kind].memory, 0, mode, UCCS_ERR_INVALID));
        const size_t even = kinds[ATTACHED].base + (-kinds[ATTACHED].base % 64);
        CHECK(lock_is(kinds[ATTACHED].memory, even, mode, UCCS_ERR_INVALID));
        CHECK(uccs_lock(NULL, m, 0, (enum uccs_lock_mode)mode) == UCCS_ERR_INVALID);
        CHECK(uccs_unlock(NULL, m, 0, (enum uccs_lock_mode)mode) == UCCS_ERR_INVALID);
        CHECK(uccs_lock_mapped(NULL, m->near, (enum uccs_lock_mode)mode) == UCCS_ERR_INVALID);
        CHECK(uccs_unlock_mapped(NULL, m->near, (enum uccs_lock_mode)mode) == UCCS_ERR_INVALID);
        CHECK(uccs_lock_nb(self, m, 0, (enum uccs_lock_mode)mode, NULL) == UCCS_ERR_INVALID);
    }
    CHECK(lock_is(m, 0, -1, UCCS_ERR_INVALID) && lock_is(m, 0, UCCS_LOCK_GUEST + 1, UCCS_ERR_INVALID));
    CHECK(lock_is(m, 0, UCCS_LOCK_GUEST, UCCS_ERR_INVALID)); /* none is admitted */
    CHECK(uccs_lock_admit_guests(&foreign, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_lock_admit_guests(m, 32) == UCCS_ERR_INVALID &&
          uccs_lock_admit_guests(m, SIZE - SIZE % 64) == UCCS_ERR_BOUNDS);
    CHECK(uccs_lock_admit_guests(kinds[ATTACHED].memory, 0) == UCCS_ERR_INVALID &&
          uccs_lock_admit_guests(&stale, 0) == UCCS_ERR_STALE);
    for (int kind = PRIVATE; kind <= BY_OWNER; kind++)
        CHECK(uccs_lock_admit_guests(kinds[kind].memory, 0) == UCCS_ERR_INVALID);
    struct uccs_region mapped_none = *m;
    mapped_none.near = NULL;
    CHECK(uccs_lock_admit_guests(&mapped_none, 0) == UCCS_ERR_INVALID);
    uccs_handlers_running++;
    CHECK(uccs_lock(self, m, 0, UCCS_LOCK_SHARED) == UCCS_ERR_STATE &&
          uccs_lock_mapped(self, m->near, UCCS_LOCK_SHARED) == UCCS_ERR_STATE);
    uccs_handlers_running--;
    for (int i = 0; i < 256; i++)
        CHECK(m->near[i] == 0);
}

static const char *told_lock(uccs_request_t request, int *writer)
{
    static struct uccs_told told;
    told = (struct uccs_told){.on = {.start = -7}};
    CHECK(uccs_work_tell(request, &told));
    *writer = told.on.about == NODE_ABOUT_PES ? told.on.start : -1;
    return told.text;
}

static bool enters(uccs_request_t *request)
{
    (void)uccs_look();
    return uccs_request_pending(*request) == 0;
}

/* Who is inside with whom; requests wait in the order of their asking. */
static void locks_by_request(size_t at)
{
    const uccs_memory_t m = kinds[MAPPED].memory;
    struct uccs_ticket_lock *lock = (struct uccs_ticket_lock *)(void *)(m->near + at);
    uccs_request_t reader = NULL, writer = NULL, late = NULL, none = NULL;
    int who = 0;
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_SHARED, &none) == UCCS_OK && !none); /* at once */
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_SHARED, &none) == UCCS_OK && !none);
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_EXCLUSIVE, &writer) == UCCS_OK && !enters(&writer));
    CHECK(strcmp(told_lock(writer, &who), "a lock of PE 0 that others share") == 0 && who == -1);
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_SHARED, &late) == UCCS_OK && !enters(&late)); /* behind the writer */
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK && !enters(&writer));
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK && enters(&writer) && uccs_ticket_writer(lock) == 0);
    CHECK(!enters(&late) && strcmp(told_lock(late, &who), "a lock of PE 0") == 0 && who == 0);
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_SHARED, &reader) == UCCS_OK && !enters(&reader));
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && enters(&late) && enters(&reader));
    CHECK(uccs_wait(&writer) == UCCS_OK && uccs_wait(&late) == UCCS_OK && uccs_wait(&reader) == UCCS_OK);
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK &&
          uccs_unlock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK);
    CHECK(uccs_lock(self, m, at, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && uccs_ticket_writer(lock) == 0);
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && uccs_ticket_writer(lock) == -1);
    CHECK(uccs_lock_mapped(self, lock, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && uccs_ticket_writer(lock) == 0);
    CHECK(uccs_unlock_mapped(self, lock, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && uccs_ticket_writer(lock) == -1);
}

static void guests(size_t at)
{
    const uccs_memory_t m = kinds[MAPPED].memory;
    uccs_request_t guest = NULL, writer = NULL, none = NULL;
    CHECK(uccs_lock_admit_guests(m, at) == UCCS_OK);
    CHECK(uccs_lock(self, m, at, UCCS_LOCK_GUEST) == UCCS_OK &&
          uccs_lock_nb(self, m, at, UCCS_LOCK_GUEST, &none) == UCCS_OK);
    CHECK(!none && uccs_lock_nb(self, m, at, UCCS_LOCK_EXCLUSIVE, &writer) == UCCS_OK && !enters(&writer));
    CHECK(uccs_lock(self, m, at, UCCS_LOCK_GUEST) == UCCS_OK); /* though a writer waits */
    for (int i = 0; i < 3; i++)
        CHECK(!enters(&writer) && uccs_unlock(self, m, at, UCCS_LOCK_GUEST) == UCCS_OK);
    CHECK(enters(&writer) && uccs_wait(&writer) == UCCS_OK);
    CHECK(uccs_lock_nb(self, m, at, UCCS_LOCK_GUEST, &guest) == UCCS_OK && !enters(&guest) && guest);
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_EXCLUSIVE) == UCCS_OK && enters(&guest) && uccs_wait(&guest) == UCCS_OK);
    CHECK(uccs_unlock(self, m, at, UCCS_LOCK_GUEST) == UCCS_OK);
    CHECK(uccs_lock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK && uccs_unlock(self, m, at, UCCS_LOCK_SHARED) == UCCS_OK);
}

/* --- A blocking call waits until a poller, as another thread, has left */

static size_t left_at;
static enum uccs_lock_mode left_as;
static int left_times;

static int leave_lock(void *unused)
{
    (void)unused;
    if (++left_times == 3)
        CHECK(uccs_unlock(self, kinds[MAPPED].memory, left_at, left_as) == UCCS_OK);
    return 1;
}

static void locks_after_wait(size_t at, enum uccs_lock_mode inside, enum uccs_lock_mode mode)
{
    const uccs_memory_t m = kinds[MAPPED].memory;
    CHECK(uccs_lock(self, m, at, inside) == UCCS_OK);
    left_at = at;
    left_as = inside;
    left_times = 0;
    CHECK(uccs_poller_add(leave_lock, NULL) == UCCS_OK);
    CHECK(uccs_lock(self, m, at, mode) == UCCS_OK && left_times >= 3);
    CHECK(uccs_poller_remove(leave_lock, NULL) == UCCS_OK && uccs_unlock(self, m, at, mode) == UCCS_OK);
}

static void locks(void)
{
    char *at = kinds[MAPPED].bytes;
    memset(at, 0, 1024);
    no_locks_there();
    locks_by_request(128);
    guests(256);
    locks_after_wait(384, UCCS_LOCK_EXCLUSIVE, UCCS_LOCK_EXCLUSIVE);
    locks_after_wait(384, UCCS_LOCK_EXCLUSIVE, UCCS_LOCK_SHARED);
    locks_after_wait(384, UCCS_LOCK_SHARED, UCCS_LOCK_EXCLUSIVE);
    locks_after_wait(256, UCCS_LOCK_EXCLUSIVE, UCCS_LOCK_GUEST);
    locks_after_wait(256, UCCS_LOCK_GUEST, UCCS_LOCK_EXCLUSIVE);
    for (int i = 512; i < 1024; i++)
        CHECK(at[i] == 0);
    CHECK(lock_is(NULL, 0, UCCS_LOCK_SHARED, UCCS_ERR_INVALID) && lock_is(NULL, 0, UCCS_LOCK_GUEST, UCCS_ERR_INVALID));
    CHECK(uccs_lock_admit_guests(NULL, 0) == UCCS_ERR_INVALID);
}

#endif
