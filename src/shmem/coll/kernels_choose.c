#include "shmem/coll/kernels.h"

lat_kernel *lat_kernel_of(enum lat_kind kind, enum lat_op op)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return lat_kernels_avx2[kind][op];
#endif
    return lat_kernels[kind][op];
}

size_t lat_kind_size(enum lat_kind kind)
{
    static const unsigned char sizes[LAT_KINDS] = {
        [LAT_I8] = 1,
        [LAT_U8] = 1,
        [LAT_I16] = 2,
        [LAT_U16] = 2,
        [LAT_I32] = 4,
        [LAT_U32] = 4,
        [LAT_I64] = 8,
        [LAT_U64] = 8,
        [LAT_FLOAT] = 4,
        [LAT_DOUBLE] = 8,
        [LAT_LONGDOUBLE] = sizeof(long double),
        [LAT_COMPLEXF] = 8,
        [LAT_COMPLEXD] = 16,
    };
    return sizes[kind];
}
