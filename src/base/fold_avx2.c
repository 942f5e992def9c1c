/* The kernels of fold.c once more, for x86-64 processors with AVX2. */
#if defined(__AVX2__)
#define TABLE fold_kernels_avx2
#include "base/fold.c"
#endif
