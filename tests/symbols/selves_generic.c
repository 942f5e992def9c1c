/* Names that are function and C11 generic at once.
 * pes: 1 2
 * flags: -fno-strict-aliasing -std=c11 */
#include "selves.h"

int main(void)
{
    begin();
    names();
    return end(6);
}
