/* An owner releases memory while puts and gets of the network are on their way to it. When the release returns, the network
 * does not access the memory any more, none of its operations has found the memory withdrawn, and what follows is
 * refused.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim:ucx UCX_TLS=tcp,self
 * prints: ^PASS$
 * case: thread
 * env: LATERAL_TRANSPORTS=sim,seed=1,hold=90,steps=200:ucx
 * case: poll
 * env: LATERAL_TRANSPORTS=sim,seed=2,hold=90,steps=50,order=1:ucx LATERAL_PROGRESS=poll
 */
#define _GNU_SOURCE
#include "../uccs/check.h"
#include "network.h"

enum { ROUNDS = 10, PUTS = 40, PIECE = 4096, BYTES = PUTS * PIECE, LOOKS = 200 };

static uccs_context_t context;
static uccs_endpoint_t other;
static char mine[BYTES], source[PIECE], dest[PIECE];

static int released(int status)
{
    return status == UCCS_OK || status == UCCS_ERR_STALE || status == UCCS_ERR_FAILED;
}

/* The first operations connect and fetch the key. */
static void meet(uccs_memory_t theirs)
{
    for (int i = 0; i < 3; i++) {
        OK(uccs_put_short_contiguous(context, other, theirs, 0, source, 8, 0));
        OK(uccs_flush(context));
    }
}

static void access_memory(uccs_memory_t theirs)
{
    uccs_request_t all = UCCS_REQUEST_NULL;
    for (size_t i = 0; i < PUTS; i++) {
        CHECK(released(uccs_put_large_contiguous_nb(context, other, theirs, i * PIECE, source, PIECE, &all)));
        CHECK(released(uccs_get_large_contiguous_nb(context, other, theirs, i * PIECE, dest, PIECE, &all)));
        if (i == PUTS / 2)
            uccs_progress();
    }
    CHECK(released(uccs_wait(&all)));
    OK(uccs_request_release(&all));
    CHECK(released(uccs_flush(context)));
}

static void release(uccs_memory_t own)
{
    OK(uccs_memory_release(own));
    memset(mine, 7, sizeof mine);
    for (int look = 0; look < LOOKS; look++) {
        uccs_progress();
        CHECK(*(volatile char *)&mine[(size_t)look * BYTES / LOOKS] == 7);
    }
}

static void do_round(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, both[2 * UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    uccs_memory_t own, theirs;
    OK(uccs_memory_register(context, mine, sizeof mine, &own));
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, both, sizeof handle));
    OK(uccs_memory_import(context, both + (size_t)next_pe * sizeof handle, length, &theirs));
    if (me == 1)
        meet(theirs);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1)
        access_memory(theirs);
    else
        release(own);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (size_t i = 0; i < BYTES && me == 0; i++)
        CHECK(mine[i] == 7);
    if (me == 1)
        OK(uccs_memory_release(own));
    OK(uccs_memory_release(theirs));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, next_pe);
    memset(source, 9, sizeof source);
    const volatile struct network_counts *counts = network_counts();
    CHECK(counts != NULL);
    for (int round = 0; round < ROUNDS; round++)
        do_round();
    CHECK_EQ(counts->refused, 0);
    CHECK(me == 0 || counts->puts > ROUNDS);
    OK(uccs_context_destroy(context));
    return check_pass();
}
