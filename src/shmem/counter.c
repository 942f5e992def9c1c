#include "shmem/counter.h"

#include "base/clock.h"
#include "shmem/calls.h"
#include "shmem/place.h"
#include "shmem/team.h"
#include "uccs/comp/counter.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

#include <time.h>

/* line_of for a counter that is not one of the job's. */
lat_cold static struct uccs_counter_line *line_of_opened(const char *call, shmemx_ct_t ct)
{
    if (!uccs_counter_live(lat_ct_of(ct)))
        lat_fail(call, "ct %p is not a counter, or one that was freed", (void *)ct);
    return uccs_counter_mine(lat_ct_of(ct));
}

/* Returns my line of a live counter; ends the job when the counter is none. */
static lat_hot struct uccs_counter_line *line_of(const char *call, shmemx_ct_t ct)
{
    if (lat_likely(uccs_counter_of_job(lat_ct_of(ct))))
        return uccs_counter_mine(lat_ct_of(ct));
    return line_of_opened(call, ct);
}

/* Returns true when the PE is on another node, and fills in the count for it. Ends the job when the handle never was a
 * counter; an old handle passes. */
static bool counts_far(const char *call, shmemx_ct_t ct, long weight, int pe, struct proto_notify *with)
{
    lat_require(call);
    if (lat_likely(!uccs_far_pe(pe)))
        return false;
    if (lat_unlikely(!uccs_counter_named(lat_ct_of(ct))))
        lat_fail(call, "ct %p is not a counter", (void *)ct);
    *with = (struct proto_notify){.what = PROTO_NOTIFY_COUNT, .value = lat_ct_of(ct), .weight = weight};
    return true;
}

void lat_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, long weight, int pe)
{
    struct proto_notify with;
    if (counts_far(call, ct, weight, pe, &with)) {
        lat_put_far(call, ctx, 0, 0, 0, pe, &with, false, 0);
        return;
    }
    if (pe < 0 || pe >= uccs_core.npes)
        lat_fail(call, "pe %d is out of range, the job has PEs 0 to %d", pe, uccs_core.npes - 1);
    if (!uccs_counter_arrive_open(lat_ct_of(ct), weight, pe) && !uccs_counter_late(lat_ct_of(ct), pe))
        lat_fail(call, "ct %p is not a counter", (void *)ct);
}

/* A fence keeps the count behind the messages. */
void lat_ct_behind(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, int pe)
{
    if (lat_unlikely(uccs_far_pe(pe)))
        proto_fence(lat_ctx_workers(ctx));
    lat_ct_arrive(call, ctx, ct, 1, pe);
}

/* On this node the request covers the count, too. */
static void arrive_behind(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, int pe, shmemx_request_t *req)
{
    lat_ct_arrive(call, ctx, ct, 1, pe);
    if (req)
        lat_stored(req);
}

void lat_put_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    struct proto_notify with;
    const bool far = counts_far(call, ct, 1, pe, &with);
    lat_put_far(call, ctx, dest, source, bytes, pe, far ? &with : 0, blocking, req);
    if (!far)
        arrive_behind(call, ctx, ct, pe, req);
}

void lat_get_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    struct proto_notify with;
    const bool far = counts_far(call, ct, 1, pe, &with);
    lat_get_far(call, ctx, dest, source, bytes, pe, far ? &with : 0, blocking, req);
    if (!far)
        arrive_behind(call, ctx, ct, pe, req);
}

void lat_ct_create(shmemx_ct_t *ct)
{
    *ct = (shmemx_ct_t)(uintptr_t)uccs_counter_create(); /* null: all are in use */
}

/* After the first barrier no PE uses the counter. After the second all lines are zero, so a PE may use the slot
 * again. */
void lat_ct_free(shmemx_ct_t *ct)
{
    (void)line_of("shmemx_ct_free", *ct);
    if (uccs_counter_opened(lat_ct_of(*ct)))
        lat_fail("shmemx_ct_free", "ct %p belongs to a team: free it with shmemx_ct_free_team", (void *)*ct);
    lat_barrier_all();
    proto_counter_clear(lat_ct_of(*ct));
    uccs_counter_release(lat_ct_of(*ct));
    lat_barrier_all();
    *ct = 0;
}

int lat_ct_create_team(shmem_team_t team, shmemx_ct_t *ct)
{
    struct shmem_team_impl *members = lat_team_of(team);
    uccs_counter counter = 0;
    *ct = 0;
    if (!members)
        return -1;
    const struct uccs_members how = {.join = lat_team_join,
                                     .members = &members->group,
                                     .salt = (uint32_t)members->group.area};
    if (uccs_counter_agree(&how, &counter) != UCCS_OK)
        return -1;
    *ct = (shmemx_ct_t)(uintptr_t)counter;
    return 0;
}

/* After the sync no member uses the counter, and every operation that a member has issued is complete. */
int lat_ct_free_team(shmem_team_t team, shmemx_ct_t *ct)
{
    (void)line_of("shmemx_ct_free_team", *ct);
    struct shmem_team_impl *members = lat_team_of(team);
    if (!members || !uccs_counter_opened(lat_ct_of(*ct)))
        return -1;
    uccs_quiet();
    if (lat_unlikely(proto_active))
        proto_quiet_all();
    uccs_team_sync(&members->group);
    proto_counter_clear(lat_ct_of(*ct));
    uccs_counter_release(lat_ct_of(*ct));
    *ct = 0;
    return 0;
}

long lat_ct_get(shmemx_ct_t ct)
{
    uccs_fetched();
    return atomic_load_acquire(&line_of("shmemx_ct_get", ct)->count); /* release: uccs_counter_arrive */
}

void lat_ct_set(shmemx_ct_t ct, long value)
{
    atomic_store_release(&line_of("shmemx_ct_set", ct)->count, value);
}

int lat_ct_test(shmemx_ct_t ct, long wait_for)
{
    if (atomic_load_acquire(&line_of("shmemx_ct_test", ct)->count) >= wait_for) /* release: uccs_counter_arrive */
        return 1;
    uccs_missed();
    return 0;
}

long lat_ct_wait(shmemx_ct_t ct, long wait_for)
{
    const struct uccs_counter_line *line = line_of("shmemx_ct_wait", ct);
    long count = atomic_load_acquire(&line->count); /* release: uccs_counter_arrive */
    if (count >= wait_for)
        return count;
    const struct uccs_counter_wanted wanted = {lat_ct_of(ct), wait_for, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_counter_reason, &wanted)};
    do
        uccs_pause(&wait);
    while ((count = atomic_load_acquire(&line->count)) < wait_for); /* release: uccs_counter_arrive */
    return count;
}

void lat_ct_wait_nbe(shmemx_ct_t ct, long wait_for, shmemx_request_t *req)
{
    (void)line_of("shmemx_ct_wait_nbe", ct);
    struct uccs_request *request = uccs_request_materialise(req);
    if (!request || !uccs_threshold_add(&(struct uccs_counter_wanted){lat_ct_of(ct), wait_for, 0}, request))
        lat_fail("shmemx_ct_wait_nbe", "no memory for a request");
}

int lat_ct_wait_timeout(shmemx_ct_t ct, long wait_for, double seconds)
{
    const struct uccs_counter_line *line = line_of("shmemx_ct_wait_timeout", ct);
    const struct uccs_counter_wanted wanted = {lat_ct_of(ct), wait_for, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_counter_reason, &wanted)};
    wait.on.may_end = 1;
    const double end = 1e-9 * (double)clock_nanoseconds() + seconds;
    while (atomic_load_acquire(&line->count) < wait_for) {
        /* While spinning, reading the clock would cost more than looking at the counter; a yield costs more than the
         * clock. */
        if ((wait.looks % 64 == 0 || wait.looks >= uccs_core.spin) && !(1e-9 * (double)clock_nanoseconds() < end))
            return atomic_load_acquire(&line->count) >= wait_for;
        uccs_pause(&wait);
    }
    return 1;
}

static bool counter_holds(struct lat_set *set, size_t i)
{
    const shmemx_ct_t ct = ((shmemx_ct_t const *)set->members)[i];
    return atomic_load_acquire(&line_of("shmemx_ct_wait_any", ct)->count) >= ((const long *)set->values)[i];
}

size_t lat_ct_wait_any(shmemx_ct_t *cts, const long *values, size_t n)
{
    struct lat_set set = {.holds = counter_holds,
                          .members = cts,
                          .n = n,
                          .values = values,
                          .turn = uccs_progress_turn_of(cts)};
    return lat_set_wait(&set, LAT_ANY, 0);
}

/* Swaps the count for count - n. An arrival in between makes it try again, and n is taken exactly once. */
void lat_ct_consume(shmemx_ct_t ct, long n)
{
    struct uccs_counter_line *line = line_of("shmemx_ct_consume", ct);
    const struct uccs_counter_wanted wanted = {lat_ct_of(ct), n, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_counter_reason, &wanted)};
    int64_t count = atomic_load_acquire(&line->count);
    while (count < n || !atomic_cas_acqrel(&line->count, &count, count - n)) {
        if (count >= n)
            continue; /* count is fresh from the failed swap */
        uccs_pause(&wait);
        count = atomic_load_acquire(&line->count);
    }
}

long lat_ct_fetch_reset(shmemx_ct_t ct)
{
    return atomic_exchange_acqrel(&line_of("shmemx_ct_fetch_reset", ct)->count, 0);
}

long lat_ct_errors(shmemx_ct_t ct)
{
    return (long)atomic_load_relaxed(&line_of("shmemx_ct_errors", ct)->errors);
}

/* A count is a put without data. */
void lat_ct_add_nbe(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, long weight, int pe,
                    shmemx_request_t *req)
{
    struct proto_notify with;
    if (counts_far(call, ct, weight, pe, &with)) {
        lat_put_far(call, ctx, 0, 0, 0, pe, &with, false, req);
        return;
    }
    lat_ct_arrive(call, ctx, ct, weight, pe);
    lat_stored(req);
}

int lat_request_create(long options, shmemx_request_t *req)
{
    *req = SHMEMX_REQUEST_NULL;
    if (options != SHMEMX_REQUEST_SHARED && options != SHMEMX_REQUEST_PRIVATE)
        return -1;
    /* A private request needs no object until something is pending: the variable is the request. */
    if (options == SHMEMX_REQUEST_PRIVATE) {
        *req = UCCS_REQUEST_CLEAN;
        return 0;
    }
    return uccs_request_materialise(req) ? 0 : -1;
}

/* On the node operations are issued in order, and a release fence keeps later ones behind earlier ones. A request
 * may hold operations of several contexts, so all workers are fenced. */
void lat_request_fence(shmemx_request_t *req)
{
    (void)req;
    if (lat_unlikely(proto_active))
        proto_fence_all();
    uccs_fence_stores();
}

static inline bool is_done(shmemx_request_t *req, bool locally)
{
    return locally ? uccs_request_done_locally(req) : uccs_request_done(req);
}

int lat_request_test_slow(const char *call, shmemx_request_t *req, bool locally)
{
    lat_require(call);
    const bool done = is_done(req, locally);
    if (!done)
        uccs_missed();
    return done;
}

void lat_request_wait(shmemx_request_t *req, bool locally)
{
    const struct uccs_reason_handles this = {req, 1, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &this)};
    while (!is_done(req, locally))
        uccs_pause(&wait);
}

void lat_request_wait_free(shmemx_request_t *req)
{
    lat_request_wait(req, false);
    uccs_request_free(req);
}

/* --- Sets (p2p.h) */

/* The first that needs a fence issues it for all. */
static bool request_holds(struct lat_set *set, size_t i)
{
    shmemx_request_t *req = (shmemx_request_t *)set->members + i;
    if (*req != UCCS_REQUEST_DIRTY)
        return uccs_request_done(req);
    if (!set->fenced)
        uccs_quiet();
    set->fenced = true;
    *req = UCCS_REQUEST_CLEAN;
    return true;
}

size_t lat_requests_test(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    struct lat_set set = {.holds = request_holds,
                          .members = reqs,
                          .n = nreqs,
                          .status = status,
                          .turn = uccs_progress_turn_of(reqs)};
    return lat_set_test(&set, which, indices);
}

size_t lat_requests_wait(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    const struct uccs_reason_handles these = {reqs, nreqs, status};
    struct lat_set set = {.holds = request_holds,
                          .members = reqs,
                          .n = nreqs,
                          .status = status,
                          .turn = uccs_progress_turn_of(reqs),
                          .on = uccs_reason_function(uccs_reason_handles, &these)};
    return lat_set_wait(&set, which, indices);
}

void lat_request_wait_all_free(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    (void)lat_requests_wait(LAT_ALL, reqs, nreqs, 0, status);
    for (size_t i = 0; i < nreqs; i++)
        if (!status || status[i] == 0)
            uccs_request_free(&reqs[i]);
}
