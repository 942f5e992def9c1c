/* The end of the launcher by a word about wrong usage: noted, and the test goes on where it has called setjmp(left). */
#ifndef TESTS_LAUNCH_REFUSING_H
#define TESTS_LAUNCH_REFUSING_H

#include "noted.h"

#include <setjmp.h>

static jmp_buf left;

static _Noreturn void refuse(const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note("%s\n", text);
    longjmp(left, 1);
}

#endif
