/* A peer's record, which has come through the launcher: cut off, longer than it says, or with more ways to call the peer than there is
 * room for, it is refused before anything of it is used. */
#include "uccs/link/inner.h"

#include "unit/check.h"

#include <setjmp.h>
#include <string.h>

static union {
    struct link_record record;
    char bytes[sizeof(struct link_record) + 64];
} room;
static size_t room_bytes;
static jmp_buf refused;

int __wrap_rte_get(int pe, const char *key, void **value, size_t *bytes);
int __wrap_rte_get(int pe, const char *key, void **value, size_t *bytes)
{
    CHECK(pe == 1 && key[0]);
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

int main(void)
{
    enum { HEAD = sizeof(struct link_record) };
    CHECK(taken(HEAD + 64, 64, SOCKET_WAYS) && taken(HEAD, 0, 0));
    CHECK(!taken(HEAD - 1, 0, 0) && !taken(0, 0, 0));
    CHECK(!taken(HEAD + 63, 64, 0) && !taken(HEAD + 64, UINT32_MAX, 0));
    CHECK(!taken(HEAD + 64, 64, SOCKET_WAYS + 1) && !taken(HEAD + 64, 64, UINT8_MAX));
    return 0;
}
