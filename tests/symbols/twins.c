/* Every public name is its profiling name: the addresses are the same.
 * pes: 1 */
#include "harness.h"

#include "tests/twins.h"

int main(void)
{
    begin();
    unsigned long count = sizeof twins / sizeof *twins;
    for (unsigned long i = 0; i < count; i++)
        expect(twins[i].name, twins[i].own == twins[i].profiling, "is another function than its profiling name");
    return end(count);
}
