/* Numbers of signed messages: each comes once, in any order, and none is far ahead of all that came. */
#include "uccs/link/inner.h"

#include "unit/check.h"

#include <setjmp.h>
#include <stdlib.h>

static jmp_buf refused;

_Noreturn void __wrap_watch_fail(const char *format, ...);
_Noreturn void __wrap_watch_fail(const char *format, ...)
{
    (void)format;
    longjmp(refused, 1);
}

/* Returns whether a message of this number is taken. */
static bool comes(struct link_seen *seen, uint64_t number)
{
    const struct link_header header = {0};
    const struct link_seal seal = {.number = number};
    if (setjmp(refused))
        return false;
    link_seal_number(&header, &seal, seen);
    return true;
}

int main(void)
{
    struct link_seen seen = {0};
    CHECK(!comes(&seen, 0));
    CHECK(comes(&seen, 1));
    CHECK(!comes(&seen, 1)); /* the newest one again */
    CHECK(comes(&seen, 4));
    CHECK(comes(&seen, 2));
    CHECK(!comes(&seen, 2)); /* one that was missing */
    CHECK(!comes(&seen, 4));
    CHECK(comes(&seen, 3) && comes(&seen, 5));
    CHECK(!comes(&seen, 3) && !comes(&seen, 5) && !comes(&seen, UINT64_MAX));
    CHECK(seen.high == 5 && seen.count == 0);
    free(seen.missing);
    return 0;
}
