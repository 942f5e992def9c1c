/* An accumulate that has come from another node, over ranges of memory whose locks lie apart (far/change.c): it goes from one range to the
 * next, and operand and result go along. The ranges are made up. */
#include "base/atomic.h"

#include "unit/check.h"

#include <stdbool.h>
#include <stddef.h>

#define uccs_region_home test_home
#define uccs_change_apply test_apply
#include "uccs/far/change.c"

enum { ID = 7 };

static char memory[64], operands[64], results[64];
static const size_t *range; /* bytes of each */
static size_t ranges, applied;
static const char *next_operand, *next_result;

struct uccs_region_home test_home(uint64_t id, const void *at, size_t bytes)
{
    const size_t gone = (size_t)((const char *)at - memory);
    size_t end = 0, i = 0;
    CHECK(id == ID);
    while (end <= gone)
        end += range[i++];
    const size_t here = end - gone;
    return (struct uccs_region_home){UCCS_DOMAIN_LOCKED, 1000 + gone, here < bytes ? here : bytes};
}

void test_apply(const struct uccs_change *change, const struct uccs_change_place *place, const void *operand,
                void *result)
{
    CHECK(change->type == UCCS_INT32 && change->how == UCCS_SUM && place->owner == uccs_core.me);
    CHECK(place->domain == UCCS_DOMAIN_LOCKED && place->here == memory + applied && place->address == 1000 + applied);
    CHECK(operand == (next_operand ? next_operand + applied : NULL));
    CHECK(result == (next_result ? next_result + applied : NULL));
    applied += change->n * sizeof(int32_t);
    ranges++;
}

static void changes(size_t elements, const size_t *bytes_of_ranges, size_t wanted)
{
    const struct link_header header = {.at.region = ID};
    const struct uccs_change change = {UCCS_INT32, UCCS_SUM, (uint32_t)elements};
    range = bytes_of_ranges;
    for (int which = 0; which < 4; which++) {
        next_operand = which & 1 ? operands : NULL;
        next_result = which & 2 ? results : NULL;
        applied = ranges = 0;
        apply_here(&header, &change, memory, next_operand, (char *)next_result);
        CHECK(applied == elements * sizeof(int32_t) && ranges == wanted);
    }
}

int main(void)
{
    changes(1, (const size_t[]){64}, 1);
    changes(16, (const size_t[]){64}, 1);
    changes(16, (const size_t[]){16, 48}, 2);
    changes(15, (const size_t[]){4, 8, 52}, 3);
    changes(4, (const size_t[]){10, 54}, 3); /* the third element crosses an edge, and goes alone */
    changes(3, (const size_t[]){2, 62}, 2);  /* the first one does */
    return 0;
}
