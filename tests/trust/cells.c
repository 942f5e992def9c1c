/* Messages of PEs of this node lie in rings that every process of the node can write: one whose words lead out of this PE's tables,
 * or out of its sender's memory, ends the job with a line, and good ones are taken whole. */
#include "uccs/am/inner.h"

#include "uccs/core/memory.h"

#include "unit/child.h"
#include "unit/errors.h"

#include <string.h>
#include <uccs.h>

static struct {
    struct uccs_message taken;
    size_t bytes; /* of a PE's memory for messages */
} * shared;

static const struct uccs_message good = {.id = 3, .length = 5, .block = UCCS_NO_BLOCK, .payload = "five"};

/* The message comes and is taken. */
static void take(const struct uccs_message *message, struct uccs_message *taken)
{
    _Alignas(CACHE_LINE) static char memory[1 << 12];
    uint64_t ticket;
    memset(memory, 0, sizeof memory);
    memset(taken, 0x55, sizeof *taken);
    struct ring *ring = ring_format(memory, 2, PE_SHARED_CELL_BYTES);
    memcpy(ring_reserve(ring, &ticket), message, sizeof *message);
    ring_commit(ring, ticket);
    CHECK(uccs_cell_take(ring, taken, &ticket));
    CHECK(ring_is_empty(ring) && !uccs_cell_take(ring, taken, &ticket));
}

/* A child that is a PE takes the message, and ends with the line. */
static bool refused(const struct uccs_message *message, const char *words)
{
    struct uccs_message taken;
    forget_errors();
    return status_of_child({
               CHECK(uccs_init() == UCCS_OK);
               take(message, &taken);
           }) == 1 &&
           says(words);
}

/* A child that is a PE takes the message; what it has taken lies in memory that both share. */
static void takes(const struct uccs_message *message)
{
    CHECK(status_of_child({
              CHECK(uccs_init() == UCCS_OK);
              take(message, &shared->taken);
              shared->bytes = uccs_core.region_bytes;
              uccs_finalize();
          }) == 0);
}

static void short_ones(void)
{
    struct uccs_message message = good;
    takes(&message);
    CHECK(shared->taken.length == 5 && shared->taken.id == 3 && !strcmp(shared->taken.payload, "five"));
    CHECK(shared->taken.payload[5] == 0x55); /* no more than its length */
    message.length = UCCS_SHORT_MAX;
    takes(&message);
    CHECK(shared->taken.length == UCCS_SHORT_MAX);
    message.length = UCCS_SHORT_MAX + 1;
    CHECK(refused(&message, "too long"));
    message.length = UINT32_MAX;
    CHECK(refused(&message, "too long"));
    message = good;
    message.id = UCCS_MESSAGE_SLOTS - 1;
    message.thread = PE_SHARED_SENDERS - 1;
    takes(&message);
    CHECK(shared->taken.id == UCCS_MESSAGE_SLOTS - 1);
    message.id = UCCS_MESSAGE_SLOTS;
    CHECK(refused(&message, "PE 0 sent a wrong message on this node: there is no such handler or thread"));
    message = good;
    message.thread = PE_SHARED_SENDERS;
    CHECK(refused(&message, "no such handler or thread"));
    message = good;
    for (uint32_t source = 1; source; source <<= 1) {
        message.source = source;
        CHECK(refused(&message, "it is of no PE of this node"));
    }
}

static void long_ones(void)
{
    struct uccs_message message = good;
    takes(&message);
    const size_t bytes = shared->bytes;
    message.staged = 1;
    CHECK(refused(&message, "too long"));
    message.block = 0;
    message.length = 1 << 20;
    takes(&message);
    CHECK(shared->taken.length == 1 << 20 && shared->taken.payload[0] == 0x55);
    message.block = bytes - (1 << 20) - sizeof(struct uccs_bounce);
    takes(&message);
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
    message.block = bytes - sizeof(struct uccs_bounce);
    takes(&message);
    CHECK(!strcmp(shared->taken.payload, "five"));
    message.block += CACHE_LINE;
    CHECK(refused(&message, "its block is in no memory"));
}

int main(void)
{
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    open_errors();
    short_ones();
    long_ones();
    return 0;
}
