/* The end of a job for a fault: the first PE of a node says why and ends it, or leaves it to its launcher; the others wait, and so does
 * everybody once an end is known. */
#include "unit/check.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/watch/fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

/* --- What fail.c calls */

static jmp_buf home;
static char calls[8]; /* a letter for each: claim, line, await, abort, abandon */
static char line[100];
static bool is_first;

static void note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
}

static bool test_claim(uint32_t why, int status)
{
    CHECK(why == NODE_ABORTED && status == LAT_EXIT);
    note('c');
    return is_first;
}

static _Noreturn void test_await(void)
{
    note('w');
    longjmp(home, 1);
}

static _Noreturn void test_abort(int status)
{
    CHECK(status == LAT_EXIT);
    note('a');
    longjmp(home, 1);
}

static _Noreturn void test_abandon(int status)
{
    CHECK(status == LAT_EXIT);
    note('b');
    longjmp(home, 1);
}

static void test_line(const char *format, va_list arguments)
{
    note('l');
    vsnprintf(line, sizeof line, format, arguments);
}

#define rte_claim_end test_claim
#define rte_await_end test_await
#define rte_abort test_abort
#define rte_abandon test_abandon
#define log_vline test_line
#include "uccs/watch/fail.c"

static bool ends(bool abandons, bool first, const char *wanted)
{
    memset(calls, 0, sizeof calls);
    line[0] = 0;
    is_first = first;
    if (setjmp(home) == 0) {
        if (abandons)
            watch_abandon("PE %d of %s", 5, "two");
        else
            watch_fail("PE %d in %s", 6, "three");
    }
    return strcmp(calls, wanted) == 0;
}

int main(void)
{
    CHECK(!watch_end_noted());
    CHECK(ends(false, true, "cla") && strcmp(line, "PE 6 in three") == 0);
    CHECK(ends(true, true, "clb") && strcmp(line, "PE 5 of two") == 0);
    CHECK(ends(false, false, "cw") && ends(true, false, "cw") && !line[0]);
    CHECK(watch_end_note() && watch_end_noted());
    CHECK(!watch_end_note() && watch_end_noted()); /* it is known already */
    CHECK(ends(false, true, "w") && ends(true, true, "w") && !line[0]);
    watch_end_forget();
    CHECK(!watch_end_noted() && ends(true, true, "clb") && watch_end_note());
    return 0;
}
