/* Active messages of one node, with two PEs in one process: sending, receiving, messages that wait for a handler, and what a life
 * leaves behind. */
#include "near_stub.h"
#include "near_sending.h"
#include "near_receiving.h"
#include "near_waiting.h"
#include "near_ending.h"

int main(void)
{
    open_all();
    test_sending();
    test_receiving();
    test_waiting();
    test_ending();
    return 0;
}
