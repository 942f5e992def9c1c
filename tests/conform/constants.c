/* Library constants and handles: integer constants serve in case labels and array sizes, handles in initialisers of static
 * objects, handles compare with ==; the old names have the new values.
 * prints: ^PASS$
 */
#include "check.h"
#include <shmemx.h>

static shmem_team_t team = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED, no_team = SHMEM_TEAM_INVALID;
static shmem_ctx_t ctx = SHMEM_CTX_DEFAULT, no_ctx = SHMEM_CTX_INVALID;
static struct {
    shmem_team_t team;
    shmem_ctx_t ctx;
} nested = {SHMEM_TEAM_WORLD, SHMEM_CTX_DEFAULT};

static long sync_any[SHMEM_SYNC_SIZE], sync_bcast[SHMEM_BCAST_SYNC_SIZE], sync_reduce[SHMEM_REDUCE_SYNC_SIZE];
static long sync_barrier[SHMEM_BARRIER_SYNC_SIZE], sync_collect[SHMEM_COLLECT_SYNC_SIZE];
static long sync_alltoall[SHMEM_ALLTOALL_SYNC_SIZE], sync_alltoalls[SHMEM_ALLTOALLS_SYNC_SIZE];
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static char name[SHMEM_MAX_NAME_LEN];
static const char vendor[] = SHMEM_VENDOR_STRING;

/* Distinct constant expressions, or this does not compile. */
static int comparison(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return 1;
    case SHMEM_CMP_NE: return 2;
    case SHMEM_CMP_GT: return 3;
    case SHMEM_CMP_GE: return 4;
    case SHMEM_CMP_LT: return 5;
    case SHMEM_CMP_LE: return 6;
    default: return 0;
    }
}

static int signal_operator(int op)
{
    switch (op) {
    case SHMEM_SIGNAL_SET: return 1;
    case SHMEM_SIGNAL_ADD: return 2;
    default: return 0;
    }
}

_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "version");
_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "name length");
_Static_assert(sizeof(((shmem_team_config_t *)0)->num_contexts) == sizeof(int), "team configuration");
_Static_assert(sizeof(((shmem_ctx_session_config_t *)0)->total_ops) == sizeof(size_t), "session configuration");
#if SHMEM_MAJOR_VERSION < 1
#error "the version is for the preprocessor too"
#endif

static void handles(void)
{
    CHECK(team == SHMEM_TEAM_WORLD && shared == SHMEM_TEAM_SHARED && no_team == SHMEM_TEAM_INVALID);
    CHECK(team != no_team && shared != no_team && team != shared);
    CHECK(ctx == SHMEM_CTX_DEFAULT && no_ctx == SHMEM_CTX_INVALID && ctx != no_ctx);
    CHECK(nested.team == team && nested.ctx == ctx);
    CHECK_EQ(shmem_team_my_pe(team), me);
    CHECK_EQ(shmem_team_my_pe(no_team), -1);
    static long x;
    shmem_ctx_long_p(ctx, &x, 4, next_pe);
    shmem_barrier_all();
    CHECK_EQ(x, 4);
}

/* Options that are combined by | are different bits. */
static void options(void)
{
    const long ctx_options[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    long seen = 0;
    for (size_t i = 0; i < COUNT_OF(ctx_options); i++) {
        CHECK(ctx_options[i] != 0 && (seen & ctx_options[i]) == 0);
        seen |= ctx_options[i];
    }
    CHECK(SHMEM_MALLOC_ATOMICS_REMOTE != 0 && SHMEM_MALLOC_SIGNAL_REMOTE != 0);
    CHECK((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) == 0);
    CHECK(SHMEM_TEAM_NUM_CONTEXTS != 0 && SHMEM_CTX_SESSION_TOTAL_OPS != 0 && SHMEM_CTX_SESSION_BATCH != 0);
}

static void old_names(void)
{
    CHECK(_SHMEM_SYNC_VALUE == SHMEM_SYNC_VALUE);
    CHECK(_SHMEM_BARRIER_SYNC_SIZE == SHMEM_BARRIER_SYNC_SIZE && _SHMEM_BCAST_SYNC_SIZE == SHMEM_BCAST_SYNC_SIZE);
    CHECK(_SHMEM_COLLECT_SYNC_SIZE == SHMEM_COLLECT_SYNC_SIZE && _SHMEM_REDUCE_SYNC_SIZE == SHMEM_REDUCE_SYNC_SIZE);
    CHECK(_SHMEM_REDUCE_MIN_WRKDATA_SIZE == SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    CHECK(_SHMEM_MAJOR_VERSION == SHMEM_MAJOR_VERSION && _SHMEM_MINOR_VERSION == SHMEM_MINOR_VERSION);
    CHECK(_SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN && strcmp(_SHMEM_VENDOR_STRING, vendor) == 0);
    CHECK(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_CMP_NE == SHMEM_CMP_NE && _SHMEM_CMP_LT == SHMEM_CMP_LT);
    CHECK(_SHMEM_CMP_LE == SHMEM_CMP_LE && _SHMEM_CMP_GT == SHMEM_CMP_GT && _SHMEM_CMP_GE == SHMEM_CMP_GE);
}

/* An array for any collective serves each of them. */
static void sizes(void)
{
    CHECK(sizeof sync_any >= sizeof sync_bcast && sizeof sync_any >= sizeof sync_reduce);
    CHECK(sizeof sync_any >= sizeof sync_barrier && sizeof sync_any >= sizeof sync_collect);
    CHECK(sizeof sync_any >= sizeof sync_alltoall && sizeof sync_any >= sizeof sync_alltoalls);
    CHECK(COUNT_OF(work) >= 1 && sizeof name >= sizeof vendor);
}

int main(void)
{
    check_start();
    for (int k = 1; k <= 6; k++)
        CHECK_EQ(comparison(
                     (int[]){0, SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE}[k]),
                 k);
    CHECK(signal_operator(SHMEM_SIGNAL_SET) == 1 && signal_operator(SHMEM_SIGNAL_ADD) == 2);
    handles();
    options();
    old_names();
    sizes();
    return check_pass();
}
