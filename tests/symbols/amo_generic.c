/* Every type of the C11 generics: atomics. The calls are generated (api/calls.py).
 * pes: 1 2
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c11
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"
#include "tests/generic_amo.h"
#include "call_all.h"
