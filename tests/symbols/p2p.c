/* Every function of: wait_until and test; by its C name. The calls are generated (api/calls.py).
 * pes: 1 2
 * timeout: 120
 * flags: -fno-strict-aliasing
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"
#include "tests/calls_p2p.h"
#include "call_all.h"
