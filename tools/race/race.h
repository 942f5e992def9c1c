/* The layer of oshrun --check=race: finds accesses to symmetric memory that nothing orders. docs/internals/race.md has the
 * model; this header has its parts.
 *
 * A PE counts its events (`now`). An access carries the PE, the event, and the way in which it becomes known to others:
 *
 *   RACE_MAIN    the PE itself, in program order: loads, stores, blocking gets, fetching atomics
 *   RACE_LOCAL   memory of a call that goes on after its return (source of put_nbi, both ends of get_nbi), until a quiet
 *   RACE_PUT     at another PE: a put or an atomic without result, until a quiet; behind a fence a later put brings it
 *   RACE_WITH    the same for data that comes with its own signal or count
 *
 * A clock holds for each of these, and for each class of contexts, the last event of each PE that is known to be over.
 * All of it lies in memory that the node's PEs share. Any thread; one lock for the clock of this PE. */
#ifndef RACE_H
#define RACE_H

#include <shmem.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RACE_PES 32 /* of a job at most */
#define RACE_CLASSES \
    4 /* of contexts: the default one, two for others, one for operations with a request or a counter */
#define RACE_TRACKED 3
#define RACE_CELLS 4 /* accesses that are remembered for 8 bytes */

enum race_way { RACE_MAIN, RACE_LOCAL, RACE_PUT, RACE_WITH };
/* Flags. An atomic access has its kind behind RACE_KIND: two are atomic with each other when they have the same one (OpenSHMEM
 * 1.6, atomicity guarantees: the same datatype; signals: the same operator). */
enum { RACE_LOAD = 0, RACE_STORE = 1, RACE_ATOMIC = 2, RACE_KIND = 2 };
enum race_kind { RACE_OF_PROGRAM, RACE_SIGNAL_SET, RACE_SIGNAL_ADD, RACE_FIRST_TYPE };
#define RACE_TYPE(type)                                                                                     \
    (RACE_FIRST_TYPE + _Generic((type)0, int : 0, long : 1, long long : 2, unsigned : 3, unsigned long : 4, \
                                unsigned long long : 5, float : 6, double : 7))

/* Numbers of what is no call of the library; those of calls follow (race_names, generated). */
enum { RACE_NO_CALL, RACE_OWN_LOAD, RACE_OWN_STORE, RACE_OWN_ATOMIC, RACE_OWN_COPY, RACE_FIRST_CALL };
extern const char *const race_names[];

struct race_cell {
    uint32_t event; /* 0: empty */
    uint32_t place; /* in the program */
    uint32_t call;
    uint8_t pe, mask; /* of the 8 bytes */
    uint8_t way : 4, context : 4;
    uint8_t flags;
};
_Static_assert(sizeof(struct race_cell) == 16, "four fill a cache line");

/* An access that happens now. */
struct race_access {
    enum race_way way;
    int context; /* class */
    unsigned flags;
    uint32_t event, call;
    const void *from; /* return address of the call, or of the instruction */
};

/* The files in their order, lower ones first: shared, clock, report, shadow, pending, life, access, calls. */

/* ---- shared.c: the memory that PEs share ---- */
extern int race_me, race_npes;
/* All PEs call both. race_open ends the job after a line when races cannot be looked for. It asks how much memory clock.c
 * wants once the number of PEs is known. */
void race_open(size_t (*clock_bytes)(void));
void race_close(void);
size_t race_heap_bytes(void);            /* of a PE; its globals follow in its offsets */
const char *race_address(size_t offset); /* of this PE */
/* The group of 8 bytes at an offset of a PE, what is remembered of it, and its lock. */
#define RACE_LOCKS (1u << 16)
size_t race_number(int pe, size_t offset);
struct race_cell *race_cells(size_t number);
uint32_t *race_lock_word(size_t number);
void *race_shared(size_t at); /* offset in the part of clock.c */
/* An address of this process as PE and offset; false when it is not symmetric memory. */
bool race_find(const void *at, int *pe, size_t *offset);
bool race_find_at(const void *at, int pe, size_t *offset); /* my symmetric address, at that PE */
/* The last event with which each PE has stored to these 8 bytes in a way that others may wait for: race_word. */
uint32_t *race_released(int pe, size_t offset);

/* ---- clock.c ---- */
size_t race_clock_bytes(void);
uint32_t race_step(bool release); /* begins an event and returns its number; `release`: it may let others go on */
uint32_t race_now(void);
/* True when this PE may take an older access as over; `behind`: the class of the put that follows it, or -1. */
bool race_over(const struct race_cell *cell, int owner, int behind);
bool race_met(const struct race_cell *cell); /* its PE has since told this one about itself */
static inline uint32_t race_word(uint32_t event, int context, bool with)
{
    return event << 3 | (uint32_t)context << 1 | with;
}
/* Learns what the PEs knew at these words; `owner`: the PE where they arrived. */
void race_learn(const uint32_t *words, int owner);
void race_quiet(int context);
void race_quiet_pe(int context, int pe);
void race_local_done(int context);
void race_fence(int context);
uint32_t *race_count_words(const void *counter, int pe);
/* Members of a team meet. begin before the call, end after it; ranks of `from` are learnt: -1 all, -2 those below mine. */
struct race_meet {
    uint64_t key;
    uint32_t number;
    int size, rank;
    int pes[RACE_PES];
};
void race_meet_begin(struct race_meet *meet);
void race_meet_end(const struct race_meet *meet, int from);
void race_clock_reset(void);

/* ---- report.c ---- */
void race_report(int owner, size_t offset, const struct race_cell *older, const struct race_cell *newer);
/* Reports a race on memory of this PE that is not symmetric. */
void race_report_private(const void *at, const struct race_cell *older, const struct race_cell *newer);
/* Two accesses of one place clash: one stores, and they are not atomic with each other. Whatever orders them. */
bool race_conflict(const struct race_cell *one, const struct race_cell *other);

/* ---- shadow.c: what is remembered of each 8 bytes ---- */
/* Compares an access with what is remembered, and remembers it. */
void race_touch(int pe, size_t offset, size_t bytes, const struct race_access *access);
/* Forgets what a waiter has seen arrive: puts up to the words of race_released. */
void race_seen(int pe, size_t offset, size_t bytes);

/* ---- pending.c: memory of this PE that is not symmetric, while calls use it after their return ---- */
/* Compares an access with the calls that are under way, and remembers it when it is of such a call. */
void race_touch_private(const void *at, size_t bytes, const struct race_access *access);
void race_pending_forget(void);
extern uint32_t race_pending; /* how many such calls are remembered; relaxed */

/* ---- access.c: what the compiler's calls and memcpy use ---- */
extern bool race_instrumented; /* some of the program was compiled by oshcc --race */

/* ---- life.c ---- */
extern bool race_on; /* between the program's first init and its last finalize */

/* ---- calls.c: what the wrappers call; `call` is a number of race_names ---- */
struct race_call {
    uint32_t number;
    const void *from;
    int context, pe; /* class; of the world */
};
struct race_call race_call_of(uint32_t number, const void *from, shmem_ctx_t ctx, int pe, bool tracked);
void race_put(const struct race_call *call, const void *dest, const void *source, size_t bytes, bool stays, bool with);
void race_get(const struct race_call *call, const void *dest, const void *source, size_t bytes, bool stays);
void race_strided(const struct race_call *call, bool put, const void *dest, const void *source, ptrdiff_t dst,
                  ptrdiff_t sst, size_t block, size_t blocks, size_t size, bool with);
void race_signal(const struct race_call *call, const void *at, int operation, bool with);
void race_atomic(const struct race_call *call, const void *at, size_t bytes, unsigned kind, bool loads,
                 const void *fetch, bool stays);
void race_atomic_done(const struct race_call *call, const void *at);
void race_waited(const void *at, size_t bytes);
void race_counted(const struct race_call *call, const void *counter, bool with);
void race_count_waited(const void *counter);
void race_lock(const void *lock);
void race_unlock(const void *lock);
void race_requests_done(void);
int race_class(shmem_ctx_t ctx);
void race_team(struct race_meet *meet, shmem_team_t team);
void race_set(struct race_meet *meet, int start, int logstride, int size);
void race_reads(uint32_t call, const void *from, const void *at, size_t bytes);
void race_writes(uint32_t call, const void *from, const void *at, size_t bytes);
void race_later(shmem_team_t team); /* a collective that goes on after its return */

#endif
