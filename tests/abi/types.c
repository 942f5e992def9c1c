/* Sizes and values of the public types and constants, which programs have compiled in. A failure is a change that
 * breaks old programs; it needs a new SONAME. */
#include <shmem.h>
#include <shmemx.h>

#define SAME(what, value) _Static_assert((what) == (value), #what " is " #value)

SAME(sizeof(shmem_ctx_t), sizeof(void *));
SAME(sizeof(shmem_team_t), sizeof(void *));
SAME(sizeof(shmem_team_config_t), sizeof(int));
SAME(offsetof(shmem_team_config_t, num_contexts), 0);
SAME(sizeof(shmem_ctx_session_config_t), sizeof(size_t));
SAME(offsetof(shmem_ctx_session_config_t, total_ops), 0);
SAME(sizeof(shmemx_request_t), sizeof(void *));
SAME(sizeof(shmemx_ct_t), sizeof(void *));

SAME(SHMEM_MAX_NAME_LEN, 256);
SAME(SHMEM_THREAD_SINGLE, 0);
SAME(SHMEM_THREAD_FUNNELED, 1);
SAME(SHMEM_THREAD_SERIALIZED, 2);
SAME(SHMEM_THREAD_MULTIPLE, 3);
SAME(SHMEM_TEAM_NUM_CONTEXTS, 1);
SAME(SHMEM_CTX_SERIALIZED, 1);
SAME(SHMEM_CTX_PRIVATE, 2);
SAME(SHMEM_CTX_NOSTORE, 4);
SAME(SHMEM_CTX_SESSION_TOTAL_OPS, 1);
SAME(SHMEM_CTX_SESSION_BATCH, 1);
SAME(SHMEM_SIGNAL_SET, 1);
SAME(SHMEM_SIGNAL_ADD, 2);
SAME(SHMEM_MALLOC_ATOMICS_REMOTE, 1);
SAME(SHMEM_MALLOC_SIGNAL_REMOTE, 2);
SAME(SHMEM_CMP_EQ, 1);
SAME(SHMEM_CMP_NE, 2);
SAME(SHMEM_CMP_LT, 3);
SAME(SHMEM_CMP_LE, 4);
SAME(SHMEM_CMP_GT, 5);
SAME(SHMEM_CMP_GE, 6);
SAME(SHMEM_SYNC_VALUE, -1);
SAME(SHMEM_SYNC_SIZE, 64);
SAME(SHMEM_REDUCE_MIN_WRKDATA_SIZE, 64);
SAME(SHMEMX_REQUEST_SHARED, 1);
SAME(SHMEMX_REQUEST_PRIVATE, 2);

/* Predefined handles are numbers that programs store. */
static shmem_ctx_t standard = SHMEM_CTX_DEFAULT;
static shmem_team_t world = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED;

int main(void)
{
    return standard != (shmem_ctx_t)1 || world != (shmem_team_t)1 || shared != (shmem_team_t)2 || SHMEM_CTX_INVALID ||
           SHMEM_TEAM_INVALID || SHMEMX_REQUEST_NULL;
}
