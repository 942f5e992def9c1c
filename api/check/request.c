/* Rules on requests and counters, and the register of requests.
 *
 * The register holds the variables through which requests have been used, and the objects that their handles name. So a
 * handle that no call has made, or that was freed, is known, and so is a copy of a private handle, which names no
 * object. Two trees under one lock. */
#include "rules.h"

#include <pthread.h>
#include <search.h>

static void *variables, *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *one, const void *other)
{
    return ((uintptr_t)one > (uintptr_t)other) - ((uintptr_t)one < (uintptr_t)other);
}

static bool holds(void *const *tree, const void *what)
{
    pthread_mutex_lock(&lock);
    bool found = tfind(what, tree, compare);
    pthread_mutex_unlock(&lock);
    return found;
}

static void add(void **tree, const void *what)
{
    pthread_mutex_lock(&lock);
    bool kept = tsearch(what, tree, compare);
    pthread_mutex_unlock(&lock);
    if (!kept)
        lat_check_fail("the checking layer", "memory", "exhausted");
}

static void drop(void **tree, const void *what)
{
    pthread_mutex_lock(&lock);
    (void)tdelete(what, tree, compare);
    pthread_mutex_unlock(&lock);
}

/* A copy of a private handle does not know what is issued through the original. */
static void warn_of_copy(const char *call)
{
    static uint32_t told;
    if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        lat_check_warn(call, "req: a copy of a private request; it does not track what is issued through the original");
}

static void check_handle(const char *call, const char *argument, shmemx_request_t req)
{
    if (lat_check_request_is_object(req) && !holds(&objects, req))
        lat_check_fail(call, argument, "%p is not a request, or one that was freed", (void *)req);
}

void check_req(const char *call, const char *argument, const shmemx_request_t *req)
{
    check_null(call, argument, req);
    check_handle(call, argument, *req);
    if (*req && !lat_check_request_is_object(*req) && !holds(&variables, req))
        warn_of_copy(call);
}

void check_req_value(const char *call, const char *argument, shmemx_request_t req)
{
    check_handle(call, argument, req);
}

void check_reqs(const char *call, const char *argument, const shmemx_request_t *reqs, size_t n)
{
    if (n)
        check_null(call, argument, reqs);
    for (size_t i = 0; i < n; i++)
        check_handle(call, argument, reqs[i]);
}

void check_req_used(const shmemx_request_t *req)
{
    add(&variables, req);
    if (lat_check_request_is_object(*req))
        add(&objects, *req);
}

void check_reqs_end(const shmemx_request_t *reqs, size_t n, const int *status)
{
    for (size_t i = 0; i < n; i++)
        if ((!status || !status[i]) && lat_check_request_is_object(reqs[i]))
            drop(&objects, reqs[i]);
}

void check_ct(const char *call, shmemx_ct_t ct)
{
    check_null(call, "ct", (const void *)ct);
    const char *wrong = lat_check_counter(ct);
    if (wrong)
        lat_check_fail(call, "ct", "%p %s", (const void *)ct, wrong);
}

void check_cts(const char *call, const shmemx_ct_t *cts, size_t n)
{
    if (n)
        check_null(call, "cts", cts);
    for (size_t i = 0; i < n; i++)
        check_ct(call, cts[i]);
}

void check_least(const char *call, const char *argument, long value)
{
    if (value < 0)
        lat_check_fail(call, argument, "%ld is negative", value);
}
