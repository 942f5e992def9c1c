/* The kernels of fold.c once more, for x86-64 processors with AVX-512: those of integers and reals. GCC 12 fuses the
 * products of complex numbers there, whatever -ffp-contract says. */
#if defined(__AVX512F__)
#define TABLE fold_kernels_avx512
#define PLAIN_KINDS
#include "base/fold.c"
#endif
