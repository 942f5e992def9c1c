/* Which fence of the processor each order and completion of the node is (uccs/core/core.h). */
#include "base/atomic.h"

#include "unit/check.h"

static unsigned releases, wholes;

#undef atomic_fence_release
#undef atomic_fence_seqcst
#define atomic_fence_release() (void)releases++
#define atomic_fence_seqcst() (void)wholes++
#include "uccs/core/core.h"

int main(void)
{
    uccs_fence_stores();
    CHECK(releases == 1 && wholes == 0);
    uccs_quiet();
    CHECK(releases == 1 && wholes == 1);
    return 0;
}
