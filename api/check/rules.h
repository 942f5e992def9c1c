/* The rules of the checking layer, which generated shmem_ functions (api/check.py) apply before they call pshmem_.
 * A rule that is broken ends the job with "lateral: PE 3: call: argument: what is wrong"; otherwise it may return a
 * value for the next rule.
 *
 * Any thread. PE numbers called `world` are of the world team. With a size of 0 bytes any pointer is right. */
#ifndef CHECK_RULES_H
#define CHECK_RULES_H

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shmem/check.h"

/* Returns where the program has called: what the layer of --stats says, where it stands before this one, else the address. */
const void *lat_stats_from(void) __attribute__((weak));
static inline const void *check_from(const void *address)
{
    const void *before = lat_stats_from ? lat_stats_from() : NULL;
    return before ? before : address;
}

/* Returns the bytes of the elements; check_count those of a signed number of them. */
size_t check_bytes(const char *call, const char *argument, size_t count, size_t size);
/* Returns the bytes from the first element to the end of the last; the stride, in elements, must hold a block. */
size_t check_span(const char *call, const char *argument, ptrdiff_t stride, size_t length, size_t blocks, size_t size);
size_t check_count(const char *call, const char *argument, int count, size_t size);

/* memory.c: pointers */
void check_null(const char *call, const char *argument, const void *pointer);
void check_local(const char *call, const char *argument, const void *at, size_t bytes, size_t align);
void check_symmetric(const char *call, const char *argument, const void *at, size_t bytes, size_t align);
/* Two arguments in this process's memory. */
void check_apart(const char *call, const char *one, const void *at, size_t bytes, const char *other, const void *from,
                 size_t length);
/* The same; one and the same address is allowed (in-place reductions). */
void check_apart_or_same(const char *call, const char *one, const void *at, const char *other, const void *from,
                         size_t bytes);
/* The same; one and the same address gets a warning, once per process (broadcasts). */
void check_apart_or_warn(const char *call, const char *one, const void *at, const char *other, const void *from,
                         size_t bytes);
/* `at` at PE `world` against `from` here: also through an address from shmem_ptr. */
void check_apart_at(const char *call, const char *one, const void *at, size_t bytes, int world, const char *other,
                    const void *from, size_t length);

/* group.c: PEs, teams, contexts, active sets. check_pe and check_ctx_pe return the PE's number in the world, check_team
 * and check_set the number of members. */
int check_pe(const char *call, int pe);
int check_ctx_pe(const char *call, shmem_ctx_t ctx, int pe);
void check_ctx(const char *call, shmem_ctx_t ctx);
void check_ctx_or_invalid(const char *call, shmem_ctx_t ctx);
int check_team(const char *call, const char *argument, shmem_team_t team);
void check_team_or_invalid(const char *call, const char *argument, shmem_team_t team);
void check_root(const char *call, const char *argument, int root, int size);
void check_pes(const char *call, const char *argument, shmem_ctx_t ctx, const int *pes, size_t count);
int check_set(const char *call, int start, int logstride, int size);
void check_config(const char *call, const char *argument, const void *config, long mask, long known);

/* Tell the register of handles about new and destroyed ones. */
void check_ctx_made(shmem_ctx_t ctx, shmem_team_t team);
void check_ctx_gone(shmem_ctx_t ctx);
void check_team_made(shmem_team_t team);
void check_team_gone(shmem_team_t team);
void check_all_gone(void);

/* Warns of a finalize after the last one, which does nothing; before init it ends the job. */
void check_finalize(const char *call);

/* request.c: requests and counters. A request is null, a mark, or an object that some call has made; a mark in a
 * variable that no call has seen gets a warning, once per process. */
void check_req(const char *call, const char *argument, const shmemx_request_t *req);
void check_req_value(const char *call, const char *argument, shmemx_request_t req);
void check_reqs(const char *call, const char *argument, const shmemx_request_t *reqs, size_t n);
/* Tell the register of a request that a call has used, and of requests that a call is about to end. */
void check_req_used(const shmemx_request_t *req);
void check_reqs_end(const shmemx_request_t *reqs, size_t n, const int *status);
void check_ct(const char *call, shmemx_ct_t ct);
void check_cts(const char *call, const shmemx_ct_t *cts, size_t n);
void check_least(const char *call, const char *argument, long value);

/* step.c: what all members of a team must call alike. `key` and the arguments, written by `format`, must be equal; `from` is
 * the return address of the call. One PE prints what differs. */
void check_step(const char *call, const char *key, shmem_team_t team, const void *from, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* begun.c: the same of a split-phase collective; the next such call of the team compares it. */
void check_begun_step(const char *call, const char *key, shmem_team_t team, const void *from, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void check_step_set(const char *call, const char *key, int start, int logstride, int size, long *psync,
                    const void *from, const char *format, ...) __attribute__((format(printf, 8, 9)));

/* zone.c: blocks between red zones. They return what the calls of the program return. */
void *check_zone_malloc(const char *call, const void *from, size_t bytes, long hints);
void *check_zone_calloc(const char *call, const void *from, size_t number, size_t size);
void *check_zone_align(const char *call, const void *from, size_t alignment, size_t bytes);
void *check_zone_realloc(const char *call, const void *from, void *ptr, size_t bytes);
void check_zone_free(const char *call, void *ptr);
/* Looks at all red zones; ends the job when one was written to. */
void check_zones(const char *call);
/* Finds the block, or the gap, around an address. Returns false when no block of the register is there. */
bool check_zone_around(const void *at, struct lat_check_block *found);
/* Returns the number of the allocation, the same at all PEs; 0: not known. */
unsigned long check_zone_number(const void *at);
void check_zones_end(void);

/* source.c: sources of puts under way. check_sources compares those of a context, whose operations a call is about to
 * complete; check_sources_at those to a PE of the world. group.c: check_sources_of those to some PEs of the context. */
void check_source_issue(const char *call, const void *from, shmem_ctx_t ctx, int pe, const void *at, size_t bytes);
void check_sources(const char *call, shmem_ctx_t ctx);
void check_sources_at(const char *call, shmem_ctx_t ctx, int pe);
void check_sources_of(const char *call, shmem_ctx_t ctx, const int *pes, size_t n);
void check_sources_forget(shmem_ctx_t ctx);

/* lock.c: before and after setting, before clearing; warns of locks that are set at the end. */
void check_lock_set(const char *call, const long *lock);
void check_lock_held(const long *lock, const void *from);
void check_lock_clear(const long *lock);
void check_locks_end(const char *call);

/* thread.c: before every call. Ends the job when the library is not running, and when the thread may not call at the level
 * that the program has: below SHMEM_THREAD_SERIALIZED another than the one that initialized, at it a second one at a time.
 * What it returns goes to check_leave at the end of the call, by check_scoped. */
uintptr_t check_enter(const char *call);
void check_leave(const uintptr_t *inside);
#define check_scoped __attribute__((cleanup(check_leave)))
void check_thread_begun(void);

/* group.c: the library has been initialized, once more. */
void check_begun(void);
/* Before a finalize: returns true when it is the last one, in which all PEs meet. */
bool check_last(void);

/* values.c */
void check_cmp(const char *call, int cmp);
void check_sig_op(const char *call, int sig_op);
void check_level(const char *call, int level);
void check_options(const char *call, long options, long known);

#endif
