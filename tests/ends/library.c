/* A library that uses OpenSHMEM and has something to do when it is unloaded. */
#include <shmem.h>

void (*ending_in_library)(void);
void ending_touch(void);

void ending_touch(void)
{
    shmem_quiet();
}

__attribute__((destructor)) static void end(void)
{
    if (ending_in_library)
        ending_in_library();
}
