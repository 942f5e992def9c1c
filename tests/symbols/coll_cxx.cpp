/* Every C++ overload: collectives. The calls are generated (api/calls.py).
 * pes: 1 2 3
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c++11 */
#include "harness.h"
#include "tests/generic_coll.h"
#include "call_all.h"
