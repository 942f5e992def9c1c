/* Environment variables: SHMEM_VERSION and SHMEM_INFO, with any value, make the library print its version, or help about the
 * variables, at start-up; so do the old names; SHMEM_DEBUG is accepted.
 * pes: 1 4
 * case: version
 * env: SHMEM_VERSION=1
 * prints: 1\.6
 * case: version_any_value
 * env: SHMEM_VERSION=no
 * prints: 1\.6
 * case: version_old_name
 * env: SMA_VERSION=1
 * prints: 1\.6
 * case: info
 * env: SHMEM_INFO=1
 * prints: SHMEM_SYMMETRIC_SIZE
 * case: info_more
 * env: SHMEM_INFO=yes
 * prints: SHMEM_DEBUG
 * case: info_old_name
 * env: SMA_INFO=1
 * prints: SHMEM_VERSION
 * case: debug
 * env: SHMEM_DEBUG=1 SMA_DEBUG=1
 * prints: ^PASS$
 * case: silent
 * prints: \A\+ .*\nPASS\n\Z|\APASS\n\Z
 */
#include "check.h"

int main(void)
{
    check_start();
    CHECK(npes >= 1);
    return check_pass();
}
