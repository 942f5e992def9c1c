/* Every C++ overload: collectives in two phases. The calls are generated (api/calls.py).
 * pes: 1 2 3
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c++11 */
#include "harness.h"

#include "tests/generic_nbe_coll.h"

int main()
{
    begin();
    return end(call_all());
}
