/* An unknown way between nodes, or an unknown transport, ends the job with one line that says which there are.
 * pes: 2
 * case: way
 * env: LATERAL_TRANSPORTS=ucx LATERAL_WIRE=rocket
 * fails: LATERAL_WIRE=rocket: it can be auto, messages or rdma
 * case: transport
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=rocket
 * fails: LATERAL_TRANSPORTS=rocket: it can be auto, tcp or ucx
 * case: around
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=abc:ucx
 * fails: LATERAL_TRANSPORTS=abc:ucx: it can be auto, tcp or ucx
 */
#include "../conform/check.h"

int main(void)
{
    check_start();
    return 0;
}
