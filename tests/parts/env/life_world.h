/* What life.c and its part share: the made-up neighbours of environment.c and exchange.c. This is process 1 of three. */
#ifndef TESTS_PARTS_LIFE_WORLD_H
#define TESTS_PARTS_LIFE_WORLD_H

#include "parts/owned.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/coll/coll.h"
#include "uccs/core/wait.h"

#include <limits.h>

static inline void *owned_realloc(void *start, size_t bytes)
{
    void *larger = owned_malloc(bytes);
    if (larger && start)
        memcpy(larger, start, owned_bytes(start) < bytes ? owned_bytes(start) : bytes);
    if (larger)
        owned_free(start);
    return larger;
}

/* --- What environment.c and exchange.c call. */

#define realloc owned_realloc
#include "uccs/env/exchange.c"

#include "uccs/env/inner.h"

struct rte rte;
struct uccs_core uccs_core = {.me = 1, .npes = 3, .spin = 3};
int uccs_users;

static int init_status, finalize_status, gather_status, barrier_status, create_status;
static char calls
    [32]; /* a letter for each: init, finalize, gather, oob, progress, test, yield, release, barrier, create, drop */
static int undelivered, tests_left;
static uccs_request_t released;
static int aborted;
static char line[100];
static size_t held_at_end; /* memory while the library ends */

static void note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
}

int uccs_init(void)
{
    CHECK(owned_held == 1);
    note('i');
    uccs_users += init_status == UCCS_OK;
    return init_status;
}

int uccs_finalize(void)
{
    CHECK(owned_held == 1);
    note('f');
    uccs_users--;
    held_at_end = owned_count;
    return finalize_status;
}

void uccs_place_find(struct uccs_place *place)
{
    memset(place, 0, sizeof *place);
    place->node = 70000;
    strcpy(place->host, "here");
    place->nnetworks = 2;
}

int uccs_allgather(uccs_group_t group, const void *mine, void *all, size_t bytes)
{
    note('g');
    if (gather_status != UCCS_OK)
        return gather_status;
    for (size_t rank = 0; rank < 3 && group == UCCS_GROUP_WORLD; rank++)
        memcpy((char *)all + rank * bytes, mine, bytes);
    if (group != UCCS_GROUP_WORLD && bytes == sizeof(uint64_t))
        *(uint64_t *)all = *(const uint64_t *)mine;
    return UCCS_OK;
}

int uccs_oob_deliver(void)
{
    note('o');
    return undelivered > 0 ? undelivered-- : 0;
}

int uccs_progress(void)
{
    note('p');
    return 0;
}

int uccs_barrier_nb(uccs_group_t group, uccs_request_t *request)
{
    CHECK(group == UCCS_GROUP_WORLD && *request == UCCS_REQUEST_NULL);
    *request = (uccs_request_t)&released;
    return barrier_status;
}

int uccs_test(uccs_request_t *request)
{
    CHECK(*request == (uccs_request_t)&released);
    note('t');
    return tests_left-- > 0 ? UCCS_IN_PROGRESS : UCCS_OK;
}

int uccs_request_release(uccs_request_t *request)
{
    note('r');
    released = *request;
    return UCCS_OK;
}

uint64_t uccs_yield_slow(struct uccs_wait *wait)
{
    (void)wait;
    note('y');
    return 0;
}

void uccs_stay_end(struct uccs_wait *wait)
{
    wait->stay = 0;
}

int uccs_group_world_rank(uccs_group_t group, int rank)
{
    CHECK(group == UCCS_GROUP_WORLD);
    return rank >= 0 && (rank < 3 || rank == INT_MAX) ? rank & 0xFFFFF : -1;
}

static char team[8]; /* a group of one: this process */

int uccs_group_size(uccs_group_t group)
{
    return group == UCCS_GROUP_WORLD ? 3 : group ? 1 : -1;
}

int uccs_group_rank(uccs_group_t group)
{
    return group == UCCS_GROUP_WORLD ? 1 : 0;
}

int uccs_ranks_find(uccs_group_t group, int pe)
{
    CHECK(group == UCCS_GROUP_WORLD || group == (uccs_group_t)team);
    if (group == (uccs_group_t)team)
        return pe == 1 ? 0 : -1;
    return pe == 90000 ? 70001 : pe >= 0 && pe < 3 ? 2 - pe : -1;
}

int uccs_group_create(uccs_group_t parent, size_t n, const int *ranks, uccs_group_t *group)
{
    CHECK(parent == (uccs_group_t)team && n == 1 && ranks[0] == 0);
    owned_good(ranks);
    note('c');
    if (create_status == UCCS_OK)
        *group = (uccs_group_t)team;
    return create_status;
}

int uccs_group_release(uccs_group_t group)
{
    CHECK(group == (uccs_group_t)team);
    note('d');
    return UCCS_OK;
}

int uccs_barrier(uccs_group_t group)
{
    CHECK(group == (uccs_group_t)team);
    note('b');
    return UCCS_OK;
}

static void test_line(const char *format, va_list arguments)
{
    vsnprintf(line, sizeof line, format, arguments);
}

static jmp_buf home;

static _Noreturn void test_abort(int status)
{
    aborted = status;
    longjmp(home, 1);
}

#define log_vline test_line
#define rte_abort test_abort
#define exchange exchange_places
#define shared shared_bit
#include "uccs/env/environment.c"

static bool called(const char *wanted)
{
    const bool same = strcmp(calls, wanted) == 0;
    if (!same)
        fprintf(stderr, "calls: %s\n", calls);
    memset(calls, 0, sizeof calls);
    return same && owned_held == 0;
}

#endif
