/* The kernels of kernels.c once more, for x86-64 processors with AVX2 (src/CMakeLists.txt says how). */
#if defined(__AVX2__)
#define TABLE lat_kernels_avx2
#include "shmem/coll/kernels.c"
#endif
