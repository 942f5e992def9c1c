/* Moves a known number of bytes and waits at known lines, for tests/launch/check_stats.py.
 * pes: 2 4 */
#include "check.h"

#define PUTS 10

int main(void)
{
    uccs_memory_t own, memory[8];
    uccs_context_t context;
    uccs_request_t done = UCCS_REQUEST_NULL;
    const struct uccs_stride stride = {.block = 4, .count = 2, .remote_stride = 8, .local_stride = 4};
    const struct uccs_op op = {.request = &done};
    char data[400] = "";
    check_start();
    OK(uccs_context_create(0, &context));
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    CHECK_EQ(uccs_endpoint_world_rank(next), next_pe);
    CHECK_EQ(uccs_endpoint_world_rank(0), -1);
    OK(uccs_memory_allocate(context, 4096, &own));
    check_share(context, own, memory);
    for (int i = 0; i < PUTS; i++)
        OK(uccs_put(next, memory[next_pe], 512, data, sizeof data, 0));
    OK(uccs_atomic64(context, next, memory[next_pe], 0, UCCS_ATOMIC_ADD, 1, 0, 0, 0)); /* 8 bytes */
    OK(uccs_get_blocks(next, memory[next_pe], 8, data, &stride, &op));                 /* 8 bytes */
    CHECK_EQ(uccs_put(next, memory[next_pe], 4090, data, 8, 0), UCCS_ERR_BOUNDS);      /* moves nothing */
    OK(uccs_wait(&done));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0)
        usleep(300000);
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* all but PE 0 wait here */
    OK(uccs_request_release(&done));
    return check_pass();
}
