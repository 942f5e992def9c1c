#include "verbose.h"

#include "life.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int lmpi_verbose(void)
{
    const char *wanted = getenv("LATERAL_MPI_VERBOSE");
    return wanted && *wanted && *wanted != '0';
}

void lmpi_say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "lateral-mpi: rank %d: %s\n", lmpi_life.rank, text);
}
