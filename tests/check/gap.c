/* Writes behind a heap block, or (with an argument) into one that was freed: for gaps.py. */
#include <shmem.h>

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    char *block = shmem_malloc(100);
    volatile char *byte = block;
    byte[99] = 1;
    if (argc > 1)
        shmem_free(block);
    byte[argc > 1 ? 3 : 100] = 1;
    shmem_finalize();
    return 0;
}
