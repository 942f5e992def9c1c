/* The links, watches and clocks of packets.c, and far.c itself. */
#ifndef TESTS_TRUST_PACKETS_STUB_H
#define TESTS_TRUST_PACKETS_STUB_H

#include "parts/owned.h"

#include <sys/mman.h>

static int test_destroy(pthread_mutex_t *lock);
#define pthread_mutex_destroy(lock) test_destroy(lock)
#define link_issue test_issue
#define link_service test_service
#define link_lane_of test_lane_of
#define link_busy test_busy
#define link_handle test_handle
#define link_token_refuse test_refuse
#define watch_fail owned_fail
#define uccs_late_now test_late_now
#define uccs_late_handler test_late_handler
#define uccs_bell_ring test_ring
#define uccs_counter_arrive_here test_counted
#include "uccs/am/far.c"

enum {
    NPES = 5,
    ME = 0,
    PEER = 1,
    OTHER = 2,
    CONTEXT = 3,
    NEXT = 4,
    LANE = 9,
    USER_REPLY = UCCS_RING_REPLY | UCCS_RING_USER
};

static char service, lane;
static bool busy, is_late;
static int issued, issued_to, rings, destroyed;
static struct link_lane *issued_on;
static struct link_message last; /* issued */
static const struct link_handler *handlers[256];
static uint32_t late_of[3];
static struct uccs_late *late_looked;
static uccs_counter counted;
static int64_t counted_weight;
static struct uccs_far_lanes lanes;
static struct uccs_context context = {.attr = {.id = CONTEXT}};

static int test_destroy(pthread_mutex_t *lock)
{
    CHECK((uintptr_t)lock > sizeof(struct partner)); /* of flows that there are */
    destroyed++;
    return 0;
}

struct link_lane *test_service(void)
{
    return (struct link_lane *)&service;
}

struct link_lane *test_lane_of(struct uccs_far_lanes *on)
{
    return on ? (struct link_lane *)&lane : test_service();
}

bool test_busy(const struct link_lane *which)
{
    CHECK((const char *)which == &lane);
    return busy;
}

void test_issue(struct link_lane *on, int pe, const struct link_message *message)
{
    CHECK(!owned_held);
    issued++;
    issued_on = on;
    issued_to = pe;
    last = *message;
}

void test_handle(enum link_kind kind, const struct link_handler *handler)
{
    handlers[kind] = handler;
}

_Noreturn void test_refuse(uint64_t token, int pe, enum link_kind answer)
{
    CHECK(answer == LINK_AM_DONE);
    owned_fail("token %llx of %d", (unsigned long long)token, pe);
}

bool test_late_now(struct uccs_late *late)
{
    late_looked = late;
    late->told = true;
    return is_late;
}

void test_late_handler(uint32_t source, uint32_t id, uint32_t in)
{
    memcpy(late_of, (uint32_t[]){source, id, in}, sizeof late_of);
}

void test_ring(struct uccs_own *own)
{
    CHECK(own == uccs_own_mine() && !owned_held);
    rings++;
}

void test_counted(uccs_counter counter, int64_t weight)
{
    counted = counter;
    counted_weight = weight;
}

#endif
