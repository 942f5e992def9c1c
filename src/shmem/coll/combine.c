#include "shmem/coll/combine.h"

#include <complex.h>
#include <stdint.h>
size_t lat_kind_size(enum lat_kind kind)
{
    static const unsigned char sizes[LAT_KINDS] = {1, 1, 2, 2, 4, 4, 8, 8, sizeof(float), sizeof(double), sizeof(long double), sizeof(float complex), sizeof(double complex)};
    return sizes[kind];
}
#define K(T, name, expr) static void name(void *vi, const void *vf, size_t n) { T *restrict a = vi; const T *restrict b = vf; for (size_t i = 0; i < n; i++) a[i] = (T)(expr); }
#define INT(T, k) K(T,and_##k,a[i]&b[i]) K(T,or_##k,a[i]|b[i]) K(T,xor_##k,a[i]^b[i]) ORD(T,k)
#define ORD(T, k) K(T,min_##k,a[i]<b[i]?a[i]:b[i]) K(T,max_##k,a[i]>b[i]?a[i]:b[i]) ARI(T,k)
#define ARI(T, k) K(T,sum_##k,a[i]+b[i]) K(T,prod_##k,a[i]*b[i])
INT(int8_t,i8) INT(uint8_t,u8) INT(int16_t,i16) INT(uint16_t,u16) INT(int32_t,i32) INT(uint32_t,u32) INT(int64_t,i64) INT(uint64_t,u64)
ORD(float,f) ORD(double,d) ORD(long double,ld) ARI(float complex,cf) ARI(double complex,cd)
#define RI(k) {and_##k,or_##k,xor_##k,min_##k,max_##k,sum_##k,prod_##k}
#define RO(k) {0,0,0,min_##k,max_##k,sum_##k,prod_##k}
#define RA(k) {0,0,0,0,0,sum_##k,prod_##k}
void lat_combine(enum lat_kind kind, enum lat_op op, void *into, const void *from, size_t n)
{
    static void (*const t[LAT_KINDS][LAT_OPS])(void *, const void *, size_t) = {RI(i8),RI(u8),RI(i16),RI(u16),RI(i32),RI(u32),RI(i64),RI(u64),RO(f),RO(d),RO(ld),RA(cf),RA(cd)};
    t[kind][op](into, from, n);
}
