/* Environment variables: SHMEM_SYMMETRIC_SIZE. At least so many bytes as it says can be allocated (a block takes a little
 * room of its own): integers and fractions, one suffix in either case, what follows it ignored; SHMEM_ before SMA_. The
 * largest need no memory until used. With `0` the library starts, and nothing more is promised.
 * (qemu's user mode takes minutes to note so many pages: no tebibyte there.)
 * pes: 1 2 4
 * prints: ^PASS$
 * case: bytes
 * env: SHMEM_SYMMETRIC_SIZE=3000000
 * args: 3000000
 * case: kibi
 * env: SHMEM_SYMMETRIC_SIZE=2000k
 * args: 2048000
 * case: kibi_upper
 * env: SHMEM_SYMMETRIC_SIZE=3000K
 * args: 3072000
 * case: mebi
 * env: SHMEM_SYMMETRIC_SIZE=20m
 * args: 20971520
 * case: mebi_fraction
 * env: SHMEM_SYMMETRIC_SIZE=3.1M
 * args: 3250586
 * case: point_first
 * env: SHMEM_SYMMETRIC_SIZE=.5m
 * args: 524288
 * case: rest_ignored
 * env: SHMEM_SYMMETRIC_SIZE=2000kk
 * args: 2048000 4000000000
 * case: gibi
 * env: SHMEM_SYMMETRIC_SIZE=2g
 * args: 2147483648
 * case: gibi_fraction
 * env: SHMEM_SYMMETRIC_SIZE=1.25G
 * args: 1342177280
 * case: tebi
 * env: SHMEM_SYMMETRIC_SIZE=1T
 * args: 1099511627776
 * skip: aarch64
 * case: old_name
 * env: SMA_SYMMETRIC_SIZE=7m
 * args: 7340032 4000000000
 * case: new_name_first
 * env: SMA_SYMMETRIC_SIZE=4g SHMEM_SYMMETRIC_SIZE=5m
 * args: 5242880 3000000000
 * case: zero
 * env: SHMEM_SYMMETRIC_SIZE=0
 * args: 0
 */
#include "check.h"

/* More than this in one block cannot be had when the size was understood, whatever it was rounded up to. */
static void too_much(const char *size)
{
    CHECK(shmem_malloc(strtoull(size, NULL, 10)) == NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    size_t size = strtoull(argv[1], NULL, 10), block = size - size / 64;
    check_start();
    CHECK(npes >= 1);
    if (size > 0) {
        char *at = shmem_malloc(block);
        CHECK(at != NULL);
        shmem_char_p(at, 'a', next_pe);
        shmem_char_p(at + block - 1, 'z', next_pe);
        shmem_barrier_all();
        CHECK(at[0] == 'a' && at[block - 1] == 'z');
        shmem_free(at);
    }
    if (argc > 2)
        too_much(argv[2]);
    return check_pass();
}
