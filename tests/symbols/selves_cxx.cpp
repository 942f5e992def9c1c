/* Names that are function and C++ overload at once.
 * pes: 1 2
 * flags: -fno-strict-aliasing -std=c++11 */
#include "selves.h"

int main()
{
    begin();
    names();
    return end(6);
}
