/* Sets of PEs as the launcher prints them; on a node that holds others than the job's first ones, too (oshrun --status). */
#include "set.h"

#include "unit/check.h"

#include <string.h>

static void writes(uint32_t first, const char *wanted, size_t room)
{
    static const uint32_t in[] = {0, 1, 3, 4, 5, 6, 9, 200, 201, 202};
    char text[200];
    struct set set = set_make(300);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        set_add(&set, in[i]);
        set_add(&set, in[i]);
    }
    set_add(&set, 300); /* none of them */
    CHECK(set.count == sizeof in / sizeof *in && set_has(&set, 9) && !set_has(&set, 2) && !set_has(&set, 300));
    CHECK(set_write(&set, first, text, room) == (int)strlen(wanted) && strcmp(text, wanted) == 0);
    struct set copy = set_copy(&set);
    CHECK(set_equal(&set, &copy));
    set_add(&copy, 299);
    CHECK(!set_equal(&set, &copy));
    set_free(&copy);
    set_free(&set);
}

int main(void)
{
    writes(0, "0,1,3-6,9,200-202", 200);
    writes(40, "40,41,43-46,49,240-242", 200);
    writes(40, "40,41,43-46,...", 42);
    return 0;
}
