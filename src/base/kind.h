/* The kinds of elements, and the operations that a reduction applies to two of them. Plain constants, no state; any
 * file may include it. api/table.py names them; a new kind or operation starts here and in fold.c. */
#ifndef BASE_KIND_H
#define BASE_KIND_H

#include <limits.h>

/* A PE waits for variables that are integers of 16 bits and more. Reductions take all kinds. A pair is a C struct of a
 * value and an index, with C's padding. */
enum kind {
    KIND_I8,
    KIND_U8,
    KIND_I16,
    KIND_U16,
    KIND_I32,
    KIND_U32,
    KIND_I64,
    KIND_U64,
    KIND_FLOAT,
    KIND_DOUBLE,
    KIND_LONGDOUBLE,
    KIND_COMPLEXF,
    KIND_COMPLEXD,
    KIND_COMPLEXL,
    KIND_FLOAT_INT,
    KIND_DOUBLE_INT,
    KIND_LONG_INT,
    KIND_SHORT_INT,
    KIND_2INT,
    KIND_LONGDOUBLE_INT,
    KIND_2FLOAT,
    KIND_2DOUBLE,
    KIND_HALF, /* these have no instructions of every processor, nor a place in every compiler */
    KIND_BFLOAT,
    KIND_QUAD,
    KIND_COMPLEXH,
    KIND_COMPLEXQ,
    KIND_I128,
    KIND_KINDS
};

/* What the compiler calls reals of 2 and 16 bytes (IEEE 754 binary16 and binary128), and integers of 16. A type that it does not
 * know has no kernels and a size of 0. */
#if defined(__FLT16_MAX__)
#define KIND_HALF_TYPE _Float16
#endif
#if __LDBL_MANT_DIG__ == 113
#define KIND_QUAD_TYPE long double
#elif defined(__SIZEOF_FLOAT128__)
#define KIND_QUAD_TYPE __float128
#endif
#if defined(__SIZEOF_INT128__)
#define KIND_I128_TYPE __int128
#define KIND_U128_TYPE unsigned __int128
#endif

/* Plain char is signed on x86-64 and unsigned on aarch64. */
#define KIND_CHAR (CHAR_MIN < 0 ? KIND_I8 : KIND_U8)

/* The logical operations give 0 or 1. The minimum of two pairs is the one with the smaller value, and of equal values the
 * one with the smaller index; the maximum is the one with the larger value, or the smaller index. */
enum fold_op {
    FOLD_AND,
    FOLD_OR,
    FOLD_XOR,
    FOLD_MIN,
    FOLD_MAX,
    FOLD_SUM,
    FOLD_PROD,
    FOLD_LOGICAL_AND,
    FOLD_LOGICAL_OR,
    FOLD_LOGICAL_XOR,
    FOLD_OPS
};

#endif
