/* The rings, other nodes and the kernel of announced.c and placed.c. */
#ifndef TESTS_TRUST_ANNOUNCED_STUB_H
#define TESTS_TRUST_ANNOUNCED_STUB_H

#include "parts/owned.h"

#include <sys/mman.h>

#define watch_fail owned_fail
#define log_line test_log
#define uccs_am_post test_post
#define uccs_am_send test_send
#define uccs_am_check test_check
#define uccs_am_most test_most
#define uccs_am_serve test_serve
#define uccs_am_try test_try
#define uccs_stage_get test_get
#define uccs_stage_expected test_expected
#define uccs_kernel_offer test_offer
#define uccs_kernel_reaches test_reaches
#define uccs_kernel_get test_kernel_get
#define uccs_far_open_room test_open_room
#define uccs_far_close_room test_close_room
#define uccs_far_get_nb test_far_get_nb
#define uccs_far_get test_far_get
#define uccs_far_am_end test_far_end
#define uccs_request_materialise test_materialise
#define uccs_request_finish test_finish
#define uccs_request_free test_free
#define uccs_bell_ring test_ring
#include "uccs/am/announce.h"
#include "uccs/far/far.h"
#include "uccs/object/kernel.h"
#include "uccs/object/stage.h"

enum { ME = 0, NEAR = 1, FAR = 3, MOST = 40000, SLOT = 7 };

static struct uccs_stream stream;
static struct uccs_context world = {.attr = {.id = 2}, .stream = {.world = &world}};
static char logged[300];
static int check_status, post_status, posts, eager_sends, serves, offers, rings;
static struct uccs_sending posted;
static char posted_bytes[UCCS_MEDIUM_MAX];
static void (*while_served)(void);
static int rooms_open, finished, finished_badly, materialised, freed;
static bool no_requests;
static struct uccs_request object;
static bool kernel_reaches;
static int kernel_status, kernel_gets, far_gets, far_ended;
static bool far_failed;
static struct uccs_block *asked[16];
static size_t asked_count, asked_bytes;
static int refuses, full, expects;

void test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

int test_post(struct uccs_sending *s, const struct uccs_context *context, const struct uccs_op *op)
{
    (void)op;
    CHECK(context == &world && s->stream == &stream);
    CHECK(s->head.length <= UCCS_MEDIUM_MAX);
    posts++;
    posted = *s;
    memcpy(posted_bytes, s->payload, s->head.length);
    return post_status;
}

int test_send(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload, size_t length,
              const struct uccs_op *op)
{
    (void)endpoint, (void)id, (void)cls, (void)payload, (void)length, (void)op;
    eager_sends++;
    return UCCS_OK;
}

int test_check(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload, size_t length,
               const struct uccs_op *op)
{
    (void)endpoint, (void)id, (void)cls, (void)payload, (void)length, (void)op;
    return check_status;
}

size_t test_most(void)
{
    return MOST;
}

void test_serve(struct uccs_wait *wait)
{
    (void)wait;
    CHECK(++serves < 1000);
    if (while_served)
        while_served();
}

bool test_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(index == NEAR && id == UCCS_INNER_PULL && !payload && asked_count < 16);
    if (refuses > 0) {
        refuses--;
        return false;
    }
    CHECK(owned_bytes(block) == sizeof *block + length);
    asked[asked_count++] = block;
    asked_bytes = length;
    return true;
}

struct uccs_block *test_get(enum uccs_room room, size_t length)
{
    CHECK(room == UCCS_ROOM_LIBRARY);
    if (full > 0) {
        full--;
        return 0;
    }
    struct uccs_block *block = malloc(sizeof *block + length);
    *block = (struct uccs_block){0};
    return block;
}

bool test_expected(enum uccs_room room, int *vain)
{
    CHECK(room == UCCS_ROOM_LIBRARY && *vain >= 0);
    return expects-- > 0;
}

void test_offer(void)
{
    offers++;
}

bool test_reaches(const struct uccs_region *memory)
{
    CHECK(memory->owner == NEAR && memory->pid == 4321);
    return kernel_reaches;
}

int test_kernel_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length)
{
    CHECK(offset == 0);
    memcpy(dest, (const void *)(uintptr_t)memory->address, length);
    kernel_gets++;
    return kernel_status;
}

struct uccs_far_place test_open_room(void *start, size_t bytes)
{
    (void)start, (void)bytes;
    rooms_open++;
    return (struct uccs_far_place){.segment = FAR_ROOM, .offset = 555};
}

void test_close_room(struct uccs_far_place room)
{
    CHECK(room.segment == FAR_ROOM && room.offset == 555 && rooms_open > 0);
    rooms_open--;
}

void test_far_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                     uccs_counter counter, uccs_request_handle *request)
{
    CHECK(!on && pe == FAR && from.segment == FAR_ROOM && !counter && *request == &object);
    memcpy(dest, (const void *)(uintptr_t)from.offset, bytes);
    far_gets++;
}

bool test_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                  uccs_counter counter)
{
    CHECK(!on && pe == FAR && from.segment == FAR_ROOM && !counter);
    memcpy(dest, (const void *)(uintptr_t)from.offset, bytes);
    far_gets++;
    return !far_failed;
}

void test_far_end(struct uccs_block *block)
{
    CHECK(block != 0);
    far_ended++;
}

struct uccs_request *test_materialise(uccs_request_handle *handle)
{
    if (no_requests)
        return 0;
    materialised++;
    return *handle = &object;
}

void test_finish(struct uccs_request *request, bool error)
{
    CHECK(request == &object);
    finished++;
    finished_badly += error;
}

void test_free(uccs_request_handle *handle)
{
    CHECK(*handle == &object);
    freed++;
    *handle = UCCS_REQUEST_NULL;
}

void test_ring(struct uccs_own *own)
{
    CHECK(own == uccs_own_of(ME));
    rings++;
}

static char payload[3 << 16], header[UCCS_MEDIUM_MAX];

static void clear(void)
{
    CHECK(owned_count == 0 && rooms_open == 0);
    posts = eager_sends = serves = offers = finished = finished_badly = materialised = freed = 0;
    kernel_gets = far_gets = far_ended = 0;
    memset(&object, 0, sizeof object);
}

static void open_all(void)
{
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (char)(i * 3 + i / 251);
    for (size_t i = 0; i < sizeof header; i++)
        header[i] = (char)(i * 5 + 1);
    uccs_core.npes = FAR + 1;
    uccs_core.pes = 2;
    uccs_core.own =
        mmap(0, 2 * NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    uccs_own_of(NEAR)->pid = 4321;
}

#endif
