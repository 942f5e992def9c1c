/* The last line that the sources under test have logged, and the end of the job: a test of parts/owned.h catches it, and finds that line
 * in it. The test gives log_line and rte_abort these names before it includes the sources. */
#ifndef TESTS_PARTS_LOGGED_H
#define TESTS_PARTS_LOGGED_H

#include "parts/owned.h"

static char logged[500];

void test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

_Noreturn void test_abort(int status)
{
    CHECK(status != 0);
    owned_fail("%s", logged);
}

#endif
