/* Messages of PEs of this node lie in rings that every process of the node can write: one whose words lead out of this PE's tables,
 * or out of its sender's memory, ends the job with a line, and good ones are taken whole. */
#include "uccs/am/inner.h"

#include "uccs/core/memory.h"

#include "unit/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <uccs.h>

static jmp_buf back;
static char said[256];

_Noreturn void __wrap_watch_fail(const char *format, ...);
_Noreturn void __wrap_watch_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    longjmp(back, 1);
}

static const struct uccs_message good = {.id = 3, .length = 5, .block = UCCS_NO_BLOCK, .payload = "five"};

/* Returns what the job ends with when the message comes; null when it is taken, into *taken. */
static const char *take(const struct uccs_message *message, struct uccs_message *taken)
{
    _Alignas(CACHE_LINE) static char memory[1 << 12];
    uint64_t ticket;
    memset(memory, 0, sizeof memory);
    memset(taken, 0x55, sizeof *taken);
    struct ring *ring = ring_format(memory, 2, OWN_CELL_BYTES);
    memcpy(ring_reserve(ring, &ticket), message, sizeof *message);
    ring_commit(ring, ticket);
    if (setjmp(back))
        return said;
    CHECK(uccs_cell_take(ring, taken, &ticket));
    CHECK(ring_is_empty(ring) && !uccs_cell_take(ring, taken, &ticket));
    return 0;
}

static bool refused(const struct uccs_message *message, const char *words)
{
    struct uccs_message taken;
    const char *line = take(message, &taken);
    return line && strstr(line, words);
}

static void short_ones(void)
{
    struct uccs_message taken, message = good;
    CHECK(!take(&message, &taken) && taken.length == 5 && taken.id == 3 && !strcmp(taken.payload, "five"));
    CHECK(taken.payload[5] == 0x55); /* no more than its length */
    message.length = UCCS_SHORT_MAX;
    CHECK(!take(&message, &taken) && taken.length == UCCS_SHORT_MAX);
    message.length = UCCS_SHORT_MAX + 1;
    CHECK(refused(&message, "too long"));
    message.length = UINT32_MAX;
    CHECK(refused(&message, "too long"));
    message = good;
    message.id = UCCS_MESSAGE_SLOTS - 1;
    message.lane = OWN_LANES - 1;
    CHECK(!take(&message, &taken) && taken.id == UCCS_MESSAGE_SLOTS - 1);
    message.id = UCCS_MESSAGE_SLOTS;
    CHECK(refused(&message, "PE 0 sent a wrong message on this node: there is no such handler or lane"));
    message = good;
    message.lane = OWN_LANES;
    CHECK(refused(&message, "no such handler or lane"));
    message = good;
    for (uint32_t source = 1; source; source <<= 1) {
        message.source = source;
        CHECK(refused(&message, "it is of no PE of this node"));
    }
}

static void long_ones(void)
{
    size_t bytes;
    struct uccs_message taken, message = good;
    (void)uccs_memory_region(0, &bytes);
    message.staged = 1;
    CHECK(refused(&message, "too long"));
    message.block = 0;
    message.length = 1 << 20;
    CHECK(!take(&message, &taken) && taken.length == 1 << 20 && taken.payload[0] == 0x55);
    message.block = bytes - (1 << 20) - sizeof(struct uccs_block);
    CHECK(!take(&message, &taken));
    message.length++;
    CHECK(refused(&message, "its block is in no memory of its sender"));
    message.length = 0;
    message.block = bytes;
    CHECK(refused(&message, "its block is in no memory"));
    message.block = (uint64_t)0 - CACHE_LINE;
    CHECK(refused(&message, "its block is in no memory"));
    message.block = 8;
    CHECK(refused(&message, "its block is in no memory"));
    message = good; /* one that is short and has to be acknowledged */
    message.block = bytes - sizeof(struct uccs_block);
    CHECK(!take(&message, &taken) && !strcmp(taken.payload, "five"));
    message.block += CACHE_LINE;
    CHECK(refused(&message, "its block is in no memory"));
}

int main(void)
{
    CHECK(uccs_init() == UCCS_OK);
    short_ones();
    long_ones();
    uccs_finalize();
    return 0;
}
