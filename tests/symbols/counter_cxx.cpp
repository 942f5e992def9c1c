/* Every C++ overload: counted operations. The calls are generated (api/calls.py).
 * pes: 1 2
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c++11 */
#include "harness.h"
#include "tests/generic_counter.h"
#include "call_all.h"
