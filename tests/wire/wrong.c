/* An unknown way between nodes, or an unknown transport, ends the job with one line that says which there are, on one node, too.
 * pes: 2
 * case: way
 * env: LATERAL_WIRE=rocket
 * fails: LATERAL_WIRE=rocket is not one of auto, messages, rdma$
 * case: transport
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=rocket
 * fails: LATERAL_TRANSPORTS=rocket is not one of auto, tcp, ucx, ofi$
 * case: one_node
 * env: LATERAL_TRANSPORTS=ucxx
 * fails: LATERAL_TRANSPORTS=ucxx is not one of auto, tcp, ucx, ofi$
 * case: behind
 * env: LATERAL_TRANSPORTS=fault:rocket
 * fails: LATERAL_TRANSPORTS=fault:rocket is not one of auto, tcp, ucx, ofi$
 * case: around
 * env: LATERAL_TRANSPORTS=abc:tcp
 * fails: LATERAL_TRANSPORTS=abc:tcp: around a transport can be fault or sim
 */
#include "../conform/check.h"

int main(void)
{
    check_start();
    return 0;
}
