/* A peer's record, which has come through the launcher: cut off, longer than it says, or with more ways to call the peer than there is
 * room for, it is refused before anything of it is used. And what this PE publishes of itself, under a name of its own in each life. */
#include "uccs/link/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include "unit/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

static char put_key[RTE_KEY_BYTES], said[200];
static struct link_record *put_record;
static size_t put_bytes;
static int fences, put_status, line_status, address_status;

static int test_put(const char *key, const void *value, size_t bytes)
{
    strcpy(put_key, key);
    free(put_record);
    put_record = malloc(bytes);
    CHECK(put_record);
    memcpy(put_record, value, bytes);
    put_bytes = bytes;
    return put_status;
}

static int test_fence(void)
{
    return fences++;
}

static int test_line_open(struct socket_place *mine)
{
    mine->port = 77;
    return line_status;
}

static void __attribute__((format(printf, 1, 2))) test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

#define rte_put test_put
#define rte_commit_fence test_fence
#define watch_line_open test_line_open
#define log_line test_log
#include "../../src/uccs/link/names.c"

static union {
    struct link_record record;
    char bytes[sizeof(struct link_record) + 64];
} room;
static size_t room_bytes;
static jmp_buf refused;

int __wrap_rte_get(int pe, const char *key, void **value, size_t *bytes);
int __wrap_rte_get(int pe, const char *key, void **value, size_t *bytes)
{
    CHECK(pe == 1 && strcmp(key, "far5") == 0);
    *value = malloc(sizeof room);
    CHECK(*value);
    memcpy(*value, &room, sizeof room);
    *bytes = room_bytes;
    return 0;
}

_Noreturn void __wrap_watch_fail(const char *format, ...);
_Noreturn void __wrap_watch_fail(const char *format, ...)
{
    CHECK(strstr(format, "the address of PE"));
    longjmp(refused, 1);
}

static bool taken(size_t bytes, uint32_t size, uint8_t ways)
{
    room_bytes = bytes;
    room.record.size = size;
    room.record.line.ways = ways;
    if (setjmp(refused))
        return false;
    struct link_record *record = link_names_find(1);
    CHECK(record->size == size && record->line.ways == ways);
    free(record);
    return true;
}

static int address_of(void *lane, void *to, size_t *bytes)
{
    CHECK(lane == &fences && *bytes == LINK_ADDRESS);
    memset(to, 'a', 20);
    *bytes = address_status ? 5000 : 20;
    return address_status;
}

static bool publishes(const char *name, const char *key)
{
    const struct transport transport = {.name = name, .address = address_of};
    link_transport = &transport;
    link_lanes[0].at = &fences;
    fences = 0;
    if (link_names_publish() != 0)
        return false;
    CHECK(strcmp(put_key, key) == 0 && put_bytes == sizeof *put_record + 20 && put_record->size == 20);
    CHECK(strncmp(put_record->transport, name, 15) == 0 && put_record->transport[15] == 0);
    CHECK(put_record->line.port == 77 && put_record->image_shared == (rte.me->image_fd != NODE_PRIVATE));
    CHECK(memcmp(put_record->image_id, rte.me->image_id, sizeof put_record->image_id) == 0);
    CHECK(put_record->address[0] == 'a' && put_record->address[19] == 'a' && fences == 1);
    return true;
}

static void published(void)
{
    static struct node_pe me = {.image_fd = NODE_SLICE};
    memset(me.image_id, 'i', sizeof me.image_id);
    rte.me = &me;
    CHECK(publishes("tcp", "far1") && publishes("a name that is much longer", "far2"));
    me.image_fd = NODE_PRIVATE;
    CHECK(publishes("ucx", "far3"));
    line_status = -1;
    CHECK(!publishes("tcp", "far4") && fences == 0);
    line_status = 0;
    put_status = -1;
    CHECK(!publishes("tcp", "far4") && fences == 0);
    put_status = 0;
    address_status = -1;
    CHECK(!publishes("tcp", "far5") && strstr(said, "the address of tcp takes 5000 bytes, more than 4096"));
    address_status = 0;
    CHECK(publishes("tcp", "far5"));
    free(put_record);
}

int main(void)
{
    published();
    enum { HEAD = sizeof(struct link_record) };
    CHECK(taken(HEAD + 64, 64, SOCKET_WAYS) && taken(HEAD, 0, 0));
    CHECK(!taken(HEAD - 1, 0, 0) && !taken(0, 0, 0));
    CHECK(!taken(HEAD + 63, 64, 0) && !taken(HEAD + 64, UINT32_MAX, 0));
    CHECK(!taken(HEAD + 64, 64, SOCKET_WAYS + 1) && !taken(HEAD + 64, 64, UINT8_MAX));
    return 0;
}
