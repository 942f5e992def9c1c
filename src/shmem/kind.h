/*
 * The enumerations that generated thunks pass to the kernels of the OpenSHMEM layer: element
 * kinds, reduction operators. Plain constants, no state; anyone may include it.
 * api/table.py names them; a new kind or operation starts here.
 */
#ifndef LATERAL_SHMEM_KIND_H
#define LATERAL_SHMEM_KIND_H

#include <limits.h>

/* What an element is, for waiting (the integers of 16 bits and more) and for reducing (all). */
enum lat_kind {
    LAT_I8,
    LAT_U8,
    LAT_I16,
    LAT_U16,
    LAT_I32,
    LAT_U32,
    LAT_I64,
    LAT_U64,
    LAT_FLOAT,
    LAT_DOUBLE,
    LAT_LONGDOUBLE,
    LAT_COMPLEXF,
    LAT_COMPLEXD,
    LAT_KINDS
};

/* Plain char is signed on x86-64 and unsigned on aarch64. */
#define LAT_CHAR (CHAR_MIN < 0 ? LAT_I8 : LAT_U8)

enum lat_op { LAT_AND, LAT_OR, LAT_XOR, LAT_MIN, LAT_MAX, LAT_SUM, LAT_PROD, LAT_OPS };

#endif
