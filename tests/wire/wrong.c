/* An unknown way between nodes ends the job with one line that says which there are.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx LATERAL_WIRE=rocket
 * fails: LATERAL_WIRE=rocket: it can be auto, messages or rdma
 */
#include "../conform/check.h"

int main(void)
{
    check_start();
    return 0;
}
