/* Every type of the C11 generics: put, get, p, g, strided, signals. The calls are generated (api/calls.py).
 * pes: 1 2
 * timeout: 120
 * flags: -fno-strict-aliasing -std=c11
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"
#include "tests/generic_rma.h"
#include "call_all.h"
