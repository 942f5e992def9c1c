/* A process asks the owner of memory on another node once whether the memory is there. Later imports of its handle cost no
 * message, since the owner tells of the release, also while no object is left; then an import fails.
 * pes: 2
 * env: LATERAL_PROGRESS=poll LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim:ucx UCX_TLS=tcp,self
 */
#define _GNU_SOURCE
#include "../uccs/check.h"
#include "network.h"

enum { ROUNDS = 300, TIMES = 5, WORDS = 8 }; /* more rounds than the library has chains of such memory */

static const volatile struct network_counts *counts;
static uccs_context_t context;
static uccs_endpoint_t other;

/* Returns the messages that an import has sent. */
static long import_once(const void *handle, size_t length, long word)
{
    const uint64_t before = counts->sent;
    uccs_memory_t theirs;
    OK(uccs_memory_import(context, handle, length, &theirs));
    const long sent = (long)(counts->sent - before);
    OK(uccs_put_short_contiguous(context, other, theirs, 0, &word, sizeof word, 0));
    OK(uccs_flush(context));
    OK(uccs_memory_release(theirs));
    return sent;
}

static void import_often(const void *handle, size_t length)
{
    CHECK_EQ(import_once(handle, length, 1), 1);
    for (long i = 2; i <= TIMES; i++)
        CHECK_EQ(import_once(handle, length, i), 0);
}

/* PE 1 imports, PE 0 owns. Rounds take the same slot again and again. */
static void do_round(char *handle, size_t size, uccs_memory_t own, const volatile long *words)
{
    size_t length = size;
    uccs_memory_t late = 0;
    if (me == 0)
        OK(uccs_memory_export(own, handle, &length));
    OK(uccs_broadcast(UCCS_GROUP_WORLD, handle, size, 0));
    OK(uccs_broadcast(UCCS_GROUP_WORLD, &length, sizeof length, 0));
    if (me == 1)
        import_often(handle, length);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0) {
        CHECK_EQ(words[0], TIMES);
        OK(uccs_memory_release(own));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1) {
        CHECK_EQ(uccs_memory_import(context, handle, length, &late), UCCS_ERR_STALE);
        CHECK(!late);
    }
}

int main(void)
{
    static long words[WORDS];
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0};
    check_start();
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, next_pe);
    counts = network_counts();
    CHECK(counts != NULL);
    for (int round = 0; round < ROUNDS; round++) {
        uccs_memory_t own = 0;
        words[0] = 0;
        if (me == 0)
            OK(uccs_memory_register(context, words, sizeof words, &own));
        do_round(handle, sizeof handle, own, words);
    }
    OK(uccs_context_destroy(context));
    return check_pass();
}
