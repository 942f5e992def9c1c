/* Every C++ overload: put, get, p, g, strided, signals. The calls are generated (api/calls.py).
 * pes: 1 2
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c++11 */
#include "harness.h"
#include "tests/generic_rma.h"
#include "call_all.h"
