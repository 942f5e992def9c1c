/* Members that give a collective different lengths: the one that finds out names both, and the job ends.
 * pes: 2
 * status: 1
 * fails: uccs: members of a group \(of 2\) called its operation number 1 with different lengths or in a different order: 8 bytes came from PE 0 where 16 were due
 */
#include "check.h"

int main(void)
{
    char bytes[16] = {0};
    check_start();
    OK(uccs_broadcast(UCCS_GROUP_WORLD, bytes, me == 0 ? 8 : 16, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    return 0;
}
