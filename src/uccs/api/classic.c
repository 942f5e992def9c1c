/* Copies of the functions that uccs_classic.h makes inline, for programs that were compiled when these were the library's, or
 * that take their address. Any thread. */
#define UCCS_CLASSIC_COPIES
#include <uccs.h>
